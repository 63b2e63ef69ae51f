"""Documented spellings of the layer of arrays: what `theano.layers.spellings` makes modules and names of.

They are the interface that Theano documents, and lead to things of this layer. theano-legacy has all others.
"""

from __future__ import annotations

OLD_NAMES = {
    "theano.compile.ops": {
        "theano.tensor": (
            "Rebroadcast register_rebroadcast_c_code register_shape_c_code register_shape_i_c_code "
            "register_specify_shape_c_code Shape shape Shape_i shape_i specify_shape SpecifyShape"
        ),
    },
    "theano.scan_module": {
        "theano.scan": "foldl foldr map reduce scan scan_checkpoints until",
    },
    "theano.tensor.elemwise": {
        "theano.tensor.convert": "as_tensor_variable",
        "theano.tensor.printers": "DimShufflePrinter",
        "theano.tensor.var": "TensorConstant TensorVariable",
    },
    "theano.tensor.extra_ops": {
        "theano.tensor.create.arange": "bartlett",
        "theano.tensor.expressions.ops": (
            "Bartlett bartlett_ broadcast_to BroadcastTo DiffOp fill_diagonal_ fill_diagonal_offset_ FillDiagonal "
            "FillDiagonalOffset"
        ),
        "theano.tensor.index.derived": "compress diff fill_diagonal fill_diagonal_offset to_one_hot",
        "theano.tensor.index.ravel": "ravel_multi_index RavelMultiIndex unravel_index UnravelIndex",
        "theano.tensor.shape.broadcast": "broadcast_shape broadcast_shape_iter",
        "theano.tensor.shape.contiguous": "cpu_contiguous CpuContiguous",
        "theano.tensor.shape.repeat": "repeat RepeatOp",
        "theano.tensor.shape.reshape": "squeeze",
        "theano.tensor.sort.cumulative": "CumOp cumprod CumprodOp cumsum CumsumOp",
        "theano.tensor.sort.search": "searchsorted SearchsortedOp",
        "theano.tensor.sort.sets": "bincount Unique",
    },
    "theano.tensor.nlinalg": {
        "theano.tensor.linalg.determinant": "Det det slogdet",
        "theano.tensor.linalg.factor": "Eig eig Eigh eigh qr QRFull QRIncomplete SVD svd",
        "theano.tensor.linalg.functions": "alloc_diag diag extract_diag matrix_dot matrix_power norm trace",
        "theano.tensor.linalg.gradients": "EighGrad",
        "theano.tensor.linalg.equations": (
            "lstsq matrix_inverse MatrixInverse MatrixPinv pinv TensorInv tensorinv TensorSolve tensorsolve"
        ),
        "theano.tensor.shape.diagonals": "AllocDiag",
    },
    "theano.tensor.nnet": {
        "theano.tensor.conv.functions": "abstract_conv2d=conv2d",
    },
    "theano.tensor.nnet.abstract_conv": {
        "theano.tensor.conv.derived": "*",
        "theano.tensor.conv.functions": "*",
        "theano.tensor.conv.geometry": (
            "get_conv_gradinputs_shape get_conv_gradinputs_shape_1axis get_conv_gradweights_shape "
            "get_conv_gradweights_shape_1axis get_conv_output_shape get_conv_shape_1axis"
        ),
        "theano.tensor.conv.op": (
            "AbstractConv AbstractConv2d AbstractConv2d_gradInputs AbstractConv2d_gradWeights AbstractConv3d "
            "AbstractConv3d_gradInputs AbstractConv3d_gradWeights AbstractConv_gradInputs AbstractConv_gradWeights "
            "BaseAbstractConv"
        ),
        "theano.tensor.conv.upsampling": (
            "bilinear_kernel_1D bilinear_kernel_2D bilinear_upsampling frac_bilinear_upsampling"
        ),
    },
    "theano.tensor.nnet.bn": {
        "theano.tensor.nnet.normalization": "*",
    },
    "theano.tensor.nnet.nnet": {
        "theano.tensor.nnet.classes": "*",
        "theano.tensor.nnet.rules": "*",
        "theano.tensor.rules.by_name": (
            "crossentropy_to_crossentropy_with_softmax crossentropy_to_crossentropy_with_softmax_with_bias "
            "local_advanced_indexing_crossentropy_onehot local_advanced_indexing_crossentropy_onehot_grad "
            "local_argmax_pushdown local_logsoftmax local_logsoftmax_grad "
            "local_softmax_grad_to_crossentropy_with_softmax_grad local_softmax_with_bias "
            "local_useless_crossentropy_softmax_1hot_with_bias_dx_alloc"
        ),
        "theano.tensor.nnet.activation": "*",
        "theano.tensor.nnet.crossentropy": "*",
        "theano.tensor.nnet.labels": "*",
        "theano.tensor.nnet.likelihood": "*",
        "theano.tensor.nnet.softmax": "*",
    },
    "theano.tensor.nnet.sigm": {
        "theano.tensor.nnet.activation": (
            "hard_sigmoid scalar_sigmoid scalar_softplus ScalarSigmoid ScalarSoftplus sigmoid sigmoid_inplace softplus "
            "ultra_fast_scalar_sigmoid=scalar_ultra_fast_sigmoid ultra_fast_sigmoid UltraFastScalarSigmoid"
        ),
    },
    "theano.tensor.opt": {
        "theano.tensor.control.checks": "Assert assert_ assert_op",
        "theano.graph.source": "copy_stack_trace",
        "theano.rewriting": "constant_folding",
        "theano.rewriting.userdefined": (
            "in2out local_optimizer out2in register_canonicalize register_specialize register_specialize_device "
            "register_stabilize register_uncanonicalize register_useless"
        ),
    },
    "theano.tensor.raw_random": {
        "theano.tensor.random.distributions": (
            "binomial choice choice_helper multinomial multinomial_helper normal permutation permutation_helper "
            "poisson random_integers random_integers_helper uniform"
        ),
        "theano.tensor.random.function": "RandomFunction",
        "theano.tensor.random.streams": "RandomStreamsBase",
        "theano.tensor.random.type": "RandomStateType",
        "theano.tensor.random.rules": "random_make_inplace",
    },
    "theano.tensor.shared_randomstreams": {
        "theano.tensor.random.streams": "RandomStreams",
        "theano.tensor.random.var": "randomstate_constructor RandomStateSharedVariable",
    },
    "theano.tensor.signal": {},
    "theano.tensor.signal.pool": {
        "theano.tensor.pool": "*",
    },
    "theano.tensor.slinalg": {
        "theano.tensor.linalg.elimination": "lu lu_factor LUFactor",
        "theano.tensor.linalg.factor": "Cholesky cholesky Eigvalsh eigvalsh",
        "theano.tensor.linalg.functions": "Expm expm kron",
        "theano.tensor.linalg.gradients": "CholeskyGrad EigvalshGrad ExpmGrad",
        "theano.tensor.linalg.equations": (
            "cho_solve MATRIX_STRUCTURES Solve solve solve_lower_triangular solve_symmetric solve_upper_triangular"
        ),
    },
    "theano.tensor.subtensor": {
        "theano.tensor.printers": "SubtensorPrinter",
        "theano.tensor.index.advanced": "*",
        "theano.tensor.index.lengths": "*",
        "theano.tensor.index.basic": "*",
        "theano.tensor.index.functions": "*",
        "theano.tensor.type_other": "as_index_variable",
    },
}
