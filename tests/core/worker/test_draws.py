"""Random numbers that eager drew are repeated in float64, or the replay says that they cannot be."""

import pytest
import torch
import torch.nn.functional as F

from core.base.errors import JobError
from core.worker.load import seed
from core.worker.results import wide
from core.worker.results.wide import Draws, InFloat64, RecordDraws, RepeatDraws, as_written

X = torch.rand(5, 7)
DRAWING = {
    "dropout": lambda x: F.dropout(x, 0.4),
    "the op of dropout": lambda x: torch.native_dropout(x, 0.4, True)[0],
    "dropout of everything": lambda x: F.dropout(x, 1.0),
    "alpha dropout": lambda x: F.alpha_dropout(x, 0.4, True),
    "attention": lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None], dropout_p=0.5),
    "rand": lambda x: x + torch.rand(7),
    "randn": lambda x: x + torch.randn(5, 7),
    "rand_like": torch.rand_like,
    "randint": lambda x: x[torch.randint(5, (9,))],
    "randperm": lambda x: x[torch.randperm(5)],
    "uniform": lambda x: x + torch.empty_like(x).uniform_(2, 3),
    "normal": lambda x: x + torch.normal(0.5, 2.0, (5, 7)),
    "exponential": lambda x: x + torch.empty_like(x).exponential_(),
    "bernoulli": torch.bernoulli,
    "multinomial": lambda x: x[torch.multinomial(x[:, 0], 3)],
    "poisson": torch.poisson,
    "bfloat16": lambda x: x + torch.rand(7, dtype=torch.bfloat16),
    "two draws": lambda x: F.dropout(x + torch.rand(7), 0.5),
}


@pytest.mark.parametrize("drawing", DRAWING.values(), ids=DRAWING)
def test_a_draw_is_repeated_in_float64(drawing: object) -> None:
    assert callable(drawing)
    kept = Draws()
    seed(3)
    with RecordDraws(kept, "cpu"):
        eager = drawing(X)
    seed(4)
    with RepeatDraws(kept), InFloat64():
        exact = drawing(X.double())
    assert exact.dtype == torch.float64
    torch.testing.assert_close(exact.float(), eager.float(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("drawing", "words"),
    [
        (lambda x: F.rrelu(-x, training=True), "aten::rrelu_with_noise draws random numbers that a run in float64"),
        (lambda x: torch.normal(x, 1.0), "aten::normal.Tensor_float draws random numbers that a run in float64"),
    ],
)
def test_a_draw_that_computes_with_other_floats_is_refused(drawing: object, words: str) -> None:
    assert callable(drawing)
    with pytest.raises(JobError, match=words), RecordDraws(Draws(), "cpu"):
        drawing(X)


def test_draws_in_another_order_or_without_room_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Draws()
    with RecordDraws(kept, "cpu"):
        torch.rand(2)
        with as_written():
            torch.rand(2)
    for other in (lambda: torch.rand(3), lambda: torch.randn(2), lambda: (torch.rand(2), torch.rand(2))):
        with pytest.raises(JobError, match="in another order"), RepeatDraws(kept):
            other()
    monkeypatch.setattr(wide, "MOST_BYTES", 8)
    with pytest.raises(JobError, match="too many random numbers"), RecordDraws(Draws(), "cpu"):
        torch.rand(3)
