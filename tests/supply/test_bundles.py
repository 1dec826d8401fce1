"""The committed bundle is that of the pinned versions and of its entry, and its licences are beside it."""

from tests.supply.bundles import BUNDLE, CONFIG, FOLDER, LICENCES, LOCK, head, packages, pinned


def text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def test_the_bundle_was_made_from_the_entry_and_the_versions_that_are_pinned() -> None:
    assert text(BUNDLE).startswith(head()), "run `make bundles`"


def test_the_lock_has_the_pinned_versions() -> None:
    assert set(pinned()) <= set(packages())


def test_each_package_has_its_licence_beside_the_bundle() -> None:
    lines = text(LICENCES).splitlines()
    assert [line for line in lines if line in packages()] == packages()
    assert text(LICENCES).count("Permission is hereby granted, free of charge") == len(packages())


def test_no_file_names_a_server_of_packages() -> None:
    assert [name for name in (BUNDLE, CONFIG, LOCK, LICENCES) if "registry" in text(name)] == []
