"""`theano.config`: its flags, where their values come from, and what it says about mistakes."""

from __future__ import annotations

import copy
import json
import os
import pickle
from pathlib import Path

import pytest

from theano.errors import (
    FlagError,
    FlagSyntaxError,
    FlagValueError,
    ImmutableFlagError,
    TheanoConfigWarning,
    UnknownFlagError,
)
from theano.settings import AddConfigVar, BoolParam, EnumStr, StrParam, load_config
from theano.settings.flags import ALIASES, TABLE

DOCUMENTED = json.loads(Path(__file__).with_name("documented_flags.json").read_text())


def config(flags="", rc="", **environ):
    return load_config({"THEANO_FLAGS": flags, "THEANORC": str(rc), **environ})


@pytest.mark.parametrize("name", sorted(DOCUMENTED))
def test_documented_flag(name):
    documented = DOCUMENTED[name]
    fresh = config()
    param = {p.name: p for p in TABLE}[ALIASES.get(name, name)]
    assert param.mutable == documented["mutable"]
    assert set(param.choices) >= set(documented["choices"])
    for choice in documented["choices"]:
        assert param.convert(choice) == choice
    value = fresh.given("__no__", "") if name == "" else _read(fresh, name)
    if documented["default"] != "computed (path)":
        assert value == param.convert(documented["default"])
    assert _read(config(f"{name}={value}"), name) == value or value == ""
    assert name in str(fresh) or name in ALIASES


def _read(config, name):
    for part in name.split("."):
        config = getattr(config, part)
    return config


def test_each_flag_has_help_that_is_a_sentence():
    for param in TABLE:
        assert param.doc and param.doc[0].isupper() and param.doc.endswith("."), param.name
        assert not param.inert.endswith("."), param.name


def test_a_flag_without_effect_says_so():
    shown = str(config())
    assert "No effect here" in shown[shown.index("compile.wait (") :].split("\n\n")[0]


def test_both_spellings():
    fresh = config("gcc__cxxflags=-g")
    assert fresh.gcc.cxxflags == fresh.gcc__cxxflags == "-g"
    fresh.dnn__conv__algo_fwd = "large"
    assert fresh.dnn.conv.algo_fwd == fresh.dnn.conv__algo_fwd == "large"


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("floatX=float32", "floatX", "float32"),
        (" floatX = float32 , allow_gc=0,", "floatX", "float32"),
        ("floatX=float32,floatX=float16", "floatX", "float16"),
        ("gcc.cxxflags='-O2,-g'", "gcc.cxxflags", "-O2,-g"),
        ('gcc.cxxflags="-O2,-g"', "gcc.cxxflags", "-O2,-g"),
        ("gcc.cxxflags=-O2\\,-g", "gcc.cxxflags", "-O2,-g"),
        ("gcc.cxxflags=-DX=#1,floatX=float32", "gcc.cxxflags", "-DX=#1"),
        ("gcc.cxxflags='-O2',base_compiledir=/a#b,floatX=float32", "floatX", "float32"),
        ("cxx=", "cxx", ""),
        ("vm.lazy=True", "vm.lazy", True),
        ("vm.lazy=None", "vm.lazy", None),
        ("unittests.rseed=random", "unittests.rseed", "random"),
        ("unittests.rseed=7", "unittests.rseed", 7),
        ("optdb.position_cutoff=1.5", "optdb.position_cutoff", 1.5),
        ("profile=true", "profile", True),
    ],
)
def test_environment(text, name, value):
    assert _read(config(text), name) == value


def test_rc_files_in_order_below_the_environment(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("[global]\nfloatx = float32\nmode = FAST_COMPILE\nallow_gc = False\n[dnn.conv]\nalgo_fwd = fft\n")
    two.write_text("[global]\nmode = FAST_RUN\n[gcc]\ncxxflags = -I%(USER)s -DX=%d\n")
    fresh = config("allow_gc=True", f"{one}:{tmp_path / 'absent'}:{two}", USER="ann")
    assert (fresh.floatX, fresh.mode, fresh.allow_gc, fresh.dnn.conv.algo_fwd) == ("float32", "FAST_RUN", True, "fft")
    assert fresh.gcc.cxxflags == "-I%(USER)s -DX=%d"  # a per cent sign that means nothing leaves the text alone


def test_only_the_value_that_wins_is_checked(tmp_path):
    rc = tmp_path / "rc"
    rc.write_text("[global]\ndevice = gpu\nfloatX = float63\n")
    fresh = config("device=cpu,floatX=float32", rc)
    assert (fresh.device, fresh.floatX) == ("cpu", "float32")
    with pytest.raises(FlagValueError, match="'float63'"):
        config("device=cpu", rc)
    with pytest.raises(FlagValueError, match="or cpu if you have no GPU"):
        config("floatX=float32", rc)


def test_rc_values_may_name_the_user(tmp_path):
    (tmp_path / "rc").write_text("[global]\nbase_compiledir = /scratch/%(USER)s\n")
    assert config(rc=tmp_path / "rc", USER="ann").base_compiledir == "/scratch/ann"


def test_default_rc_file(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".theanorc").write_text("[global]\nfloatX = float32\n")
    assert load_config({}).floatX == "float32"


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("floatY=float32", UnknownFlagError, ["'floatY'", "THEANO_FLAGS", "Did you mean floatX"]),
        ("floatX=float63", FlagValueError, ["floatX", "'float63'", "THEANO_FLAGS", "float64, float32, float16"]),
        ("allow_gc=perhaps", FlagValueError, ["allow_gc", "'perhaps'", "True or False"]),
        ("traceback.limit=all", FlagValueError, ["traceback.limit", "'all'", "whole number"]),
        ("threads=-1", FlagValueError, ["threads", "'-1'"]),
        ("device=gpu0", FlagValueError, ["device", "'gpu0'", "cuda"]),
        ("contexts=dev0", FlagValueError, ["contexts", "name->device"]),
        ("dnn.conv.workmem=small", FlagValueError, ["dnn.conv.workmem", "dnn.conv.algo_fwd"]),
        ("floatX", FlagSyntaxError, ["'floatX' has no value"]),
        ("gcc.cxxflags='-g", FlagSyntaxError, ["No closing quotation"]),
    ],
)
def test_mistakes_in_the_environment(text, error, said):
    with pytest.raises(error) as caught:
        config(text)
    assert isinstance(caught.value, FlagError) and isinstance(caught.value, ValueError)
    for words in said:
        assert words in str(caught.value)
    assert len(str(caught.value).splitlines()) <= 3


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("[global]\nfloatX = float63\n", FlagValueError, "section [global]"),
        ("[gcc]\ncxxflgs = -g\n", UnknownFlagError, "gcc.cxxflags"),
        ("floatX = float32\n", FlagSyntaxError, "rc file"),
        ("[global]\nfloatX = float32\nfloatX = float64\n", FlagSyntaxError, "rc file"),
    ],
)
def test_mistakes_in_an_rc_file(tmp_path, text, error, said):
    path = tmp_path / "rc"
    path.write_text(text)
    with pytest.raises(error) as caught:
        config(rc=path)
    assert said in str(caught.value) and str(path) in str(caught.value)


def test_flags_of_older_versions_are_accepted_with_a_warning():
    with pytest.warns(TheanoConfigWarning, match=r"nvcc\.fastmath"):
        config("nvcc.fastmath=True")


def test_attributes_are_checked():
    fresh = config()
    fresh.floatX = "float32"
    fresh.allow_gc = 0
    fresh.optimizer = None
    assert (fresh.floatX, fresh.allow_gc, fresh.optimizer) == ("float32", False, "None")
    with pytest.raises(FlagValueError):
        fresh.floatX = "float63"
    with pytest.raises(AttributeError, match="floatX"):
        fresh.floatx = "float32"
    assert not hasattr(fresh, "floatx") and not hasattr(fresh.gcc, "flags")
    assert fresh.floatX == "float32"


def test_fixed_flags():
    fresh = config("device=cpu")
    with pytest.raises(ImmutableFlagError, match="THEANO_FLAGS=device="):
        fresh.device = "cpu"
    with pytest.raises(ImmutableFlagError):
        fresh.change_flags(compiledir="/x")


def test_change_flags_restores():
    fresh = config()
    with fresh.change_flags([("gcc.cxxflags", "-g")], floatX="float32", vm__lazy=True):
        assert (fresh.gcc.cxxflags, fresh.floatX, fresh.vm.lazy) == ("-g", "float32", True)
        assert fresh.given("floatX") == "float32"
    assert (fresh.gcc.cxxflags, fresh.floatX, fresh.vm.lazy) == ("", "float64", None)
    assert fresh.given("floatX") is None


def test_change_flags_left_twice():
    # PyMC3's models keep one of these, enter another one of their own inside, and leave that one two times.
    fresh = config()
    changes = fresh.change_flags(floatX="float32")
    with changes:
        pass
    changes.__exit__(None, None, None)
    assert fresh.floatX == "float64" and fresh.given("floatX") is None


def test_change_flags_pickles():
    import theano

    entered = theano.config.change_flags(on_unused_input="ignore")
    with entered:
        copied = pickle.loads(pickle.dumps(entered))
    assert theano.config.on_unused_input == "raise"
    with copied:
        assert theano.config.on_unused_input == "ignore"
    assert theano.config.on_unused_input == "raise"


def test_change_flags_restores_after_an_error():
    fresh = config()
    with pytest.raises(ZeroDivisionError), fresh.change_flags(floatX="float32"):
        fresh.floatX = "float16"
        1 / 0
    assert fresh.floatX == "float64"


def test_change_flags_of_a_computed_default():
    fresh = config()
    before = fresh.cxx
    with fresh.change_flags(cxx=""):
        assert fresh.cxx == "" and fresh.given("cxx") == ""
    assert fresh.cxx == before and fresh.given("cxx") is None


def test_change_flags_checks_all_before_it_sets_any():
    fresh = config()
    with pytest.raises(FlagValueError):
        fresh.change_flags(floatX="float32", allow_gc="perhaps")
    with pytest.raises(UnknownFlagError):
        fresh.change_flags(floatX="float32", nonsense=1)
    assert fresh.floatX == "float64"


def test_change_flags_decorates_a_function_that_calls_itself():
    fresh = config()

    @fresh.change_flags(floatX="float32")
    def nested(depth):
        """Doc."""
        return [fresh.floatX] + (nested(depth - 1) if depth else [])

    assert nested(2) == ["float32"] * 3
    assert fresh.floatX == "float64" and nested.__doc__ == "Doc."


def test_mode_may_be_an_object_or_a_registered_name():
    class Mode:
        linker = optimizer = None

    fresh, mode = config(), Mode()
    fresh.mode = mode
    assert fresh.mode is mode
    with pytest.raises(FlagValueError, match="FAST_RUN"):
        fresh.mode = object()


def test_directories(tmp_path):
    plain = config()
    assert plain.compiledir == plain.base_compiledir
    assert config(f"base_compiledir={tmp_path}").compiledir == str(tmp_path / "compiled")
    assert config(f"compiledir={tmp_path}").compiledir == str(tmp_path)
    assert config(f"base_compiledir={tmp_path}{os.pathsep}/shared").compiledir == str(tmp_path / "compiled")
    assert config(f"base_compiledir={os.pathsep}/shared").compiledir == plain.compiledir
    named = config(f"base_compiledir={tmp_path},compiledir_format=x-%(python_bitwidth)s-%(device)s")
    assert named.compiledir == str(tmp_path / "x-64-cpu")
    assert config(f"compiledir={tmp_path}").gpuarray.cache_path == str(tmp_path / "gpuarray_kernels")


def test_programs_add_flags_of_their_own():
    fresh = config()
    AddConfigVar("mine.depth", "How deep.", EnumStr("one", "two"), root=fresh)
    fresh.add("lazy", "Found out.", StrParam(lambda: "found"))
    fresh.mine.depth = "two"
    assert (fresh.mine.depth, fresh.lazy) == ("two", "found")
    for taken in ("mine.depth", "mine"):
        with pytest.raises(AttributeError, match="already"):
            fresh.add(taken, "Again.", BoolParam(False))


def test_looks_like_an_ordinary_object():
    fresh = config()
    assert {"floatX", "gcc", "change_flags"} <= set(dir(fresh))
    assert {"algo_fwd", "workmem"} <= set(dir(fresh.dnn.conv))
    assert repr(fresh.gcc) == "<flags theano.config.gcc.*>"
    with pytest.raises(AttributeError):
        fresh.__wrapped__
    copied = copy.copy(fresh)
    with fresh.change_flags(floatX="float32"):
        assert copied.floatX == "float32"
    assert copied.floatX == "float64"


def test_errors_can_be_sent_to_another_process():
    for text in ("floatY=1", "floatX=1", "floatX"):
        with pytest.raises(FlagError) as caught:
            config(text)
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
