"""Every exercise as it is, solved, and solved wrongly: it fails for its one fault, and only a solution passes."""

from collections.abc import Callable

import pytest

from core import LocalEngine, Runner, Store, open_report
from core.job.gallery import EXERCISES, exercise
from core.views.exercises import AttemptView
from tests.support.sample import one_in
from tests.support.solutions import SOLUTIONS, Edit, edited

pytestmark = pytest.mark.torch
Check = Callable[[str, str], AttemptView]
WRONG = [(name, part, edits) for name, solutions in SOLUTIONS.items() for part, edits in solutions.wrong]


@pytest.fixture(scope="module")
def check(engine: LocalEngine, tmp_path_factory: pytest.TempPathFactory) -> Check:
    """Compile code as a solution of an exercise."""
    runner = Runner(Store(tmp_path_factory.mktemp("exercises")), engine)

    def checked(name: str, code: str) -> AttemptView:
        run = runner.wait(runner.submit(exercise(name).job(code)))
        return AttemptView(exercise(name), run.status(), open_report(run))

    return checked


def failed(view: AttemptView) -> list[str]:
    """The sentences of the checks that failed."""
    return [check.sentence for check in view.checks if not check.passed]


def test_each_exercise_has_solutions() -> None:
    assert len(EXERCISES) == 12
    assert list(SOLUTIONS) == [row.name for row in EXERCISES]


@pytest.mark.parametrize("name", one_in(6, SOLUTIONS))
def test_an_exercise_fails_as_it_is_for_its_one_fault(check: Check, name: str) -> None:
    view = check(name, exercise(name).code)
    (sentence,) = failed(view)
    assert SOLUTIONS[name].fault in sentence
    assert not view.solved


@pytest.mark.parametrize("name", one_in(6, SOLUTIONS))
def test_a_right_solution_passes(check: Check, name: str) -> None:
    view = check(name, edited(name, SOLUTIONS[name].right))
    assert failed(view) == []
    assert view.solved


@pytest.mark.parametrize(("name", "part", "edits"), one_in(9, WRONG), ids=[f"{name}-{part}" for name, part, _ in WRONG])
def test_a_wrong_solution_fails_and_says_why(check: Check, name: str, part: str, edits: tuple[Edit, ...]) -> None:
    assert [sentence for sentence in failed(check(name, edited(name, edits))) if part in sentence]


def test_settings_in_the_code_change_nothing(check: Check) -> None:
    settings = 'torch_compile = {"dynamic": True, "backend": "eager"}\ntraining = True\n'
    view = check("batch_sizes", exercise("batch_sizes").code + settings)
    (sentence,) = failed(view)
    assert sentence.startswith("1 recompile, at most 0.")


def test_code_that_does_not_run_fails_with_its_error(check: Check) -> None:
    view = check("counter", "model = 1 / 0\n")
    assert failed(view) == ["Failed while loading the model \\(ZeroDivisionError\\: division by zero\\) at line 1."]
