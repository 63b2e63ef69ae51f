/* One call of a kernel that takes memory of the device and launches several functions. Errors are set where they are found; each
 * function returns 0, or -1 (NULL) then. */
#ifndef THEANO_GPU_JOB_H
#define THEANO_GPU_JOB_H

#include "gpu.h"

enum { TH_TAKEN = 24 }; /* blocks of memory of one call, at most */

typedef struct job {
    th_ctx *ctx;
    th_gpu *gpu;
    int64_t size;   /* bytes of a number */
    int32_t dtype;
    char *table;    /* of whole numbers, as `th_take_table` has it */
    int count;
    char *taken[TH_TAKEN];
    size_t bytes[TH_TAKEN];
} job;

void th_job_begin(job *j, th_ctx *ctx, th_gpu *gpu);
int th_job_end(job *j, int status); /* gives memory back; returns the status */
char *th_take(job *j, int64_t bytes);
void th_give_back(job *j); /* what was taken last */
char *th_take_copy(job *j, const void *from, int64_t bytes);
int th_launch(job *j, const th_gpu_kernel *kernel, int64_t groups, int npointers, char **pointers, void *args, size_t bytes);
int th_to_host(job *j, void *to, const char *from, int64_t bytes);
int th_to_device(job *j, char *to, const void *from, int64_t bytes);

/* Elements from one array of the device to another, of the dtype of the first input, with any strides in bytes. */
int th_move(job *j, int ndim, const int64_t *shape, char *to, const int64_t *to_strides, char *from, const int64_t *from_strides,
            int axis, const int64_t *offsets);
int th_fill_with_zeros(job *j, char *to, int64_t count);

#endif
