"""Facts of a graph or of a guard tree that ranks are compared by: a digest, its collectives, its devices."""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from core.code.rank_text import normalised, normalised_guards

MAX_COLLECTIVES = 2_000
MAX_KNOWN_TEXTS = 20_000
COLLECTIVE = re.compile(
    rb'^[\t ]*\w+(?:: "(?P<tensor>[^"]*)")? = torch\.ops\.(?:_c10d_functional|_c10d_functional_autograd|c10d'
    rb"|_dtensor)\.(?P<op>\w+?)_?(?:\.default)?\((?P<arguments>[^;\n]*)\)",
    re.MULTILINE,
)
GROUP = re.compile(rb"""(?<![\w.])['"]([^'"]*)['"]\s*$""")
NO_COLLECTIVES = frozenset({b"wait_tensor"})
TENSOR = re.compile(r"^(\w+\[[^\]]*\])")
DEVICES = re.compile(rb"\](cpu|cuda|xpu|hip|mtia|hpu|npu|mps)")
NAMES = re.compile(rb"%?[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class RankText:
    """The digest of a normalised text, its collectives with the names of their groups, and its device types."""

    digest: str
    collectives: tuple[tuple[str, str, str, str], ...] = ()
    devices: tuple[str, ...] = ()


_known: OrderedDict[tuple[bytes, bool], RankText] = OrderedDict()


def digest_of(data: bytes) -> str:
    """Return a short digest of bytes."""
    return hashlib.blake2b(data, digest_size=12).hexdigest()


def text_of(data: bytes, guards: bool = False) -> RankText:
    """Return what a text says; the result for each text is kept for the next log."""
    key = (hashlib.blake2b(data, digest_size=16).digest(), guards)
    if key in _known:
        _known.move_to_end(key)
        return _known[key]
    if guards:
        text = RankText(digest_of(normalised_guards(data)))
    else:
        devices = tuple(sorted({match.decode() for match in DEVICES.findall(data)}))
        collectives = tuple(_collectives(data)) if b"c10d" in data or b"_dtensor" in data else ()
        text = RankText(digest_of(normalised(data)), collectives, devices)
    _known[key] = text
    if len(_known) > MAX_KNOWN_TEXTS:
        _known.popitem(last=False)
    return text


def _collectives(data: bytes) -> Iterator[tuple[str, str, str, str]]:
    """Yield op, tensor, arguments without names of values, and group of each collective of a printed graph."""
    for count, match in enumerate(COLLECTIVE.finditer(data)):
        if count >= MAX_COLLECTIVES:
            return
        if match["op"] in NO_COLLECTIVES:
            continue
        arguments = match["arguments"]
        group = GROUP.search(arguments)
        rest = arguments[: group.start()] if group else arguments
        tensor = TENSOR.match((match["tensor"] or b"").decode("utf-8", "replace"))
        yield (
            match["op"].decode()[:80],
            tensor[1][:120] if tensor else "",
            _constants(rest)[:120],
            group[1].decode("utf-8", "replace")[:80] if group else "",
        )


def _constants(arguments: bytes) -> str:
    """Return the arguments of a call that are no values of the graph: numbers and texts."""
    parts = [part.strip() for part in arguments.split(b",")]
    return ", ".join(part.decode("utf-8", "replace") for part in parts if part and not NAMES.fullmatch(part))
