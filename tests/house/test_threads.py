"""What several visitors set off at once: libraries that are not made for it are used as if there were one."""

import ast
import subprocess
import sys

import pytest

from tests.support.imports import FILES, nodes_of, offending
from tests.support.places import ROOT

ELSEWHERE = ("core/worker/", "core/samples/")
CORE = [name for name in FILES if name.startswith("core/") and not name.startswith(ELSEWHERE)]
AT_ONCE = """
import sys, threading, weakref, gc
from pathlib import Path
sys.setswitchinterval(1e-6)
gc.set_threshold(50)
gate, failed = threading.Barrier(8), []

class Left:
    pass

def work():
    gate.wait()
    try:
        for _ in range({times}):
            {work}
            left = Left()
            left.itself = left
            weakref.finalize(left, lambda: sum(range(100)))
    except BaseException as error:
        failed.append(error)

{setup}
threads = [threading.Thread(target=work) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
sys.exit(repr(failed) if failed else 0)
"""
READ = (
    "from core.report import from_json\ndata = Path('tests/traces/eager_backend/report.json').read_bytes()",
    "from_json(data)",
)
PARSED = ("from core.job.gallery import literals\ncode = Path('core/runs/permission.py').read_text()", "literals(code)")


@pytest.mark.parametrize(("times", "setup", "work"), [(1, *READ), (30, *PARSED)], ids=["reports", "code"])
def test_eight_threads_that_begin_at_once_neither_fail_nor_end_the_process(times: int, setup: str, work: str) -> None:
    code = AT_ONCE.format(times=times, setup=setup, work=work)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stderr.decode()) == (0, "")


def parsing(name: str) -> list[str]:
    """The calls of a file that parse Python themselves."""
    calls = (node for node in nodes_of(name) if isinstance(node, ast.Call))
    return [ast.unparse(call) for call in calls if ast.unparse(call.func) == "ast.parse"]


def test_python_is_parsed_in_one_place() -> None:
    assert list(offending(CORE, parsing)) == ["core/base/syntax.py"]
