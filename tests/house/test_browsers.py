"""Finding a browser for the tests."""

import sys
from pathlib import Path

import pytest

from tests.support import browsers


def program(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def unnamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHROMIUM", raising=False)


@pytest.mark.parametrize("name", ["chromium", "google-chrome", "microsoft-edge"])
def test_an_installed_browser_is_found(tmp_path: Path, name: str) -> None:
    assert browsers.installed(str(tmp_path)) is None
    path = program(tmp_path, name)
    assert browsers.installed(str(tmp_path)) == str(path)


def test_the_one_that_the_environment_names_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "chromium")
    monkeypatch.setenv("CHROMIUM", "/opt/browser")
    assert browsers.installed(str(tmp_path)) == "/opt/browser"


def test_without_one_and_without_a_download_the_message_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(browsers.NoBrowser, match=r"apt-get install chromium"):
        browsers._fetched(tmp_path / "chrome", (sys.executable, "-c", "raise SystemExit(1)"))


def test_a_download_is_taken_where_it_lies(tmp_path: Path) -> None:
    own = tmp_path / "chrome"
    assert browsers._fetched(own, (sys.executable, "-c", f"open({str(own)!r}, 'w')")) == str(own)
