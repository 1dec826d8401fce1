"""The command line: what it prints where, and its exit codes."""

import json
import re
from pathlib import Path

import pytest

from core.commands.main import main
from core.commands.output import FAILED, MISSING, OK, USAGE
from core.job.gallery import samples
from tests.support.places import TRACES


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store of its own for each test."""
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path))
    return tmp_path


def test_samples_are_listed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["samples", "--json"]) == OK
    listed = json.loads(capsys.readouterr().out)
    assert [item["name"] for item in listed] == [sample.name for sample in samples()]
    assert set(listed[0]) == {"name", "title", "teaches", "group", "training", "twin"}


def test_samples_are_listed_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["samples"]) == OK
    assert len(capsys.readouterr().out.splitlines()) == len(samples())


@pytest.mark.parametrize("scenario", sorted(path.parent.name for path in TRACES.glob("*/trace.log")))
def test_report_of_a_log_is_json_on_standard_output_alone(scenario: str, capsys: pytest.CaptureFixture[str]) -> None:
    ended_by_an_error = scenario in ("error", "refused")
    assert main(["report", str(TRACES / scenario / "trace.log"), "--json"]) == (FAILED if ended_by_an_error else OK)
    printed = capsys.readouterr()
    assert json.loads(printed.out) == json.loads((TRACES / scenario / "report.json").read_bytes())
    assert printed.err == ""


def test_report_of_a_folder_is_of_its_log(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(TRACES / "graph_break_zoo")]) == OK
    first, *rest = capsys.readouterr().out.splitlines()
    assert first == "5 graph breaks split the code into 9 graphs."
    places = re.findall(r"^ +Graph break at `model\.py:(\d+)`:", "\n".join(rest), re.MULTILINE)
    assert places == ["31", "20", "36", "25", "41"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["report", "20260101-000000-none-0000"], MISSING, "there is no run `20260101-000000-none-0000` here"),
        (["report", "../../no"], MISSING, "there is no run"),
        (["report", "EMPTY"], MISSING, "holds no .log file"),
        (["compare", "EMPTY", "../../no"], MISSING, "holds no .log file"),
        (["run", "no_such_sample"], USAGE, "there is no sample `no_such_sample`"),
        (["run", "no_such.py"], USAGE, "there is no file "),
        (["run", "no_such.json"], USAGE, "no_such.json cannot be read"),
        (["run", "mlp", "--call", "f33[1]"], USAGE, "--call: `f33` is no dtype"),
        (["run", "mlp", "--options", "fast"], USAGE, "--options: `fast`: write name=value"),
        (["run", "mlp", "--dtype", "int64"], USAGE, "--dtype: "),
        (["run", "mlp", "--time-limit", "0"], USAGE, "--time-limit: "),
    ],
)
def test_what_is_not_right_is_reported_on_standard_error(
    arguments: list[str], code: int, message: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "empty").mkdir()
    assert main([str(home / "empty") if item == "EMPTY" else item for item in arguments]) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err


@pytest.mark.parametrize("arguments", [[], ["compile"], ["run"], ["run", "mlp", "--mode", "fast"], ["report"]])
def test_wrong_usage_exits_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == USAGE
    assert "usage: python -m core" in capsys.readouterr().err


@pytest.mark.torch
@pytest.mark.usefixtures("one_engine")
def test_run_prints_its_report_alone_and_shows_its_steps_beside(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = home / "double.py"
    file.write_text("import torch\nprint('hello')\ndouble = lambda x: x * 2\ninputs = (torch.ones(2),)\n")
    assert main(["run", f"{file}:double", "--backend", "eager", "--no-measure", "--json"]) == OK
    printed = capsys.readouterr()
    assert [call["inputs"] for call in json.loads(printed.out)["calls"]] == ["f32[2]"]
    assert "  call 0: compiled" in printed.err.splitlines()


def test_two_logs_are_compared_in_a_sentence_and_what_differs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(TRACES / "graph_break_zoo"), str(TRACES / "transformer_block" / "trace.log")]) == OK
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith("5 graph breaks gone, 8 fewer graphs, ")
    cells = [line.split() for line in rest]
    assert ["model", "graph_break_zoo", "transformer_block"] in cells
    assert ["graph", "breaks", "5", "≠", "0", "−5"] in cells
    assert rest[-1].startswith("More with --aspect: source · 1, graphs, ")


def test_one_aspect_of_two_logs_is_printed_alone(capsys: pytest.CaptureFixture[str]) -> None:
    logs = str(TRACES / "graph_break_zoo"), str(TRACES / "transformer_block" / "trace.log")
    assert main(["compare", *logs, "--aspect", "breaks and recompiles"]) == OK
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("only left") for line in lines) == 5
    assert "Summary" not in lines


def test_a_comparison_as_json_says_the_sentence_too(capsys: pytest.CaptureFixture[str]) -> None:
    log = str(TRACES / "transformer_block" / "trace.log")
    assert main(["compare", log, log, "--json"]) == OK
    found = json.loads(capsys.readouterr().out)
    assert found["sentence"] == "No difference: options, source, breaks, graphs, guards and kernels are the same."
    assert [figure for figure in found["figures"] if figure["exact"] and figure["left"] != figure["right"]] == []
