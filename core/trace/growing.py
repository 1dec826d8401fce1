"""GrowingReader: the records of a log that is still written, each once, when all of it is there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import pairwise

from core.base.decoder import decoded
from core.base.errors import DecodeError, TraceError
from core.base.files import open_regular
from core.trace.reader import HEADER, TraceReader, md5_of
from core.trace.record import TraceRecord

MAX_GROWING_BYTES = 64_000_000
MOST_AT_ONCE_BYTES = 2_000_000


class GrowingReader(TraceReader):
    """A reader of a log that is still written, which it copies as it grows: the run may cut the log off, and a mapped
    file that shrinks takes its reader's process with it. Of a long log the first 64 MB are read, at most 2 MB at once,
    so that nobody waits long.
    """

    _map: bytearray

    def _opened(self) -> bytearray:
        self._file.close()
        self.size = self._taken = 0
        return bytearray()

    def new_records(self) -> Iterator[TraceRecord]:
        """Yield the records that were added since the last call; raises TraceError if the log was cut
        off or is gone.
        """
        self._grow()
        headers = list(HEADER.finditer(self._map, self._taken))
        for match, following in pairwise([*headers, None]):
            assert match is not None
            end = following.start() if following else self.size
            if following is None and not self._is_complete(match):
                return
            self._taken = end
            yield from self._record(match, end)

    def _grow(self) -> None:
        try:
            with open_regular(self.path) as file:
                if os.fstat(file.fileno()).st_size < self.size:
                    raise TraceError(f"{self.path.name} was cut off while it was read")
                file.seek(self.size)
                self._map += file.read(min(MOST_AT_ONCE_BYTES, MAX_GROWING_BYTES - self.size))
        except OSError as error:
            raise TraceError(f"{self.path.name} cannot be read: {error.strerror}") from None
        self.size = len(self._map)

    def _is_complete(self, match: re.Match[bytes]) -> bool:
        """Return True if the last record has all of its payload: the checksum in its header is that of the text below
        it.
        """
        line_end = self._map.find(b"\n", match.end())
        if line_end < 0 or not self._map.endswith(b"\n"):
            return False
        try:
            header = decoded(bytes(self._map[match.end() : line_end]))
        except DecodeError:
            return True
        md5 = header.get("has_payload") if isinstance(header, dict) else None
        return not md5 or md5 == md5_of(self.text(line_end + 1, self.size - line_end - 1))
