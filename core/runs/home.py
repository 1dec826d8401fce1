"""Home of a store: the directory with runs and cache, readable by its owner only unless it has other files, too."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from core.base.files import OWNER_ALONE, in_words, make_private, read, write_atomically

# Records of what deleted runs have in an archive elsewhere.
DELETED_RECORDS = "deleted-archived"
# Locks of runs whose files are moved to or from there.
LOCKS = "archive-locks"
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
    *("audit.jsonl", "audit.1.jsonl", "deleted.jsonl", "deleted.1.jsonl", "retention.lock", DELETED_RECORDS, LOCKS),
}


def keep_record(home: Path, name: str, record: Path) -> None:
    """Keep the record of what a deleted run has in an archive elsewhere, from where it is removed later."""
    with suppress(OSError):
        data = read(record)
        make_private(home / DELETED_RECORDS)
        write_atomically(home / DELETED_RECORDS / f"{name}.json", data)


def make_home(home: Path, *private: Path) -> None:
    """Create a home and its private directories; raises StoreError."""
    with in_words(home):
        home.mkdir(parents=True, exist_ok=True, mode=OWNER_ALONE)
        if {entry.name for entry in home.iterdir()} <= OURS:
            make_private(home)
        for directory in private:
            make_private(directory)
