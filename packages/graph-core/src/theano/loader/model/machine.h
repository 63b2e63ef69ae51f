/* Frames and slots: what machine.c and calls.c share. */
#ifndef THEANO_AOT_MACHINE_H
#define THEANO_AOT_MACHINE_H

#include "model.h"

/* elementwise.c, the loader's */
extern int th_elementwise(th_ctx *ctx, const th_loop *loop);
extern int th_size_outputs(th_ctx *ctx, const th_loop *loop);
extern int th_is_packed(const th_buffer *buffer);

/* Where the numbers of a slot are: nowhere, in it, in a block of its own, in one that another slot or a stored value lends,
 * or in memory of the caller's. */
enum { IN_NONE, IN_CELL, IN_OWN, IN_LENT, IN_GIVEN };

typedef struct {
    th_buffer buf; /* first: a th_buffer* of ours is a slot* */
    const th_model_slot *info;
    th_model_block *own, *lent;
    int where;
    union {
        char bytes[16];
        double aligned[2];
    } cell;
} slot;

struct th_model_frame {
    theano_model *model;
    const th_model_program *program;
    slot *slots;
    th_ctx *contexts;
    th_buffer **args;
    int64_t *dims;
    th_model_block **pool;
    unsigned char *done; /* lazy programs: per instruction */
    int32_t *stack;
    int32_t stack_room;
    th_model_block **scratch;
    int32_t nscratch, scratch_room;
    size_t scratch_used; /* of the last one */
};

th_model_block *th_model_lent_by(const slot *s); /* the block in which a slot's numbers are; NULL: they are in none */
void th_model_let_go(slot *s);
int th_model_separate(th_model_frame *frame, slot *s); /* its value becomes a copy of it; -1: error set */
void th_model_bind_stored(slot *s, const th_model_value *value);
void *th_model_table(size_t count, size_t size); /* zeros, and one more than asked for: calloc of nothing may be NULL */
void th_model_frame_delete(th_model_frame *frame);

#endif
