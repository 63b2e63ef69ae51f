"""Names that only older programs use: what each leads to."""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano import layers
from theano.rewriting import phases
from theano.scan.op import Scan
from theano.tests.makers import makeTester


def test_modules_of_the_core():
    from theano.compile.function_module import Function, UnusedInputError
    from theano.compile.pfunc import Param
    from theano.compile.profiling import ProfileStats

    assert Param is theano.Param and all((Function, UnusedInputError, ProfileStats))
    assert theano.gof.vm.VM_Linker(use_cloop=False, allow_gc=False).clone(allow_gc=True).allow_gc
    assert importlib.import_module("theano.configdefaults").config is theano.config


def test_helpers_of_older_programs():
    from theano import compat, version
    from theano.gof.graph import list_of_nodes
    from theano.gof.sched import key_to_cmp
    from theano.gof.utils import LOCAL_BITWIDTH, apply_across_args, difference, hashtype, uniq

    assert theano.theano is theano and theano.object2 is object and theano.PY3 is True and LOCAL_BITWIDTH in (32, 64)
    assert version.full_version == theano.__version__ == theano.version.version
    assert compat.cmp(2, 1) == 1 and list(compat.izip([1], [2])) == [(1, 2)] and compat.decode(b"a") == "a"
    assert list(compat.decode_iter([b"a"])) == ["a"] and compat.exc_message(ValueError("no")) == "no"
    assert uniq("abca") == ["a", "b", "c"] and difference("abc", "b") == ["a", "c"] and hashtype([]) == hashtype([1])
    assert apply_across_args(int)("1") == 1 and key_to_cmp(abs)(-2, 1) == 1
    assert list_of_nodes([], []) == []


def test_handlers_of_messages():
    import logging

    logger, handler = logging.Logger("apart"), logging.NullHandler()
    assert not theano.has_handlers(logger)
    logger.addHandler(handler)
    assert theano.has_handlers(logger)
    theano.disable_log_handler(logger, handler)
    theano.disable_log_handler(logger, handler)
    assert not theano.has_handlers(logger)


def test_node_of_pydot_is_among_the_names_of_printing():
    import theano.printing

    installed = importlib.util.find_spec("pydot") is not None
    assert theano.printing.Node is (importlib.import_module("pydot").Node if installed else None)


def test_flags_in_the_environment_that_nobody_has_taken():
    program = (
        "from theano.configparser import AddConfigVar, IntParam, THEANO_FLAGS_DICT\n"
        "assert THEANO_FLAGS_DICT == {'mine.depth': '3'}\n"
        "AddConfigVar('mine.depth', 'How deep.', IntParam(1))\n"
        "assert THEANO_FLAGS_DICT == {}\n"
    )
    environment = {**os.environ, "THEANO_FLAGS": "mine.depth=3"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_test_values():
    x = T.dvector("x")
    x.tag.test_value = np.ones(3)
    with theano.config.change_flags(compute_test_value="raise"):
        (alone,), ((listed,),) = theano.gof.op.get_debug_values(x), theano.graph.op.get_test_values(x)
        assert alone is listed and alone.shape == (3,)


def test_each_rule_is_in_the_module_where_people_look_for_it():
    opt = theano.tensor.opt
    assert [name for name, rule in phases.all_rules().items() if getattr(opt, name, None) is not rule] == []
    assert theano.tensor.opt_uncanonicalize.local_max_to_min is opt.local_max_to_min


def test_modules_of_the_layer_of_arrays():
    from theano.scan_module import scan_op, scan_utils, scan_views  # noqa: F401

    assert scan_utils.until is theano.scan.until and scan_op.Scan is Scan
    assert T.fourier.fft.__module__ == "theano.legacy.fourier" and T.extra_ops.int_t is theano.scalar.int32
    assert T.extra_ops.unique is T.unique and T.tests.test_basic.makeTester is makeTester
    mrg = importlib.import_module("theano.sandbox.rng_mrg")
    assert mrg.MRG_RandomStream is mrg.MRG_RandomStreams is T.random.mrg.MRG_RandomStreams
    x = T.constant(np.arange(16.0).reshape(4, 4))
    downsample = importlib.import_module("theano.tensor.signal.downsample")
    pooled = downsample.max_pool_2d(x, (2, 2), True, st=(1, 1)).eval()
    np.testing.assert_array_equal(pooled, T.pool.pool_2d(x, (2, 2), True, (1, 1)).eval())


def test_an_unknown_name_is_a_plain_error():
    with pytest.raises(AttributeError, match="module 'theano.gof' has no attribute 'nonsense'$"):
        theano.gof.nonsense
    with pytest.raises(AttributeError, match="module 'theano.tensor' has no attribute 'nonsense'$"):
        layers.attribute("theano.tensor", "nonsense")


@pytest.mark.parametrize(
    "place",
    ["tensor.inc_code.inc_code", "tensor.nnet.sigm.partition_num_or_denom", "tensor.nnet.opt.local_conv2d_cpu",
     "tensor.nnet.conv.gen_conv_code_unroll_batch_kern"],
)  # fmt: skip
def test_names_that_are_gone_say_what_takes_their_place(place):
    module, _, name = f"theano.{place}".rpartition(".")
    with pytest.raises(NotImplementedError, match=f"{name} is not part of this Theano: .{{10}}"):
        getattr(importlib.import_module(module), name)(None)
