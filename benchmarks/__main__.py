"""python -m benchmarks [NAME…]: run the named benchmarks, by default all, and print a table."""

from __future__ import annotations

import sys

from benchmarks import (
    accelerator,
    advice,
    budgets,
    click_to_report,
    cluster_queue,
    first_record,
    flood,
    graph_view,
    interval_coverage,
    kernels,
    large_log,
    many_runs,
    many_visitors,
    null_speed,
    page_switch,
    planted_passes,
    proofs,
    ranks,
    recipes,
    recording,
    regions,
    second_clock,
    server_memory,
    start_up,
    sweeps,
    synthetic,
    visitors,
)
from benchmarks.table import print_table

BENCHMARKS = {
    "recording": recording,
    "click_to_report": click_to_report,
    "page_switch": page_switch,
    "server_memory": server_memory,
    "synthetic": synthetic,
    "graph_view": graph_view,
    "kernels": kernels,
    "large_log": large_log,
    "advice": advice,
    "proofs": proofs,
    "regions": regions,
    "planted_passes": planted_passes,
    "recipes": recipes,
    "budgets": budgets,
    "null_speed": null_speed,
    "interval_coverage": interval_coverage,
    "second_clock": second_clock,
    "accelerator": accelerator,
    "visitors": visitors,
    "many_visitors": many_visitors,
    "sweeps": sweeps,
    "flood": flood,
    "ranks": ranks,
    "cluster_queue": cluster_queue,
    "first_record": first_record,
    "start_up": start_up,
    "many_runs": many_runs,
}


def main() -> int:
    """Run the benchmarks and print the table, which marks missed aims; exit with 2 if a name is unknown."""
    names = sys.argv[1:] or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    for name in names:
        print_table((BENCHMARKS[name].__doc__ or name).partition("\n")[0], BENCHMARKS[name].measure())
    return 0


if __name__ == "__main__":
    sys.exit(main())
