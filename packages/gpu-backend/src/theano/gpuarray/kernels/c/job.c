/* Memory, launches and moves of one call. */
#include "job.h"

void th_job_begin(job *j, th_ctx *ctx, th_gpu *gpu)
{
    *j = (job){.ctx = ctx, .gpu = gpu, .size = ctx->in[0]->itemsize, .dtype = ctx->in[0]->dtype};
}

int th_job_end(job *j, int status)
{
    while (j->count > 0)
        th_give_back(j);
    return status;
}

void th_give_back(job *j)
{
    --j->count;
    th_gpu_scratch_release(j->gpu, j->taken[j->count], j->bytes[j->count]);
}

char *th_take(job *j, int64_t bytes)
{
    const size_t room = bytes > 0 ? (size_t)bytes : 8;
    char *made = j->count < TH_TAKEN ? th_gpu_scratch(j->gpu, room) : NULL;
    if (made == NULL) {
        th_gpu_no_room(j->ctx, room);
        return NULL;
    }
    j->taken[j->count] = made;
    j->bytes[j->count++] = room;
    return made;
}

char *th_take_copy(job *j, const void *from, int64_t bytes)
{
    char *made = th_take(j, bytes);
    return made == NULL || th_to_device(j, made, from, bytes) ? NULL : made;
}

int th_launch(job *j, const th_gpu_kernel *kernel, int64_t groups, int npointers, char **pointers, void *args, size_t bytes)
{
    const th_gpu_launch launch = {kernel->function, groups, 256, npointers, pointers, args, bytes};
    if (groups <= 0)
        return 0;
    return th_gpu_launched(j->gpu, &launch) ? th_gpu_failed(j->ctx, j->gpu) : 0;
}

static int copied(job *j, char *to, const char *from, int64_t bytes, int32_t direction)
{
    const th_device *memory = &j->gpu->memory;
    return bytes > 0 && memory->copy(memory, to, from, (size_t)bytes, direction) ? th_gpu_failed(j->ctx, j->gpu) : 0;
}

int th_to_host(job *j, void *to, const char *from, int64_t bytes) { return copied(j, to, from, bytes, TH_FROM_DEVICE); }
int th_to_device(job *j, char *to, const void *from, int64_t bytes) { return copied(j, to, from, bytes, TH_TO_DEVICE); }

int th_move(job *j, int ndim, const int64_t *shape, char *to, const int64_t *to_strides, char *from, const int64_t *from_strides,
            int axis, const int64_t *offsets)
{
    const th_device *device = &j->gpu->memory;
    const th_buffer target = {.data = to, .ndim = ndim, .dtype = j->dtype, .shape = (int64_t *)shape,
                              .strides = (int64_t *)to_strides, .itemsize = j->size, .device = device};
    th_buffer source = target;
    source.data = from;
    source.strides = (int64_t *)from_strides;
    for (int d = 0; d < ndim; ++d)
        if (shape[d] == 0)
            return 0;
    const int status = device->gather(device, &target, &source, axis, offsets);
    if (status == TH_NO_ROOM) /* for the table */
        return th_gpu_no_room(j->ctx, (size_t)shape[axis] * 2 * sizeof *offsets);
    return status ? th_gpu_failed(j->ctx, j->gpu) : 0;
}

int th_fill_with_zeros(job *j, char *to, int64_t count)
{
    const th_device *device = &j->gpu->memory;
    int64_t zero = 0, shape[1] = {count}, strides[1] = {j->size}, none[1] = {0};
    const th_buffer target = {.data = to, .ndim = 1, .dtype = j->dtype, .shape = shape, .strides = strides, .itemsize = j->size,
                              .device = device};
    const th_buffer source = {.data = (char *)&zero, .ndim = 1, .dtype = j->dtype, .shape = shape, .strides = none,
                              .itemsize = j->size};
    return count && device->gather(device, &target, &source, -1, NULL) ? th_gpu_failed(j->ctx, j->gpu) : 0;
}
