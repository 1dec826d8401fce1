"""Failures are seen: what was not compiled, files that are no trace, and damaged runs are said first, in words."""

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core import NO_RECORD, Store, StoreError, build_report, open_report, sentence, verdict
from core.analysis.dynamo.failures import Failure, failure_counts, failure_sentence, failures
from core.commands.main import main
from core.commands.output import MISSING, OK
from core.report import Compilation, Frame, GraphBreak, Place
from pages import menu
from tests.support.apps import (
    EVIDENCE,
    assert_sound,
    chips,
    component,
    forget,
    opened,
    read_titles,
    read_words,
    titles,
    words,
)
from tests.support.homes import IMAGE, add_run, job_of, line
from tests.support.reports.findings import QUIET, frame
from tests.support.sample import one_in

BOOM = "backend='boom' raised:\nRuntimeError: <b>no</b>"
LIMIT = (
    "Dynamo recompile limit exceeded\n  Explanation: Dynamo attempted to recompile the code object too many times, "
    "exceeding the recompile_limit cache size limit (currently set to 8). Excessive recompilations can degrade "
    "performance."
)
UNSUPPORTED = "Call to `torch._dynamo.graph_break()`\n  Explanation: User-inserted graph break."


def compilation(number: int, name: str, **metrics: Any) -> bytes:
    """What torch logs of one compilation that gave no code."""
    head = {"frame_id": number, "frame_compile_id": 0, "attempt": 0}
    stack = [{"line": 10 + number, "name": name, "filename": "/m.py", "loc": ""}]
    start = line({"dynamo_start": {"stack": stack}, **head}, "")
    error = line(
        {"artifact": {"name": "dynamo_error", "encoding": "string"}, **head}, f"Traceback of {name}\nthe last line"
    )
    return start + error + line({"compilation_metrics": {"co_name": name, **metrics}, **head}, "")


def broken(number: int, name: str) -> bytes:
    """The graph break for which Dynamo gives the frame up."""
    stack = f'User code traceback:\n  File "/m.py", line 5, in {name}\n    torch._dynamo.graph_break()\n'
    head = {"frame_id": number, "frame_compile_id": 0, "attempt": 0}
    artifact = {"name": "dynamo_graph_break_reason", "encoding": "string"}
    return line({"artifact": artifact, **head}, f"{UNSUPPORTED}\n\n{stack}")


FAILED = compilation(
    0,
    "forward",
    fail_type="BackendCompilerFailed",
    fail_reason=BOOM,
    fail_user_frame_filename="/x/m.py",
    fail_user_frame_lineno=7,
)
OVER = compilation(1, "helper", fail_type="Unsupported", fail_reason=LIMIT)
UNTRACED = compilation(2, "loop", fail_type="Unsupported", fail_reason=UNSUPPORTED)
GIVEN_UP = broken(2, "loop") + UNTRACED
FOUND = (
    Failure(
        "0/0",
        "forward",
        "failed",
        "BackendCompilerFailed: backend='boom' raised: RuntimeError: <b>no</b>",
        Place("/x/m.py", 7),
    ),
    Failure("1/0", "helper", "over the limit", "torch._dynamo hit config.recompile_limit (8)", Place("/m.py", 11)),
    Failure("2/0", "loop", "given up", "Call to `torch._dynamo.graph_break()`", Place("/m.py", 12)),
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path))
    forget()
    yield tmp_path
    forget()


def written(tmp_path: Path, log: bytes) -> Path:
    path = tmp_path / "trace.log"
    path.write_bytes(log)
    return path


def test_what_was_not_compiled_is_distinguished_by_torchs_reason(tmp_path: Path) -> None:
    report = build_report(written(tmp_path, GIVEN_UP + OVER + FAILED), strict=True)

    assert failures(report) == FOUND
    assert failure_counts(FOUND) == {
        "failed": "1 compilation failed",
        "over the limit": "1 frame is over the recompile limit",
        "given up": "1 frame runs eagerly",
    }
    assert [failure.consequence for failure in FOUND] == [
        "nothing was compiled",
        "from then on, calls that fit no compiled code of this frame run eagerly",
        "this frame runs eagerly, and more graph breaks may follow in it",
    ]


def test_older_words_for_the_recompile_limit_are_known_too(tmp_path: Path) -> None:
    log = compilation(0, "f", fail_type="RecompileLimitExceeded", fail_reason="recompile_limit reached")
    (found,) = failures(build_report(written(tmp_path, log)))
    assert (found.kind, found.reason) == ("over the limit", "torch._dynamo hit config.recompile_limit")


def test_what_cannot_be_traced_is_an_error_where_torch_logs_no_break_as_with_fullgraph(tmp_path: Path) -> None:
    (found,) = failures(build_report(written(tmp_path, UNTRACED), strict=True))
    assert (found.kind, found.reason) == ("failed", "Unsupported: Call to `torch._dynamo.graph_break()`")


def test_failures_are_first_in_the_sentence_with_reason_and_line(tmp_path: Path) -> None:
    found = verdict(build_report(written(tmp_path, FAILED + OVER), strict=True))
    assert sentence(found) == (
        "1 compilation failed: BackendCompilerFailed: backend='boom' raised: RuntimeError: <b>no</b>."
    )


def test_where_all_went_well_nothing_is_reported() -> None:
    assert failure_sentence(()) == ""


LOOP = Frame("torch/nn/modules/container.py", 253, "forward", "input = module(input)")


@pytest.mark.parametrize(
    ("frames", "found"),
    [
        ((), [("0/0", "forward", "given up", "Attempted to wrap RNN, GRU, or LSTM")]),
        ((frame("1/0", "forward"),), [("0/0", "forward", "given up", "Attempted to wrap RNN, GRU, or LSTM")]),
        ((frame("1/0", "torch_dynamo_resume_in_inner_at_69"),), []),
        ((replace(frame("1/0"), frame=LOOP),), []),
    ],
)
def test_an_inlined_function_that_breaks_and_is_not_compiled_by_itself_runs_eagerly(
    frames: tuple[Compilation, ...], found: list[tuple[str, ...]]
) -> None:
    """A GRU in `nn.Sequential`: the frame around has no op, and torch's modules are compiled where they are inlined."""
    stack = (Frame("torch/_dynamo/external_utils.py", 69, "inner"), LOOP)
    place = Place(LOOP.file, LOOP.line)
    reason = "Attempted to wrap RNN, GRU, or LSTM"
    broken = GraphBreak(reason, "", (), "", "GB0014", place, code=LOOP.text, stack=stack, compilations=("0/0",))
    report = replace(QUIET, compilations=(frame("0/0", "inner", "empty"), *frames), graph_breaks=(broken,))
    assert [(one.compilation, one.frame, one.kind, one.reason) for one in failures(report)] == found


def test_several_of_a_kind_are_counted_by_frame() -> None:
    again = Failure("2/1", "loop", "given up", "", Place("", 0))
    other = Failure("3/0", "try", "given up", "", Place("", 0))
    assert failure_counts((FOUND[2], again)) == {"given up": "1 frame runs eagerly"}
    assert failure_counts((FOUND[2], again, other)) == {"given up": "2 frames run eagerly"}


@pytest.mark.parametrize("kind", ["log", "run"])
def test_a_failed_compilation_is_red_and_first_on_the_overview(home: Path, kind: str) -> None:
    run = add_run(home, "boom", FAILED + OVER + GIVEN_UP, kind=kind)
    app = opened(menu.OVERVIEW.script, run.id)

    assert_sound(app)
    assert titles(app)[0].startswith("1 compilation failed\\: ")
    tones = {f"{chip['value']}": chip["tone"] for chip in component(app, "header-chips")["chips"]}
    standing = "opened" if kind == "log" else "done"
    assert (tones[standing], tones["1 compilation failed"], tones["1 frame runs eagerly"]) == ("", "bad", "warn")
    # The reason stands in the title and in a card, and no banner says it again.
    cards = [item.value.replace("\\", "") for item in app.caption if "`[0/0]`" in item.value.replace("\\", "")]
    assert (len(app.error), len(app.warning), len(cards)) == (0, 0, 1)
    assert "hit config.recompile_limit (8)" in words(app).replace("\\", "")
    assert "Traceback of forward\nthe last line" in [block.value for block in app.code]
    assert sorted(app.dataframe[0].value["status"]) == ["failed", "given up", "over the limit"]


def test_the_first_of_many_failures_are_reported_and_the_rest_counted(home: Path) -> None:
    log = b"".join(
        broken(number, "f") + compilation(number, "f", fail_type="Unsupported", fail_reason=f"no {number}")
        for number in range(8)
    )
    app = opened(menu.OVERVIEW.script, add_run(home, "log", log, kind="log").id)

    assert_sound(app)
    # A card tells the first.
    assert len(app.warning) == 4
    assert "3 more on *Compilations*." in read_words(app)


def test_a_reason_that_means_harm_is_shown_as_text(home: Path) -> None:
    log = compilation(0, "f", fail_type="Boom", fail_reason=f"{IMAGE} [click](http://evil.example/)")
    app = opened(menu.OVERVIEW.script, add_run(home, "log", log, kind="log").id)

    assert_sound(app)
    assert "<img" not in words(app).replace("\\<img", "")


def test_a_frame_that_was_given_up_says_so_beside_its_break(home: Path) -> None:
    app = opened(menu.GRAPH_BREAKS.script, add_run(home, "log", OVER + GIVEN_UP, kind="log").id)

    assert_sound(app)
    assert read_titles(app) == [
        "1 graph break, hit 1 time; 1 frame is over the recompile limit, 1 frame runs eagerly: more breaks may follow"
    ]
    assert "[2/0] `loop`: Dynamo skipped this frame. This function ran eagerly: more breaks may follow." in words(
        app
    ).replace("\\", "")
    assert "from then on, calls that fit no compiled code of this frame run eagerly" in words(app)


NO_TRACES = {"empty": b"", "words": b"hello world\n", "binary": bytes(range(256)) * 64}


@pytest.mark.parametrize("name", NO_TRACES)
def test_a_file_without_a_record_is_refused_and_leaves_nothing(tmp_path: Path, name: str) -> None:
    store = Store(tmp_path)
    with pytest.raises(StoreError) as refused:
        store.add_log("notes.txt", io.BytesIO(NO_TRACES[name]))
    assert str(refused.value) == NO_RECORD
    assert list(store.runs_dir.iterdir()) == []


@pytest.mark.parametrize("name", NO_TRACES)
def test_the_command_line_calls_a_file_without_a_record_no_trace(
    home: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(written(home, NO_TRACES[name])), "--json"]) == MISSING
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", NO_RECORD + "\n")


@pytest.mark.parametrize("page", one_in(4, EVIDENCE))
@pytest.mark.parametrize("name", NO_TRACES)
def test_a_stored_file_without_a_record_is_called_so_everywhere(home: Path, page: str, name: str) -> None:
    app = opened(page, add_run(home, "notes", NO_TRACES[name], kind="log").id)

    assert_sound(app)
    assert chips(app) == ["no trace", "opened log"]
    assert component(app, "header-chips")["chips"][0]["tone"] == "bad"
    assert [item.value.replace("\\", "") for item in app.error] == [NO_RECORD]
    assert "no frame was captured" not in words(app)


def test_the_command_line_shows_failures_after_the_sentence(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(written(home, FAILED + GIVEN_UP))]) == OK
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  [")]
    assert told[:2] == [
        "  [0/0] `forward` at `m.py:7`: BackendCompilerFailed: backend='boom' raised: RuntimeError: <b>no</b>; nothing "
        "was compiled.",
        "  [2/0] `loop` at `m.py:12`: Call to `torch._dynamo.graph_break()`; this frame runs eagerly, "
        "and more graph breaks may follow in it.",
    ]


DAMAGE = {
    "status.json": "has no readable status; delete it, or run the job again",
    "job.json": "its job.json cannot be read: job: this is not the JSON of a job",
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_run_is_listed_and_says_so_when_opened(home: Path, name: str) -> None:
    run = add_run(home, "mlp", FAILED, job=job_of("eager_backend"))
    (run.path / name).write_bytes(b"{")
    (standing,) = [status for _, status in Store(home).list()]
    assert (standing.state, standing.title, DAMAGE[name] in standing.reason) == ("damaged", "mlp", True)

    app = opened(menu.RUNS.script, run.id)
    assert_sound(app)
    assert list(app.dataframe[0].value["state"]) == ["damaged"]
    for page in EVIDENCE:
        app = opened(page, run.id)
        assert_sound(app)
        assert chips(app)[0] == "damaged"
        assert DAMAGE[name] in words(app).replace("\\", "")
        assert run.id in str(app.selectbox(key="run").value)


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_run_can_be_deleted(home: Path, name: str) -> None:
    run = add_run(home, "mlp", FAILED, job=job_of("eager_backend"))
    (run.path / name).write_bytes(b"{")
    Store(home).delete(run)
    assert Store(home).list() == []


def test_a_damaged_report_is_made_again(home: Path) -> None:
    run = add_run(home, "mlp", FAILED)
    whole = open_report(run)
    run.report_path.write_text(json.dumps({"setting": 1}))
    assert open_report(run) == whole
