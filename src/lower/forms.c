/* SPDX-License-Identifier: Apache-2.0 */
/* forms.c - operators of PyTorch that its old exporter writes as several nodes of one module.
 *
 * A form is the tree of nodes that a symbolic function of torch/onnx/_internal/torchscript_exporter makes, from its
 * last node up, in ONNX's names:
 *
 *   Mul(x, Sigmoid(x))    a node and its inputs, which may be fewer than it has; inside, each node has no other reader
 *   Mul~(...)             in either order
 *   x b1 w2               any tensor, of one dimension, of two; the same letter is the same tensor
 *   W                     a number, and the same number in other places
 *   s=Sub(x, y)           a node that other places name by its letter
 *   0.5                   this number
 *   . -                   anything; nothing
 *
 * A call's arguments are letters, numbers, [1,-L] for lists, - for none, 'tanh' for a text, @r and !r for the axes of
 * node r and whether it keeps them. Two nodes of a form are two nodes of the file: what a program computes twice is
 * merged.
 */
#include "lower/matcher.h"
#include "torch/torch.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#define VARIANCE             "v=ReduceMean(Mul(s=Sub(x, m=ReduceMean(x)), s))"
#define UNBIASED             "Div(Mul(" VARIANCE ", n), Sub(n, 1))"
#define CROSS_ENTROPY        "(Neg(Add(Mul(t, Log(s=Sigmoid(x))), Mul(Sub(1, t), Log(Sub(1, s))))))"
#define SLICE(of)            "Slice(" of ", ., ., ., -)" /* of Python's, which has steps, it is none */
#define AROUND(of, from, to) "Concat(Slice(" of ", " from ", ., ., -), " of ", Slice(" of ", 0, " to ", ., -))"

#define BLOCKS "Add(Unsqueeze(Range(.)), Reshape(.))"

#define DIVERGENCE "Where(Greater(t, 0), b=Mul(t, Sub(Log(t), x)), ConstantOfShape(.))"

static const struct form {
    const char *form, *target, *args;
    const char *two;         /* the call where others read the node m, which is its second result then; NULL none */
    enum alternative either; /* programs write the same nodes: measured both ways */
    const char *taken;       /* for what, then */
    bool foreign;            /* of other producers */
    int whole;               /* opset from which the exporter writes one node: the form was written by hand; 0 none */
} forms[] = {
    /* symbolic_opset9.py: gelu; one node since symbolic_opset20.py */
    {.form = "Mul~(Mul~(x, Add~(Erf(Div(x, .)), 1)), 0.5)", .target = "aten.gelu.default", .args = "x", .whole = 20},
    {.form = "Mul~(Mul~(x, Add~(Tanh(Mul~(Add~(x, Mul~(Mul~(x, Mul(x, x)), 0.044715)), 0.797885)), 1)), 0.5)",
     .target = "aten.gelu.default",
     .args = "x 'tanh'",
     .whole = 20},
    /* silu, mish, log_sigmoid, log1p, rsqrt */
    {.form = "Mul~(x, Sigmoid(x))",
     .target = "aten.silu.default",
     .args = "x",
     .either = ALTERNATIVE_SILU,
     .taken = "x * sigmoid(x) is taken for silu(x): the file can't tell them apart"},
    {.form = "Mul~(x, Tanh(Softplus(x)))",
     .target = "aten.mish.default",
     .args = "x",
     .either = ALTERNATIVE_SILU,
     .taken = "x * tanh(softplus(x)) is taken for mish(x): the file can't tell them apart"},
    {.form = "Log(Sigmoid(x))",
     .target = "aten.log_sigmoid.default",
     .args = "x",
     .either = ALTERNATIVE_SILU,
     .taken = "log(sigmoid(x)) is taken for logsigmoid(x): the file can't tell them apart"},
    {.form = "Log(Add(1, x))", .target = "aten.log1p.default", .args = "x"},
    {.form = "Div(1, Sqrt(x))", .target = "aten.rsqrt.default", .args = "x"},
    {.form = "Reciprocal(Sqrt(x))", .target = "aten.rsqrt.default", .args = "x", .foreign = true},
    /* cosine_similarity */
    {.form = "Div(p=ReduceSum(Mul(a, b)), Max(Sqrt(Mul(ReduceSum(Mul(a, a)), ReduceSum(Mul(b, b)))), E))",
     .target = "aten.cosine_similarity.default",
     .args = "a b @p E"},
    /* _var_mean, std */
    {.form = "Sqrt(" UNBIASED ")",
     .target = "aten.std.correction",
     .args = "x @v 1 !v",
     .two = "aten.std_mean.correction"},
    {.form = UNBIASED, .target = "aten.var.correction", .args = "x @v 1 !v", .two = "aten.var_mean.correction"},
    {.form = "Sqrt(" VARIANCE ")",
     .target = "aten.std.correction",
     .args = "x @v 0 !v",
     .two = "aten.std_mean.correction"},
    {.form = VARIANCE, .target = "aten.var.correction", .args = "x @v 0 !v", .two = "aten.var_mean.correction"},
    /* mse_loss, binary_cross_entropy_with_logits */
    {.form = "ReduceMean(Mul(Sub(a, b), Sub(a, b)))", .target = "aten.mse_loss.default", .args = "a b 1"},
    {.form = "ReduceSum(Mul(Sub(a, b), Sub(a, b)))", .target = "aten.mse_loss.default", .args = "a b 2"},
    {.form = "ReduceMean" CROSS_ENTROPY,
     .target = "aten.binary_cross_entropy_with_logits.default",
     .args = "x t - - 1"},
    {.form = "ReduceSum" CROSS_ENTROPY, .target = "aten.binary_cross_entropy_with_logits.default", .args = "x t - - 2"},
    /* _kl_div_non_log_target_impl */
    {.form = "ReduceMean(" DIVERGENCE ")", .target = "aten.kl_div.default", .args = "x t 1"},
    {.form = "ReduceSum(" DIVERGENCE ")", .target = "aten.kl_div.default", .args = "x t 2"},
    {.form = DIVERGENCE, .target = "aten.kl_div.default", .args = "x t 0"},
    /* lerp */
    {.form = "Where(Less(W, 0.5), Add(x, Mul(W, d=Sub(y, x))), Sub(y, Mul(d, Sub(1, W))))",
     .target = "aten.lerp.Scalar",
     .args = "x y W"},
    {.form = "Where(Less(w, 0.5), Add(x, Mul(w, d=Sub(y, x))), Sub(y, Mul(d, Sub(1, w))))",
     .target = "aten.lerp.Tensor",
     .args = "x y w"},
    /* baddbmm, addcmul */
    {.form = "Add(Mul(MatMul(a, b), Cast(A)), Mul(x, Cast(B)))", .target = "aten.baddbmm.default", .args = "x a b B A"},
    {.form = "Add(Mul(MatMul(a, b), 1), Mul(x, 1))", .target = "aten.baddbmm.default", .args = "x a b"},
    {.form = "Add(x, Mul(Mul(a, b), 1))", .target = "aten.addcmul.default", .args = "x a b"},
    /* masked_fill, nan_to_num (symbolic_opset10.py), atan2, remainder, softplus */
    {.form = "Where(Cast(m), W, x)", .target = "aten.masked_fill.Scalar", .args = "x m W"},
    {.form =
         "Where(And(Cast(IsInf(Cast(c=Where(And(Cast(IsInf(Cast(b=Where(IsNaN(a), N, a)))), Cast(Greater(b, 0))), P, "
         "b)))), Cast(Less(c, 0))), M, c)",
     .target = "aten.nan_to_num.default",
     .args = "a"},
    {.form = "Where(Less(x, 0), Where(Greater(y, 0), Add(a=Atan(Div(y, x)), 3.14159), Sub(a, 3.14159)), a)",
     .target = "aten.atan2.default",
     .args = "y x"},
    {.form = "Sub(x, Mul(Floor(Div(x, N)), N))", .target = "aten.remainder.Scalar", .args = "x N"},
    {.form = "Sub(x, Mul(Floor(Div(x, y)), y))", .target = "aten.remainder.Tensor", .args = "x y"},
    {.form = "Div(Softplus(Mul(x, B)), B)", .target = "aten.softplus.default", .args = "x B"},
    /* linalg_cross */
    {.form = "Sub(Mul(Concat(" SLICE("a") ", " SLICE("a") "), Concat(" SLICE("b") ", " SLICE(
         "b") ")), "
              "Mul(Concat(" SLICE("a") ", " SLICE("a") "), Concat(" SLICE("b") ", " SLICE("b") ")))",
     .target = "aten.linalg_cross.default",
     .args = "a b"},
    /* roll, over two dimensions and one */
    {.form = "Concat(Slice(r=Concat(" SLICE("x") ", " SLICE("x") "), ., ., ., -), " SLICE("r") ")",
     .target = "aten.roll.default",
     .args = "x [1,1] [0,1]"},
    {.form = "Concat(" SLICE("x") ", " SLICE("x") ")", .target = "aten.roll.default", .args = "x [1] [0]"},
    /* _pad_circular, of two dimensions and one */
    {.form = "Concat(Slice(c=" AROUND("x", "T", "B") ", L, ., ., -), c, Slice(c, 0, R, ., -))",
     .target = "aten.pad.default",
     .args = "x [-L,R,-T,B] 'circular'"},
    {.form = AROUND("x", "L", "R"), .target = "aten.pad.default", .args = "x [-L,R] 'circular'"},
    /* im2col (symbolic_opset11.py) */
    {.form = "Reshape(Transpose(Gather(Gather(Pad(x), " BLOCKS "), " BLOCKS ")), .)",
     .target = "aten.im2col.default",
     .args = "x"},
    /* cdist, of few rows */
    {.form = "Pow(ReduceSum(Pow(Sub(Unsqueeze(a), Unsqueeze(b)), P)), Div(1, .))",
     .target = "aten.cdist.default",
     .args = "a b P"},
    /* pairwise_distance, linalg_vector_norm */
    {.form = "Pow(r=ReduceSum(Pow(Sub(a, b), P)), Div(1, Add(P, E)))",
     .target = "aten.pairwise_distance.default",
     .args = "a b P E !r"},
    {.form = "Pow(r=ReduceSum(Pow(Abs(x), P)), Div(1, P))",
     .target = "aten.linalg_vector_norm.default",
     .args = "x P @r !r"},
    /* hardshrink, softshrink */
    {.form = "Where(Or(Cast(Greater(x, L)), Cast(Less(x, Neg(.)))), x, 0)",
     .target = "aten.hardshrink.default",
     .args = "x L"},
    {.form = "Add(Where(Greater(x, L), Sub(x, L), 0), Where(Less(x, Neg(.)), Add(x, .), 0))",
     .target = "aten.softshrink.default",
     .args = "x L"},
    /* linear, of a weight that is computed */
    {.form = "Add(b1, MatMul(x, Transpose(w2)))", .target = "aten.linear.default", .args = "x w b"},
};

enum { MOST = 32 }; /* nodes of a form, and places that are open at once */

struct solving {
    const struct matcher *x;
    int tensor[128]; /* by letter, -1 open */
    const struct node *inner[MOST];
    int ninner;
};

/* A place of a form, and the tensor that stands there. */
struct goal {
    const char *text;
    int tensor;
};

static bool solve(struct solving *s, const struct goal *goals, int ngoals);

/* Behind the argument that begins here. */
static const char *
behind(const char *p)
{
    for (int depth = 0; *p && !(depth == 0 && (*p == ',' || *p == ')')); p++)
        depth += (*p == '(') - (*p == ')');
    return p;
}

static bool
solve_node(struct solving *s, const char *text, int tensor, const struct goal *rest, int nrest)
{
    const struct matcher *x = s->x;
    const struct node *n = maker(x, tensor);
    size_t len = strcspn(text, "~(");
    if (!n || *n->domain || strncmp(n->op, text, len) != 0 || n->op[len] || s->ninner == MOST)
        return false;
    for (int i = 0; i < s->ninner; i++)
        if (s->inner[i] == n)
            return false;
    struct goal goals[MOST];
    int kids = 0, orders = text[len] == '~' ? 2 : 1;
    memcpy(goals, rest, sizeof(*rest) * (size_t)nrest);
    for (const char *p = text + len + orders - 1; *p != ')' && nrest + kids < MOST; p = behind(p), kids++) {
        p += 1 + strspn(p + 1, " ");
        goals[nrest + kids] = (struct goal){p, kids < n->nin ? n->in[kids] : -1};
    }
    struct solving before = *s;
    s->inner[s->ninner++] = n;
    for (int k = 0; k < orders; k++) {
        if (k > 0) {
            const char *other = goals[nrest].text;
            goals[nrest].text = goals[nrest + 1].text;
            goals[nrest + 1].text = other;
        }
        if (solve(s, goals, nrest + kids))
            return true;
        *s = before;
        s->inner[s->ninner++] = n;
    }
    *s = before;
    return false;
}

static bool
solve_letter(struct solving *s, const char *text, int tensor)
{
    int *of = &s->tensor[(unsigned char)*text];
    double v, w;
    *of = *of < 0 ? tensor : *of;
    if (isupper((unsigned char)*text))
        return matcher_number(s->x, tensor, &v) && matcher_number(s->x, *of, &w) && v == w;
    return tensor >= 0 && *of == tensor &&
           (!isdigit((unsigned char)text[1]) || tensor_at(s->x, tensor)->rank == text[1] - '0');
}

/* Whether the tensors can stand in their places, from the last on. */
static bool
solve(struct solving *s, const struct goal *goals, int ngoals)
{
    if (ngoals == 0)
        return true;
    const char *text = goals[ngoals - 1].text;
    int tensor = goals[ngoals - 1].tensor;
    double v;
    bool letter = isalpha((unsigned char)*text);
    if (letter && text[1] == '=')
        return solve_letter(s, text, tensor) && solve_node(s, text + 2, tensor, goals, ngoals - 1);
    if (letter && isalpha((unsigned char)text[1]))
        return solve_node(s, text, tensor, goals, ngoals - 1);
    bool fits = *text == '.' || (*text == '-' && tensor < 0) || (letter && solve_letter(s, text, tensor));
    if (isdigit((unsigned char)*text) && matcher_number(s->x, tensor, &v))
        fits = fabs(v - strtod(text, NULL)) <= 1e-3 * fabs(v);
    return fits && solve(s, goals, ngoals - 1);
}

/* Nothing else reads what the inner nodes make, but for a second result, and PyTorch's exporter wrote them in one
 * module. */
static bool
closed(const struct solving *s, int second)
{
    const struct matcher *x = s->x;
    for (int i = 1; i < s->ninner; i++) {
        if (s->inner[i]->out[0] == second)
            continue;
        const struct tensor *t = tensor_at(x, s->inner[i]->out[0]);
        if (!x->data[s->inner[i] - x->g->n])
            continue;
        if (t->is_output || (x->by_torch && !matcher_same_module(x, s->inner[0], s->inner[i])))
            return false;
        for (int u = 0; u < t->nusers; u++) {
            bool inside = !x->data[t->users[u]];
            for (int k = 0; k < s->ninner && !inside; k++)
                inside = s->inner[k] == &x->g->n[t->users[u]];
            if (!inside)
                return false;
        }
    }
    return true;
}

/* The operator that a form ends in, and what is behind it. */
static const char *
root_of(const struct form *f)
{
    return f->form[1] == '=' ? f->form + 2 : f->form;
}

static bool
matches(const struct matcher *x, const struct node *n, const struct form *f, struct solving *s)
{
    const char *root = root_of(f);
    if (strncmp(root, n->op, strlen(n->op)) != 0 || n->nout < 1 || n->out[0] < 0 ||
        (x->by_torch && (f->foreign || (f->whole && f->whole <= x->g->opset))) ||
        (f->taken && setup_instead(x->l->s, f->either)))
        return false;
    s->x = x;
    s->ninner = 0;
    memset(s->tensor, -1, sizeof(s->tensor));
    return solve(s, &(struct goal){f->form, n->out[0]}, 1) && closed(s, f->two && x->by_torch ? s->tensor['m'] : -1);
}

const struct form *
forms_match(struct matcher *x, const struct node *n)
{
    static unsigned char first[UCHAR_MAX + 1], next[COUNT(forms) + 1]; /* by first letter: 1 and up, in order */
    static bool sorted;
    for (int i = COUNT(forms); i > 0 && !sorted; i--) {
        unsigned char *to = &first[(unsigned char)*root_of(&forms[i - 1])];
        next[i] = *to;
        *to = (unsigned char)i;
    }
    sorted = true;
    struct solving s;
    for (int i = first[(unsigned char)*n->op]; i; i = next[i])
        if (matches(x, n, &forms[i - 1], &s)) {
            for (int k = 1; k < s.ninner; k++)
                x->covered[s.inner[k] - x->g->n] = true;
            return &forms[i - 1];
        }
    return NULL;
}

/* [1,2] or [-L,R] */
static struct arg
numbers(const struct solving *s, struct matcher *x, const char *p)
{
    int64_t v[MAX_RANK];
    int n = 0;
    for (; *p != ']' && n < MAX_RANK; p += strcspn(p, ",]")) {
        int sign = p[1] == '-' ? -1 : 1;
        double of = *(p += sign < 0 ? 2 : 1) - '0';
        if (isalpha((unsigned char)*p) && !matcher_number(x, s->tensor[(unsigned char)*p], &of))
            of = 0;
        v[n++] = sign * (int64_t)of;
    }
    return matcher_ints(x, n, v);
}

static struct arg
argument(const struct solving *s, struct matcher *x, const struct node *n, const char *p)
{
    int tensor = s->tensor[(unsigned char)p[*p == '@' || *p == '!']];
    switch (*p) {
    case '-':
        return NONE;
    case '\'':
        return (struct arg){.kind = ARG_TEXT, .s = arena_strn(x->l->a, p + 1, strcspn(p + 1, "'"))};
    case '@':
        return matcher_axes(x, maker(x, tensor));
    case '!':
        return BOOL(node_int(maker(x, tensor), "keepdims", 1) != 0);
    case '[':
        return numbers(s, x, p);
    default:
        return isdigit((unsigned char)*p) ? INT(*p - '0') : matcher_arg(x, n, tensor, "weight");
    }
}

void
forms_call(struct matcher *x, const struct node *n, const struct form *f)
{
    struct solving s;
    if (!matches(x, n, f, &s))
        return;
    struct arg a[MAX_ARGS];
    int nargs = 0;
    for (const char *p = f->args; *p && nargs < MAX_ARGS; p += strspn(p, " ")) {
        a[nargs++] = argument(&s, x, n, p);
        p += strcspn(p, " ");
    }
    int second = f->two && x->by_torch ? s.tensor['m'] : -1;
    bool two = tensor_at(x, second)->nusers > 1 || tensor_at(x, second)->is_output;
    struct call *c = matcher_call(x, n, two ? f->two : f->target, nargs);
    memcpy(c->args, a, sizeof(*a) * (size_t)nargs);
    if (two) {
        lower_results(x->l, c, 2);
        x->l->slot_of[second] = c->outs[1];
    }
    matcher_define(x, n->out[0], c->outs[0]);
    if (f->taken)
        program_assume(x->l->p, f->either, "%s", f->taken);
}
