"""For each rule an expression that it changes: the tests of single rules, and the proof, start from these."""

import numpy as np

import theano.tensor as T
from theano import scalar as scal
from theano.compile.builders import OpFromGraph
from theano.compile.checkpoint import Checkpoint, ControlDependency
from theano.gradient import disconnected_grad, grad
from theano.ifelse import ifelse
from theano.tensor import nnet
from theano.tensor.blas import routines
from theano.tensor.control.checks import Assert
from theano.tensor.conv.op import (
    AbstractConv2d,
    AbstractConv2d_gradInputs,
    AbstractConv2d_gradWeights,
    AbstractConv3d,
    AbstractConv3d_gradInputs,
    AbstractConv3d_gradWeights,
)
from theano.tensor.create.alloc import AllocEmpty
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.index.chain import SubtensorChain
from theano.tensor.join.op import Split
from theano.tensor.linalg.determinant import det
from theano.tensor.linalg.equations import matrix_inverse, solve
from theano.tensor.linalg.factor import cholesky
from theano.tensor.linalg.hints import Hint
from theano.tensor.nnet.softmax import softmax_grad
from theano.tensor.reduce.careduce import ProductOfOthers
from theano.tensor.rows.op import map_rows
from theano.tensor.shape.basic import shape_i_op
from theano.tensor.shape.scalars import scalar_from_tensor, tensor_from_scalar

v, w, m, n = T.dvector("v"), T.dvector("w"), T.dmatrix("m"), T.dmatrix("n")
i, k, c = T.lvector("i"), T.lvector("k"), T.bvector("c")
s = T.dscalar("s")
square, psd = T.dmatrix("square"), T.dmatrix("psd")
psd.tag.psd = True
classes = T.lvector("classes")
entropy = nnet.crossentropy_categorical_1hot

# An image and filters of one channel, and volumes.
image, filters = (a.dimshuffle("x", "x", 0, 1) for a in (m, n))
volume, boxes = (a.dimshuffle("x", "x", "x", 0, 1) for a in (m, n))

# rule: an expression that it changes. Sums are in the form that the canonizer leaves, where a rule relies on it.
top = m.max(axis=1)
m_prod = m.prod(axis=1, keepdims=True)
probabilities = nnet.softmax(m)
positive, less = T.gt(s, 0), T.lt(s, 1)
CASES = {
    "cond_remove_known": ifelse(T.constant(1), v, w),
    "cond_remove_identical": ifelse(positive, v, v) + w,
    "cond_drop_unused": ifelse(positive, (v, w), (w, 2 * w))[0],
    "cond_merge_ifs_true": ifelse(positive, ifelse(positive, v, w), 2 * w),
    "cond_merge_ifs_false": ifelse(positive, v, ifelse(positive, 2 * v, w)),
    "cond_lift_zeros": ifelse(positive, v, T.zeros_like(v)) * w,
    "cond_join_zeros": ifelse(positive, ifelse(less, s, 0.0), 0.0),
    "cond_lift_common": ifelse(less, ifelse(positive, s, 0.0), ifelse(positive, 2 * s, 0.0)),
    "cond_merge_sums": ifelse(positive, s, 0.0) + ifelse(positive, s * s, 0.0),
    "inline_ofg_expansion": OpFromGraph([s, v], [s * T.exp(v)], inline=True)(s, w),
    "local_inline_checkpoint": Checkpoint([s, v], [s * T.exp(v)])(s, w),
    "local_useless_control_dependency": ControlDependency()(v, T.exp(w)),
    "local_expand_compound": T.DiffOp(1)(v),
    "local_unroll_map_rows": map_rows([v], [T.stack([w, 2 * w])], [T.sort(v)])[0],
    "local_map_rows_of_equal_rows": map_rows([v], [T.alloc(w[0], 100, 3)], [T.sort(v) * 2])[0],
    "local_map_rows_at_once": map_rows([v], [m], [v * T.sin(w) + T.dot(v, n.T).sum()])[0],
    "local_view_op": disconnected_grad(v) + 1,
    "local_useless_elemwise": F.eq(i, i),
    "local_useless_switch": T.switch(T.constant(1), v, w),
    "local_mul_switch_sink": T.switch(c, 0.0, v) * w,
    "local_div_switch_sink": T.switch(c, 0.0, v) / w,
    "local_merge_switch_same_cond": T.switch(c, T.switch(c, v, w), w),
    "local_cast_cast": T.cast(T.cast(c, "int32"), "int64"),
    "local_upcast_elemwise_constant_inputs": F.add(v, T.constant(np.array([1], "int8"))),
    "local_useless_fill": F.second(v, w),
    "local_fill_sink": F.second(v, T.constant(np.array([2.0]))) * w,
    "local_fill_to_alloc": F.second(v, T.constant(np.array([2.0]))),
    "local_useless_alloc": T.alloc(v, shape_i_op(0)(v)),
    "local_canonicalize_alloc": T.alloc(v, 1, v.shape[0]),
    "local_alloc_unary": T.exp(T.alloc(s, 3)),
    "local_alloc_dimshuffle": T.alloc(v.dimshuffle("x", 0), 3, v.shape[0]),
    "local_dimshuffle_alloc": T.alloc(s, 3).dimshuffle("x", 0),
    "local_reshape_dimshuffle": m.dimshuffle("x", 0, 1).reshape((12,)),
    "local_rebroadcast_lift": T.addbroadcast(T.exp(m[:1]), 0),
    "remove_tensor_copy": T.tensor_copy(v),
    "local_remove_useless_assert": Assert("no")(v, T.constant(1)),
    "local_remove_all_assert": Assert("no")(v, T.eq(v.shape[0], 4)),
    "local_useless_elemwise_comparison": T.ge(shape_i_op(0)(v), 0),
    "local_merge_alloc": T.alloc(T.alloc(s.dimshuffle("x"), 1), 3),
    "local_elemwise_alloc": T.alloc(T.constant(2.0), v.shape[0]) * v,
    "local_useless_rebroadcast": T.addbroadcast(T.unbroadcast(v.dimshuffle("x", 0), 0), 0),
    "local_add_canonizer": v + w - v,
    "local_mul_canonizer": (v * w) / w,
    "local_greedy_distributor": (v / w + v) * w,
    "local_neg_to_mul": F.neg(F.mul(T.constant(np.array([2.0])), v)),
    "local_mul_zero": v * T.constant(np.array([0.0])),
    "local_zero_div": F.true_div(T.constant(np.array([0.0])), v),
    "local_div_to_inv": F.true_div(T.constant(np.array([1.0])), v),
    "local_mul_specialize": F.mul(v, T.constant(np.array([-1.0])), w),
    "local_add_specialize": F.add(v, T.constant(np.array([0.0]))),
    "local_mul_to_sqr": v * v,
    "local_neg_neg": -(-v),
    "local_neg_div_neg": -((-v) / w),
    "local_intdiv_by_one": F.int_div(i, T.constant(np.array([1]))),
    "local_elemwise_sub_zeros": F.sub(i, i),
    "local_abs_lift": abs(-v),
    "local_inv_canon": v ** T.constant(np.array([-1.0])),
    "local_useless_composite": Elemwise(
        scal.Composite(*(lambda a, b: ([a, b], [a + b, a * b]))(scal.float64("a"), scal.float64("b")))
    )(v, w)[1],
    "local_flatten_lift": T.Flatten(1)(T.exp(m)),
    "local_useless_tile": T.Tile(3)(m, T.constant([1, 1, 1])),
    "local_useless_dimshuffle_in_reshape": m.dimshuffle("x", 0, "x", 1).reshape((2, 6)),
    "remove_hint_nodes": Hint(psd=True)(m) + 1,
    "local_pow_canonicalize": v ** T.constant(np.array([1.0])),
    "local_root_of_power": T.sqrt(T.sqr(v)),
    "local_root_times_itself": F.mul(T.sqrt(v), T.sqrt(v)),
    "local_power_over_itself": v / (v ** T.constant(np.array([2.0]))),
    "local_pow_specialize": v ** T.constant(np.array([2.0])),
    "local_pow_specialize_device": v ** T.constant(np.array([10.0])),
    "local_log1p": T.log(F.sub(T.constant(np.array([1.0])), v)),
    "local_log1p_plus": T.log(F.add(T.constant(np.array([1.0])), v)),
    "local_expm1": F.add(T.constant(np.array([-1.0])), T.exp(v)),
    "local_one_minus_exp": 1.0 - T.exp(v),
    "local_log_expm1": T.log(T.expm1(v)),
    "local_log_one_minus_exp": T.log(1.0 - T.exp(v)),
    "local_inv_1_plus_exp": F.inv(1.0 + T.exp(v)),
    "local_exp_over_1_plus_exp": (lambda e: e / (1.0 + e))(T.exp(v)),
    "local_sigm_times_exp": nnet.sigmoid(v) * T.exp(-v),
    "local_sigm_times_exp_neg": nnet.sigmoid(-v) * T.exp(v),
    "local_log_of_moved": T.log(nnet.sigmoid(m).reshape((12,))),
    "local_quotient_moved_back": (lambda p: (n.flatten() / p.flatten()).reshape(p.shape) * p)(nnet.sigmoid(m)),
    "local_divisor_moved_back": (1.0 - nnet.sigmoid(m).T).T * n,
    "local_sum_of_quotients": (lambda p: v / p + w / p)(nnet.sigmoid(v)),
    "local_1msigmoid": 1.0 - nnet.sigmoid(v),
    "logsigm_to_softplus": T.log(nnet.sigmoid(v)),
    "log1msigm_to_softplus": T.log(1.0 - nnet.sigmoid(v)),
    "log1p_neg_sigmoid": T.log1p(-nnet.sigmoid(v)),
    "log1pexp_to_softplus": T.log1p(T.exp(v)),
    "local_one_minus_erf": 1.0 - T.erf(v),
    "local_erf_neg_minus_one2": -1.0 + -1.0 * T.erf(v),
    "local_log_erfc": T.log(T.erfc(v)),
    "local_grad_log_erfc_neg": 3.0 * T.exp(-T.sqr(v)) / T.erfc(v),
    "local_abs_merge": abs(v) * abs(w),
    "local_add_mul_fusion": F.add(F.add(v, w), v),
    "local_wide_sum": F.add(*[v, w] * 40),
    "local_ultra_fast_sigmoid": nnet.sigmoid(v),
    "local_hard_sigmoid": nnet.sigmoid(v),
    "local_one_plus_tanh": 1.0 + T.tanh(v),
    "local_one_minus_tanh": 1.0 - T.tanh(v),
    "local_one_plus_erf": 1.0 + T.erf(v),
    "local_one_minus_erfc": 1.0 - T.erfc(v),
    "local_erf_minus_one": F.add(T.constant(np.array([-1.0])), T.erf(v)),
    "local_func_inv": T.log(T.exp(v)),
    "local_log_pow": T.log(T.sqr(v)),
    "local_log_add": T.log(T.exp(v) + T.exp(w)),
    "local_exp_over_sum_exp": T.exp(m) / T.exp(m).sum(axis=0),
    "local_log_sum_exp": T.log(T.exp(m).sum(axis=1)),
    "local_log_sum_exp_weighted": T.log((n * T.exp(m)).sum(axis=1)),
    "local_log_sum_exp_shifted": T.log(T.exp(m - top.dimshuffle(0, "x")).sum(axis=1)) + top,
    "local_log_of_power": T.log(w * T.exp(v)),
    "local_log_prod": T.log(T.exp(m).prod(axis=1)),
    "local_others_over_product": w[0] * ProductOfOthers((1,)).expression(m, m_prod) / m_prod,
    "local_log_prod_sqr": T.log(T.sqr(m).prod(axis=1)),
    "local_dimshuffle_lift": m.T.T,
    "local_reshape_chain": m.flatten().reshape((3, 4)),
    "local_useless_reshape": m.reshape(m.shape),
    "local_reshape_to_dimshuffle": v.reshape((1, -1)),
    "local_reshape_of_number": s.reshape((-1,)) * 2,
    "local_reshape_lift": T.exp(m).reshape((12,)),
    "local_tensor_scalar_tensor": tensor_from_scalar(scalar_from_tensor(s)),
    "local_shape_to_shape_i": T.exp(m).shape,
    "local_track_shape_i": shape_i_op(1)(T.exp(m)),
    "local_reduce_broadcastable": T.addbroadcast(m[:1], 0).sum(axis=0),
    "local_useless_reduce": m.sum(axis=[]),
    "local_sum_prod_all_to_none": m.sum(axis=[0, 1]),
    "local_reduce_dimshuffle": m.T.dimshuffle(0, "x", 1).sum(axis=(0, 1)),
    "softmax_simplifier": T.exp(m) * n / T.exp(m).sum(axis=1, keepdims=True),
    "local_subtensor_of_join": T.stack([v, T.exp(v)])[-1],
    "local_subtensor_behind_joined": T.stack([v, T.exp(v)])[1:],
    "local_subtensor_before_inc_subtensor": T.inc_subtensor(v[2:], T.exp(v)[2:])[:2],
    "local_op_of_op": m.sum(axis=1).sum(),
    "local_sum_prod_mul_by_scalar": (T.constant(np.array([[2.0]])) * m).sum(),
    "local_opt_alloc": T.ones_like(m).sum(axis=1),
    "local_sum_prod_div_dimshuffle": (m / v.dimshuffle("x", 0)).sum(axis=0),
    "local_sum_dot": T.dot(m, n.T).sum(axis=0),
    "local_sumsqr2dot": T.sqr(m.dimshuffle("x", 0, 1) * n.T.dimshuffle(0, 1, "x")).sum(axis=(1, 2)),
    "local_reduce_join": T.stack([v, w, v * w], axis=0).sum(axis=0),
    "local_join_1": T.join_(0, v),
    "local_join_empty": T.join(0, v, np.zeros(0), w),
    "local_join_make_vector": T.join(0, T.stack([s, s + 1]), T.stack([s, 2 * s]), v),
    "local_useless_split": Split(1)(v, 0, T.stack([v.shape[0]])),
    "local_max_to_min": -((-m).max(axis=1)),
    "local_max_and_argmax": T.max_and_argmax(m, axis=1)[0],
    "local_useless_topk": T.topk(m, 2),
    "local_dot_to_dot22": T.dot(m, n.T),
    "local_dot22_to_dot22scalar": T.constant(np.array([[2.0]])) * routines.Dot22()(m, n.T),
    "gemm_optimizer": T.dot(m, n.T) + T.exp(T.dot(n, m.T)),
    "local_useless_subtensor": m[:, :],
    "local_useless_slice": m[1, :],
    "local_subtensor_make_vector": T.stack([s, s + 1])[1],
    "local_subtensor_lift": T.exp(m)[1],
    "local_subtensor_merge": m[1:][1:],
    "local_subtensor_of_one": T.addbroadcast(v[2:3], 0) * w,
    "local_subtensor_chain_apart": SubtensorChain([[slice(scal.int64, None)], [slice(None, None, scal.int64)]])(m, *np.int64([1, 2])),
    "local_places_of_make_vector": T.stack([s, s + 1])[[1, 0, 1]],
    "local_useless_AdvancedSubtensor1": T.specify_shape(v, (4,))[[0, 1, 2, 3]],
    "local_erfc_neg_minus_one": -1 + T.erfc(-v),
    "local_subtensor_chain": m[k[0] :][::2],
    "local_subtensor_inc_subtensor": T.set_subtensor(m[1], m[0])[1],
    "local_subtensor_of_alloc": T.alloc(s, 5, 6)[1:3],
    "local_useless_inc_subtensor": T.set_subtensor(m[:], m * 2),
    "local_incsubtensor_of_zeros_to_setsubtensor": T.inc_subtensor(T.zeros_like(m)[1], v),
    "local_incsubtensor_of_zeros": T.inc_subtensor(m[1], 0.0),
    "local_setsubtensor_of_constants": T.set_subtensor(T.zeros_like(m)[1:], 0.0),
    "local_useless_inc_subtensor_alloc": T.inc_subtensor(m[:], T.alloc(s, m.shape[0], m.shape[1])),
    "local_set_to_inc_subtensor": T.set_subtensor(m[1], m[1] + v),
    "local_IncSubtensor_serialize": (
        T.inc_subtensor(T.zeros_like(m)[1], v) + T.inc_subtensor(T.zeros_like(m)[2], w) + m
    ),
    "local_subtensor_remove_broadcastable_index": m.dimshuffle(0, "x", 1)[:, 0],
    "local_slices_before_arrays": m[classes[0] :, classes],
    "local_slices_before_writes": T.inc_subtensor(m[classes[0] :, classes], v[0]),
    "local_dimshuffle_subtensor": T.addbroadcast(m[:1], 0)[:, 1:3].dimshuffle(1),
    "local_subtensor_of_dot": T.dot(m, n.T)[1:, 2],
    "local_adv_sub1_adv_inc_sub1": T.set_subtensor(T.constant(np.ones((5, 4)))[[0, 3, -1]], m)[[0, 3, -1]],
    "local_gemm_to_gemv": routines.gemm_no_inplace(
        v.dimshuffle("x", 0), s, w.dimshuffle("x", 0), T.dot(m.T, n), s
    ),
    "local_dot_to_gemv": T.dot(m, w),
    "local_gemm_to_ger": routines.gemm_no_inplace(m, s, v[:3].dimshuffle(0, "x"), w.dimshuffle("x", 0), 1.0),
    "transinv_to_invtrans": matrix_inverse(square).T,
    "no_transpose_symmetric": T.dot(m, m.T).T,
    "inv_as_solve": T.dot(matrix_inverse(square), m),
    "tag_solve_triangular": solve(cholesky(T.dot(m, m.T)), m),
    "psd_solve_with_chol": solve(psd, m),
    "local_log_det": T.log(T.nlinalg.det(square)),
    "local_det_chol": det(psd) + cholesky(psd).sum(),
    "local_ctc_no_grad": nnet.ctc.ctc(m.dimshuffle(0, "x", 1), [[1]], [2]),
    "local_argmax_pushdown": T.argmax(nnet.softmax(m), axis=1),
    "local_float16_in_float32": nnet.softmax(m.astype("float16")),
    "local_arange_in_float32": T.arange(T.constant(np.float16(0)), s.astype("float16"), T.constant(np.float16(0.1))),
    "local_dot_of_one_dtype": T.dot(m, n.T.astype("float32")),
    "local_0_dot_x": T.dot(T.zeros_like(m), n.T),
    "local_lift_transpose_through_dot": T.dot(m, n.T).T,
    "local_logsoftmax": T.log(nnet.softmax(m)),
    "local_softmax_of_logsumexp": T.exp(m - T.logsumexp(m, axis=0)),
    "local_softmax_of_shifted": nnet.softmax(m - top.dimshuffle(0, "x")),
    "local_softmax_of_unused_crossentropy": nnet.crossentropy_softmax_argmax_1hot_with_bias(m, v, classes)[1],
    "local_logsoftmax_grad": grad(T.log(nnet.softmax(m)).sum(), m),
    "local_softmax_grad_over_softmax": w[0] * softmax_grad(n, probabilities) / probabilities,
    "local_logsoftmax_with_bias": T.log(nnet.softmax_with_bias(m, v)),
    "local_softmax_with_bias": nnet.softmax(m + v),
    "crossentropy_to_crossentropy_with_softmax_with_bias": entropy(nnet.softmax_with_bias(m, v), classes),
    "crossentropy_to_crossentropy_with_softmax": entropy(nnet.softmax(m), classes),
    "local_useless_crossentropy_softmax_1hot_with_bias_dx_alloc": nnet.crossentropy_softmax_1hot_with_bias_dx(
        T.alloc(s, m.shape[0]), nnet.softmax(m), classes
    ),
    "local_softmax_grad_to_crossentropy_with_softmax_grad": grad(entropy(nnet.softmax(m), classes).sum(), m),
    "local_abstractconv_gemm": AbstractConv2d(border_mode="full")(image, filters),
    "local_abstractconv_gradweight_gemm": AbstractConv2d_gradWeights(border_mode="half")(image, filters, [3, 5]),
    "local_abstractconv_gradinputs_gemm": AbstractConv2d_gradInputs(filter_flip=False)(image, filters, [5, 7]),
    "local_abstractconv3d_gemm": AbstractConv3d(border_mode="half", subsample=(1, 2, 1))(volume, boxes),
    "local_abstractconv3d_gradweight_gemm": AbstractConv3d_gradWeights(border_mode=(0, 1, 1))(
        volume, boxes, [1, 3, 3]
    ),
    "local_abstractconv3d_gradinputs_gemm": AbstractConv3d_gradInputs()(volume, boxes, [1, 5, 7]),
    "local_scalar_tensor_scalar": tensor_from_scalar(scalar_from_tensor(tensor_from_scalar(scalar_from_tensor(s)))),
    "local_alloc_empty_to_zeros": F.second(AllocEmpty("float64")(v.shape[0]), s),
    "topo_constant_folding": v * F.exp(T.constant(np.array([0.5]))),
    "graph_merge_softmax_with_crossentropy_softmax": (
        nnet.crossentropy_softmax_argmax_1hot_with_bias(m, T.zeros_like(m[0]), classes)[0] + nnet.softmax(m).sum()
    ),
    "local_advanced_indexing_crossentropy_onehot": nnet.logsoftmax(m)[T.arange(classes.shape[0]), classes],
    "local_advanced_indexing_crossentropy_onehot_grad": softmax_grad(
        T.inc_subtensor(T.zeros_like(m)[T.arange(classes.shape[0]), classes], -s) / probabilities, probabilities
    ),
}

# Rules that count on what others have done before.
SHAPES = ("local_shape_to_shape_i", "local_track_shape_i", "local_subtensor_make_vector", "topo_constant_folding")
AFTER = {
    "local_canonicalize_alloc": SHAPES,
    "local_useless_crossentropy_softmax_1hot_with_bias_dx_alloc": SHAPES,
    "local_useless_inc_subtensor_alloc": SHAPES,
    "local_useless_split": SHAPES,
    "local_elemwise_alloc": SHAPES,
    "local_log_sum_exp_shifted": ("local_log_sum_exp",),
    "local_quotient_moved_back": SHAPES,
    "local_useless_reshape": SHAPES,
    "local_subtensor_of_join": SHAPES,
    "local_subtensor_behind_joined": SHAPES,
    "local_subtensor_before_inc_subtensor": SHAPES,
    "local_advanced_indexing_crossentropy_onehot": SHAPES,
    "local_advanced_indexing_crossentropy_onehot_grad": SHAPES,
}

#: How long the inputs of the cases are.
LENGTHS = {
    v: (4,), w: (4,), i: (4,), k: (4,), c: (4,), m: (3, 4), n: (3, 4), s: (), square: (3, 3), psd: (3, 3), classes: (3,),
}  # fmt: skip
