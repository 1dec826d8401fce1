"""Each check of an agent's task refuses the original and the cheats, and passes the reference solution.

Checks that time calls need a quiet machine: `python -m benchmarks.agents prove`.
"""

import pytest

from benchmarks.agents import proof, work

pytestmark = [pytest.mark.torch, pytest.mark.long]


@pytest.mark.parametrize("name", [name for name in work.task_names() if not work.is_timed(name)])
def test_a_check_passes_the_reference_alone(name: str) -> None:
    verdicts = {variant: verdict for variant, _, verdict in proof.verdicts(name)}
    solved = {variant for variant, verdict in verdicts.items() if verdict.solved}
    assert solved == {"reference"}, {variant: verdict.reason for variant, verdict in verdicts.items()}
