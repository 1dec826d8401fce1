"""The pages that tests open, as text: tests/outputs/pages has what each of them shows at the end of its test.

The files have only lines that no recorded scenario has in tests/traces/*/screens.md.
`RECORD_PAGES=1 pytest tests/pages` writes the files again.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.screens import known_pieces, share_lines
from tests.support.goldens import OUTPUTS, differences, unlike
from tests.support.homes import shared_reports
from tests.support.places import ROOT
from tests.support.screen import fixed, written

PAGES = OUTPUTS / "pages"
RECORDED = re.compile(
    r"pages/(kernels|backends|dynamo)/|"
    r"test_(aotinductor|graph|compare|compile_time|memory|neighbours|numerics|speedup|timeline|results|targets)_pages?\.py"
)
# What differs from run to run beside what all screens leave out: paths and random ids.
VARYING = (
    (re.compile(r"`paths \(directories[^`]*`"), "`paths …`"),
    # The checkout's directory can have such a name.
    (re.compile(r"\n+ +_`stay, as words of torch or of Compileboard[^`]*`_"), ""),
    (re.compile(r"/[^\s`\"']*/pytest-[\w-]*/[^\s`\"'/]*/?[^\s`\"'/]*"), "HOME"),
    (re.compile(r"(?<=_repaired)-[0-9a-f]{4}\b"), ""),
    (re.compile(r"(?<=Starting torch…) [\d.]+ [a-z]+"), ""),
    # A busy machine has not read the run of a sample's card in time.
    (re.compile(r"link \*\*(\d+ → \d+ kernels?|last run)[^*]*\*\*"), "link **last run**"),
)
# Pages that show how long something has taken so far.
WAITING = re.compile("waited_for|while_a_tool_works")
MOST_PAGES = 4


@pytest.fixture(scope="module", autouse=True)
def reports_read_once() -> Iterator[None]:
    """Each recorded log is read by the first page that opens it: a third of the time of tests with two runs."""
    with shared_reports():
        yield


@pytest.fixture(autouse=True)
def page_texts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Compare what the pages of a test show with the recorded text."""
    module: Any = request.module
    is_recorded = RECORDED.search(Path(module.__file__).as_posix()) and not WAITING.search(request.node.name)
    if not is_recorded or not hasattr(module, "opened"):
        yield
        return
    apps: list[AppTest] = []
    really = module.opened

    def opened(*args: Any, **query: Any) -> AppTest:
        apps.append(really(*args, **query))
        return apps[-1]

    monkeypatch.setattr(module, "opened", opened)
    yield
    if apps:
        texts = (unlike(fixed(written(app), VARYING), known_pieces()) for app in apps[:MOST_PAGES])
        text = "\n".join(filter(None, texts)) + "\n"
        name = re.sub(r"[^\w-]+", "-", request.node.name.partition("@")[0]).strip("-")[:150]
        compare_or_record(PAGES / Path(module.__file__).stem.removeprefix("test_") / f"{name}.md", text)


def compare_or_record(path: Path, text: str) -> None:
    """Write the text if `RECORD_PAGES` is set, else compare it with the recorded text."""
    if os.environ.get("RECORD_PAGES"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    recorded = path.read_text(encoding="utf-8") if path.exists() else ""
    changed = differences(recorded, text)
    assert changed == [], f"{path.relative_to(ROOT)} differs: see `make screens`"


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let the written pages share their lines, once all workers have ended."""
    if os.environ.get("RECORD_PAGES") and not hasattr(session.config, "workerinput"):
        share_lines()
