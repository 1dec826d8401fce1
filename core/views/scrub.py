"""Scrubber that replaces identifying texts by placeholders in files that leave the machine.

The same text gets the same placeholder everywhere, so that graphs, code and guards still match. Paths and
lines of code are replaced wherever they occur. A name or constant that is a single word is replaced only as
a whole word or between underscores, as in `l_self_modules_encoder_weight`.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import html
import io
import json
import keyword
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Literal, TypeVar, cast, get_args, get_origin

import core.report as shapes
from core.base.decoder import decoded
from core.base.errors import DecodeError
from core.base.syntax import NOT_READ, module
from core.base.words import count, number
from core.report import records
from core.report.records import compilation
from core.views.glossary import GLOSSARY
from core.views.identifying import (
    GENERIC,
    WORD,
    addresses,
    corpus_of,
    guessed_paths,
    known_places,
    path_forms,
    path_spellings,
    path_words,
    people,
    private_packages,
)
from core.views.model_names import OF_TORCH, code_names, log_names

Kind = Literal["paths", "names", "source", "constants", "environment"]
KINDS: dict[Kind, str] = {
    "paths": "directories, and the names of users and hosts",
    "names": "classes, functions, attributes, modules and files of the model",
    "source": "lines of source code",
    "constants": "texts and large numbers in the code",
    "environment": "the device's name and environment variables",
}
LEAST_NAME, LEAST_LINE, LEAST_NUMBER = 3, 8, 4
MOST_EXAMPLES = 5  #: examples of each kind in the preview of scrubbing
ROUNDS = 10
VARIABLE = re.compile(r"os\.environ\[['\"]\w+['\"]\] = ['\"]([^'\"\n]+)['\"]")
TORCH_NAME = re.compile(r"\b(?:torch|aten|prims|inductor|nn|F)\.([\w.]+)")
NUMBER = re.compile(r"(?<![\w.])\d[\d_]*(?:\.\d+)?(?:e-?\d+)?(?![\w.])")
PLACEHOLDERS = {"paths": "dir", "names": "name", "source": "line", "constants": "const", "environment": "env"}
# Fields of a page that are no text of a run: what the template and the script look up.
FIXED = frozenset({"tone", "kind", "id", "section", "language", "colour", "first"})
FIXED_KEYS = frozenset({"digest", "cls", "kind", "unit", "channel", "source", "step", "light", "dark", "colour"})
RESERVED = {*keyword.kwlist, *dir(builtins), *PLACEHOLDERS.values(), *OF_TORCH, *GENERIC}
RESERVED |= {"self", "torch", "user", "host", "model", "inputs", "calls", "training", "torch_compile"}
# A shorter name is not searched within longer words.
LEAST_WITHIN = 6
SEPARATOR = re.compile(r"[\\/]")
TAG = re.compile(r"<[^<>]*>")
# A line of a log before its payload: a level, a date, a place, and a header in JSON.
RECORD = re.compile(r'"has_payload": "[0-9a-f]{32}"')

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Secret:
    """A text to replace, its placeholder, and its other forms as (form, rest after the placeholder).

    A word is replaced only as a whole word or between underscores.
    """

    text: str
    kind: Kind
    is_word: bool
    placeholder: str = ""
    aliases: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class TextPart:
    """A text that is replaced wherever it occurs; a path is not replaced within a longer part of a path."""

    text: str
    placeholder: str
    is_path: bool
    pattern: re.Pattern[str] | None

    @classmethod
    def of(cls, text: str, placeholder: str, kind: Kind) -> TextPart:
        """Create a part of a kind."""
        is_path = kind == "paths"
        begin = r"(?<!\w)" if is_path and text[0].isalnum() else ""
        pattern = re.compile(f"{begin}{re.escape(text)}(?!\\w)") if is_path else None
        return cls(text, placeholder, is_path and SEPARATOR.search(text) is not None, pattern)

    def replaced(self, text: str) -> str:
        """Return a text with the placeholder in the place of this part."""
        if self.pattern is None:
            return text.replace(self.text, self.placeholder)
        return self.pattern.sub(lambda _: self.placeholder, text)


@dataclass(frozen=True)
class Scrubber:
    """Secrets with their placeholders; without secrets, texts stay as they are.

    `kept` are the names and constants that stay, since they are words of Python, torch or Compileboard. `suspects` are
    words of the run that have a secret in them and are not replaced.
    """

    secrets: tuple[Secret, ...] = ()
    kept: tuple[str, ...] = ()
    kinds: frozenset[Kind] = frozenset()
    suspects: frozenset[str] = frozenset()

    @cached_property
    def _parts(self) -> tuple[TextPart, ...]:
        """The secrets that are not words, their aliases, and single parts of paths, longest text first."""
        whole = [secret for secret in self.secrets if not secret.is_word]
        names = [(each, each.text, "") for each in whole if each.kind == "paths" and not SEPARATOR.search(each.text)]
        texts = [(each, each.text, "") for each in whole if each.kind != "paths" or SEPARATOR.search(each.text)]
        texts += [(each, text, rest) for each in whole for text, rest in each.aliases if not rest]
        files = [(each, text, rest) for each in whole for text, rest in each.aliases if rest]
        groups = (texts, files, names)
        ordered = [part for group in groups for part in sorted(group, key=lambda part: -len(part[1]))]
        parts: dict[str, TextPart] = {}
        for secret, text, rest in ordered:
            for form in _spellings(text, secret.kind):
                parts.setdefault(form, TextPart.of(form, f"{secret.placeholder}{rest}", secret.kind))
        return tuple(parts.values())

    @cached_property
    def _words(self) -> dict[tuple[str, ...], str]:
        """Pieces between underscores → placeholder, of each secret that is a word, and of its aliases."""
        words = [secret for secret in self.secrets if secret.is_word]
        aliases = {tuple(form.split("_")): each.placeholder for each in words for form, _ in each.aliases}
        return aliases | {tuple(secret.text.split("_")): secret.placeholder for secret in words}

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
        has_separator = SEPARATOR.search(text) is not None
        for part in self._parts:
            if (has_separator or not part.is_path) and part.text in text:
                text = part.replaced(text)
        text = WORD.sub(lambda match: self.replaced_word(match.group()), text) if self._words else text
        return NUMBER.sub(lambda match: self._words.get((match.group(),), match.group()), text)

    def replaced_word(self, word: str) -> str:
        """Return a word of letters, digits and underscores without secrets."""
        pieces = word.split("_")
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

    def leftovers(self, content: bytes, fixed: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the secrets that are still in a finished file, in all spellings and within longer words.

        A ZIP is searched by its files. `fixed` are texts of Compileboard in the file. Numbers are not searched.
        """
        if not self.secrets:
            return ()
        text = "\n".join(_file_texts(content))
        for each in fixed:
            text = text.replace(each, "")
        text = f"{text}\n{html.unescape(TAG.sub('', text))}"
        words, lower = set(WORD.findall(text)), text.casefold()
        exact = (secret.text for secret in self.secrets if _is_left(secret, lower if secret.kind == "paths" else text))
        return tuple(dict.fromkeys((*exact, *sorted(word for word in words if self._is_left(word)))))

    def _is_left(self, word: str) -> bool:
        """Return True if a word of a finished file is a secret, or a longer word of the run with one in it."""
        return word in self.suspects or (not word.isdigit() and self.replaced_word(word) != word)

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


def leftover_words(leftovers: Sequence[str]) -> str:
    """Return a sentence with the first texts that stay in a finished file."""
    shown = ", ".join(repr(text[:60]) for text in leftovers[:MOST_EXAMPLES])
    more = len(leftovers) - MOST_EXAMPLES
    others = f" and {number(more)} more" if more > 0 else ""
    return f"The file still has {count(len(leftovers), 'text')} of the author: {shown}{others}."


def read_log(path: Path) -> str:
    """Return the text of a log; bytes that are not UTF-8 survive when the text is written again."""
    return path.read_bytes().decode("utf-8", "surrogateescape")


def forms(text: str) -> set[str]:
    """Return a text as it is, in one line as pages show it, and as JSON and Python write it."""
    line = " ".join(text.split())
    return {text, line, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1], repr(text)[1:-1]}


def _file_texts(content: bytes) -> Iterator[str]:
    """Yield a file's text; of a ZIP, the names and texts of its files."""
    if not content.startswith(b"PK"):
        yield content.decode("utf-8", "replace")
        return
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name in archive.namelist():
            yield f"{name}\n{archive.read(name).decode('utf-8', 'replace')}"


def _is_left(secret: Secret, text: str) -> bool:
    """Return True if a secret that is not a word is in a text; a path in a text of small letters."""
    texts = () if secret.is_word else (secret.text, *(alias for alias, _ in secret.aliases))
    forms = {form for each in texts for form in _spellings(each, secret.kind)}
    forms = {form.casefold() for form in forms} if secret.kind == "paths" else forms
    parts = (TextPart.of(form, "", secret.kind) for form in forms if form in text)
    return any(part.replaced(text) != text for part in parts)


def _spellings(text: str, kind: Kind) -> set[str]:
    """Return all forms of a text; of a path, also as an address and with escaped slashes."""
    return {form for each in (path_spellings(text) if kind == "paths" else (text,)) for form in forms(each)}


def scrubber(
    kinds: Iterable[Kind],
    *,
    codes: Iterable[str],
    texts: Iterable[str],
    names: Iterable[str] = (),
    reserved: Iterable[str] = (),
    devices: Iterable[str] = (),
    places: Iterable[str] = (),
) -> Scrubber:
    """Return a scrubber of these kinds of secrets for the files of a run.

    `texts` are the contents of the files, `codes` the model's code, `names` and `devices` further secrets, and
    `places` known paths. The
    words of `reserved`, Python, torch and Compileboard stay: they identify nobody, and the files are useless
    without them.
    """
    wanted, codes, texts = set(kinds), tuple(codes), tuple(texts)
    corpus = corpus_of((*codes, *texts))
    stay = {
        *RESERVED,
        *reserved,
        *record_words(),
        *_words(" ".join((*GLOSSARY, *GLOSSARY.values()))),
        *_words(" ".join(TORCH_NAME.findall(corpus))),
    }
    found: list[Secret] = []
    if "paths" in wanted:
        found += _of_paths(corpus, places)
    if "environment" in wanted:
        found += (Secret(text, "environment", is_word=False) for text in (*devices, *VARIABLE.findall(corpus)))
    if "names" in wanted:
        found += (_word(name, "names") for name in names)
    for code in codes:
        found += _of_code(code, wanted)
    if "names" in wanted:
        found += (_word(name, "names") for text in texts for name in log_names(text))
    chosen: dict[tuple[str, bool], Secret] = {}
    for secret in filter(_is_secret, found):
        chosen.setdefault((secret.text, secret.is_word), secret)
    kept = [secret.text for secret in chosen.values() if secret.is_word and _stays(secret, stay)]
    secrets = [_with_lower_case(secret, stay) for secret in chosen.values() if secret.text not in kept]
    numbered = tuple(_numbered(secrets, kept))
    return Scrubber(numbered, tuple(dict.fromkeys(kept)), frozenset(wanted), _suspects(numbered, stay, corpus))


def _suspects(secrets: Sequence[Secret], stay: set[str], corpus: str) -> frozenset[str]:
    """Return the words of a text with a name in them that is no whole word between underscores."""
    scrub = Scrubber(tuple(secrets))
    # A word of small letters alone is the language's: `branching` beside the attribute `branch`.
    words = {word for word in set(WORD.findall(corpus)) if not (word.isalpha() and word.islower())}
    rests = {word: _without(scrub.replaced_word(word), stay).casefold() for word in words}
    joined = "\n".join(rests.values())
    names = {each.text.casefold() for each in secrets if each.is_word and each.kind in ("names", "paths")}
    within = (name for name in names if len(name) >= LEAST_WITHIN and name in joined)
    return frozenset(word for name in within for word in words if name in rests[word])


def _without(word: str, stay: set[str]) -> str:
    return "_".join(piece for piece in word.split("_") if piece not in stay)


def _of_paths(corpus: str, places: Iterable[str]) -> Iterator[Secret]:
    """Yield the secrets of the kind `paths`: directories, parts of known ones, people and addresses."""
    known = known_places(corpus, places)
    for path in path_forms((*known, *guessed_paths(corpus))):
        yield Secret(path.directory, "paths", is_word=False, aliases=path.aliases)
    for name in (*path_words(known), *people(corpus), *private_packages(corpus)):
        yield _word(name, "paths")
    yield from (Secret(address, "paths", is_word=False) for address in addresses(corpus))


def _with_lower_case(secret: Secret, stay: set[str]) -> Secret:
    """Return a word with its forms in lower case as aliases: names of FX nodes are in lower case."""
    if not secret.is_word or secret.kind not in ("names", "paths"):
        return secret
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", secret.text)
    lower = [word for word in dict.fromkeys((snake.lower(), secret.text.lower())) if word != secret.text]
    return replace(secret, aliases=tuple((word, "") for word in lower if not _stays(replace(secret, text=word), stay)))


@cache
def record_words() -> frozenset[str]:
    """Return the words in names and fixed values of fields of reports and of records."""
    names: set[str] = set()
    for each in (*vars(shapes).values(), *vars(records).values(), *vars(compilation).values()):
        if isinstance(each, type) and is_dataclass(each):
            names.update(field.name for field in fields(each))
        names.update(map(str, get_args(each) if get_origin(each) is Literal else ()))
    return frozenset(_words(" ".join(names)))


def _word(text: str, kind: Kind) -> Secret:
    """Return the secret of a name, a word if it has only letters, digits and underscores."""
    return Secret(text, kind, is_word=WORD.fullmatch(text) is not None)


def _is_secret(secret: Secret) -> bool:
    least = LEAST_LINE if secret.kind == "source" else LEAST_NAME
    return (
        any(map(str.isalnum, secret.text))
        and len(secret.text) >= least
        and not (secret.text.startswith("__") and secret.text.endswith("__"))
    )


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


def _of_code(code: str, wanted: set[Kind]) -> Iterator[Secret]:
    """Yield the secrets of a code file; a file that is not Python has only its lines."""
    tree, lines = _tree(code), code.split("\n")
    if "source" in wanted:
        parts = (part.strip() for line in lines for part in (line, line.partition("  #")[0]))
        yield from (Secret(part, "source", is_word=False) for part in parts)
    for node in ast.walk(tree) if tree is not None else ():
        if "names" in wanted:
            yield from (_word(name, "names") for name in code_names(node))
        if "constants" in wanted and isinstance(node, ast.Constant):
            yield from _constants(node, lines)


def _tree(code: str) -> ast.Module | None:
    try:
        return module(code)
    except NOT_READ:
        return None


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
