"""A package opened: its files are listed and its texts read, and none is written anywhere."""

import contextlib
import random
import zipfile
from pathlib import Path

import pytest

from core.base.errors import ProgramError
from core.report import PackagedFile
from core.worker.aoti.exporting import MOST_TEXT_BYTES, ArchiveText, kind_of, open_archive

# The module that opens archives imports torch.
pytestmark = pytest.mark.torch
MODEL = "model/data/aotinductor/model/"


def package(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path / "model.pt2", "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path / "model.pt2"


def test_a_package_is_its_files_its_texts_and_its_metadata(tmp_path: Path) -> None:
    files = {
        f"{MODEL}c.wrapper.cpp": b"int main;",
        f"{MODEL}c.wrapper_metadata.json": b'{"AOTI_DEVICE_KEY": "cpu"}',
        f"{MODEL}c.so": b"\x7fELF",
    }
    found = open_archive(package(tmp_path, files))
    assert found.files == (
        PackagedFile(f"{MODEL}c.wrapper.cpp", "wrapper", 9, 594_025_710),
        PackagedFile(f"{MODEL}c.wrapper_metadata.json", "metadata", 26, 3_778_975_605),
        PackagedFile(f"{MODEL}c.so", "library", 4, 2_805_646_417),
    )
    assert found.texts[0] == ArchiveText(f"{MODEL}c.wrapper.cpp", "cpp", "int main;")
    assert [item.name for item in found.texts] == list(files)[:2]
    assert found.metadata == {"AOTI_DEVICE_KEY": "cpu"}


def test_a_name_that_leads_out_of_the_package_is_reported_and_written_nowhere(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    found = open_archive(package(inside, {"../../escaped.cpp": b"x", "/tmp/escaped.json": b"{}"}))
    assert [item.name for item in found.files] == ["../../escaped.cpp", "/tmp/escaped.json"]
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["inside", "model.pt2"]


def test_a_text_that_is_too_large_is_listed_and_not_read(tmp_path: Path) -> None:
    found = open_archive(package(tmp_path, {"large.cpp": b" " * (MOST_TEXT_BYTES + 1), "small.cpp": b"x"}))
    assert [item.name for item in found.files] == ["large.cpp", "small.cpp"]
    assert [item.name for item in found.texts] == ["small.cpp"]


@pytest.mark.parametrize("data", [b"", b"not a zip", b"PK\x03\x04" + b"\0" * 60])
def test_what_is_no_package_is_an_error_that_names_the_file(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "model.pt2").write_bytes(data)
    with pytest.raises(ProgramError, match=r"^model.pt2 is no package: "):
        open_archive(tmp_path / "model.pt2")


def test_no_damage_of_a_package_is_anything_but_a_package_or_an_error_in_words(tmp_path: Path) -> None:
    path = package(tmp_path, {f"{MODEL}c.wrapper.cpp": b"int main;" * 40, f"{MODEL}größe.json": b'{"a": 1}' * 40})
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("text.txt", b"int main;" * 400)
    whole, chance = path.read_bytes(), random.Random(0)
    for _ in range(600):
        damaged = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        path.write_bytes(damaged)
        with contextlib.suppress(ProgramError):
            open_archive(path)


def test_metadata_that_are_no_json_are_left_out(tmp_path: Path) -> None:
    assert open_archive(package(tmp_path, {"a_metadata.json": b"{", "b_metadata.json": b"[1]"})).metadata == {}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("c.wrapper.cpp", "wrapper"),
        ("c.kernel.cpp", "kernels"),
        ("c.wrapper.so", "library"),
        ("c.cubin", "binary"),
        ("c.o", "object"),
        ("weights_config.json", "weights"),
        ("serialized_weights.bin", "weights"),
        (".data/serialization_id", "metadata"),
        ("notes", "other"),
    ],
)
def test_a_file_is_what_its_name_says(name: str, kind: str) -> None:
    assert kind_of(f"{MODEL}{name}") == kind
