/* Blocks of numbers.
 *
 * A Block is reference-counted memory, 64-byte aligned. Frames keep small blocks from one call to the
 * next, which makes most calls free of allocation. Big ones are not hoarded by a function that may never be called
 * again: they go to one free list for the whole process, sorted by size class, where the next call of any function
 * finds them. Fresh memory of many megabytes costs more in page faults than the arithmetic done on
 * it, so giving it back to the system each time would be the slowest choice.
 *
 * Nothing here knows Python; every function may be called without the GIL.
 */
#include "core.h"

#include <pthread.h>

#include <cstdlib>
#include <new>

namespace theano {
namespace {

constexpr int kSteps = 8;              /* classes per doubling: at most 1/8 is wasted */
constexpr int kClasses = 44 * kSteps;  /* up to 2^64 */

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
std::vector<Block *> *free_lists = nullptr; /* leaked on purpose: blocks may outlive static destructors */
size_t cached = 0;
size_t limit = size_t(256) << 20;

/* The class of a size above kBigBlock, and that class's size. */
int size_class(size_t bytes, size_t *rounded) {
    int top = 63 - __builtin_clzll(bytes | 1);
    size_t step = (size_t(1) << top) / kSteps;
    size_t up = (bytes + step - 1) / step * step;
    *rounded = up;
    int base = 63 - __builtin_clzll(up);
    int sub = int((up - (size_t(1) << base)) / ((size_t(1) << base) / kSteps));
    return (base - 20) * kSteps + sub;
}

void destroy(Block *block) {
    std::free(block->data);
    delete block;
}

/* A fork must not leave the lock held by a thread that does not exist in the child. */
void before_fork() { pthread_mutex_lock(&lock); }
void after_fork() { pthread_mutex_unlock(&lock); }

void setup_once() {
    free_lists = new (std::nothrow) std::vector<Block *>[kClasses];
    pthread_atfork(before_fork, after_fork, after_fork);
}

Block *from_free_list(int cls) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, setup_once);
    Block *found = nullptr;
    pthread_mutex_lock(&lock);
    if (free_lists && !free_lists[cls].empty()) {
        found = free_lists[cls].back();
        free_lists[cls].pop_back();
        cached -= found->capacity;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

bool to_free_list(Block *block) {
    size_t rounded;
    int cls = size_class(block->capacity, &rounded);
    bool kept = false;
    pthread_mutex_lock(&lock);
    if (free_lists && cached + block->capacity <= limit) {
        try {
            free_lists[cls].push_back(block);
            cached += block->capacity;
            kept = true;
        } catch (const std::bad_alloc &) {
        }
    }
    pthread_mutex_unlock(&lock);
    return kept;
}

} // namespace

Block *block_new(size_t bytes) {
    size_t capacity;
    if (bytes > kBigBlock) {
        if (bytes > (size_t(1) << 62)) return nullptr;
        int cls = size_class(bytes, &capacity);
        if (Block *found = from_free_list(cls)) {
            found->refs.store(1, std::memory_order_relaxed);
            return found;
        }
    } else {
        capacity = bytes < 64 ? 64 : (bytes + 63) & ~size_t(63);
    }
    void *data = nullptr;
    if (posix_memalign(&data, 64, capacity) != 0) {
        memory_trim(0); /* what lies idle may be what is missing */
        if (posix_memalign(&data, 64, capacity) != 0) return nullptr;
    }
    Block *block = new (std::nothrow) Block{{1}, static_cast<char *>(data), capacity};
    if (!block) std::free(data);
    return block;
}

void block_release(Block *block) {
    if (block->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (block->capacity > kBigBlock && to_free_list(block)) return;
    destroy(block);
}

size_t memory_cached() {
    pthread_mutex_lock(&lock);
    size_t now = cached;
    pthread_mutex_unlock(&lock);
    return now;
}

void memory_trim(size_t keep) {
    pthread_mutex_lock(&lock);
    for (int cls = kClasses - 1; free_lists && cls >= 0; --cls) {
        auto &list = free_lists[cls];
        while (cached > keep && !list.empty()) {
            cached -= list.back()->capacity;
            destroy(list.back());
            list.pop_back();
        }
    }
    pthread_mutex_unlock(&lock);
}

void memory_set_limit(size_t bytes) {
    pthread_mutex_lock(&lock);
    limit = bytes;
    pthread_mutex_unlock(&lock);
    memory_trim(bytes);
}

} // namespace theano
