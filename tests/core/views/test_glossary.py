"""The glossary: the ten words that everybody asks about, each with a page of a run and torch's manual."""

from core.views.blocks import Picks
from core.views.glossary import GLOSSARY, TERMS, glossary, matching_terms
from pages import menu
from tests.support.tables import text_of

ASKED = (
    *("Dynamo", "graph", "graph break", "AOTAutograd", "Inductor", "Triton", "fusion", "dynamic shapes", "backend"),
    "warm-up",
)


def test_the_words_of_every_introduction_are_explained() -> None:
    assert set(ASKED) <= set(TERMS)
    assert all(term.page in menu.PAGES for term in TERMS.values())
    assert all(term.meaning.endswith(".") for term in TERMS.values())


def test_a_word_with_a_part_of_torchs_manual_links_to_it() -> None:
    assert GLOSSARY["recompile"].endswith(f"[torch's manual]({TERMS['recompile'].manual})")
    assert TERMS["recompile"].manual.startswith("https://docs.pytorch.org/docs/stable/")
    assert GLOSSARY["fusion"] == TERMS["fusion"].meaning


def test_a_search_finds_names_and_meanings() -> None:
    assert list(matching_terms("TRITON")) == ["Inductor", "Triton"]
    assert matching_terms("") == TERMS
    assert "No term has this text." in text_of(glossary(Picks(texts={"term": "no such word"})))
