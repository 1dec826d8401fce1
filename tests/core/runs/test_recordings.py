"""The gallery of recorded runs: written, listed and opened; and what ships says of itself what its logs say."""

import lzma
from pathlib import Path

import pytest

from core import (
    CompileJob,
    Model,
    Recording,
    Runner,
    Store,
    StoreError,
    SweepRunner,
    open_report,
    recorded_sweeps,
    recordings,
    sentence,
    verdict,
)
from core.runs.recordings import RECORDINGS, add_recording
from core.sweep.presets import Question, answer
from tests.support.places import TRACES
from tests.support.recordings import write_recording

MOST_BYTES = 25_000_000
FILES = sorted(RECORDINGS.glob("*/*.xz"), key=lambda path: path.stat().st_size)


def test_what_is_written_is_a_line_of_what_it_is_and_the_log(tmp_path: Path) -> None:
    log = (TRACES / "eager_backend" / "trace.log").read_bytes()
    job = CompileJob(Model("sample", "mlp"), device="cuda")
    one = Recording("mlp", "inference", "1 graph.", job, "model = 1\n", "NVIDIA H200", "2.11.0+cu130", 0.0, 2.5)
    path = write_recording(tmp_path, one, [log])
    header, _, rest = lzma.decompress(path.read_bytes()).partition(b"\n")
    assert path == tmp_path / "mlp.xz"
    assert rest == log
    assert b'"kind":"inference"' in header
    assert one.words == "recorded on NVIDIA H200, torch 2.11.0, 1970-01-01"


@pytest.mark.parametrize(
    ("sentence", "speedup"),
    [
        ("1.25× faster (1.20–1.29), pays off from about the 690th call; 1 graph.", 1.25),
        ("1.25× slower than eager (1.20–1.29); 1 graph.", 0.8),
        ("No difference in speed seen (0.998–1.00×); 1 graph.", None),
        ("1 graph; by the wall clock, launches included, compiled runs 1.54× slower than eager (1.52–1.54).", None),
    ],
)
def test_the_speedup_of_a_recording_is_the_one_that_its_verdict_claims(sentence: str, speedup: float | None) -> None:
    job = CompileJob(Model("sample", "mlp"), device="cuda")
    assert Recording("mlp", "inference", sentence, job, "", "NVIDIA H200", "2.11.0", 0.0, 2.5).speedup == speedup


def test_what_ships_is_of_one_device_and_takes_no_more_than_it_may() -> None:
    assert {(one.device, one.job.device) for one in recordings()} == {("NVIDIA H200", "cuda")}
    assert {"inference", "training", "mode max-autotune", "batch 64"} <= {one.kind for one in recordings()}
    assert sum(path.stat().st_size for path in FILES) <= MOST_BYTES


@pytest.mark.parametrize("name", [path.stem for path in FILES[:4]])
def test_a_recording_opens_as_a_run_that_says_what_the_recording_says(name: str, tmp_path: Path) -> None:
    store = Store(tmp_path)
    run = add_recording(store, name, "guest")
    (found,) = (one for one in recordings() if one.name == name)
    status, report = run.status(), open_report(run)
    assert (status.state, status.recorded, status.by) == ("done", found.words, "guest")
    assert status.fingerprint == found.fingerprint
    assert run.job() == found.job
    assert run.code() == found.code
    assert sentence(verdict(report)) == found.sentence
    assert report.problems == ()


def test_what_is_not_recorded_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no recording `mlp-on-paper`"):
        add_recording(Store(tmp_path), "mlp-on-paper")


def test_the_recorded_batch_sizes_are_a_sweep_that_says_from_which_on_compiling_pays(tmp_path: Path) -> None:
    (batch,) = (one for one in recorded_sweeps() if one.preset == "batch")
    runner = SweepRunner(Runner(Store(tmp_path)))
    sweep = runner.add_recorded(batch, "guest")
    rows = runner.rows(sweep)
    assert [(row.at, row.state) for row in rows] == [((str(size),), "done") for size in batch.axis.values]
    assert (runner.standing(sweep).state, sweep.by) == ("done", "guest")
    said = "Compiled becomes faster at a batch between 16 and 64; slower at 1, 4 and 16."
    assert answer(Question(sweep, rows)).sentence == said


def test_a_recording_is_written_into_a_new_folder_and_written_again(tmp_path: Path) -> None:
    job = CompileJob(Model("sample", "mlp"), device="cuda")
    recording = Recording("mlp", "inference", "1 graph.", job, "", "NVIDIA H200", "2.11.0", 0.0, 2.5)
    folder = tmp_path / "new" / "h200"
    for log in (b"first", b"second"):
        path = write_recording(folder, recording, [log])
    assert lzma.decompress(path.read_bytes()).endswith(b"\nsecond")
