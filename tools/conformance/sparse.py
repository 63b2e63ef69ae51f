"""Calls of theano.sparse. An operand behind ``%`` is a sparse matrix by rows (csr), one behind ``&`` by columns (csc)."""

import itertools

from conformance.words import words

LETTERS = "?bwilBUefdcz"
ONE = [*("%s%s00" % pair for pair in itertools.product("%&", LETTERS)), *words("%d20 &d20 %d02 %d10 &d01 %d11 d00 d0 $d00 #d00 !2")]
ELEMENTS = words("""structured_sigmoid structured_exp structured_log sqr sqrt sin sinh arcsin arcsinh tan tanh arctan arctanh expm1 log1p deg2rad rad2deg
    rint ceil floor trunc sgn conj neg transpose clean remove0 ensure_sorted_indices diag square_diagonal sp_ones_like sp_zeros_like as_sparse_variable
    as_sparse as_sparse_or_tensor_variable dense_from_sparse csr_from_dense csc_from_dense csm_properties csm_data csm_indices csm_indptr csm_shape
    bcast wcast icast lcast fcast dcast ccast zcast""")
INDICES = words("0 0,0 0,: :,0 0:2 0:2,1: :,1: 1:,: ::2 ::2,::-1 i i,i i:,:i [0,1] [0,1],[1,0] v v,v -1 -1,-1 5,0 ... None 0,0,0 'x' m 0:2,1 :,[0]")
TEXTS = [
    *("S.%s(a)" % name for name in ELEMENTS),
    *("T.grad(S.sp_sum(S.%s(a),sparse_grad=True),a)" % name for name in ELEMENTS[:22]),
    *("a[%s]" % index for index in INDICES),
    *words("""-a +a abs(a) a.T a.shape a.ndim a.dtype a.size a.toarray() a.todense() a.astype('float32') a.astype('int8') a.sum() a.sum(axis=0) a.sum(1) len(a) bool(a) a.zeros_like() a.ones_like()
    a.type.format a.type.dtype a.type.ndim S.sp_sum(a) S.sp_sum(a,axis=0) S.sp_sum(a,axis=1) S.sp_sum(a,axis=2) S.sp_sum(a,axis=-1) S.sp_sum(a,sparse_grad=True) S.sp_sum(a,axis=0,sparse_grad=True)
    S.cast(a,'float32') S.cast(a,'int8') S.cast(a,'x') S.structured_maximum(a,1) S.structured_minimum(a,.5) S.structured_add(a,1) S.structured_pow(a,2) S.structured_pow(a,2.5)
    S.hstack([a,a]) S.vstack([a,a]) S.hstack([a,a],format='csc') S.vstack([a,a],format='csr',dtype='float32') S.hstack([a]) S.hstack(a) S.vstack([a,a],'x') S.hstack([a,S.csc_from_dense(T.ones((3,2)))])
    S.CSM('csr')(*S.csm_properties(a)) S.CSM('csc')(*S.csm_properties(a)) S.CSR(*S.csm_properties(a)) S.CSC(*S.csm_properties(a)) S.CSM('x') S.dense_from_sparse(a).sum() S.dense_from_sparse(a)*2
    S.csr_from_dense(S.dense_from_sparse(a)) S.SparseFromDense('csc')(a) S.DenseFromSparse()(a) S.Remove0()(a) S.get_item_2lists(a,[0,1],[1,1]) S.get_item_list(a,[1,0]) S.get_item_2d(a,(slice(0,2),slice(0,2))) S.get_item_scalar(a,(0,1))
    S.construct_sparse_from_list(a,T.ones((2,3)),[0,2]) S.add(a,a) S.mul(a,a) S.sub(a,a) S.dot(a,a) S.true_dot(a,a) S.structured_dot(a,a) S.dot(a,a.T) a+a a-a a*a a*2 2*a a+1 1+a a-1 a*2.5 a/2 a**2 a*np.float32(2) a>0 a<0.5 S.eq(a,a) S.gt(a,0) S.le(a,a) S.neq(a,a)
    S.dot(a,[[1.],[2.],[3.]]) S.dot(a,np.ones((3,2))) S.structured_dot(a,T.ones((3,2))) S.dot(T.ones((2,3)),a) S.row_scale(a,[1.,2.,3.]) S.col_scale(a,T.constant([1.,2.,3.])) S.mul_s_v(a,T.constant([1.,2.,3.])) S.structured_add_s_v(a,T.constant([1.,2.,3.]))
    S.sampling_dot(T.ones((3,2)),T.ones((3,2)),a) S.usmm(2.,a,T.ones((3,2)),T.ones((3,2))) S.usmm(T.constant(.5),a,S.dense_from_sparse(a),T.ones((3,3))) theano.shared(a) S.constant(a) T.as_tensor_variable(a) T.exp(a) T.dot(a,a) a.dot(a) a.transpose()
    T.grad(S.sp_sum(a),a) T.grad(S.sp_sum(a,sparse_grad=True),a) T.grad(S.dense_from_sparse(a).sum(),a) T.grad(S.dot(a,T.ones((3,2))).sum(),a) T.grad(S.structured_dot(a,T.ones((3,2))).sum(),a) T.grad(S.sp_sum(S.mul(a,a),sparse_grad=True),a)
    T.grad(S.sp_sum(S.true_dot(a,a),sparse_grad=True),a) T.grad(S.csr_from_dense(a).sum(),a) T.grad(S.sp_sum(S.csr_from_dense(a),sparse_grad=True),a) T.grad(S.sp_sum(a[0:2,0:2]),a) T.grad(a[0,1],a) T.grad(S.sp_sum(a.T,sparse_grad=True),a)
    T.grad(S.sp_sum(S.row_scale(a,T.constant([1.,2.,3.])),sparse_grad=True),a) T.grad(S.sp_sum(S.hstack([a,a]),sparse_grad=True),a) T.grad(S.diag(a).sum(),a) T.grad(S.sp_sum(S.structured_pow(a,2.),sparse_grad=True),a) theano.clone(a*2,{a:a+a}) a.owner a.name"""),
]  # fmt: skip
MATRICES = words("%d00 &d00 d00 %f00 &f00 f00 %i00 &b00 i00 %z00 d0 d1 d d10 d01 %d20 &d02 d20 d02 $d00 !2 !2.5 %?00 %L00")
TWO = words("""S.add(a,b) S.sub(a,b) S.mul(a,b) S.dot(a,b) S.true_dot(a,b) S.structured_dot(a,b) a+b a-b a*b S.basic.dot(a,b) T.dot(a,b) S.eq(a,b) S.neq(a,b) S.lt(a,b) S.le(a,b) S.gt(a,b) S.ge(a,b) a<b a>=b
    S.add_s_s(a,b) S.add_s_d(a,b) S.add_s_s_data(a,b) S.mul_s_s(a,b) S.mul_s_d(a,b) S.mul_s_v(a,b) S.structured_add_s_v(a,b) S.row_scale(a,b) S.col_scale(a,b) S.structured_maximum(a,b) S.structured_minimum(a,b) S.structured_add(a,b) S.structured_pow(a,b)
    S.hstack([a,b]) S.vstack([a,b]) S.vstack((a,b),format='csr') S.sampling_dot(a,b,S.csr_from_dense(T.eye(3))) S.usmm(1.5,a,b,T.ones((3,3))) S.true_dot(a,b,grad_preserves_dense=False) S.structured_dot_grad(a,b,T.ones((3,3)))
    T.grad(S.dot(a,b).sum(),[a,b]) T.grad(S.dense_from_sparse(S.mul(a,b)).sum(),a) T.grad(S.structured_dot(a,b).sum(),b) T.grad(S.dense_from_sparse(S.add(a,b)).sum(),b) T.grad(S.sp_sum(S.true_dot(a,b),sparse_grad=True),a) T.grad(S.usmm(1.5,a,b,T.ones((3,3))).sum(),b)""")


def calls():
    """Return the groups: what they are of, their texts, and operands."""
    pairs = ["%s %s" % pair for pair in itertools.product(MATRICES, repeat=2)]
    return [
        ("sparse matrices", TEXTS, ONE),
        ("sparse matrices of two", TWO, [pair for pair in pairs if "%" in pair or "&" in pair]),
    ]
