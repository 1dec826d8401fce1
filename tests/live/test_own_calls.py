"""A preset's calls: the file's own where they differ in size, and its first with another batch where they do not."""

from pathlib import Path

import pytest

from core import CompileJob, Model

pytestmark = pytest.mark.torch

FILE = """
import torch

model = torch.sin
calls = [(torch.randn({first}, 8), torch.randint(0, {first}, (4 * {first},))), (torch.randn(70, 8), torch.arange(280))]
"""


@pytest.mark.parametrize(
    ("first", "shapes"),
    [(50, [[(50, 8), (200,)], [(70, 8), (280,)]]), (70, [[(4, 8), (280,)], [(16, 8), (280,)], [(7, 8), (280,)]])],
)
def test_calls_that_differ_in_size_are_made_as_they_are(
    tmp_path: Path, first: int, shapes: list[list[tuple[int, ...]]]
) -> None:
    from core.worker.load import ModelCopy

    path = tmp_path / "model.py"
    path.write_text(FILE.format(first=first))
    texts = tuple(f"calls(batch={size})" for size in (4, 16, 7))
    twin = ModelCopy(path, CompileJob(Model("file", str(path)), calls=texts), "own_calls_of_a_preset")
    made = [[tuple(tensor.shape) for tensor in args] for args, _ in twin.calls()]
    assert made == shapes
