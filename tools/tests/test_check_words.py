"""The check of words: parts of names and phrases of pages are found, parts of longer words and code are not."""

from __future__ import annotations

import check_words


def test_names_are_found_and_prose_is_not(tmp_path, monkeypatch, capsys):
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "front_door.py").write_text('"""A room for people."""\n\nmushroom = "a room"  # people\nRoomOf = 1\n')
    assert [p.split(";")[0] for p in check_words.problems(tmp_path)] == [
        "tools/front_door.py: the name of the module has the word 'door'",
        "tools/front_door.py:4: RoomOf has the word 'room'",
    ]
    monkeypatch.setattr(check_words, "problems", lambda: iter(()))
    monkeypatch.setattr(check_words, "problems_on_pages", lambda: iter(()))
    monkeypatch.setattr(check_words, "problems_in_layers", lambda: iter(()))
    assert check_words.main() == 0 and capsys.readouterr().out == "0 names and sentences with words of the tables\n"


def test_phrases_of_pages_are_found_but_not_in_code(tmp_path):
    (tmp_path / "docs" / "library").mkdir(parents=True)
    text = "Anybody may.\n\n  ```text\n  nobody\n  ```\n\nIt is\ntold, and underlies.\n"
    (tmp_path / "docs" / "page.md").write_text(text)
    (tmp_path / "docs" / "library" / "page.md").write_text(text)
    (tmp_path / "README.md").write_text("There is no word.\n")
    assert list(check_words.problems_on_pages(tmp_path)) == [
        "README.md:1: 'There is no'; say: is missing, does not exist",
        "docs/page.md:7: 'is told'; say: receives, is passed, is given by",
    ]


def test_phrases_of_strings_and_comments_are_found_but_not_names(tmp_path):
    source = tmp_path / "packages" / "layer" / "src" / "part.py"
    source.parent.mkdir(parents=True)
    source.write_text(
        '"""A part that\nnobody reads."""\n'
        "def nobody():  # nobody\n"
        '    """It is told."""\n'
        '    raise KeyError(f"there is no {nobody:>{width}}, " "so many")\n'
        "lies = f'{x} {\"what is given\" if x else 0}'\n"
    )
    (source.parent / "part.h").write_text("int nobody; /* Two\n * lines, so many. */\nchar c; // who asks\n")
    assert list(check_words.problems_in_layers(tmp_path)) == [
        "packages/layer/src/part.h:2: 'so many'; say: the number of",
        "packages/layer/src/part.h:3: 'who asks'; say: the part that acts",
        "packages/layer/src/part.py:2: 'nobody'; say: the part that acts, or the passive",
        "packages/layer/src/part.py:3: 'nobody'; say: the part that acts, or the passive",
        "packages/layer/src/part.py:4: 'is told'; say: receives, is passed, is given by",
        "packages/layer/src/part.py:5: 'so many'; say: the number of",
        "packages/layer/src/part.py:5: 'there is no'; say: is missing, does not exist",
        "packages/layer/src/part.py:6: 'what is given'; say: the noun",
    ]
