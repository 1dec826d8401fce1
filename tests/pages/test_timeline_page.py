"""The page Timeline: a profile beside a log, its kernels and its idle time."""

import gzip
from pathlib import Path

import pytest

from core import CompileJob, Store, StoreError
from core.runs.stored import add_profile, profile_path
from pages import menu
from tests.support.apps import component, opened, read_words, sound, titles, words
from tests.support.homes import add_run, add_scenario, job_of, record
from tests.support.places import TRACES
from tests.support.profiles import LOG, PROFILE

LOG_OF_A_RUN = (TRACES / "transformer_block" / "trace.log").read_bytes()


def profiled(home: Path) -> str:
    run = add_run(home, "h100", gzip.decompress(LOG.read_bytes()), kind="log")
    with PROFILE.open("rb") as file:
        add_profile(run, file)
    return run.id


def test_without_a_profile_the_page_says_how_to_add_one(runs: dict[str, str]) -> None:
    app = sound(opened(menu.TIMELINE.script, runs["transformer_block"]))
    assert titles(app) == ["This run has no profile"]
    assert "export_chrome_trace" in words(app)
    assert component(app, "profile")["profile_of"] == runs["transformer_block"]


def test_a_run_without_a_profile_can_record_one_and_says_why_it_has_none(
    submitted: list[CompileJob], empty_home: Path
) -> None:
    note = record("compileboard_note", {"schema": 1, "text": "No profile was recorded: <b>no</b>"})
    run = add_run(empty_home, "none", LOG_OF_A_RUN + note, job=job_of("transformer_block"))
    app = sound(opened(menu.TIMELINE.script, run.id))
    assert [warning.value for warning in app.warning] == ["No profile was recorded\\: \\<b\\>no\\</b\\>"]
    app.button(key="record-profile").click().run()
    assert [job.profile for job in submitted] == [True]


def test_slices_kernels_and_idle_time_are_shown(empty_home: Path) -> None:
    run = profiled(empty_home)
    app = sound(opened(menu.TIMELINE.script, run))
    assert "have their kernel; the device was busy for" in titles(app)[0]
    kernels, idle = (frame.value for frame in app.dataframe)
    assert kernels["slices"].sum() == int(titles(app)[0].split()[0].replace(",", ""))
    assert "the code around the kernels of a compiled graph" in list(idle["while"])
    chart = component(app, f"timeline-{run}")
    assert len(chart["spans"]) > 1_000
    assert chart["links"] == {"kernel": "One kernel"}


def test_a_profile_that_is_none_leaves_the_earlier_one(empty_home: Path, tmp_path: Path) -> None:
    run = Store(empty_home).open(profiled(empty_home))
    before = profile_path(run).read_bytes()
    for text, reason in ((b"no JSON", "no profile"), (b'{"traceEvents": []}', "no slice of time")):
        (tmp_path / "file").write_bytes(text)
        with (tmp_path / "file").open("rb") as file, pytest.raises(StoreError, match=reason):
            add_profile(run, file)
    assert profile_path(run).read_bytes() == before
    assert [path.name for path in run.path.iterdir() if path.name.startswith(".")] == []


def test_a_damaged_profile_is_a_sentence_on_the_page(empty_home: Path) -> None:
    run = Store(empty_home).open(add_scenario(empty_home, "foreign"))
    profile_path(run).write_bytes(b"{}")
    app = sound(opened(menu.TIMELINE.script, run.id))
    assert any("This is no profile" in error.value for error in app.error)


def test_a_selected_area_of_the_url_has_its_sums(empty_home: Path) -> None:
    run = profiled(empty_home)
    app = sound(opened(menu.TIMELINE.script, run, area="[0,5000,0,99]"))
    assert "5.00 ms selected: the device was busy for" in read_words(app)
    slices = app.dataframe[0].value
    assert set(slices["kind"]) == {"kernel", "copy", "driver", "op", "annotation", "profiler"}
    assert len(app.dataframe) == 4
