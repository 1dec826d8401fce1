"""Where the project, its recorded logs and its pages are."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TRACES = ROOT / "tests" / "traces"
STORES = ROOT / "tests" / "stores"
RANKS = ROOT / "tests" / "ranks"
APP = str(ROOT / "pages" / "app.py")
