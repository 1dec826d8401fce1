"""Each landmark is found where Python's own `inspect` finds it in the installed torch and Triton."""

import importlib
import inspect
from functools import reduce

import pytest

from core.code.torch_source import LANDMARKS, Landmark, landmark_source

# torch's own modules use what it has deprecated.
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::DeprecationWarning")]


@pytest.mark.parametrize("landmark", LANDMARKS, ids=lambda landmark: landmark.full_name)
def test_inspect_finds_the_same_lines(landmark: Landmark) -> None:
    definition = reduce(getattr, landmark.name.split("."), importlib.import_module(landmark.module))
    definition = inspect.unwrap(definition) if callable(definition) else definition
    source = landmark_source(landmark)
    assert source is not None
    assert inspect.getsourcefile(definition) == str(source.path)
    lines, first = inspect.getsourcelines(definition)
    # A decorated definition begins with its decorators there.
    assert first <= source.line < first + len(lines)
    assert lines[source.line - first].rstrip("\n") == source.text.split("\n")[0]
