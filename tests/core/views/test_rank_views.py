"""Differences between ranks in words."""

import pytest

from core.analysis.ranks.differences import Forecast, RankDifference
from core.report.run import Collective, Fingerprint, RankMark
from core.views.ranks.difference import _collectives, _forecast_words


@pytest.mark.parametrize(
    ("forecast", "only", "who", "words"),
    [
        (
            Forecast("order"),
            "",
            "Rank 1",
            "**Forecast: a hang or wrong results, if these ranks share the process group.**",
        ),
        (
            Forecast("stopped"),
            "",
            "Ranks 1 and 2",
            "**Forecast: a hang.** If ranks 1 and 2 stopped there, the other ranks wait in their next collective.",
        ),
        (Forecast("wait", 2.0), "right", "Rank 1", "while rank 1 compiles (2.00 s in this log)."),
        (Forecast("wait"), "right", "Ranks 1 and 2", "The other ranks may wait in the next collective while ranks 1"),
        (Forecast("wait"), "left", "Rank 1", "Rank 1 may wait in the next collective while the others compile."),
    ],
)
def test_a_forecast_names_who_waits_for_whom(forecast: Forecast, only: str, who: str, words: str) -> None:
    difference = RankDifference("recompile", "0/0", only=only)  # type: ignore[arg-type]
    assert words in _forecast_words(forecast, difference, who)


def with_collectives(rank: int, stages: dict[str, str]) -> Fingerprint:
    """A rank whose graphs have one collective each: stage → its op."""
    marks = (
        RankMark("graph", "0/0", stage, op, collectives=(Collective(op, "f32[4]", "", 0),))
        for stage, op in stages.items()
    )
    return Fingerprint(rank, 0, tuple(marks))


@pytest.mark.parametrize(
    ("joint", "shown"),
    [("all_reduce", ["all_gather", "all_gather"]), ("reduce_scatter", ["all_reduce", "reduce_scatter"])],
)
def test_collectives_are_those_of_the_latest_stage_that_differs(joint: str, shown: list[str]) -> None:
    columns = {
        f"rank {rank}": with_collectives(rank, {"aot_joint_graph": op, "inductor_post_grad_graph": "all_gather"})
        for rank, op in enumerate(("all_reduce", joint))
    }
    calls = [call for calls in _collectives(columns, "0/0").values() for call in calls]
    assert [call.partition("(")[0].split()[0] for call in calls] == shown
