"""Messages of torch's log, read from what TORCH_LOGS prints."""

from dataclasses import replace

from core.report import LogText, Payload, Report, Setting
from core.views.texts import LogMessage, LogsView, log_messages

TEXT = """W1125 16:22:55.570001 9 torch/_dynamo/x.py:7] a line without a compilation
V1125 16:22:55.570000 16718 torch/_dynamo/guards.py:5012] [0/0_1] [__guards] GUARDS:
V1125 16:22:55.570000 16718 torch/_dynamo/guards.py:5012] [0/0_1] [__guards]   +- one
not from torch
V1125 16:22:55.570000 16718 torch/_dynamo/guards.py:5012] [0/0_1] [__guards]

"""


def test_the_lines_of_a_message_are_joined_and_have_its_head_once() -> None:
    assert list(log_messages(f"lost\n{TEXT}")) == [
        LogMessage(
            "warning",
            "16:22:55.570001",
            "torch/_dynamo/x.py:7",
            "",
            "torch._dynamo.x",
            "a line without a compilation",
        ),
        LogMessage(
            "debug",
            "16:22:55.570000",
            "torch/_dynamo/guards.py:5012",
            "0/0",
            "guards",
            "GUARDS:\n  +- one\nnot from torch",
        ),
    ]


def test_an_empty_line_is_between_two_messages_that_begin_alike() -> None:
    line = "V1125 16:22:55.570000 9 torch/_dynamo/x.py:7] [0/0] [__trace_bytecode] TRACE"
    assert [message.text for message in log_messages(f"{line} 1\n\n{line} 2")] == ["TRACE 1", "TRACE 2"]


def test_text_without_a_message_has_none() -> None:
    assert list(log_messages("")) == list(log_messages("nothing\n[0/0]")) == []


def test_messages_are_selected_by_compilation_name_and_text() -> None:
    texts = {
        Payload(0, 1): ("0/0", "guards", "GUARDS of f"),
        Payload(1, 1): ("1/0", "guards", "GUARDS of g"),
        Payload(2, 1): ("1/0", "graph_breaks", "Graph break in G"),
    }
    parts = tuple(LogText(compilation, {name: 1}, where) for where, (compilation, name, _) in texts.items())

    def read(where: Payload) -> str:
        compilation, name, text = texts[where]
        return f"V1125 16:22:55.570000 9 torch/_dynamo/x.py:7] [{compilation}] [__{name}] {text}"

    view = LogsView(Report(Setting(), logs=parts), read)
    assert (view.title, view.names) == ("3 messages in torch's log", {"guards": 2, "graph_breaks": 1})
    chosen = replace(view, compilation="1/0", name="guards")
    assert chosen.title == "1 of 3 messages in torch's log"
    assert chosen.text == "16:22:55.570000 torch/_dynamo/x.py:7] [1/0] [guards] GUARDS of g"
    assert replace(view, name="graph_breaks", search="BREAK").title == "1 of 3 messages in torch's log"
    assert replace(view, report=Report(Setting())).title == "Torch's log messages were not recorded."
