"""pytest plugin: the fixture and the marker `compileboard`.

If the package is installed, every pytest session imports this module. So the module imports nothing else of
the package before a test uses it. `setup.py` installs this module as `compileboard/plugin.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from core.library.recording import RecordedRun, record

MARKER = "compileboard"
TRACE = "torch.__trace"
HELP = (
    "compileboard(no_graph_breaks=False, recompiles=None, kernels=None, planned_bytes=None, reset=True): record the "
    "test, and fail it for a graph break, or more recompiles, kernels or bytes of Inductor's buffers than this; "
    "torch.compiler.reset() comes first unless reset is False"
)
LIMITS = {"no_graph_breaks", "recompiles", "kernels", "planned_bytes", "reset"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--compileboard-home`, the store of the runs that tests record."""
    group = parser.getgroup("compileboard")
    group.addoption("--compileboard-home", metavar="DIR", help="store of the runs that tests record")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker `compileboard`."""
    config.addinivalue_line("markers", HELP)


class TestRecorder:
    """The value of the fixture `compileboard`: records parts of a test, each as a run.

    A run's title is the test's id, followed by the label.
    """

    __test__ = False

    def __init__(self, test: pytest.Item) -> None:
        self._test = test

    def record(self, label: str = "", *, reset: bool = False) -> record:
        """Return a context manager that records, as `compileboard.record` does; `label` is added to the title."""
        from core.library.recording import record

        title = f"{self._test.nodeid} {label}".strip()
        home = self._test.config.getoption("compileboard_home")
        return record(title, reset=reset, home=home, warn=False, begun=self._name)

    def begin(self) -> None:
        """Forget compiled code unless the marker has `reset=False`; detach pytest from torch's trace."""
        from core.library.recording import forget_compiled_code

        marker = self._test.get_closest_marker(MARKER)
        if marker is None or marker.kwargs.get("reset", True):
            forget_compiled_code()
        # pytest captures each logger that does not propagate, so torch's trace, too, which has no message.
        trace = logging.getLogger(TRACE)
        for handler in [each for each in trace.handlers if type(each).__module__.startswith("_pytest.")]:
            trace.removeHandler(handler)

    def _name(self, run: RecordedRun) -> None:
        """Add a run's label and address to the report that pytest prints if the test fails."""
        self._test.add_report_section("call", MARKER, f"{run.label}: {run.where}\n")


@pytest.fixture
def compileboard(request: pytest.FixtureRequest) -> TestRecorder:
    """Return the recorder of a test: `with compileboard.record() as run: …`.

    Compiled code of earlier tests is forgotten first, unless the marker has `reset=False`.
    """
    recorder = TestRecorder(request.node)
    recorder.begin()
    return recorder


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    """Record a marked test as a whole, and check it against the marker's limits."""
    marker = pyfuncitem.get_closest_marker(MARKER)
    if marker is None:
        return (yield)
    if unknown := sorted(marker.kwargs.keys() - LIMITS) or list(marker.args):
        raise pytest.UsageError(f"{pyfuncitem.nodeid}: the marker {MARKER} does not take {unknown[0]!r}; {HELP}")
    recorder = TestRecorder(pyfuncitem)
    recorder.begin()
    with recorder.record() as run:
        result = yield
    if marker.kwargs.get("no_graph_breaks"):
        run.assert_no_graph_breaks()
    if (recompiles := marker.kwargs.get("recompiles")) is not None:
        run.assert_recompiles(at_most=recompiles)
    if (kernels := marker.kwargs.get("kernels")) is not None:
        run.assert_kernels(at_most=kernels)
    if (planned := marker.kwargs.get("planned_bytes")) is not None:
        run.assert_planned_bytes(at_most=planned)
    return result
