"""Small programs, each an expression: what functions, loops, choices, graphs as ops and pickles give."""

import copy
import pickle

import theano
import theano.tensor as T


def function(inputs, outputs, *values, **more):
    """Return what a function gives for some values, called as often as there are lists of them."""
    f = theano.function(inputs, outputs, **more)
    calls = values if values and isinstance(values[0], list) else [list(values)]
    return [f(*call) for call in calls]


def state(kept, new, calls=2, **more):
    """Return a shared variable's values before and after calls of a function that updates it."""
    s = theano.shared(kept)
    f = theano.function([], s * 1, updates=[(s, new(s))], **more)
    return [f() for _ in range(calls)] + [s.get_value()]


def default(kept, new, calls=3):
    """Return values of a shared variable with an update of its own."""
    s = theano.shared(kept)
    s.default_update = new(s)
    f = theano.function([], s * 1)
    g = theano.function([], s * 1, no_default_updates=True)
    return [f() for _ in range(calls)] + [g(), g()]


def restored(v, value):
    """Return what an expression gives after a pickle."""
    y = v * 2 + T.exp(v)
    v2, y2 = pickle.loads(pickle.dumps((v, y), -1))
    f = pickle.loads(pickle.dumps(theano.function([v], y), -1))
    return [theano.function([v2], y2)(value), f(value), copy.deepcopy(f)(value), v2.type == v.type]


def as_op(inputs, outputs, *given, **more):
    """Return what a graph gives as an op."""
    return theano.OpFromGraph(inputs, outputs, **more)(*given)


SCANS = """
scan(lambda x: x * 2, sequences={v})[0]
scan(lambda x, s: x + s, sequences={v}, outputs_info=[{s}])[0]
scan(lambda s: s + 1, outputs_info=[{s}], n_steps=4)[0]
scan(lambda s: s * 2, outputs_info={s}, n_steps=3)[0][-1]
scan(lambda x, s, k: x * k + s, sequences=[{v}], outputs_info=[{s}], non_sequences=[{s}])[0]
scan(lambda x, s: [x + s, x * s], sequences=[{v}], outputs_info=[{s}, None])[0]
scan(lambda x, y: x - y, sequences=[dict(input={v}, taps=[0, 1])])[0]
scan(lambda a, b: a + b, outputs_info=[dict(initial={v}, taps=[-3, -1])], n_steps=3)[0]
scan(lambda x, s: x + s, sequences={v}, outputs_info=[{s}], go_backwards=True)[0]
scan(lambda x, s: (x + s, theano.scan_module.until(s > 2)), sequences={v}, outputs_info=[{s}])[0]
scan(lambda i, s: s * i, sequences=T.arange(1, 4), outputs_info=[{s}])[0]
scan(lambda x: x.sum(), sequences=T.outer({v}, {v}))[0]
scan(lambda x, m: T.dot(m, x), sequences=T.outer({v}, {v}), non_sequences=T.outer({v}, {v}))[0]
scan(lambda s: s + 1, outputs_info=[{s}], n_steps=0)[0]
scan(lambda s: s + 1, outputs_info=[{s}], n_steps=1)[0]
scan(lambda x, s: x + s, sequences=[{v}], outputs_info=[{s}], strict=True)[0]
scan(lambda x, s: x * s, {v}, [{s}], truncate_gradient=2)[0]
scan(lambda x: x, sequences={v}, n_steps=2)[0]
scan(lambda x, y: x * y, sequences=[{v}, {v}[::-1]])[0]
scan(lambda x, y: x * y, sequences=[{v}, {v}[1:]])[0]
scan(lambda x: [x, x + 1], sequences=[{v}])[0][1]
scan(lambda x: {{}}, sequences=[{v}])[0]
scan(lambda s: s.astype('float32'), outputs_info=[{s}], n_steps=2)[0]
scan(lambda s: s + 0.5, outputs_info=[{s}], n_steps=2)[0]
scan(lambda x, s: T.stack([x, s]), sequences={v}, outputs_info=[{s}])[0]
scan(lambda x, s: x + s, sequences={v}, outputs_info=[dict(initial={s})])[0]
scan(lambda x, s: x + s, sequences={v}, outputs_info=[dict(initial={s}, taps=-1)])[0]
scan(lambda x: x * 2, sequences={v}, return_list=True)[0]
map(lambda x: x ** 2, {v})[0]
map(lambda x, k: x * k, sequences=[{v}], non_sequences=[{s}])[0]
reduce(lambda x, s: x + s, {v}, {s})[0]
foldl(lambda s, x: s - x, {v}, {s})[0]
foldr(lambda s, x: s - x, {v}, {s})[0]
"""
GRADIENTS = "T.grad(theano.{scan}[-1].sum(), {v})"
ARGUMENTS = [("v", "x"), ("T.fvector('f')", "T.fscalar('g')"), ("v", "T.constant(1.)"), ("iv", "i"), ("T.constant([1., 2, 3])", "1"),
             ("T.constant([1., 2, 3])", "0.5"), ("theano.shared(np.ones(3))", "x")]  # fmt: skip

OTHERS = """
function([x, y], x + y, 1, 2)
function([x, y], [x + y, x * y], 1.5, 2)
function([x], x * 2, 'a')
function([x], x * 2, [1.0, 2])
function([i], i * 2, 1.5)
function([i], i * 2, 2.0)
function([i], i * 2, np.float32(2))
function([i], i * 2, 2**40)
function([i], i * 2, True)
function([fv], fv * 2, [1.0, 2.5])
function([fv], fv * 2, np.array([1.0, 2.5]))
function([T.fscalar('f')], T.constant(1), 0.1, on_unused_input='ignore')
function([T.fscalar('f')], T.constant(1), 0.1)
function([v], v[5], [1.0])
function([v, w], v + w, [1.0, 2], [1.0])
function([v], v, None)
function([m], m, [1.0])
function([col], col, [[1.0, 2]])
function([col], col * 2, [[1.0], [2]])
function([iv], iv, np.array([1, 2]))
function([iv], iv, np.array([1.0, 2]))
function([T.bvector('b')], T.constant(1), [300], on_unused_input='ignore')
function([T.In(x, value=3)], x * 2)
function([theano.In(x, value=3), y], x * y, 1, 2)
function([x, theano.In(y, value=2)], x * y, 4)
function([x, (y, 2)], x * y, 4)
function([theano.Param(x, default=2)], x * 2)
function([theano.In(x, name='k', value=2)], x * 2)
function([theano.In(i, allow_downcast=True)], i, 1.5)
function([theano.In(T.fscalar('f'), strict=True)], T.constant(1), 1.0, on_unused_input='ignore')
function([theano.In(x, value=0.0, update=x + 1)], x * 1, [], [], [])
function([theano.In(x, value=0.0, update=x + 1), y], x * y, [1, 2], [])
function([x], theano.Out(x * 2, borrow=True), 1)
function([x], {'a': x, 'b': x * 2}, 1)
function([x], {}, 1, on_unused_input='ignore')
function([x], [], 1, on_unused_input='ignore')
function([x], None, 1, on_unused_input='ignore')
function([x], x + y, 1)
function([x, x], x, 1, 1)
function([x * 2], x, 1)
function([x], x * 2, 1, givens={x: y})
function([y], x * 2, 4, givens={x: y + 1})
function([y], x * 2, 4, givens=[(x, y + 1)])
function([y], x * 2, 4, givens={x: T.cast(y, 'float32')})
function([y], x * 2, 4, givens={x: v})
function([], x * 2, givens={x: 3})
function([], x * 2, givens={x: np.float64(3)})
function([], i * 2, givens={i: 3.5})
function([y], x * z, 4, givens={x: y, z: y * 2})
function([y], x * z, 4, givens={x: z, z: y * 2})
function([x], x, 1, name='f')
function([x], x, 1, profile=False)
function([x], x, 1, mode='FAST_COMPILE')
function([x], x, 1, mode='x')
function([x], x, 1, mode=theano.Mode('py', 'fast_run'))
function([x], x, 1, x=2)
function([x], x, 1, updates=[(y, x)])
function([x], x, 1, updates={theano.shared(1.): x})
function([x], x, 1, updates=[(theano.shared(np.float32(1)), x)])
function([x], x, 1, updates=[(theano.shared(1), x)])
function([x], x, 1, updates=[(theano.shared(np.ones(2)), x)])
function([x], x, 1, rebuild_strict=False)
function([i], i * 2, 1.5, allow_input_downcast=True)
function([T.fscalar('f')], x * 2, 1.5, givens={x: T.fscalar('f')})
function(x, x * 2, 1)
function([v], T.sum(v), [])
function([v], v.max(), [])
function([v], v.mean(), [])
function([v], v.argmax(), [])
function([v], v.prod(), [])
function([v], v[0], [])
function([v], v.reshape((2, -1)), [1.0, 2, 3])
function([v, w], T.dot(v, w), [1.0, 2], [1.0])
function([m], T.nlinalg.matrix_inverse(m), [[1.0, 2], [2, 4]])
function([m], T.slinalg.cholesky(m), [[1.0, 2], [2, 1]])
function([i], T.constant(7) // i, 0)
function([i], T.constant(7) % i, 0)
function([x], 1 / x, 0)
function([x], T.log(x), -1)
function([x], theano.ifelse.ifelse(T.gt(x, 0), x * 2, x * 3), [1], [-1])
function([x], theano.ifelse.ifelse(T.gt(x, 0), [x, x * 2], [x * 3, x]), [1], [-1])
function([x], theano.ifelse.ifelse(1, x, x * 2), 2)
function([x], theano.ifelse.ifelse(x, 1, 2), [0], [2])
function([x], theano.ifelse.ifelse(T.gt(x, 0), i, x), 2, on_unused_input='ignore')
function([x], T.grad(theano.ifelse.ifelse(T.gt(x, 0), x ** 2, x * 3), x), [2], [-2])
function([v], theano.ifelse.ifelse(v, v, v * 2), [1.0])
function([x, v], theano.ifelse.ifelse(T.gt(x, 0), v, v[0]), 1, [1.0])
state(0.0, lambda s: s + 1)
state(1, lambda s: s * 2)
state(np.ones(2), lambda s: s + 1.5)
state(np.ones(2, 'float32'), lambda s: s + 1)
state(np.ones(2, 'float32'), lambda s: s + np.ones(2))
state(1, lambda s: s + 0.5)
state(np.int8(1), lambda s: s + 1)
state(np.int8(1), lambda s: s + 100)
state(np.ones((1, 2)), lambda s: s.sum(axis=0, keepdims=True))
state(np.ones((1, 2)), lambda s: s.sum(axis=0))
state(np.ones((2, 2)), lambda s: s.T)
state(np.ones((2, 3)), lambda s: s.T)
state(np.ones(3), lambda s: T.set_subtensor(s[0], 5))
state(np.ones(3), lambda s: T.inc_subtensor(s[[0, 0]], 5))
state(np.ones(3), lambda s: s[:2])
state(np.ones(3), lambda s: T.concatenate([s, s]))
state(1.0, lambda s: T.constant(2))
state(1.0, lambda s: 2)
state(1.0, lambda s: 2.5)
state(np.ones(2), lambda s: [1, 2])
state(True, lambda s: ~s)
state(1.0, lambda s: s + 1, calls=5, mode='FAST_COMPILE')
default(0.0, lambda s: s + 1)
default(np.ones(2), lambda s: s * 2)
default(1, lambda s: s + 1.5)
restored(x, 1.5)
restored(v, [1.0, 2])
restored(m, [[1.0, 2]])
restored(iv, [1, 2])
restored(col, [[1.0], [2]])
as_op([x, y], [x + y, x * y], T.constant(2.), T.constant(3.))
as_op([x], [x * 2], v)
as_op([v], [v * 2], m)
as_op([v], [v * 2], [1., 2])
as_op([v], [v * 2], iv)
as_op([v], [v * 2], fv)
as_op([x], [x * 2], 3)
as_op([x], [x * 2], x, inline=True)
as_op([x], [x * y], x)
as_op([x], x * 2, x)
as_op([x], [], x)
as_op([x], [x + sh], x)
T.grad(as_op([v], [v ** 3], v).sum(), v)
T.grad(as_op([v, w], [v * w], v, w).sum(), [v, w])
T.Rop(as_op([v], [v ** 3], v), v, w)
theano.grad(v.sum(), [v, w], disconnected_inputs='ignore')
theano.grad(v.sum(), w)
theano.grad(iv.sum(), iv)
theano.grad(x, x)
theano.grad(x ** 2, [x])
theano.grad(x ** 2, (x,))
theano.grad(x ** 2, 1)
theano.grad(1, x)
theano.grad(v, v)
theano.grad(x ** 2 + i, [x, i])
theano.grad(T.floor(x), x)
theano.grad(T.argmax(v), v)
theano.grad(T.cast(T.argmax(v), 'float64'), v)
theano.grad(T.eq(x, 1) * 1., x)
theano.grad(T.sqrt(T.sqr(v).sum()), v)
theano.gradient.jacobian(v ** 2, v)
theano.gradient.jacobian([x, y], x)
theano.gradient.jacobian(m.sum(0), m)
theano.gradient.hessian((v ** 3).sum(), v)
theano.gradient.hessian((v ** 3).sum(), [v])
theano.gradient.hessian(v, v)
theano.gradient.subgraph_grad([v], [w], start={w: w}, cost=None)
theano.Rop(v ** 2, v, w)
theano.Rop([v ** 2, v.sum()], [v], [w])
theano.Rop(v.sum(), w, v)
theano.Lop(v ** 2, v, w)
theano.Lop([v ** 2], [v], [w])
theano.clone(v + w, {v: w})
theano.clone([v, w], {v: w * 2})
theano.clone(v + w, {v: iv})
theano.clone(v + w, {v: fv}, strict=False)
theano.clone(v + w, [(v, w)])
theano.clone(v + w, share_inputs=False).ndim
theano.clone(v + sh, copy_inputs=False).ndim
theano.clone(v * 2, {v: T.ones(1)})
theano.clone(v * 2, {v: T.ones(1)}, strict=False)
theano.OpFromGraph([v], [v * 2])(T.ones(1))
theano.OpFromGraph([v], [v * 2])(T.as_tensor_variable([i * 1.]))
x.eval({x: 2})
(x + y).eval({x: 1, y: 2})
(x + y).eval({x: 1})
(sh * 2).eval()
T.constant(3).eval()
v.eval({v: [1, 2]})
v.eval({'v': [1, 2]})
v.eval([1, 2])
sh.get_value()
sh.get_value(borrow=True)
sh.set_value([1, 2, 3])
sh.set_value(np.ones(2))
sh.set_value(np.ones((2, 2)))
sh.set_value('a')
sh.set_value(1)
sh.set_value(np.ones(2, 'float32'))
sh.type
sh.broadcastable
sh.container.data
sh.clone().get_value()
x == y
x == 1
x is x
bool(x)
bool(v)
int(x)
float(x)
len(v)
len(T.stack([x, y]))
list(T.stack([x, y]))
iter(v)
[q for q in T.constant([1, 2])]
x in [x, y]
T.constant(1) == T.constant(1)
T.constant(1).equals(T.constant(1))
T.constant([1, 2]).data
T.constant(1.5).value
T.constant(1.5).signature() == T.constant(1.5).signature()
x.type == y.type
v.type.ndim
v.type.dtype
v.type.numpy_dtype
v.type.dtype_specs()[0]
v.type.filter([1, 2])
v.type.filter([1, 2], strict=True)
v.type.filter([1, 2], allow_downcast=True)
fv.type.filter([1.5, 2])
fv.type.filter(np.array([1.5, 2]))
fv.type.filter(np.array([1.5, 2.1]))
fv.type.filter(np.array([1.5, 2.1]), allow_downcast=True)
iv.type.filter([1.5])
iv.type.filter(np.array([1, 2]))
iv.type.filter(np.array([2**40]))
col.type.filter(np.ones((2, 2)))
col.type.filter(np.ones((2, 1)))
v.type.filter_variable(T.constant([1., 2]))
v.type.filter_variable(fv)
v.type.filter_variable(T.ones(1))
v.type.is_valid_value(np.ones(2))
v.type.is_valid_value([1.0])
v.type.values_eq(np.ones(2), np.ones(2))
v.type.values_eq_approx(np.ones(2), np.ones(2) + 1e-9)
v.type.values_eq_approx(np.ones(2), np.ones(2) + 1e-2)
v.type.value_zeros((2,))
v.type.clone(dtype='float32')
v.type.clone(broadcastable=(True,))
v.type.make_variable().ndim
v.type.convert_variable(T.ones(1))
col.type.convert_variable(m)
m.type.convert_variable(col)
v.type.is_super(T.ones(1).type)
T.dot(v, w)
T.dot(m, v)
T.dot(v, m)
T.dot(m, m)
T.dot(x, m)
T.dot(T.tensor3('t'), m)
T.dot(m, T.tensor3('t'))
theano.tensor.basic.get_scalar_constant_value(T.constant(2))
theano.tensor.basic.get_scalar_constant_value(T.constant([2, 3])[1])
theano.tensor.basic.get_scalar_constant_value(T.stack([1, x])[0])
theano.tensor.basic.get_scalar_constant_value(T.zeros((2, 3)).shape[1])
theano.tensor.basic.get_scalar_constant_value(x)
theano.tensor.basic.get_scalar_constant_value(T.constant([1, 2]))
theano.tensor.basic.get_scalar_constant_value(col.shape[1])
theano.tensor.basic.get_vector_length(T.stack([x, y]))
theano.tensor.basic.get_vector_length(m.shape)
theano.tensor.basic.get_vector_length(v)
theano.tensor.basic.get_vector_length(T.constant([1, 2]))
theano.tensor.basic.get_vector_length(T.arange(4))
theano.printing.Print('a')(T.constant(1.))
theano.scalar.upcast('int8', 'float32')
theano.scalar.upcast('int64', 'float32')
theano.scalar.upcast('uint64', 'int8')
theano.scalar.upcast('float16', 'int8')
theano.scalar.upcast('complex64', 'float64')
theano.scalar.upcast('bool', 'int8')
theano.scalar.upcast('x')
theano.config.floatX
theano.updates.OrderedUpdates([(sh, sh + 1)]) + {}
theano.OrderedUpdates({sh: 1})[sh]
theano.gof.graph.inputs([x + y])[0].type
theano.gof.graph.is_same_graph(x + y, x + y)
theano.gof.graph.is_same_graph(x + y, x * y)
(x + y).owner.op
(x * 2 + y).owner.op.scalar_op
v.dimshuffle(0, 'x').owner.op.new_order
v[0].owner.op.idx_list
m.sum(0).owner.op.axis
[n.op for n in theano.gof.graph.io_toposort([x, y], [x * y + x])]
theano.pp(x + y * 2)
theano.pp(T.exp(v).sum())
theano.pp(m.dot(v) - 1)
theano.pp(m.T[0])
theano.pp(T.grad(x ** 2, x))
str(x)
str(x + y)
str(v.type)
str(col.type)
str(T.constant(1.5))
str(T.constant([1, 2]))
repr(T.tensor4().type)
str(sh)
str(v[0:2].owner.op)
str(m.sum(0).owner.op)
str(m.T.owner.op)
str(T.dot(m, m).owner.op)
str((x + y).owner.op)
str(T.cast(x, 'int8').owner.op)
str(T.set_subtensor(v[0], 1).owner.op)
str(T.join(0, v, v).owner.op)
str(v.reshape((2, 2)).owner.op)
str(T.nnet.softmax(m).owner.op)
str(v[[0]].owner.op)
str(m.max(0).owner.op)
str(T.argmax(m, 0).owner.op)
str(T.alloc(1., 2).owner.op)
"""


def _lines():
    yield from OTHERS.strip().split("\n")
    for v, s in ARGUMENTS:
        for scan in SCANS.strip().split("\n"):
            scan = scan.format(v=v, s=s)
            yield "theano." + scan
            if v[0] == "v":
                yield GRADIENTS.format(scan=scan, v=v)


PROGRAMS = list(_lines())
