"""A scrubber puts the same placeholder in the place of a secret everywhere, and shows its secrets first."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.trace.parsers.build import build_report
from core.views.html.render import page_of, page_of_comparison
from core.views.identifying import corpus_of, known_places
from core.views.run_files import RunFiles
from core.views.scrub import FIXED, FIXED_KEYS, KINDS, NOTHING, Kind, Scrubber, checked_kinds, scrubber
from tests.support.homes import add_run, job_of
from tests.support.places import TRACES
from tests.support.sample import one_in

CODE = """
class Encoder:
    def encode(self, x):
        self.hidden_size = 50257
        return x * 3.14159 + len("my secret text")
"""
LOG = '/home/alice/secret/encoder.py and /home/alice/secret/encoder.py:3 in /usr/lib/x.py, "hostname": "node17"'
NAMES = st.from_regex(r"[A-Za-z][a-z0-9]{3,9}(_[a-z]{2,6})?", fullmatch=True)


def texts_of(value: Any) -> list[str]:
    """All texts of a page that come from a run."""
    if isinstance(value, str):
        return [value]
    if is_dataclass(value):
        return [
            text for each in fields(value) if each.name not in FIXED for text in texts_of(getattr(value, each.name))
        ]
    if isinstance(value, dict):
        return [text for name, each in value.items() if name not in FIXED_KEYS for text in texts_of(each)]
    return [text for each in value for text in texts_of(each)] if isinstance(value, tuple | list | frozenset) else []


def left_in(text: str, scrub: Scrubber) -> tuple[str, ...]:
    """The secrets of a scrubber that are in a text."""
    return RunFiles.leftovers(text.encode("utf-8", "replace"), scrub)


def test_each_kind_takes_out_its_own() -> None:
    found: dict[Kind, set[str]] = {
        kind: {secret.text for secret in scrubber([kind], codes=[CODE], texts=[LOG], devices=["Fast CPU"]).secrets}
        for kind in KINDS
    }
    assert found == {
        "paths": {"/home/alice/secret", "/home/alice", "alice", "node17"},
        "names": {"Encoder", "encode", "hidden_size"},
        "source": {line.strip() for line in CODE.split("\n") if len(line.strip()) >= 8},
        "constants": {"50257", "3.14159", "my secret text"},
        "environment": {"Fast CPU"},
    }


def test_the_same_text_gets_the_same_placeholder_between_underscores_too() -> None:
    scrub = scrubber(["names"], codes=[CODE], texts=[])
    text = r"Encoder l_self_hidden_size_weight \nencode Encoders"
    assert scrub.text(text) == r"name_1 l_self_name_3_weight \nname_2 Encoders"


def test_words_of_torch_and_of_the_file_stay_and_are_listed() -> None:
    code = "class linear:\n    def encode(self): ...\n    def widget(self): ..."
    scrub = scrubber(["names"], codes=[code], texts=["torch.nn.functional.linear"], reserved=["widget"])
    assert ([secret.text for secret in scrub.secrets], set(scrub.kept)) == (["encode"], {"linear", "widget"})


def test_the_preview_has_a_line_for_each_kind_with_examples() -> None:
    assert scrubber(["names", "environment"], codes=[CODE], texts=[], devices=["Fast CPU"]).preview == (
        "names (classes, functions, attributes, modules and files of the model): 3: Encoder → name_1, encode → name_2, "
        "hidden_size → name_3",
        "environment (the device's name and environment variables): 1: Fast CPU → env_1",
    )
    assert NOTHING.preview == ()


def test_an_unknown_kind_is_refused() -> None:
    assert checked_kinds("paths, names") == ("paths", "names")
    with pytest.raises(ValueError, match=r"'path' is no kind to scrub; known: paths, names, source"):
        checked_kinds("path")


def test_a_scrubbed_log_is_a_log_with_the_right_checksums(empty_home: Path, tmp_path: Path) -> None:
    run = add_run(
        empty_home, "t", (TRACES / "graph_break_zoo" / "trace.log").read_bytes(), job=job_of("graph_break_zoo")
    )
    run.model_path.write_text(CODE)
    files = RunFiles(run)
    scrub = files.scrubber(KINDS)
    with zipfile.ZipFile(io.BytesIO(files.issue_zip(scrub))) as archive:
        log = archive.read("trace.log").decode()
        names = archive.namelist()
        assert {name: left_in(archive.read(name).decode(), scrub) for name in names} == dict.fromkeys(names, ())
    path = tmp_path / "trace.log"
    path.write_text(log)
    before, after = build_report(run.log_path() or path), build_report(path)
    records = [sum(report.kinds.values()) for report in (before, after)]
    assert (after.problems, records[1], len(after.graph_breaks)) == ((), records[0], len(before.graph_breaks))
    record = re.search(r'"has_payload": "(\w+)"\}\n((?:\t.*\n)+)', log)
    assert record is not None
    payload = "\n".join(line[1:] for line in record[2].rstrip("\n").split("\n"))
    assert hashlib.md5(payload.encode()).hexdigest() == record[1]


@pytest.mark.parametrize("directory", one_in(5, ["check", "inference", "cpp", "remote", "leaf"]))
def test_a_directory_named_like_a_piece_of_a_record_leaves_the_log_readable(directory: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.log"
    log = (TRACES / "graph_break_zoo" / "trace.log").read_text()
    reports = []
    for text in (log, scrubber({"paths"}, codes=[], texts=[log], places=[f"/{directory}/project/model.py"]).log(log)):
        path.write_text(text)
        reports.append(build_report(path))
    kernels = [[len(each.kernels) for each in report.compilations] for report in reports]
    assert kernels[0] == kernels[1]
    assert reports[1].problems == ()


@pytest.mark.parametrize("text", [r"it's " + r"\'a" * 200_000, '"' + r"\"b" * 200_000, '"' + r"\\" * 200_000 + "c"])
def test_a_long_line_with_quotes_that_never_end_is_read_once(text: str) -> None:
    assert known_places(corpus_of([text]), ["/home/me/model.py"]) == ["/home/me/model.py"]


@given(st.lists(NAMES, min_size=3, max_size=3, unique=True), st.sets(st.sampled_from(sorted(KINDS)), min_size=1))
def test_a_scrubbed_text_has_no_secret(names: list[str], kinds: set[Kind]) -> None:
    owner, model, attribute = names
    code = f'class {model}:\n    def run(self):\n        self.{attribute} = "{owner} text" + "{model}"\n'
    log = f"/home/{owner}/{model}_dir/{model}.py {code} l_self_{attribute}_weight {model}.{attribute}"
    scrub = scrubber(kinds, codes=[code], texts=[log], names=[model], devices=[f"{owner} chip"])
    assert left_in(scrub.text(log + code), scrub) == ()


@pytest.mark.parametrize("name", ["graph_break_zoo", "recompile_zoo", "training_step", "error"])
def test_a_scrubbed_page_has_no_secret(empty_home: Path, name: str) -> None:
    run = add_run(empty_home, "my private run", (TRACES / name / "trace.log").read_bytes(), job=job_of(name))
    run.model_path.write_text(CODE)
    scrub = RunFiles(run).scrubber(KINDS)
    assert len(scrub.secrets) > 5
    assert left_in("\n".join(texts_of(scrub.value(page_of(run)))), scrub) == ()


def test_a_scrubbed_comparison_has_no_secret_of_either_run(empty_home: Path) -> None:
    codes = (CODE, CODE.replace("Encoder", "Decoder").replace("my secret", "her secret"))
    left, right = (
        add_run(empty_home, f"my {name}", (TRACES / name / "trace.log").read_bytes(), job=job_of(name))
        for name in ("transformer_block", "training_step")
    )
    for run, code in zip((left, right), codes, strict=True):
        run.model_path.write_text(code)
    scrub = RunFiles(left).scrubber(KINDS, right)
    assert {"Encoder", "Decoder", "my secret text", "her secret text"} <= {secret.text for secret in scrub.secrets}
    assert left_in("\n".join(texts_of(scrub.value(page_of_comparison(left, right)))), scrub) == ()


def test_a_placeholder_is_not_a_name_that_stays_in_the_text() -> None:
    code = "class Net:\n    def run(self):\n        self.name_1 = 1\n"
    scrub = scrubber(["names"], codes=[code], texts=[code], names=["Net"])
    assert scrub.text(code) == code.replace("Net", "name_2")


UNQUOTED = {
    "g++ -I/opt/bigcorp/include -L/opt/bigcorp/lib x": "g++ -Idir_1 -Ldir_3 x",
    "file:///opt/bigcorp/model.py": "file://dir_1/model.py",
    "chdir to /opt/bigcorp": "chdir to dir_1",
    "../bigcorp/model.py": "dir_1/model.py",
    "~ada/x/model.py": "dir_1/model.py",
    r"\\server\bigcorp\model.py": r"dir_1\model.py",
    "C:/Users/ada/bigcorp/m.py": "dir_3/m.py",
    "/home/ada/Big Corp/model.py": "dir_3/model.py",
    "/home/ada/o'bigcorp (v2)/m.py": "dir_3/m.py",
    "/usr/local/bigcorp/m.py /usr/lib/x.py": "dir_1/m.py /usr/lib/x.py",
    "bigcorp/nets/model.py:4 in forward": "dir_1/model.py:4 in forward",
}


@pytest.mark.parametrize("text", UNQUOTED)
def test_a_path_in_any_text_is_replaced(text: str) -> None:
    assert scrubber(["paths"], codes=[], texts=[text]).text(text) == UNQUOTED[text]


def test_suffixes_of_a_known_path_get_the_placeholder_of_the_path() -> None:
    texts = ['{"filename": "/srv/ada/bright water/nets/m.py"}', "ada/bright water/nets/m.py:4", "nets/m.py:4", "a_nets"]
    scrub = scrubber(["paths"], codes=[], texts=texts[:1])
    assert [scrub.text(text) for text in texts] == [
        '{"filename": "dir_1/m.py"}',
        "dir_1/m.py:4",
        "dir_1/m.py:4",
        "a_dir_9",
    ]


MODEL = """
from acme.blocks import Quokka
from torch import nn
SCALE_OF_ALL = 3
class Colour(Enum):
    CRIMSON = 1
class Net(nn.Module):
    field_of_net: int = 1
    def __init__(self):
        self.register_buffer("possum", torch.ones(3))
        setattr(self, "wombat", 1)
        self.quoll = nn.ModuleDict({"galah": nn.Linear(3, 3)})
        self.bilby = nn.Sequential(OrderedDict([("dingo", nn.ReLU())]), **dict(numbat=1))
    def forward(self, brolga, *, cassowary=None):
        return brolga["emu_key"]
"""


def test_names_that_code_defines_in_any_way_are_replaced() -> None:
    names = {secret.text for secret in scrubber(["names"], codes=[MODEL], texts=[]).secrets}
    assert names == {
        *("acme", "blocks", "Quokka", "SCALE_OF_ALL", "Colour", "CRIMSON", "Net", "field_of_net", "possum", "wombat"),
        *("quoll", "galah", "bilby", "dingo", "numbat", "brolga", "cassowary", "emu_key"),
    }


def test_names_of_modules_and_globals_in_a_log_are_replaced() -> None:
    log = r"""
{"source": "L['self']._modules['galah']._buffers['possum'].wombat", "other": G['QUOKKA_SCALE']}
{"modules": {"l_x_": ["L['self'].dingo", "EmuBlock"]}, "frames": [["/srv/ada/m.py", 3, "cassowary"]]}
<class 'acme.nets.Brolga'> <class 'torch.nn.modules.linear.Linear'> G['__import_numbat_dot_quoll']
"""
    assert {secret.text for secret in scrubber(["names"], codes=[], texts=[log]).secrets} == {
        *("galah", "possum", "wombat", "QUOKKA_SCALE", "dingo", "EmuBlock", "cassowary", "acme", "nets", "Brolga"),
        *("numbat", "quoll"),
    }


def test_a_class_is_replaced_in_the_lower_case_of_fx_nodes_too() -> None:
    scrub = scrubber(["names"], codes=["class GalahBlock: ..."], texts=[])
    assert scrub.text("GalahBlock galah_block_1 l_self_galahblock") == "name_1 name_1_1 l_self_name_1"


def test_a_finished_file_is_searched_for_secrets_and_longer_words_with_one() -> None:
    scrub = scrubber(["names", "paths"], codes=["class Galah_1: ..."], texts=["/srv/corp/m.py MyGalah_1s"])
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("Galah_1.txt", "<b>/srv</b>/CORP and MyGalah_1s")
    assert scrub.leftovers(content.getvalue()) == ("/srv/corp", "Galah_1", "MyGalah_1s")
    assert scrub.leftovers(scrub.text("Galah_1 in /srv/corp/m.py").encode()) == ()


def test_addresses_of_people_and_private_servers_are_replaced() -> None:
    text = "ada@bigcorp.example s3://bigcorp/ckpt https://pytorch.org/docs gpu-7.bigcorp.internal x@self.weight"
    scrub = scrubber(["paths"], codes=[], texts=[text])
    assert scrub.text(text) == "dir_1 dir_2 https://pytorch.org/docs dir_4 x@self.weight"
