"""Logs that were tampered with record by record, and what must not happen with them: an exception, a flood or a long
wait.

    python -m tests.attack.mutate --times 10000 --seed 1 [--pages 200] [--keep DIRECTORY]

Each mutant is one of the recorded logs in which records were dropped, swapped or repeated, values became others, and
payloads were cut or filled. It is opened in a process of its own with bounds of memory and time; every so often on all
pages, too.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.trace.reader import HEADER
from tests.record import SCENARIOS
from tests.support.places import TRACES

Value = Any
ODD_TEXTS = (
    '"\\ud800"', "NaN", "-Infinity", "1e400", "9" * 40, "-" + "9" * 25, "9223372036854775807", "18446744073709551615",
    "1e300", "[" * 400 + "]" * 400, '{"a":' * 99 + "1" + "}" * 99, '{"a": 1, "a": 2}', '"' + "x" * 200_000 + '"',
    '"\\u0000\\u202e"', "-1", "0.5", "null", "true", '""', "[]", "{}", "[[[]]]", '"op999"', '"buf999"', '"<b>"',
    '"9999/9999"', "[null]", '{"": null}', "1e-320", "2147483648",
)  # fmt: skip
NOISE = (
    b"\xff\xfe\x00",
    b"\n",
    b"\n\t",
    b"\tclass GraphModule(",
    b"]] {",
    b"\x1b[31m",
    "\u2028é\u0000".encode(),
    b"(" * 5_000,
    b"# " * 3_000,
)
LONG_DIGITS = "7" * 6_000


@dataclass(frozen=True, slots=True)
class Piece:
    """One record of a log as it is tampered with: the text before its JSON, the JSON, and the payload without its
    tabs.
    """

    prefix: bytes
    header: bytes
    payload: bytes | None

    def written(self) -> bytes:
        """The record as torch would write it; half of the payloads that were changed have the checksum of what they
        are.
        """
        if self.payload is None:
            return self.prefix + self.header + b"\n"
        return self.prefix + self.header + b"\n\t" + self.payload.replace(b"\n", b"\n\t") + b"\n"


def pieces(log: bytes) -> list[Piece]:
    """The records of a log."""
    found = list(HEADER.finditer(log))
    ends = [match.start() for match in found[1:]] + [len(log)]
    return [_piece(match.group(0), log[match.end() : end]) for match, end in zip(found, ends, strict=True)]


def _piece(prefix: bytes, rest: bytes) -> Piece:
    header, _, payload = rest.partition(b"\n")
    text = b"\n".join(line.removeprefix(b"\t") for line in payload.removesuffix(b"\n").split(b"\n"))
    return Piece(prefix, header, text if b'"has_payload"' in header else None)


Mutator = Callable[[random.Random, list[Piece]], list[Piece]]


def drop(rng: random.Random, found: list[Piece]) -> list[Piece]:
    """Leave records out."""
    share = rng.choice((0.02, 0.2, 0.6))
    return [piece for piece in found if rng.random() > share] or found[:1]


def swap(rng: random.Random, found: list[Piece]) -> list[Piece]:
    """Let records change places, or all of them."""
    shuffled = list(found)
    if rng.random() < 0.2:
        rng.shuffle(shuffled)
        return shuffled
    for _ in range(rng.randrange(1, 6)):
        one, other = rng.randrange(len(found)), rng.randrange(len(found))
        shuffled[one], shuffled[other] = shuffled[other], shuffled[one]
    return shuffled


def repeat(rng: random.Random, found: list[Piece]) -> list[Piece]:
    """Write one record again and again."""
    index = rng.randrange(len(found))
    return found[: index + 1] + [found[index]] * rng.choice((1, 3, 40)) + found[index + 1 :]


def retype(rng: random.Random, found: list[Piece]) -> list[Piece]:
    """Put another value for one of the header's or payload's JSON."""
    return _changed(rng, found, lambda piece: _json_changed(rng, piece, _replace_value))


def rename(rng: random.Random, found: list[Piece]) -> list[Piece]:
    """Let values change places with others of the same JSON, so that ids lead nowhere or round in a circle."""
    return _changed(rng, found, lambda piece: _json_changed(rng, piece, _exchange_values))


def cut(rng: random.Random, found: list[Piece]) -> list[Piece]:
    """End a payload or a header early."""

    def shorter(piece: Piece) -> Piece:
        if piece.payload and rng.random() < 0.8:
            return _sealed(rng, piece, piece.payload[: rng.randrange(len(piece.payload))])
        return replace(piece, header=piece.header[: rng.randrange(max(1, len(piece.header)))])

    return _changed(rng, found, shorter)


def spoil(rng: random.Random, found: list[Piece]) -> list[Piece]:
    """Put bytes into a payload that do not belong there, or turn its numbers into long ones."""

    def spoiled(piece: Piece) -> Piece:
        text = piece.payload if piece.payload is not None else piece.header
        if rng.random() < 0.3:
            text = _long_number(rng, text)
        for _ in range(rng.choice((1, 1, 8))):
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice(NOISE) + text[at + rng.choice((0, 0, 7)) :]
        return _sealed(rng, piece, text) if piece.payload is not None else replace(piece, header=text)

    return _changed(rng, found, spoiled)


def lines(rng: random.Random, found: list[Piece]) -> list[Piece]:
    """Move, repeat and leave out lines of a payload, and swap its names: graphs that use what comes later, or
    themselves.
    """

    def changed(piece: Piece) -> Piece:
        rows = (piece.payload or b"").split(b"\n")
        for _ in range(rng.choice((1, 4, 12))):
            one, other = rng.randrange(len(rows)), rng.randrange(len(rows))
            rows[one] = rng.choice((rows[other], b"", rows[one] * 2, rows[one].replace(b"_1", b""), rows[one][::-1]))
        return _sealed(rng, piece, b"\n".join(rows))

    return _changed(rng, found, changed, lambda piece: piece.payload is not None)


def foreign(rng: random.Random, found: list[Piece]) -> list[Piece]:
    """Give a record the header of another, so that its payload is read as what it is not."""
    one, other = rng.choice(found), rng.randrange(len(found))
    mixed = list(found)
    mixed[other] = replace(found[other], header=one.header)
    return mixed


MUTATORS: tuple[Mutator, ...] = (drop, swap, repeat, retype, retype, retype, rename, cut, spoil, lines, foreign)


def _changed(
    rng: random.Random, found: list[Piece], change: Callable[[Piece], Piece], fits: Callable[[Piece], bool] = bool
) -> list[Piece]:
    """Change one record, or many of one kind of which there is then none left as it was."""
    chosen = [index for index, piece in enumerate(found) if fits(piece)]
    if not chosen:
        return found
    kinds: dict[bytes, list[int]] = {}
    for index in chosen:
        kinds.setdefault(found[index].header[:40], []).append(index)
    same = rng.choice(list(kinds.values()))
    picked = set(same if rng.random() < 0.3 else [rng.choice(same)])
    return [change(piece) if index in picked else piece for index, piece in enumerate(found)]


def _sealed(rng: random.Random, piece: Piece, payload: bytes) -> Piece:
    """A record with another payload, and often with its checksum."""
    if rng.random() < 0.5:
        return replace(piece, payload=payload)
    md5 = hashlib.md5(payload, usedforsecurity=False).hexdigest().encode()
    head, mark, rest = piece.header.partition(b'"has_payload": "')
    header = head + mark + md5 + rest[32:] if mark else piece.header
    return Piece(piece.prefix, header, payload)


def _json_changed(rng: random.Random, piece: Piece, change: Callable[[random.Random, Value], str]) -> Piece:
    in_payload = piece.payload is not None and piece.payload[:1] in (b"{", b"[") and rng.random() < 0.85
    try:
        value = json.loads(piece.payload if in_payload and piece.payload is not None else piece.header)
    except ValueError:
        return piece
    text = change(rng, value).encode("utf-8", "surrogatepass")
    return _sealed(rng, piece, text) if in_payload else replace(piece, header=text)


def _places(value: Value, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Every (container, key) of a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found.append((value, key))
        _places(item, found)
    return found


def _replace_value(rng: random.Random, value: Value) -> str:
    """The JSON with odd values in place of some of its own, written as text since some of them are none in Python."""
    places = [place for place in _places(value, []) if place[1] != "schema"]
    marks = {}
    for number, (container, key) in enumerate(rng.sample(places, min(len(places), rng.choice((1, 1, 3, 10))))):
        if isinstance(container, dict) and rng.random() < 0.15:
            container.pop(key, None)
            continue
        mark = f"@@{number}@@"
        marks[json.dumps(mark)] = rng.choice(ODD_TEXTS)
        container[key] = mark
    text = json.dumps(value)
    for mark, odd in marks.items():
        text = text.replace(mark, odd)
    return text


def _exchange_values(rng: random.Random, value: Value) -> str:
    places = _places(value, [])
    for _ in range(rng.choice((1, 4, 20))):
        if len(places) > 1:
            (one, key), (other, name) = rng.sample(places, 2)
            if not isinstance(one[key], (dict, list)) and not isinstance(other[name], (dict, list)):
                one[key], other[name] = other[name], one[key]
    return json.dumps(value)


def _long_number(rng: random.Random, text: bytes) -> bytes:
    at = next(
        (index for index in range(rng.randrange(len(text) + 1), len(text)) if text[index : index + 1].isdigit()), None
    )
    return text if at is None else text[:at] + LONG_DIGITS.encode() + text[at + 1 :]


def mutant(seed: int) -> bytes:
    """The log of a number: always the same one."""
    rng = random.Random(seed)
    found = pieces((TRACES / rng.choice(sorted(SCENARIOS)) / "trace.log").read_bytes())
    for _ in range(rng.choice((1, 1, 2, 3, 5))):
        found = rng.choice(MUTATORS)(rng, found)
    log = b"".join(piece.written() for piece in found)
    return log[: rng.randrange(len(log))] if rng.random() < 0.05 else log


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.attack.mutate", description="Open logs that were tampered with."
    )
    parser.add_argument("--times", type=int, default=150, help="how many logs")
    parser.add_argument("--seed", type=int, default=1, help="the number of the first")
    parser.add_argument("--pages", type=int, default=0, help="how many of them on every page, too")
    parser.add_argument("--keep", type=Path, help="where to put those that did harm")
    return parser.parse_args()


def main() -> int:
    """Open the logs, and print what did harm, and the figures of all."""
    from tests.attack.survive import survive

    arguments = _arguments()
    every = max(1, arguments.times // arguments.pages) if arguments.pages else 0
    harmed, most_s, most_bytes = 0, 0.0, 0
    for number in range(arguments.times):
        seed = arguments.seed + number
        log = mutant(seed)
        ended = survive(log, pages=bool(every) and number % every == 0)
        most_s, most_bytes = max(most_s, ended.seconds), max(most_bytes, ended.peak_bytes)
        if ended.harm:
            harmed += 1
            print(f"{seed}: {ended.harm}", flush=True)
            if arguments.keep:
                arguments.keep.mkdir(parents=True, exist_ok=True)
                (arguments.keep / f"{seed}.log").write_bytes(log)
        if number % 500 == 499:
            print(f"… {number + 1} logs, {harmed} did harm", flush=True)
    print(f"{arguments.times} logs, {harmed} did harm; at most {most_s:.1f} s and {most_bytes / 1e6:,.0f} MB")
    return min(harmed, 1)


if __name__ == "__main__":
    sys.exit(main())
