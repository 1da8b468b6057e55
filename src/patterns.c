/* patterns.c - files without recorded calls: their nodes to framework calls by pattern.
 */
#include "lower.h"

void
lower_patterns(struct lowering *l)
{
    graph_doubt(l->g, l->g->name ? l->g->name : "graph", "model", NULL, "exports without PyTorch's own record are not lowered yet");
}
