"""The order of what `theano.gof.graph` lists, which programs number variables by: that of Theano 1.0.5, on random graphs.

Theano 1.0.5 wrote `ORDERS` when it ran this file as a program: for each function, two hexadecimal digits for each graph.
"""

import hashlib
import random
from collections import deque

import theano.gof as gof
import theano.gof.graph as graph
from theano.gof.graph import Apply, Constant

GRAPHS = 120


class Anything(gof.Type):
    def filter(self, value, strict=False, allow_downcast=None):
        return value

    def __eq__(self, other):
        return type(self) is type(other)

    def __hash__(self):
        return 1


class Numbered(gof.Op):
    __props__ = ("number", "outs")

    def __init__(self, number, outs):
        self.number, self.outs = number, outs

    def make_node(self, *inputs):
        return Apply(self, list(inputs), [Anything()() for _ in range(self.outs)])

    def perform(self, node, inputs, outputs):
        raise NotImplementedError


def random_graph(seed):
    """Return inputs, outputs, inputs that are in the middle of the graph, blockers, and nodes."""
    r = random.Random(seed)
    inputs, nodes = [Anything()() for _ in range(r.randint(1, 4))], []
    for k, v in enumerate(inputs):
        v.name = f"x{k}"
    known = inputs + [Constant(Anything(), 3, "c")] * r.randint(0, 1)
    for k in range(r.randint(1, 14)):
        near = known[-5:] if r.random() < 0.5 else known
        node = Numbered(k, r.choice((1, 1, 1, 2, 3))).make_node(*[r.choice(near) for _ in range(r.randint(1, 4))])
        for i, v in enumerate(node.outputs):
            v.name = f"n{k}.{i}"
        nodes.append(node)
        known = known + node.outputs
    outputs = [r.choice(known) for _ in range(r.randint(1, 3))]
    # Theano 1.0.5 goes round for ever where a later output of a node is wanted, and its first one is given.
    cut = inputs + [node.outputs[0] for node in r.sample(nodes, min(2, len(nodes))) if node.op.outs == 1]
    return inputs, outputs, cut, [r.choice(known) for _ in range(2)], nodes


def names(things):
    return [v.name if not isinstance(v, Apply) else v.op.number for v in things]


def lists(seed):
    """Return by name what the functions list of one graph."""
    inputs, outputs, cut, blockers, nodes = random_graph(seed)
    before = {b: [a] for a, b in zip(nodes[::3], nodes[2::3])}
    clients = {}

    def needs(thing):
        return list(thing.inputs) if isinstance(thing, Apply) else [thing.owner] if thing.owner else []

    found = {
        "io_toposort": [graph.io_toposort(inputs, outputs), graph.io_toposort(cut, outputs)],
        "orderings": [graph.io_toposort(inputs, outputs, before), graph.io_toposort(cut, outputs, before)],
        "clients": [graph.io_toposort(cut, outputs, clients=clients), list(clients), *clients.values()],
        "ancestors": [graph.ancestors(outputs), graph.ancestors(outputs, blockers)],
        "inputs": [graph.inputs(outputs), graph.inputs(outputs, blockers)],
        "variables": [graph.variables(cut, outputs), graph.orphans(cut, outputs), *graph.variables_and_orphans(cut, outputs)],
        "ops": [sorted(graph.ops(cut, outputs), key=lambda node: node.op.number)],
        "list_of_nodes": [graph.list_of_nodes(cut, [v for v in outputs if v.owner])],
        "general_toposort": [graph.general_toposort(outputs, needs)],
        "stack_search": [graph.stack_search(deque(outputs), needs, mode) for mode in ("dfs", "bfs")],
        "FunctionGraph": [gof.FunctionGraph(inputs, outputs, clone=True).toposort()],
    }
    return {name: repr([names(each) for each in several]) for name, several in found.items()}


def digits():
    every = [lists(seed) for seed in range(GRAPHS)]
    return {name: "".join(hashlib.sha1(each[name].encode()).hexdigest()[:2] for each in every) for name in every[0]}


ORDERS = {
    "io_toposort": (
        "666b668a381d493c0f3c4bcec556ca66961450d760d16666a9417841a9761ef3662a776b66f3e6e7f365f57e66ae665eb518"
        "54f3b58cea2678d56bfbe09e89ec38633851326e66de976963896666853b4463fa661878225ff8e9ae6412f3316665228a01"
        "d46b38c86b662f36c7c366f381666bd6049d2613"
    ),
    "orderings": (
        "666b66f5381d6e380fdacabac98cca66c777c889c95a6666f341707f8d761ef366ffc56b6685a8e7f365f87e66ae665eee22"
        "63f38662fb2697926becad6bdecc386338946b3466ae97ac63896666b7c78a633b66a17e14a20f32aef9e6f3316665998a0f"
        "d46b38c86b66bdf4c7e166f3cb666b8be8c72613"
    ),
    "clients": (
        "66f8663ca62f8e4f651d6690c66dfc66d2c65012114366663fd9afe5a48e496666a5f199660d7a2a830363ba666666f3eeb2"
        "c21c2deba56663c00d9bb6f69c0f95ec9a0cd1d1661d58b80f8566666f55ad078a6686b7f5c65cf8bc9ed1077d66f697661b"
        "0c0e41eac766c6ce2430668d04660d72ffc66685"
    ),
    "ancestors": (
        "3d97ead97ca377fa2fc7ce3dfba8dbe0d09ecfe8e02df0ad5cf1df63a5e85730ea64c74b02b694e0a43b2f3d5f2f8f747c36"
        "0fdc8c3206df343ddfbd49eaf2af98917e9a9dc18f99fe87715c8ff0780e3988a10210cb8b4ba1e25c598c6b5374cd0da0e6"
        "fcd5a372dff0db6e2a10e650038fd3bc637300ab"
    ),
    "inputs": (
        "3de0ea747559aee0749576f2adb2eae0d18bf0ea7581f0adc866e03deaaea1eaeaf05a6b02ea48b502fdea765fec8f6bf9ae"
        "bae0747f8bea76aeeae022f3e06b747676eaf1ea8f02eadbaee98ff07474828f8102f0e0ae7413b5f0ea8a82e074d58f5359"
        "c2aef0beeaf0e0457468e675ac8f2a4868597f3e"
    ),
    "variables": (
        "e2d7d1b08cdfe0ad14c82300857b7b7a1f59e015d3c79fa3f84749302c9cc613d1db16403d3651f7facee0e1827b6e46171b"
        "7064f886b43b9bb23b6018159bfad05b2b8ec6306e50d228934f6e9f52f67de8613dc7d33cc272f2ea6aa88094acb1548c8c"
        "35937c8de09fd0e1e495d500256e3b39632c5678"
    ),
    "ops": (
        "1366137400661100822a13a88135e0137962b27e81ca1313e0f580d1004586e0138b92661366d447e02876ce1313137b3a1d"
        "68e0e391c313974d6647a81fc60000e00012ffdd1368d9aee06113130ade32e04d131d805f24d98179c257e05113288113d9"
        "d066005d661346bc824c13a58e13664aa5d9136e"
    ),
    "list_of_nodes": (
        "136613486e02ba6e237f5bf08135d9138f74da0f591613136ef5cfb39a98ffe013a0e56613fa511a6e28607213e01332e72f"
        "17e080f5bb669e6566840b7951146ee06eec9773133172d2e0a913137bdeb8e0c61308f9e13b9b812ed447002b1328500a17"
        "d0666e4d66137b1423a8130bec1366ebe0d966dd"
    ),
    "general_toposort": (
        "cd03a57380dfa244bd7781e434dbc18f2d47cd5c20184a501948dfaadf12df5fa5111e69599b0cbccef29481f1fa0dc08785"
        "b94b9106931393e613cdc605b25edff49a04f0e30d708379f45a0d4aaf3415494b594bc3741f81267b74b740c1180f8522fa"
        "9d615e44134a87f3c58f53ec090d13a469d66135"
    ),
    "stack_search": (
        "0e10ea14c8ac4841cde75031444ebd45880a171eb136f0addaa5549775a806e3eab5443c7f849d89923bdc5d1e8b8f41ab60"
        "34af15c5aa8cfcaa4b38dff5e0362763521332698f65251de4f88ff0dd98b9157b7fb3a54964879f650c7b28884248b3c70d"
        "933185444bf0e4bbeacbad3bc28f4b88d7665392"
    ),
    "FunctionGraph": (
        "1366137400bc496e82cb1aeb816a82135d7bb261625a13136e61ffac2e4586001325606613d62d470028bfb913e0137b971d"
        "6800f391c366972966f61d1fc67b00e0001617dd1368bc7be06113139fde6ce0b3131dfff4874382793e8500fe13288f7b82"
        "cd66005d661368e15e5413a5b51366a75dd96626"
    ),
}


def test_lists_are_in_the_order_of_theano():
    for name, found in digits().items():
        wrong = [seed for seed in range(GRAPHS) if found[2 * seed : 2 * seed + 2] != ORDERS[name][2 * seed : 2 * seed + 2]]
        assert not wrong, f"{name}: graphs {wrong}, the first: {lists(wrong[0])[name]}"


def test_what_lists_are():
    inputs, outputs, *_, nodes = random_graph(1)
    assert isinstance(graph.ancestors(outputs), list) and isinstance(graph.ops(inputs, outputs), set)
    assert all(graph.is_in_ancestors(node, node) for node in nodes)
    node = Numbered(0, 2).make_node(inputs[0])
    # Here Theano 1.0.5 ends as well, with less than is wanted.
    assert graph.io_toposort([node.outputs[0]], [node.outputs[1]]) == [node]


if __name__ == "__main__":
    for each, said in digits().items():
        print(f'    "{each}": (')
        for at in range(0, len(said), 100):
            print(f'        "{said[at : at + 100]}"')
        print("    ),")
