"""Planted differences: what is wrong is caught whatever lies beside it, and rounding is never blamed."""

import math
from collections.abc import Callable

import pytest
import torch

from core.report import Difference
from core.worker.results.compare import compare_leaf
from core.worker.results.distance import _shown
from core.worker.results.judge import SAMPLES
from core.worker.results.scaled import CHUNK, scaled
from core.worker.results.verdict import UNRESOLVED, judged, without_reference
from tests.support.sample import one_in

SIZE = 64
HALF = torch.arange(SIZE * SIZE).reshape(SIZE, SIZE) % 2 == 0
CAUSAL = torch.ones(SIZE, SIZE, dtype=torch.bool).triu(1)
DTYPES = [torch.float32, torch.float16, torch.bfloat16]
Change = Callable[[torch.Tensor], torch.Tensor]


def exact(seed: int = 0) -> torch.Tensor:
    return torch.randn(SIZE, SIZE, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def rounded(values: torch.Tensor, dtype: torch.dtype, seed: int) -> torch.Tensor:
    """The values with an honest error of one rounding each."""
    noise = torch.randn(values.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    return (values + noise * values.abs() * torch.finfo(dtype).eps / 2).to(dtype)


def last_word(
    eager: torch.Tensor, compiled: torch.Tensor, reference: torch.Tensor, noise: torch.Tensor | None = None
) -> bool | None:
    """The verdict of the comparison, or of float64 if it differs."""
    (found, *_) = compare_leaf("output", eager, compiled)
    return found.same if found.same is not False else judged(found, eager, compiled, reference, lambda: noise).same


def masked(mask: torch.Tensor, fill: float) -> Change:
    return lambda values: values.masked_fill(mask, fill)


def beside(value: float) -> Change:
    at = torch.zeros(SIZE, SIZE, dtype=torch.bool)
    at[3, 5] = True
    return masked(at, value)


FILLS = {
    "scores masked by -1e9": masked(HALF, -1e9),
    "causal scores masked by -1e9": masked(CAUSAL, -1e9),
    "scores masked by finfo.min": lambda x: x.masked_fill(CAUSAL, torch.finfo(x.dtype).min),
    "scores masked by -inf": masked(HALF, -math.inf),
    "losses padded by 1e4": masked(HALF, 1e4),
    "losses padded by -100": masked(HALF, -100.0),
    "two fills": lambda x: x.masked_fill(HALF, -1e4).masked_fill(CAUSAL & ~HALF, 3e4),
    "one large value": beside(6e4),
    "one infinity": beside(math.inf),
    "one NaN": beside(math.nan),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", FILLS)
def test_fills_hide_nothing_and_blame_nothing(name: str, dtype: torch.dtype) -> None:
    fill = FILLS[name] if dtype != torch.float16 or "1e9" not in name else masked(HALF, -6e4)
    eager, reference = fill(rounded(exact(), dtype, 1)), fill(exact())
    wrong = fill((eager.double() * 1.5).to(dtype)) if "NaN" not in name else fill(rounded(exact() * 1.5, dtype, 2))
    one_wrong = eager.clone()
    one_wrong[9, 2], one_wrong[9, 1] = 3.0, -3.0
    assert [last_word(eager, other, reference) for other in (fill(rounded(exact(), dtype, 2)), wrong, one_wrong)] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("column", [False, True])
def test_a_small_row_or_column_that_is_lost_is_found(dtype: torch.dtype, column: bool) -> None:
    small = torch.ones(SIZE, 1, dtype=torch.float64)
    small[7] = 1e-3 if dtype == torch.float16 else 1e-6
    factor = small.t() if column else small
    reference = exact() * factor
    eager, right = rounded(reference, dtype, 1), rounded(reference, dtype, 2)
    lost = right * (factor == 1).to(dtype)
    assert [last_word(eager, right, reference), last_word(eager, lost, reference)] == [True, False]


def test_a_row_that_is_off_is_undecided_without_a_reference() -> None:
    eager = rounded(exact(), torch.float32, 1)
    eager[7] *= 1e-6
    lost = eager.clone()
    lost[7] = 0
    (found,) = compare_leaf("output", eager, lost)
    words = "1 of 64 rows is off by up to 1.00 of its norm"
    assert (found.same, found.actual) == (False, words)
    told = without_reference(found, eager, lost)
    assert (told.same, told.reason) == (None, f"{words}; {UNRESOLVED}")


ROUNDINGS = {
    "a row of zeros but for rounding": (exact() * (torch.arange(SIZE) > 0)[:, None], 1.0),
    "products with cancellation": (exact(1) @ exact(2), 8.0),
    "tails of a softmax": ((exact() * 10).softmax(-1), 0.0),
    "rows of very different size": (exact() * torch.logspace(-8, 8, SIZE, dtype=torch.float64)[:, None], 0.0),
    "one of a few elements near zero": (torch.tensor([1.0, -2.0, 0.5, 1e-3], dtype=torch.float64), 1.0),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", one_in(3, ROUNDINGS))
def test_honest_rounding_is_never_blamed(name: str, dtype: torch.dtype) -> None:
    values, around = ROUNDINGS[name]
    for seed in range(20):
        drawn = torch.Generator().manual_seed(seed)
        eps = around * torch.finfo(dtype).eps
        noise = [torch.randn(values.shape, dtype=torch.float64, generator=drawn) * eps for _ in range(2 + SAMPLES)]
        eager, compiled = (rounded(values + noise[i], dtype, 2 * seed + i) for i in range(2))
        measured = torch.stack(noise[2:]).square().mean(0).sqrt()
        assert last_word(eager, compiled, values, measured + values.abs() * eps) is True


def test_products_in_tf32_are_blamed_only_beyond_its_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    scale = torch.where(torch.arange(SIZE) % 2 == 0, 1.0, 1e-3).double()
    reference = exact() * scale
    # One algorithm is in float32 for the small columns, the other in TF32 for all.
    eager = torch.where(scale < 1, rounded(reference, torch.float32, 1), rounded(reference, torch.float16, 1).float())
    compiled = rounded(reference.float(), torch.float16, 2).float()
    planted = compiled.clone()
    planted[:, 3] *= 1.5
    tail = (eager.double() + 20 * (compiled.double() - reference)).float()
    others = compiled, planted, tail
    assert [last_word(eager, other, reference) for other in others] == [False, False, False]
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_tf32_supported", lambda: True)
    assert [last_word(eager, other, reference) for other in others] == [True, False, False]
    # Eager without errors of that size did not multiply in TF32.
    plain = rounded(reference, torch.float32, 1)
    assert last_word(plain, compiled, reference) is False


def test_the_words_say_what_is_wrong_beside_a_fill() -> None:
    eager = exact().float().masked_fill(HALF, -1e9)
    (found,) = compare_leaf("output", eager, torch.where(HALF, eager, eager * 1.5))
    assert found.actual == "2,048 of 4,096 elements differ, by up to 0.500 of the magnitude around them"


@pytest.mark.parametrize("share", [0.5, 0.99])
@pytest.mark.parametrize("fill", [-1e4, -1e9, 1e3])
def test_an_additive_mask_hides_no_error_of_its_scores(fill: float, share: float) -> None:
    scores = exact()
    pad = (torch.rand(SIZE, SIZE, generator=torch.Generator().manual_seed(3)) < share) * fill
    eager, right = (rounded(scores, torch.float32, seed) + pad.float() for seed in (1, 2))
    wrong = rounded(scores * 1.001, torch.float32, 2) + pad.float()
    assert [last_word(eager, other, scores + pad) for other in (right, wrong)] == [True, False]


def test_a_noisy_element_excuses_no_other_element() -> None:
    reference = exact()
    eager, right = (rounded(reference, torch.float32, seed) for seed in (1, 2))
    eager[:8], right[:8], noise = 0.3, -0.2, torch.full_like(reference, 1e-7)
    reference[:8], noise[:8] = 0.0, 0.1
    wrong = torch.cat([right[:8], 1.05 * right[8:]])
    assert [last_word(eager, other, reference, noise) for other in (right, wrong)] == [True, False]


def test_errors_do_not_depend_on_the_blocks_they_are_read_in() -> None:
    one = torch.randn(2, CHUNK + 5, generator=torch.Generator().manual_seed(0))
    other = one * 1.5
    whole, rows, *_ = scaled(one, other)
    assert [float(whole.most), *rows.most.tolist()] == pytest.approx([0.5, 0.5, 0.5])
    assert whole.differing.tolist() == [one.numel()]


class Own(torch.Tensor):
    """A subclass of a file that is loaded once for each side."""


def test_subclasses_of_two_copies_of_a_file_are_compared_by_their_values() -> None:
    other = type("Own", (torch.Tensor,), {"__qualname__": "Own"})
    one = torch.ones(4).as_subclass(Own)
    assert compare_leaf("input 0", one, torch.ones(4).as_subclass(other)) == [
        Difference("input 0", True, dtype="float32", error=0.0, tolerance=2e-5)
    ]
    assert [item.same for item in compare_leaf("input 0", one, (torch.ones(4) * 2).as_subclass(other))] == [False]


def test_hidden_elements_count_as_zeros() -> None:
    shown = _shown(torch.tensor([1.0, 2.0]), torch.tensor([True, False]))
    assert shown.tolist() == [0.0, 2.0]
    assert shown.dtype == torch.float64
