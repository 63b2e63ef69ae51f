/* Deferred commands, submitted together, and recordings of lists that repeat.
 *
 * One launch by CUDA's driver takes microseconds, longer than many kernels run. So the commands of a function's call are
 * put into a list. It is submitted before anything that depends on it (a transfer, a kernel of a user's, memory that the
 * driver gets back, another device), or at the end of the call. A list that repeats is recorded: the driver then runs all
 * of it in one call (a CUDA graph).
 *
 * A recording keeps no memory alive, and need not: it is replayed only for a list that is equal to its own, byte for byte.
 * So it uses the memory of that call, at its present addresses. Lists that differ in addresses and numbers alone, of the same
 * functions in the same order, have a few recordings; after that the one that was used longest ago is changed where they
 * differ. Lists of all threads are one, in the order in which commands came.
 *
 * A recording that the driver refuses, at any step, costs nothing but its try: the list is asked for one by one.
 */
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

enum {
    LEAST = 4,       /* commands: fewer are as fast one by one */
    MOST = 1024,     /* commands of a list: the device shall begin at some time */
    RECORDINGS = 64, /* of a device */
    VARIANTS = 4,    /* recordings that differ in addresses and numbers alone */
    CALLS = 64       /* of a thread, one within another, that put something off */
};

/* `kind` identifies what is equal in all lists that a recording can be changed to. */
typedef struct list {
    uint64_t kind;
    int64_t count;
    size_t bytes;
    char *commands;
} list;

typedef struct recording {
    list of;
    void *made;    /* the driver's; NULL: the list came once */
    int refused;   /* the driver cannot record it */
    uint64_t used; /* when it was used last, in lists */
} recording;

struct th_gpu_commands {
    const th_gpu_recorder *recorder;
    int on;
    pthread_mutex_t lock;
    list waiting;
    size_t room;
    uint64_t lists;
    int kept;
    recording recordings[RECORDINGS];
};

/* The devices on which calls of this thread have begun. */
static __thread const th_gpu *begun[CALLS];
static __thread int depth;

static int puts_off(const th_gpu *gpu)
{
    for (int k = depth < CALLS ? depth : CALLS; k-- > 0;) {
        if (begun[k] == gpu)
            return gpu->commands->on;
    }
    return 0;
}

/* -- one by one ------------------------------------------------------------------------------------------------------ */

static int ask(th_gpu *gpu, const th_gpu_command *c)
{
    if (c->run) {
        void *stream = gpu->driver->enter(gpu);
        return stream ? c->run(gpu, stream, th_gpu_told(c)) : -1;
    }
    const th_gpu_launch launch = {c->function, c->groups, c->group, (int)c->npointers, th_gpu_pointers(c), (int64_t *)th_gpu_told(c),
                                  (size_t)c->bytes};
    return gpu->driver->launch(gpu, &launch);
}

static int ask_all(th_gpu *gpu, const list *of)
{
    const th_gpu_command *c = (const th_gpu_command *)of->commands;
    for (int64_t k = 0; k < of->count; ++k, c = th_gpu_next(c)) {
        if (ask(gpu, c))
            return -1;
    }
    return 0;
}

/* -- recordings ------------------------------------------------------------------------------------------------------ */

static void forget(th_gpu *gpu, recording *r)
{
    if (r->made)
        gpu->commands->recorder->forget(gpu, r->made);
    r->made = NULL;
}

/* That of a list: the very same, or, where there are enough of its kind, one to be changed; NULL: none. */
static recording *find(th_gpu_commands *all, const list *of)
{
    recording *oldest = NULL;
    int variants = 0;
    for (int k = 0; k < all->kept; ++k) {
        recording *r = &all->recordings[k];
        if (r->of.kind != of->kind || r->of.count != of->count || r->of.bytes != of->bytes)
            continue;
        if (memcmp(r->of.commands, of->commands, of->bytes) == 0)
            return r;
        ++variants;
        if (oldest == NULL || r->used < oldest->used)
            oldest = r;
    }
    return variants < VARIANTS ? NULL : oldest;
}

/* Remember a list, in place of that which was used longest ago. */
static void remember(th_gpu *gpu, const list *of)
{
    th_gpu_commands *all = gpu->commands;
    char *copy = malloc(of->bytes);
    if (copy == NULL)
        return;
    recording *r = &all->recordings[0];
    if (all->kept < RECORDINGS)
        r = &all->recordings[all->kept++];
    else
        for (int k = 1; k < RECORDINGS; ++k)
            r = all->recordings[k].used < r->used ? &all->recordings[k] : r;
    forget(gpu, r);
    free(r->of.commands);
    *r = (recording){.of = *of, .used = all->lists};
    r->of.commands = memcpy(copy, of->commands, of->bytes);
}

static int alike(const th_gpu_command *a, const th_gpu_command *b)
{
    return a->function == b->function && a->run == b->run && a->npointers == b->npointers && a->bytes == b->bytes;
}

/* Let a recording be that of another list of its kind; where the driver cannot change it, it is made anew. */
static void change(th_gpu *gpu, recording *r, const list *of)
{
    const th_gpu_command *was = (const th_gpu_command *)r->of.commands, *is = (const th_gpu_command *)of->commands;
    for (int64_t k = 0; k < of->count && r->made; ++k, was = th_gpu_next(was), is = th_gpu_next(is)) {
        const size_t bytes = (size_t)((const char *)th_gpu_next(is) - (const char *)is);
        const int same = alike(was, is);
        if (same && memcmp(was, is, bytes) == 0)
            continue;
        if (!same || gpu->commands->recorder->change(gpu, r->made, k, is))
            forget(gpu, r);
    }
    memcpy(r->of.commands, of->commands, of->bytes);
}

/* Whether the driver has done all of a list by a recording. */
static int replayed(th_gpu *gpu, const list *of)
{
    th_gpu_commands *all = gpu->commands;
    all->lists++;
    recording *r = find(all, of);
    if (r == NULL) {
        remember(gpu, of);
        return 0;
    }
    r->used = all->lists;
    if (r->refused)
        return 0;
    if (memcmp(r->of.commands, of->commands, of->bytes))
        change(gpu, r, of);
    if (r->made == NULL && (r->made = all->recorder->record(gpu, (const th_gpu_command *)of->commands, of->count)) != NULL)
        gpu->counts.recorded++;
    if (r->made && all->recorder->replay(gpu, r->made) == 0) {
        gpu->counts.replayed++;
        return 1;
    }
    forget(gpu, r);
    r->refused = 1;
    return 0;
}

/* -- the list -------------------------------------------------------------------------------------------------------- */

static int submit(th_gpu *gpu)
{
    list *waiting = &gpu->commands->waiting;
    if (waiting->count == 0)
        return 0;
    const int status = waiting->count >= LEAST && replayed(gpu, waiting) ? 0 : ask_all(gpu, waiting);
    waiting->count = 0;
    waiting->bytes = 0;
    waiting->kind = 0;
    return status;
}

static int has_room(th_gpu_commands *all, size_t bytes)
{
    const size_t wanted = all->waiting.bytes + bytes;
    if (wanted <= all->room)
        return 1;
    char *more = realloc(all->waiting.commands, 2 * wanted);
    if (more == NULL)
        return 0;
    all->waiting.commands = more;
    all->room = 2 * wanted;
    return 1;
}

/* The place of a command in the list, with its addresses and other arguments; NULL: no memory. */
static th_gpu_command *put(th_gpu_commands *all, const th_gpu_command *head, char *const *pointers, const void *told)
{
    const size_t addresses = (size_t)head->npointers * sizeof *pointers, rest = ((size_t)head->bytes + 7) / 8 * 8;
    const size_t bytes = sizeof *head + addresses + rest;
    if (!has_room(all, bytes))
        return NULL;
    list *l = &all->waiting;
    th_gpu_command *c = (th_gpu_command *)(l->commands + l->bytes);
    *c = *head;
    if (addresses)
        memcpy(th_gpu_pointers(c), pointers, addresses);
    memset(th_gpu_told(c) + rest - (rest ? 8 : 0), 0, rest ? 8 : 0);
    memcpy(th_gpu_told(c), told, (size_t)head->bytes);
    l->bytes += bytes;
    l->count++;
    const uint64_t parts[3] = {(uint64_t)(uintptr_t)c->function, (uint64_t)(uintptr_t)c->run, (uint64_t)bytes << 8 | (uint64_t)c->npointers};
    for (int k = 0; k < 3; ++k)
        l->kind = (l->kind ^ parts[k]) * 0x9E3779B97F4A7C15u;
    return c;
}

int th_gpu_launch_later(th_gpu *gpu, const th_gpu_launch *launch)
{
    th_gpu_commands *all = gpu->commands;
    if (all == NULL)
        return gpu->driver->launch(gpu, launch);
    const th_gpu_command head = {.function = launch->function, .groups = launch->groups, .group = launch->group,
                                 .npointers = launch->npointers, .bytes = (int64_t)launch->bytes};
    th_gpu_command *c = NULL;
    pthread_mutex_lock(&all->lock);
    const int later = puts_off(gpu);
    int status = later && all->waiting.count < MOST ? 0 : submit(gpu);
    if (later && status == 0 && (c = put(all, &head, launch->pointers, launch->args)) != NULL)
        memset(th_gpu_told(c), 0, (size_t)c->npointers * sizeof(int64_t)); /* addresses are those of elements */
    else if (status == 0 && (status = submit(gpu)) == 0)
        status = gpu->driver->launch(gpu, launch);
    pthread_mutex_unlock(&all->lock);
    return status;
}

int th_gpu_run_later(th_gpu *gpu, th_gpu_run *run, const void *told, size_t bytes)
{
    th_gpu_commands *all = gpu->commands;
    const th_gpu_command head = {.run = run, .bytes = (int64_t)bytes};
    if (all)
        pthread_mutex_lock(&all->lock);
    const int later = all && puts_off(gpu);
    int status = all && (!later || all->waiting.count >= MOST) ? submit(gpu) : 0;
    if (status == 0 && !(later && put(all, &head, NULL, told))) {
        void *stream = all == NULL || (status = submit(gpu)) == 0 ? gpu->driver->enter(gpu) : NULL;
        status = stream ? run(gpu, stream, told) : -1;
    }
    if (all)
        pthread_mutex_unlock(&all->lock);
    return status;
}

int th_gpu_submit(th_gpu *gpu)
{
    th_gpu_commands *all = gpu->commands;
    if (all == NULL)
        return 0;
    pthread_mutex_lock(&all->lock);
    const int status = submit(gpu);
    pthread_mutex_unlock(&all->lock);
    return status;
}

static void begin(const th_device *device)
{
    if (depth < CALLS)
        begun[depth] = (const th_gpu *)device;
    ++depth;
}

static int finish(const th_device *device)
{
    --depth;
    return th_gpu_submit((th_gpu *)device);
}

void th_gpu_use_recorder(th_gpu *gpu, const th_gpu_recorder *recorder)
{
    th_gpu_commands *all = calloc(1, sizeof *all);
    if (all == NULL)
        return; /* nothing is put off then */
    all->recorder = recorder;
    pthread_mutex_init(&all->lock, NULL);
    gpu->commands = all;
    gpu->memory.begin = begin;
    gpu->memory.finish = finish;
}

TH_EXPORT void th_gpu_forget_recordings(th_gpu *gpu)
{
    th_gpu_commands *all = gpu->commands;
    if (all == NULL)
        return;
    pthread_mutex_lock(&all->lock);
    for (; all->kept > 0; --all->kept) {
        recording *r = &all->recordings[all->kept - 1];
        forget(gpu, r);
        free(r->of.commands);
        *r = (recording){.made = NULL};
    }
    pthread_mutex_unlock(&all->lock);
}

/* Whether calls put off what they ask for. */
TH_EXPORT void th_gpu_set_capture(th_gpu *gpu, int on)
{
    if (gpu->commands == NULL)
        return;
    th_gpu_submit(gpu);
    gpu->commands->on = on;
    th_gpu_forget_recordings(gpu);
}
