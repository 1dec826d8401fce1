"""The kernel ledger in sentences, rows and chart data."""

from dataclasses import replace

from core.analysis.kernels.ledger import ledger
from core.analysis.speed import LedgerSum, summary
from core.base.machine import Load
from core.code.cpp import Loop
from core.report import Bandwidth
from core.runs.tools.tasks import AssemblyAnswer, Rung
from core.trace.parsers.build import load_graph
from core.views.kernels import KernelsView, KernelView
from core.views.kernels.ledger import call_words, distinct_levels, worst_words
from core.views.kernels.results import line_notes, result_blocks
from pages.look.palette import ACCENT
from pages.parts.kernels.ledger import call_bar
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.timed import GELU, ITEM, MM, REPORT
from tests.support.tables import text_of

KERNELS = KernelsView(REPORT, ITEM, ledger(REPORT, ITEM))


def test_the_kernel_with_the_most_time_above_the_roofline_is_named() -> None:
    rows = KERNELS.rows
    assert [row.name for row in rows] == [MM.name, GELU.name]
    assert worst_words(rows[1:]) == "Largest excess: `gelu` takes 2.00 ms; the roofline allows 1.60 ms."
    assert worst_words(rows) == "Largest excess: `up · mm` takes 2.50 ms; the roofline allows 2.00 ms."
    assert worst_words([replace(rows[0], allowed_s=None)]) == worst_words([]) == ""


def test_title_and_caption_sum_up_the_ledger() -> None:
    assert KERNELS.title == "2 kernel launches take 4.50 ms, 900 µs more than the roofline allows."
    assert KERNELS.caption == (
        "Kernels take 77.6 % of a compiled call (5.80 ms). "
        "Largest excess: `up · mm` takes 2.50 ms; the roofline allows 2.00 ms."
    )


def test_a_compiled_call_is_a_sentence_and_its_parts_are_a_bar() -> None:
    bar = call_bar(KERNELS, "light")

    assert (
        'aria-label="kernels 4.50 ms, cold caches 700 µs, wrapper 200 µs, outside 400 µs, beside eager 200 µs"' in bar
    )
    assert f"width:75.0%;background:{ACCENT['light']}" in bar
    assert "the rest of the call: guard checks, the runtime of Dynamo and AOTAutograd, waits for launches" in bar


def test_kernels_that_take_more_than_the_call_are_the_whole_call() -> None:
    total = LedgerSum(kernels_s=6e-3, in_place_s=5e-3, wrapper_s=5e-3, call_s=5.5e-3, steady_s=5.4e-3)
    assert call_words(total) == "Kernels take about all of a compiled call (5.50 ms)."
    assert [(part.name, part.seconds) for part in total.parts] == [("kernels", 5.5e-3)]
    assert call_words(None) == call_words(replace(total, call_s=None)) == ""
    assert call_words(summary(REPORT)) == "Kernels take 77.6 % of a compiled call (5.80 ms)."


def test_pictures_are_those_with_figures_and_areas_are_the_largest_first() -> None:
    assert KERNELS.pictures == ["time", "traffic", "roofline"]
    areas = [(row.name, words) for row, _, words in KERNELS.areas("time", KERNELS.rows)]
    assert areas == [(MM.name, "2.50 ms"), (GELU.name, "2.00 ms")]
    unknown = [replace(row, bytes_read=None, bytes_written=None) for row in KERNELS.rows]
    sizes = [(size, words) for _, size, words in KERNELS.areas("traffic", unknown)]
    assert sizes == [(1.0, "traffic not recorded")] * len(unknown)


def test_rows_are_searched_by_text_and_kind() -> None:
    assert [row.name for row in KERNELS.matches("GELU", [])] == [GELU.name]
    assert [row.name for row in KERNELS.matches("", ["extern"])] == [MM.name]
    assert KERNELS.matches("no kernel", []) == ()


def test_columns_that_are_empty_in_all_rows_are_left_out() -> None:
    table = KERNELS.ledger(KERNELS.rows)
    columns = {column.name: [column.text(row) for row in table.rows] for column in table.shown}
    assert columns["kernel"] == ["up · mm", "gelu"]
    assert "registers" not in columns
    assert columns["timed"][0] == "alone"


def test_a_column_of_zeros_stays_in_the_table() -> None:
    rows = [replace(row, spill_bytes=0) for row in KERNELS.rows]
    assert "spills" in [column.name for column in KERNELS.ledger(rows).shown]


def test_a_level_of_memory_within_noise_of_the_next_is_left_out() -> None:
    near, far = Bandwidth("L2 cache", 1_000_000, 100e9), Bandwidth("memory", None, 25.9e9)
    assert distinct_levels((near, Bandwidth("L3 cache", 30_000_000, 27.1e9), far)) == [near, far]
    assert distinct_levels((near, far)) == [near, far]
    assert distinct_levels((far,)) == [far]


def test_only_generated_kernels_have_a_page() -> None:
    assert [kernel.label for kernel in KernelView.generated(REPORT, ITEM).values()] == [f"gelu ({GELU.name})"]


def test_assembly_has_the_compilers_command_and_counts_its_loops() -> None:
    loops = (Loop(3, 5, "explicit", 64, False, "at::vec"), Loop(7, 9, "scalar", 0, False, "a call"))
    answer = AssemblyAnswer("g++", "g++ -O3 x.cpp", "", Rung("asm", ""), loops, (), ("main._omp_fn.0",))
    lines = text_of(result_blocks(answer)).splitlines()
    assert lines[0] == "1 of 2 loops vectorised; 1 OpenMP region outlined."
    assert "    g++ -O3 x.cpp" in lines
    assert line_notes(answer)[7] == "not vectorised: a call"


def test_times_of_a_busy_machine_are_named_unreliable_in_the_caption() -> None:
    busy = replace(KERNELS, report=replace(REPORT, kernel_load=Load(others=0.9)))
    assert busy.caption.startswith("The times below are not reliable; no finding uses them.")
    assert busy.pictures == ["traffic"]


def test_a_kernels_lines_begin_with_those_of_an_op_or_of_most_ops() -> None:
    log = TRACES / "transformer_block" / "trace.log"
    report = recorded_report(log)
    compilation = report.compilations[0]
    kernel = next(kernel for kernel in compilation.kernels if kernel.name == "cpp_fused_add_native_layer_norm_view_1")
    graph = compilation.graph(kernel.graph)
    assert graph is not None
    nodes = {node.name: node for node in load_graph(log, compilation, graph)}
    view = KernelView(report, compilation, kernel)
    path = next(node.source.file for node in nodes.values() if node.source is not None)
    norm = next(name for name in kernel.origins if "rsqrt" in name)
    assert view.line_in(path, nodes) == view.line_in(path, nodes, norm)
    lines = {view.line_in(path, nodes, name) for name in kernel.origins}
    assert len(lines) > 1
    assert lines <= view.lines_in(path, nodes)
    assert view.line_in("elsewhere.py", nodes) is None
    assert view.called_words(path, nodes) == "Its ops are on lines 46–47 of `model.py`."
    assert view.called_words("elsewhere.py", nodes) == ""
    assert view.elsewhere(path, nodes) == ""
    assert replace(view, kernel=replace(kernel, stacks=())).elsewhere(path, {}) == view.no_line
    assert view.elsewhere("elsewhere.py", nodes) == "Other files: `model.py:30`, `model.py:46`, `model.py:47`."
