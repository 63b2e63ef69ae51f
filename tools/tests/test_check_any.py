"""How often `Any` stands in a layer may not grow, and who lowers it is asked to write that down."""

from __future__ import annotations

import check_any


def tree(root, more):
    for layer, most in check_any.MOST.items():
        source = root / "packages" / layer / "src"
        source.mkdir(parents=True)
        (source / "a.py").write_text("Any\n" * (most + more.get(layer, 0)) + "# Any\n'Any'\n")
    return root


def test_as_many_as_before_pass(tmp_path, capsys):
    assert check_any.main(tree(tmp_path, {})) == 0
    assert "BROKEN" not in capsys.readouterr().out


def test_more_are_refused(tmp_path, capsys):
    assert check_any.main(tree(tmp_path, {"tensor": 1})) == 1
    assert "BROKEN tensor names Any 1 times more than before" in capsys.readouterr().out


def test_fewer_are_to_be_written_down(tmp_path, capsys):
    assert check_any.main(tree(tmp_path, {"scalar": -3})) == 0
    assert f"PLEASE scalar names Any {check_any.MOST['scalar'] - 3} times now" in capsys.readouterr().out


def test_the_core_layers_stay_below_four_thousand():
    assert sum(check_any.MOST.values()) <= 4000
