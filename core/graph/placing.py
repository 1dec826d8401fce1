"""Module of a scheduler node or a kernel, whose ops may come from several modules.

It is the common module of all its ops, unless that would split a layer: an op of the model that Inductor computes
within a layer, or the end of one layer in one kernel with the start of the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.report import ModulePath


def common_path(paths: Sequence[ModulePath]) -> ModulePath:
    """Return the deepest module that contains all paths."""
    if not paths:
        return ()
    shortest = min(map(len, paths))
    alike = next((at for at in range(shortest) if len({path[at] for path in paths}) > 1), shortest)
    return paths[0][:alike]


def placed_paths(own: Sequence[Sequence[ModulePath]], reads: Sequence[Sequence[int]]) -> list[ModulePath]:
    """Return the module of each box, from the modules of its ops and from the boxes that it reads, by number."""
    paths = [common_path(found) for found in own]
    order = _in_order(reads)
    readers: list[list[int]] = [[] for _ in reads]
    for box, found in enumerate(reads):
        for read in found:
            readers[read].append(box)
    depth = 0
    while any(len(path) >= depth for path in paths):
        for parent in dict.fromkeys(
            path for path, mine in zip(paths, own, strict=True) if _may_move(path, mine, depth)
        ):
            _Level(parent, paths, own).place(order, reads, readers)
        depth += 1
    return paths


def _may_move(path: ModulePath, own: Sequence[ModulePath], depth: int) -> bool:
    """Return True if a box is at this depth and its ops come from deeper modules or none."""
    return len(path) == depth and (not own or any(len(found) > depth for found in own))


class _Level:
    """Children of a module, and the boxes in the module itself."""

    def __init__(self, parent: ModulePath, paths: list[ModulePath], own: Sequence[Sequence[ModulePath]]) -> None:
        self._depth, self._parent, self._paths, self._own = len(parent), parent, paths, own
        below = [path for path in paths if len(path) > self._depth and path[: self._depth] == parent]
        self.names = list(dict.fromkeys(path[self._depth] for path in below))
        self._place = {name: index for index, name in enumerate(self.names)}
        self._lists = {
            self._place[path[self._depth]]
            for path in below
            if len(path) > self._depth + 1 and path[self._depth + 1].isdecimal()
        }
        self._child = [self._child_of(path) for path in paths]

    def place(self, order: Sequence[int], reads: Sequence[Sequence[int]], readers: Sequence[Sequence[int]]) -> None:
        """Move boxes of the module itself into the children that they belong to."""
        here = [box for box in order if self._paths[box] == self._parent]
        after = _reached(here, self._child, reads, max)
        before = _reached(here[::-1], self._child, readers, min)
        for box in here:
            read = {found for other in reads[box] if (found := self._child[other]) is not None}
            found = self._belongs(box, read, after.get(box), before.get(box))
            if found is not None:
                self._paths[box] = (*self._parent, self.names[found])

    def _child_of(self, path: ModulePath) -> int | None:
        below = len(path) > self._depth and path[: self._depth] == self._parent
        return self._place.get(path[self._depth]) if below else None

    def _belongs(self, box: int, read: set[int], after: int | None, before: int | None) -> int | None:
        """Return the child that a box belongs to.

        `after` is the last child that it reads, `before` the first child that reads it, also through other boxes of the
        module itself.
        """
        mine = sorted({found for path in self._own[box] if (found := self._child_of(path)) is not None})
        direct = self._parent in self._own[box]
        if after is not None and after == before and (after in mine or not (mine or direct)):
            return after
        if direct or not mine:
            return None
        if all(self.names[one].isdecimal() for one in mine):
            fits = (one for one in mine if (after is None or one >= after) and (before is None or one <= before))
            return next(fits, None)
        return mine[0] if read == {mine[0]} and mine[0] in self._lists else None


def _reached(
    here: Sequence[int],
    child: Sequence[int | None],
    near: Sequence[Sequence[int]],
    choose: Callable[[list[int]], int],
) -> dict[int, int]:
    """Return box → child that it reaches, also through other boxes of the module."""
    found: dict[int, int] = {}
    for box in here:
        direct = [place for other in near[box] if (place := child[other]) is not None]
        reached = direct + [found[other] for other in near[box] if other in found]
        if reached:
            found[box] = choose(reached)
    return found


def _in_order(reads: Sequence[Sequence[int]]) -> list[int]:
    """Return boxes after the boxes that they read; after most of them for cycles, which damaged logs may have."""
    order: list[int] = []
    state = bytearray(len(reads))
    for start in range(len(reads)):
        stack = [start]
        while stack:
            box = stack.pop()
            if box < 0:
                order.append(~box)
            elif not state[box]:
                state[box] = 1
                stack.append(~box)
                stack += [read for read in reversed(reads[box]) if not state[read]]
    return order
