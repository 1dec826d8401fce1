"""Messages of torch's log, read from what TORCH_LOGS prints."""

from core.views.logs import LogMessage, log_messages

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
