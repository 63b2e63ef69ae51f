/* What NAME_tables.c calls: opening a model, calls with arrays of the caller's, stored values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"
#include "machine.h"

/* ---------------------------------------------------------------------- updates */

typedef struct {
    th_model_block *block;
    char *data;
} new_value;

/* The block that holds the value of a slot, or a copy of it; with a new reference. */
static new_value value_to_store(slot *s) {
    new_value made = {th_model_lent_by(s), s->buf.data};
    if (made.block) {
        made.block->refs++;
        return made;
    }
    made.block = th_model_block_new((size_t)(th_count_elements(s->buf.ndim, s->buf.itemsize, s->buf.shape) * s->buf.itemsize));
    if (!made.block) return made;
    th_model_copy(made.block->data, &s->buf);
    th_lay_out(&s->buf, s->buf.shape);
    made.data = made.block->data;
    return made;
}

/* All new values are there before the first one is stored. */
static int store_updates(th_model_frame *frame) {
    const th_model_program *program = frame->program;
    const int32_t count = program->nupdates;
    new_value *made;
    if (!count) return 0;
    made = (new_value *)th_model_table((size_t)count, sizeof *made);
    for (int32_t k = 0; made && k < count; ++k) {
        made[k] = value_to_store(frame->slots + program->updates[k].slot);
        if (made[k].block) continue;
        while (k-- > 0) th_model_block_release(made[k].block);
        free(made);
        made = NULL;
    }
    if (!made) return th_model_fail(frame->model, TH_ERR_MEMORY, "no memory to store new values");
    for (int32_t k = 0; k < program->nslots; ++k) {
        slot *s = frame->slots + k;
        int is_output = 0;
        for (int32_t o = 0; o < program->noutputs; ++o) is_output |= program->outputs[o] == k;
        if (s->info->kind == MODEL_STATE && s->where == IN_LENT && !is_output) th_model_let_go(s);
    }
    for (int32_t k = 0; k < count; ++k) {
        slot *s = frame->slots + program->updates[k].slot;
        th_model_value *cell = frame->model->cells + program->updates[k].cell;
        th_model_block *old = cell->block;
        cell->block = made[k].block;
        cell->buf.data = made[k].data;
        for (int d = 0; d < cell->buf.ndim; ++d) {
            cell->buf.shape[d] = s->buf.shape[d];
            cell->buf.strides[d] = s->buf.strides[d];
        }
        /* The next call computes into the block stored before, if it has no other reference. */
        if (s->where == IN_OWN && s->own == cell->block && old && old->refs == 1) {
            s->lent = s->own;
            s->where = IN_LENT;
            s->own = old;
        } else {
            th_model_block_release(old);
        }
    }
    free(made);
    return 0;
}

/* --------------------------------------------------------------- calls from outside */

/* Are all elements where the kernels may read them as they are? */
static int is_aligned(const th_buffer *buf) {
    const int64_t size = buf->dtype >= TH_COMPLEX64 ? buf->itemsize / 2 : buf->itemsize;
    int64_t all = (int64_t)(intptr_t)buf->data;
    for (int d = 0; d < buf->ndim; ++d) all |= buf->strides[d];
    return all % size == 0;
}

static int wrong_input(theano_model *model, const th_model_input *input, const th_model_slot *info, const theano_array *given) {
    if (!given->data)
        return th_model_fail(model, TH_ERR_TYPE, "the input %s is missing: its data are NULL", input->name);
    if (given->dtype != info->dtype || given->ndim != info->ndim)
        return th_model_fail(model, TH_ERR_TYPE, "the input %s is %s with %d dimensions, not %s with %d", input->name,
                             th_model_dtype_name[info->dtype], (int)info->ndim,
                          given->dtype < 0 || given->dtype >= TH_NDTYPES ? "an unknown dtype" : th_model_dtype_name[given->dtype],
                          (int)given->ndim);
    for (int d = 0; d < info->ndim; ++d) {
        if (given->shape[d] < 0)
            return th_model_fail(model, TH_ERR_SHAPE, "the input %s has the length %lld along dimension %d", input->name,
                                 (long long)given->shape[d], d);
        if ((info->ones >> d & 1) && given->shape[d] != 1)
            return th_model_fail(model, TH_ERR_SHAPE, "the input %s has the length %lld along dimension %d, where its type says 1",
                                 input->name, (long long)given->shape[d], d);
    }
    return 0;
}

/* The strides of an array whose caller leaves them out. */
static void strides_of(const theano_array *array, int64_t itemsize, int64_t *strides) {
    th_buffer laid = {NULL, array->ndim, array->dtype, NULL, strides, itemsize, NULL, NULL};
    int64_t shape[TH_MAX_NDIM];
    laid.shape = shape;
    if (array->strides)
        memcpy(strides, array->strides, (size_t)array->ndim * sizeof *strides);
    else
        th_lay_out(&laid, array->shape);
}

static int bind_input(th_model_frame *frame, int32_t k, const theano_array *given) {
    const th_model_input *input = frame->program->inputs + k;
    slot *s = frame->slots + input->slot;
    int64_t strides[TH_MAX_NDIM];
    if (!given->data && input->cell >= 0) {
        th_model_bind_stored(s, frame->model->cells + input->cell);
        return input->separate ? th_model_separate(frame, s) : 0;
    }
    if (wrong_input(frame->model, input, s->info, given) < 0) return -1;
    strides_of(given, s->buf.itemsize, strides);
    th_model_bind(frame, k, (char *)given->data, given->shape, strides);
    return input->separate || !is_aligned(&s->buf) ? th_model_separate(frame, s) : 0;
}

int th_model_call(theano_model *model, int32_t number, const theano_array *inputs, theano_array *outputs) {
    th_model_frame *frame;
    model->failed = 0;
    model->message[0] = 0;
    if (!(frame = th_model_frame_of(model, number))) return model->failed;
    th_model_begin(frame);
    for (int32_t k = 0; k < frame->program->ninputs; ++k) {
        if (bind_input(frame, k, inputs + k) < 0) return model->failed;
    }
    if (th_model_run(frame) < 0 || store_updates(frame) < 0) return model->failed;
    for (int32_t k = 0; k < frame->program->noutputs; ++k) {
        const th_buffer *made = th_model_output(frame, k);
        outputs[k].data = made->data;
        outputs[k].dtype = made->dtype;
        outputs[k].ndim = made->ndim;
        outputs[k].shape = made->shape;
        outputs[k].strides = made->strides;
    }
    return THEANO_OK;
}

static int find_state(theano_model *model, const char *name) {
    model->failed = 0;
    model->message[0] = 0;
    for (int32_t k = 0; k < model->tables->ncells; ++k) {
        if (model->tables->cells[k].name && strcmp(model->tables->cells[k].name, name) == 0) return (int)k;
    }
    return th_model_fail(model, TH_ERR_INDEX, "the model stores no value of the name %s", name);
}

int th_model_get(theano_model *model, const char *name, theano_array *value) {
    const int k = find_state(model, name);
    const th_buffer *buf;
    if (k < 0) return model->failed;
    buf = &model->cells[k].buf;
    value->data = buf->data;
    value->dtype = buf->dtype;
    value->ndim = buf->ndim;
    value->shape = buf->shape;
    value->strides = buf->strides;
    return THEANO_OK;
}

int th_model_put(theano_model *model, int32_t cell, const theano_array *value) {
    th_buffer *buf = &model->cells[cell].buf;
    int64_t shape[TH_MAX_NDIM], strides[TH_MAX_NDIM];
    const th_buffer given = {(char *)value->data, buf->ndim, buf->dtype, shape, strides, buf->itemsize, NULL, NULL};
    th_model_block *block;
    strides_of(value, buf->itemsize, strides);
    memcpy(shape, value->shape, (size_t)value->ndim * sizeof *shape);
    block = th_model_block_new((size_t)(th_count_elements(buf->ndim, buf->itemsize, shape) * buf->itemsize));
    if (!block) return th_model_fail(model, TH_ERR_MEMORY, "no memory for a stored value");
    th_model_copy(block->data, &given);
    th_model_block_release(model->cells[cell].block);
    model->cells[cell].block = block;
    buf->data = block->data;
    th_lay_out(buf, shape);
    return 0;
}

int th_model_set(theano_model *model, const char *name, const theano_array *value) {
    const int k = find_state(model, name);
    if (k < 0) return model->failed;
    const th_model_cell *cell = model->tables->cells + k;
    const th_model_input named = {0, -1, 0, name};
    const th_model_slot type = {MODEL_STATE, cell->dtype, cell->ndim, k, -1, -1, 0, cell->ones};
    if (wrong_input(model, &named, &type, value) < 0 || th_model_put(model, k, value) < 0) return model->failed;
    return THEANO_OK;
}

void th_model_copy_array(const theano_array *array, void *to) {
    int64_t shape[TH_MAX_NDIM], strides[TH_MAX_NDIM];
    const th_buffer from = {(char *)array->data, array->ndim, array->dtype, shape, strides, th_model_itemsize[array->dtype], NULL, NULL};
    strides_of(array, from.itemsize, strides);
    memcpy(shape, array->shape, (size_t)array->ndim * sizeof *shape);
    th_model_copy((char *)to, &from);
}

const char *th_model_message(const theano_model *model) { return model->message; }

void th_model_set_parallel(theano_model *model, theano_parallel parallel) { model->parallel = parallel; }

/* ------------------------------------------------------------------ opening, closing */

static int path_of(theano_model *model, const char *folder, const char *file, char *path, size_t room) {
    if ((size_t)snprintf(path, room, "%s/%s", folder, file) < room) return 0;
    return th_model_fail(model, THEANO_ERR_FILE, "the path of %s is too long", file);
}

static int make_cells(theano_model *model) {
    for (int32_t k = 0; k < model->tables->ncells; ++k) {
        const th_model_cell *cell = model->tables->cells + k;
        th_buffer *buf = &model->cells[k].buf;
        buf->dtype = cell->dtype;
        buf->ndim = cell->ndim;
        buf->itemsize = th_model_itemsize[cell->dtype];
        buf->shape = (int64_t *)th_model_table(2 * (size_t)cell->ndim, sizeof(int64_t));
        if (!buf->shape) return -1;
        buf->strides = buf->shape + cell->ndim;
    }
    return 0;
}

theano_model *th_model_new(const th_model_tables *tables) {
    theano_model *model = (theano_model *)calloc(1, sizeof *model);
    if (!model) return NULL;
    model->tables = tables;
    model->cells = (th_model_value *)th_model_table((size_t)tables->ncells, sizeof *model->cells);
    model->frames = (th_model_frame **)th_model_table((size_t)tables->nprograms, sizeof *model->frames);
    if (model->cells && model->frames && make_cells(model) == 0) return model;
    th_model_close(model);
    return NULL;
}

static int read_cells(theano_model *model, const char *folder) {
    char path[4096];
    for (int32_t k = 0; k < model->tables->ncells; ++k) {
        const th_model_cell *cell = model->tables->cells + k;
        if (path_of(model, folder, cell->file, path, sizeof path) < 0) return -1;
        if (th_model_read_npy(model, path, cell, model->cells + k) < 0) return -1;
    }
    return 0;
}

theano_model *th_model_open(const th_model_tables *tables, const char *folder, char *message, size_t room) {
    theano_model *model = th_model_new(tables);
    if (model && read_cells(model, folder) == 0) return model;
    if (message && room) snprintf(message, room, "%s", model ? model->message : "no memory for the model");
    th_model_close(model);
    return NULL;
}

int th_model_save(theano_model *model, const char *folder) {
    char path[4096];
    model->failed = 0;
    for (int32_t k = 0; k < model->tables->ncells; ++k) {
        const th_model_cell *cell = model->tables->cells + k;
        if (!cell->name) continue;
        if (path_of(model, folder, cell->file, path, sizeof path) < 0) break;
        if (th_model_write_npy(model, path, &model->cells[k].buf) < 0) break;
    }
    return model->failed;
}

void th_model_close(theano_model *model) {
    if (!model) return;
    for (int32_t k = 0; model->frames && k < model->tables->nprograms; ++k) th_model_frame_delete(model->frames[k]);
    for (int32_t k = 0; model->cells && k < model->tables->ncells; ++k) {
        th_model_block_release(model->cells[k].block);
        free(model->cells[k].buf.shape);
    }
    free(model->frames);
    free(model->cells);
    free(model);
}
