"""Inputs: archives, and what tlparse, TORCH_COMPILE_DEBUG and vLLM write; all become runs, or nothing does."""

import gzip
import io
import json
import shutil
import struct
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from backports import zstd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core import CompileboardError, Report, Store, StoreError, open_report, sentence, verdict
from core.runs.inputs import archives
from core.trace.reader import md5_of
from tests.support.places import TRACES

LOG = (TRACES / "foreign" / "trace.log").read_bytes()
RECORD = b'V0101 00:00:00.000000 1 a.py:1] {"dynamo_start": {}}\n'
GRAPH = """class GraphModule(torch.nn.Module):
    def forward(self, arg0_1: "f32[4]"):
        sin: "f32[4]" = torch.ops.aten.sin.default(arg0_1);  arg0_1 = None
        return (sin,)
"""


def zipped(files: Mapping[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def tarred(files: Mapping[str, bytes | tarfile.TarInfo]) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for name, content in files.items():
            if isinstance(content, tarfile.TarInfo):
                archive.addfile(content)
                continue
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return data.getvalue()


def linked(name: str, to: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, to
    return member


def ranks(*numbers: int) -> dict[str, bytes]:
    return {f"trace/dedicated_log_torch_trace_rank_{rank}_x.log": LOG for rank in numbers}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "home")


def nothing_is_left(store: Store, outside: Path) -> bool:
    """Whether the store has no run and no rest of one, and no file lies beside it."""
    return list(store.runs_dir.iterdir()) == [] and [path.name for path in outside.iterdir()] == ["home"]


@pytest.mark.parametrize("name", ["log.gz", "log.zst", "log.zip", "log.tar", "log.tar.gz", "log.tar.zst"])
def test_a_compressed_log_is_the_log(store: Store, name: str) -> None:
    made = {
        "log.gz": gzip.compress(LOG),
        "log.zst": zstd.compress(LOG),
        "log.zip": zipped({"a/trace.log": LOG}),
        "log.tar": tarred({"a/trace.log": LOG}),
        "log.tar.gz": gzip.compress(tarred({"a/trace.log": LOG})),
        "log.tar.zst": zstd.compress(tarred({"a/trace.log": LOG})),
    }[name]
    run = store.add_log(name, io.BytesIO(made))
    assert [path.name for path in run.trace_dir.iterdir()] == ["opened.log"]
    assert (run.trace_dir / "opened.log").read_bytes() == LOG
    assert (run.status().title, sorted(path.name for path in run.path.iterdir())) == (name, ["status.json", "trace"])


@pytest.mark.parametrize("pack", [zipped, tarred, lambda files: gzip.compress(tarred(files))])
def test_an_archive_of_ranks_is_one_run(store: Store, pack: Callable[[Mapping[str, bytes]], bytes]) -> None:
    run = store.add_log("ranks", io.BytesIO(pack({**ranks(0, 1, 5), "notes.log": b"no record\n"})))
    assert run.ranks() == (0, 1, 5)
    assert run.status().origin == "Not read: notes.log."


def test_a_directory_may_hold_compressed_logs(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    for rank in (0, 1):
        (folder / f"dedicated_log_torch_trace_rank_{rank}_x.log.gz").write_bytes(gzip.compress(LOG))
    (folder / "dedicated_log_torch_trace_rank_2_x.log.zst").write_bytes(zstd.compress(LOG))
    assert store.add_path(folder).ranks() == (0, 1, 2)


def test_a_directory_may_be_listed_twice_in_an_archive(store: Store, tmp_path: Path) -> None:
    made = tarred({"a": linked("a", "", tarfile.DIRTYPE), "./a": linked("./a", "", tarfile.DIRTYPE), "a/x.log": LOG})
    run = store.add_log("log.tar", io.BytesIO(made))
    assert (run.log_path() or tmp_path).read_bytes() == LOG


@pytest.mark.promise("logs")
@pytest.mark.parametrize("name", ["../out.log", "/tmp/out.log", "a/../../out.log", "..", "a\\..\\out.log", "C:out.log"])
@pytest.mark.parametrize("pack", [zipped, tarred])
def test_a_name_that_leads_out_of_an_archive_refuses_it(
    store: Store, tmp_path: Path, name: str, pack: Callable[[Mapping[str, bytes]], bytes]
) -> None:
    """An archive with a name that leads outside its directory is refused."""
    with pytest.raises(CompileboardError, match="unsafe name"):
        store.add_log("x", io.BytesIO(pack({"good.log": LOG, name: LOG})))
    assert nothing_is_left(store, tmp_path)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_not_made(store: Store, kind: bytes) -> None:
    made = tarred({"link": linked("trace.log", "/etc/passwd", kind), "good.log": LOG})
    run = store.add_log("x.tar", io.BytesIO(made))
    assert run.status().origin == "Not read: trace.log (a link or a device)."
    assert (run.trace_dir / "opened.log").read_bytes() == LOG


@pytest.mark.promise("logs")
def test_a_file_is_not_written_through_a_link(store: Store, tmp_path: Path) -> None:
    """No file of an archive is written through a link."""
    made = tarred({"link": linked("out", str(tmp_path)), "out/x.log": LOG})
    store.add_log("x.tar", io.BytesIO(made))
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


@pytest.mark.promise("logs")
@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress, lambda data: zipped({"a.log": data})])
def test_a_bomb_ends_at_the_bound(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    """Unpacking an archive stops at the size limit, and nothing of it remains."""
    store = Store(tmp_path / "home", max_log_bytes=1_000_000)
    bomb = pack(bytes(50_000_000))
    assert len(bomb) < 100_000
    with pytest.raises(CompileboardError, match="larger than"):
        store.add_log("bomb", io.BytesIO(bomb))
    assert nothing_is_left(store, tmp_path)


def test_an_archive_of_too_many_members_is_refused(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MOST_MEMBERS", 3)
    for pack in (zipped, tarred):
        with pytest.raises(CompileboardError, match="more than 3 members"):
            store.add_log("x", io.BytesIO(pack({f"{index}.log": b"" for index in range(4)})))
    assert nothing_is_left(store, tmp_path)


def test_a_zip_with_a_long_list_of_members_is_not_read_into_memory(store: Store) -> None:
    made = bytearray(zipped({"a.log": LOG}))
    struct.pack_into("<L", made, made.rindex(b"PK\x05\x06") + 12, 1 << 30)
    with pytest.raises(CompileboardError, match="too many members"):
        store.add_log("x.zip", io.BytesIO(bytes(made)))


@pytest.mark.parametrize("size", ["77777777777", "-0000000010"])
def test_a_tar_header_of_any_size_takes_no_memory_and_ends(store: Store, tmp_path: Path, size: str) -> None:
    made = bytearray(tarred({"pax": LOG[:512]}))
    made[124:136] = size.encode() + b"\0"
    made[156:157] = tarfile.XHDTYPE
    made[148:156] = b"        "
    made[148:156] = f"{sum(made[:512]):06o}\0 ".encode()
    with pytest.raises(CompileboardError):
        store.add_log("x.tar", io.BytesIO(bytes(made)))
    assert nothing_is_left(store, tmp_path)


def test_archives_in_an_archive_stay_packed(store: Store, tmp_path: Path) -> None:
    with pytest.raises(CompileboardError, match=r"holds no \.log file"):
        store.add_log("x.zip", io.BytesIO(zipped({"inner.zip": zipped({"a.log": LOG})})))
    assert nothing_is_left(store, tmp_path)


def test_a_member_without_a_name_is_damage(store: Store, tmp_path: Path) -> None:
    made = zipped({"a": LOG}).replace(b"a", b"\0")
    with pytest.raises(CompileboardError, match="damaged"):
        store.add_log("x.zip", io.BytesIO(made))
    assert nothing_is_left(store, tmp_path)


def test_a_zip_with_a_dictionary_of_any_size_is_refused(store: Store) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.log", LOG)
    with pytest.raises(CompileboardError, match=r"compression method \(14\) that is not read"):
        store.add_log("x.zip", io.BytesIO(data.getvalue()))


def test_an_encrypted_zip_is_refused_in_words(store: Store) -> None:
    made = bytearray(zipped({"a.log": LOG}))
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        made[made.index(signature) + at] |= 1
    with pytest.raises(CompileboardError, match="damaged or an encrypted archive"):
        store.add_log("x.zip", io.BytesIO(bytes(made)))


PACKED = {
    "gzip": gzip.compress(LOG[:4000]),
    "zstd": zstd.compress(LOG[:4000]),
    "zip": zipped({"a/trace.log": LOG[:4000], "b.log": RECORD}),
    "tar": tarred({"a/trace.log": LOG[:1000], "link": linked("l", "a"), "b.log": RECORD}),
    "tar.gz": gzip.compress(tarred({"a/trace.log": LOG[:4000], "b.log": RECORD})),
}


@pytest.mark.promise("logs")
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(PACKED)), st.data())
def test_a_damaged_archive_is_a_run_or_nothing(tmp_path: Path, kind: str, data: st.DataObject) -> None:
    """A damaged archive becomes a run or leaves nothing."""
    made = bytearray(PACKED[kind])
    for _ in range(data.draw(st.integers(0, 4))):
        made[data.draw(st.integers(4, len(made) - 1))] = data.draw(st.integers(0, 255))
    end = data.draw(st.one_of(st.just(len(made)), st.integers(4, len(made))))
    store = Store(tmp_path / "home", max_log_bytes=10_000_000)
    try:
        store.add_log(kind, io.BytesIO(bytes(made[:end])))
        for run, _ in store.list():
            store.delete(run)
    except CompileboardError as error:
        assert str(error)
    assert nothing_is_left(store, tmp_path)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.text(min_size=1, max_size=40), st.just(RECORD), min_size=1, max_size=4), st.booleans())
def test_names_in_an_archive_stay_within_the_run(tmp_path: Path, files: dict[str, bytes], zips: bool) -> None:
    store = Store(tmp_path / "home")
    try:
        made = zipped(files) if zips else tarred(files)
    except (ValueError, IndexError):
        # Python writes no archive with such a name.
        return
    try:
        store.delete(store.add_log("x", io.BytesIO(made)))
    except CompileboardError as error:
        assert str(error)
    assert nothing_is_left(store, tmp_path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"notes\n"])
def test_what_is_no_log_leaves_nothing(store: Store, tmp_path: Path, content: bytes) -> None:
    with pytest.raises(CompileboardError):
        store.add_log("x.log", io.BytesIO(content))
    assert nothing_is_left(store, tmp_path)


def report_of(store: Store, folder: Path) -> Report:
    return open_report(store.add_path(folder))


def tlparsed(folder: Path) -> Path:
    """A directory as tlparse writes it: an index of records, payloads in files."""
    (folder / "-_0_0_0").mkdir(parents=True)
    (folder / "-_0_0_0" / "dynamo_output_graph_0.txt").write_text(GRAPH)
    highlighted = f"<pre>{GRAPH.replace('&', '&amp;').replace('torch', '<b>torch</b>')}</pre>"
    (folder / "-_0_0_0" / "aot_inference_graph_1.html").write_text(highlighted)
    at = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0, "thread": 7, "pathname": " a.py", "lineno": 3}
    stack = [{"line": 1, "name": "f", "filename": 0, "loc": "f(x)"}]
    records = [
        {"string_table": ["/home/me/model.py"]},
        {"dynamo_start": {"stack": stack}, "timestamp": "2026-11-26T07:35:47.755000Z", **at},
        {"dynamo_output_graph": {"sizes": {}}, "has_payload": md5_of(GRAPH), **at}
        | {"payload_filename": "-_0_0_0/dynamo_output_graph_0.txt"},
        {"aot_inference_graph": {}, "has_payload": md5_of(GRAPH), **at}
        | {"payload_filename": "-_0_0_0/aot_inference_graph_1.html"},
        {"artifact": {"name": "gone"}, "has_payload": "0" * 32, "payload_filename": "../../secret", **at},
    ]
    (folder / "raw.jsonl").write_text("\n".join(json.dumps(record) for record in records) + "\nno json\n")
    return folder


def test_a_directory_of_tlparse_with_its_log_is_the_log(store: Store, tmp_path: Path) -> None:
    folder = tlparsed(tmp_path / "tl_out")
    (folder / "raw.log").write_bytes(LOG)
    run = store.add_path(folder)
    assert (run.trace_dir / "opened.log").read_bytes() == LOG


def test_a_directory_of_tlparse_without_its_log_is_read_from_its_index(store: Store, tmp_path: Path) -> None:
    report = report_of(store, tlparsed(tmp_path / "tl_out"))
    (compilation,) = report.compilations
    assert [graph.id for graph in compilation.graphs] == ["dynamo_output_graph", "aot_inference_graph"]
    assert compilation.frame.file == "/home/me/model.py"
    assert report.problems == ()
    assert report.notes == (
        "Made from tlparse's raw.jsonl, since raw.log is not there; 2 payloads are there only as HTML, or missing: "
        "gone, unreadable line.",
    )


def test_a_directory_of_tlparse_without_log_and_index_is_read_from_its_files(store: Store, tmp_path: Path) -> None:
    folder = tlparsed(tmp_path / "tl_out")
    (folder / "raw.jsonl").unlink()
    (folder / "compile_directory.json").write_text("{}")
    (folder / "-_0_0_0" / "inductor_output_code_cabc_2.html").write_text("<pre># AOT ID: [&#39;0_inference&#39;]</pre>")
    (folder / "-_0_0_0" / "compilation_metrics_3.html").write_text("<p>metrics</p>")
    report = report_of(store, folder)
    (compilation,) = report.compilations
    assert [graph.id for graph in compilation.graphs] == ["dynamo_output_graph", "aot_inference_graph"]
    assert (report.kinds["inductor_output_code"], compilation.status) == (1, "ok")
    assert report.notes[0].startswith("raw.log and raw.jsonl of tlparse's directory are missing")


def test_a_lone_index_of_tlparse_opens_and_names_missing_payloads(store: Store, tmp_path: Path) -> None:
    lone = tmp_path / "raw.jsonl"
    lone.write_bytes((tlparsed(tmp_path / "tl_out") / "raw.jsonl").read_bytes())
    report = report_of(store, lone)
    assert [compilation.frame.name for compilation in report.compilations] == ["f"]
    assert "4 payloads are there only as HTML, or missing" in report.notes[0]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{\n "schemaVersion": 1, "deviceProperties": [], "traceEvents": []}', "core profile RUN FILE"),
        (b'[{"ph": "X", "name": "a"}]', "Chromium events"),
        (b'{"event_type": "compilation", "payload": {}}\n', "tritonparse"),
        (b"\x80\x04\x95cos\nsystem\n", "never unpickles"),
    ],
)
def test_a_file_of_another_tool_is_named_with_a_way_to_use_it(
    store: Store, tmp_path: Path, data: bytes, words: str
) -> None:
    file = tmp_path / "file"
    file.write_bytes(data)
    with pytest.raises(CompileboardError, match=words):
        store.add_path(file)
    assert store.list() == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("compile_directory.json", "without `raw.log`"),
        ("full_code_for_f_0.py", "depyf"),
        ("fxgraph/ab/x", "cache directory of Inductor"),
        ("notes.txt", "no directory of tlparse"),
    ],
)
def test_a_directory_of_another_tool_is_named(store: Store, tmp_path: Path, name: str, words: str) -> None:
    file = tmp_path / "folder" / name
    file.parent.mkdir(parents=True)
    file.write_text("x")
    with pytest.raises(CompileboardError, match=words):
        store.add_path(tmp_path / "folder")


def debug_directory(folder: Path) -> Path:
    for name, direction in (("model__0_forward_1.0", "forward"), ("model__0_backward_3.1", "backward")):
        model = folder / "run_2026-pid_1" / "torchinductor" / name
        model.mkdir(parents=True)
        (model / "fx_graph_readable.py").write_text(GRAPH)
        (model / "fx_graph_transformed.py").write_text(GRAPH)
        (model / "ir_pre_fusion.txt").write_text("op0: SchedulerNode(ComputedBuffer)\n")
        (model / "output_code.py").write_text(f"# AOT ID: ['0_{direction}']\nimport torch\n")
    (folder / "run_2026-pid_1" / "torchdynamo").mkdir()
    (folder / "run_2026-pid_1" / "torchdynamo" / "debug.log").write_text("dynamo\n")
    return folder


def test_a_debug_directory_becomes_a_log(store: Store, tmp_path: Path) -> None:
    run = store.add_path(debug_directory(tmp_path / "torch_compile_debug"))
    report = open_report(run)
    (compilation,) = report.compilations
    assert [(graph.stage, graph.direction) for graph in compilation.graphs] == [
        ("before_post_grad_graph", "forward"),
        ("inductor_post_grad_graph", "forward"),
        ("before_post_grad_graph", "backward"),
        ("inductor_post_grad_graph", "backward"),
    ]
    assert [file.name for file in report.debug_files if file.name.startswith("ir")] == ["ir_pre_fusion.txt"] * 2
    assert report.notes[0].startswith("Made from a TORCH_COMPILE_DEBUG directory")
    assert run.status().origin == "Not read: run_2026-pid_1/torchdynamo/debug.log."
    assert (report.problems, report.unparsed) == ((), {})


SCHEDULED = """op0: SchedulerNode(ComputedBuffer)
op0.writes = [MemoryDep('buf0', c0, {c0: 32})]
op0.unmet_dependencies = []
op0.met_dependencies = [StarDep(name='x', mode=None)]
op0.outputs = [
    buf0: ComputedBuffer
    buf0.layout = FixedLayout('cpu', torch.float32, size=[4, 8], stride=[8, 1])
]


op1: SchedulerNode(ComputedBuffer)
op1.writes =
    [   MemoryDep('buf1', c0, {c0: 32})]
op1.unmet_dependencies = [MemoryDep('buf0', c0, {c0: 32})]
op1.met_dependencies = []
op1.outputs = [
    buf1: ComputedBuffer
    buf1.layout = FixedLayout('cpu', torch.float32, size=[4, 8], stride=[8, 1])
]


"""
FUSED = f"""op0_op1: FusedSchedulerNode(SchedulerNode,SchedulerNode)
op0_op1.writes = [MemoryDep('buf0', c0, {{c0: 32}}), MemoryDep('buf1', c0, {{c0: 32}})]
op0_op1.unmet_dependencies = []
op0_op1.met_dependencies = [StarDep(name='x', mode=None)]
op0_op1.snodes[0] =
{SCHEDULED.partition("op1:")[0].rstrip()}
op0_op1.snodes[1] =
op1:{SCHEDULED.partition("op1:")[2]}"""
READABLE = 'class <lambda>(torch.nn.Module):\n    def forward(self, x: "f32[4, 8]"):\n        return (x,)\n'
CODE = "import torch\nextern_kernels.mm(a, b, out=c)\n"


def other_directory(folder: Path, *models: str) -> Path:
    for name in models:
        model = folder / "run_1" / "torchinductor" / name
        model.mkdir(parents=True)
        (model / "fx_graph_readable.py").write_text(READABLE)
        (model / "fx_graph_transformed.py").write_text(READABLE)
        (model / "ir_pre_fusion.txt").write_text(SCHEDULED)
        (model / "ir_post_fusion.txt").write_text(FUSED)
        (model / ("output_code.cpp" if "___" in name else "output_code.py")).write_text(CODE)
    return folder


@pytest.mark.parametrize("name", ["AlbertForQuestionAnswering", "resnet18", "my-model", "model"])
def test_a_debug_directory_opens_with_any_name_of_the_model(store: Store, tmp_path: Path, name: str) -> None:
    folder = other_directory(tmp_path / "debug", f"{name}__0_forward_1.0", f"{name}__0_backward_3.1")
    report = open_report(store.add_path(folder))
    (compilation,) = report.compilations
    assert [graph.direction for graph in compilation.lowered_graphs] == ["forward", "backward"]
    assert compilation.status == "ok"
    assert sentence(verdict(report)).startswith("2 graphs of Inductor, graph breaks not recorded")
    assert verdict(report).recompiles is None


def test_the_graphs_of_an_aotinductor_package_open(store: Store, tmp_path: Path) -> None:
    report = open_report(store.add_path(other_directory(tmp_path / "debug", "model___0.0", "model___1.1")))
    assert [compilation.id for compilation in report.compilations] == ["0/0", "1/0"]
    assert sentence(verdict(report)).startswith("2 graphs of Inductor, ")


def test_the_fusion_of_a_debug_directory_is_that_of_its_two_files(store: Store, tmp_path: Path) -> None:
    report = open_report(store.add_path(other_directory(tmp_path / "debug", "resnet18__0_inference_1.0")))
    (schedule,) = report.compilations[0].schedules
    assert [(node.name, node.reads, node.writes) for node in schedule.before] == [
        ("op0", (("x", 128),), (("buf0", 128),)),
        ("op1", (("buf0", 128),), (("buf1", 128),)),
    ]
    assert [(node.name, node.kind, node.nodes) for node in schedule.after] == [
        ("op0_op1", "FusedSchedulerNode", ("op0", "op1"))
    ]
    assert (report.problems, report.unparsed) == ((), {})


def vllm_directory(folder: Path, *names: str) -> Path:
    for name in names:
        graphs = folder / name / "graphs"
        graphs.mkdir(parents=True)
        (graphs / "index.md").write_text("# graphs\n")
        for stage, label in (("0000_before_split", "before_split"), ("0001_4711_post_grad", "post_grad.NoOp.before")):
            printed = f"TRACED GRAPH\n ===== {label} =====\n <eval_with_key>.5 {GRAPH}"
            (graphs / f"{stage}.raw.py").write_text(printed)
            (graphs / f"{stage}.structured.txt").write_text("layers.0\n")
            (graphs / f"{stage}.metadata.json").write_text(json.dumps({"name": label}))
    return folder


def test_a_directory_of_vllm_becomes_a_log_for_each_rank(store: Store, tmp_path: Path) -> None:
    run = store.add_path(vllm_directory(tmp_path / "dumps", "rank_0_dp_0", "rank_1_dp_0"))
    report = open_report(run)
    assert (run.ranks(), run.status().origin) == ((0, 1), "")
    assert [kind for kind in report.kinds if kind.startswith("graph_dump")] == [
        "graph_dump:before_split",
        "graph_dump:post_grad.NoOp.before",
    ]
    log = run.log_of(0).read_text()
    assert "\tclass GraphModule(torch.nn.Module):\n" in log
    assert "TRACED GRAPH" not in log
    assert report.notes[0].startswith("Made from a directory of vLLM's graph dumps")
    assert report.problems == ()


def test_a_single_rank_of_vllm_is_one_log(store: Store, tmp_path: Path) -> None:
    assert store.add_path(vllm_directory(tmp_path / "dumps", "rank_0_dp_0")).ranks() == ()


def test_a_dump_may_be_in_an_archive(store: Store, tmp_path: Path) -> None:
    folder = debug_directory(tmp_path / "torch_compile_debug")
    packed = shutil.make_archive(str(tmp_path / "debug"), "gztar", folder.parent, folder.name)
    assert len(open_report(store.add_path(Path(packed))).compilations) == 1


def test_a_dump_that_grows_beyond_the_bound_is_refused(tmp_path: Path) -> None:
    folder = vllm_directory(tmp_path / "dumps", "rank_0_dp_0")
    store = Store(tmp_path / "home", max_log_bytes=200)
    with pytest.raises(CompileboardError, match="larger than"):
        store.add_path(folder)
    assert store.list() == []


def test_a_path_that_cannot_be_read_says_so(store: Store, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"none\.log cannot be read: No such file"):
        store.add_path(tmp_path / "none.log")


def test_a_directory_may_follow_its_file_in_an_archive(store: Store, tmp_path: Path) -> None:
    made = tarred({"a/b/x.log": LOG, "a": linked("a", "", tarfile.DIRTYPE), "c/d": linked("c/d", "", tarfile.DIRTYPE)})
    assert (store.add_log("log.tar", io.BytesIO(made)).log_path() or tmp_path).read_bytes() == LOG
