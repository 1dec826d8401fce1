"""The page Torch's log: messages, their choice, and a run that records them."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from core import CompileJob
from pages import menu
from tests.support.apps import assert_sound, code_of, opened, read_words, titles
from tests.support.homes import IMAGE, add_run, job_of, line, record
from tests.support.places import TRACES

HEAD = "V1125 16:22:55.570000 9 torch/_dynamo/x.py:7] [0/0] [__{}] {}"
CODE = "import torch\nmodel = torch.sin\ninputs = (torch.ones(3),)\n"


def logged(**messages: list[str]) -> bytes:
    """A record of torch's log as the worker writes it."""
    text = "\n\n".join(HEAD.format(name, each) for name, texts in messages.items() for each in texts)
    body = {
        "name": "torch_logs",
        "encoding": "string",
        "messages": {name: len(each) for name, each in messages.items()},
    }
    return line({"artifact": body, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}, text)


def run_with(home: Path) -> str:
    source = record("compileboard_source", {"schema": 1, "path": "/runs/model.py", "text": CODE})
    breaks = ["Graph break in user code at /runs/model.py:2", f"another {IMAGE}"]
    log = (TRACES / "transformer_block" / "trace.log").read_bytes()
    log = source + log + logged(graph_breaks=breaks, guards=["GUARDS:"])
    return add_run(home, "logs", log, job=job_of("transformer_block")).id


def table(app: AppTest) -> dict[str, list[object]]:
    return {name: list(column) for name, column in app.dataframe[0].value.items()}


def test_messages_are_listed_searched_and_shown_with_the_users_line(empty_home: Path) -> None:
    run = run_with(empty_home)
    app = opened(menu.LOGS.script, run)
    assert_sound(app)
    assert titles(app) == ["3 messages in torch's log"]
    rows = table(app)
    assert rows["name"] == ["graph_breaks", "graph_breaks", "guards"]
    assert rows["message"][0] == "Graph break in user code at model.py:2"
    assert rows["your line"][0] == 2
    assert code_of(app, "log-code")["title"] == "model.py"
    assert any("graph_breaks" in caption.value for caption in app.caption)

    searched = opened(menu.LOGS.script, run, log="ANOTHER")
    assert_sound(searched)
    assert titles(searched) == ["1 of 3 messages in torch's log"]
    app.selectbox(key="log-name").set_value("guards").run()
    assert titles(app) == ["1 of 3 messages in torch's log"]
    assert table(app)["message"] == ["GUARDS:"]


def test_a_search_without_a_match_says_so(empty_home: Path) -> None:
    app = opened(menu.LOGS.script, run_with(empty_home), log="nowhere")
    assert_sound(app)
    assert "No message has this text." in read_words(app)


def test_a_run_without_messages_offers_one_that_records_them(submitted: list[CompileJob], empty_home: Path) -> None:
    log = (TRACES / "transformer_block" / "trace.log").read_bytes()
    run = add_run(empty_home, "none", log, job=job_of("transformer_block")).id
    app = opened(menu.LOGS.script, run)
    assert_sound(app)
    assert titles(app) == ["Torch's log messages were not recorded"]
    button = next(button for button in app.button if button.label == "Run with these messages")
    button.click().run()
    assert [job.logs for job in submitted] == [("graph_breaks", "recompiles", "guards")]
