"""The calls that are compared with the original: texts, and kinds of operands that each of them gets.

An operand is a letter for its dtype and a digit for each dimension: ``1`` is a length of 1 that the type knows, ``0`` three elements,
another digit as many as it says. A sign before it makes another thing than a variable of it: ``$`` a shared variable,
``=`` a constant, ``#`` an array, ``~`` NumPy's number, ``%`` and ``&`` sparse matrices; behind ``!`` stands Python's own text.
"""

import itertools
import random

from conformance import patterns, sparse
from conformance.words import UP_TO_3, UP_TO_4, words

LETTERS = {"?": "bool", "b": "int8", "w": "int16", "i": "int32", "l": "int64", "B": "uint8", "u": "uint16", "U": "uint32",
           "L": "uint64", "e": "float16", "f": "float32", "d": "float64", "c": "complex64", "z": "complex128"}  # fmt: skip
DTYPES = "".join(LETTERS)
KINDS = ["$d0", "=d01", "#d00", "#d", "~d", "~f", "~b", "~B", "#w", "!2", "!2.5", "!-1", "!True", "!1j", "![1,2]", "![[1.5,2.5]]", "!(1,2)",
         "!300", "!None", "!'x'"]  # fmt: skip


def of_all_dtypes(*flags):
    """Return operands of each dtype with the same flags."""
    return [letter + pattern for letter in DTYPES for pattern in flags]


# -- functions of elements ------------------------------------------------------------------------------------------------

ONE = [*of_all_dtypes("", "0", "01"), *("d" + p for p in UP_TO_4[3:]), *KINDS]
FEW = ["d", "d0", "d01", "f00", "i0", "b10", "?0", "z0", "e000", "L1", "$d0", "=f1", "#d00", "!2", "![1,2]"]
UNARY = words("""abs_ angle arccos arccosh arcsin arcsinh arctan arctanh bitwise_not ceil conj cos cosh deg2rad erf erfc erfcinv
    erfcx erfinv exp exp2 expm1 floor gamma gammaln i0 i1 imag inv invert isinf isnan iround j0 j1 log log10 log1p log2 neg
    ones_like psi rad2deg real round round_half_away_from_zero round_half_to_even sgn sin sinh sqr sqrt square tan tanh
    tensor_copy tri_gamma trunc zeros_like nnet.sigmoid nnet.softplus nnet.softsign nnet.hard_sigmoid nnet.relu nnet.elu nnet.selu
    nnet.ultra_fast_sigmoid nnet.scalar_sigmoid as_tensor_variable as_tensor constant nonzero flatnonzero nonzero_values
    identity_like shape zeros ones is_flat get_vector_length""")
METHODS = words("""all any arccos arccosh arcsin arcsinh arctan arctanh argmax argmin argsort ceil conj conjugate copy cos cosh
    cumprod cumsum deg2rad diagonal exp exp2 expm1 flatten floor log log10 log1p log2 max mean min nonzero nonzero_values ones_like
    prod ptp rad2deg ravel round sin sinh sort sqrt squeeze std sum tan tanh trace transpose trunc var zeros_like __abs__ __neg__
    __invert__ __len__ __nonzero__ __bool__ __iter__""")
PROPERTIES = words(
    "a.T a.shape a.size a.ndim a.dtype a.broadcastable a.real a.imag a.type.dtype len(a) -a +a ~a abs(a) list(a) bool(a)"
)
KEYWORDS = words("""T.round(a,mode='half_to_even') T.round(a,mode='half_away_from_zero') T.round(a,mode='x') T.iround(a,mode='half_to_even')
    T.zeros_like(a,dtype='int8') T.ones_like(a,dtype='float32') T.zeros_like(a,opt=True) T.ones_like(a,'bool') T.zeros(a.shape,dtype='int8')
    T.nnet.relu(a,alpha=0.5) T.nnet.relu(a,0.) T.nnet.relu(a,1) T.nnet.elu(a,alpha=2) T.nnet.relu(a,alpha=a) T.constant(a,name='x')
    T.constant(a,ndim=2) T.constant(a,dtype='float32') T.as_tensor_variable(a,ndim=2) T.as_tensor_variable(a,name='x') T.as_tensor_variable(a,ndim=1)
    T.as_tensor_variable([a,a]) T.as_tensor_variable((a,1)) T.as_tensor_variable([[a],[a]]) theano.shared(a) theano.shared(a,name='x')
    theano.shared(a,borrow=True) theano.shared(a,strict=True) theano.shared(a,broadcastable=(True,)) theano.shared(a,allow_downcast=True)
    T.nonzero(a,return_matrix=True) a.nonzero(return_matrix=True) a.astype('float32') a.astype('int8') a.astype('bool') a.astype('complex64')
    a.astype(np.float32) a.astype(float) a.astype(int) T.clip(a,0,1) T.clip(a,-1.5,1.5) a.clip(0,2) a.clip(a_min=0,a_max=1) a.fill(2) a.copy(name='x')
    T.complex(a,a) T.complex_from_polar(a,a) theano.tensor.basic.tensor_from_scalar(theano.tensor.basic.scalar_from_tensor(a))
    T.fill(a,2) T.fill(a,2.5) T.second(a,1) T.second(1,a) T.switch(a,1,2) T.switch(a>0,a,0) T.where(a,1.5,2) T.largest(a,1) T.smallest(a,1,2) T.largest(a)
    T.max(a) T.pow(a,2) T.pow(2,a) T.power(a,3) a**0.5 a**-1 a**2 a**True 2**a a+1 1+a a-1 1-a a*2 2*a a/2 1/a a//2 5//a a%2 a%-3 7%a a+1.5
    1.5*a a+1j a*np.float32(2) a+np.int8(1) a+np.float64(1) a+np.int64(1) a+np.uint8(200) a*np.array(2) a*np.array(2.) np.float32(2)*a
    np.array([1,2,3])*a a*[1,2,3] [1,2,3]+a a+True a-True a*300 a+70000 a+3000000000 a/np.int8(2) a>1 a<1.5 a>=0 a<=1 1<a 0>=a a&1 a|1 a^1 1&a 1|a
    2^a a<<1 divmod(a,2) pow(a,2) T.divmod(a,2) T.true_div(a,2) T.int_div(a,2) T.floor_div(a,2) T.mod(a,2) T.ceil_intdiv(a,2) T.eq(a,1) T.neq(a,1)
    T.isclose(a,1) T.allclose(a,a) T.isclose(a,a+1e-9) T.isclose(a,a,rtol=0.1) T.isclose(a,a/0,equal_nan=True) T.allclose(a,1,atol=9)
    a+T.constant(1) a*T.constant(1.5) a+T.constant(np.float32(1)) T.maximum(a,0) T.minimum(a,0.5) T.add(a,1,2) T.mul(a,2,3) T.add(a,a,a) T.mul(a) T.add(a)
    T.gammainc(a,2) T.gammaincc(2,a) T.gammau(2,a) T.gammal(2,a) T.chi2sf(a,2) T.jv(1,a) T.iv(1,a) T.arctan2(a,1) T.arctan2(1,a)
    T.extract_constant(a) T.get_scalar_constant_value(a)""")
CASTS = ["T.cast(a,%r)" % name for name in [*LETTERS.values(), "floatX", "float", "int", "x"]] + [
    "a.astype(%r)" % name for name in ("floatX", "float64", "uint8", "int64", "uint64", "float16", "x")]  # fmt: skip


# -- functions of two -------------------------------------------------------------------------------------------------------

PAIRS = [
    *(x + "0 " + y + "0" for x in DTYPES for y in DTYPES), *(x + "0 " + y for x in "bifdzL?e" for y in "bifdzL?e"),
    *("d" + p + " d" + q for p in UP_TO_3[:8] for q in ("", "0", "01", "10", "001", "111")),
    *("%s %s" % pair for x in ("d0", "f0", "b0", "B0", "?0", "w", "z0") for y in KINDS for pair in ((x, y), (y, x))),
    "$f0 =d0", "#d0 #d0", "!1 !2", "=b =d", "~f =b0", "$b0 !1.5", "$b0 !300", "=f !1.5", "#d00 d0", "#f d0",
]  # fmt: skip
BINARY = words("""T.add(a,b) T.sub(a,b) T.mul(a,b) T.true_div(a,b) T.floor_div(a,b) T.mod(a,b) T.pow(a,b) T.maximum(a,b) T.minimum(a,b)
    T.eq(a,b) T.neq(a,b) T.lt(a,b) T.le(a,b) T.gt(a,b) T.ge(a,b) T.and_(a,b) T.or_(a,b) T.xor(a,b) T.arctan2(a,b) T.switch(a,b,b) T.fill(a,b)
    T.isclose(a,b) T.outer(a,b) T.dot(a,b) T.stack([a,b]) T.concatenate([a,b]) T.clip(a,b,2) T.largest(a,b) T.smallest(a,b)""")
RARER_PAIRS = ["d0 d0", "f0 f0", "f0 d", "b0 w0", "i00 i0", "d01 d10", "d000 d01", "?0 ?0", "?0 d0", "z0 d0", "B0 b0", "L0 l0", "e0 f0",
               "d0 !2", "!2 d0", "f0 !2.5", "b0 !2", "b0 !2.5", "$d0 =f0", "#d0 d0", "d ~f", "f ~d", "d00 d00", "d00 d0", "d0 d00", "d1 d0",
               "d11 d00", "l0 l0", "d l0", "d00 l0", "d000 d000", "d0000 d00", "f00 d00", "i0 f00", "d00 ![1,2,3]", "![[1,2,3]] d0"]  # fmt: skip
RARER = words("""a+b a*b a/b a//b a%b a**b a-b a<b a>=b a&b a|b a^b
    T.gammainc(a,b) T.gammaincc(a,b) T.gammau(a,b) T.gammal(a,b) T.chi2sf(a,b) T.jv(a,b) T.iv(a,b) T.complex(a,b)
    T.complex_from_polar(a,b) T.int_div(a,b) T.divmod(a,b) T.power(a,b) T.allclose(a,b) T.second(a,b) T.ceil_intdiv(a,b) T.where(a>0,a,b) T.join(0,a,b)
    T.join(1,a,b) T.join(-1,a,b) T.stack([a,b],axis=1) T.stack([a,b],axis=-1) T.stack(a,b) T.stack((a,b)) T.stack([a,b],0) T.stack(a,b,axis=1)
    T.concatenate([a,b],axis=1) T.concatenate((a,b),-1) T.concatenate([a,b],axis=2) T.vertical_stack(a,b) T.horizontal_stack(a,b) T.stacklists([a,b])
    T.stacklists([[a,b],[b,a]]) T.as_tensor_variable([a,b]) T.tensordot(a,b) T.tensordot(a,b,1) T.tensordot(a,b,0) T.tensordot(a,b,[[0],[0]])
    T.tensordot(a,b,axes=[[-1],[0]]) T.tensordot(a,b,axes=([1],[1])) T.tensordot(a,b,[1,0]) T.batched_dot(a,b) T.batched_tensordot(a,b,1)
    T.batched_tensordot(a,b,[[1],[1]]) a.dot(b) a.__dot__(b) T.dot(a,b).sum() T.nlinalg.matrix_dot(a,b) T.take(a,b) T.take(a,b,axis=0) a.take(b,0)
    T.take(a,b,mode='clip') T.take(a,b,axis=-1,mode='wrap') a[b] a[b,0] a[:,b] T.extra_ops.compress(a,b) a.compress(b,axis=0) T.extra_ops.compress(a,b,axis=1)
    T.repeat(a,b) T.repeat(a,b,axis=0) a.repeat(b,0) T.choose(a,[b,b]) a.choose((b,b,b)) T.choose(a,b,mode='wrap') T.choose(a,b,mode='clip')
    T.extra_ops.searchsorted(T.sort(a),b) a.searchsorted(b,side='right') T.extra_ops.searchsorted(a,b,sorter=T.argsort(a)) T.bincount(a,b)
    T.bincount(abs(a),weights=b,minlength=9) T.cov(a,b) T.cov(a,y=b,rowvar=False) T.permute_row_elements(a,b) T.extra_ops.fill_diagonal(a,b)
    T.extra_ops.fill_diagonal_offset(a,b,1) T.extra_ops.fill_diagonal_offset(a,1.,b) T.set_subtensor(a[0],b) T.inc_subtensor(a[0],b)
    T.set_subtensor(a[:],b) T.inc_subtensor(a[1:],b) T.set_subtensor(a[[0,1]],b) T.inc_subtensor(a[[0,0]],b) T.set_subtensor(a[a>0],b)
    T.inc_subtensor(a[:,0],b) T.set_subtensor(a[...,0],b) T.grad((a*b).sum(),[a,b]) T.grad(T.maximum(a,b).sum(),[a,b]) T.grad((a/b).sum(),[a,b])
    T.grad(T.switch(a>0,a,b).sum(),a) T.grad(T.dot(a,b).sum(),b) T.grad((a**b).sum(),a) T.Rop(a*b,a,b) T.Lop(a*b,a,b) T.Rop(T.tanh(a),a,a) T.slinalg.kron(a,b)
    T.slinalg.solve(a,b) T.slinalg.solve_lower_triangular(a,b) T.slinalg.solve_upper_triangular(a,b) T.slinalg.solve_symmetric(a,b)
    T.nlinalg.tensorsolve(a,b) T.slinalg.eigvalsh(a,b) T.nnet.binary_crossentropy(T.nnet.sigmoid(a),b) T.nnet.sigmoid_binary_crossentropy(a,b)
    T.nnet.categorical_crossentropy(T.nnet.softmax(a),b) T.nnet.softmax_with_bias(a,b) T.nnet.crossentropy_softmax_1hot(a,abs(b)%3)
    T.nnet.prepend_scalar_to_each_row(b,a) T.nnet.confusion_matrix(a,b) T.ravel_multi_index((a,b),(9,9)) T.unravel_index(abs(a),(9,9)) T.default(a,b)
    T.unravel_index(abs(a),(9,9),order='F') T.extra_ops.ravel_multi_index((a,b),(9,9),mode='wrap',order='F') theano.ifelse.ifelse(a.sum(),a,b)
    theano.ifelse.ifelse(T.gt(1,0),a,b) a.__add__(b) a.__radd__(b) a.__rsub__(b) a.__rdiv__(b) a.__truediv__(b) a.__rmod__(b) a.__rpow__(b) a.norm(b)
    np.add(a,b) np.dot(a,b) np.maximum(a,b) a==b a!=b isinstance(a==b,bool) T.grad(a.sum(),b) T.grad(a,b) theano.gradient.jacobian(a*b,a)
    T.nnet.crossentropy_categorical_1hot(T.nnet.softmax(a),abs(b)%3) T.nnet.nnet.crossentropy_softmax_argmax_1hot_with_bias(a,a[0],abs(b)%3)
    theano.clone(a*2,{a:b}) theano.clone(a*b,replace={a:a+1}) T.basic.mod_check(a,b) T.addbroadcast(a*b,0) T.unbroadcast(a*b,0) T.extra_ops.diff(a*b)""")


# -- reductions and axes ------------------------------------------------------------------------------------------------------

MANY = [
    *of_all_dtypes("00"),
    *("d" + p for p in UP_TO_4),
    "i01",
    "?11",
    "f000",
    "$f00",
    "=d0",
    "#d00",
    "![1,2]",
    "!2",
    "~f",
    "d20",
    "d030",
]
NONE = [*MANY, "d00100", "i0000"]
REDUCTIONS = words("sum prod mean max min all any argmax argmin var std ptp max_and_argmax")
AXES = words(",axis=0 ,axis=-1 ,axis=1 ,axis=[0,1] ,axis=(0,) ,axis=() ,axis=5 ,axis=None ,axis=np.int64(0) ,keepdims=True ,axis=0,keepdims=True "
             ",0 ,axis=T.constant(0) ,axis=-5 ,axis=[0,0] ,axis='x' ,axis=1.5")  # fmt: skip
REDUCING = [
    *("T.%s(a%s)" % pair for pair in itertools.product(REDUCTIONS, ["", *AXES])),
    *("T.%s(a,dtype=%r)" % pair for pair in itertools.product(("sum", "prod", "mean"), ("float32", "float64", "int8", "int64", "complex64", "bool"))),
    *("T.%s(a,acc_dtype=%r)" % pair for pair in itertools.product(("sum", "prod", "mean"), ("float32", "float64", "int32"))),
    *("a.%s(%s)" % (name, axis[1:]) for name in REDUCTIONS[:-1] for axis in AXES[:6]),
    *words("""T.var(a,ddof=1) T.std(a,ddof=1,axis=0) T.var(a,corrected=True) T.std(a,0,1) T.prod(a,no_zeros_in_input=True) T.mean(a,op=True)
    T.mean(a,op=True,axis=0) a.norm(1) a.norm(2) a.norm('inf') a.norm(2,axis=0) a.norm(1,axis=-1,keepdims=True) a.norm(3,axis=(0,1)) a.norm(-1) a.norm(0)
    a.norm(np.inf,axis=0) T.nlinalg.norm(a,1) T.nlinalg.norm(a,2) T.nlinalg.norm(a,'fro') T.nlinalg.norm(a,np.inf) T.nlinalg.norm(a,None)
    T.nlinalg.norm(a,-2) T.nlinalg.norm(a,3) a.sum(axis=0,dtype='float32') a.sum(0,'float64') a.mean(dtype='float32') a.prod(acc_dtype='float64')"""),
]  # fmt: skip
ALONG = words("""T.cumsum(a) T.cumsum(a,axis=0) T.cumsum(a,-1) T.cumprod(a,axis=1) T.cumprod(a) T.cumsum(a,axis=5) a.cumsum(1) T.sort(a) T.sort(a,axis=0) T.sort(a,None)
    T.sort(a,kind='mergesort') T.argsort(a) T.argsort(a,axis=0) T.argsort(a,axis=None) a.sort(0) a.argsort(-1,'mergesort') T.extra_ops.diff(a) T.extra_ops.diff(a,n=2)
    T.extra_ops.diff(a,1,0) T.extra_ops.diff(a,n=1,axis=1) T.roll(a,1) T.roll(a,-1,axis=0) T.roll(a,2,axis=-1) T.roll(a,4,axis=1) T.roll(a,shift=0) T.repeat(a,2)
    T.repeat(a,2,axis=0) T.repeat(a,0) T.repeat(a,1,axis=-1) a.repeat(3,axis=1) T.repeat(a,[1,2,0],axis=0) T.tile(a,2) T.tile(a,(2,)) T.tile(a,(1,2)) T.tile(a,(2,1,1))
    T.tile(a,[2,2]) T.tile(a,(1,2),ndim=3) T.tile(a,2,ndim=2) T.tile(a,(0,1)) T.tile(a,()) T.flatten(a) T.flatten(a,2) T.flatten(a,ndim=1) T.flatten(a,3) T.flatten(a,0) a.flatten(2)
    T.flatten(a,outdim=2) a.flatten(ndim=1) a.ravel() T.transpose(a) T.transpose(a,(1,0)) T.transpose(a,axes=[0,1]) a.transpose(1,0) a.transpose((0,1)) a.transpose([1,0]) a.transpose(0)
    a.transpose(-1,0) T.swapaxes(a,0,1) a.swapaxes(0,-1) T.swapaxes(a,1,2) T.squeeze(a) a.squeeze() T.shape_padleft(a) T.shape_padleft(a,2) T.shape_padleft(a,n_ones=0)
    T.shape_padright(a) T.shape_padright(a,2) T.shape_padaxis(a,0) T.shape_padaxis(a,1) T.shape_padaxis(a,axis=-1) T.shape_padaxis(a,5) T.diag(a) T.diag(a,1) T.diag(a,k=-1)
    T.diagonal(a) T.diagonal(a,1) T.diagonal(a,offset=-1) T.diagonal(a,0,1,0) T.diagonal(a,0,0,2) a.diagonal(1) a.diagonal(offset=0,axis1=-1,axis2=-2) T.tril(a) T.tril(a,1) T.triu(a,k=-1)
    T.triu(a) a.trace() T.nlinalg.trace(a) T.nlinalg.diag(a) T.nlinalg.alloc_diag(a) T.nlinalg.extract_diag(a) T.AllocDiag()(a) T.AllocDiag(offset=1)(a) T.ExtractDiag()(a)
    T.ExtractDiag(1,0,1)(a) T.extra_ops.Unique()(a) T.extra_ops.Unique(True)(a) T.extra_ops.Unique(True,True,True)(a) T.extra_ops.Unique(return_counts=True)(a)
    a.reshape((-1,)) a.reshape((1,-1)) a.reshape(-1) a.reshape((3,-1)) a.reshape((3,3)) a.reshape((9,)) a.reshape([1,1]) a.reshape(()) a.reshape((-1,-1)) a.reshape((2,-1)) a.reshape(a.shape)
    a.reshape((a.size,)) a.reshape((a.shape[0],-1)) a.reshape((1,9),ndim=2) a.reshape((1,9),ndim=3) a.reshape(T.constant([3,3])) a.reshape(np.array([9])) a.reshape((3.,3)) a.reshape(9.) a.reshape((-2,))
    T.reshape(a,(3,-1)) T.reshape(a,[-1]) T.reshape(a,T.stack([1,a.size]),ndim=2) T.reshape(a,newshape=(-1,1)) a.dimshuffle(0) a.dimshuffle(1,0) a.dimshuffle('x',0) a.dimshuffle(0,'x',1) a.dimshuffle([1,0])
    a.dimshuffle(('x',0)) a.dimshuffle() a.dimshuffle('x') a.dimshuffle(0,0) a.dimshuffle(2,0,1) a.dimshuffle(-1) a.dimshuffle(1,'x') T.addbroadcast(a,0) T.addbroadcast(a,1) T.addbroadcast(a) T.unbroadcast(a,0)
    T.unbroadcast(a,0,1) T.patternbroadcast(a,(True,)) T.patternbroadcast(a,(False,)*a.ndim) T.Rebroadcast((0,True))(a) T.Rebroadcast((0,False),(1,False))(a) T.split(a,[1,2],2) T.split(a,[1,1,1],3)
    T.split(a,[2,1],n_splits=2,axis=1) T.split(a,[3,3],2) T.split(a,[1,2],3) T.split(a,T.constant([1,2]),2,axis=-1) T.Split(2)(a,0,[0,3]) T.topk(a,2) T.topk(a,1,axis=0) T.argtopk(a,2) T.argtopk(a,-1,axis=0)
    T.topk_and_argtopk(a,2) T.topk(a,-2) T.topk(a,kth=1,sorted=False) T.argtopk(a,1,idx_dtype='int32') T.topk(a,4) T.topk(a,0) T.alloc(a,3) T.alloc(a,3,3) T.alloc(a,2,3,3) T.alloc(a,1,3)
    T.cov(a) T.cov(a,rowvar=False) T.cov(a,bias=True) T.cov(a,ddof=0) T.cov(a,ddof=2) T.cov(a,fweights=[1,2,3]) T.cov(a,aweights=[.5,2,1]) T.bincount(a) T.bincount(abs(a),minlength=8) T.bincount(abs(a),assert_nonneg=True)
    T.extra_ops.to_one_hot(abs(a),9) T.extra_ops.to_one_hot(abs(a),9,dtype='int8') T.inverse_permutation(a) T.concatenate([a,a]) T.concatenate([a],axis=1) T.concatenate([a,a,a],axis=-1) T.join(0,a) T.join(1,a,a)
    T.join(T.constant(0),a,a) T.stack([a,a],axis=2) T.stack([a]) T.stack([a.sum(),1]) T.stack(a) T.stack([]) T.stacklists([[a]]) T.roll(a,1,axis=2) T.extra_ops.fill_diagonal(a,7) T.extra_ops.fill_diagonal_offset(a,7,-1)
    T.extra_ops.squeeze(a) T.extra_ops.cpu_contiguous(a) T.specify_shape(a,(3,3)) T.specify_shape(a,[3]) T.specify_shape(a,a.shape) T.specify_shape(a,(2,2)) T.opt.Assert()(a,True) T.opt.Assert('m')(a,T.eq(1,0))
    theano.gradient.grad_clip(a,-1,1) theano.gradient.disconnected_grad(a) theano.gradient.zero_grad(a) theano.gradient.consider_constant(a) theano.clone(a) T.eye(a.shape[0]) T.arange(a.shape[0]) T.nnet.softmax(a)
    T.nnet.logsoftmax(a) T.nnet.softmax_graph(a) T.grad(a.sum(),a) T.grad(T.sqr(a).sum(),a) T.grad(T.exp(a).sum(),[a]) T.grad(a.max(),a) T.grad(a.prod(),a) T.grad(T.sort(a).sum(),a) T.grad(a,a) T.grad(a.std(),a)
    T.grad(T.cumsum(a).sum(),a) T.grad(T.nnet.softmax(a)[0,0],a) T.grad(T.cast(a,'int32').sum(),a) T.grad(a.sum(),a,disconnected_inputs='ignore') T.grad(a.sum(),a,consider_constant=[a]) T.grad(T.abs_(a).sum(),a)
    T.grad(T.constant(1.),a) T.grad(T.constant(1.),a,disconnected_inputs='ignore') T.grad(T.constant(1.),a,disconnected_inputs='warn',return_disconnected='None') T.grad(a.sum(),a,known_grads={a:a*2})
    T.grad(None,a,known_grads={a:a*2}) T.hessian(T.sqr(a).sum(),a) T.jacobian(T.sqr(a),a) T.jacobian(a.sum(),a) T.Rop(T.sqr(a),a,a) T.Lop(T.sqr(a),a,a) T.Rop(a.sum(),a,a) T.fft.rfft(a) T.fft.rfft(a,norm='ortho')
    T.fft.irfft(T.fft.rfft(a),is_odd=True) T.fft.irfft(a) T.fft.rfft(a,norm='no_norm') T.fft.rfft(a,norm='x') theano.map(lambda r:r*2,[a])[0] theano.map(lambda r:r.sum(),a)[0] theano.reduce(lambda r,s:r+s,[a],T.zeros_like(a[0]))[0]
    theano.foldl(lambda r,s:r*s,a,T.ones_like(a[0]))[0] theano.foldr(lambda r,s:r-s,a,T.zeros_like(a[0]))[0] theano.scan(lambda r:r*2,sequences=[a])[0] theano.scan(lambda r:r+1,outputs_info=[a],n_steps=3)[0]
    theano.scan(lambda r,s:(r+s,r),sequences=a,outputs_info=[a[0]*0,None])[0] theano.scan(lambda r:r*2,sequences=a,go_backwards=True)[0] theano.scan(lambda r,q:r-q,sequences=[dict(input=a,taps=[-1,0])])[0]
    theano.scan(lambda s,t:s+t,outputs_info=[dict(initial=a,taps=[-2,-1])],n_steps=4)[0] theano.scan(lambda s:(s*.5,theano.scan_module.until(s.sum()<1)),outputs_info=[a],n_steps=9)[0] theano.scan(lambda r,k:r*k,sequences=a,non_sequences=[a[0]])[0]
    theano.scan(lambda r:r,sequences=a,n_steps=2)[0] theano.scan(lambda r:r,sequences=a,n_steps=9)[0] T.grad(theano.scan(lambda r,s:r*s,sequences=a,outputs_info=[T.ones_like(a[0])])[0][-1].sum(),a) theano.scan(lambda r:r*2,sequences=a,truncate_gradient=1)[0]
    theano.compile.ops.deep_copy_op(a) theano.compile.ops.view_op(a) theano.compile.ops.shape_i(a,0) T.extra_ops.bartlett(a) hash(a)==hash(a) a.get_parents() a.clone().ndim a.owner theano.tensor.var.TensorVariable""")[
    :-1
]


# -- indices --------------------------------------------------------------------------------------------------------------------

ENTRIES = words(
    "0 -1 : ... None 1: :1 ::-1 i i: :i [0] [1,0] v m mk [] np.array([0,1]) np.int8(1) True [True,False,True] T.constant(0) 5 si :True sc"
)
INDEXED = words("d d0 d1 d00 d01 d10 d000 d010 d0000 f00 $d00 =i00 ?0")
INDICES = sorted({
    *ENTRIES, *(",".join(pair) for pair in itertools.product(ENTRIES, repeat=2)),
    *(",".join(three) for three in itertools.product(words("0 : ... None ::-1 i v mk"), repeat=3)),
    *words("'x' 1.5 i*1. :1.5 :'x' () [[0,1],[1,0]] [[0,1],[1,0]],0 [i,0] [i] [[i,0]] a>0 ~(a>0) (a>0).nonzero() 2:0 -2: :-1 1:-1 -1:0:-1 :: :None slice(1) slice(0,2) np.newaxis 3: 10: -9: :-9 :9 ::2 ::-2 i:i+1 -i: T.constant(1): mk,mk v,v :,v,0 0,:,v m,v"),
})  # fmt: skip
WRITES = words(
    "0 -1 : ... 1: ::-1 i [0] [1,0] [0,0] v :,0 0,0 ...,0 :,::2 [0,1],[1,0] [0,1],0 :,[0,0] mk :,mk a>0 i:,v None,0 0,None 1,1:,0 m 5 'x'"
)
WRITTEN = [
    "T.%s_subtensor(a[%s],%s)" % each for each in itertools.product(("set", "inc"), WRITES, words("2 2.5 b 1j"))
]
WRITTEN += [
    "T.grad(T.%s_subtensor(a[%s],a.sum()).sum(),a)" % each for each in itertools.product(("set", "inc"), WRITES)
]
WRITTEN += ["T.grad(a[%s].sum(),a)" % each for each in WRITES]


# -- matrices, layers, images -----------------------------------------------------------------------------------------------------

SQUARES = words("d00 d01 d10 d11 f00 z00 c00 i00 ?00 e00 d02 d20 d000 d0 d $d00 =f00 #d00 ![[2,1],[1,3]]")
MATRICES = words("""T.nlinalg.det(a) T.nlinalg.matrix_inverse(a) T.nlinalg.pinv(a) T.nlinalg.MatrixPinv()(a) T.nlinalg.svd(a,compute_uv=False) T.nlinalg.svd(a,full_matrices=False)[1] abs(T.nlinalg.svd(a)[0])
    T.nlinalg.svd(a,0)[1] T.nlinalg.svd(a,0,0) T.nlinalg.qr(a,'r') abs(T.nlinalg.qr(a)[1]) T.nlinalg.qr(a,mode='complete')[0].ndim T.nlinalg.qr(a,mode='raw') T.nlinalg.eig(a)[0].sum() T.nlinalg.eigh(a+a.T)[0] T.nlinalg.eigh(a+a.T,UPLO='U')[0]
    abs(T.nlinalg.eigh(a+a.T)[1]) T.nlinalg.matrix_power(a,0) T.nlinalg.matrix_power(a,1) T.nlinalg.matrix_power(a,3) T.nlinalg.matrix_power(a,-1) T.nlinalg.matrix_power(a,1.5) T.nlinalg.matrix_dot(a,a,a) T.nlinalg.matrix_dot(a)
    T.nlinalg.tensorinv(a,1) T.nlinalg.tensorinv(a,ind=2) T.slinalg.cholesky(T.dot(a,a.T)+9*T.eye(3)) T.slinalg.Cholesky(lower=False)(T.dot(a,a.T)+9*T.eye(3)) T.slinalg.cholesky(a) T.slinalg.Cholesky(on_error='nan')(a)
    T.slinalg.expm(a/9) T.slinalg.Expm()(a/9) T.slinalg.eigvalsh(a+a.T,None) T.slinalg.eigvalsh(a+a.T,T.eye(3)) T.slinalg.eigvalsh(a+a.T,T.eye(3),lower=False) T.slinalg.kron(a,a) T.slinalg.kron(a,T.eye(2)) T.slinalg.solve(a,a)
    T.slinalg.solve(a,[1,2,3]) T.slinalg.solve_lower_triangular(a+9*T.eye(3),a) T.slinalg.solve_upper_triangular(a+9*T.eye(3),a[0]) T.slinalg.Solve('lower_triangular',lower=True)(a+9*T.eye(3),a)
    T.nlinalg.lstsq(a,a,.1) T.nlinalg.lstsq()(a,a[0],-1)[0] T.nlinalg.lstsq()(a,a,.1)[0] T.grad(T.nlinalg.det(a),a) T.grad(T.nlinalg.matrix_inverse(a).sum(),a) T.grad(T.nlinalg.pinv(a).sum(),a) T.grad(T.slinalg.solve(a,a).sum(),a)
    T.grad(T.slinalg.expm(a/9).sum(),a) T.grad(T.slinalg.cholesky(T.dot(a,a.T)+9*T.eye(3)).sum(),a) T.grad(T.nlinalg.eigh(a+a.T)[0].sum(),a) T.grad(T.nlinalg.qr(a)[1].sum(),a) T.grad(T.nlinalg.trace(a),a) T.grad(T.slinalg.kron(a,a).sum(),a)
    T.grad(T.nlinalg.matrix_power(a,2).sum(),a) T.blas.gemm_no_inplace(a,2.,a,a,.5) T.blas.ger(a,2.,a[0],a[1]) T.blas.gemv_no_inplace(a[0],1.,a,a[0],2.) T.blas._dot22(a,a) T.blas._dot22scalar(a,a,T.constant(2.)) T.blas.batched_dot(a,a)
    T.dot(a,a.T) T.signal.conv.conv2d(a,a) T.signal.conv.conv2d(a,a,border_mode='full') T.nnet.crossentropy_softmax_1hot(a,[0,1,2]) T.nnet.crossentropy_softmax_1hot_with_bias(a,a[0],[0,1,2]) T.nnet.categorical_crossentropy(T.nnet.softmax(a),[0,1,2])
    T.nnet.categorical_crossentropy(T.nnet.softmax(a),T.nnet.softmax(a)) T.nnet.crossentropy_softmax_max_and_argmax_1hot(a,[0,1,2]) T.nnet.crossentropy_softmax_max_and_argmax_1hot_with_bias(a,a[0],[0,1,2])
    T.nnet.crossentropy_softmax_argmax_1hot_with_bias(a,a[0],[0,1,2]) T.nnet.softmax_with_bias(a,a[0]) T.nnet.prepend_1_to_each_row(a) T.nnet.prepend_0_to_each_row(a) T.nnet.prepend_scalar_to_each_row(2.,a) T.nnet.softmax_grad(a,a)
    T.nnet.batch_normalization(a,1.,0.,a.mean(0),a.std(0)) T.nnet.batch_normalization(a,a[0],a[0],a[0],a[0],mode='high_mem') T.nnet.bn.batch_normalization_train(a,a[:1],a[:1]) T.nnet.bn.batch_normalization_train(a,a[:1]*0+1,a[:1],axes=(0,),epsilon=.1)
    T.nnet.bn.batch_normalization_train(a,T.ones((1,3)),T.zeros((1,3)),running_mean=T.zeros((1,3)),running_var=T.ones((1,3))) T.nnet.bn.batch_normalization_test(a,T.ones((1,3)),T.zeros((1,3)),T.zeros((1,3)),T.ones((1,3)))
    T.nnet.bn.batch_normalization_test(a,T.ones((1,3)),T.zeros((1,3)),T.zeros((1,3)),T.ones((1,3)),epsilon=.5) T.nnet.h_softmax(a,3,4,2,2,T.ones((3,2)),T.ones(2),T.ones((2,3,2)),T.ones((2,2))) T.nnet.h_softmax(a,3,4,2,2,T.ones((3,2)),T.ones(2),T.ones((2,3,2)),T.ones((2,2)),[0,1,2])
    T.grad(T.nnet.crossentropy_softmax_1hot(a,[0,1,2])[0].sum(),a) T.grad(T.nnet.softmax(a).max(),a) T.grad(T.log(T.nnet.softmax(a))[:,0].sum(),a) T.permute_row_elements(a,[2,0,1]) T.permute_row_elements(a,[2,0,1],inverse=1) T.extra_ops.fill_diagonal(a,3.)""")

#: Images, and filters of them.
IMAGES = words("d0055 d1055 d0155 d1155 f0055 d0015 d0051 d055 d055055 e0055 i0055 z0055 d2344 $d1055 =d0055")
IMAGE_CALLS = [
    *("T.signal.pool.pool_%s" % rest for rest in words("""2d(a,(2,2)) 2d(a,(2,2),ignore_border=True) 2d(a,(2,2),ignore_border=False) 2d(a,(2,3),True) 2d(a,ws=(2,2),ignore_border=True,stride=(1,1)) 2d(a,(2,2),True,(1,2),(1,1))
    2d(a,(2,2),ignore_border=True,pad=(1,0)) 2d(a,(2,2),ignore_border=True,mode='sum') 2d(a,(2,2),ignore_border=True,mode='average_inc_pad') 2d(a,(2,2),ignore_border=True,mode='average_exc_pad',pad=(1,1)) 2d(a,(2,2),ignore_border=False,mode='sum')
    2d(a,ds=(2,2),ignore_border=True) 2d(a,(2,2),ignore_border=True,st=(1,1)) 2d(a,(2,2),ignore_border=True,padding=(1,1)) 2d(a,2,ignore_border=True) 2d(a,(2,2),ignore_border=True,mode='x') 2d(a,(9,9),ignore_border=True) 2d(a,[2,2],ignore_border=True)
    2d(a,(2,2),ignore_border=True,pad=(2,2)) 2d(a,np.array([2,2]),ignore_border=True) 2d(a,T.constant([2,2]),ignore_border=True) 3d(a,(2,2,2),ignore_border=True) 3d(a,(1,2,2),ignore_border=False) 3d(a,(1,2,2),ignore_border=True,stride=(1,1,1),mode='average_exc_pad',pad=(0,1,1))""")),
    *words("""T.signal.pool.max_pool_2d_same_size(a,(2,2)) T.grad(T.signal.pool.pool_2d(a,(2,2),ignore_border=True).sum(),a) T.grad(T.signal.pool.pool_2d(a,(2,2),ignore_border=True,mode='average_inc_pad').sum(),a)
    T.nnet.neighbours.images2neibs(a,(2,2)) T.nnet.neighbours.images2neibs(a,(2,2),neib_step=(1,1)) T.nnet.neighbours.images2neibs(a,(2,2),mode='ignore_borders') T.nnet.neighbours.images2neibs(a,(3,3),(1,1),'wrap_centered') T.nnet.neighbours.images2neibs(a,(3,3),(1,1),mode='half')
    T.nnet.neighbours.images2neibs(a,(3,3),(1,1),mode='full') T.nnet.neighbours.neibs2images(T.nnet.neighbours.images2neibs(a,(1,5)),(1,5),a.shape) T.nnet.abstract_conv.bilinear_upsampling(a,2) T.nnet.abstract_conv.bilinear_upsampling(a,ratio=3,use_1D_kernel=False)
    T.nnet.abstract_conv.frac_bilinear_upsampling(a,(3,2)) T.nnet.abstract_conv.frac_bilinear_upsampling(a,((3,2),(2,1))) T.nnet.abstract_conv.causal_conv1d(a[0],a[0,:,:,:3],(2,3,5),(2,3,3)) T.nnet.bn.batch_normalization_train(a,T.ones((1,3,1,1)),T.zeros((1,3,1,1)),axes='spatial')
    T.nnet.bn.batch_normalization_test(a,T.ones((1,3,1,1)),T.zeros((1,3,1,1)),T.zeros((1,3,1,1)),T.ones((1,3,1,1)),axes='spatial') T.nnet.bn.batch_normalization_train(a,T.ones((1,3,5,5)),T.zeros((1,3,5,5)),'per-activation')"""),
]  # fmt: skip
CONVOLVED = [
    "d0055 d2033", "d0055 d1033", "d0155 d2133", "d1155 d1111", "f0055 f2033", "f0055 d2033", "d0055 f2033", "d0055 d2023", "d0055 d2022", "e0055 e2033",
    "i0055 d2033", "i0055 i2033", "z0055 z2033", "d055 d033", "d0055 $d2033", "$f0055 =f2033", "d0000 d0000", "d0055 d2233", "#d0055 d2033", "d0044 d2034"]  # fmt: skip
CONVOLUTIONS = [
    *("T.nnet.conv2d(a,b%s)" % rest for rest in words(""" ,border_mode='full' ,border_mode='half' ,border_mode=1 ,border_mode=(1,2) ,border_mode=((1,2),(0,1)) ,border_mode='x' ,subsample=(2,2) ,subsample=(1,2) ,filter_flip=False ,filter_dilation=(2,2) ,border_mode='valid',subsample=(2,1),filter_flip=False
    ,input_shape=(3,3,5,5) ,filter_shape=(2,3,3,3) ,input_shape=(3,3,5,5),filter_shape=(2,3,3,3) ,image_shape=(3,3,5,5) ,input_shape=(None,3,None,5) ,(3,3,5,5),(2,3,3,3),'full' ,input_shape=(1,3,5,5) ,num_groups=1 ,num_groups=3 ,num_groups=2 ,unshared=False ,subsample=2 ,subsample=(0,1) ,subsample=[1,1] ,x=1""")),
    "T.nnet.conv2d(a,b)",
    *words("""T.nnet.conv.conv2d(a,b) T.nnet.conv.conv2d(a,b,border_mode='full') T.nnet.conv.conv2d(a,b,subsample=(2,2)) T.nnet.abstract_conv2d(a,b,border_mode='half') T.nnet.abstract_conv.conv2d(a,b) T.nnet.conv2d_transpose(a[:,:2],b,(3,3,7,7)) T.nnet.conv2d_transpose(a[:,:2],b,(None,3,7,7))
    T.nnet.conv2d_transpose(a[:,:2],b,output_shape=(3,3,5,5),border_mode='half') T.nnet.conv2d_transpose(a[:,:2],b,(3,3,11,11),input_dilation=(2,2)) T.nnet.conv2d_grad_wrt_inputs(a[:,:2],b,(3,3,7,7)) T.nnet.conv2d_grad_wrt_inputs(a[:,:2],b,(3,3,9,9),subsample=(1,1),filter_flip=False,border_mode=1)
    T.nnet.abstract_conv.conv2d_grad_wrt_weights(a,a[:,:2,:3,:3],(2,3,3,3)) T.nnet.abstract_conv.conv2d_grad_wrt_weights(a,a[:,:2,:3,:3],(2,3,3,3),filter_flip=False) T.nnet.separable_conv2d(a,b[:,:1],a[:,:2,:1,:1],2) T.nnet.separable_conv2d(a,T.ones((6,1,3,3)),T.ones((4,6,1,1)),3) T.nnet.conv2d(a,b).sum(axis=(0,2,3))
    T.grad(T.sqr(T.nnet.conv2d(a,b)).sum(),a) T.grad(T.sqr(T.nnet.conv2d(a,b,subsample=(2,2))).sum(),b) T.grad(T.nnet.conv2d(a,b,border_mode='half').sum(),[a,b]) T.nnet.conv3d(a.dimshuffle(0,'x',1,2,3),b.dimshuffle(0,'x',1,2,3)) T.nnet.conv3d(a.dimshuffle(0,'x',1,2,3),b.dimshuffle(0,'x',1,2,3),border_mode='half')
    T.nnet.conv3d(a.dimshuffle(0,'x',1,2,3),b.dimshuffle(0,'x',1,2,3),subsample=(1,2,2),filter_flip=False) T.nnet.conv3d2d.conv3d(a.dimshuffle(0,1,'x',2,3),b.dimshuffle(0,1,'x',2,3)) T.signal.conv.conv2d(a[0],b[0,0]) T.signal.conv.conv2d(a[0,0],b[:,0]) T.nnet.abstract_conv.AbstractConv2d()(a,b) T.nnet.abstract_conv.AbstractConv2d(border_mode='half')(a,b)"""),
]  # fmt: skip


# -- without operands ---------------------------------------------------------------------------------------------------------------

COUNTS = words("1 0 3 -1 2.5 n np.int8(2) T.constant(2) True '2' None np.array(2) [2] n*1.")
ALONE = [
    *("T.%s(%s)" % pair for pair in itertools.product(words("arange eye tri zeros ones bartlett identity_like"), COUNTS)),
    *("T.%s(%s,%s)" % three for three in itertools.product(words("arange eye tri"), COUNTS[:8], COUNTS[:6])),
    *("T.%s(%s,%s,%s)" % four for four in itertools.product(words("arange eye tri"), COUNTS[:6], words("3 n 2.5"), words("1 -1 2 0 n"))),
    *("T.arange(%s,dtype=%r)" % pair for pair in itertools.product(("3", "0,3", "n", "1,5,2", "2.5"), LETTERS.values())),
    *("T.%s(%s,dtype=%r)" % three for three in itertools.product(("zeros", "ones"), ("()", "3", "(2,3)", "[n,2]", "(n,)", "(2.,)"), [*LETTERS.values(), "x"])),
    *("T.eye(3,dtype=%r)" % name for name in LETTERS.values()), *("T.tri(3,dtype=%r)" % name for name in LETTERS.values()),
    *("T.alloc(%s,%s)" % pair for pair in itertools.product(("1", "1.5", "[1,2]", "np.ones((1,2))", "True"), ("3", "2,2", "1", "n", "n,1", "1,2", "2.5", "n,n,2", ""))),
    *("T.mgrid[%s]" % text for text in ("0:3", "0:3,1:3", "0:n,0:2", "0:1:3j", "0:2:0.5", "0:3:2,0:4:2", "5")), *("T.ogrid[%s]" % text for text in ("0:3", "0:3,1:3", "0:n,0:2", "0:1:3j", "0:2:0.5")),
    *("T.unravel_index(%s%s)" % pair for pair in itertools.product(("3", "[3]", "[1,4]", "n", "np.array([[1,2]])", "2.5"), (",(2,3)", ",(2,3),order='F'", ",(2,3),ndim=2", ",[n,3],ndim=2", ",dims=(6,)", ",(2,3),order='x'"))),
    *("T.ravel_multi_index(%s%s)" % pair for pair in itertools.product(("([1],[0])", "(1,2)", "(n,n)", "np.array([[1],[2]])", "([5],[1])"), (",(2,3)", ",(3,3),mode='wrap'", ",(2,3),mode='clip'", ",(2,3),order='F'", ",(2,3),mode='x'"))),
    *("T.constant(%s%s)" % pair for pair in itertools.product(words("1 1.5 True 1j [1,2] [[1.]] np.float32(1) np.ones((1,2)) () 'x' None 300 70000 5000000000 -1 2**63 2**64 [True] [1,2.5] np.array([1],'int8') np.ones((1,0)) T.constant(2)"), ("", ",dtype='float32'", ",ndim=2", ",name='x'", ",dtype='int8'"))),
    *("T.as_tensor_variable(%s)" % text for text in words("1 1.5 True 1j [1,2] [[1.]] np.float32(1) () 'x' None 300 [n,1] [n,1.5] [[n,1],[2,3]] (n,) [[]] [v] [v,v] [v,[1,2,3]] [1,None] {} v.owner lambda:1 np.array(['x']) range(3) 2**64 np.bool_(True) np.array(None)")),
    *("theano.shared(%s)" % text for text in words("1 1.5 True [1,2] np.float32(1) 'x' None np.ones((1,2)) {} 1j np.int8(3) np.array(2) np.random.RandomState(1) v lambda:1")),
    *("T.%s('x').type" % name for name in words("scalar vector row col matrix tensor3 tensor4 tensor5 tensor6 tensor7")),
    *("T.%s%s('x').type" % pair for pair in itertools.product("bwilfdcz", words("scalar vector row col matrix tensor3 tensor4 tensor5"))),
    *("T.%s('x',dtype=%r).type" % pair for pair in itertools.product(("scalar", "matrix", "col", "tensor3"), ("int8", "float32", "x", "floatX", "bool"))),
    *("T.%s" % text for text in words("scalars(2) vectors('a','b') dmatrices('ab') matrices(0) fvectors(3) TensorType('float64',(True,False))() TensorType('x',()) TensorType('float64',[1,0])('x') TensorType('floatX',())() tensor(dtype='int8',broadcastable=(True,)) tensor('float32',(False,False))")),
]  # fmt: skip
STREAMS = [
    "%s(%s).%s" % three for three in itertools.product(("MRG", "RS"), ("1", "234", "seed=7"), words("""uniform() uniform(size=(2,3)) uniform(size=(3,),low=-1,high=2) uniform((2,),0.,5.) uniform(size=(2,),dtype='float32') uniform(size=(n,2)) uniform(size=[2,1]) uniform(size=()) normal(size=(4,)) normal(size=(3,),avg=1.,std=2.) normal(size=(2,2),dtype='float32') normal((n,))
    normal(size=(7,)) binomial(size=(5,),p=.3) binomial(size=(3,),n=1,p=.5) binomial(size=(2,),n=5,p=.5) binomial(size=(3,),p=.5,dtype='float32') multinomial(pvals=[[.2,.8],[.5,.5]]) multinomial(size=(2,),n=1,pvals=[.3,.7]) multinomial(n=3,pvals=[[.2,.8]]) multinomial(pvals=T.ones((2,2))/2) choice(size=(3,),a=4) choice(size=(2,),a=4,replace=False)
    choice(size=(3,),a=4,p=[.1,.2,.3,.4]) random_integers(size=(3,),low=0,high=9) random_integers((2,),1,6) permutation(size=(1,),n=4) permutation(n=3) shuffle_row_elements(T.arange(6).reshape((2,3))) uniform(size=(2,3),ndim=2) uniform(size=v,ndim=1) uniform(low=[0,1],high=[1,2]) normal(avg=[0,10.],std=1) uniform(size=(-1,)) uniform(size=2.5)
    uniform(size='x') normal(size=(2,),ndim=1) truncated_normal(size=(4,)) poisson(size=(3,),lam=2.) uniform(size=(4000,)).mean() multinomial_wo_replacement(pvals=[[.2,.3,.5]],n=2)"""))
]  # fmt: skip


# -- chains -----------------------------------------------------------------------------------------------------------------------------

LINKS = words("""%s.sum(axis=0) %s.mean(axis=-1,keepdims=True) %s.max(axis=1) %s.T %s.dimshuffle('x',0) %s.dimshuffle(0,'x') %s[0] %s[:1] %s[::-1] %s[:,None] %s[None] %s[-1:] %s[[0,1]] %s.reshape((1,-1)) %s.reshape((-1,)) %s.flatten(2) T.exp(%s) T.sqrt(abs(%s)) -%s %s+1 %s*2.5 %s/2 %s//2 %s>0 %s**2
    T.cast(%s,'float32') T.cast(%s,'int8') T.repeat(%s,2) T.tile(%s,(2,1)) T.concatenate([%s,%s]) T.stack([%s,%s],axis=1) T.sort(%s) T.argmax(%s,axis=0) T.cumsum(%s,0) T.nnet.softmax(%s) T.nnet.relu(%s) T.nnet.sigmoid(%s) T.dot(%s,%s.T) T.outer(%s,%s) T.set_subtensor(%s[0],1) T.switch(%s>0,%s,0) T.roll(%s,1,0) T.clip(%s,-1,1)
    T.diag(%s) T.tril(%s) %s.std(0) T.zeros_like(%s) T.shape_padleft(%s) T.addbroadcast(%s,0) T.unbroadcast(%s,0) %s.squeeze() T.max_and_argmax(%s,0)[1] T.grad(%s.sum(),a) theano.map(lambda r:r*2,%s)[0] T.alloc(%s,2,3,3) %s.norm(2) %s.shape %s.size T.isnan(%s) T.eq(%s,1) %s.nonzero()[0] %s[%s>0] %s.swapaxes(0,1) T.split(%s,[1,2],2)[1]""")
LINKED = words("d0 d00 d01 f00 i10 d000 b0 ?00")


def chains(length, count, seed):
    """Yield texts of calls of calls, drawn by chance."""
    rng = random.Random(seed)
    found = set()
    while len(found) < count:
        text = "a"
        for _ in range(length):
            link = LINKS[int(rng.random() * len(LINKS))]
            text = link.replace("%s", "(%s)" % text if text[0] == "-" or text[-1].isdigit() else text)
        if len(text) < 120:
            found.add(text)
    return sorted(found)


def programs():
    """Yield small programs: functions with updates, givens, defaults, loops, choices, graphs as ops, pickles, modes."""
    from conformance.programs import PROGRAMS

    return [line for line in PROGRAMS if line]


def calls():
    """Return the groups: what they are of, their texts, and operands."""
    return [
        ("functions of elements", ["T.%s(a)" % name for name in UNARY], ONE),
        ("methods", ["a.%s()" % name for name in METHODS] + PROPERTIES, FEW),
        ("keywords", KEYWORDS + CASTS, FEW),
        ("functions of two", BINARY, PAIRS),
        ("rarer functions of two", RARER, RARER_PAIRS),
        ("reductions", REDUCING, MANY),
        ("axes and shapes", ALONG, FEW + words("d00 f01 d000 d0101 i00 z00 d1 d11 d20 l0 ?11")),
        ("indices", ["a[%s]" % index for index in INDICES], INDEXED),
        ("writes", WRITTEN, ["d0 d", "d00 d", "d00 d0", "d01 d000", "f00 d0", "i0 f", "i00 i000", "$d000 d"]),
        ("matrices", MATRICES, SQUARES),
        ("images", IMAGE_CALLS, IMAGES),
        ("convolutions", CONVOLUTIONS, CONVOLVED),
        ("without operands", ALONE + STREAMS, [""]),
        ("chains of two", chains(2, 500, 2), LINKED),
        ("chains of three", chains(3, 500, 3), LINKED),
        ("programs", programs(), [""]),
        *patterns.calls(),
        *sparse.calls(),
    ]  # fmt: skip
