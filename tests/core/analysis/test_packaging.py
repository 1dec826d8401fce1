"""A package as it is looked at: its way, its tree, and what is claimed of its times and sizes."""

from dataclasses import replace

from core.analysis.aoti import (
    MOST_DEEP,
    AotiStory,
    TreeRow,
    call_cost,
    package_tree,
    packaging_steps,
    ran_outside,
    step_with_problem,
)
from core.analysis.interval import Interval
from core.report import PackagedFile
from tests.support.reports.packaged import CPP, EXPORT, NO_EXPORT, PACKAGE, PYTHON, TIMES, TRIALS

STORY = AotiStory(EXPORT, PACKAGE, PYTHON, CPP, TIMES, TRIALS)


def states(story: AotiStory) -> list[str]:
    return [step.state for column in packaging_steps(story) for step in column]


def test_the_way_ends_where_the_first_problem_is() -> None:
    assert (states(STORY), step_with_problem(STORY)) == (["done"] * 4, None)
    refused = AotiStory(NO_EXPORT)
    assert (states(refused), step_with_problem(refused)) == (["failed", *["not reached"] * 3], "export")
    unbuilt = replace(STORY, cpp=replace(CPP, problem="no g++", stage="build"))
    assert (states(unbuilt), step_with_problem(unbuilt)) == (["done", "done", "done", "failed"], "c++")


def test_folders_of_one_folder_are_one_line_with_the_bytes_of_all_in_it() -> None:
    one, two, three = (PackagedFile(name, "other", 10, 0) for name in ("a/b/c/one", "a/b/two", "/three"))
    assert package_tree([one, two, three]) == (
        TreeRow("three", 0, 10, three),
        TreeRow("a/b/", 0, 20, None),
        TreeRow("two", 1, 10, two),
        TreeRow("c/", 1, 10, None),
        TreeRow("one", 2, 10, one),
    )


def test_a_name_of_many_folders_is_cut_into_no_more_than_so_many() -> None:
    names = ["/".join("x" * 5_000), "", "///", "/".join(f"{place}" for place in range(5_000))]
    rows = package_tree([PackagedFile(name, "other", 1, 0) for name in names])
    assert max(row.depth for row in rows) <= MOST_DEEP
    assert sum(row.file is not None for row in rows) == len(names)


def test_what_a_call_costs_from_python_is_reported_where_both_were_timed_in_the_same_rounds() -> None:
    found = call_cost(TIMES)
    assert found is not None
    assert (round(found.more_s, 9), found.seen) == (2e-6, True)
    assert call_cost(None) is None
    assert call_cost(replace(TIMES, sides={**TIMES.sides, "c++": TIMES.sides["c++"][:-1]})) is None
    assert call_cost(replace(TIMES, sides={"python": TIMES.sides["python"]})) is None


def test_two_percent_are_no_difference() -> None:
    bounds = ((1.03, 1.1), (0.9, 0.97), (1.01, 1.1), (0.9, 1.1), (0.9, 0.99))
    assert [Interval(low, 1.0, high).apart for low, high in bounds] == [True, True, False, False, False]


def test_a_size_outside_of_its_range_that_is_refused_by_a_check_alone_is_reported() -> None:
    assert [trial.size for trial in ran_outside(TRIALS)] == [129]
    said = (replace(TRIALS[1], package="it ended by signal 11"), replace(TRIALS[1], checked=""), TRIALS[0])
    assert ran_outside(said) == ()
