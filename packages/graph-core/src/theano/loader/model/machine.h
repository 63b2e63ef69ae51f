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
    const model_slot *info;
    model_block *own, *lent;
    int where;
    union {
        char bytes[16];
        double aligned[2];
    } cell;
} slot;

struct model_frame {
    theano_model *model;
    const model_program *program;
    slot *slots;
    th_ctx *contexts;
    th_buffer **args;
    int64_t *dims;
    model_block **pool;
    unsigned char *done; /* lazy programs: per instruction */
    int32_t *stack;
    int32_t stack_room;
    model_block **scratch;
    int32_t nscratch, scratch_room;
    size_t scratch_used; /* of the last one */
};

model_block *model_lent_by(const slot *s); /* the block in which a slot's numbers are; NULL: they are in none */
void model_let_go(slot *s);
int model_separate(model_frame *frame, slot *s); /* its value becomes a copy of it; -1: error set */
void model_bind_stored(slot *s, const model_value *value);
void *model_table(size_t count, size_t size); /* zeros, and one more than asked for: calloc of nothing may be NULL */
void model_frame_delete(model_frame *frame);

#endif
