"""The map of a plan: which rectangles a plan's memory is drawn as."""

from core.code.memory_plan import PlannedMemory
from core.views.memory import MOST_PLACED, MemoryBlock, blocks


def piece(name: str, size: int, line: int, first: int, last: int) -> PlannedMemory:
    return PlannedMemory((name,), size, "allocated", line, first, last)


def test_a_piece_moves_down_when_what_is_under_it_goes() -> None:
    low, high, late = piece("low", 8, 1, 0, 1), piece("high", 4, 2, 0, 3), piece("late", 2, 3, 2, 2)
    assert sorted(blocks([low, high, late], 4), key=lambda block: (block.first, block.base)) == [
        MemoryBlock(low, 0, 1, 0),
        MemoryBlock(high, 0, 1, 8),
        MemoryBlock(high, 2, 3, 0),
        MemoryBlock(late, 2, 2, 4),
    ]


def test_of_too_many_pieces_the_largest_are_drawn() -> None:
    steps = MOST_PLACED // 2
    largest = blocks([piece("a", 1, 1, 0, 0), piece("b", 3, 2, 0, 0), piece("c", 2, 3, 0, 0)], steps)
    assert [block.memory.names for block in largest] == [("b",), ("c",)]
