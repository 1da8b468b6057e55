/* SPDX-License-Identifier: Apache-2.0 */
/* stack.h - the frames that calls ran in. */
#ifndef PROGRAM_STACK_H
#define PROGRAM_STACK_H

#include "program/syntax.h"

struct spot {            /* a frame of a call */
    int where, function; /* file, function and module, as a number; without the module */
    int line;
    struct path *path; /* it and the frames around it */
    const struct source *src;
    const char *calls; /* the module that it calls there; "" none */
    bool library;      /* its file is an installed package's */
    bool traced;       /* it is a line of a traced graph's code */
    bool widens;       /* the line may cast to fp32 */
    bool states;       /* the line takes what lies between a module's layers */
};

struct path { /* a frame in the frames around it: equal ones are one */
    int where, line;
    struct path *inside, *next; /* frames in it; of the same frame around */
};

struct stack {
    int n;
    struct spot *at;
    int *end;      /* per frame the last call before it returns */
    int *line_end; /* and before that the line's last; -1 not known yet */
    bool borrowed; /* of a call that was lost, where it may have run */
};

/* That frame inside of those around it, NULL none. */
struct path *stack_path(struct frames *f, struct path *around, const struct spot *s);
/* Of a call without one no frames. */
struct stack stack_read(const struct program *p, const struct call *c);
bool stack_same_spot(const struct spot *a, const struct spot *b);
/* The level at which two stacks first differ. */
int stack_parting(const struct stack *a, const struct stack *b);
/* Whether both are on the same line of the same frame at that level, so that they part behind it. */
static inline bool
stack_shares(const struct stack *a, int level, const struct stack *b)
{
    return a->n > level && b->n > level && a->at[level].path == b->at[level].path;
}
/* Whether the other call runs in the frame that is at `level` of s. */
static inline bool
stack_inside(const struct stack *s, int level, const struct stack *other)
{
    return other->n > level && other->at[level].where == s->at[level].where &&
           (level < 1 || other->at[level - 1].path == s->at[level - 1].path);
}
/* Whether both stacks have the same frame at that level, as lines tell: a view that was made anew has the module of its
 * reader. */
bool stack_shares_frame(const struct stack *a, int level, const struct stack *b);
/* The frame of a stack's text at *at, and its source line; *at moves behind. NULL: no more. */
const char *stack_next_frame(struct arena *a, const char **at, const char **text);
/* A stack's text down to the frame at that level. */
const char *stack_down_to(struct arena *a, const char *stack, int level);

#endif
