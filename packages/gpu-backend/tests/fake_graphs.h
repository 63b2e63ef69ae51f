/* Graphs of the driver in fake_cuda.c: what is asked for on a stream that is captured, and nodes that are made one by one.
 *
 * It is stricter than CUDA, so that mistakes are seen: each node follows the one before, and what is launched is run in that order.
 */

enum { NODES = 2048, CAPTURES = 4 };

/* What a library on the host does when its turn comes. */
typedef void fake_run(const void *told);
static void run_in_memory(fake_run *run, const void *told)
{
    IN_MEMORY
    run(told);
}

typedef struct graph graph;
typedef struct node {
    launched launch;
    fake_run *run;
    void *told;
    graph *within;
} node;

struct graph {
    int count;
    node *nodes[NODES];
    const graph *from; /* of an executable graph */
};

static int64_t graphs; /* those that were not destroyed */
static struct { void *stream; graph *made; } captures[CAPTURES];
int64_t fake_changed; /* nodes */

int64_t fake_graphs(void) { return graphs; }

static graph *new_graph(void)
{
    ++graphs;
    return calloc(1, sizeof(graph));
}

static node *add(graph *g, node of)
{
    node *n = malloc(sizeof *n);
    *n = of;
    return g->nodes[g->count++] = n;
}

static graph *copied_graph(const graph *g);

static node copied_node(const node *n, size_t bytes)
{
    node made = *n;
    if (n->told)
        made.told = memcpy(malloc(bytes), n->told, bytes);
    if (n->within)
        made.within = copied_graph(n->within);
    return made;
}

enum { TOLD = 512 }; /* bytes of what a library's call is told, at most */

static graph *copied_graph(const graph *g)
{
    graph *made = new_graph();
    for (int k = 0; k < g->count; ++k)
        add(made, copied_node(g->nodes[k], TOLD));
    return made;
}

static void destroy(graph *g)
{
    for (int k = 0; k < g->count; ++k) {
        free(g->nodes[k]->told);
        if (g->nodes[k]->within)
            destroy(g->nodes[k]->within);
        free(g->nodes[k]);
    }
    free(g);
    --graphs;
}

static void run_graph(const graph *g)
{
    for (int k = 0; k < g->count; ++k) {
        const node *n = g->nodes[k];
        if (n->within)
            run_graph(n->within);
        else if (n->run)
            run_in_memory(n->run, n->told);
        else
            launch(&n->launch);
    }
}

/* For libraries: now, or, where the stream is captured, whenever the graph is launched. */
static void fake_do(void *stream, fake_run *run, const void *told, size_t bytes)
{
    for (int k = 0; k < CAPTURES; ++k) {
        if (captures[k].made && captures[k].stream == stream) {
            add(captures[k].made, (node){.run = run, .told = memcpy(calloc(1, TOLD), told, bytes)});
            return;
        }
    }
    run_in_memory(run, told);
}

CUresult cuStreamBeginCapture_v2(void *stream, int mode)
{
    const CUresult status = say("begin_capture", "%zu %d", (size_t)stream, mode);
    int k = 0;
    while (k < CAPTURES && captures[k].made)
        ++k;
    if (status || k == CAPTURES)
        return status ? status : 1;
    captures[k].stream = stream;
    captures[k].made = new_graph();
    return 0;
}

CUresult cuStreamEndCapture(void *stream, void **made)
{
    const CUresult status = say("end_capture", "%zu", (size_t)stream);
    for (int k = 0; k < CAPTURES; ++k) {
        if (captures[k].made && captures[k].stream == stream) {
            *made = captures[k].made;
            captures[k].made = NULL;
            if (status) {
                destroy(*made);
                *made = NULL;
            }
            return status;
        }
    }
    return 901;
}

CUresult cuGraphCreate(void **made, unsigned flags)
{
    const CUresult status = say("graph", "%u", flags);
    *made = status ? NULL : new_graph();
    return status;
}

CUresult cuGraphDestroy(void *g) { return destroy(g), say("destroy", "graph"); }
CUresult cuGraphExecDestroy(void *g) { return destroy(g), say("destroy", "executable"); }

static int follows(const graph *g, void *const *before, size_t count)
{
    return count == (g->count ? 1 : 0) && (count == 0 || before[0] == g->nodes[g->count - 1]) && g->count < NODES;
}

/* The driver's struct of a node. */
typedef struct node_params {
    void *function;
    unsigned groups[3], group[3], shared;
    void **arguments, **extra;
    void *kernel, *context;
} node_params;

CUresult cuGraphAddKernelNode_v2(void **made, void *g, void *const *before, size_t count, const node_params *p)
{
    const CUresult status = say("node", "%u", p->groups[0]);
    if (status || !follows(g, before, count) || p->extra || p->shared)
        return status ? status : 1;
    *made = add(g, (node){.launch = launch_of(p->function, p->groups[0], p->group[0], p->arguments)});
    return 0;
}

CUresult cuGraphAddChildGraphNode(void **made, void *g, void *const *before, size_t count, void *within)
{
    const CUresult status = say("child", "%d", ((const graph *)within)->count);
    if (status || !follows(g, before, count))
        return status ? status : 1;
    *made = add(g, (node){.within = copied_graph(within)});
    return 0;
}

CUresult cuGraphInstantiateWithFlags(void **made, void *g, unsigned long long flags)
{
    const CUresult status = say("instantiate", "%d", ((const graph *)g)->count);
    if (status || flags)
        return status ? status : 1;
    graph *executable = copied_graph(g);
    executable->from = g;
    *made = executable;
    return 0;
}

/* That of an executable graph, for a node of the graph it was made of. */
static node *same_node(graph *executable, const void *of)
{
    for (int k = 0; k < executable->count; ++k) {
        if (executable->from->nodes[k] == of)
            return executable->nodes[k];
    }
    return NULL;
}

CUresult cuGraphExecKernelNodeSetParams_v2(void *executable, void *of, const node_params *p)
{
    const CUresult status = say("change", "%u", p->groups[0]);
    node *n = same_node(executable, of);
    if (status || n == NULL || n->within)
        return status ? status : 1;
    n->launch = launch_of(p->function, p->groups[0], p->group[0], p->arguments);
    ++fake_changed;
    return 0;
}

CUresult cuGraphExecChildGraphNodeSetParams(void *executable, void *of, void *within)
{
    const CUresult status = say("change_child", "%d", ((const graph *)within)->count);
    node *n = same_node(executable, of);
    if (status || n == NULL || n->within == NULL)
        return status ? status : 1;
    destroy(n->within);
    n->within = copied_graph(within);
    ++fake_changed;
    return 0;
}

CUresult cuGraphLaunch(void *executable, void *stream)
{
    const CUresult status = say("replay", "%d %zu", ((const graph *)executable)->count, (size_t)stream);
    if (status == 0)
        run_graph(executable);
    return status;
}
