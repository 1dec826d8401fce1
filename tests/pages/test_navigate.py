"""From a page to itself: another run of it, and a browser that is slow to hear of its new URL."""

from pathlib import Path

import pytest

from core import Runner, Store
from core.views.accelerator.run import AcceleratorOptions
from pages import menu
from tests.support.apps import opened, read_titles, sound
from tests.support.homes import add_scenario
from tests.support.pipelines import add_pipeline

ACCELERATOR = ["5 of 6 ops in 1 segment on the accelerator: 5 program entries, 2.64 kB"]


@pytest.mark.parametrize("written", [{}, {"look": "0747de4e.0-1.100.273.871"}, {"drawer": "later"}])
def test_a_browser_that_asks_for_the_url_that_was_left_is_shown_what_was_wanted(
    written: dict[str, str], empty_home: Path
) -> None:
    """The browser may have written the view of a graph to the URL meanwhile, or not know the page's last change."""
    before = add_scenario(empty_home, "transformer_block")
    job = Store(empty_home).open(before).job()
    assert job is not None
    after = add_pipeline(
        empty_home, fingerprint=Runner(Store(empty_home)).fingerprint(AcceleratorOptions().applied(job))
    ).id
    app = sound(opened(menu.ACCELERATOR.script, before))
    left = dict(app.query_params)
    if "drawer" in written:
        app.query_params["drawer"] = "later"
        app.run()
        del app.query_params["drawer"]
    app.button(key="accelerate").click().run()
    assert read_titles(app) == ACCELERATOR

    for name in list(app.query_params):
        del app.query_params[name]
    for name, value in {**left, **written}.items():
        app.query_params[name] = value
    app.run()
    assert read_titles(app) == ACCELERATOR
    assert app.query_params["run"] == after

    app.run()
    app.query_params["run"] = before
    app.run()
    assert read_titles(app) == ["This run did not use the accelerator"]
