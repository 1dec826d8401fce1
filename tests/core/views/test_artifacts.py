"""The records of a log: every kind is shown, chosen records are those asked for, and tlparse lists the same."""

import gzip
import importlib.util
import json
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from core.base.errors import TraceError
from core.trace.index import index_of
from core.views import artifacts
from core.views.artifacts import ArtifactsView
from core.views.printed import as_text
from pages import menu
from tests.support.logs import record
from tests.support.places import ROOT, TRACES

FRAMELESS, DDP = ROOT / "tests" / "frameless", ROOT / "tests" / "ranks" / "ddp"
SCENARIOS = sorted(path.parent.name for path in TRACES.glob("*/trace.log"))
# Logs of torch alone: an export, an AOTInductor package, compiled autograd, and DDP on two gloo ranks.
PACKED = sorted(path.relative_to(ROOT / "tests").as_posix() for path in (*FRAMELESS.glob("*.gz"), *DDP.glob("*.gz")))
# Records that tlparse lists in no compilation's directory: it draws them together, or they describe other records.
NOT_LISTED = {"chromium_event", "dynamo_start", "describe_tensor", "describe_storage", "describe_source", "str"}
# A record's payload in the form in which torch logs it, by its form here.
PAYLOADS = {
    "python": 'class GraphModule(torch.nn.Module):\n    def forward(self, x: "f32[8]cpu"):\n        return (x,)',
    "json": '{"a": [1, 2]}',
    "cpp": '#include <torch/csrc/inductor/cpp_prefix.h>\nextern "C" void kernel(const float* in) {}',
    "text": "TREE_GUARD_MANAGER:\n+- RootGuardManager\n| +- LAMBDA_GUARD: 2 <= L['x'].size()[0]",
    "bytes": "\x00\x01\x02\x03" * 40,
}
# Kinds of torch 2.11 to 2.15, but for those that begin or end with the name of a function or a pass.
KINDS = frozenset(
    [
        "aot_backward_graph",
        "aot_forward_graph",
        "aot_inference_graph",
        "aot_joint_graph",
        "bwd_compilation_metrics",
        "chromium_event",
        "compilation_metrics",
        "compilation_metrics_runtime",
        "compiled_autograd_graph",
        "create_symbol",
        "create_unbacked_symbol",
        "describe_source",
        "describe_storage",
        "describe_tensor",
        "dump_file",
        "dynamo_cpp_guards_str",
        "dynamo_guards",
        "dynamo_output_graph",
        "dynamo_start",
        "export",
        "exported_program",
        "expression_created",
        "guard_added",
        "guard_added_fast",
        "guard_on_data_dependent_error",
        "inductor_input_graph",
        "inductor_output_code",
        "inductor_post_grad_graph",
        "link",
        "mismatched_fake_kernel",
        "missing_fake_kernel",
        "optimize_ddp_split_child",
        "optimize_ddp_split_graph",
        "propagate_real_tensors",
        "propagate_real_tensors_provenance",
        "symbolic_shape_specialization",
        "graph_dump:inductor_aot_header_code",
        "graph_dump:inductor_aot_kernel_code",
        "graph_dump:inductor_aot_wrapper_code",
    ]
)
IN_SOURCE = re.compile(r"""trace_structured\(\s*["'](\w+)["']""")


def view_of(folder: Path, *records: bytes) -> ArtifactsView:
    log = folder / "trace.log"
    log.write_bytes(b"".join(records))
    return ArtifactsView(index_of(log), beside=True)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_record_is_shown_and_given_back_as_it_is(scenario: str) -> None:
    log = TRACES / scenario / "trace.log"
    view, data = ArtifactsView(index_of(log), beside=True), log.read_bytes()
    seen: Counter[str] = Counter()
    for row in view.index.rows():
        if seen[row.kind] >= 3:
            continue
        seen[row.kind] += 1
        record = view.details(row.number)
        header, payload = view.raw(row.number)
        assert data[row.header : row.header + len(header)] == header
        assert payload == data[row.offset : row.offset + row.length]
        assert json.loads(record.header.partition("] ")[2])
        assert bool(record.text) == bool(payload.strip())
        assert record.form != "bytes"
    assert seen.keys() == view.kinds.keys()


@pytest.mark.parametrize("form", PAYLOADS)
@pytest.mark.parametrize("kind", sorted(KINDS - {"str"}))
def test_a_record_of_every_kind_is_shown_as_what_it_looks_like(tmp_path: Path, kind: str, form: str) -> None:
    key, _, name = kind.partition(":")
    header = {key: {"name": name} if name else {}, "frame_id": 0, "frame_compile_id": 0, "attempt": 1}
    view = view_of(tmp_path, record(header, PAYLOADS[form]))
    shown = view.details(0)
    assert (shown.form, shown.place.split(" · ")[1:3]) == (form, [f"`{kind}`", "`[0/0_1]`"])
    assert (
        json.loads(shown.text) == {"a": [1, 2]} if form == "json" else form == "bytes" or shown.text == PAYLOADS[form]
    )


def test_torch_writes_no_kind_that_is_not_in_the_table() -> None:
    spec = importlib.util.find_spec("torch")
    assert spec is not None
    assert spec.origin is not None
    sources = Path(spec.origin).parent.rglob("*.py")
    written = {kind for source in sources for kind in IN_SOURCE.findall(source.read_text(errors="replace"))}
    assert len(written) > 20
    assert written - {"artifact", "graph_dump", "str"} <= KINDS


def kind_of(file: str) -> str:
    """The kind of the record in a file of tlparse, which it numbers, and names after a key, a module or a file."""
    name = re.sub(r"(_[a-z0-9]{40,})?_\d+\.\w+$", "", file)
    name = re.sub(r"^(optimize_ddp_split_child)_\w+$", r"\1", name)
    return "dump_file" if name.startswith("eval_with_key") else name


@pytest.mark.parametrize("name", [*SCENARIOS, *PACKED])
def test_what_tlparse_lists_is_listed(tmp_path: Path, name: str) -> None:
    log = TRACES / name / "trace.log"
    if name in PACKED:
        log = tmp_path / "packed.log"
        log.write_bytes(gzip.decompress((ROOT / "tests" / name).read_bytes()))
    tlparse = Path(sys.executable).with_name("tlparse")
    command = [str(tlparse), str(log), "-o", str(tmp_path / "out"), "--overwrite", "--no-browser"]
    subprocess.run(command, check=True, capture_output=True, timeout=240)
    listed = json.loads((tmp_path / "out" / "compile_directory.json").read_bytes())
    theirs = Counter(
        (compile_id.replace("/-/-", ""), kind_of(artifact["name"]))
        for compile_id, directory in listed.items()
        for artifact in directory["artifacts"]
    )
    view = ArtifactsView(index_of(log))
    ours = Counter(
        (
            f"[{row.compile_id or '-/-'}" + (f"_{row.attempt}]" if row.attempt else "]"),
            row.kind.partition(":")[2] or row.kind,
        )
        for row in view.index.rows()
        if row.kind not in NOT_LISTED
    )
    assert theirs - ours == Counter()


def test_records_are_chosen_by_compilation_kind_and_text() -> None:
    view = ArtifactsView(index_of(TRACES / "graph_break_zoo" / "trace.log"))
    assert [row["compilation"] for row in replace(view, kind="dynamo_start", compilation="2/0").rows] == ["[2/0]"]
    found = replace(view, search="CPP_FUSED", kind="inductor_output_code")
    assert found.matches
    for number in found.matches:
        line = found.line_of(number)
        assert line is not None
        assert "cpp_fused" in found.details(number).text.split("\n")[line - 1].lower()
    assert replace(view, search="no such text").title == f"0 of {len(view.index):,} records: 0 B"
    outside = replace(view, compilation="-")
    assert outside.matches
    assert all(view.index.row(number).compile_id == "" for number in outside.matches)
    assert view.note == f"Left out: {len(view.index) - len(view.matches):,} events and inputs."


def test_a_long_or_deep_payload_is_shown_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifacts, "MAX_SHOWN_CHARS", 1_000)
    deep = "[" * 50_000
    view = view_of(
        tmp_path, record({"a": 1}, "x" * 9_000), record({"b": 1}, deep), record({"c": 1}, '[{"<b>": "<i>"}]')
    )
    first, second, third = (view.details(number) for number in range(3))
    assert (first.text, first.note) == ("x" * 1_000, "The first 1,000 characters; download it for the rest.")
    assert (second.form, second.text) == ("text", "[" * 1_000)
    assert third.rows == ({"<b>": "<i>"},)
    assert view.raw(1)[1] == b"\t" + deep.encode() + b"\n"


@pytest.mark.parametrize("text", ['{"a": NaN}', '["\\ud8"]', '{"a": 1e999, "b": "\\ud800"}', "[Infinity]"])
def test_what_python_alone_takes_for_json_is_shown_as_it_is(tmp_path: Path, text: str) -> None:
    assert view_of(tmp_path, record({"a": 1}, text)).details(0).text.split() == text.split()


def test_a_record_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    view = view_of(tmp_path, record({"a": 1}, "x"))
    with pytest.raises(TraceError, match="the log has no record 7; it has 1 record"):
        view.details(7)
    view.index.path.unlink()
    with pytest.raises(TraceError, match="cannot be read"):
        view.details(0)


def test_the_pages_in_the_table_of_tlparse_are_in_the_menu() -> None:
    named = set(re.findall(r"(?<!\*)\*([A-Z][\w ]+)\*(?!\*)", (ROOT / "docs" / "tlparse.md").read_text()))
    titles = {page.title for page in menu.PAGES.values()}
    parts = {"Payload", "Header", "Open as a script"}
    assert "Artifacts" in named
    assert named - titles - parts == set()


def test_all_records_are_listed_by_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifacts, "MOST_SHOWN", 2)
    view = view_of(tmp_path, *[record({"dump_file": {"name": str(number)}}, "text") for number in range(5)])
    pages = [replace(view, page=page) for page in (-1, 1, 2, 3, 9)]
    assert [[row["record"] for row in page.rows] for page in pages] == [[0, 1], [0, 1], [2, 3], [4], [4]]
    assert (view.pages, pages[-1].note) == (3, "Page 3 of 3.")


def test_a_text_at_the_border_of_two_slices_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifacts, "SLICE_BYTES", 7)
    view = view_of(tmp_path, record({"dump_file": {}}, "one\n" * 9 + "Needle"), record({"dump_file": {}}, "none"))
    for start in range(4):
        assert replace(view, search="needle"[start:]).line_of(0) == 10
    assert replace(view, search="needle").matches == [0]


def test_a_page_of_records_has_one_in_full(tmp_path: Path) -> None:
    header = {"artifact": {"name": "objects"}, "frame_id": 0, "frame_compile_id": 0}
    view = view_of(tmp_path, record(header, '[{"a": 1}, {"b": "two"}]'))
    lines = [line.strip() for line in as_text(artifacts.artifacts(view, view, None, ["0/0"])) if line]
    assert lines[0] == "1 record in the log"
    assert "Record 0 · `artifact:objects` · `[0/0]` · byte 0, 26 B" in lines
    assert [line for line in lines if line in ("a    b", "1", "two")] == ["a    b", "1", "two"]
    assert '{"artifact": {"name": "objects"}' in "\n".join(lines).replace("'", '"')
