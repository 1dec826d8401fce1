"""python -m tests.record_gallery OUT [NAME…]: record the gallery of a GPU's runs again, on a machine that has one.

`python -m tests.record_gallery --sentences` needs none: it writes again what the recordings say of themselves.

Each sample in inference and training at sizes that fill the GPU, the modes of torch.compile, and a row of batch sizes.
The logs are kept as torch wrote them, but for names of directories (as `tests.record` does it). With names, those
alone. What fails on the device is told and left out.
"""

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from core import (
    CompileJob,
    CompileOptions,
    LocalEngine,
    Model,
    Run,
    Runner,
    Store,
    open_report,
    recordings,
    samples,
    sentence,
    verdict,
)
from core.job import GIB, MODES
from core.runs.recordings import RECORDINGS, Recording, add_recording
from tests.record import RUN_ID, machine_places, normalised
from tests.support.recordings import write_recording

# Dimensions of each sample's inputs that fill an H200; a sample that is not here is about Dynamo, or has sizes of its
# own.
FULL: dict[str, dict[str, int]] = {
    "sin_cos": {"0.0": 16_384, "0.1": 16_384},
    "matmul_relu_softmax": {"0.0": 65_536},
    "mlp": {"batch": 262_144},
    "gelu_layernorm_residual": {"batch": 1_024},
    "transformer_block": {"batch": 1_024},
    "attention_by_hand": {"batch": 128},
    "small_gpt": {"batch": 512},
    "llama_block": {"batch": 1_024},
    "lstm_cell_loop": {"0.1": 65_536},
    "small_resnet": {"batch": 4_096},
    "small_vit": {"batch": 4_096},
    "small_unet": {"batch": 1_024},
    "mixture_of_experts": {"batch": 65_536},
    "dlrm": {"batch": 65_536},
    "training_step": {"batch": 65_536},
    "flex_attention": {"batch": 256},
    "custom_op_embedding": {"batch": 65_536},
}
# Its own op has no formula for a backward.
NO_GRADIENT = ("custom_op_embedding",)
MODES_OF = ("transformer_block", "mlp")
BATCHES_OF, BATCHES = "transformer_block", (1, 4, 16, 64, 256, 1_024)


def jobs() -> dict[str, tuple[str, CompileJob]]:
    """What is recorded, by name: what it shows, and its job."""
    found: dict[str, tuple[str, CompileJob]] = {}
    for one in samples():
        job = CompileJob(
            Model("sample", one.name),
            device="cuda",
            sizes=FULL.get(one.name, {}),
            training=False,
            memory=one.name in FULL,
            numerics="results" if one.name in FULL else "",
            memory_limit_bytes=96 * GIB,
        )
        if not one.training:
            found[f"{one.name}-inference"] = "inference", job
        if one.training or (one.name in FULL and one.name not in NO_GRADIENT):
            found[f"{one.name}-training"] = "training", replace(job, training=True)
    for name in MODES_OF:
        for mode in MODES:
            options = CompileOptions(mode=mode)
            found[f"{name}-mode-{mode}"] = f"mode {mode}", replace(found[f"{name}-inference"][1], compile=options)
    for size in BATCHES:
        job = replace(found[f"{BATCHES_OF}-inference"][1], sizes={"batch": size})
        found[f"{BATCHES_OF}-batch-{size:04}"] = f"batch {size}", job
    return found


def main() -> None:
    """Record what the command line names, or all."""
    if "--sentences" in sys.argv:
        _sentences()
        return
    out, names = Path(sys.argv[1]), sys.argv[2:]
    with tempfile.TemporaryDirectory() as home:
        store = Store(Path(home))
        engine = LocalEngine(store.cache_dir)
        runner = Runner(store, engine)
        for name, (kind, job) in jobs().items():
            if not names or name in names:
                start = time.monotonic()
                told = _record(runner, name, kind, job, out)
                print(f"{name}: {told} in {time.monotonic() - start:.1f} s", flush=True)
        engine.close()


def _sentences() -> None:
    """The verdict of each recording, as today's analysis words it."""
    with tempfile.TemporaryDirectory() as home:
        store = Store(Path(home))
        for one in recordings():
            run = add_recording(store, one.name)
            log = run.log_path()
            assert log is not None
            told = sentence(verdict(open_report(run)))
            if told != one.sentence:
                print(f"{one.name}: {told}")
                folder = next(RECORDINGS.glob(f"*/{one.name}.xz")).parent
                write_recording(folder, replace(one, sentence=told), [log.read_bytes()])


def _record(runner: Runner, name: str, kind: str, job: CompileJob, out: Path) -> str:
    run: Run = runner.wait(runner.submit(job))
    status, log = run.status(), run.log_path()
    report = open_report(run) if log else None
    if status.state != "done" or log is None or report is None:
        error = report.error.message.splitlines()[0][:200] if report and report.error else status.reason
        return f"{status.state}, {error}"
    devices = runner.engine.environment().devices
    stored = run.job()
    assert stored is not None
    recording = Recording(
        name=name,
        kind=kind,
        sentence=sentence(verdict(report)),
        job=stored,
        code=run.code(),
        device=next(title for device, title in devices.items() if device.startswith("cuda")),
        torch=report.setting.torch,
        recorded_s=status.started_s or 0.0,
        took_s=(status.ended_s or 0.0) - (status.started_s or 0.0),
        peak_memory_bytes=status.peak_memory_bytes,
    )
    places = {str(run.path): "/compileboard/run", run.id: RUN_ID, **machine_places(runner.store.cache_dir)}
    path = write_recording(out, recording, [normalised(log.read_bytes(), places)])
    return f"{path.stat().st_size / 1e3:,.0f} kB of {log.stat().st_size / 1e6:,.1f} MB"


if __name__ == "__main__":
    main()
