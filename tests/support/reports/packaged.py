"""A model of two ops that AOTInductor packaged: literal values, as a worker's records say them."""

from dataclasses import replace
from typing import Any

import msgspec

from core.report import (
    Difference,
    Export,
    ExportedDim,
    ExportedValue,
    Package,
    PackagedFile,
    PackageRun,
    PackageTimes,
    RangeTrial,
)
from tests.support.homes import line, measured_log, record

EXPORT = Export(
    call="torch.export.export(model, args, dynamic_shapes=({0: Dim('batch', min=1, max=128)},))",
    seconds=1.21,
    dims=(ExportedDim("batch", ("0.0",), "Dim('batch', min=1, max=128)", 4, 1, 128),),
    nodes=2,
    targets={"aten.linear.default": 1, "aten.relu.default": 1},
    values=(
        ExportedValue("p_weight", "parameter", "weight", "f32[8, 8]"),
        ExportedValue("x", "user_input", "", "f32[s77, 8]"),
        ExportedValue("relu", "user_output", "", "f32[s77, 8]"),
    ),
    ranges=("s77: VR[1, 128]",),
    guards=("x.size()[0] <= 128",),
)
TRIALS = (
    RangeTrial("batch", 128, True, "f32[128, 8]", checked="", program_same=True, package_same=True),
    RangeTrial(
        *("batch", 129, False, "f32[129, 8]"),
        program="AssertionError: Guard failed: x.size()[0] <= 128\nand more",
        checked="Error: input_handles[0]: too large\nand more",
        package_same=True,
    ),
    RangeTrial("batch", 0, False, skipped="not tried: its inputs would take more"),
)
FOLDER = f"model/data/aotinductor/model/cabc{'2' * 48}"
PACKAGE = Package(
    seconds=9.5,
    file="model.pt2",
    bytes=45_200,
    sha256="ab" * 32,
    files=(
        PackagedFile(f"{FOLDER}.wrapper.cpp", "wrapper", 12_000, 1),
        PackagedFile(f"{FOLDER}.kernel.cpp", "kernels", 1_500, 2),
        PackagedFile(f"{FOLDER}.wrapper.so", "library", 31_000, 3),
        PackagedFile("model/version", "metadata", 2, 4),
    ),
    metadata={"AOTI_DEVICE_KEY": "cpu"},
    constants=1,
)
SAME = (Difference("output", True, tolerance=1e-5, error=1e-8),)
PYTHON = PackageRun("python", 0.012, 0.0004, SAME, threads=2)
CPP = PackageRun(
    *("c++", 0.008, 0.0003, SAME),
    same_bits=True,
    compiler="g++ 12.2.0",
    command="cmake -S . -B build && cmake --build build",
    build_s=41.0,
    threads=2,
    output="output 0: Float [4, 8]",
)
TIMES = PackageTimes(
    sides={
        "eager": (2e-5, 2.1e-5, 1.9e-5, 2e-5) * 4,
        "compiled": (3e-5, 3.1e-5, 2.9e-5, 3e-5) * 4,
        "python": (1.2e-5, 1.22e-5, 1.18e-5, 1.2e-5) * 4,
        "c++": (1e-5, 1.02e-5, 0.98e-5, 1e-5) * 4,
    },
    warm_up=4,
    calls_per_sample=100,
    threads=2,
)
TEXTS = (
    ("graph", "exported program", "python", "def forward(self, x):\n    return torch.ops.aten.relu.default(x)\n"),
    ("file", f"{FOLDER}.wrapper.cpp", "cpp", "void AOTInductorModel::run_impl() {}\n"),
    ("file", f"{FOLDER}.kernel.cpp", "cpp", 'extern "C" void cpp_fused_relu_0() {}\n'),
    ("runner", "main.cpp", "cpp", "int main() { return 0; }\n"),
    ("runner", "CMakeLists.txt", "cmake", "find_package(Torch REQUIRED)\n"),
)
UNMADE = PackageTimes(reason="the job does not measure")
NO_EXPORT = replace(
    EXPORT, dims=(), nodes=0, values=(), ranges=(), guards=(), problem="UserError: Dynamic control flow is not *here*"
)


def packaged_log(
    export: Export = EXPORT,
    package: Package | None = PACKAGE,
    runs: tuple[PackageRun, ...] = (PYTHON, CPP),
    times: PackageTimes | None = TIMES,
    trials: tuple[RangeTrial, ...] = TRIALS,
) -> bytes:
    """The transformer block's log, with the records of a package behind it."""
    said: list[tuple[str, Any]] = [("export", export), *(("range_trial", trial) for trial in trials)]
    said += [("package", package)] if package else []
    said += [("package_run", run) for run in runs] + ([("package_times", times)] if times else [])
    records = (record(f"compileboard_{name}", {"schema": 1, **msgspec.to_builtins(value)}) for name, value in said)
    return measured_log() + b"".join([*records, *map(_text, TEXTS)])


def _text(said: tuple[str, str, str, str]) -> bytes:
    part, title, language, text = said
    body = {"name": "aoti_text", "encoding": "string", "part": part, "title": title, "language": language}
    return line({"artifact": body}, text)
