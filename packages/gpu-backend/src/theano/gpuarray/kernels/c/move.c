/* Elements moved from one array to another: `gather` and `scatter` of a device. */
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

enum { AXES = 19, MOST = AXES - 1 }; /* the last one is for halves of elements */
enum { EACH = 4 };                   /* what a work-item copies, at most: MOST of move.cl */
enum { NARROW = 8, GROUP = 256 };    /* axes of what is transposed in tiles are as long at least; work-items of such a tile */

/* The axes of two arrays, as few as there can be. Axis `place` stays by itself, since one side has a table for it. */
typedef struct {
    int64_t n, axes, place; /* work-items; of the axes, which one has a table: -1, none */
    int64_t each, apart[2]; /* what a work-item moves along the last axis, and bytes between the pieces in both */
    int64_t shape[AXES], from[AXES], to[AXES];
} th_gpu_axes;

/* Axes first .. last of both arrays, after those that `a` has. */
static int append(th_gpu_axes *a, const th_buffer *to, const th_buffer *from, int first, int last)
{
    const int ndim = last - first;
    int64_t shape[TH_MAX_NDIM], strides[2 * TH_MAX_NDIM];
    for (int d = 0; d < ndim; ++d) {
        shape[d] = to->shape[first + d];
        strides[d] = from->strides[first + d];
        strides[ndim + d] = to->strides[first + d];
    }
    const int left = th_gpu_collapse(ndim, shape, 2, strides);
    if (a->axes + left > MOST)
        return -1;
    memcpy(a->shape + a->axes, shape, (size_t)left * sizeof *shape);
    memcpy(a->from + a->axes, strides, (size_t)left * sizeof *shape);
    memcpy(a->to + a->axes, strides + left, (size_t)left * sizeof *shape);
    a->axes += left;
    return 0;
}

static int axes_of(th_gpu *gpu, th_gpu_axes *a, const th_buffer *to, const th_buffer *from, int place)
{
    memset(a, 0, sizeof *a);
    a->place = -1;
    a->n = a->each = 1;
    for (int d = 0; d < to->ndim; ++d)
        a->n *= to->shape[d];
    if (place < 0)
        return append(a, to, from, 0, to->ndim);
    if (append(a, to, from, 0, place) || a->axes == MOST) {
        th_gpu_complain(gpu, "arrays of too many axes", to->ndim);
        return -1;
    }
    a->place = a->axes;
    a->shape[a->axes] = to->shape[place];
    a->from[a->axes] = from->strides[place];
    a->to[a->axes++] = to->strides[place];
    return append(a, to, from, place + 1, to->ndim);
}

static int size_class(int64_t itemsize)
{
    int size = 0;
    while ((int64_t)1 << size < itemsize)
        ++size;
    return size;
}

static void exchange(th_gpu_axes *a, int d, int e)
{
    th_gpu_swap(&a->shape[d], &a->shape[e]);
    th_gpu_swap(&a->from[d], &a->from[e]);
    th_gpu_swap(&a->to[d], &a->to[e]);
}

/* Where elements are neighbours along the last axis in one array, and along another one in the other, the second to last becomes
 * that in which they are so in `from`, the last that in which they are so in `to`. 0: they are not. */
static int is_transposed(th_gpu_axes *a, int64_t size)
{
    const int last = (int)a->axes - 1;
    int near = -1, far = -1;
    for (int d = 0; d <= last; ++d) {
        near = a->to[d] == size ? d : near;
        far = a->from[d] == size ? d : far;
    }
    if (a->place >= 0 || near < 0 || far < 0 || near == far || a->shape[near] < NARROW || a->shape[far] < NARROW)
        return 0;
    exchange(a, near, last);
    exchange(a, far == last ? near : far, last - 1);
    return 1;
}

/* A work-item copies several elements of the last axis, as far apart as there are work-items for it: so neighbours copy neighbours. */
static void share(th_gpu_axes *a)
{
    const int last = (int)a->axes - 1;
    if (last < 0 || last == a->place)
        return;
    for (a->each = EACH; a->shape[last] % a->each;)
        a->each /= 2;
    a->shape[last] /= a->each;
    a->apart[0] = a->shape[last] * a->from[last];
    a->apart[1] = a->shape[last] * a->to[last];
    a->n /= a->each;
}

/* The kernel that copies. Elements that are contiguous in both arrays are copied as wider ones, up to 16 bytes. Those of 16
 * bytes with a lesser alignment are copied in halves. `offsets`: the bitwise or of all offsets of a table, or of the numbers
 * of which they are multiples. */
static const th_gpu_kernel *copier(th_gpu *gpu, th_gpu_axes *a, const th_buffer *to, const th_buffer *from, int64_t offsets)
{
    const int last = (int)a->axes - 1;
    int64_t size = to->itemsize, apart = offsets | (int64_t)(uintptr_t)to->data | (int64_t)(uintptr_t)from->data;
    for (int d = 0; d < last; ++d)
        apart |= a->from[d] | a->to[d];
    const int is_row = last >= 0 && last != a->place && a->from[last] == size && a->to[last] == size;
    while (is_row && size < 16 && a->shape[last] % 2 == 0 && apart % (2 * size) == 0) {
        size *= 2;
        a->shape[last] /= 2;
        a->from[last] = a->to[last] = size;
        a->n /= 2;
    }
    if (last >= 0)
        apart |= a->from[last] | a->to[last];
    if (size == 16 && apart % size) {
        size = 8;
        a->shape[a->axes] = 2;
        a->from[a->axes] = a->to[a->axes] = size;
        a->axes++;
        a->n *= 2;
    }
    share(a);
    return gpu->movers.copy[size_class(size)];
}

static int launch(th_gpu *gpu, const th_gpu_kernel *kernel, int npointers, char **pointers, const void *rest, size_t bytes, int64_t n)
{
    int64_t args[TH_GPU_ARGS / 8] = {0};
    if (kernel == NULL) {
        th_gpu_complain(gpu, "no kernel moves such elements", 0);
        return -1;
    }
    memcpy(args + npointers, rest, bytes);
    const th_gpu_launch what = {kernel->function, (n + gpu->group - 1) / gpu->group, gpu->group, npointers, pointers, args,
                                (size_t)npointers * sizeof *args + bytes};
    return th_gpu_launched(gpu, &what);
}

/* Copies what is transposed, in tiles. */
static int transpose(th_gpu *gpu, const th_gpu_kernel *kernel, const th_buffer *to, const th_buffer *from, const th_gpu_axes *a, int64_t size)
{
    const int outer = (int)a->axes - 2;
    const int64_t side = size > 4 ? 32 : 64; /* as move.cl has it */
    struct {
        int64_t at[2], tiles[2], length[2], from[2], to[2], axes, shape[AXES], outer_from[AXES], outer_to[AXES];
    } args = {.axes = outer};
    int64_t groups = 1;
    for (int k = 0; k < 2; ++k) {
        args.length[k] = a->shape[outer + k];
        args.tiles[k] = (args.length[k] + side - 1) / side;
        args.from[k] = a->from[outer + k];
        args.to[k] = a->to[outer + k];
        groups *= args.tiles[k];
    }
    for (int d = 0; d < outer; ++d) {
        args.shape[d] = a->shape[d];
        args.outer_from[d] = a->from[d];
        args.outer_to[d] = a->to[d];
        groups *= a->shape[d];
    }
    char *pointers[2] = {from->data, to->data};
    const th_gpu_launch what = {kernel->function, groups, GROUP, 2, pointers, args.at, sizeof args};
    return groups ? th_gpu_launched(gpu, &what) : 0;
}

/* One element of the host's, everywhere. */
static int fill(th_gpu *gpu, const th_buffer *to, const th_buffer *from)
{
    struct {
        th_gpu_axes axes;
        uint64_t value[2];
    } rest;
    if (axes_of(gpu, &rest.axes, to, from, -1))
        return -1;
    memset(rest.value, 0, sizeof rest.value);
    memcpy(rest.value, from->data, (size_t)from->itemsize);
    char *pointers[1] = {to->data};
    return rest.axes.n ? launch(gpu, gpu->movers.fill[size_class(to->itemsize)], 1, pointers, &rest, sizeof rest, rest.axes.n) : 0;
}

/* With a table of the host's, which the device has for as long as the kernel needs it. */
static int with_table(th_gpu *gpu, const th_gpu_kernel *kernel, const th_buffer *to, const th_buffer *from, const th_gpu_axes *a,
                      const int64_t *table, int64_t entries)
{
    char *pointers[3] = {from->data, to->data, from->data};
    if (a->n == 0)
        return 0;
    if (table == NULL)
        return launch(gpu, kernel, 3, pointers, a, sizeof *a, a->n);
    const size_t bytes = (size_t)entries * sizeof *table;
    char *there = th_gpu_scratch(gpu, bytes);
    if (there == NULL)
        return TH_NO_ROOM;
    pointers[2] = there;
    int status = gpu->memory.copy(&gpu->memory, there, (const char *)table, bytes, TH_TO_DEVICE);
    if (status == 0)
        status = launch(gpu, kernel, 3, pointers, a, sizeof *a, a->n);
    th_gpu_scratch_release(gpu, there, bytes);
    return status;
}

static int copy(th_gpu *gpu, th_gpu_axes *a, const th_buffer *to, const th_buffer *from)
{
    const th_gpu_kernel *tiles = gpu->movers.transpose[size_class(to->itemsize)];
    if (tiles && is_transposed(a, to->itemsize))
        return transpose(gpu, tiles, to, from, a, to->itemsize);
    return with_table(gpu, copier(gpu, a, to, from, 0), to, from, a, NULL, 0);
}

int th_gpu_gather(const th_device *device, const th_buffer *to, const th_buffer *from, int axis, const int64_t *offsets)
{
    th_gpu *gpu = (th_gpu *)device;
    th_gpu_axes a;
    if (from->device == NULL)
        return fill(gpu, to, from);
    if (axes_of(gpu, &a, to, from, axis))
        return -1;
    if (offsets == NULL)
        return copy(gpu, &a, to, from);
    const int64_t n = to->shape[axis];
    int64_t all = 0, *table = malloc((size_t)(2 * n + 1) * sizeof *table);
    for (int64_t i = 0; table && i < n; ++i) {
        table[2 * i] = offsets[i];
        table[2 * i + 1] = i * to->strides[axis];
        all |= offsets[i];
    }
    const int status = table ? with_table(gpu, copier(gpu, &a, to, from, all), to, from, &a, table, 2 * n) : -1;
    free(table);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- scatter */

typedef struct {
    int64_t offset, number;
} named;

static int by_offset(const void *x, const void *y)
{
    const named *a = x, *b = y;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Each place once, with those of `from` that go there in their order: for each (where in `to`, where its list begins), one
 * more for the end of the last list, and the lists. Where nothing is added, a place has only its last one, and pairs are
 * enough. So what is named twice has the result of one after the other, however the device runs. */
static int64_t *table_of(int64_t n, const int64_t *offsets, int64_t step, int adds, int64_t *places, int64_t *entries)
{
    named *all = malloc((size_t)(n + 1) * sizeof *all);
    int64_t *table = malloc((size_t)(3 * n + 2) * sizeof *table), count = 0;
    if (!all || !table) {
        free(all);
        free(table);
        return NULL;
    }
    for (int64_t i = 0; i < n; ++i)
        all[i] = (named){offsets[i], i};
    qsort(all, (size_t)n, sizeof *all, by_offset);
    for (int64_t i = 0; i < n; ++i)
        count += i + 1 == n || all[i + 1].offset != all[i].offset;
    int64_t *lists = table + 2 * (count + 1), at = 0;
    for (int64_t i = 0, begin = 0; i < n; ++i) {
        if (adds)
            lists[i] = all[i].number * step;
        if (i + 1 < n && all[i + 1].offset == all[i].offset)
            continue;
        table[2 * at] = adds ? all[i].offset : all[i].number * step;
        table[2 * at + 1] = adds ? begin : all[i].offset;
        ++at;
        begin = i + 1;
    }
    if (adds)
        table[2 * at + 1] = n;
    free(all);
    *places = count;
    *entries = adds ? 2 * (count + 1) + n : 2 * count;
    return table;
}

int th_gpu_scatter(const th_device *device, const th_buffer *to, const th_buffer *from, int axis, const int64_t *offsets, int adds)
{
    th_gpu *gpu = (th_gpu *)device;
    th_gpu_axes a;
    if (axes_of(gpu, &a, to, from, axis))
        return -1;
    if (offsets == NULL)
        return adds ? with_table(gpu, gpu->movers.add[to->dtype], to, from, &a, NULL, 0) : copy(gpu, &a, to, from);
    int64_t all = 0;
    for (int64_t i = 0; i < to->shape[axis]; ++i)
        all |= offsets[i];
    const th_gpu_kernel *kernel = adds ? gpu->movers.add[to->dtype] : copier(gpu, &a, to, from, all);
    if (a.n == 0)
        return 0;
    int64_t places, entries;
    int64_t *table = table_of(to->shape[axis], offsets, from->strides[axis], adds, &places, &entries);
    if (table == NULL)
        return -1;
    a.n = a.n / to->shape[axis] * places;
    a.shape[a.place] = places;
    const int status = with_table(gpu, kernel, to, from, &a, table, entries);
    free(table);
    return status;
}

int th_gpu_move_by_table(th_gpu *gpu, const th_buffer *to, const th_buffer *from, int axis, int64_t n, char *table, int64_t offsets, int adds)
{
    th_gpu_axes a;
    if (axes_of(gpu, &a, to, from, axis))
        return -1;
    if (a.n == 0)
        return 0;
    char *pointers[3] = {from->data, to->data, table};
    const th_gpu_kernel *kernel = adds ? gpu->movers.add[to->dtype] : copier(gpu, &a, to, from, offsets);
    a.shape[a.place] = n;
    return launch(gpu, kernel, 3, pointers, &a, sizeof a, a.n);
}
