"""Where in torch: places of the installed packages, with the times that torch recorded of a run."""

from dataclasses import replace

import msgspec

from core.analysis.durations import phase_totals
from core.base import words as fmt
from core.code.torch_source import LANDMARKS, Landmark, landmark_source
from core.views.blocks import Fold, Picks, words
from core.views.glossary import LandmarksView, landmarks, place_of
from core.views.kernels.results import result_blocks
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.kernel_answers import LADDER
from tests.support.tables import table_of, text_of, texts

REPORT = recorded_report(TRACES / "transformer_block" / "trace.log")


def test_each_landmark_is_a_definition_in_the_installed_source() -> None:
    for landmark in LANDMARKS:
        source = landmark_source(landmark)
        assert source is not None, landmark.full_name
        assert landmark.name.rpartition(".")[2] in source.text.split("\n")[0]
        assert source.path.read_text().split("\n")[source.line - 1] == source.text.split("\n")[0]


def test_a_place_that_is_not_installed_says_so() -> None:
    for module, name in (("torch._dynamo.guards", "Nothing"), ("torch.nothing", "compile"), ("not_installed", "it")):
        landmark = Landmark("Dynamo", module, name, "nothing")
        assert landmark_source(landmark) is None
        assert place_of(landmark) == "not in the installed version"


def test_the_times_are_those_of_torchs_phases() -> None:
    totals = {total.name: total for total in phase_totals(REPORT)}
    rows = {row["landmark"]: row for row in texts(table_of(landmarks(REPORT), "landmarks"))}
    timed = [landmark for landmark in LANDMARKS if landmark.phase in totals]
    assert len(timed) > 15
    assert all(rows[landmark.name]["entered"] == fmt.count(totals[landmark.phase].count, "time") for landmark in timed)
    assert rows["Scheduler.can_fuse"]["entered"] == "not timed"
    assert LandmarksView(REPORT).title.endswith(f"torch timed this run in {len(timed)} of them.")


def test_without_a_run_only_the_places_are_counted() -> None:
    title = LandmarksView(None).title
    assert title.startswith(f"{len(LANDMARKS)} places in torch ")
    assert title.endswith(" and Triton")


def test_a_run_of_another_torch_is_noted() -> None:
    older = replace(REPORT, setting=replace(REPORT.setting, torch="2.5.0+cu118"))
    assert "The run was recorded with torch 2.5.0+cu118" in text_of(landmarks(older))
    assert "recorded with" not in text_of(landmarks(None))


def test_the_stages_of_triton_have_their_time_and_their_function() -> None:
    (stages,) = (block for block in result_blocks(LADDER) if isinstance(block, Fold) and "stages" in words(block.title))
    assert words(stages.title) == "Triton's stages: 50.0 ms"
    rows = texts(table_of(stages.blocks, "stages"))
    assert [(row["stage"], row["time"]) for row in rows] == [("make_ttir", "1.50 ms"), ("make_cubin", "48.5 ms")]
    assert all(row["source"].startswith("triton/backends/nvidia/compiler.py:") for row in rows)
    amd = text_of(result_blocks(msgspec.structs.replace(LADDER, stage_us={"amdgcn": 10})))
    assert "triton/backends/amd/compiler.py:" in amd
    assert "stages" not in text_of(result_blocks(msgspec.structs.replace(LADDER, stage_us={})))


def test_a_landmark_is_opened_by_its_name() -> None:
    fuse_nodes = "torch._inductor.scheduler.Scheduler.fuse_nodes"
    page = text_of(landmarks(REPORT, Picks(texts={"select": fuse_nodes})))
    assert f"{fuse_nodes}\n{'=' * len(fuse_nodes)}\nFuses nodes in rounds. Entered 1 time, " in page
    assert "\ntorch/_inductor/scheduler.py:" in page
    untimed = LandmarksView(None).of("torch._inductor.scheduler.Scheduler.can_fuse")
    assert untimed is not None
    assert untimed.words == "Says whether two nodes may fuse. torch does not time it."
    assert LandmarksView(REPORT).of("nothing") is None


def test_without_a_run_the_title_counts_places_alone() -> None:
    title = LandmarksView(None).title
    assert "timed this run" not in title
    assert LandmarksView(REPORT).title.startswith(title)
