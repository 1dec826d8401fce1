"""Home of a store: the directory with runs and cache, readable by its owner only unless it has other files, too."""

from __future__ import annotations

from pathlib import Path

from core.base.files import OWNER_ALONE, in_words, make_private

# What a home has that is used for nothing else.
OURS = {
    *(
        "runs",
        "cache",
        "index",
        "sweeps",
        "turns",
        "servers",
        "hosts",
        "hosted",
        "carried",
        "store-id",
        "workers-token",
    ),
    *("audit.jsonl", "audit.1.jsonl", "deleted.jsonl", "deleted.1.jsonl"),
}


def make_home(home: Path, *private: Path) -> None:
    """Create a home and its private directories; raises StoreError."""
    with in_words(home):
        home.mkdir(parents=True, exist_ok=True, mode=OWNER_ALONE)
        if {entry.name for entry in home.iterdir()} <= OURS:
            make_private(home)
        for directory in private:
            make_private(directory)
