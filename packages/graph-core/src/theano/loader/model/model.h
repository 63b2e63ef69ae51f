/* A program as tables, and what runs it: the machine of exported models.
 *
 * NAME_tables.c, which is written with the model, has the tables: those of theano/loader/schema.py, as far as a process without
 * Python has a use for them. machine.c runs them as the loader does (loader/machine.cpp and its neighbours), with the
 * loader's own element-wise loops, copies and layouts; loop.c runs the steps of a scan; npy.c reads and writes values.
 */
#ifndef THEANO_AOT_MODEL_H
#define THEANO_AOT_MODEL_H

#include "abi.h"
#include "theano_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------- the tables */

enum { MODEL_INPUT, MODEL_CONSTANT, MODEL_STATE, MODEL_TEMP };

typedef struct {
    uint8_t kind;
    int32_t dtype, ndim; /* dtype -1: no numbers, but an object that only says which operand is not there */
    int32_t cell;        /* constants and states: where the value is */
    int32_t pool;        /* the buffer that it has in common with slots that live at other times, or -1 */
    int32_t producer;    /* the instruction that computes it, or -1 */
    int32_t overwritten; /* of a state: a copy is written into, and stored when all has gone well */
    uint64_t ones;       /* bit d: dimension d has length 1 */
} th_model_slot;

typedef struct {
    int32_t input, rows;
} th_model_rows;

typedef struct {
    int32_t input, depth, ntaps;
    const int32_t *taps; /* below 0 */
    int64_t keep;        /* how many of the last rows are wanted; -1: all */
} th_model_state;

/* The steps of a loop. Inputs are those of the instruction. */
typedef struct {
    int32_t step; /* the program of one step: rows of sequences, rows of states, carried and fixed values -> rows, carried, stop */
    int32_t count; /* the input that says how many steps there are; -1: as many as the shortest sequence has rows */
    int32_t ntaps, nneeded, nstates, nmapped, first_carried, ncarried, first_fixed, nfixed, until;
    const th_model_rows *taps;   /* rows of sequences that a step sees: the input, and how far ahead */
    const th_model_rows *needed; /* how many rows more than there are steps a sequence has */
    const th_model_state *states;
    const int64_t *keep;    /* per mapped result, as above */
    const int32_t *lengths; /* per mapped result: the program for the length of a row without steps; -1: a number */
    const char *name;
} th_model_loop;

typedef struct {
    th_thunk run;           /* a kernel; or, where it is NULL, */
    const th_model_loop *loop; /* a loop; or */
    int32_t call;           /* another program */
    int32_t lazy;
    const void *params;
    const int32_t *in, *out, *frees, *before;
    int32_t nin, nout, nfrees, nbefore;
    const char *what;         /* the expression, and where it was written */
    const char *const *names; /* of its inputs */
} th_model_instruction;

typedef struct {
    int32_t slot, cell; /* of the default value, or -1 */
    int32_t separate;   /* the program writes into it, or stores it */
    const char *name;
} th_model_input;

typedef struct {
    int32_t cell, slot;
} th_model_update;

typedef struct {
    const char *name;
    const th_model_slot *slots;
    const th_model_instruction *code;
    const th_model_input *inputs;
    const int32_t *outputs, *wanted; /* wanted: instructions that results need */
    const th_model_update *updates;
    int32_t nslots, ncode, ninputs, noutputs, nwanted, nupdates, npools, lazy;
} th_model_program;

typedef struct {
    const char *name; /* NULL: a constant */
    const char *file; /* below the model's folder */
    int32_t dtype, ndim;
    uint64_t ones;
} th_model_cell;

typedef struct {
    const th_model_program *programs;
    const th_model_cell *cells;
    int32_t nprograms, ncells;
} th_model_tables;

/* ------------------------------------- what NAME_tables.c calls, and the loader (direct.cpp) */

theano_model *th_model_new(const th_model_tables *tables); /* without values; NULL: out of memory */
int th_model_put(theano_model *model, int32_t cell, const theano_array *value); /* a copy of a value that fits the cell */
theano_model *th_model_open(const th_model_tables *tables, const char *folder, char *message, size_t room);
int th_model_call(theano_model *model, int32_t program, const theano_array *inputs, theano_array *outputs);
int th_model_get(theano_model *model, const char *name, theano_array *value);
int th_model_set(theano_model *model, const char *name, const theano_array *value);
void th_model_copy_array(const theano_array *array, void *to);
int th_model_save(theano_model *model, const char *folder);
const char *th_model_message(const theano_model *model);
void th_model_set_parallel(theano_model *model, theano_parallel parallel);
void th_model_close(theano_model *model);

/* ------------------------------------------------------- what the machine's files share */

typedef struct {
    int32_t refs;
    size_t capacity;
    char *data; /* 64-byte aligned */
} th_model_block;

th_model_block *th_model_block_new(size_t bytes); /* one reference; NULL: out of memory */
void th_model_block_release(th_model_block *block);

typedef struct {
    th_model_block *block; /* NULL before it has a value */
    th_buffer buf;
} th_model_value;

typedef struct th_model_frame th_model_frame;

struct theano_model {
    const th_model_tables *tables;
    th_model_value *cells;
    th_model_frame **frames; /* per program, made at its first call */
    theano_parallel parallel;
    int failed; /* the kind of error; several threads may fail at once, and the first one is heard */
    char message[1024];
};

extern const int64_t th_model_itemsize[TH_NDTYPES];
extern const char *const th_model_dtype_name[TH_NDTYPES];

int th_model_fail(theano_model *model, int32_t kind, const char *format, ...); /* -1 */
void th_model_in_step(theano_model *model, int64_t step, const char *loop);
th_model_frame *th_model_frame_of(theano_model *model, int32_t program);          /* NULL: error set */
theano_model *th_model_of(const th_ctx *ctx);
void th_model_begin(th_model_frame *frame); /* drops what the call before has left */
void th_model_bind(th_model_frame *frame, int32_t input, char *data, const int64_t *shape, const int64_t *strides);
int th_model_run(th_model_frame *frame);
const th_buffer *th_model_output(const th_model_frame *frame, int32_t output);
int th_model_run_loop(th_ctx *ctx, const th_model_loop *loop);
void th_model_copy(char *to, const th_buffer *from); /* in C order; any number of elements and axes */

/* Reads into a value that has dtype, ndim and memory for its shape; 0, or -1 with a message. */
int th_model_read_npy(theano_model *model, const char *path, const th_model_cell *expected, th_model_value *value);
int th_model_write_npy(theano_model *model, const char *path, const th_buffer *value);

#ifdef __cplusplus
}
#endif
#endif
