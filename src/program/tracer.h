/* SPDX-License-Identifier: Apache-2.0 */
/* tracer.h - what tells how long names hold tensors: calls in their frames, and the variables of these. */
#ifndef PROGRAM_TRACER_H
#define PROGRAM_TRACER_H

#include "program/stack.h"

struct round { /* of a loop whose body is one line: the call's, which is the line's frame and where it ends */
    int level, end;
    const struct round *outer; /* of a loop around it */
};

struct tracer {
    const struct program *p;
    struct arena *a;
    struct stack *stacks; /* per call */
    struct round *rounds; /* per call */
    struct sights {       /* of names, by what a call's line writes */
        int n, cap;
        struct sight {
            const char *name;
            int slot;
        } * of;
    } * *sights; /* per call and frame */
    int *object; /* per slot, the one that it was before it was written in place */
    int *maker;  /* per slot, a call or -1 */
    int slot;    /* whose names are looked for */
    int steps;
    int *listed;            /* per slot the last call before its list goes, where it may be in one; -1 it is in none */
    const char **listed_by; /* by which name */
    struct {
        int from, user, level;
    } apart; /* what runs_apart was asked last: it is asked several times for a tensor and its reader */
    struct {
        int level, head, returns, end;
    } body; /* the loop whose last line was asked for last, by its head's line and the end of its frame */
    struct counted {
        const char *text, *target;
        struct spelling spelling;
        int times;
    } counted[64]; /* how often a line writes an operator, by the line: layers have them in common */
};

/* frames.c */
/* With nothing read yet; its arena is the caller's to free. */
struct tracer tracer_new(const struct program *p);
/* The innermost frame of a call; NULL none. */
const struct spot *tracer_innermost(struct tracer *t, const struct call *c);
/* Of each of these what the next need: its stack; until when the frames of that last; the rounds of loops, and the
 * variables that lines name. */
void tracer_read_stacks(struct tracer *t);
void tracer_read_ends(struct tracer *t);
void tracer_read_sights(struct tracer *t);
/* Whether the line returned, and the next one is of another run of its function. */
bool tracer_returned(const struct spot *s, const struct spot *next);
/* Whether both are the same operator of the same line. */
bool tracer_same_call(const struct tracer *t, int i, int j);
/* The module that the line at that level calls there; "" none, or a call without lines. */
const char *tracer_called_at(const struct tracer *t, int level, int i);
/* Whether the last part of a module's path is the name, of n bytes. */
bool tracer_is_last(const char *path, const char *name, size_t n);
/* The round of the call whose line is at that level; NULL none. */
const struct round *tracer_round_at(const struct tracer *t, int i, int level);
/* Whether the call is all that a module of PyTorch's own does, and the line calls that: "x = self.fc(x[:, 1:])". */
bool tracer_is_layer(const struct tracer *t, int level, int i);
/* Where the text of a line that runs call i writes its operator; NULL it can't be told. */
const char *tracer_written_at(struct tracer *t, int i, int level, const char *text);
/* Whether the call is a view whose line ran before what it shows was written: made anew since, where it is read, with
 * names that held others. */
bool tracer_viewed_before(const struct tracer *t, int i);
/* What lines run over and over, and name, unless that was read. */
void tracer_read_lines(struct tracer *t);

/* names.c */
/* The last call of the line that call i is of, and of the lines that its statement goes on in: these are behind it, and
 * the operator that joins them is of the first. */
int tracer_line_end(struct tracer *t, int level, int i, int end);
/* The last call of the line, in its round of a loop. */
int tracer_statement_last(struct tracer *t, int i, int level);
/* A local of the frame at that level, made by call `from`: the last call before it has no name any more. */
int tracer_local_end(struct tracer *t, int from, int level, const char *name);
/* Whether a line that ran before in the reader's frame was seen to bind the name; to no result of what it gives a
 * tensor of the other name, NULL none, which may be that tensor. */
bool tracer_bound_before(struct tracer *t, int user, int level, const char *name, const char *given);
/* The slot that a call reads in the n-th place; -1 none. */
int tracer_nth_read(const struct call *c, int n);
/* The first line of the loop that call i runs in, as the calls around it tell: where lines go back; -1 none. */
int tracer_loop_begin(const struct tracer *t, int i, int level);
/* What "y, z = layer(y, z=z)" makes in one round and reads in the next, other than its last result, is the value of the
 * last name that it both binds and reads. The level of its frame; -1 none. */
int tracer_carried(const struct tracer *t, int from, int user, const char **by);
/* The level at which the frames of two calls part: they differ there, or the function or the line runs again. */
int tracer_runs_apart(struct tracer *t, int from, int user);
/* Whether calls i and j give the same variable of one function its value. */
bool tracer_same_variable(const struct tracer *t, int i, int j);
/* The list whose element its line writes for the first operand of call i, "x[2] - y", "x[-1].mean()" and "exp(x[0])";
 * NULL none. */
const char *tracer_element_read(struct tracer *t, int i, int level);
/* The last call before nothing holds result `out` of call `from` that call `user` reads; -1 nothing does. by: the name
 * that does, NULL none. */
int tracer_held_until(struct tracer *t, int from, int out, int user, const char **by);
/* What the reader's line shows to hold the tensor there, the name that does so longest: the last call before that is
 * bound anew. */
int tracer_seen_until(struct tracer *t, int user, const char **by);

/* places.c */
/* A call that the exporter lost has the frames that its input's maker and its reader share. Its statement is taken for
 * the maker's, unless it parts a tensor and that line does not (then it is the reader's, where this takes something
 * apart or calls a function that reads it, or a line that nothing is known of), the reader's line calls a module that
 * nothing else shows, it calls the result by a name of its own, or neither writes the operator. */
void tracer_borrow_stack(struct tracer *t, int from, int reader, bool parts, struct stack *s);

/* hidden.c */
/* The most that functions can hold which the file does not show: what their calls make and read, until they return;
 * maker: per slot its call. Where `until` is NULL only whether there are any. */
bool tracer_hold_hidden(struct tracer *t, const int *maker, int *until);
/* "with torch.no_grad(): y = teacher(x)": names hold what a region hands on until the module returns that it is in, or
 * the one around that, to which it was handed. */
void tracer_hold_handed(const struct program *p, int *until);
/* At most until its function returns names hold what a region makes that stands behind reentrant checkpoints. */
void tracer_hold_behind(const struct program *p, int *until);
/* In such a region, "x = bn(conv(x))": what a product reads is held until what it makes was read, too, but in a
 * Sequential. */
void tracer_hold_traced(const struct program *p, int *until);
/* Weights of attention that a module returns, as its library's source says. */
void tracer_hold_returned(struct tracer *t, int *until);
/* The same where nothing is known, in a tuple that its callers pass on: the layer around that has them until it
 * returns. */
void tracer_hold_weights(struct tracer *t, int *until);
/* Per slot whether it is attention's weights behind their dropout, which forward() may return for a list. */
bool *tracer_weights_dropped(const struct program *p, struct arena *a);
/* "states = self.encoder(x, output_hidden_states=True).hidden_states": what goes into each layer of the module, and
 * what leaves the last, as long as the name has them. Source: ModelOutput in transformers/modeling_outputs.py. */
void tracer_hold_states(struct tracer *t, int *until, const char **by);

#endif
