"""Lines that ran eagerly because Dynamo skipped their frame."""

import pytest

from core.report import Frame
from core.views.graph_breaks import untraced_words

TEXT = """import torch


class Net(torch.nn.Module):
    @torch.no_grad()
    def forward(self, x):
        scale = x.numpy().var()
        for block in self.blocks:
            x = block(x)
        return x / scale


def forward(x): return x
"""
RESUME = "torch_dynamo_resume_in_forward_at_{}"


@pytest.mark.parametrize(
    ("text", "name", "line", "words"),
    [
        (TEXT, "forward", 6, "Lines 7–10 ran eagerly: more breaks may follow."),
        (TEXT, "forward", 5, "Lines 7–10 ran eagerly: more breaks may follow."),
        (TEXT, "forward", 13, "Line 13 ran eagerly: more breaks may follow."),
        (TEXT, RESUME.format(7), 7, "Lines 8–10 ran eagerly: more breaks may follow."),
        (TEXT, RESUME.format(9), 9, "Line 10 ran eagerly: more breaks may follow."),
        (TEXT, RESUME.format(10), 10, "Line 10 ran eagerly: more breaks may follow."),
        (TEXT, "forward", 11, "This function ran eagerly: more breaks may follow."),
        ("", "forward", 6, "This function ran eagerly: more breaks may follow."),
        ("def (", RESUME.format(7), 7, "The rest of this function ran eagerly: more breaks may follow."),
    ],
)
def test_the_lines_of_a_skipped_frame(text: str, name: str, line: int, words: str) -> None:
    assert untraced_words(text, Frame("/m.py", line, name)) == words
