/* What the loader asks of the operating system. Each system's way to do it is in platform.cpp, and nowhere else; threads
 * and locks are POSIX's, which compilers for Windows bring along. */
#ifndef THEANO_LOADER_PLATFORM_H
#define THEANO_LOADER_PLATFORM_H

#include <pthread.h>

#include <cstddef>
#include <string>

namespace theano {

/* A shared object with all that it needs, its names hidden from other libraries; null if it cannot be loaded. */
void *library_open(const std::string &path);
void *library_symbol(void *library, const std::string &name); /* null if it is missing */
void library_close(void *library);
std::string library_error(); /* why the latest of these failed, in the system's words */

constexpr size_t kHugePage = size_t(1) << 21;

/* Fresh pages, on huge ones where the system has them; they start at a multiple of kHugePage. Null without memory. */
char *pages_map(size_t bytes);
void pages_unmap(char *data, size_t bytes);

/* Memory for small blocks, at a multiple of 64 bytes. */
void *aligned_new(size_t bytes);
void aligned_free(void *data);

size_t machine_memory();  /* 0 if it is not known */
int process_processors(); /* what the affinity mask allows; quotas of control groups: theano/runtime/resource_limits.py */

int current_processor(); /* of the calling thread; -1: the system does not say */
/* Let `thread` run on all processors that the calling thread may use but for one, if there are others. */
void exclude_processor(pthread_t thread, int processor);

/* What is called at a fork, before it, and after it in the parent and in the child; on systems without fork, never. */
void at_fork(void (*before)(), void (*parent)(), void (*child)());

} // namespace theano

#endif
