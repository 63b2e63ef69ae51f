/* Recordings of commands on CUDA: graphs of the driver's, one node after the other.
 *
 * A launch is a node of its own, whose arguments can be changed. What a library asks for is captured on a stream on which nothing
 * else happens, and is a node, too: a graph within the graph. Nothing of the stream on which everything happens is captured, so
 * other threads may use that meanwhile.
 */
#include <stdlib.h>

#include "cuda.h"

enum { RELAXED = 2 }; /* CU_STREAM_CAPTURE_MODE_...: a library may take memory while it is captured */

typedef struct graph {
    void *nodes; /* the graph they are changed by */
    void *executable;
    void *node[];
} graph;

static void complain(th_gpu *gpu, const char *what, CUresult status)
{
    if (status)
        th_gpu_complain(gpu, what, status);
}

static th_cuda_node node_of(const th_gpu_command *c, void **arguments)
{
    for (int64_t k = 0; k < c->npointers; ++k)
        arguments[k] = &th_gpu_pointers(c)[k];
    arguments[c->npointers] = th_gpu_told(c);
    return (th_cuda_node){.function = c->function, .groups = {(unsigned)c->groups, 1, 1}, .group = {(unsigned)c->group, 1, 1},
                          .arguments = arguments};
}

/* What a library asks for, as a graph. */
static CUresult captured(th_gpu *gpu, const th_gpu_command *c, void **made)
{
    th_cuda *cu = gpu->state;
    CUresult status = cu->side ? 0 : cu->cuStreamCreate(&cu->side, 1);
    if (status == 0)
        status = cu->cuStreamBeginCapture_v2(cu->side, RELAXED);
    if (status)
        return status;
    const int ran = c->run(gpu, cu->side, th_gpu_told(c));
    status = cu->cuStreamEndCapture(cu->side, made);
    return status ? status : ran;
}

static CUresult add(th_gpu *gpu, graph *g, int64_t k, const th_gpu_command *c)
{
    th_cuda *cu = gpu->state;
    void *arguments[TH_GPU_POINTERS + 1], *within = NULL, *const *before = k ? &g->node[k - 1] : NULL;
    const size_t count = k ? 1 : 0;
    if (c->run == NULL) {
        const th_cuda_node node = node_of(c, arguments);
        return cu->cuGraphAddKernelNode_v2(&g->node[k], g->nodes, before, count, &node);
    }
    CUresult status = captured(gpu, c, &within);
    if (status == 0)
        status = cu->cuGraphAddChildGraphNode(&g->node[k], g->nodes, before, count, within);
    if (within)
        cu->cuGraphDestroy(within); /* the node has a copy */
    return status;
}

static void forget(th_gpu *gpu, void *recording)
{
    const th_cuda *cu = gpu->state;
    graph *g = recording;
    if (g->executable)
        cu->cuGraphExecDestroy(g->executable); /* once it is done */
    if (g->nodes)
        cu->cuGraphDestroy(g->nodes);
    free(g);
}

static void *record(th_gpu *gpu, const th_gpu_command *c, int64_t count)
{
    const th_cuda *cu = gpu->state;
    graph *g = calloc(1, sizeof *g + (size_t)count * sizeof *g->node);
    if (g == NULL)
        return NULL;
    CUresult status = cu->cuCtxSetCurrent(cu->context);
    if (status == 0)
        status = cu->cuGraphCreate(&g->nodes, 0);
    for (int64_t k = 0; k < count && status == 0; ++k, c = th_gpu_next(c))
        status = add(gpu, g, k, c);
    if (status == 0)
        status = cu->cuGraphInstantiateWithFlags(&g->executable, g->nodes, 0);
    complain(gpu, "recording a graph", status);
    if (status == 0)
        return g;
    forget(gpu, g);
    return NULL;
}

static int change(th_gpu *gpu, void *recording, int64_t k, const th_gpu_command *c)
{
    const th_cuda *cu = gpu->state;
    graph *g = recording;
    void *arguments[TH_GPU_POINTERS + 1], *within = NULL;
    CUresult status = cu->cuCtxSetCurrent(cu->context);
    if (status == 0 && c->run == NULL) {
        const th_cuda_node node = node_of(c, arguments);
        status = cu->cuGraphExecKernelNodeSetParams_v2(g->executable, g->node[k], &node);
    } else if (status == 0) {
        status = captured(gpu, c, &within);
        if (status == 0)
            status = cu->cuGraphExecChildGraphNodeSetParams(g->executable, g->node[k], within);
        if (within)
            cu->cuGraphDestroy(within);
    }
    complain(gpu, "changing a graph", status);
    return status ? -1 : 0;
}

static int replay(th_gpu *gpu, void *recording)
{
    const th_cuda *cu = gpu->state;
    CUresult status = cu->cuCtxSetCurrent(cu->context);
    if (status == 0)
        status = cu->cuGraphLaunch(((const graph *)recording)->executable, cu->stream);
    complain(gpu, "cuGraphLaunch", status);
    return status ? -1 : 0;
}

const th_gpu_recorder th_cuda_recorder = {record, change, replay, forget};
