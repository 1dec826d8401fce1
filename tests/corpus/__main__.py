"""`python -m tests.corpus [NAME…]`: take public reports about torch.compile to the product, and print how it does.

Names are beginnings of file names in `tests/corpus/cases`; without any, all cases run. `--cards` prints the cards.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from core import LocalEngine, Runner, Store
from tests.corpus.case import cases
from tests.corpus.judge import Judgement, TorchAlone, judge
from tests.support.homes import CACHE


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge cases, print a table and the totals; return 1 if the product advises something wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus", description=__doc__)
    parser.add_argument("names", nargs="*", help="beginnings of names of cases")
    parser.add_argument("--cards", action="store_true", help="print the cards of each case")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as home:
        CACHE.mkdir(parents=True, exist_ok=True)
        engine, torch, judged = LocalEngine(CACHE), TorchAlone(), []
        runner = Runner(Store(Path(home)), engine)
        try:
            for case in cases(tuple(chosen.names)):
                judged.append(judge(runner, torch, case))
                print_case(judged[-1], chosen.cards)
        finally:
            torch.close()
            engine.close()
    print_totals(judged)
    return int(any(made.wrong for made in judged))


def print_case(made: Judgement, with_cards: bool) -> None:
    """Print the row of a case."""
    marks = [
        "detected" if made.detected else "-",
        "explained" if made.explained else "-",
        f"cured ({made.cured_by})" if made.cured_by else "-",
        "WRONG" if made.wrong else "",
    ]
    row = "healthy" if made.case.is_control else "  ".join(f"{mark:<16}" for mark in marks)
    print(f"{made.case.name:<44} {row}".rstrip(), flush=True)
    for line in [*made.wrong, *(made.notes if with_cards else ()), *(made.cards if with_cards else ())]:
        print(f"    {line}", flush=True)


def print_totals(judged: Sequence[Judgement]) -> None:
    """Print the numbers of cases that were detected, explained, cured and advised wrongly."""
    troubled = [made for made in judged if not made.case.is_control]
    controls = [made for made in judged if made.case.is_control]
    print(f"\n{len(troubled)} cases, {len(controls)} controls")
    rows = {
        "detected": sum(made.detected for made in troubled),
        "explained": sum(made.explained for made in troubled),
        "cured": sum(bool(made.cured_by) for made in troubled),
    }
    for name, number in rows.items():
        print(f"{name:<10} {number:>4}  {100 * number / max(1, len(troubled)):.0f} %")
    print(f"{'wrong':<10} {sum(bool(made.wrong) for made in judged):>4}")


if __name__ == "__main__":
    sys.exit(main())
