"""python -m benchmarks.devices measure --out FILE: measure kernels on this machine's GPU.

`--budget` is the number of seconds after which no further group begins; the same command continues. `--device cpu`
checks with small sizes on the CPU that all functions run, and measures nothing. `measure` needs torch and Triton alone.
`fit` needs no torch: it writes `core/analysis/kernels/parameters.json` from the file in `benchmarks/devices/measured`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

MODELS = Path(__file__).parent / "models"


def main() -> int:
    """Run a subcommand; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.devices", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure", help="measure this machine's GPU")
    measuring.add_argument("--out", type=Path, required=True, help="JSON file, continued if it exists")
    measuring.add_argument("--budget", type=float, default=420.0, help="seconds until no further group begins")
    measuring.add_argument("--grid", choices=("first", "designed", "usual"), default="first")
    measuring.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    commands.add_parser("fit", help="fit the parameters of predicted times again")
    commands.add_parser("families", help="fit without each family of functions, and predict it")
    running = commands.add_parser("run", help="run the test models on this machine's GPU")
    running.add_argument("--out", type=Path, required=True, help="archive of the runs, .tar.gz")
    running.add_argument("--home", type=Path, required=True, help="directory for the runs")
    calling = commands.add_parser("calls", help="time whole calls of the test models on this machine's GPU")
    calling.add_argument("--out", type=Path, required=True, help="JSON file, continued if it exists")
    calling.add_argument("--budget", type=float, default=420.0, help="seconds until no further model begins")
    for command in (running, calling):
        command.add_argument("--models", type=Path, default=MODELS, help="directory of test models")
    keeping = commands.add_parser("rows", help="write kernels of published test models as measurements")
    keeping.add_argument("archives", type=Path, nargs="+", help="runs of the test models")
    judging = commands.add_parser("judge", help="compare predicted times with measured ones that the fit did not see")
    judging.add_argument("archive", type=Path, nargs="?", help="runs of the test models; without it, the gallery's")
    judging.add_argument("--calls", type=Path, help="file of whole calls of the same models")
    options = parser.parse_args()
    if options.command == "judge":
        from benchmarks.devices.compared import judge

        judge(options.archive, options.calls)
        return 0
    if options.command == "rows":
        from benchmarks.devices.model_rows import write_rows

        write_rows(options.archives)
        return 0
    if options.command == "calls":
        from benchmarks.devices.whole import measure_calls

        measure_calls(sorted(options.models.resolve().glob("*.py")), options.out, options.budget)
        return 0
    if options.command == "run":
        from benchmarks.devices.compared import run_models

        return int(run_models(sorted(options.models.resolve().glob("*.py")), options.home, options.out) > 0)
    if options.command == "families":
        from benchmarks.devices.fit import families_table

        print(families_table())
        return 0
    if options.command == "fit":
        from benchmarks.devices.fit import write

        write()
        return 0
    from benchmarks.devices import measure

    if options.device == "cpu":
        return int(measure.check() > 0)
    measure.measure(options.out, options.budget, options.grid)
    return 0


if __name__ == "__main__":
    sys.exit(main())
