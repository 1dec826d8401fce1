"""Copies of a kernel's live arguments, on which it can be repeated without a trace in the model."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

from core.base.words import bytes_

MAX_BYTES = 2**31


class Copies:
    """`values` are the same arguments on memory of their own; what shares a storage shares its copy.

    Raises MemoryError if they are too large to copy.
    """

    def __init__(self, arguments: Any) -> None:
        self._originals = {
            leaf.untyped_storage().data_ptr(): leaf.untyped_storage()
            for leaf in tree_leaves(arguments)
            if _is_strided(leaf)
        }
        if sum(storage.nbytes() for storage in self._originals.values()) > MAX_BYTES:
            raise MemoryError(f"its arguments take more than {bytes_(MAX_BYTES)} to copy")
        self._copies = {pointer: storage.clone() for pointer, storage in self._originals.items()}
        self._changed: list[int] = []
        with torch.no_grad():
            self.values = tree_map_only(torch.Tensor, self._copied, arguments)

    def _copied(self, tensor: torch.Tensor) -> torch.Tensor:
        if not _is_strided(tensor):
            return tensor
        storage = self._copies[tensor.untyped_storage().data_ptr()]
        empty = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
        return empty.set_(storage, tensor.storage_offset(), tensor.size(), tensor.stride())

    def note_changes(self) -> None:
        """Remember which copies differ from the originals: those that the kernel writes."""
        pairs = ((pointer, self._originals[pointer], copy) for pointer, copy in self._copies.items())
        self._changed = [pointer for pointer, one, other in pairs if not torch.equal(_bytes(one), _bytes(other))]

    def restore(self) -> None:
        """Give those the contents of their originals again."""
        for pointer in self._changed:
            self._copies[pointer].copy_(self._originals[pointer])


def _is_strided(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.layout is torch.strided


def _bytes(storage: torch.UntypedStorage) -> torch.Tensor:
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)
