/* SPDX-License-Identifier: Apache-2.0 */
/* syntax.h - a source line of Python, read: what stacks and the names of a program ask of its text. */
#ifndef PROGRAM_SYNTAX_H
#define PROGRAM_SYNTAX_H

#include "program/program.h"

struct bound { /* a name that a line binds */
    const char *name;
    const char *from, *value, *end; /* the statement; to what, a part of the line's text */
    int of;                         /* how many names share the value */
    const char *renamed;            /* the variable that is all of the value, "y = x"; NULL none */
    size_t nrenamed;
    const char *displayed; /* the bracket where the value begins that is a list, tuple or dictionary; NULL none */
};

enum { MAX_NAMES = 8 }; /* of one tensor, as far as they are followed */

struct source { /* a line, or as much of a statement as stands on it */
    const char *text;
    bool whole;   /* it is all of a statement, as far as brackets tell */
    bool returns; /* what runs next at its level is of the next time that the function runs */
    bool several; /* statements, as far as a ";" tells */
    int nbindings;
    const struct bound *binding;
    uint64_t endings; /* python_endings; of lines that are kept alone, as the next one */
    int nreads, cap_reads;
    struct name_read {
        const char *at;
        size_t len;
    } * reads; /* in order */
};

/* What a line writes for an operator: "aten.add.Tensor" is "add(", "add_(" or " + ". */
struct spelling {
    const char *stem, *sign;
    size_t len, width;
    bool alone; /* nothing stands before the sign */
};

/* Where the statement ends that begins there. */
const char *syntax_end(const char *p);
/* Behind the comma that parts what begins there from what follows; NULL none. */
const char *syntax_part_end(const char *p, const char *end);
/* "x += y" reads what it binds. */
bool syntax_augments(const struct bound *b);
/* The "] = " of a line that stores in a list or a dictionary, "x[i] = f(y)"; NULL none. */
const char *syntax_stores(const char *text);
struct source syntax_read(struct arena *a, const char *text);
/* The same for a line that is asked often. */
const struct source *syntax_keep(struct arena *a, const char *text);
bool syntax_binds(const struct source *s, const char *name);
/* Whether it puts something in a list or a dictionary. */
bool syntax_collects(const char *text);
/* What the line stores or appends in: a list, a dictionary or a tensor; NULL none. */
const char *syntax_put_into(struct arena *a, const char *text);
struct spelling syntax_spelling(const char *target);
/* Where a part of a line writes an operator for the n-th time; NULL not so often. */
const char *syntax_nth(const struct spelling *s, const char *text, const char *end, int n);
/* Where the line writes that operator first. */
const char *syntax_first(const char *text, const char *target);
/* How often it writes an operator. */
int syntax_count(const struct spelling *s, const char *text, const char *end);
/* As python_times, of whatever methods make such a call. */
int syntax_times_made(const char *text, const char *target);
/* What a line calls next of its module, "encode" of "self.encode(x)", from p on. NULL no more. */
const char *syntax_next_own_call(const char *p, size_t *n);
/* Whether the text is one call of that module: "self.module(...)". */
bool syntax_plain_call(const char *from, const char *end, const char *module);
/* The length of the variable's name that the text begins with: no function, no keyword of a call; 0 it is none. */
size_t syntax_variable(const char *p);
/* The next name of a variable in an expression, from p on: no attribute. */
const char *syntax_next_variable(const char *p, size_t *len);
/* Whether the line writes an operator among its own arguments: the last one runs first. */
bool syntax_nested(const char *text, const char *target);
/* The variable that ends there, and what stands before it; NULL none. */
const char *syntax_variable_before(const char *text, const char *end, size_t *len, char *before);
/* Behind "()" of a method without arguments, ".float()"; else the text itself. */
const char *syntax_behind_call(const char *p);
/* The first of these that is that text; -1 none. */
int syntax_among(const char *const *names, int n, const char *from, size_t len);
/* What these names hold, after a line has bound its own: "y = x" gives it another. How many names are left, and the end
 * of the statement behind which none is. */
int syntax_rebind(const struct source *s, const char **names, int n, const char **end);
/* Whether the text is calls of calls: no operator joins it with another. */
bool syntax_one_call(const char *from, const char *end);
/* The next variable that a line reads, from p on. */
const char *syntax_next_read(const struct source *s, const char *p, size_t *len);
/* How often it reads that variable. */
int syntax_mentions(const struct source *s, const char *name);
/* Where a line writes what a call is, which runs there as the n-th of its operator; NULL unknown. */
const char *syntax_place(struct arena *a, const char *line, const struct call *c, int n);
/* Whether the name there is of a list of which a line reads an element, "x[i]". */
bool syntax_is_element(const char *name, size_t len);
/* Whether the line's last statement binds the name anew. */
bool syntax_bound_last(const struct source *s, const struct bound *b);
/* The list of the element that ends there, "x[-1]"; NULL it is none. */
const char *syntax_list_before(struct arena *a, const char *text, const char *end);
/* Whether it takes something apart. */
bool syntax_writes_parts(const char *text);
/* The only statement of a line of several that takes something apart, "y = f(x); a, b = y.chunk(2)"; NULL none. */
const char *syntax_parting(struct arena *a, const char *text);
/* Whether the line gives a variable to Python's own sum(): a list that another line has made. */
bool syntax_adds_variable(const char *text);
/* What a line stores in the list, "x[i]" of "y[i], x[i] = f(z)", and its length; NULL nothing. */
const char *syntax_stored(const char *text, const char *list, size_t *size);
/* Whether the line has "x[i]" of that list, and no "x[0]". */
bool syntax_reads_element(const struct source *s, const char *list);
/* "weights" of "self.weights = softmax(x)" and of "x, self.weights = attention(x)", where *last says whether it is the
 * last of several names; NULL none. */
const char *syntax_attribute(struct arena *a, const char *line, bool *several, bool *last);
/* Whether a value is more than what one call returns: "f(x) + x", "f(x)[0]", "f(x).transpose(0, 1)". */
bool syntax_goes_on(const struct bound *b);
/* Whether a line reads a name as a tensor, and not as a tuple: as an argument, or one of two operands. */
bool syntax_takes_tensor(const struct source *s, const char *name);

#endif
