"""python -m tests.record [--reports] [SCENARIO…]: record the traces that the tests read, and the report of each.

With --reports the traces stay as they are, and their reports alone are made again.

A trace is kept as torch wrote it, but for the names of this machine's directories and of the run, so that a recorded
log says the same wherever it was made, and for long texts (configurations, cache keys) of records that need none of
it. Checksums are made again to fit.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from core import CompileJob, CompileOptions, LocalEngine, Model, Run, Runner, Store, build_report, to_json
from core.trace.reader import HEADER
from tests.support.places import ROOT, TRACES

BULKY_HEADER = re.compile(rb'"(bwd_)?compilation_metrics": ')
BULKY_PAYLOAD = re.compile(rb'"chromium_event": |"name": "(fx_graph|aotautograd)_cache_')
MAX_CHARS, MAX_ITEMS = 300, 12
RUN_ID = "20260101-000000-recorded-0000"

RAISES = """
import torch


def check(x):
    if x.shape[0] > 4:
        raise ValueError("at most four rows")
    return x.sin()


def model(x):
    y = x.cos()
    torch._dynamo.graph_break()
    return check(y)


calls = [(torch.ones(4, 8),), (torch.ones(8, 8),)]
"""

# On a CPU Inductor times choices for a product of two inputs; for a layer's weight it needs them to be constants.
TIMED = """
import torch


def model(x, y):
    return torch.bmm(x, y).relu()


calls = [(torch.ones(8, 64, 64), torch.ones(8, 64, 64))]
"""

BREAKS = """
import torch


def model(x):
    torch._dynamo.graph_break()
    return x.sin()


calls = [(torch.ones(4),)]
"""

# A size that only the data tell, one that becomes a constant, and one that a line divides in two; then both codes
# again.
SYMBOLS = """
import torch

torch._dynamo.config.capture_scalar_outputs = True


def model(x, y):
    count = x.sum().to(torch.int64).item()
    torch._check(count >= 0)
    if x.shape[0] > 3:
        x = x + 1
    if y.shape[0] == 5:
        y = y * 2
    return x.sum() + y.sum() + torch.zeros(count).sum()


y = torch.ones(5, 6)
calls = [(torch.ones(rows, 3), y) for rows in (4, 2, 6, 2)]
"""

COMPILES = """
import torch


@torch.compile(dynamic=True)
def model(x):
    return x.sin() + 1


calls = [(torch.ones(4),)]
"""


SCRIPT = """
import torch


@torch.compile
def double(x):
    return x.sin() * 2


def count_nodes(gm, example_inputs):
    print(len(gm.graph.nodes), "nodes")
    return gm.forward


for rows in (4, 8):
    print(double(torch.ones(rows)).shape)
with torch.compiler.set_stance("force_eager"):
    double(torch.ones(4))
tripled = torch.compile(lambda x: x * 3, backend=count_nodes, dynamic=False)
tripled(torch.ones(4))
tripled(torch.ones(4))
"""


# A leaf module, a parameter as an attribute, a size, and a method.
CAPTURED = """
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(8, 4)])
        self.scale = torch.nn.Parameter(torch.ones(4))

    def forward(self, x):
        \"\"\"Docstring.\"\"\"
        rows = x.shape[0]
        x = self.layers[0](x)
        x = torch.relu(x) * self.scale + rows
        return x.softmax(-1)


model = Model()
inputs = (torch.randn(2, 8),)
"""


def code(text: str, **options: Any) -> CompileJob:
    return CompileJob(Model("code", text), measure=False, compile=CompileOptions(**options))


def sample(name: str, **fields: object) -> CompileJob:
    return CompileJob(Model("sample", name), measure=False, **fields)  # type: ignore[arg-type]


JOBS = {
    "transformer_block": sample("transformer_block"),
    "training_step": sample("training_step"),
    "graph_break_zoo": sample("graph_break_zoo"),
    "recompile_zoo": sample("recompile_zoo"),
    "dynamic_batch": sample("dynamic_batch"),
    "symbols": code(SYMBOLS, dynamic=True),
    "control_flow": sample("control_flow"),
    "error": code(RAISES),
    "refused": code(BREAKS, fullgraph=True),
    "compiled_itself": code(COMPILES),
    "autotuned": code(TIMED, options={"max_autotune": True, "max_autotune_gemm_backends": "CPP,ATEN"}),
    "eager_backend": sample("mlp", compile=CompileOptions(backend="eager")),
    "measured": CompileJob(Model("sample", "transformer_block")),
    "script": code(SCRIPT),
    "captured": CompileJob(Model("code", CAPTURED), measure=False, capture=True),
    "target_h100": sample("training_step", target="h100"),
}
SCENARIOS = (*JOBS, "foreign")


def main() -> None:
    """Record the scenarios named on the command line, or all."""
    names = [name for name in sys.argv[1:] if name != "--reports"] or SCENARIOS
    if "--reports" in sys.argv:
        for name in names:
            _report(name)
        return
    with tempfile.TemporaryDirectory() as home:
        store = Store(Path(home))
        engine = LocalEngine(store.cache_dir)
        runner = Runner(store, engine)
        for name in names:
            log, places = _foreign(Path(home)) if name == "foreign" else _run(runner, JOBS[name])
            _keep(name, normalised(log.read_bytes(), {**places, **machine_places(store.cache_dir)}))
        engine.close()


def _run(runner: Runner, job: CompileJob) -> tuple[Path, dict[str, str]]:
    run: Run = runner.wait(runner.submit(job))
    log = run.log_path()
    assert log is not None
    return log, {str(run.path): "/compileboard/run", run.id: RUN_ID}


def _foreign(home: Path) -> tuple[Path, dict[str, str]]:
    script, traces = TRACES / "foreign" / "script.py", home / "foreign"
    environment = {**os.environ, "TORCH_TRACE": str(traces), "TORCHINDUCTOR_CACHE_DIR": str(home / "foreign_cache")}
    subprocess.run([sys.executable, str(script)], env=environment, check=True, stdout=subprocess.DEVNULL)
    log = max(traces.glob("*.log"), key=lambda path: path.stat().st_size)
    return log, {str(home / "foreign_cache"): "/cache", str(traces): "/traces"}


def _keep(name: str, log: bytes) -> None:
    folder = TRACES / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "trace.log").write_bytes(log)
    _report(name)


def _report(name: str) -> None:
    folder = TRACES / name
    report = to_json(build_report(folder / "trace.log", strict=True), indent=1)
    (folder / "report.json").write_bytes(report + b"\n")
    print(f"{name}: {(folder / 'trace.log').stat().st_size:,} bytes of log, {len(report):,} of report")


def machine_places(cache: Path) -> dict[str, str]:
    """This machine's directories, and what a recorded trace calls them."""
    paths = sysconfig.get_paths()
    return {
        str(cache): "/cache",
        paths["purelib"]: "/site-packages",
        paths["stdlib"]: "/python",
        str(ROOT): "/compileboard",
    }


def normalised(log: bytes, places: dict[str, str]) -> bytes:
    """The log with other names for places, longest first, and checksums that fit again."""
    names = {old.encode(): places[old].encode() for old in sorted(places, key=len, reverse=True)}
    any_name = re.compile(b"|".join(map(re.escape, names)))
    log = any_name.sub(lambda match: names[match.group()], log)
    starts = [match.start() for match in HEADER.finditer(log)]
    return b"".join(_checked(log[start:end]) for start, end in zip(starts, [*starts[1:], len(log)], strict=True))


def _checked(record: bytes) -> bytes:
    start = record.index(b"] {") + 2
    header, _, payload = record.partition(b"\n")
    if BULKY_HEADER.search(header):
        header = header[:start] + _shortened(header[start:])
    text = re.sub(rb"^\t", b"", payload.removesuffix(b"\n"), flags=re.MULTILINE)
    if BULKY_PAYLOAD.search(header) and text:
        text = _shortened(text)
    md5 = hashlib.md5(text, usedforsecurity=False).hexdigest().encode()
    header = re.sub(rb'"has_payload": "[0-9a-f]{32}"', b'"has_payload": "' + md5 + b'"', header)
    return header + b"\n" + (b"\t" + text.replace(b"\n", b"\n\t") + b"\n" if payload else b"")


def _shortened(text: bytes) -> bytes:
    return json.dumps(_short(json.loads(text))).encode()


def _short(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _short(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_short(item) for item in value[:MAX_ITEMS]]
    return value[:MAX_CHARS] if isinstance(value, str) else value


if __name__ == "__main__":
    main()
