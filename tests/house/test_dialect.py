"""Documents, names of tests and JavaScript use the field's words, not words of a dialect.

What is left of the dialect is counted here, and the counts may only become smaller.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.support.places import ROOT

# Words of prose, and what to write: "reported", "starts", "supervisor", "repairs", "alternately", "custom" …
PROSE = re.compile(
    r"\b(told|tells?|begun|keepers?|mend(?:s|ed)?|thereof|on wish|in turn|let go|of one's own|became of|"
    r"(?:is|are|was|were) said|stands? (?:in|at|last|first|there|here|beside|below|above|alone)|"
    r"held against|gone through)\b",
    re.IGNORECASE,
)
# A relative clause in the place of a noun, at the beginning of a sentence that is no question.
OPENER = re.compile(r"(?:^|[.!] |\| |- )(What|Whether) [^?|\n]{3,}", re.MULTILINE)
# Documents that quote the output of commands, or that code writes: there the words are the code's.
QUOTING = ("docs/seeds.md", "docs/report-schema.md", "docs/trace-records.md", "docs/options.md")
IN_DOCUMENTS: Counter[str] = Counter()

NAMES = frozenset(
    [
        "told",
        "tell",
        "tells",
        "begun",
        "keeper",
        "mend",
        "mends",
        "mended",
        "twin",
        "twins",
        "rival",
        "door",
        "said",
        "stands",
        "stand",
    ]
)
IN_TESTS = Counter(said=22, stands=21, told=15, stand=7, tells=3, twins=2, tell=1, door=1)

IDENTIFIERS = frozenset(
    ["told", "tell", "tells", "found", "said", "held", "given", "asked", "kept", "here", "one", "other"]
)
IN_SCRIPTS = Counter(said=19, here=19, told=11, other=11, one=9, found=8, tell=7, kept=6, asked=2, held=1)


def test_documents_say_it_in_the_fields_words() -> None:
    assert _excess(_in_documents(), IN_DOCUMENTS) == {}


def test_names_of_tests_use_the_fields_words() -> None:
    assert _excess(_in_tests(), IN_TESTS) == {}


def test_scripts_name_values_by_what_they_are() -> None:
    assert _excess(_in_scripts(), IN_SCRIPTS) == {}


def _excess(words: Iterator[str], left: Counter[str]) -> Counter[str]:
    """Return the words that occur more often than those that are left."""
    return Counter(words) - left


def _in_documents() -> Iterator[str]:
    paths = [*(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY")), *(ROOT / "docs").glob("*.md")]
    for path in paths:
        name = path.relative_to(ROOT).as_posix()
        if name not in QUOTING:
            text = re.sub(
                r"^ *```.*?^ *```|`[^`\n]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
            )
            yield from (f"{name}: {word.lower()}" for word in (*PROSE.findall(text), *OPENER.findall(text)))


def _in_tests() -> Iterator[str]:
    for path in (ROOT / "tests").rglob("test_*.py"):
        for name in re.findall(r"^(?:async )?def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            yield from (word for word in name.split("_") if word in NAMES)


def _in_scripts() -> Iterator[str]:
    for path in _scripts():
        declared = re.findall(
            r"\b(?:const|let|function)\s+(\w+)|(\w+)\s*=>|[(,]\s*(\w+)(?=[,)])", path.read_text(encoding="utf-8")
        )
        yield from (word for groups in declared for word in groups if word in IDENTIFIERS)


def _scripts() -> list[Path]:
    return [path for path in (ROOT / "pages" / "components").rglob("*.js") if "codemirror" not in path.parts]
