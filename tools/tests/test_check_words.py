"""The check of names: parts of names are found, prose and parts of longer words are not."""

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
    assert check_words.main() == 0 and capsys.readouterr().out == "0 names with words of the table\n"
