"""A budget's file: what it limits, and where its mistakes are."""

import pytest

from core.analysis.budget import Budget, Limit, read_budget
from core.base.errors import JobError

WHOLE = """
results = "same"

[at-most]
graph-breaks = 0
compiled-call = "2 ms"
memory-at-the-peak = "64 MB"

[at-least]
speedup = 1.2

[more-than-baseline]
kernels = 1
compiled-call = "5 %"

[model.mlp]
results = ""

[model.mlp.at-most]
graph-breaks = 2
"""
SHARED = (
    Limit("compiled call", "at most", 0.002),
    Limit("memory at the peak", "at most", 64_000_000),
    Limit("speedup", "at least", 1.2),
    Limit("kernels", "more than the baseline", 1),
    Limit("compiled call", "more than the baseline", 0.05, relative=True),
)


def test_a_budget_has_the_limits_of_all_models() -> None:
    assert read_budget(WHOLE) == Budget((Limit("graph breaks", "at most", 0), *SHARED), results=True)


def test_a_models_own_tables_replace_what_holds_for_all() -> None:
    assert read_budget(WHOLE, "mlp") == Budget((Limit("graph breaks", "at most", 2), *SHARED), results=False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "budget: has no limit for this model; its tables are at-most, at-least, more-than-baseline"),
        ("[at-most", "budget: not valid TOML"),
        ("[at-mots]", "budget.at-mots: is unknown; did you mean at-most?"),
        ("[at-most]\ngraph-brakes = 0", "budget.at-most.graph-brakes: is unknown; did you mean graph-breaks?"),
        ("[at-most]\neager-call = '1 s'", "budget.at-most.eager-call: is unknown"),
        ("at-most = 3", "budget.at-most: must be a table"),
        ("model = 3", "budget.model: must be tables, one for each model"),
        ("model.mlp = 3", "budget.model.mlp: must be a table"),
        ("[model.mlp.at-most]\nx = 3", "budget.model.mlp.at-most.x: is unknown"),
        ("[at-most]\nkernels = true", "budget.at-most.kernels: must be a number, or text with a unit"),
        ("[at-most]\nkernels = -1", "budget.at-most.kernels: must be a number of 0 or more"),
        ("[at-most]\nkernels = '3 s'", "budget.at-most.kernels: has no unit 's'; its units: none"),
        ("[at-most]\nkernels = inf", "budget.at-most.kernels: must be a number of 0 or more"),
        ("[at-most]\ncompile-time = '3 h'", "has no unit 'h'; its units: us, µs, ms, s, min"),
        ("[at-most]\nspeedup = 2", "a speedup is limited in [at-least]"),
        ("[at-least]\nspeedup = 0", "budget.at-least.speedup: must be above 0"),
        ("[at-least]\ncompile-time = '1 s'", "times are limited in [at-most]"),
        ("[more-than-baseline]\ncompile-time = '1 s'", 'times are compared as shares: "5 %"'),
        ("results = 'equal'", 'budget.results: must be "same"'),
    ],
)
def test_a_mistake_is_named_with_its_place(text: str, message: str) -> None:
    with pytest.raises(JobError) as error:
        read_budget(text, "mlp")
    assert message in str(error.value)
