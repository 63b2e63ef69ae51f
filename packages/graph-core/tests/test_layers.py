"""Layers describe themselves: one that graph-core has never heard of takes part, and no file of a lower layer knows it."""

from __future__ import annotations

import copy
import importlib
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from theano import extensions, layers
from theano.errors import UnavailableLayerError
from theano.extensions import Chain, Single, Table

#: The files of a distribution as they lie in an environment.
COINS = {
    "theano_coins-2.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: theano-coins\nVersion: 2.0\n",
    "theano_coins-2.0.dist-info/entry_points.txt": "[theano.layers]\ncoins = theano.layers.coins:LAYER\n",
    "theano/layers/coins.py": """
        import sys

        from theano.layers import Layer, describe
        from theano.lowering.table import modules
        from theano.toolchain.checks import Line, checks


        def knows(value):
            return type(value).__name__ == "Coin"


        LAYER = describe(
            Layer(
                "theano-coins",
                "theano.coins",
                names={
                    "theano.coins": "theano.coins",
                    "theano.worth": "theano.coins:worth",
                    "theano.compile.worth": "theano.coins:worth",
                },
                knows=knows,
                spellings="theano.layers.old_coins",
                extensions=(
                    modules.extension("theano.coins", ("theano.coins.lowering",)),
                    checks.extension("coins", lambda: [Line("coins", "all there")]),
                ),
            )
        )
    """,
    "theano/layers/old_coins.py": """
        OLD_NAMES = {
            "theano.purse": {"theano.coins": "Coin value=worth"},
            "theano.gof": {"theano.coins": "Coin"},
            "theano.compile": {"theano.coins": "price=worth"},
        }
    """,
    "theano/coins/__init__.py": """
        from theano.compile import SharedVariable, shared_constructor
        from theano.graph import Apply, Op, Type
        from theano.layers import enter
        from theano.layers.coins import LAYER


        class Coin:
            pass


        class Coins(Type):
            __props__ = ()

            def filter(self, value, strict=False, allow_downcast=None):
                return value


        class Worth(Op):
            __props__ = ()
            itypes = otypes = [Coins()]


        worth = Worth()


        @shared_constructor
        def coin_constructor(value, name=None, strict=False, allow_downcast=None):
            if not isinstance(value, Coin):
                raise TypeError("no coin")
            return SharedVariable(name, Coins(), value, strict)


        enter(LAYER)
    """,
    "theano/coins/lowering.py": """
        from theano.coins import Worth
        from theano.graph.kernel import Builtin
        from theano.lowering.table import Lowering, register

        register(Lowering(Worth, lambda op, node: Builtin("/coins.so", "worth")))
    """,
}


def put(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    return folder


def run(folder: Path, program: str) -> str:
    """Run a program in a process that finds the distributions in a folder, and return all that it prints."""
    paths = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [sys.executable, "-c", dedent(program)],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def coins(tmp_path: Path) -> Path:
    return put(tmp_path / "site", COINS)


def test_a_new_layer_is_found_by_what_it_adds(coins: Path) -> None:
    run(
        coins,
        """
        import theano
        assert theano.worth is theano.compile.worth is theano.coins.worth
        assert "worth" in dir(theano) and "coins" in dir(theano)
        """,
    )


def test_a_new_layer_makes_variables_of_its_values(coins: Path) -> None:
    run(
        coins,
        """
        import sys, theano
        class Coin: pass
        assert type(theano.shared({}).type) is theano.Generic and "theano.coins" not in sys.modules
        kept = theano.shared(Coin())
        assert "theano.coins" in sys.modules and type(kept.type) is theano.Generic
        assert type(theano.shared(theano.coins.Coin()).type) is theano.coins.Coins
        """,
    )


def test_nodes_of_a_new_layer_are_lowered_by_its_entries(coins: Path) -> None:
    run(
        coins,
        """
        import sys, theano.coins
        from theano.lowering.table import lower
        assert "theano.coins.lowering" not in sys.modules
        assert lower(theano.coins.worth(theano.coins.Coins()()).owner).symbol == "worth"
        """,
    )


def test_the_doctor_knows_a_new_layer(coins: Path) -> None:
    page = run(
        coins,
        """
        from theano import doctor
        for line in (*doctor._versions(), *doctor._layers()):
            print(line)
        """,
    )
    assert ", coins 2.0" in page and "coins      all there" in page


def test_the_description_of_a_new_layer_is_among_the_sources_of_which_programs_in_the_cache_were_made(coins: Path) -> None:
    run(
        coins,
        """
        import theano.coins
        from theano.compile import environment
        files = [name for name, _ in environment._files()]
        assert len(set(files)) == len(files) and {"layers/__init__.py", "layers/coins.py", "coins/lowering.py"} < set(files)
        environment._check_loaded({entry.path for _, entry in environment._files()})
        """,
    )


def test_old_spellings_of_a_layer(coins: Path) -> None:
    run(
        coins,
        """
        import theano
        from theano.purse import Coin, value
        import theano.coins
        assert Coin is theano.coins.Coin is theano.gof.Coin and value is theano.coins.worth is theano.compile.price
        assert theano.purse.__all__ == ["Coin", "value"] and "price" in dir(theano.compile) and "Coin" in dir(theano.gof)
        """,
    )
    run(
        coins,
        """
        import theano
        assert theano.compile.price is theano.coins.worth and theano.gof.Op is theano.Op and theano.gof.Coin
        """,
    )


def test_metadata_is_not_read_on_usual_ways(coins: Path) -> None:
    run(
        coins,
        """
        import sys, theano
        x = theano.generic("x")
        theano.function([x], x)(1)
        assert not hasattr(theano, "gpuarray") and not hasattr(theano, "__wrapped__")
        assert "importlib.metadata" not in sys.modules and "theano.layers.coins" not in sys.modules
        """,
    )


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("theano.layers.nowhere:LAYER", "the layer theano.layers.nowhere:LAYER cannot be described: No module named"),
        ("theano.layers.coins:WRONG", "the layer theano.layers.coins:WRONG cannot be described: module"),
        ("theano.layers.coins:knows", "the entry point theano.layers.coins:knows is a function, not a Layer"),
    ],
)
def test_a_layer_that_cannot_be_described_is_reported_once(tmp_path: Path, named: str, said: str) -> None:
    entry = {"theano_coins-2.0.dist-info/entry_points.txt": f"[theano.layers]\nbroken = {named}\n"}
    site = put(tmp_path / "site", {**COINS, **entry})
    printed = run(site, "import theano; hasattr(theano, 'a'), hasattr(theano, 'b'), theano.shared({})")
    assert printed.count(said) == 1


def test_a_layer_of_this_project_is_found_without_metadata(tmp_path: Path) -> None:
    # Its sources are on the path, and what is installed is older or nothing at all.
    site = put(tmp_path / "site", {name.replace("coins", "sparse"): text.replace("coins", "sparse")
                                   for name, text in COINS.items() if "dist-info" not in name})  # fmt: skip
    run(site, "import sys, theano; theano.sparse; assert 'importlib.metadata' not in sys.modules")


def test_what_is_published_and_not_installed_is_named_with_its_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    published = layers.Published(frozenset(["theano.compile.imaginary"]))
    monkeypatch.setitem(layers.PUBLISHED, "theano-imaginary", published)
    with pytest.raises(UnavailableLayerError, match="theano.compile.imaginary .* pip install theano-imaginary"):
        layers.attribute("theano.compile", "imaginary")
    with pytest.raises(AttributeError, match="module 'theano.compile' has no attribute 'nonsense'"):
        layers.attribute("theano.compile", "nonsense")


def test_members_that_a_layer_adds_to_values(monkeypatch: pytest.MonkeyPatch) -> None:
    class Purse:
        content = "abc"

        def __getattr__(self, name: str) -> object:
            return layers.member(self, "theano.purse.Purse", name)

    members = {"theano.purse.Purse": {f"{__name__}:Counted": "count nothing"}}
    monkeypatch.setitem(layers._described, "theano-coins", layers.Layer("theano-coins", __name__, members=members))
    assert Purse().count == 3 and hasattr(Purse(), "nothing") and copy.copy(Purse()).count == 3
    for name in ("other", "__other__"):
        with pytest.raises(AttributeError, match=f"'Purse' object has no attribute '{name}'"):
            getattr(Purse(), name)


class Counted:
    """What is made of a purse to answer for it."""

    nothing = None

    def __init__(self, purse: object) -> None:
        self.count = len(purse.content)


def test_published_names_are_those_that_layers_describe() -> None:
    for layer in layers.installed():
        if layer.distribution in layers.PUBLISHED:
            assert set(layer.names) <= layers.PUBLISHED[layer.distribution].names
            old = {name for table in layer.spellings.split() for name in importlib.import_module(table).OLD_NAMES}
            missing = layers.PUBLISHED[layer.distribution].names - {*layer.names, *old}
            assert not missing, missing


def test_points_are_found_where_their_names_say() -> None:
    for layer in layers.installed():
        layer.load()
    for name in extensions.answers:
        importlib.import_module(f"theano.{name}".rpartition(".")[0])
        assert name in extensions.points  # spelled wrongly, it would wait for ever
    for name, point in extensions.points.items():
        module, _, variable = f"theano.{name}".rpartition(".")
        assert getattr(sys.modules[module], variable) is point and point.asks, name


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch) -> dict[str, extensions.Point]:
    fresh: dict[str, extensions.Point] = {}
    monkeypatch.setattr(extensions, "points", fresh)
    return fresh


def test_points(points: dict[str, extensions.Point]) -> None:
    slot: Single[int] = Single("a", "how much it is")
    chain: Chain[int] = Chain("b", "how many there are")
    table: Table[str, int] = Table("c", "how often it is")
    assert points == {"a": slot, "b": chain, "c": table}
    with pytest.raises(UnavailableLayerError, match=r"no layer that is loaded here says how much it is \(a\)"):
        slot.required()
    for extension in (slot.extension(1), chain.extension(2), chain.extension(2), table.extension("three", 3)):
        assert points[extension.point.name] is extension.point
        extension.enter()
    assert slot.answer == slot.required() == 1 and list(chain) == [2] and dict(table) == {"three": 3}


def test_answers_by_name_wait_for_their_points(points: dict[str, extensions.Point], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extensions, "answers", {})
    for name, *answer in (("a", 1), ("b", 2), ("b", 3), ("b", 2), ("c", "three", 3)):
        extensions.extension(name, *answer).enter()
    for _ in range(2):  # the second time as after an import that was interrupted
        slot: Single[int] = Single("a", "how much it is")
        chain: Chain[int] = Chain("b", "how many there are")
        table: Table[str, int] = Table("c", "how often it is")
        assert slot.required() == 1 and list(chain) == [2, 3] and dict(table) == {"three": 3} and points["c"] is table
    extensions.extension("c", "four", 4).enter()  # a point that is there has it at once
    assert table["four"] == 4
