"""Notebooks as scripts: cells, IPython's lines, and places."""

import json

import pytest

from core import JobError
from core.job.notebook import PRELUDE, cells_of, place_of, script_of


def notebook(*cells: object) -> bytes:
    return json.dumps({"cells": [*cells], "nbformat": 4, "metadata": {}}).encode()


def cell(source: object, kind: str = "code") -> dict[str, object]:
    return {"cell_type": kind, "source": source, "outputs": [{"data": "x"}], "metadata": {}}


def test_a_notebooks_cells_are_a_script_that_prints_the_value_of_each_last_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    data = notebook(
        cell(["%matplotlib inline\n", "x = 1\n", "x +\\\n", "  1"]),
        cell("# Words", "markdown"),
        cell("!pip install torch\nfor i in range(2):\n    %timeit -q -n1 -r1 i\nx * 3;"),
        cell("%%bash\nls"),
        cell("text = (3\n  % 2)\nprint('''\n!kept\n%d''' % text)"),
        cell("'é', None"),
        cell("None"),
        cell("def f(:"),
        cell(""),
    )
    text = script_of(data)
    assert [line for line in text.splitlines() if line.startswith("# %%")] == [f"# %% cell {n}" for n in range(1, 9)]
    assert "pass  # !pip install torch" in text
    exec(compile(text.replace("def f(:", ""), "notebook", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == "2\n\n!kept\n1\n('é', None)\n"


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"cells": [1]}', b'{"cells": [{"cell_type": "code"}]}'])
def test_what_is_no_notebook_is_refused(data: bytes) -> None:
    with pytest.raises(JobError, match="this is no notebook"):
        script_of(data)


def executed(*cells: str) -> dict[str, object]:
    names: dict[str, object] = {"__name__": "__main__"}
    exec(compile(script_of(notebook(*map(cell, cells))), "notebook", "exec"), names)
    return names


@pytest.mark.parametrize(
    "header", ["%%time", "%%timeit -n 1 -r 1", "%%capture", "%%prun -l 5", "%%capture out\n%%time"]
)
def test_the_body_of_a_cell_with_a_magic_runs(header: str) -> None:
    body = 'y = abs(-3)\ntext = """a\n  b"""\ny + 1'
    names = executed(f"{header}\n{body}", "z = y * 2")
    assert (names["z"], names["text"]) == (6, "a\n  b")


def test_the_code_of_a_line_with_a_magic_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names = executed(
        "calls = []\nf = lambda x: calls.append(x) or x",
        "t = %timeit -o -q -n 2 -r 3 f(1)\n%time y = f(2)\nx = %time f(3)\nif y:\n    %timeit -n1 -r1 z = f(4)",
        "files = !ls\n%env SHOWN=here and there\nf??\n%prun -s cumtime f(5)\ndisplay(t.loops, t.repeat)",
    )
    assert names["calls"] == [1] * 6 + [2, 3, 4, 5]
    assert (names["x"], names["y"], names["files"], len(names["t"].timings)) == (3, 2, [], 3)  # type: ignore[attr-defined]
    printed = capsys.readouterr().out.splitlines()
    assert printed[1].startswith("Wall time: ")
    assert printed[-2:] == ["2", "3"]


def test_captured_output_is_in_the_named_variable(capsys: pytest.CaptureFixture[str]) -> None:
    names = executed("%%capture out\nprint('hidden')", "text = out.stdout")
    assert (names["text"], capsys.readouterr().out) == ("hidden\n", "")


def test_a_cell_keeps_its_lines_and_a_place_names_the_cell() -> None:
    code = script_of(notebook(cell("import torch\n\nx = 1"), cell("%%time\ny = 2\n!ls\nz = 3")))
    assert [number for number, _ in cells_of(code)] == [0, 1, 2]
    assert dict(cells_of(code))[2].splitlines()[:4] == ["with _timed():", "    y = 2", "    pass  # !ls", "    z = 3"]
    at = code.splitlines().index("    z = 3") + 1
    assert (place_of(code, at), place_of("x = 1\ny = 2\n", 2)) == ("cell 2, line 4", "line 2")
    assert dict(cells_of(code))[0].rstrip("\n") == PRELUDE.rstrip("\n")
