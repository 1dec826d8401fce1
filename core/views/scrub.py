"""Scrubber that replaces identifying texts by placeholders in files that leave the machine.

The same text gets the same placeholder everywhere, so that graphs, code and guards still match. Paths and
lines of code are replaced wherever they occur. A name or constant that is a single word is replaced only as
a whole word or between underscores, as in `l_self_modules_encoder_weight`.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import json
import keyword
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeVar, cast

from core.base.decoder import decoded
from core.base.errors import DecodeError
from core.base.syntax import NOT_READ, module
from core.base.words import number
from core.views.glossary import GLOSSARY

Kind = Literal["paths", "names", "source", "constants", "environment"]
KINDS: dict[Kind, str] = {
    "paths": "directories, and the names of users and hosts",
    "names": "classes, functions, attributes and files of the model",
    "source": "lines of source code",
    "constants": "texts and large numbers in the code",
    "environment": "the device's name and environment variables",
}
LEAST_NAME, LEAST_LINE, LEAST_NUMBER = 3, 8, 4
MOST_EXAMPLES = 5
ROUNDS = 10
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/proc", "/dev", "/sys", "/etc")
# A directory below another: of an installed package, its own path stays, as in `/torch/_inductor`.
POSIX = re.compile(r"(?<![\w./\\>-])/(?:[\w.@+~=-]+/)+")
WINDOWS = re.compile(r"\b[A-Za-z]:\\(?:[\w.@+~= -]+\\)+")
INSTALLED = re.compile(r".*?/(?:site|dist)-packages(?=/)")
USER = re.compile(r"(?:/home/|/Users/|\\Users\\)([\w.@+~=-]+)")
NAMED_HOST = re.compile(r'"(?:user|username|host|hostname)": "([^"\\]+)"')
VARIABLE = re.compile(r"os\.environ\[['\"]\w+['\"]\] = ['\"]([^'\"\n]+)['\"]")
OF_TORCH = re.compile(r"\b(?:torch|aten|prims|inductor|nn|F)\.([\w.]+)")
WORD = re.compile(r"[A-Za-z0-9_]+")
NUMBER = re.compile(r"(?<![\w.])\d[\d_]*(?:\.\d+)?(?:e-?\d+)?(?![\w.])")
PLACEHOLDERS = {"paths": "dir", "names": "name", "source": "line", "constants": "const", "environment": "env"}
# Fields of a page that are no text of a run: what the template and the script look up.
FIXED = frozenset({"tone", "kind", "id", "section", "language", "colour", "first"})
FIXED_KEYS = frozenset({"digest", "cls", "kind", "unit", "channel", "source", "step", "light", "dark", "colour"})
RESERVED = {*keyword.kwlist, *dir(builtins), *PLACEHOLDERS.values(), "forward", "self", "torch", "user", "host"}
# A line of a log before its payload: a level, a date, a place, and a header in JSON.
RECORD = re.compile(r'"has_payload": "[0-9a-f]{32}"')

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Secret:
    """A text to replace, and its placeholder.

    A word is replaced only as a whole word or between underscores.
    """

    text: str
    kind: Kind
    is_word: bool
    placeholder: str = ""


@dataclass(frozen=True)
class Scrubber:
    """Secrets with their placeholders; without secrets, texts stay as they are.

    `kept` are names and constants that stay, since they are words of Python, torch or Compileboard.
    """

    secrets: tuple[Secret, ...] = ()
    kept: tuple[str, ...] = ()

    @cached_property
    def _parts(self) -> dict[str, str]:
        """Text → placeholder of the secrets that are not words, in all their `forms`, longest text first."""
        whole = [secret for secret in self.secrets if not secret.is_word]
        parts = {form: secret.placeholder for secret in whole for form in forms(secret.text)}
        return dict(sorted(parts.items(), key=lambda part: -len(part[0])))

    @cached_property
    def _words(self) -> dict[tuple[str, ...], str]:
        """Pieces between underscores → placeholder, of each secret that is a word."""
        return {tuple(secret.text.split("_")): secret.placeholder for secret in self.secrets if secret.is_word}

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._words), default=0)

    def text(self, text: str) -> str:
        """Return a text without secrets; `(scrubbed)` if it still changes after `ROUNDS` rounds."""
        if not self.secrets or not text:
            return text
        for _ in range(ROUNDS):
            scrubbed = self._once(text)
            if scrubbed == text:
                return text
            text = scrubbed
        return "(scrubbed)"

    def _once(self, text: str) -> str:
        for part, placeholder in self._parts.items():
            if part in text:
                text = text.replace(part, placeholder)
        text = WORD.sub(self._word, text) if self._words else text
        return NUMBER.sub(lambda match: self._words.get((match.group(),), match.group()), text)

    def _word(self, match: re.Match[str]) -> str:
        pieces = match.group().split("_")
        found: list[str] = []
        at = 0
        while at < len(pieces):
            size, placeholder = self._longest_word(pieces, at)
            found.append(placeholder or pieces[at])
            at += size
        return "_".join(found)

    def _longest_word(self, pieces: Sequence[str], at: int) -> tuple[int, str]:
        for size in range(min(self._longest, len(pieces) - at), 0, -1):
            placeholder = self._words.get(tuple(pieces[at : at + size]))
            if placeholder is not None:
                return size, placeholder
        return 1, ""

    def value(self, value: Value) -> Value:
        """Return a copy of a value without secrets in its texts.

        Dataclasses, mappings, lists, tuples and frozensets are searched. Values of `FIXED` fields and `FIXED_KEYS`
        stay.
        """
        return cast(Value, self._value(value)) if self.secrets else value

    def _value(self, value: object) -> object:
        if isinstance(value, str):
            return self.text(value)
        if is_dataclass(value) and not isinstance(value, type):
            kept = {each.name: getattr(value, each.name) for each in fields(value)}
            return replace(value, **{name: kept[name] if name in FIXED else self._value(kept[name]) for name in kept})
        if isinstance(value, Mapping):
            return {key: each if key in FIXED_KEYS else self._value(each) for key, each in value.items()}
        if isinstance(value, tuple | list | frozenset):
            return type(value)(map(self._value, value))
        return value

    def document(self, text: str) -> str:
        """Return a JSON text without secrets, still valid JSON; any other text is scrubbed like `text`."""
        if not self.secrets:
            return text
        try:
            value = decoded(text) if text.lstrip().startswith(("{", "[")) else None
        except DecodeError:
            value = None
        return self.text(text) if value is None else json.dumps(self._with_names(value))

    def _with_names(self, value: object) -> object:
        if isinstance(value, Mapping):
            return {self.text(str(name)): self._with_names(each) for name, each in value.items()}
        return [self._with_names(each) for each in value] if isinstance(value, list) else self._value(value)

    def log(self, log: str) -> str:
        """Return a TORCH_TRACE log without secrets; the checksums of its payloads are recomputed."""
        if not self.secrets:
            return log
        headers, payloads = [""], [[""]]
        for line in log.split("\n"):
            if line.startswith("\t"):
                payloads[-1].append(line[1:])
            else:
                headers.append(line)
                payloads.append([])
        return "\n".join(map(self._record, headers[1:], payloads[1:]))

    def _record(self, header: str, payload: list[str]) -> str:
        start, separator, facts = header.partition("] ")
        shown = f"{self.text(start)}{separator}{self.document(facts)}"
        if not payload:
            return shown
        text = self.document("\n".join(payload))
        digest = hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
        indented = "".join(f"\n\t{line}" for line in text.split("\n"))
        return RECORD.sub(f'"has_payload": "{digest}"', shown) + indented

    @property
    def preview(self) -> tuple[str, ...]:
        """A line for each kind, with its number of secrets and examples; a line for the words that stay."""
        lines = []
        for kind, meaning in KINDS.items():
            found = [secret for secret in self.secrets if secret.kind == kind]
            if found:
                examples = ", ".join(f"{secret.text[:60]} → {secret.placeholder}" for secret in found[:MOST_EXAMPLES])
                more = f", and {number(len(found) - MOST_EXAMPLES)} more" if len(found) > MOST_EXAMPLES else ""
                lines.append(f"{kind} ({meaning}): {number(len(found))}: {examples}{more}")
        if self.kept:
            lines.append(f"stay, as words of torch or of Compileboard: {', '.join(self.kept[:20])}")
        return tuple(lines)


NOTHING = Scrubber()


def read_log(path: Path) -> str:
    """Return the text of a log; bytes that are not UTF-8 survive when the text is written again."""
    return path.read_bytes().decode("utf-8", "surrogateescape")


def forms(text: str) -> set[str]:
    """Return a text as it is, in one line as pages show it, and as JSON and Python write it."""
    line = " ".join(text.split())
    return {text, line, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1], repr(text)[1:-1]}


def scrubber(
    kinds: Iterable[Kind],
    *,
    codes: Iterable[str],
    texts: Iterable[str],
    names: Iterable[str] = (),
    reserved: Iterable[str] = (),
    devices: Iterable[str] = (),
) -> Scrubber:
    """Return a scrubber of these kinds of secrets for the files of a run.

    `texts` are the contents of the files, `codes` the model's code, `names` and `devices` further secrets. The
    words of `reserved`, Python, torch and Compileboard stay: they identify nobody, and the files are useless
    without them.
    """
    wanted, codes = set(kinds), tuple(codes)
    corpus = "\n".join((*codes, *texts))
    stay = {*RESERVED, *reserved, *_words(" ".join((*GLOSSARY, *GLOSSARY.values()))), *_of_torch(corpus)}
    found: list[Secret] = []
    if "paths" in wanted:
        found += (Secret(path, "paths", is_word=False) for path in _directories(corpus))
        found += (_word(name, "paths") for name in _people(corpus))
    if "environment" in wanted:
        found += (Secret(text, "environment", is_word=False) for text in (*devices, *VARIABLE.findall(corpus)))
    if "names" in wanted:
        found += (_word(name, "names") for name in names)
    for code in codes:
        found += _of_code(code, wanted)
    chosen = {(secret.text, secret.is_word): secret for secret in found if _is_secret(secret)}
    kept = [secret.text for secret in chosen.values() if secret.is_word and _stays(secret, stay)]
    secrets = [secret for secret in chosen.values() if secret.text not in kept]
    return Scrubber(tuple(_numbered(secrets, kept)), tuple(dict.fromkeys(kept)))


def _word(text: str, kind: Kind) -> Secret:
    """Return the secret of a name, a word if it has only letters, digits and underscores."""
    return Secret(text, kind, is_word=WORD.fullmatch(text) is not None)


def _is_secret(secret: Secret) -> bool:
    least = LEAST_LINE if secret.kind == "source" else LEAST_NAME
    return len(secret.text) >= least and not (secret.text.startswith("__") and secret.text.endswith("__"))


def _stays(secret: Secret, stay: set[str]) -> bool:
    """Return True if all pieces of a word are in `stay`, the words that are not replaced."""
    return all(piece in stay for piece in secret.text.split("_") if piece)


def _numbered(secrets: Sequence[Secret], words: Sequence[str]) -> Iterator[Secret]:
    """Yield the secrets with placeholders that contain no secret and are not among `words`."""
    taken = {*words, *(secret.text for secret in secrets)}
    parts = [secret.text for secret in secrets if not secret.is_word]
    numbers = dict.fromkeys(KINDS, 0)
    for secret in secrets:
        name = ""
        while not name or name in taken or any(part in name for part in parts):
            numbers[secret.kind] += 1
            name = f"{PLACEHOLDERS[secret.kind]}_{numbers[secret.kind]}"
        yield replace(secret, placeholder=name)


def _words(text: str) -> set[str]:
    return {piece for word in WORD.findall(text) for piece in word.split("_")}


def _of_torch(corpus: str) -> set[str]:
    return _words(" ".join(OF_TORCH.findall(corpus)))


def _directories(corpus: str) -> list[str]:
    """Return the directories in a text, without system directories.

    The path of an installed package is cut after `site-packages`.
    """
    found: dict[str, None] = {}
    for path in (*POSIX.findall(corpus), *WINDOWS.findall(corpus)):
        installed = INSTALLED.match(path)
        directory = installed.group() if installed else path[:-1]
        if not f"{directory}/".startswith(tuple(f"{system}/" for system in SYSTEM)):
            found[directory] = None
    return list(found)


def _people(corpus: str) -> list[str]:
    """Return the names of users and hosts in a text."""
    return list(dict.fromkeys((*USER.findall(corpus), *NAMED_HOST.findall(corpus))))


def _of_code(code: str, wanted: set[Kind]) -> Iterator[Secret]:
    """Yield the secrets of a code file; a file that is not Python has only its lines."""
    tree, lines = _tree(code), code.split("\n")
    if "source" in wanted:
        parts = (part.strip() for line in lines for part in (line, line.partition("  #")[0]))
        yield from (Secret(part, "source", is_word=False) for part in parts)
    for node in ast.walk(tree) if tree is not None else ():
        if "names" in wanted:
            yield from (_word(name, "names") for name in _names(node))
        if "constants" in wanted and isinstance(node, ast.Constant):
            yield from _constants(node, lines)


def _tree(code: str) -> ast.Module | None:
    try:
        return module(code)
    except NOT_READ:
        return None


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield node.attr


def _constants(node: ast.Constant, lines: Sequence[str]) -> Iterator[Secret]:
    """Yield each line of a string constant, or a long number as Python prints it and as it is written."""
    value = node.value
    if isinstance(value, str):
        parts = (part.strip() for part in value.split("\n"))
        yield from (_word(part, "constants") for part in parts)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        line = lines[node.lineno - 1].encode()
        written = line[node.col_offset : node.end_col_offset].decode(errors="replace")
        numbers = (text for text in (str(value), written) if len(text) >= LEAST_NUMBER)
        yield from (Secret(text, "constants", is_word=True) for text in numbers)


def checked_kinds(text: str) -> tuple[Kind, ...]:
    """Return the kinds of a list such as `paths,names`; raises ValueError for an unknown one."""
    kinds = tuple(filter(None, (part.strip() for part in text.split(","))))
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no kind to scrub; known: {', '.join(KINDS)}")
    return cast(tuple[Kind, ...], kinds)
