"""What the layer of older programs says of itself before it is imported."""

from __future__ import annotations

from importlib.util import find_spec

from theano.layers import Layer, describe

_TABLES = (
    "graph_core", "imported_in_graph_core", "scalar", "imported_in_scalar", "tensor", "imported_in_tensor", "sparse",
    "imported_in_sparse",
)  # fmt: skip
# Old names of things on devices are there where these are.
_ON_DEVICES = ("gpu_backend",) if find_spec("theano.layers.gpu_backend") else ()

#: What programs ask a loop for by the names that the old Theano has for its inputs and outputs.
_OF_LOOPS = (
    "as_while get_oinp_iinp_iout_oout_mappings inner_mitmot inner_mitmot_outs inner_mitsot inner_mitsot_outs "
    "inner_nitsot_outs inner_non_seqs inner_seqs inner_shared inner_shared_outs inner_sitsot inner_sitsot_outs "
    "mitsot_taps n_mit_mot n_mit_mot_outs n_mit_sot n_nit_sot n_seqs n_shared_outs n_sit_sot outer_mitmot "
    "outer_mitmot_outs outer_mitsot outer_mitsot_outs outer_nitsot outer_nitsot_outs outer_non_seqs outer_seqs "
    "outer_shared outer_shared_outs outer_sitsot outer_sitsot_outs tap_array var_mappings"
)

_OF_FUNCTIONS = (
    "fn output_storage nodes_with_inner_function _check_for_aliased_inputs outputs n_returned_outputs defaults refeed "
    "inv_finder indices sync_shared"
)

_OF_PROFILES = (
    "vm_call_time fct_call class_time class_callcount class_nodes class_impl op_time op_nodes op_impl summary_function "
    "summary_class summary_ops summary_nodes summary_memory summary_globals"
)

LAYER = describe(
    Layer(
        "theano-legacy",
        "theano.legacy",
        names={
            **{f"theano.{name}": f"theano.{name}" for name in ("legacy", "misc", "tests", "typed_list")},
            "theano._asarray": "theano.misc.safe_asarray:_asarray",
            "theano.test": "theano.tests:test",
        },
        members={
            "theano.scan.op.Scan": {
                "theano.legacy.scan_kinds:Kinds": _OF_LOOPS,
                "theano.legacy.pickled_loops:OlderLoop": "restore parts_of_buffers",
            },
            "theano.compile.executable.Function": {"theano.legacy.function_members:Members": _OF_FUNCTIONS},
            "theano.runtime.profile.ProfileStats": {"theano.legacy.profile_members:Members": _OF_PROFILES},
        },
        spellings=" ".join(f"theano.legacy.tables.{name}" for name in (*_TABLES, *_ON_DEVICES)),
    )
)
