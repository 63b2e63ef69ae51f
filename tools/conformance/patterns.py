"""Calls whose broadcast pattern is told by their operands': a length of 1 here or there, and indices with None."""

import itertools
import random

from conformance.words import UP_TO_3, UP_TO_4, words

PATTERNS = ["d" + pattern for pattern in UP_TO_4]
FEW = ("", "0", "1", "00", "01", "10", "11")
OF_4 = ["d" + "".join(digits) for digits in itertools.product("01", repeat=4)]

ONE = words("""-a 2-a T.AllocDiag()(a) T.ExtractDiag()(a) T.Lop(T.sqr(a),a,a) T.Rebroadcast((0,True))(a) T.Rop(T.sqr(a),a,a) T.Split(2)(a,0,[1,1]) T.addbroadcast(a,0) T.all(a,axis=-1,keepdims=True)
    T.alloc(0.,a.shape[0],1) T.alloc(a,*[a.shape[i] for i in range(a.ndim)]) T.alloc(a,3,*[a.shape[i] for i in range(a.ndim)]) T.any(a,axis=-1,keepdims=True) T.arange(a.shape[0])
    T.argmax(a,axis=-1,keepdims=True) T.argmin(a,axis=-1,keepdims=True) T.argsort(a) T.argsort(a,axis=0) T.argsort(a,axis=None) T.as_tensor_variable([a.sum(),1]) T.as_tensor_variable([a.sum()])
    T.as_tensor_variable([a]) T.as_tensor_variable(a,ndim=1) T.as_tensor_variable(a,ndim=3) T.bartlett(3) T.basic.argmax(a) T.basic.argmax(a,axis=-1) T.basic.argmax(a,axis=-1,keepdims=True)
    T.basic.argmax(a,axis=0) T.basic.argmax(a,axis=0,keepdims=True) T.basic.argmax(a,axis=1) T.basic.argmax(a,axis=[0,1]) T.basic.argmax(a,keepdims=True) T.cast(a,'int32') T.clip(a,0,1) T.concatenate([a])
    T.cumprod(a) T.cumprod(a,axis=-1) T.cumsum(a) T.cumsum(a,0) T.cumsum(a,1) T.diag(a) T.diagonal(a) T.extra_ops.Unique()(a) T.extra_ops.Unique(True,True,True)(a) T.extra_ops.diff(a,1,0)
    T.extra_ops.fill_diagonal(a,1.) T.extra_ops.fill_diagonal_offset(a,1.,1) T.extra_ops.squeeze(a) T.fft.irfft(a) T.fft.rfft(a) T.fft.rfft(a,norm='ortho') T.fill(a,1) T.fill(a,a.sum()) T.flatten(a,3)
    T.grad(T.exp(a)[(0,)*a.ndim],a) T.grad(T.sqr(a).sum(),a) T.inverse_permutation(a) T.join(0,a) T.join(0,a,a) T.join(1,a,a) T.max(a,axis=-1,keepdims=True) T.max_and_argmax(a,axis=-1,keepdims=True)
    T.mean(a,axis=-1,keepdims=True) T.min(a,axis=-1,keepdims=True) T.nlinalg.alloc_diag(a) T.nlinalg.diag(a) T.nlinalg.extract_diag(a) T.nlinalg.trace(a) T.nnet.logsoftmax(a) T.nnet.relu(a,0.1)
    T.nnet.softmax(a) T.ones((a.shape[0],1)) T.opt.Assert()(a,T.eq(a.ndim,a.ndim)) T.opt.MakeVector('float64')(a.sum()) T.opt.MakeVector('float64')(a.sum(),a.sum()) T.patternbroadcast(a,(False,)*a.ndim)
    T.patternbroadcast(a,(True,)*a.ndim) T.prod(a,axis=-1,keepdims=True) T.repeat(a,1) T.repeat(a,1,axis=0) T.repeat(a,2) T.repeat(a,2,axis=-1) T.repeat(a,2,axis=0) T.repeat(a,T.iscalar(),axis=0)
    T.reshape(a,T.ivector(),ndim=2) T.roll(a,1) T.roll(a,1,axis=0) T.shape_padaxis(a,1) T.shape_padleft(a) T.shape_padleft(a,2) T.shape_padright(a) T.sort(a) T.sort(a,axis=0) T.sort(a,axis=None)
    T.split(a,[1,1],2,axis=-1) T.split(a,[1,2],2) T.squeeze(a) T.stack([a.sum()]) T.stack([a]) T.stack([a],axis=-1) T.stacklists([[a]]) T.stacklists([a]) T.std(a,axis=-1,keepdims=True)
    T.sum(a,axis=-1,keepdims=True) T.swapaxes(a,0,1) T.tile(a,(1,1)) T.tile(a,(1,1,1)) T.tile(a,(1,2),ndim=2) T.tile(a,(2,1)) T.tile(a,2) T.tile(a,T.iscalar(),ndim=2) T.transpose(a) T.tril(a) T.triu(a)
    T.unbroadcast(a,0) T.var(a,axis=-1,keepdims=True) T.zeros(a.shape) a%2 a**2 a*np.ones((1,1)) a+1 a+np.ones((1,3)) a+np.ones((3,1)) a+np.ones(1) a.T a.astype('float32') a.copy() a.diagonal()
    a.dimshuffle('x',*range(a.ndim)) a.dimshuffle(*range(a.ndim)[::-1]) a.flatten() a.flatten(2) a.imag a.mean(0) a.nonzero() a.nonzero(True) a.nonzero_values() a.ravel() a.reshape((-1,))
    a.reshape((-1,1)) a.reshape((1,)) a.reshape((1,-1)) a.reshape((1,1)) a.reshape((2,3)) a.reshape((T.constant(1),2)) a.reshape((T.iscalar(),1)) a.reshape((a.shape[0],-1))
    a.reshape((a.shape[0],a.shape[1])) a.reshape((a.size,1)) a.reshape([1]) a.reshape(a.shape) a.reshape(np.array([1,3])) a.shape a.shape[0:2] a.shape[0] a.shape[1:] a.shape[:1] a.size a.std() a.sum()
    a.trace() a//2 a/2 a>1 a[a.nonzero()] abs(a) theano.clone(a) theano.compile.ops.deep_copy_op(a) theano.compile.ops.specify_shape(a,a.shape) theano.compile.ops.view_op(a)
    theano.gradient.disconnected_grad(a) theano.gradient.grad_clip(a,-1,1) theano.gradient.hessian(T.sqr(a).sum(),a) theano.gradient.jacobian(T.sqr(a),a) theano.gradient.zero_grad(a)
    theano.map(lambda r:r*2,[a])[0] theano.map(lambda r:r.sum(),[a])[0] theano.reduce(lambda r,s:r+s,[a],T.zeros_like(a[0]))[0] theano.scan(lambda r:r*2,sequences=[a])[0]
    theano.scan(lambda r:r+1,sequences=None,outputs_info=[a],n_steps=3)[0] theano.tensor.extra_ops.cpu_contiguous(a)""")

TWO = words("""T.allclose(a,b) T.and_(a>0,b>0) T.arctan2(a,b) T.as_tensor_variable([a,b]) T.basic.mod(a,b) T.batched_dot(a,b) T.batched_tensordot(a,b,1) T.choose(a,b) T.choose(a.astype('int32'),b) T.clip(a,b,2)
    T.concatenate([a,b]) T.concatenate([a,b],axis=1) T.dot(a,b) T.eq(a,b) T.extra_ops.compress(a,b) T.fill(a,b) T.grad((a*b).sum(),[a,b]) T.grad((a+b).sum(),[a,b]) T.grad(T.switch(a>0,a,b).sum(),[a,b])
    T.horizontal_stack(a,b) T.inc_subtensor(a[0:2],b) T.isclose(a,b) T.join(-1,a,b) T.join(0,a,b) T.join(T.iscalar(),a,b) T.lt(a,b) T.maximum(a,b) T.mean(a*b,axis=0) T.minimum(a,b) T.nlinalg.eigh(a)
    T.nlinalg.matrix_dot(a,b) T.nlinalg.norm(a,2) T.nlinalg.tensorsolve(a,b) T.nnet.binary_crossentropy(a,b) T.nnet.categorical_crossentropy(a,b) T.nnet.sigmoid_binary_crossentropy(a,b)
    T.nnet.softmax_with_bias(a,b) T.outer(a,b) T.pow(a,b) T.set_subtensor(a[0:1],b) T.set_subtensor(a[0],b) T.set_subtensor(a[:],b) T.set_subtensor(a[[0]],b) T.slinalg.Solve()(a,b)
    T.slinalg.Solve(A_structure='upper_triangular')(a,b) T.slinalg.eigvalsh(a,b) T.slinalg.solve(a,b) T.slinalg.solve_lower_triangular(a,b) T.slinalg.solve_upper_triangular(a,b) T.stack([a,b])
    T.stack([a,b],axis=-1) T.stack([a,b],axis=1) T.stack(a,b) T.stacklists([[a,b],[b,a]]) T.stacklists([a,b]) T.switch(a>0,a,b) T.switch(b>0,a,a) T.tensordot(a,b,0) T.tensordot(a,b,1)
    T.tensordot(a,b,[[-1],[0]]) T.tensordot(a,b,[[0],[0]]) T.true_div(a,b) T.unbroadcast(a*b,0) T.vertical_stack(a,b) a%b a*b a+b a-b a.dot(b) a.take(b.astype('int64')) a.take(b.astype('int64'),axis=0)
    a.take(b.astype('int64'),axis=1) a//b a/b a[:,b.astype('int64')] a[b.astype('bool')] a[b.astype('int64'),0] a[b.astype('int64')] theano.ifelse.ifelse(T.iscalar(),a,a)
    theano.ifelse.ifelse(T.iscalar(),a,b)""")

COUNTED = words("""T.alloc(a,b[0],3) T.arange(b.shape[0]) T.bincount(b) T.bincount(b,minlength=1) T.choose(b,[a[0],a[0]]) T.extra_ops.ravel_multi_index((b,b),(2,3)) T.extra_ops.to_one_hot(b,3)
    T.extra_ops.unravel_index(b,(2,3)) T.eye(b[0]) T.inc_subtensor(a[:,b],1) T.nnet.confusion_matrix(b,b) T.nnet.crossentropy_categorical_1hot(a,b) T.nnet.crossentropy_softmax_1hot(a,b)
    T.nnet.crossentropy_softmax_argmax_1hot_with_bias(a,a[0],b) T.nnet.crossentropy_softmax_max_and_argmax_1hot(a,b) T.nnet.prepend_1_to_each_row(a) T.nnet.prepend_scalar_to_each_row(b.sum(),a)
    T.ones(b.shape) T.permute_row_elements(a,b) T.repeat(a,b) T.repeat(a,b,axis=0) T.set_subtensor(a[b],1) T.split(a,b,2) T.split(a,b,2,axis=1) T.tile(a,b,ndim=2) T.zeros(b,) a.reshape(b,ndim=1)
    a.reshape(b,ndim=2) a[:,b] a[T.arange(b.shape[0]),b] a[b,1:] a[b,b] a[b]""")

SQUARE = words("""T.blas.BatchedDot()(a.dimshuffle('x',0,1),a.dimshuffle('x',0,1)) T.blas.gemm_no_inplace(a,1.,a,a,1.) T.blas.gemv_no_inplace(a[0],1.,a,a[0],1.) T.blas.ger(a,1.,a[0],a[1])
    T.grad(T.slinalg.cholesky(a).sum(),a) T.nlinalg.eig(a) T.nlinalg.matrix_dot(a,a) T.nlinalg.matrix_power(a,2) T.nlinalg.norm(a,'fro') T.nlinalg.qr(a) T.nlinalg.qr(a,mode='complete') T.nlinalg.svd(a)
    T.nlinalg.svd(a,full_matrices=False) T.nlinalg.tensorinv(a) T.nnet.bn.batch_normalization(a,a[0],a[0],a[0],a[0]) T.nnet.bn.batch_normalization_test(a,T.drow(),T.drow(),T.drow(),T.drow())
    T.nnet.bn.batch_normalization_train(a,T.drow(),T.drow()) T.nnet.confusion_matrix(a[0],a[0]) T.nnet.neighbours.images2neibs(a,(2,2)) T.nnet.neighbours.images2neibs(a.dimshuffle('x','x',0,1),(2,2))
    T.nnet.neighbours.neibs2images(a,(2,2),(1,1,4,4)) T.nnet.nnet.softmax_grad(a,a) T.signal.pool.pool_2d(a,(2,2),ignore_border=True) T.slinalg.Cholesky(lower=False)(a) T.slinalg.Eigvalsh()(a,a)
    T.slinalg.Expm()(a) T.slinalg.ExpmGrad()(a,a) T.slinalg.eigvalsh(a,a) T.slinalg.expm(a)""")

FILTERED = words("""T.grad(T.nnet.conv2d(a,b).sum(),[a,b]) T.nnet.abstract_conv.conv2d_grad_wrt_inputs(a,b,(2,3,5,5)) T.nnet.abstract_conv.conv2d_grad_wrt_inputs(a,b,(None,None,5,5))
    T.nnet.abstract_conv.conv2d_grad_wrt_weights(a,b,(2,3,3,3)) T.nnet.abstract_conv.separable_conv2d(a,b,b,1) T.nnet.conv.conv2d(a,b) T.nnet.conv2d(a,b) T.nnet.conv2d(a,b,border_mode='half')
    T.nnet.conv2d(a,b,input_shape=(1,1,5,5),filter_shape=(1,1,3,3)) T.nnet.conv2d(a,b,input_shape=(2,3,5,5),filter_shape=(1,3,5,5)) T.nnet.conv2d_transpose(a,b,(1,1,1,1))
    T.nnet.conv2d_transpose(a,b,(2,3,5,5)) T.nnet.corr.CorrMM()(a,b) T.nnet.corr.CorrMM_gradInputs()(b,a)
    theano.tensor.nnet.blocksparse.sparse_block_dot(T.dtensor4(),a[0],T.imatrix(),T.dmatrix(),T.imatrix())""")

FILTERED_3D = words("""T.nnet.abstract_conv.conv3d(a,b) T.nnet.conv3d(a,b) T.nnet.conv3d(a,b,border_mode='full') T.nnet.conv3d2d.conv3d(a,b) T.nnet.corr3d.Corr3dMM()(a,b) T.signal.pool.pool_3d(a,(2,2,2),ignore_border=True)""")

IMAGES = words("""T.grad(T.signal.pool.pool_2d(a,(2,2),ignore_border=True).sum(),a) T.nnet.abstract_conv.bilinear_upsampling(a,2) T.nnet.abstract_conv.bilinear_upsampling(a,2,use_1D_kernel=False)
    T.nnet.abstract_conv.frac_bilinear_upsampling(a,(3,2))
    T.nnet.bn.batch_normalization_test(a,T.TensorType('float64',(1,0,1,1))(),T.TensorType('float64',(1,0,1,1))(),T.TensorType('float64',(1,0,1,1))(),T.TensorType('float64',(1,0,1,1))(),axes='spatial')
    T.nnet.bn.batch_normalization_train(a,T.TensorType('float64',(1,0,0,0))(),T.TensorType('float64',(1,0,0,0))())
    T.nnet.bn.batch_normalization_train(a,T.TensorType('float64',(1,0,1,1))(),T.TensorType('float64',(1,0,1,1))(),axes='spatial') T.signal.pool.Pool(True)(a,(2,2))
    T.signal.pool.max_pool_2d_same_size(a,(2,2)) T.signal.pool.pool_2d(a,(1,1),ignore_border=True) T.signal.pool.pool_2d(a,(2,2),ignore_border=False,mode='average_inc_pad')
    T.signal.pool.pool_3d(a,(1,2,2),ignore_border=True)""")

ALONE = words("""T.AllocEmpty('float32')(1,1).broadcastable T.AllocEmpty('float32')(1,a).broadcastable T.AllocEmpty('int64')(a).broadcastable T.alloc(1.,1) T.alloc(1.,1,a) T.alloc(1.,T.constant(1),a*1) T.alloc(1.,T.constant(2)-1) T.alloc(1.,a,1)
    T.alloc(1.,np.int64(1)) T.alloc(T.dcol(),2,a,a) T.alloc(T.drow(),1,3) T.alloc(T.drow(),a,3) T.alloc(T.dvector(),1,a) T.alloc(np.ones((1,1)),1,a) T.alloc(np.ones((2,1)),2,a) T.alloc(np.ones(1),a)
    T.arange(0) T.arange(0,1) T.arange(0,5,5) T.arange(0,a) T.arange(0.,1.) T.arange(1) T.arange(2,3) T.arange(3) T.arange(a) T.as_tensor_variable((a,)) T.as_tensor_variable(T.dvector().shape)
    T.as_tensor_variable([1]) T.as_tensor_variable([T.dvector()]) T.as_tensor_variable([[1,2]]) T.as_tensor_variable([]) T.as_tensor_variable([a,1]) T.as_tensor_variable(np.ones((1,1,2))) T.bartlett(1)
    T.bartlett(a) T.choose(T.TensorType('int64',(1,))(),[T.dvector(),T.dvector()]) T.choose(T.lvector(),[T.TensorType('float64',(1,))(),T.TensorType('float64',(1,))()]) T.concatenate([T.dcol(),T.dcol()])
    T.concatenate([T.dcol(),T.dmatrix()],axis=0) T.concatenate([T.dcol()],axis=1) T.concatenate([T.drow(),T.dmatrix()],axis=1) T.concatenate([T.drow(),T.drow()],axis=1) T.concatenate([T.drow()],axis=0)
    T.concatenate([T.dvector().shape,T.dvector().shape]) T.concatenate([[1],[a]]) T.concatenate([[a]]) T.constant(1) T.constant([1]) T.constant([[1.,2.]]) T.constant([[1]]) T.constant(np.ones((1,0)))
    T.dmatrix().shape[1:] T.dmatrix().shape[:1] T.dmatrix().shape[[0]] T.dvector().shape T.dvector().shape*2 T.dvector().shape[:1] T.extra_ops.ravel_multi_index(([1],[0]),(2,3))
    T.extra_ops.to_one_hot(T.ivector(),1) T.extra_ops.unravel_index(3,(2,3)) T.extra_ops.unravel_index([3],(2,3)) T.eye(1) T.eye(1,1,1) T.eye(1,3) T.eye(1,a) T.eye(3) T.eye(3,1) T.eye(a) T.eye(a,1)
    T.eye(a,a) T.join(T.constant(0),T.drow(),T.drow()) T.matrix()[-1:] T.matrix()[0:1] T.matrix()[:,0:1] T.matrix()[:1] T.matrix()[T.arange(1)] T.matrix()[T.stack([a])] T.matrix()[[0]] T.matrix()[[a]]
    T.matrix()[a:a+1] T.matrix()[np.array([0])] T.mgrid[0:1,0:3] T.mgrid[0:a,0:3] T.nnet.bn.batch_normalization_train(T.dmatrix(),T.drow(),T.drow(),running_mean=T.drow(),running_var=T.drow())
    T.nnet.categorical_crossentropy(T.drow(),T.drow()) T.nnet.categorical_crossentropy(T.drow(),T.ivector()) T.nnet.categorical_crossentropy(T.nnet.softmax(T.dvector()),T.ivector())
    T.nnet.crossentropy_softmax_1hot(T.drow(),T.ivector()) T.nnet.crossentropy_softmax_1hot_with_bias(T.drow(),T.dvector(),T.ivector()) T.nnet.logsoftmax(T.dvector())
    T.nnet.nnet.CrossentropyCategorical1HotGrad()(T.dvector(),T.drow(),T.ivector()) T.nnet.nnet.crossentropy_softmax_max_and_argmax_1hot_with_bias(T.drow(),T.dvector(),T.ivector())
    T.nnet.softmax(T.dvector()) T.ogrid[0:1,0:3] T.ogrid[0:a,0:3] T.ones((T.constant(1),a)) T.ones((T.drow().shape[0],1)) T.repeat(T.drow(),2,axis=0) T.roll(T.drow(),1,axis=0) T.row()[-1:] T.row()[-3:]
    T.row()[0:1] T.row()[0:5:2] T.row()[0:] T.row()[1:] T.row()[:,::2] T.row()[:-1] T.row()[:0] T.row()[:1] T.row()[:5] T.row()[::-1] T.row()[::2] T.row()[:] T.row()[:a] T.row()[a:]
    T.shape(np.ones((1,2))) T.shape_padleft(T.dvector()) T.sort(T.drow(),axis=0) T.sqr(a).dimshuffle('x','x') T.stack((a,)) T.stack([1,2]) T.stack([1.,a],axis=0) T.stack([1]) T.stack([a,1])
    T.stack([a.dimshuffle('x')]) T.stack([np.ones(1)]) T.stack(a) T.tile(T.drow(),(2,1)) T.tri(1) T.tri(3,1) T.tri(a,1) T.zeros(()) T.zeros((1,)) T.zeros((1,1)) T.zeros((T.drow().shape[0],3))
    T.zeros((a,1)) T.zeros(1) T.zeros(T.as_tensor_variable([1,a])) T.zeros(T.dmatrix().shape) T.zeros(T.drow().shape) T.zeros(T.stack([a,a])) T.zeros([1,3]) T.zeros([a]) a[()] a[...,None] a[...]
    a[None,None] a[None] theano.foldl(lambda s,t:s+t,T.dmatrix(),T.zeros((1,3)))[0] theano.sandbox.rng_mrg.MRG_RandomStreams(1).binomial(size=(1,),p=.5)
    theano.sandbox.rng_mrg.MRG_RandomStreams(1).binomial(size=(3,1),p=.5) theano.sandbox.rng_mrg.MRG_RandomStreams(1).multinomial(pvals=T.dmatrix())
    theano.sandbox.rng_mrg.MRG_RandomStreams(1).multinomial(pvals=T.drow()) theano.sandbox.rng_mrg.MRG_RandomStreams(1).multinomial_wo_replacement(pvals=T.drow(),n=1)
    theano.sandbox.rng_mrg.MRG_RandomStreams(1).normal(size=(1,)) theano.sandbox.rng_mrg.MRG_RandomStreams(1).normal(size=(1,1),avg=T.drow()) theano.sandbox.rng_mrg.MRG_RandomStreams(1).normal(size=(1,2))
    theano.sandbox.rng_mrg.MRG_RandomStreams(1).normal(size=(a,1)) theano.sandbox.rng_mrg.MRG_RandomStreams(1).uniform(size=(1,)) theano.sandbox.rng_mrg.MRG_RandomStreams(1).uniform(size=(1,a))
    theano.sandbox.rng_mrg.MRG_RandomStreams(1).uniform(size=(2,3),low=T.drow()) theano.sandbox.rng_mrg.MRG_RandomStreams(1).uniform(size=(T.drow().shape[0],3))
    theano.sandbox.rng_mrg.MRG_RandomStreams(1).uniform(size=T.drow().shape) theano.sandbox.rng_mrg.MRG_RandomStreams(1).uniform(size=T.ivector(),ndim=2)
    theano.scan(lambda i,s:T.dot(s,T.dmatrix()),sequences=[T.arange(a)],outputs_info=[T.zeros((1,3))])[0] theano.scan(lambda i,s:s+i,sequences=[T.arange(a)],outputs_info=[T.constant(np.zeros(1))])[0]
    theano.scan(lambda i,s:s+i,sequences=[T.arange(a)],outputs_info=[T.zeros((1,))])[0] theano.scan(lambda i,s:s+i,sequences=[T.arange(a)],outputs_info=[T.zeros((1,3))])[0]
    theano.scan(lambda i:i,sequences=[T.arange(1)])[0] theano.scan(lambda s:s*2,outputs_info=[T.dcol()],n_steps=a)[0][-1] theano.scan(lambda s:s*2,outputs_info=[T.drow()],n_steps=1)[0]
    theano.scan(lambda s:s*2,outputs_info=[T.drow()],n_steps=a)[0] theano.scan(lambda s:s*2,outputs_info=[dict(initial=T.drow(),taps=[-1])],n_steps=a)[0] theano.shared(1.) theano.shared(np.float32(1))
    theano.shared(np.ones((1,1))) theano.shared(np.ones((1,3)),broadcastable=(True,False)) theano.shared(np.ones(1)) theano.tensor.fft.rfft(T.dmatrix())
    theano.tensor.shared_randomstreams.RandomStreams(1).binomial(n=1,p=T.drow()) theano.tensor.shared_randomstreams.RandomStreams(1).binomial(size=(1,),n=1,p=.5)
    theano.tensor.shared_randomstreams.RandomStreams(1).choice(size=(1,)) theano.tensor.shared_randomstreams.RandomStreams(1).multinomial(pvals=T.dmatrix())
    theano.tensor.shared_randomstreams.RandomStreams(1).multinomial(pvals=T.drow()) theano.tensor.shared_randomstreams.RandomStreams(1).multinomial(size=(1,),n=1,pvals=[.5,.5])
    theano.tensor.shared_randomstreams.RandomStreams(1).multinomial(size=(1,),n=1,pvals=[1.]) theano.tensor.shared_randomstreams.RandomStreams(1).normal((1,2))
    theano.tensor.shared_randomstreams.RandomStreams(1).normal(avg=T.drow(),std=1.) theano.tensor.shared_randomstreams.RandomStreams(1).normal(avg=T.drow(),std=T.dcol())
    theano.tensor.shared_randomstreams.RandomStreams(1).normal(avg=T.dvector(),std=1.) theano.tensor.shared_randomstreams.RandomStreams(1).permutation(n=1)
    theano.tensor.shared_randomstreams.RandomStreams(1).permutation(size=(1,),n=3) theano.tensor.shared_randomstreams.RandomStreams(1).permutation(size=(2,),n=1)
    theano.tensor.shared_randomstreams.RandomStreams(1).random_integers(size=(1,1)) theano.tensor.shared_randomstreams.RandomStreams(1).shuffle_row_elements(T.drow())
    theano.tensor.shared_randomstreams.RandomStreams(1).uniform() theano.tensor.shared_randomstreams.RandomStreams(1).uniform(low=T.dcol())
    theano.tensor.shared_randomstreams.RandomStreams(1).uniform(size=(1,)) theano.tensor.shared_randomstreams.RandomStreams(1).uniform(size=(1,a))
    theano.tensor.shared_randomstreams.RandomStreams(1).uniform(size=(2,1)) theano.tensor.shared_randomstreams.RandomStreams(1).uniform(size=(3,4),low=T.drow())
    theano.tensor.shared_randomstreams.RandomStreams(1).uniform(size=T.ivector(),ndim=2)""")


# -- indices --------------------------------------------------------------------------------------------------------------------

COMMON = words(": ::-1 0 i None")
RARE = words("""ni n0 nu k s u v1 uv m mk2 sc suc si np.uint8(1) T.constant(1) T.constant([1])[0] T.constant(np.uint8(1)) T.constant(np.array(1)) i*k :1 :u u: ::u 0:u :sc
    :suc :si :k+i :n0 n0: :np.uint8(1) :T.constant(1) slice(None,u) T.arange(u) T.NoneConst True: i:""")
PLACES = words("%s :,None,%s %s,0,None 0,None,%s %s,: ::-1,%s [0],%s %s,v1 mk,%s")


def indices():
    """Return texts of indices: all short ones with None, some of four entries and with an ellipsis, and rare entries in places."""
    rng = random.Random(1)
    short = [",".join(entries) for n in (1, 2, 3) for entries in itertools.product(COMMON, repeat=n) if "None" in entries]
    longer = [",".join(entries) for entries in itertools.product([*COMMON, "..."], repeat=4) if "None" in entries and entries.count("...") < 2]
    return sorted({*short, *(longer[int(rng.random() * len(longer))] for _ in range(250)), *(place % entry for place in PLACES for entry in RARE)})


def calls():
    """Return the groups: what they are of, their texts, and operands."""
    return [
        ("patterns", ONE, [*PATTERNS, *words("? ?1 ?01 i i1 i01 i11 b1 B f1 f00 z1 z01")]),
        ("patterns of two", TWO, [
            *("d%s d%s" % pair for pair in itertools.product(FEW, repeat=2)),
            *("d%s d%s" % pair for pair in itertools.product(UP_TO_3[7:], ("0", "1", "01", "10", "11"))),
            *("i01 d10", "?1 b0", "f0 i1", "z1 d", "B b1"),
        ]),
        ("patterns by whole numbers", COUNTED, ["%s %s" % pair for pair in itertools.product(words("d00 d01 d10 d11"), words("i0 i1 l0"))]),
        ("patterns of matrices", SQUARE, words("d00 d01 d10 d11 f00 f01 f11 z00 i00")),
        ("patterns of convolutions", FILTERED, ["%s %s" % pair for pair in itertools.product(OF_4, words("d0000 d1000 d0100 d1111 d0011 d0001 d0010"))]),
        ("patterns of volumes", FILTERED_3D, ["%s %s" % pair for pair in itertools.product(
            words("d00000 d10101 d11111 d10000 d01000 d00100 d00010 d00001"), words("d00000 d10101 d11111 d10000 d01000"))]),
        ("patterns of images", IMAGES, [*OF_4, *words("d000 d100 d00 d10 d11 d01 d111")]),
        ("patterns without operands", ALONE, ["i"]),
        ("patterns of indices", ["a[%s]" % index for index in indices()], [*PATTERNS, "d0011", "d0110"]),
    ]  # fmt: skip
