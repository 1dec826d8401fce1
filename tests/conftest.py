"""What tests share: one warm fork server, and one cache of compiled objects that lives longer than a test run."""

import gc
import os
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from playwright.sync_api import Browser, sync_playwright

from core import CompileJob, LocalEngine, Model, Run, Runner, Store
from pages.session.server import the_runner, the_sweeps
from tests.support.apps import (  # noqa: F401
    components_found_once,
    empty_home,
    runs,
    scripts_compiled_once,
    submitted,
    torch_still_starting,
)
from tests.support.browser import PATIENCE_S, contexts, new_context, page, server, training, transformer  # noqa: F401
from tests.support.browsers import FLAGS, NoBrowser, executable
from tests.support.engines import Cluster, Elsewhere, FakeSite
from tests.support.homes import CACHE
from tests.support.imports import nodes_of, tree_of
from tests.support.places import ROOT
from tests.support.ray_site import RaySites, ray_sites
from tests.support.sample import DAY, case_of, is_sampled
from tests.support.user_code import RunCode

# Pages of one server need no process against each other, and what is drawn in software none of its own: a page's load
# takes half less.
FEWER_PROCESSES = ("--in-process-gpu", "--disable-site-isolation-trials", "--process-per-site")
# New objects after which Python looks for garbage; 700 by itself.
LITTLE_GARBAGE = 10_000
# Letters of a parameter that stand whole in a test's name.
LONGEST_NAME = 300
QUICK = ("core", "house", "pages")
# What `--fast` leaves out: folders and marks of what takes torch, a browser, a server or many seconds, and files that
# import torch or whose tests all need it: they would load it by what they import.
SLOW_FOLDERS, SLOW_MARKS = ("attack", "browser", "live"), ("torch", "browser", "server", "long")
NEEDS_TORCH = re.compile(r"^((import|from) torch\b|pytestmark = pytest\.mark\.torch$)", re.MULTILINE)
# What compiles in a process of its own finds the objects of the others.
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(CACHE / "inductor"))
# Torch would ask again in each process, by another one, whether vector instructions that the CPU names can be loaded.
os.environ.setdefault("TORCHINDUCTOR_VEC_ISA_OK", "1")
# A container often forbids bytecode, and each of some hundred processes would compile all modules again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# A busy machine is slow, not wrong.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Take one process more than there are cores: a third of the time, tests wait for limits, browsers and servers."""
    return (os.cpu_count() or 1) + 1


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--fast` and `--site`."""
    parser.addoption("--fast", action="store_true", help="leave out what needs torch, a browser or a server")
    parser.addoption(
        "--site", choices=("ray",), help="run the tests of the runner and of sweeps on a Ray cluster, alone"
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave slow folders and files unread if only the fast tests are asked for."""
    if not config.getoption("fast"):
        return None
    if collection_path.is_dir():
        return (collection_path.parent == ROOT / "tests" and collection_path.name in SLOW_FOLDERS) or None
    is_test = collection_path.suffix == ".py"
    return (is_test and NEEDS_TORCH.search(collection_path.read_text(encoding="utf-8")) is not None) or None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while tests are collected, and never among them: they stay. It takes a quarter of that time,
    and a tenth of what tests take that start no process.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(LITTLE_GARBAGE)
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What shares a fixture that is dear goes to one process; folders whose tests take long begin, so that none waits
    for another's at the end. Before pytest-xdist, which reads the groups, and before `-m`, which reads the sample.
    """
    if config.getoption("site"):
        items[:] = [item for item in items if "any_site" in getattr(item, "fixturenames", ())]
        for item in items:
            # Ray leaves files open.
            item.add_marker(pytest.mark.filterwarnings("ignore"))
    if config.getoption("fast"):
        if "torch" in sys.modules:
            raise pytest.UsageError(
                "--fast has loaded torch: mark the file that imports it as torch, and name none of these"
            )
        items[:] = [item for item in items if not any(item.get_closest_marker(name) for name in SLOW_MARKS)]
    items.sort(key=lambda item: _place(item) in QUICK)
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_group(item)))
        if item.get_closest_marker("long") and is_sampled(case_of(item)):
            item.add_marker(pytest.mark.sampled)


def pytest_sessionfinish() -> None:
    """Free the syntax trees that the laws of the house have read: pytest and Python look for garbage at the end, which
    takes ten seconds among them.
    """
    tree_of.cache_clear()
    nodes_of.cache_clear()


def _group(item: pytest.Item) -> str:
    """Name what shares a process: what a test's module names itself, a compiled sample, one dashboard and its browser,
    those that are attacked, else a file.
    """
    if named := item.get_closest_marker("xdist_group"):
        return str(named.args[0])
    callspec = getattr(item, "callspec", None)
    sample = callspec and callspec.params.get("both")
    if sample:
        return str(sample)
    if _place(item) == "browser":
        return "browser"
    if _place(item) == "attack" and "torch" not in item.keywords and hasattr(item.module, "Server"):  # type: ignore[attr-defined]
        return "dashboards"
    return item.path.relative_to(ROOT).as_posix()


def _place(item: pytest.Item) -> str:
    return item.path.relative_to(ROOT / "tests").parts[0]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say why tests were skipped, each reason once, and how many tests were the sample of the long ones."""
    reasons = Counter(str(report.longrepr[2]) for report in terminalreporter.getreports("skipped"))
    for reason, count in reasons.items():
        terminalreporter.write_line(f"{count} skipped: {reason.removeprefix('Skipped: ')}")
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    if sampled := sum("sampled" in report.keywords for report in reports):
        terminalreporter.write_line(f"{sampled} long tests of day {DAY}; `make test-long` runs those of all days")


@pytest.fixture(scope="session", autouse=True)
def quick_apps() -> Iterator[None]:
    """Pages without a browser open at once, and start no torch."""
    with components_found_once(), scripts_compiled_once(), torch_still_starting():
        yield


@pytest.fixture(scope="session")
def engine() -> Iterator[LocalEngine]:
    """The fork server of the whole test run."""
    CACHE.mkdir(parents=True, exist_ok=True)
    engine = LocalEngine(CACHE)
    engine.warm_up()
    yield engine
    engine.close()


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name a long value by its length: pytest-xdist sends names to and fro, and one would have 17 MB."""
    is_long = isinstance(val, str | bytes) and len(val) > LONGEST_NAME
    return f"{argname} of {len(val)}" if is_long else None  # type: ignore[arg-type]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the tests of an engine's site at each, or on Ray alone."""
    if "any_site" in metafunc.fixturenames:
        site = metafunc.config.getoption("site")
        metafunc.parametrize("any_site", [site] if site else ["here", "elsewhere"], indirect=True)


@pytest.fixture
def any_site(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where the test's fake engines are, in words for `site_of`."""
    if request.param == "ray":
        if (elsewhere := request.node.get_closest_marker("not_on_ray")) is not None:
            pytest.skip(elsewhere.args[0])
        sites: RaySites = request.getfixturevalue("ray")
        words, home = sites.next_words(), request.getfixturevalue("tmp_path")
        monkeypatch.setattr(FakeSite, "new_site", lambda: sites.server(words, home))
        yield words
        sites.end_servers()
        return
    if request.param == "elsewhere":
        cluster = Cluster()
        monkeypatch.setattr(FakeSite, "new_site", lambda: Elsewhere(cluster))
    yield str(request.param)


@pytest.fixture(scope="session")
def ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RaySites]:
    """The Ray cluster of the whole test run."""
    pytest.importorskip("ray", reason="make extra EXTRA=ray")
    with ray_sites(tmp_path_factory.mktemp("ray")) as sites:
        yield sites


@pytest.fixture
def runner(tmp_path: Path, engine: LocalEngine) -> Runner:
    """A runner over an empty store."""
    return Runner(Store(tmp_path), engine)


@pytest.fixture
def run_job(runner: Runner) -> Callable[[CompileJob], Run]:
    """Runs a job to its end; a run that hangs is a failed test and no hanging one."""

    def run_job(job: CompileJob) -> Run:
        run = runner.submit(job)
        deadline = time.monotonic() + job.time_limit_s + PATIENCE_S
        while run.status().live:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        return run

    return run_job


@pytest.fixture
def run_code(run_job: Callable[[CompileJob], Run]) -> RunCode:
    """Runs pasted code to its end, without measuring."""

    def run_code(code: str, **fields: Any) -> Run:
        return run_job(CompileJob(Model("code", code), **{"measure": False, "time_limit_s": 240.0, **fields}))

    return run_code


@pytest.fixture
def interrupted_as_in_a_terminal() -> Iterator[None]:
    """Tests that a shell runs in the background ignore SIGINT, and so would what they start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def closed_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The home of pages that do not run visitors' code, for Streamlit's AppTest."""
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path))
    monkeypatch.setenv("COMPILEBOARD_ALLOW_CODE", "0")
    the_runner.clear()
    the_sweeps.clear()
    yield tmp_path
    the_runner.clear()
    the_sweeps.clear()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Chromium, with nothing that it would like to ask the world; without one the tests that need it are skipped, but
    in CI.
    """
    with sync_playwright() as playwright:
        try:
            path = executable(playwright)
        except NoBrowser as error:
            if os.environ.get("CI"):
                raise
            pytest.skip(str(error))
        browser = playwright.chromium.launch(executable_path=path, args=[*FLAGS, *FEWER_PROCESSES])
        yield browser
        browser.close()
