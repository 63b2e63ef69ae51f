"""The signs of growth: what is planted is printed."""

from __future__ import annotations

import size


def test_long_files_and_functions_are_printed(tmp_path, capsys):
    scalar = tmp_path / "packages" / "scalar"
    (scalar / "src").mkdir(parents=True)
    (scalar / "tests").mkdir()
    (scalar / "src" / "big.py").write_text("x = 1\n" * 601)
    (scalar / "src" / "deep.py").write_text("def long():\n" + "    x = 1\n" * 60)
    (scalar / "src" / "fine.py").write_text('def fine():\n    """' + "a\n" * 80 + '    """\n    return 1\n')
    (scalar / "src" / "ops.py").write_text('a = scalar_op("a",\n  py=1)\nb = scalar_op("b")\nc = scalar_op("c")\n')
    (scalar / "tests" / "test_big.py").write_text("x = 1\n" * 700)
    assert size.main([str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "601 lines: packages/scalar/src/big.py" in printed
    assert "61 lines: packages/scalar/src/deep.py:1 long()" in printed
    assert "fine" not in printed and "test_big" not in printed
    assert "3 scalar ops, median statement 1 lines" in printed


def test_lines_of_code_are_counted_by_layer(tmp_path, capsys):
    source = tmp_path / "packages" / "scalar" / "src"
    source.mkdir(parents=True)
    python = '"""Doc\nstring."""\n\nx = """a\nb"""  # two lines\n# none\n\n\ndef f():\n    """Doc."""\n    return (\n        1\n    )\n'
    (source / "a.py").write_text(python)
    (source / "b.h").write_text("/* a\n   b */ int x;\n\n// no\nint y; /* c */\n")
    assert size.by_layer(tmp_path) == {"scalar": (6, 2)}
    size.main([str(tmp_path)])
    assert "scalar             6 lines of Python       2 of C" in capsys.readouterr().out
