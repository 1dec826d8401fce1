"""The committed bundles are those of the pinned versions and of their sources, and the licences are beside them."""

from tests.supply.bundles import (
    BUNDLE,
    CONFIG,
    FOLDER,
    GRAPH_STYLE,
    LICENCES,
    LOCK,
    PAGE_BUNDLE,
    STYLE,
    head,
    packages,
    page_head,
    pinned,
)


def text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def test_the_bundle_was_made_from_the_entry_and_the_versions_that_are_pinned() -> None:
    assert text(BUNDLE).startswith(head()), "run `make bundles`"


def test_the_script_of_an_html_file_was_made_from_the_components() -> None:
    assert PAGE_BUNDLE.read_text(encoding="utf-8").startswith(page_head()), "run `make bundles`"
    assert STYLE.read_bytes() == GRAPH_STYLE.read_bytes(), "run `make bundles`"


def test_no_text_of_that_script_ends_its_element() -> None:
    assert "</script" not in PAGE_BUNDLE.read_text(encoding="utf-8").lower()


def test_the_lock_has_the_pinned_versions() -> None:
    assert set(pinned()) <= set(packages())


def test_each_package_has_its_licence_beside_the_bundle() -> None:
    lines = text(LICENCES).splitlines()
    assert [line for line in lines if line in packages()] == packages()
    assert text(LICENCES).count("Permission is hereby granted, free of charge") == len(packages())


def test_no_file_names_a_server_of_packages() -> None:
    assert [name for name in (BUNDLE, CONFIG, LOCK, LICENCES) if "registry" in text(name)] == []
