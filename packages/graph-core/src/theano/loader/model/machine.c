/* Runs the tables of a model, without Python.
 *
 * A frame is where the calls of one program keep their values. The numbers of a slot live in exactly one of: the slot itself
 * (`cell`, zero dimensions), a block of its own (kept between calls), a block that is lent by the slot of which this one is
 * a view, or memory of the caller's. A block is written again only where the frame alone knows it, so that a stored value and
 * a result never change while a caller holds them. A state that a program overwrites is copied first: a call that fails has changed
 * nothing.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"
#include "machine.h"

const int64_t th_model_itemsize[TH_NDTYPES] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8, 8, 16};
const char *const th_model_dtype_name[TH_NDTYPES] = {"bool",   "int8",   "uint8",   "int16",   "uint16",  "int32",     "uint32",
                                                     "int64",  "uint64", "float16", "float32", "float64", "complex64", "complex128"};

static th_model_frame *frame_of(const th_ctx *ctx) { return (th_model_frame *)ctx->priv; }

theano_model *th_model_of(const th_ctx *ctx) { return frame_of(ctx)->model; }

/* ----------------------------------------------------------------------- errors */

/* Keeps what went wrong first, of whatever thread. */
static int keep_failure(theano_model *model, int32_t kind, const char *format, va_list args) {
    if (!__atomic_exchange_n(&model->failed, (int)kind, __ATOMIC_ACQ_REL))
        vsnprintf(model->message, sizeof model->message, format, args);
    return -1;
}

int th_model_fail(theano_model *model, int32_t kind, const char *format, ...) {
    va_list args;
    va_start(args, format);
    keep_failure(model, kind, format, args);
    va_end(args);
    return -1;
}

/* Puts the names of an instruction's inputs in the places that a kernel has left for them, and says what it computes. */
static void explain(theano_model *model, const th_model_instruction *instr) {
    char told[sizeof model->message];
    const char *at = model->message;
    size_t used = 0;
    while (*at && used + 1 < sizeof told) {
        int number = -1, length = 0;
        if (sscanf(at, "<input %d>%n", &number, &length) == 1 && length && number >= 0 && number < instr->nin) {
            used += (size_t)snprintf(told + used, sizeof told - used, "%s", instr->names[number]);
            at += length;
        } else {
            told[used++] = *at++;
        }
        if (used >= sizeof told) used = sizeof told - 1;
    }
    told[used] = 0;
    if (instr->what)
        snprintf(model->message, sizeof model->message, "%.700s\n  in %.300s", told, instr->what);
    else
        memcpy(model->message, told, used + 1);
}

/* Prefix the message with the number of a step. */
void th_model_in_step(theano_model *model, int64_t step, const char *loop) {
    char said[sizeof model->message];
    memcpy(said, model->message, sizeof said);
    snprintf(model->message, sizeof model->message, "in step %lld of %.100s: %.800s", (long long)step, loop, said);
}

/* ----------------------------------------------------------------------- memory */

#if defined(_WIN32) /* whose C library has none of C11's */
#include <malloc.h>
#define aligned_alloc(alignment, bytes) _aligned_malloc(bytes, alignment)
#define aligned_free _aligned_free
#else
#define aligned_free free
#endif

th_model_block *th_model_block_new(size_t bytes) {
    th_model_block *block = (th_model_block *)malloc(sizeof *block);
    const size_t capacity = ((bytes ? bytes : 1) + 63) & ~(size_t)63;
    if (!block) return NULL;
    block->data = capacity >= bytes ? (char *)aligned_alloc(64, capacity) : NULL;
    if (!block->data) {
        free(block);
        return NULL;
    }
    block->refs = 1;
    block->capacity = capacity;
    return block;
}

void th_model_block_release(th_model_block *block) {
    if (!block || --block->refs) return;
    aligned_free(block->data);
    free(block);
}

th_model_block *th_model_lent_by(const slot *s) { return s->where == IN_OWN ? s->own : s->where == IN_LENT ? s->lent : NULL; }

void th_model_let_go(slot *s) {
    th_model_block_release(s->lent);
    s->lent = NULL;
    s->where = IN_NONE;
    s->buf.data = NULL;
}

/* After its last use: its block may serve another slot of the plan. */
static void retire(th_model_frame *frame, slot *s) {
    const int32_t pool = s->info->pool;
    th_model_let_go(s);
    if (pool < 0 || !s->own) return;
    if (!frame->pool[pool] && s->own->refs == 1)
        frame->pool[pool] = s->own;
    else
        th_model_block_release(s->own);
    s->own = NULL;
}

static th_model_block *own_block(th_model_frame *frame, slot *s, size_t bytes) {
    if (!s->own && s->info->pool >= 0) {
        s->own = frame->pool[s->info->pool];
        frame->pool[s->info->pool] = NULL;
    }
    if (s->own && (s->own->capacity < bytes || s->own->refs > 1)) {
        th_model_block_release(s->own);
        s->own = NULL;
    }
    if (!s->own) s->own = th_model_block_new(bytes);
    return s->own;
}

void th_model_copy(char *to, const th_buffer *from) {
    const int64_t elements = th_count_elements(from->ndim, from->itemsize, from->shape);
    if (elements <= 0) return;
    if (from->ndim == 0 || th_is_packed(from))
        memcpy(to, from->data, (size_t)(elements * from->itemsize));
    else
        th_pack(to, from);
}

/* ------------------------------------------------------------- what kernels see */

static int rt_fail(th_ctx *ctx, int32_t kind, const char *format, ...) {
    va_list args;
    va_start(args, format);
    keep_failure(th_model_of(ctx), kind, format, args);
    va_end(args);
    return -1;
}

static int rt_ensure(th_ctx *ctx, th_buffer *out, const int64_t *shape) {
    slot *s = (slot *)out;
    const int64_t elements = th_count_elements(out->ndim, out->itemsize, shape);
    if (elements < 0)
        return rt_fail(ctx, TH_ERR_VALUE, "an output would have a negative length or more bytes than can be addressed");
    th_model_block_release(s->lent);
    s->lent = NULL;
    if (out->ndim == 0) {
        s->where = IN_CELL;
        out->data = s->cell.bytes;
        return 0;
    }
    if (!own_block(frame_of(ctx), s, (size_t)(elements * out->itemsize))) {
        th_model_let_go(s);
        return rt_fail(ctx, TH_ERR_MEMORY, "no memory for %lld elements of %s", (long long)elements, th_model_dtype_name[out->dtype]);
    }
    s->where = IN_OWN;
    th_lay_out(out, shape);
    out->data = s->own->data;
    return 0;
}

static int rt_view(th_ctx *ctx, th_buffer *out, const th_buffer *base, char *data, int32_t ndim, const int64_t *shape,
                   const int64_t *strides) {
    slot *s = (slot *)out;
    const slot *owner = (const slot *)base->priv;
    th_model_block *lent = th_model_lent_by(owner);
    if (ndim != out->ndim)
        return rt_fail(ctx, TH_ERR_VALUE, "a view of %d dimensions where %d are declared", (int)ndim, (int)out->ndim);
    if (lent) lent->refs++;
    th_model_block_release(s->lent);
    s->lent = lent;
    s->where = lent ? IN_LENT : IN_GIVEN; /* or a number in another slot, which stays as long as the frame */
    out->data = data;
    for (int d = 0; d < ndim; ++d) {
        const int64_t length = shape[d], stride = strides[d]; /* the tables given may be the slot's own */
        out->shape[d] = length;
        out->strides[d] = stride;
    }
    return 0;
}

static void *rt_scratch(th_ctx *ctx, size_t bytes) {
    th_model_frame *frame = frame_of(ctx);
    th_model_block *last = frame->nscratch ? frame->scratch[frame->nscratch - 1] : NULL;
    bytes = (bytes + 63) & ~(size_t)63;
    if (!last || last->capacity - frame->scratch_used < bytes) {
        if (frame->nscratch == frame->scratch_room) {
            const int32_t room = frame->scratch_room ? 2 * frame->scratch_room : 8;
            th_model_block **more = (th_model_block **)realloc(frame->scratch, (size_t)room * sizeof *more);
            if (!more) goto none;
            frame->scratch = more;
            frame->scratch_room = room;
        }
        last = th_model_block_new(bytes > 4096 ? bytes : 4096);
        if (!last) goto none;
        frame->scratch[frame->nscratch++] = last;
        frame->scratch_used = 0;
    }
    frame->scratch_used += bytes;
    return last->data + (frame->scratch_used - bytes);
none:
    rt_fail(ctx, TH_ERR_MEMORY, "no memory for %zu bytes of scratch", bytes);
    return NULL;
}

/* The last block, which is the largest, stays for the next instruction. */
static void reset_scratch(th_model_frame *frame) {
    int32_t k;
    if (!frame->nscratch) return;
    for (k = 0; k + 1 < frame->nscratch; ++k) th_model_block_release(frame->scratch[k]);
    frame->scratch[0] = frame->scratch[frame->nscratch - 1];
    frame->nscratch = 1;
    frame->scratch_used = 0;
}

static int rt_parallel_for(th_ctx *ctx, int64_t n, int64_t grain, th_body body, void *arg) {
    theano_model *model = th_model_of(ctx);
    if (n > 0) {
        if (model->parallel && n > grain)
            model->parallel(n, grain > 0 ? grain : 1, body, arg);
        else
            body(arg, 0, n);
    }
    return __atomic_load_n(&model->failed, __ATOMIC_ACQUIRE) ? -1 : 0;
}

static int rt_transfer(th_ctx *ctx, th_buffer *out, const th_buffer *in) {
    (void)out, (void)in;
    return rt_fail(ctx, TH_ERR_VALUE, "an exported model has no devices");
}

static const th_runtime runtime_table = {TH_ABI_VERSION, rt_ensure, rt_view, rt_fail,         rt_scratch, rt_parallel_for,
                                         th_elementwise, th_move,   th_size_outputs, rt_transfer};

/* ----------------------------------------------------------------------- frames */

void th_model_frame_delete(th_model_frame *frame) {
    const th_model_program *program;
    if (!frame) return;
    program = frame->program;
    for (int32_t k = 0; frame->slots && k < program->nslots; ++k) {
        th_model_let_go(frame->slots + k);
        th_model_block_release(frame->slots[k].own);
    }
    for (int32_t k = 0; frame->pool && k < program->npools; ++k) th_model_block_release(frame->pool[k]);
    for (int32_t k = 0; k < frame->nscratch; ++k) th_model_block_release(frame->scratch[k]);
    free(frame->slots);
    free(frame->contexts);
    free(frame->args);
    free(frame->dims);
    free(frame->pool);
    free(frame->done);
    free(frame->stack);
    free(frame->scratch);
    free(frame);
}

void *th_model_table(size_t count, size_t size) { return calloc(count + 1, size); }

static th_model_frame *frame_new(theano_model *model, const th_model_program *program) {
    size_t dims = 0, args = 0;
    th_model_frame *frame = (th_model_frame *)calloc(1, sizeof *frame);
    if (!frame) return NULL;
    frame->model = model;
    frame->program = program;
    for (int32_t k = 0; k < program->nslots; ++k) dims += 2 * (size_t)program->slots[k].ndim;
    for (int32_t i = 0; i < program->ncode; ++i) args += (size_t)(program->code[i].nin + program->code[i].nout);
    frame->slots = (slot *)th_model_table((size_t)program->nslots, sizeof *frame->slots);
    frame->contexts = (th_ctx *)th_model_table((size_t)program->ncode, sizeof *frame->contexts);
    frame->args = (th_buffer **)th_model_table(args, sizeof *frame->args);
    frame->dims = (int64_t *)th_model_table(dims, sizeof *frame->dims);
    frame->pool = (th_model_block **)th_model_table((size_t)program->npools, sizeof *frame->pool);
    frame->done = (unsigned char *)th_model_table((size_t)program->ncode, 1);
    if (!frame->slots || !frame->contexts || !frame->args || !frame->dims || !frame->pool || !frame->done) {
        th_model_frame_delete(frame);
        return NULL;
    }
    dims = args = 0;
    for (int32_t k = 0; k < program->nslots; ++k) {
        const th_model_slot *info = program->slots + k;
        slot *s = frame->slots + k;
        s->info = info;
        s->buf.ndim = info->ndim;
        s->buf.dtype = info->dtype;
        s->buf.itemsize = info->dtype < 0 ? 0 : th_model_itemsize[info->dtype];
        s->buf.priv = s;
        s->buf.shape = frame->dims + dims;
        s->buf.strides = s->buf.shape + info->ndim;
        dims += 2 * (size_t)info->ndim;
    }
    for (int32_t i = 0; i < program->ncode; ++i) {
        const th_model_instruction *instr = program->code + i;
        th_ctx *ctx = frame->contexts + i;
        ctx->in = frame->args + args;
        for (int32_t k = 0; k < instr->nin; ++k) frame->args[args++] = &frame->slots[instr->in[k]].buf;
        ctx->out = frame->args + args;
        for (int32_t k = 0; k < instr->nout; ++k) frame->args[args++] = &frame->slots[instr->out[k]].buf;
        ctx->rt = &runtime_table;
        ctx->params = instr->params;
        ctx->nin = instr->nin;
        ctx->nout = instr->nout;
        ctx->priv = frame;
    }
    return frame;
}

th_model_frame *th_model_frame_of(theano_model *model, int32_t program) {
    if (!model->frames[program]) model->frames[program] = frame_new(model, model->tables->programs + program);
    if (!model->frames[program]) th_model_fail(model, TH_ERR_MEMORY, "no memory for the tables of a program");
    return model->frames[program];
}

/* A window on a stored value. */
void th_model_bind_stored(slot *s, const th_model_value *value) {
    th_model_let_go(s);
    s->lent = value->block;
    s->lent->refs++;
    s->where = IN_LENT;
    s->buf.data = value->buf.data;
    for (int d = 0; d < s->buf.ndim; ++d) {
        s->buf.shape[d] = value->buf.shape[d];
        s->buf.strides[d] = value->buf.strides[d];
    }
}

/* The slot's value becomes a copy of it, in memory of its own. */
int th_model_separate(th_model_frame *frame, slot *s) {
    const int64_t elements = th_count_elements(s->buf.ndim, s->buf.itemsize, s->buf.shape);
    th_model_block *block = own_block(frame, s, (size_t)(elements * s->buf.itemsize));
    if (!block) return th_model_fail(frame->model, TH_ERR_MEMORY, "no memory for a copy of %lld elements", (long long)elements);
    th_model_copy(block->data, &s->buf);
    th_model_let_go(s);
    th_lay_out(&s->buf, s->buf.shape);
    s->buf.data = block->data;
    s->where = IN_OWN;
    return 0;
}

static int bind_stored(th_model_frame *frame) {
    const th_model_program *program = frame->program;
    for (int32_t k = 0; k < program->nslots; ++k) {
        const th_model_slot *info = program->slots + k;
        if ((info->kind != MODEL_STATE && info->kind != MODEL_CONSTANT) || info->cell < 0) continue;
        th_model_bind_stored(frame->slots + k, frame->model->cells + info->cell);
        if (info->overwritten && th_model_separate(frame, frame->slots + k) < 0) return -1;
    }
    return 0;
}

void th_model_begin(th_model_frame *frame) {
    for (int32_t k = 0; k < frame->program->nslots; ++k) {
        slot *s = frame->slots + k;
        if (s->info->pool >= 0)
            retire(frame, s);
        else
            th_model_let_go(s);
    }
}

void th_model_bind(th_model_frame *frame, int32_t input, char *data, const int64_t *shape, const int64_t *strides) {
    slot *s = frame->slots + frame->program->inputs[input].slot;
    th_model_let_go(s);
    s->where = IN_GIVEN;
    s->buf.data = data;
    for (int d = 0; d < s->buf.ndim; ++d) {
        s->buf.shape[d] = shape[d];
        s->buf.strides[d] = strides[d];
    }
}

const th_buffer *th_model_output(const th_model_frame *frame, int32_t output) {
    return &frame->slots[frame->program->outputs[output]].buf;
}

/* ---------------------------------------------------------------------- running */

static int run_call(th_ctx *ctx, int32_t program) {
    th_model_frame *frame = th_model_frame_of(th_model_of(ctx), program);
    if (!frame) return -1;
    th_model_begin(frame);
    for (int32_t k = 0; k < ctx->nin; ++k) th_model_bind(frame, k, ctx->in[k]->data, ctx->in[k]->shape, ctx->in[k]->strides);
    if (th_model_run(frame) < 0) return -1;
    for (int32_t k = 0; k < ctx->nout; ++k) {
        const th_buffer *made = th_model_output(frame, k);
        if (ctx->rt->ensure(ctx, ctx->out[k], made->shape) < 0) return -1;
        th_model_copy(ctx->out[k]->data, made);
    }
    return 0;
}

static int run_one(th_model_frame *frame, int32_t i) {
    const th_model_instruction *instr = frame->program->code + i;
    th_ctx *ctx = frame->contexts + i;
    int status = instr->run ? instr->run(ctx) : instr->loop ? th_model_run_loop(ctx, instr->loop) : run_call(ctx, instr->call);
    reset_scratch(frame);
    if (status >= 0) return status;
    if (!frame->model->failed) th_model_fail(frame->model, TH_ERR_VALUE, "a kernel failed and did not say why");
    explain(frame->model, instr);
    return -1;
}

static int run_straight(th_model_frame *frame) {
    for (int32_t i = 0; i < frame->program->ncode; ++i) {
        const th_model_instruction *instr = frame->program->code + i;
        if (run_one(frame, i)) return -1;
        for (int32_t k = 0; k < instr->nfrees; ++k) retire(frame, frame->slots + instr->frees[k]);
    }
    return 0;
}

static int is_missing(const th_model_frame *frame, int32_t number) {
    const int32_t producer = frame->program->slots[number].producer;
    return producer >= 0 && !frame->done[producer];
}

static int push(th_model_frame *frame, int32_t *depth, int32_t instruction) {
    if (*depth == frame->stack_room) {
        const int32_t room = frame->stack_room ? 2 * frame->stack_room : 64;
        int32_t *more = (int32_t *)realloc(frame->stack, (size_t)room * sizeof *more);
        if (!more) return th_model_fail(frame->model, TH_ERR_MEMORY, "no memory to run a program on demand");
        frame->stack = more;
        frame->stack_room = room;
    }
    frame->stack[(*depth)++] = instruction;
    return 0;
}

/* What is not there yet of some slots is to be computed first: how many there are, or -1. */
static int push_missing(th_model_frame *frame, int32_t *depth, const int32_t *slots, int32_t count) {
    int pushed = 0;
    for (int32_t k = 0; k < count; ++k) {
        if (!is_missing(frame, slots[k])) continue;
        if (push(frame, depth, frame->program->slots[slots[k]].producer) < 0) return -1;
        ++pushed;
    }
    return pushed;
}

/* Only what results need is computed; a lazy instruction says itself which inputs it wants. */
static int run_on_demand(th_model_frame *frame) {
    const th_model_program *program = frame->program;
    int32_t depth = 0;
    memset(frame->done, 0, (size_t)program->ncode);
    for (int32_t k = program->nwanted; k-- > 0;) {
        if (push(frame, &depth, program->wanted[k]) < 0) return -1;
    }
    while (depth) {
        const int32_t i = frame->stack[depth - 1];
        const th_model_instruction *instr = program->code + i;
        th_ctx *ctx = frame->contexts + i;
        int status, waits = 0;
        if (frame->done[i]) {
            --depth;
            continue;
        }
        if ((status = push_missing(frame, &depth, instr->before, instr->nbefore)) < 0) return -1;
        waits += status;
        if (!instr->lazy) {
            if ((status = push_missing(frame, &depth, instr->in, instr->nin)) < 0) return -1;
            waits += status;
        }
        if (waits) continue;
        for (int32_t k = 0; instr->lazy && k < instr->nin; ++k) {
            if (is_missing(frame, instr->in[k])) ctx->in[k]->data = NULL;
        }
        ctx->need = -1;
        if ((status = run_one(frame, i)) < 0) return -1;
        if (status == 0) {
            frame->done[i] = 1;
            --depth;
            continue;
        }
        if (ctx->need < 0 || ctx->need >= instr->nin || !is_missing(frame, instr->in[ctx->need]))
            return th_model_fail(frame->model, TH_ERR_VALUE, "a lazy kernel asks for input %d, which is not missing", (int)ctx->need);
        if (push_missing(frame, &depth, instr->in + ctx->need, 1) < 0) return -1;
    }
    return 0;
}

int th_model_run(th_model_frame *frame) {
    if (bind_stored(frame) < 0) return -1;
    return frame->program->lazy ? run_on_demand(frame) : run_straight(frame);
}
