"""Exported models give what the functions give, bit for bit: in C, and through the loader that needs only NumPy."""

from __future__ import annotations

import ctypes
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import models
import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.aot import build, export
from theano.aot.build import Commands, Unit
from theano.aot.exports import SourceTree
from theano.cache.store import CacheSettings, open_cache
from theano.codegen.unit import current_toolchain
from theano.errors import ExportError, NoCompilerError
from theano.tensor.kernels.building import LEVELS
from theano.tensor.kernels.common import library_path
from theano.toolchain import progress
from theano.toolchain.description import Toolchain, ToolchainSettings
from theano.toolchain.find import Compiler
from theano.toolchain.flags import KERNELS_ALONE

HERE = Path(__file__).parent
#: The same numbers in a quarter of the time to compile: no kernel lets a compiler reorder arithmetic.
QUICK = {"gcc.cxxflags": "-O0"}
#: What the layer's kernels of this process are linked from.
ARCHIVE = Path(library_path() or "none").with_name(f"lib{Path(library_path() or 'none').name.partition('.')[0]}.a")


def imported(path):
    """Return the loader that was written beside a library."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def as_list(results):
    return results if isinstance(results, list) else [results]


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The folder of a model of all functions, and these."""
    functions = models.all_functions()
    folder = tmp_path_factory.mktemp("exported") / "all"
    theano.export(functions, folder, "all")
    return folder, functions


@pytest.fixture
def model(exported):
    """The model in this process, opened anew."""
    return imported(exported[0] / "all.py").Model()


@pytest.fixture
def values(exported, tmp_path):
    """A folder with a copy of the model's values."""
    shutil.copytree(exported[0] / "values", tmp_path / "values")
    return tmp_path


class TestValues:
    """What it computes."""

    def test_all_results_and_stored_values_are_equal_bit_for_bit(self, exported, model):
        _, functions = exported
        for name, calls in models.arguments().items():
            for given in calls:
                wanted, got = as_list(functions[name](*given)), getattr(model, name)(*given)
                assert [v.tobytes() for v in got] == [np.asarray(v).tobytes() for v in wanted], (name, given)
                assert [(v.shape, v.dtype) for v in got] == [(np.shape(v), np.asarray(v).dtype) for v in wanted], name
        for function in functions.values():
            for shared in function.get_shared():
                assert model.get(shared.name).tobytes() == shared.get_value().tobytes(), shared

    def test_a_program_in_c_without_python(self, exported, tmp_path):
        folder, functions = exported
        images = models.draws(5).random((9, 64)).astype("float32")
        labels = models.draws(5).integers(0, 10, 9).astype("int32")
        fresh = imported(folder / "all.py").Model()
        wanted = [fresh.predict(images), fresh.train(images, labels), fresh.predict(images)]
        images.tofile(tmp_path / "images"), labels.tofile(tmp_path / "labels")
        compiler = shutil.which("cc")
        command = [compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{folder}", str(HERE / "caller.c"), "-o", "caller"]
        subprocess.run([*command, str(folder / "liball.so"), f"-Wl,-rpath,{folder}"], cwd=tmp_path, check=True)
        ran = subprocess.run(["./caller", str(folder)], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert (tmp_path / "before").read_bytes() == wanted[0][0].tobytes()
        assert (tmp_path / "loss").read_bytes() == wanted[1][0].tobytes()
        assert (tmp_path / "after").read_bytes() == wanted[2][0].tobytes()
        assert (tmp_path / "guess").read_bytes() == wanted[2][1].tobytes()
        said = ran.stdout.splitlines()
        assert "code 8: dot: shapes (9, 60) and (64, 16) do not fit together" in said[0]
        assert "written at" in said[1] and "models.py" in said[1]
        assert said[2] == "code 3: the input images is float32 with 2 dimensions, not float64 with 2"
        assert said[3] == "code 3: the input images is missing: its data are NULL"
        assert said[4].startswith("closed: ") and said[4].endswith("W1.npy: No such file or directory")
        linked = subprocess.run(["ldd", "caller"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        assert "liball.so" in linked and "python" not in linked.replace(str(folder), "")

    def test_the_loader_needs_only_numpy(self, exported, tmp_path):
        folder, _ = exported
        program = (
            f"import sys; sys.path.insert(0, {str(folder)!r})\n"
            "import all as loader\nmodel = loader.Model()\nprint(model.numbers(3)[0])\n"
            "print([m for m in sys.modules if m.partition('.')[0] in ('theano', 'scipy')])\n"
        )
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
        value, modules = ran.stdout.splitlines()
        assert float(value) == pytest.approx(0.824, abs=1) and modules == "[]"

    @pytest.mark.parametrize("count", [2, 3, 64])
    def test_threads_of_the_caller_change_no_bit(self, exported, model, count):
        body = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
        calls = []

        @ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
        def in_pieces(n, grain, run, arg):
            calls.append(n)
            piece = max(grain, n // count)
            for low in range(0, n, piece):
                body(run)(arg, low, min(n, low + piece))

        imported(exported[0] / "all.py").LIB.all_set_parallel(model._model, in_pieces)
        draws, fresh = models.draws(6), imported(exported[0] / "all.py").Model()
        images, labels = draws.random((4003, 64)).astype("float32"), draws.integers(0, 10, 4003).astype("int32")
        maps = images[:1001].reshape(-1, 1, 8, 8)
        for name, given in [("predict", (images,)), ("train", (images, labels)), ("conv_train", (maps, labels[:1001])), ("conv", (maps,))]:
            calls.clear()
            got, wanted = getattr(model, name)(*given), getattr(fresh, name)(*given)
            assert [v.tobytes() for v in got] == [v.tobytes() for v in wanted] and calls, name


class TestStoredValues:
    """What it keeps."""

    def test_a_call_that_fails_has_changed_nothing(self, model):
        images = models.draws(7).random((9, 64)).astype("float32")
        names = [v["name"] for v in json.loads((Path(model.__init__.__globals__["HERE"]) / "all.json").read_text())["values"]]
        before = {name: model.get(name) for name in names}
        for labels in (np.full(9, 10, "int32"), np.zeros(8, "int32")):
            with pytest.raises(ValueError):
                model.train(images, labels)
        for name in names:
            assert model.get(name).tobytes() == before[name].tobytes(), name
        assert model.train(images, np.zeros(9, "int32"))

    def test_set_save_and_open_again(self, exported, model, tmp_path):
        folder, _ = exported
        model.set("b1", np.arange(16.0)[::-1])
        assert model.get("b1").tolist() == list(range(15, -1, -1))
        with pytest.raises(ValueError, match="b1 is float32 with 1 dimensions, not float32 with 2"):
            model.set("b1", np.zeros((4, 4)))
        with pytest.raises(ValueError, match="the model stores no value of the name nothing"):
            model.get("nothing")
        shutil.copytree(folder / "values", tmp_path / "values")
        model.save(tmp_path)
        assert np.load(tmp_path / "values" / "b1.npy").tolist() == list(range(15, -1, -1))
        again = imported(folder / "all.py").Model(tmp_path)
        assert again.get("b1").tolist() == list(range(15, -1, -1))
        with pytest.raises(OSError, match="No such file"):
            model.save(tmp_path / "nowhere")

    def test_models_of_one_folder_know_nothing_of_each_other(self, exported, model):
        other = imported(exported[0] / "all.py").Model()
        before = other.get("b2")
        model.set("b2", np.ones(10))
        assert other.get("b2").tobytes() == before.tobytes() != model.get("b2").tobytes()

    @pytest.mark.parametrize(
        ("array", "message"),
        [
            (np.zeros(16), "another dtype"),
            (np.zeros((4, 4), "float32"), "another number of dimensions"),
            (b"\x93NUMPY\x01\x00\x10", "it is no .npy file"),
            (b"no array", "it is no .npy file"),
        ],
    )
    def test_files_that_are_not_those_of_the_model(self, exported, tmp_path, array, message):
        folder, _ = exported
        shutil.copytree(folder / "values", tmp_path / "values")
        path = tmp_path / "values" / "b1.npy"
        path.write_bytes(array) if isinstance(array, bytes) else np.save(path, array)
        with pytest.raises(OSError, match=message):
            imported(folder / "all.py").Model(tmp_path)

    def test_files_in_the_order_of_fortran_and_of_later_versions(self, exported, tmp_path):
        folder, _ = exported
        shutil.copytree(folder / "values", tmp_path / "values")
        values = models.draws(8).normal(size=(64, 16)).astype("float32")
        with open(tmp_path / "values" / "W1.npy", "wb") as file:
            np.lib.format.write_array(file, np.asfortranarray(values), version=(2, 0))
        assert imported(folder / "all.py").Model(tmp_path).get("W1").tobytes() == values.tobytes()

    def test_a_file_that_ends_too_early(self, exported, tmp_path):
        folder, _ = exported
        shutil.copytree(folder / "values", tmp_path / "values")
        path = tmp_path / "values" / "W1.npy"
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(OSError, match="it ends too early"):
            imported(folder / "all.py").Model(tmp_path)


class TestInputs:
    """What it is given."""

    def test_what_lies_in_any_way(self, exported, model):
        _, functions = exported
        raw = np.zeros(12 * 64 * 4 + 1, "uint8")
        crooked = raw[1:].view("float32").reshape(12, 64)
        crooked[...] = models.draws(9).random((12, 64))
        wide = np.broadcast_to(crooked[:1], (6, 64))
        for images in (crooked, crooked[::-1], crooked.T.copy().T, wide):
            got = model.predict(images)
            assert got[0].tobytes() == functions_of(functions, "predict", images, model)[0].tobytes()

    def test_lengths_that_a_type_fixes(self, model):
        assert model.row(np.ones((1, 3)))[0].tolist() == [[2, 2, 2]]
        with pytest.raises(ValueError, match="the input x has the length 2 along dimension 0, where its type says 1"):
            model.row(np.ones((2, 3)))


def functions_of(functions, name, images, model):
    """Return what a function gives with the values of a model."""
    for shared in functions[name].get_shared():
        shared.set_value(model.get(shared.name))
    return functions[name](images)


class TestFiles:
    """What is written."""

    def test_metadata(self, exported):
        folder, _ = exported
        about = json.loads((folder / "all.json").read_text())
        train = about["functions"]["train"]
        assert [(i["name"], i["dtype"], i["shape"]) for i in train["inputs"]] == [
            ("images", "float32", [None, None]), ("labels", "int32", [None]), ("rate", "float32", []),
        ]  # fmt: skip
        assert train["inputs"][2]["default"] == "values/rate.npy" and len(train["updates"]) == 8
        values = {v["name"]: v for v in about["values"]}
        assert values["W1"]["shape"] == [64, 16] and np.load(folder / values["W1"]["file"]).shape == (64, 16)

    def test_the_header_has_each_array_and_stored_value(self, tmp_path):
        """Each by its name, that of its input or one of ours, with the lengths that its type knows."""
        row = theano.shared(np.ones((1, 3)), "row", broadcastable=(True, False))
        column = theano.shared(np.ones((2, 1), "float32"), "column", broadcastable=(False, True))
        x, rate = T.drow("x"), theano.In(T.fscalar(), value=np.float32(1), name="rate")
        updates = [(column, column * 2), (total := theano.shared(2.0), total + 1)]
        f = theano.function([x, rate], {"y": x.T * row, "sum": x.sum() * rate.variable}, updates=updates)
        theano.export({"step": f}, tmp_path / "model", library=False)
        comments = re.findall(r"/\*     (.*) \*/", (tmp_path / "model" / "model.h").read_text())
        assert comments == [
            "inputs[0]: float64[1][] x", "inputs[1]: float32 rate", "outputs[0]: float64 sum", "outputs[1]: float64[][] y",
            "stores column", "stores value",
            "row: float64[1][]", "column: float32[][1]", "value: float64", "rate: float32",
        ]  # fmt: skip

    def test_each_kernel_comes_as_source(self, exported):
        """Whatever the library does not define itself is the C library's."""
        folder, _ = exported
        listed = subprocess.run(["nm", "-D", str(folder / "liball.so")], capture_output=True, text=True, check=True).stdout
        missing = re.findall(r"^ +U (\S+)", listed, re.MULTILINE)
        assert not [name for name in missing if name.startswith(("th_", "model_", "Py"))]
        defined = re.findall(r"^\w+ T (\S+)", listed, re.MULTILINE)
        assert all(name.startswith("all_") for name in defined), "what is exported begins with the model's name"
        assert (folder / "src" / "tensor" / "conv.h").is_file() and not (folder / "src" / "tensor" / "fft.c").exists()

    def test_a_blas_that_is_linked(self, tmp_path):
        """The routines of the library that is named are those that compute."""
        (tmp_path / "blas.c").write_text(FAKE_BLAS)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "libfake.so", "blas.c"], cwd=tmp_path, check=True)
        x = T.dmatrix("x")
        function = theano.function([x], T.dot(x, x))
        options = ["-L" + str(tmp_path), "-lfake", "-Wl,-rpath," + str(tmp_path)]
        with theano.change_flags({**QUICK, "blas.gemm": "library"}):
            theano.export(function, tmp_path / "linked", blas=options)
        model = imported(tmp_path / "linked" / "linked.py").Model()
        assert model.call(np.ones((2, 2)))[0].tolist() == [[42, 42], [42, 42]]
        sources = {path.name for path in (tmp_path / "linked" / "src" / "tensor").glob("*.c")}
        assert sources == {"copy.c", "gemm_f32.c", "gemm_f64.c", "linear.c"}, "what a product needs, and no more"

    def test_any_name_of_a_value_is_a_file(self, tmp_path):
        odd = [theano.shared(float(k), name=name) for k, name in enumerate(["a/b", "A/B", "../c", "", "ü", "what?"])]
        x = T.dscalar("in put")
        theano.export(theano.function([x], sum(odd, x)), tmp_path / "odd", library=False)
        files = sorted(p.name for p in (tmp_path / "odd" / "values").iterdir())
        assert files == ["A_B.1.npy", "_.npy", "_c.npy", "a_b.npy", "value.npy", "what_.npy"]

    def test_long_names(self, tmp_path):
        name = "n" * 300
        long = [theano.shared(float(k), name=name + end) for k, end in enumerate(["", "", "é", "!"])]
        x = T.dscalar(name)
        f = theano.function([x], [x + sum(long)], name=name)
        with theano.change_flags(QUICK):
            theano.export({"f": f}, tmp_path / "long")
        got = imported(tmp_path / "long" / "long.py").Model()
        assert got.f(1.0)[0] == 7.0 and all(len(p.name) < 220 for p in (tmp_path / "long" / "values").iterdir())

    @pytest.mark.parametrize("name", ["model", "loop", "kernels", "machine", "calls", "npy", "move", "abi", "elementwise"])
    def test_names_that_what_runs_it_has(self, tmp_path, name):
        x, n = T.dvector("x"), T.iscalar("n")
        function = theano.function([x, n], [theano.scan(lambda v: 2 * v, outputs_info=x, n_steps=n)[0][-1], x + 1])
        with theano.config.change_flags(QUICK):
            theano.export({"call": function, "loop": function, "check": function}, tmp_path / name)
        model = imported(tmp_path / name / f"{name}.py").Model()
        for each in (model.call, model.loop, model.check):
            assert [v.tolist() for v in each([1, 2], 3)] == [[8, 16], [2, 3]]

    def test_the_library_alone_is_left(self, exported, tmp_path):
        folder, _ = exported
        assert not [path for path in folder.rglob("*") if path.suffix in (".o", ".log", ".a")]
        compiler = tmp_path / "cc"
        compiler.write_text('#!/bin/sh\nwhile [ $# -gt 0 ]; do [ "$1" = -o ] && : > "$2"; shift; done\n')
        commands_of(["/bin/sh", str(compiler)], "a.c", "b.c").run(str(tmp_path), {"a.c": "", "b.c": ""}, own_cache(tmp_path))
        assert {path.name for path in tmp_path.iterdir()} == {"cache", "cc", "libm.so"}

    def test_every_file_is_compiled_so_that_whole_numbers_wrap(self, exported):
        commands = [line for line in (exported[0] / "Makefile").read_text().splitlines() if " -c " in line]
        assert len(commands) > 10 and all("-fwrapv" in line.split() for line in commands), commands


def own_cache(path):
    """Return an empty cache in a folder."""
    return open_cache(CacheSettings(root=str(path / "cache")))


def commands_of(compiler, *files, flags=()):
    """Return the commands by which a compiler makes a library of files."""
    tools = Toolchain(Compiler(tuple(compiler), "PATH"), (), "")
    return Commands(tools, [Unit(name, flags) for name in files], "libm.so", [])


class TestWhatIsCompiled:
    """Kernels of layers are linked, and objects are kept."""

    @pytest.fixture
    def compiled(self, monkeypatch, tmp_path):
        """The files that are compiled, with an empty cache."""
        seen = []
        start = build._start
        monkeypatch.setattr(build, "_start", lambda command, *rest: (seen.extend(w for w in command if w.endswith(".c")), start(command, *rest))[1])
        monkeypatch.setattr(export, "open_cache", lambda settings: own_cache(tmp_path))
        return seen

    @staticmethod
    def function():
        x, y = T.dmatrix("x"), T.dmatrix("y")
        return theano.function([x, y], [T.dot(x, y).sum(), T.exp(x) * y])

    @pytest.mark.skipif(not ARCHIVE.is_file(), reason="the layer was built without archives")
    def test_kernels_of_layers_are_linked(self, compiled, tmp_path):
        f = self.function()
        theano.export(f, tmp_path / "m")
        assert "src/m_tables.c" in compiled and "src/kernels.c" in compiled and not [name for name in compiled if "tensor" in name]
        assert {"linear.c", "reduce.c"} <= {path.name for path in (tmp_path / "m" / "src" / "tensor").iterdir()}
        x = models.draws(10).normal(size=(30, 30))
        got = imported(tmp_path / "m" / "m.py").Model().call(x, x)
        assert [v.tobytes() for v in got] == [np.asarray(v).tobytes() for v in f(x, x)]

    def test_objects_are_kept_by_source_and_options(self, compiled, tmp_path):
        x, y = T.dvector("x"), T.dvector("y")
        f = theano.function([x], T.cumsum(x))
        with theano.change_flags(QUICK):
            theano.export(f, tmp_path / "m")
            first = list(compiled)
            assert [name for name in first if "tensor" in name], "the user's options hold for kernels of layers"
            theano.export(f, tmp_path / "m")
            assert compiled == first, "the second time nothing is compiled"
            theano.export(theano.function([x, y], [T.cumsum(x), T.cumsum(y)]), tmp_path / "m")
            assert compiled[len(first) :] == ["src/m_tables.c"], "another function of the same kernels"
        with theano.change_flags({"gcc.cxxflags": "-O0 -DMINE=1"}):
            theano.export(f, tmp_path / "m")
        assert compiled[len(first) + 1 :] == first, "other options"

    def test_a_header_is_part_of_the_source(self, tmp_path):
        cache, commands = own_cache(tmp_path), commands_of(["cc"], "a.c")
        texts = {"a.c": '#include "a.h"\n__attribute__((visibility("default"))) int a(void) { return A; }'}
        for number in (1, 2, 1):
            texts["a.h"] = f"#define A {number}"
            for name, text in texts.items():
                (tmp_path / name).write_text(text)
            commands.library = f"lib{number}.so"
            commands.run(str(tmp_path), texts, cache)
            assert ctypes.CDLL(str(tmp_path / commands.library)).a() == number

    def test_a_line_says_how_far_it_is(self, compiled, tmp_path, capsys, monkeypatch):
        monkeypatch.setattr(progress, "PATIENCE", 0.0)
        with theano.change_flags({"compile.progress": "always"}):
            theano.export(self.function(), tmp_path / "m")
        said = capsys.readouterr().err
        assert re.search(r"^theano: compiling \d+ files, \d+ done, \d s$", said, re.MULTILINE), said

    def test_without_archives_all_files_are_compiled(self, tmp_path):
        (tmp_path / "damaged.a").write_text("no archive")
        assert build.members(["cc"], str(tmp_path / "damaged.a"), ["th_kernel_dot"]) == []
        tree = SourceTree("t", {"a.c": "", "b.c": "", "a.h": ""}, {}, (), (), {(): str(tmp_path / "damaged.a")})
        tools = current_toolchain(ToolchainSettings.from_config(theano.config))
        assert export._of_layer(tree, ["th_a"], tools, "native") == (["a.c", "b.c"], "")


class TestCommands:
    """How it is compiled, as the Makefile has it."""

    @staticmethod
    def written(folder, cpu="native", name="m", **options):
        """Return the words of the commands by the file that each makes, and those for each file of C."""
        x = T.dvector("x")
        f = theano.function([x], [T.exp(x) * 2, T.dot(x, x), T.cumsum(x)])
        path = Path(theano.export(f, folder, name, library=False, cpu=cpu, **options))
        assert path.parent == folder / "src" and path.is_file() and (name is None or path.name == f"{name}_tables.c")
        lines = [line.split() for line in (folder / "Makefile").read_text().splitlines() if "$(CC)" in line]
        made = {words[words.index("-o") + 1]: words for words in lines}
        return made, {name: made[name] for name in made if name.endswith(".o")}

    def test_which_cpu_they_are_for(self, tmp_path):
        says = ("-march=", "-mcpu=", "-mtune=", "-mprefer-vector-width=")
        for cpu, wanted in (("native", None), ("baseline", []), ("x86-64-v3", ["-march=x86-64-v3"])):
            _, compiled = self.written(tmp_path / cpu, cpu)
            found = {name: [word for word in words if word.startswith(says)] for name, words in compiled.items()}
            ours = {name: found.pop(name) for name in list(found) if name == "src/kernels.o" or "/tensor/" in name}
            assert len(ours) > 2 and not any(found.values()), "what runs the tables is for any"
            if wanted is None:
                native = [word for word in current_toolchain(ToolchainSettings.from_config(theano.config)).flags if word.startswith(says)]
                assert native and ours.pop("src/kernels.o") == native
                # The kernels of a layer are exported as they run here.
                level = [word for word in LEVELS.get(Path(library_path()).name.partition(".")[0], ()) if word.startswith(says)]
                assert all(words == level for words in ours.values()), ours
            else:
                assert all(words == wanted for words in ours.values()), (cpu, ours)

    def test_options_for_the_library_and_of_the_user(self, tmp_path):
        with theano.change_flags({"gcc.cxxflags": "-O1 -DMINE=1"}):
            made, compiled = self.written(tmp_path / "m", blas=["-L/nowhere -lone", "-ltwo"])
        alone = {"-shared", "-g0", KERNELS_ALONE}
        for name, words in compiled.items():
            assert {"-fPIC", "-fvisibility=hidden", "-c", "-DMINE=1", "-fwrapv"} <= set(words), name
            assert not alone & set(words) and not any(word.startswith("-Wl,") for word in words), name
            assert [word for word in words if word.startswith("-O")][-1] == "-O1", "the user's come last"
            assert f"-I{Path(name).parent}" in words and words[-3] == str(Path(name).with_suffix(".c")), name
        link = made["libm.so"]
        assert link[-4:] == ["-L/nowhere", "-lone", "-ltwo", "-lm"] and "-shared" in link and set(compiled) < set(link)
        about = self.written(tmp_path / "one", blas="-lone")[0]["libm.so"]
        assert about[-2:] == ["-lone", "-lm"]

    def test_make_has_the_same_commands_and_cleans_up(self, exported, tmp_path):
        made, compiled = self.written(tmp_path / "my model-2", name=None)
        assert "libmy_model_2.so" in made, "the name is that of the folder"

        def make(*words):
            command = ["make", *words]
            return subprocess.run(command, cwd=tmp_path / "my model-2", check=True, capture_output=True, text=True).stdout

        said = [line.split()[1:] for line in make("-n").splitlines()]
        assert [words[1:] for words in made.values()] == [*said[-1:], *said[:-1]]
        object_file = tmp_path / "my model-2" / "src" / "npy.o"
        make("src/npy.o")
        assert object_file.exists() and "npy.o" in " ".join(compiled)
        make("clean")
        assert not object_file.exists() and not list(exported[0].rglob("*.o"))

    def test_a_compiler_that_refuses(self, tmp_path):
        texts = {name: f"int {name[:-2]}(void) {{ return 1; }}" for name in ("first.c", "second.c", "third.c")}
        for name, text in texts.items():
            (tmp_path / name).write_text(text)
        commands, cache = commands_of(["cc"], *texts), own_cache(tmp_path)
        commands.units[1].flags = ("-march=none",)
        with pytest.raises(NoCompilerError, match=r"(?s)It ran: cc -march=none .* -c second.c -o .*\n.*none"):
            commands.run(str(tmp_path), texts, cache)
        assert not [p for p in tmp_path.rglob("*") if p.suffix in (".o", ".so")]
        with pytest.raises(NoCompilerError, match="the C compiler /no/such/cc cannot be started"):
            commands_of(["/no/such/cc"], *texts).run(str(tmp_path), texts, cache)


FAKE_BLAS = """
void dgemm_(const char *a, const char *b, const int *m, const int *n, const int *k, const double *alpha, const double *x,
            const int *lx, const double *y, const int *ly, const double *beta, double *z, const int *lz) {
    (void)a, (void)b, (void)k, (void)alpha, (void)x, (void)lx, (void)y, (void)ly, (void)beta;
    for (int j = 0; j < *n; ++j) for (int i = 0; i < *m; ++i) z[i + (long)j * *lz] = 42;
}
void dgemv_(void) {} void dger_(void) {} double ddot_(void) { return 0; }
"""


class TestRefusals:
    """What cannot be exported is said by name and line."""

    def test_ops_in_python_by_name_and_line(self, tmp_path):
        x = T.dvector("x")

        class Twice(theano.Op):
            __props__ = ()

            def make_node(self, v):
                return theano.Apply(self, [v], [v.type()])

            def perform(self, node, inputs, outputs):
                outputs[0][0] = 2 * inputs[0]

        y = Twice()(x)
        with pytest.raises(ExportError, match=r"Twice\(x\), written at .*test_exported_models.py:\d+: only Python code"):
            theano.export(theano.function([x], y + 1), tmp_path / "no")
        inner, _ = theano.scan(lambda v: Twice()(v), outputs_info=x, n_steps=3)
        with pytest.raises(ExportError, match=r"Twice\(.*only Python code"):
            theano.export(theano.function([x], inner), tmp_path / "no")
        with pytest.raises(ExportError, match=r"SortOp.*only in this process \(sort:float64"):
            theano.export(theano.function([x], T.sort(x)), tmp_path / "no")
        assert not (tmp_path / "no").exists()

    def test_values_that_are_no_arrays(self, tmp_path):
        x = theano.generic("x")
        with pytest.raises(ExportError, match="x, of type .*, which is no array of numbers"):
            theano.export(theano.function([x], x), tmp_path / "no")

    @pytest.mark.parametrize(
        ("given", "name", "error", "message"),
        [
            ({}, "m", ValueError, "no function is given"),
            ({"f": len}, "m", TypeError, "f is a builtin_function_or_method, not what theano.function returns"),
            ({"2": None}, "m", TypeError, "2 is a NoneType"),
        ],
    )
    def test_what_is_no_function(self, tmp_path, given, name, error, message):
        with pytest.raises(error, match=message):
            theano.export(given, tmp_path / "no", name)

    def test_names_that_are_none_in_c(self, tmp_path):
        x = T.dscalar("x")
        function = theano.function([x], x + 1)
        for names, message in [
            ({"two words": function}, "'two words' cannot be the name of a function in C"),
            ({"open": function}, "each model has a function open of its own"),
        ]:
            with pytest.raises(ValueError, match=message):
                theano.export(names, tmp_path / "no")
        with pytest.raises(ValueError, match="'1st' cannot be the name of the model in C"):
            theano.export(function, tmp_path / "no", "1st")

    @pytest.mark.parametrize("name", ["theano_model", "th", "th_model", "theano", "p0", "math", "numpy"])
    def test_names_of_files_that_are_there_already(self, tmp_path, name):
        x = T.dscalar("x")
        with pytest.raises(ValueError, match=f"name=.my_{name}"):
            theano.export(theano.function([x], x + 1), tmp_path / name)
