"""The page Backend: what it says of a run with a backend, and what it offers where there was none."""

from pathlib import Path

from pages import menu
from tests.support.apps import assert_sound, component, opened, titles
from tests.support.homes import add_run
from tests.support.reports.backends import backend_log


def test_x(empty_home: Path) -> None:
    run = add_run(empty_home, "own", backend_log()).id
    app = opened(menu.BACKEND.script, run)
    assert_sound(app)
    print(titles(app))
    import pprint

    pprint.pprint(component(app, "contract"), width=150)
    for d in app.dataframe:
        print(d.value.to_string())
    for pane in ("nodes", "graph", "executions"):
        app = opened(menu.BACKEND.script, run, pane=pane)
        assert_sound(app)
        for d in app.dataframe:
            print(d.value.to_string())
        print([i.key for i in app.get("bidi_component")])
    assert 0
