"""The kernels page: the ledger in a sentence, a table, pictures, and the source of the selected kernel."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.analysis.kernels.ledger import ledger
from pages import menu
from pages.parts.kernels.ledger import Cell, cell_text, squarified
from tests.support.apps import (
    assert_sound,
    code_of,
    component,
    forget,
    keys,
    opened,
    read_titles,
    read_words,
    sound,
    words,
)
from tests.support.homes import add_run, add_scenario, ceilings, job_of, record
from tests.support.places import TRACES
from tests.support.reports.timed import ITEM, REPORT

PAGE = menu.KERNELS.script
FIRST = "0/0.inference.cpp_fused_native_layer_norm_0"


def timed_log(**fields: Any) -> bytes:
    """The recorded transformer block with times as a worker that measures writes them; `fields` are those of a newer
    record.
    """
    log = (TRACES / "transformer_block" / "trace.log").read_bytes()
    report = json.loads((TRACES / "transformer_block" / "report.json").read_bytes())
    kernels = [kernel for item in report["compilations"] for kernel in item["kernels"]]
    lines = [(kernel["name"], call["line"]) for kernel in kernels for call in kernel["calls"]]
    path = log.partition(b'"inductor_output_code": {"filename": "')[2].partition(b'"')[0].decode()
    times = {
        "schema": 1,
        "path": path,
        "call_s": [1.2e-3] * 3,
        "wrapper_s": [1.1e-3] * 3,
        "calls": 1,
        "kernels": [timed(name, line, index) for index, (name, line) in enumerate(lines)],
        "reason": "",
        **fields,
    }
    return log + record("compileboard_kernel_times", times) + record("compileboard_roofline", ceilings())


def timed(name: str, line: int, index: int) -> dict[str, Any]:
    seconds = (index + 1) * 20e-6
    samples = [seconds, seconds * 1.01, seconds * 0.99]
    return {
        "name": name, "line": line, "calls": 1, "in_place_s": samples, "samples_s": samples, "calls_per_sample": 2,
        "method": "warm", "reason": "",
    }  # fmt: skip


@pytest.fixture(scope="module")
def timed_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A run whose kernels were timed, in a home of its own."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPILEBOARD_HOME", str(home))
        forget()
        yield add_run(home, "timed", timed_log(), job=job_of("transformer_block")).id
    forget()


def shown(app: AppTest) -> list[str]:
    return list(app.dataframe[0].value["generated name"])


def test_the_title_says_what_the_kernels_take_and_waste(timed_run: str) -> None:
    app = opened(PAGE, timed_run)

    assert_sound(app)
    assert read_titles(app) == ["9 kernel launches take 900 µs, 877 µs more than the roofline allows"]
    assert "Kernels take 75.0 % of a compiled call (1.20 ms). Largest excess: " in read_words(app)
    assert any("kernels 900 µs, wrapper 200 µs, outside 100 µs" in item.proto.body for item in app.get("html"))
    told = next(item.help for item in app.caption if item.value.startswith("Kernels take"))
    assert told.replace("\\", "") == (
        "Ceilings measured on a CPU with 2 threads: memory 100 GB/s, `float32` 100 TFLOP/s (by hand)."
    )


def test_without_the_users_code_a_kernel_has_the_frames_of_its_ops(empty_home: Path) -> None:
    log = (TRACES / "transformer_block" / "trace.log").read_bytes()
    (source,) = re.findall(rb"^V.*compileboard_source.*\n(?:\t.*\n)*", log, re.MULTILINE)
    app = opened(PAGE, add_run(empty_home, "block", log.replace(source, b""), job=job_of("transformer_block")).id)

    assert_sound(app)
    assert "The log does not contain your code." in words(app)
    line = "x = x + self.down(F.gelu(self.up(self.norm2(x))))"
    assert [item.value for item in app.text] == [f"/compileboard/run/model.py:47 in forward\n    {line}"]


def test_beside_a_busy_machine_no_waste_is_told(empty_home: Path) -> None:
    log = timed_log(load={"others": 0.6, "waited": 0.3})
    app = opened(PAGE, add_run(empty_home, "timed", log, job=job_of("transformer_block")).id)

    assert_sound(app)
    assert read_titles(app) == ["9 kernel launches; the machine was busy while the kernels were timed"]
    assert "The times below are not reliable; no finding uses them." in read_words(app)
    assert "share" not in app.dataframe[0].value.columns
    assert not any("kernels 9" in item.proto.body for item in app.get("html"))
    assert {"excess time", "of roofline"} & set(app.dataframe[0].value.columns) == set()


def test_the_table_has_the_worst_first_and_only_columns_that_say_something(timed_run: str) -> None:
    app = opened(PAGE, timed_run)
    table = app.dataframe[0].value

    judged = list(table["excess time"].dropna())
    assert (judged, len(judged)) == (sorted(judged, reverse=True), 9)
    assert sorted(table["time"]) == pytest.approx([20e-6 * number for number in range(1, 10)])
    assert list(table.columns)[:4] == ["kernel", "time", "share", "of roofline"]
    assert table["share"].sum() == pytest.approx(1)
    assert set(table["timed"]) == {"alone"}
    assert {"registers", "spills", "shared", "occupancy", "compile"} & set(table.columns) == set()
    gelu = table[table["generated name"] == "cpp_fused_gelu_view_2"].iloc[0]
    assert gelu["kernel"].endswith("gelu")
    assert (gelu["vectors"], gelu["OpenMP"]) == ("1 of 1 loop with 16 lanes, 512 bits", "1 loop")


def test_the_table_can_be_searched_and_filtered_by_kind(timed_run: str) -> None:
    app = opened(PAGE, timed_run)
    app.text_input(key="kernel-search").set_value("gelu").run()
    assert shown(app) == ["cpp_fused_gelu_view_2"]
    app.text_input(key="kernel-search").set_value("").run()
    app.button_group(key="kernel-kinds").set_value(["extern"]).run()
    assert_sound(app)
    assert {name.split(".")[0] for name in shown(app)} == {"extern_kernels"}
    app.button_group(key="kernel-kinds").set_value(["fallback"]).run()
    assert shown(app) == ["torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default"]
    app.text_input(key="kernel-search").set_value("no kernel is called this").run()
    assert_sound(app)


@pytest.mark.parametrize("view", ["time", "traffic", "roofline"])
def test_each_picture_is_drawn_when_it_is_asked_for(timed_run: str, view: str) -> None:
    app = opened(PAGE, timed_run)
    app.button_group(key="view-0/0").set_value([view]).run()

    assert_sound(app)
    assert len(app.get("plotly_chart")) == 1


def test_the_url_selects_the_kernel_whose_source_is_shown(timed_run: str) -> None:
    app = opened(PAGE, timed_run, select=f"k:{FIRST}")

    assert_sound(app)
    assert app.query_params["select"] == f"k:{FIRST}"
    assert component(app, next(key for key in keys(app) if key.startswith("kernel-")))["title"] == FIRST.split(".")[-1]


def test_the_nodes_of_a_kernel_are_python_with_links_to_the_graph(timed_run: str) -> None:
    app = opened(PAGE, timed_run, select="k:0/0.inference.cpp_fused_gelu_view_2")
    nodes = code_of(app, "origins-")
    _, _, pieces, links, *_ = nodes["lines"][1]
    assert (nodes["title"], links) == ("6 FX nodes", ["n:mul_4", "k:0/0.inference.cpp_fused_gelu_view_2"])
    assert "".join(text for _, text in pieces) == "mul_4 = torch.ops.aten.mul.Tensor(view_7, 0.5)"
    assert pieces[-2:] == [["m", "0.5"], ["o", ")"]]


def test_the_worst_kernel_is_shown_until_another_is_selected(timed_run: str) -> None:
    assert opened(PAGE, timed_run).query_params["item"].startswith("k:0/0.inference.")


def test_a_log_without_times_says_so(empty_home: Path) -> None:
    app = opened(PAGE, add_scenario(empty_home, "foreign"))

    assert_sound(app)
    assert "The log does not contain kernel times; Compileboard" in read_words(app).replace("\\", "")


def test_a_run_that_did_not_measure_says_so(empty_home: Path) -> None:
    app = opened(PAGE, add_scenario(empty_home, "transformer_block"))

    assert_sound(app)
    assert 'Kernels were not timed: "measure" was off, or the run ended first' in read_words(app).replace("\\", "")


def test_the_whole_output_code_can_be_shown_and_begins_at_the_kernel(empty_home: Path) -> None:
    run = add_scenario(empty_home, "training_step")
    first = {}
    for whole in ("false", "true"):
        app = sound(opened(PAGE, run, whole=whole))
        first[whole] = {kind: code_of(app, kind) for kind in ("kernel-", "lines-")}
    code = first["true"]["kernel-"]
    assert len(code["lines"]) > 400
    assert code["initial"] == f"c:{first['false']['kernel-']['lines'][0][0]}"
    assert [first[whole]["lines-"]["initial"] is None for whole in first] == [False, True]


def test_cells_of_the_treemap_fill_their_rectangle_each_with_its_part() -> None:
    sizes = [6.0, 6.0, 4.0, 3.0, 2.0, 2.0, 1.0]
    cells = squarified(sizes, 6, 4)

    assert [cell.width * cell.height for cell in cells] == pytest.approx(sizes)
    assert max(max(cell.width / cell.height, cell.height / cell.width) for cell in cells) < 3.2
    assert all(0 <= cell.x <= cell.x + cell.width <= 6 + 1e-9 for cell in cells)
    assert all(0 <= cell.y <= cell.y + cell.height <= 4 + 1e-9 for cell in cells)


def test_cells_of_calls_without_a_size_are_empty() -> None:
    assert squarified([], 6, 4) == []
    assert squarified([0.0, 0.0], 6, 4) == [Cell(0, 0, 0, 0)] * 2
    assert squarified([4.0, 0.0], 6, 4)[0] == Cell(0, 0, 6, 4)


def test_a_cell_is_told_as_much_of_as_fits_and_no_name_is_markup() -> None:
    (row, *_) = ledger(REPORT, ITEM)
    row = replace(row, label="layers.0.mlp.down_proj · <b>mm")
    cells = {
        (1.7, 1.0): "layers.0.mlp.down_proj<br>&lt;b&gt;mm<br>2.50 ms",
        (0.3, 0.2): "…down_proj<br>&lt;b&gt;mm<br>2.50 ms",
        (0.3, 0.1): "&lt;b&gt;mm<br>2.50 ms",
        (0.15, 0.2): "…down_proj<br>&lt;b&gt;mm",
        (0.1, 0.05): "",
    }
    assert {size: cell_text(row, "2.50 ms", Cell(0, 0, *size)) for size in cells} == cells
