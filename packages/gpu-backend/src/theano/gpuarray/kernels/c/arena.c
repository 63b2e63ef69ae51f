/* One piece of device memory, handed out in parts: that of `gpuarray.preallocate`.
 *
 * Free parts are a list by address, of which neighbours are one. The first that is long enough is taken (first fit).
 */
#include <stdlib.h>

#include "gpu.h"

struct th_gpu_free {
    char *start;
    size_t bytes;
    th_gpu_free *next;
};

enum { GRAIN = 256 }; /* what drivers align to */

static size_t grains(size_t bytes) { return (bytes + GRAIN - 1) / GRAIN * GRAIN; }

char *th_gpu_arena_take(th_gpu_arena *arena, size_t bytes)
{
    const size_t wanted = grains(bytes);
    for (th_gpu_free **at = &arena->free; *at; at = &(*at)->next) {
        th_gpu_free *part = *at;
        if (part->bytes < wanted)
            continue;
        char *taken = part->start;
        part->start += wanted;
        part->bytes -= wanted;
        if (part->bytes == 0) {
            *at = part->next;
            free(part);
        }
        return taken;
    }
    return NULL;
}

int th_gpu_arena_give(th_gpu_arena *arena, char *memory, size_t bytes)
{
    const size_t given = grains(bytes);
    th_gpu_free *before = NULL, *after = arena->free;
    if (memory < arena->start || memory >= arena->start + arena->bytes)
        return 0;
    for (; after && after->start < memory; after = after->next)
        before = after;
    if (before && before->start + before->bytes == memory) {
        before->bytes += given;
        if (after && before->start + before->bytes == after->start) {
            before->bytes += after->bytes;
            before->next = after->next;
            free(after);
        }
    } else if (after && memory + given == after->start) {
        after->start = memory;
        after->bytes += given;
    } else {
        th_gpu_free *part = malloc(sizeof *part);
        if (part == NULL)
            return 1; /* lost to the arena until the device is stopped */
        *part = (th_gpu_free){memory, given, after};
        *(before ? &before->next : &arena->free) = part;
    }
    return 1;
}
