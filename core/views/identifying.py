"""Texts of a run that identify its author: paths, people and hosts.

Known paths come first: fields and quoted texts that are a path, and the places that the caller names. Any other text is
searched by patterns.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from core.base.decoder import decoded, toml_as
from core.base.errors import DecodeError

# A word; the letter of an escape such as `\n` is a word of its own.
WORD = re.compile(r"(?<=\\)[nrt](?=[A-Za-z_])|[A-Za-z0-9_]+")
LEAST_PART = 3
# A text in double quotes; in any quotes, as JSON, Python or a shell writes it; or in escaped quotes. Each match ends at
# the next such quote, so a line of any length is read once.
STRING = re.compile(r'(?<!\\)"((?:[^"\\\n]|\\.)*+)"')
QUOTED = re.compile(
    rf"{STRING.pattern}|"
    r"(?<!\\)'((?:[^'\\\n]|\\.)*+)'|"
    r'\\"((?:[^"\\\n]|\\(?!").)*+)\\"|'
    r"\\'((?:[^'\\\n]|\\(?!').)*+)\\'"
)
WHOLE_PATH = re.compile(r"(?:file://)?(?:/|~[\w.-]*/|\.\.?/|[A-Za-z]:[\\/]|\\\\)[^\n\t*?|<>\"`]{1,1000}")
POSITION = re.compile(r":\d+(?:[:\s].*)?$")
FILE_NAME = re.compile(r"^[^/\\]*\.[A-Za-z]\w{0,6}$")

# A part of a path in a text: without spaces, and with single spaces between words.
PART = r"(?:[^\s/\\\"'`<>|:*?;]|(?<=\w)'(?=\w))+"
SPACED = rf"{PART}(?: (?!-){PART}){{0,4}}"
BEGIN = r"(?:(?<![\w./\\>~-])|(?<=-[ILFB])|(?<=->)|(?<=file://))"
GUESSES = (
    *(
        re.compile(pattern)
        for part in (PART, SPACED)
        for pattern in (
            rf"{BEGIN}/(?:{part}/)+(?:{PART})?",
            rf"(?<![\w/])~[\w.-]*/(?:{part}/)*(?:{PART})?",
            rf"(?<![\w./])\.\.?/(?:{part}/)*(?:{PART})?",
            rf"(?<!\w)[A-Za-z]:[\\/](?:{part}[\\/])+(?:{PART})?",
            rf"(?<!\\)\\\\[A-Za-z][\w.$-]+\\(?:{part}\\)*(?:{PART})?",
        )
    ),
    re.compile(rf"{BEGIN}/[A-Za-z_][\w.+@~-]{{2,}}+(?![/(])"),
    re.compile(
        r"(?<![\w./\\~@+%-])(?:[\w.@+%-]{1,99}/){1,30}[\w.-]{1,99}\.(?:py|ipynb|cpp|cu|cuh|h|hpp|so|pt|pth|ckpt|safetensors)\b"
    ),
)
TAIL = re.compile(r"[.,;)\]}]+$")

# A directory of packages: the paths below it are the same on all machines.
INSTALLED = re.compile(
    r"(?P<own>.*?[/\\](?:site|dist)-packages|.*?[/\\]lib[/\\]python\d[\d.]*)(?=[/\\]|$)|"
    r"(?P<ours>.*?)(?=[/\\]core[/\\](?:worker|runs|base|accelerator|samples|library)[/\\])"
)
PACKAGE = re.compile(r"(?:site|dist)-packages[/\\]+([A-Za-z]\w+)")
SYSTEM = re.compile(
    r"/(?:proc|sys|dev)(?:/.*)?|/(?:usr/|usr/local/)?(?:s?bin|lib|lib32|lib64|libexec|include|share)"
    r"(?:/(?:python[\d.]*|gcc|\w+-linux-gnu\w*|llvm\S*|clang\S*|cmake\S*|cuda\S*|locale|zoneinfo)(?:/.*)?)?|"
    r"/usr(?:/local(?:/cuda[^/]*(?:/.*)?)?)?|/etc(?:/(?:ssl|alternatives|ld\S*)(?:/.*)?)?"
)
# Versions, and ids of runs.
NEUTRAL = re.compile(r"v?\d[\d.]*|python[\d.]*|cp\d+|\d{8}-\d{6}-.+-[0-9a-f]{4}")


# Words that identify nobody, by their kind.
NEUTRAL_WORDS = {
    kind: frozenset(words.split())
    for kind, words in toml_as(Path(__file__).with_name("identifying.toml"), dict[str, str]).items()
}
GENERIC, PUBLIC, INNER = NEUTRAL_WORDS["generic"], NEUTRAL_WORDS["public"], NEUTRAL_WORDS["inner"]
USER = re.compile(r"(?:/home/|/Users/|[A-Za-z]:[\\/]+Users[\\/]+|(?<![\w/])~)([^\W\d][\w.@+-]*)|torchinductor_(\w+)")
NAMED_HOST = re.compile(r'"(?:user|username|host|hostname)": "([^"\\]+)"')
INTERNAL = re.compile(r"(?<![\w.@-])[A-Za-z][\w-]*(?:\.[\w-]+)*\.(?:internal|intranet|corp|lan)\b")
TOP = (
    r"(?:com|org|net|edu|gov|mil|int|info|io|ai|dev|app|cloud|example|internal|local|corp|lan|test|invalid"
    r"|de|fr|uk|eu|ch|at|nl|se|jp|cn|in|us|ca|au|ru|br|it|es|pl|kr)"
)
EMAIL = re.compile(rf"(?<![\w.+-])[\w.+-]{{1,64}}@[\w-]+(?:\.[\w-]+)*\.{TOP}\b")
URL = re.compile(r"\b(?:https?|ftp|ssh|git|s3|gs|hdfs|abfss?|wss?)://([^\s\"'`<>()\[\]\\/:]+)([^\s\"'`<>()\[\]\\]*)")
PUBLIC_HOST = re.compile(
    r"(?:.*\.)?(?:pytorch\.org|pytorch\.github\.io|python\.org|w3\.org|perfetto\.dev|nvidia\.com|readthedocs\.io)|localhost|127\.0\.0\.1"
)


@dataclass(frozen=True, slots=True)
class KnownPath:
    """A directory, and its shorter forms as (form, rest after the placeholder)."""

    directory: str
    aliases: tuple[tuple[str, str], ...] = ()


def corpus_of(texts: Iterable[str]) -> str:
    """Return texts in one, followed by the contents of quoted texts that have escapes."""
    whole = "\n".join(texts).replace(r"\/", "/")
    return "\n".join((whole, *dict.fromkeys(_unescaped(text) for text in STRING.findall(whole) if "\\" in text)))


def _unescaped(text: str) -> str:
    try:
        return str(decoded(f'"{text}"'))
    except DecodeError:
        return text


def known_places(corpus: str, places: Iterable[str]) -> list[str]:
    """Return the known paths: `places`, and texts in quotes that are a path as a whole."""
    quoted = (text for pair in QUOTED.findall(corpus) for text in pair if text)
    paths = (text for text in dict.fromkeys(quoted) if WHOLE_PATH.fullmatch(text))
    return [*dict.fromkeys((*places, *filter(_is_path, map(_without_position, paths))))]


def _without_position(text: str) -> str:
    return POSITION.sub("", text.removeprefix("file://"))


def _is_path(text: str) -> bool:
    """Return True if no part of a text is empty or has spaces around it, as in a command line."""
    parts = [part for part in re.split(r"[\\/]", text.strip("/\\")) if part]
    return bool(parts) and all(part == part.strip() and not part.endswith(",") for part in parts)


def guessed_paths(corpus: str) -> list[str]:
    """Return the texts that look like a path."""
    matches = (match.group() for guess in GUESSES for match in guess.finditer(corpus))
    return [path for path in dict.fromkeys(TAIL.sub("", text) for text in matches) if path.strip("./\\~")]


def path_forms(paths: Iterable[str]) -> list[KnownPath]:
    """Return the directories of paths and their parents, each with its suffixes of two or more parts.

    System directories are left out. The path of an installed package is cut after `site-packages`.
    """
    forms: dict[str, dict[str, str]] = {}
    taken: set[str] = set()
    for path in paths:
        for directory, aliases in _directories(path):
            own = forms.setdefault(directory, {})
            fresh = {alias: rest for alias, rest in aliases.items() if alias not in taken}
            taken |= fresh.keys()
            own.update(fresh)
    return [KnownPath(directory, tuple(aliases.items())) for directory, aliases in forms.items()]


def _directories(path: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield a path's directory and its parents, with their suffixes."""
    directory, file = _split(path)
    separator = "/" if "/" in directory else "\\"
    parts = directory.split(separator)
    if _is_public(directory):
        return
    for end in range(len(parts), 0, -1):
        if not any(map(identifies, parts[:end])) or SYSTEM.fullmatch(separator.join(parts[:end])):
            return
        suffixes = (parts[start:end] for start in range(1, end - 1))
        aliases = {separator.join(suffix): "" for suffix in suffixes if any(map(identifies, suffix)) and suffix[0]}
        if file and end == len(parts) and parts[-1]:
            aliases[f"{parts[-1]}{separator}{file}"] = f"{separator}{file}"
        yield separator.join(parts[:end]), aliases


def _is_public(directory: str) -> bool:
    return bool(SYSTEM.fullmatch(directory)) or directory.partition("/")[0] in PUBLIC | INNER


def _split(path: str) -> tuple[str, str]:
    """Return a path's directory, and its file's name; empty if the directory was cut or there is no file."""
    installed = INSTALLED.match(path)
    if installed:
        return installed["own"] or installed["ours"] or "", ""
    path = path.rstrip("/\\")
    cut = max(path.rfind("/"), path.rfind("\\"))
    is_file = cut >= 0 and FILE_NAME.match(path[cut + 1 :])
    return (path[:cut], path[cut + 1 :]) if is_file else (path, "")


def identifies(part: str) -> bool:
    """Return True if a part of a path may identify somebody."""
    part = part.strip("~.").casefold()
    return len(part) > 1 and part not in GENERIC and not NEUTRAL.fullmatch(part) and not part.endswith(":")


def path_words(paths: Iterable[str]) -> Iterator[str]:
    """Yield the parts of directories that may identify somebody."""
    for path in paths:
        directory, _ = _split(path)
        if not _is_public(directory):
            parts = (part.strip("~.") for part in re.split(r"[\\/]", directory))
            yield from (part for part in parts if len(part) >= LEAST_PART and identifies(part))


def private_packages(corpus: str) -> list[str]:
    """Return the names of installed packages that are not public."""
    names = dict.fromkeys(PACKAGE.findall(corpus))
    return [name for name in names if name not in PUBLIC and name.lstrip("_") not in PUBLIC]


def path_spellings(path: str) -> set[str]:
    """Return a path as it is, as an address has it, and with escaped slashes."""
    return {path, quote(path, safe="/\\:~@+"), path.replace("/", r"\/")}


def people(corpus: str) -> list[str]:
    """Return the names of users and hosts in a text."""
    users = (name for pair in USER.findall(corpus) for name in pair if name)
    return list(dict.fromkeys((*users, *NAMED_HOST.findall(corpus))))


def addresses(corpus: str) -> list[str]:
    """Return e-mail addresses, addresses of private servers, and their hosts."""
    urls = [match for match in URL.finditer(corpus) if not PUBLIC_HOST.fullmatch(match[1]) and not _is_torchs(match)]
    whole = (TAIL.sub("", match.group()) for match in urls)
    hosts = (match[1] for match in urls)
    return list(dict.fromkeys((*EMAIL.findall(corpus), *whole, *hosts, *INTERNAL.findall(corpus))))


def _is_torchs(url: re.Match[str]) -> bool:
    return url[1] == "github.com" and url[2].startswith(("/pytorch/", "/triton-lang/"))


def is_installed(path: str) -> bool:
    """Return True if a file of this path belongs to a package, to torch or to Python."""
    return bool(INSTALLED.match(path)) or path.startswith("<") or _is_public(path)
