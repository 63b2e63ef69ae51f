"""Programs from public repositories: what is listed, what there are tasks for, and the page agree."""

import tomllib

from public_programs import FOLDER, MARKS, PAGE, table

PROGRAMS = tomllib.loads((FOLDER / "public.toml").read_text())["program"]


def test_each_program_has_a_task_and_each_task_a_program():
    tasks = {path.stem for path in (FOLDER / "public").glob("*.py")}
    assert tasks == {program["name"] for program in PROGRAMS} and len(tasks) == len(PROGRAMS)
    assert all(len(program["commit"]) == 40 and program["python"] in (2, 3) for program in PROGRAMS)


def test_the_page_has_what_is_listed():
    assert f"{MARKS[0]}\n{table(PROGRAMS)}\n{MARKS[1]}" in PAGE.read_text()
