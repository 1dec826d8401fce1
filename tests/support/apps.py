"""Pages without a browser, in Streamlit's AppTest: opened as a deep link would, and what is on them."""

import functools
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, app_test, local_script_runner

from core import CompileJob, Environment
from pages import menu
from pages.parts.run import submit
from pages.session import actions, server
from tests.record import SCENARIOS
from tests.support.homes import add_scenario
from tests.support.places import APP
from tests.support.screen import plain

# The pages that show evidence of any run; what the others need is said in their own tests.
ELSEWHERE = (
    menu.NEW_RUN,
    menu.RUNS,
    menu.KERNEL,
    menu.SWEEP,
    menu.RANKS,
    menu.EXERCISES,
    menu.LANDMARKS,
    menu.GLOSSARY,
    menu.OPTIONS,
    menu.DOCTOR,
)
EVIDENCE = tuple(page.script for page in menu.PAGES.values() if page not in ELSEWHERE)


@contextmanager
def homed(home: Path) -> Iterator[Path]:
    """Pages look into that home meanwhile, and remember nothing of the home before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPILEBOARD_HOME", str(home))
        forget()
        yield home
    forget()


# The tab of New run that a visitor has opened, who brings code or a log.
OWN_CODE, A_LOG = {"new-run-tabs": "Your code"}, {"new-run-tabs": "A trace log"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Scenario → the run that it is stored as, in a home that has them all."""
    with homed(tmp_path_factory.mktemp("home")) as home:
        yield all_scenarios(home)


def all_scenarios(home: Path) -> dict[str, str]:
    """Store each scenario in the home that pages look into, and index them all; scenario → run.

    A page lists what was indexed within a fraction of a second, which on a busy machine is not all.
    """
    stored = {name: add_scenario(home, name) for name in SCENARIOS}
    server.the_runner().index.complete()
    return stored


@pytest.fixture
def empty_home(tmp_path: Path) -> Iterator[Path]:
    """A home of its own for one test."""
    with homed(tmp_path) as home:
        yield home


@pytest.fixture
def submitted(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> list[CompileJob]:
    """The jobs that the page would have queued, on a machine with a device and backends."""
    here = Environment(torch="2.13.0", devices={"cpu": "Xeon", "cuda": "H100"}, backends=("inductor", "aot_eager"))
    monkeypatch.setattr(server, "environment", lambda: here)
    jobs: list[CompileJob] = []
    monkeypatch.setattr(actions, "submit", jobs.append)
    monkeypatch.setattr(submit, "show_run", lambda *_: None)
    return jobs


@contextmanager
def components_found_once() -> Iterator[None]:
    """Streamlit reads what every installed package says of itself each time that an AppTest is opened, for 0.4 s."""
    found = functools.cache(manifest_scanner.scan_component_manifests)
    with patch.object(manifest_scanner, "scan_component_manifests", found):
        yield


@contextmanager
def scripts_compiled_once() -> Iterator[None]:
    """Streamlit compiles the scripts again for each AppTest, and looks each millisecond whether they have ended, which
    together takes a quarter of a page's time.
    """
    scripts, look = ScriptCache(), local_script_runner.require_widgets_deltas

    def wait(runner: local_script_runner.LocalScriptRunner, timeout: float) -> None:
        assert runner._script_thread is not None
        runner._script_thread.join(timeout)
        look(runner, timeout)

    with (
        patch.object(local_script_runner, "ScriptCache", lambda: scripts),
        patch.object(app_test, "ScriptCache", lambda: scripts),
        patch.object(local_script_runner, "require_widgets_deltas", wait),
    ):
        yield


@contextmanager
def torch_still_starting() -> Iterator[None]:
    """Pages show what they show while torch starts, and start none: a fork server takes 7 s of CPU and 480 MB, and
    each home would have one.
    """
    with patch.object(server, "environment", lambda: None):
        yield


def forget() -> None:
    """Streamlit's caches hold the runner, and so the home, of the test before."""
    st.cache_resource.clear()
    st.cache_data.clear()


def opened(page: str, run: str | None = None, *, held: Mapping[str, object] | None = None, **query: str) -> AppTest:
    """A page as a deep link opens it, in a session that holds what was picked before."""
    app = AppTest.from_file(APP, default_timeout=240)
    for name, picked in (held or {}).items():
        app.session_state[name] = picked
    for name, value in {**({"run": run} if run else {}), **query}.items():
        app.query_params[name] = value
    return app.switch_page(page).run()


def elements(app: AppTest, kind: str) -> list[Any]:
    """The elements of a kind for which AppTest has no property."""
    return list(app.get(kind))


def titles(app: AppTest) -> list[str]:
    return [item.value for item in app.title]


def read_titles(app: AppTest) -> list[str]:
    """The titles as a reader sees them: without escapes, and with one kind of spaces."""
    return [plain(title).replace("\N{NO-BREAK SPACE}", " ") for title in titles(app)]


def component(app: AppTest, key: str) -> dict[str, Any]:
    """What a component of the page is sent."""
    found = {item.key: item for item in app.get("bidi_component")}
    data: list[dict[str, Any]] = json.loads(found[key].proto.json)
    return data[0]


def picked_in(app: AppTest, key: str, event: str, value: object) -> AppTest:
    """The page after a click in one of its components, as the browser reports it."""
    found = {item.key: item.proto.id for item in app.get("bidi_component")}
    states = app._tree.get_widget_states()
    triggered = json.dumps({"event": event, "value": value})
    states.widgets.add(id=_make_trigger_id(found[key], "events"), json_trigger_value=triggered)
    return app._run(states)


def keys(app: AppTest) -> list[str]:
    return [str(item.key) for item in app.get("bidi_component")]


def chips(app: AppTest) -> list[str]:
    return [f"{chip['value']} {chip['label']}".strip() for chip in component(app, "header-chips")["chips"]]


def words(app: AppTest) -> str:
    """All text of a page that is not in a component or a table."""
    kinds = (
        app.title,
        app.header,
        app.subheader,
        app.markdown,
        app.caption,
        app.error,
        app.warning,
        app.info,
        app.success,
        app.code,
    )
    return "\n".join(str(item.value) for kind in kinds for item in kind)


def read_words(app: AppTest) -> str:
    """The words of a page as a reader sees them: without escapes."""
    return plain(words(app))


def downloads(app: AppTest) -> list[str]:
    """What the buttons are called that download something."""
    return [item.proto.label for item in app.get("download_button")]


def assert_sound(app: AppTest) -> None:
    """No exception, no table that shows pandas' row numbers, and no full stop after a title of one sentence."""
    assert [item.value for item in app.exception] == []
    numbered = [item for item in app.dataframe if item.value.index.dtype == "int64" and not _hides_index(item)]
    assert [list(item.value) for item in numbered] == []
    assert [item.value for item in app.title if re.fullmatch(r"(?:(?!\.\s).)*\.", item.value, re.DOTALL)] == []


def _hides_index(table: Any) -> bool:
    return bool(json.loads(table.proto.columns or "{}").get("_index", {}).get("hidden"))


def sound(app: AppTest) -> AppTest:
    """The page itself, once it is sound."""
    assert_sound(app)
    return app


def code_of(app: AppTest, start: str) -> dict[str, Any]:
    """The code view whose key starts so."""
    return component(app, next(key for key in keys(app) if key.startswith(start)))
