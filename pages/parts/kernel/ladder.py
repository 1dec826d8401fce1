"""The forms of one kernel: rungs side by side with linked lines, the passes between them, its configs, its assembly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from core.base import words as fmt
from core.report import Autotuning, Choice
from core.runs.tools import AssemblyAnswer, ConfigsAnswer, LadderAnswer, Loop, PassesAnswer, Resources, Rung
from pages.components.code.view import CodePicture, Mark, code_lines, code_view
from pages.look.sizes import SHORT, TALL
from pages.look.text import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain
from pages.parts.code import diff_view
from pages.session.tables import in_words, picked

CHANNEL = "ladder"
RUNG_WORDS = {
    "python": "Triton Python",
    "ttir": "TTIR",
    "ttgir": "TTGIR",
    "llir": "LLVM IR",
    "ptx": "PTX",
    "sass": "SASS",
    "amdgcn": "AMDGCN",
    "cpp": "C++",
    "asm": "assembly",
}
LANGUAGES = {
    "python": "python",
    "ttir": "llvm",
    "ttgir": "llvm",
    "llir": "llvm",
    "ptx": "ptx",
    "amdgcn": "amdgpu",
    "cpp": "cpp",
    "asm": "gas",
}
VECTOR = {"explicit": "at::vec", "vectorised": "by the compiler", "scalar": "scalar"}


def rung_view(
    rung: Rung, key: str, marks: Mapping[int, Mark] | None = None, notes: Mapping[int, str] | None = None
) -> None:
    """Draw a rung as code; a line selects the lines of other rungs that come from the same source line."""
    links = {number: (f"s:{line}",) for number, line in rung.lines.items()}
    lines = code_lines(rung.text, prefix=rung.name, links=links, marks=marks, notes=notes)
    code_view(
        CodePicture(RUNG_WORDS.get(rung.name, rung.name), LANGUAGES.get(rung.name, ""), lines),
        key=key,
        height=TALL,
        channel=CHANNEL,
    )
    if rung.left_out:
        st.caption(f"{fmt.count(rung.left_out, 'more line')} not shown.")


def ladder_view(answer: LadderAnswer, key: str) -> None:
    """Draw two rungs side by side, the machine code's resources, and the files behind it."""
    st.caption(f"Compiled for {plain(answer.target)} on this machine; not run. {resource_words(answer.resources)}")
    if answer.problem:
        st.warning(plain(answer.problem, LONGEST_TEXT), icon=":material/warning:")
    rungs = {rung.name: rung for rung in answer.rungs}
    for column, side, default in zip(st.columns(2, gap="medium"), ("left", "right"), _ends(list(rungs)), strict=True):
        with column:
            name = st.segmented_control(
                side,
                list(rungs),
                default=default,
                format_func=lambda rung: RUNG_WORDS.get(rung, rung),
                key=f"{key}-{side}",
                label_visibility="collapsed",
            )
            rung_view(rungs[name or default], f"{key}-{side}-{name or default}")
    _files(answer, key)


def _ends(names: Sequence[str]) -> tuple[str, str]:
    return names[0], names[-1]


def _files(answer: LadderAnswer, key: str) -> None:
    """Draw the files that Triton left in its cache for this kernel."""
    with st.expander(f"{fmt.count(len(answer.files), 'file')} that Triton cached"):
        st.dataframe(
            in_words(
                pd.DataFrame(
                    [{"file": one_line(file.name, LONGEST_LINE), "size": file.size_bytes} for file in answer.files]
                ),
                {"size": fmt.bytes_},
            ),
            hide_index=True,
        )
        texts = {file.name: file.text for file in answer.files if file.text}
        texts |= {f"{rung.name}, as above": rung.text for rung in answer.rungs}
        name = st.selectbox(
            "Open", list(texts), format_func=lambda text: one_line(text, LONGEST_LINE), key=f"{key}-file"
        )
        if name:
            st.code(texts[name], language=None, height=SHORT)


def resource_words(resources: Resources | None) -> str:
    """Return registers, spills, shared memory and occupancy in one sentence."""
    if resources is None:
        return "What it takes of the device was not said."
    parts = [
        f"{fmt.count(resources.registers or 0, 'register')} a thread",
        _spill_words(resources),
        f"{fmt.bytes_(resources.shared_bytes)} of shared memory a block",
    ]
    if resources.occupancy is not None:
        parts.append(f"theoretical occupancy {fmt.percent(resources.occupancy)}")
    return ", ".join(parts) + "."


def _spill_words(resources: Resources) -> str:
    said = {"stores": resources.spill_store_bytes, "loads": resources.spill_load_bytes}
    if not any(value is not None for value in said.values()):
        return "spills not said"
    spilled = [f"{fmt.bytes_(value)} of spill {what}" for what, value in said.items() if value]
    return " and ".join(spilled) or "no spills"


def passes_view(answer: PassesAnswer, key: str) -> None:
    """Draw the passes that changed the module, and the diff of the chosen one."""
    st.caption(
        f"{fmt.count(len(answer.changes) + answer.left_out, 'pass', 'passes')} of {answer.ran} changed the module, "
        f"compiled for {plain(answer.target)}. Debug locations are left out."
    )
    if not answer.changes:
        return
    left, right = st.columns([3, 7], gap="medium")
    rows = [
        {"pass": one_line(change.name, LONGEST_NAME), "+": change.added, "−": change.removed}
        for change in answer.changes
    ]
    with left:
        index = picked(pd.DataFrame(rows), range(len(rows)), f"{key}-list", height=TALL) or 0
    change = answer.changes[index]
    with right:
        diff_view(f"{change.name} ({change.argument})", change.diff, f"{key}-{index}", change.left_out)


def configs_view(answer: ConfigsAnswer, measured: Autotuning | None) -> None:
    """Draw every config with its figures, and its time if the run measured it; the chosen one is marked."""
    times: dict[str, Choice] = {choice.name: choice for choice in measured.choices} if measured else {}
    rows = [_config_row(index, answer, times) for index in range(len(answer.configs))]
    count = fmt.count(len(rows), "config")
    timed = "times are those of the run's autotuning" if times else "none was timed: that takes the device"
    st.caption(f"{count} for {plain(answer.target)}; {timed}.")
    st.dataframe(
        in_words(
            pd.DataFrame(rows),
            {
                "spill stores": fmt.bytes_,
                "spill loads": fmt.bytes_,
                "shared memory": fmt.bytes_,
                "occupancy": fmt.percent,
                "time": fmt.duration_s,
            },
        ),
        hide_index=True,
        column_config={"occupancy": st.column_config.NumberColumn(help="Theoretical")},
    )


def _config_row(index: int, answer: ConfigsAnswer, times: Mapping[str, Choice]) -> dict[str, object]:
    config = answer.configs[index]
    choice, figures = times.get(config.name), config.resources
    return {
        "config": index,
        "": "chosen" if choice and choice.chosen else "",
        "settings": one_line(config.words, LONGEST_LINE),
        "time": choice.time_s if choice else None,
        "registers": figures.registers if figures else None,
        "spill stores": figures.spill_store_bytes if figures else None,
        "spill loads": figures.spill_load_bytes if figures else None,
        "shared memory": figures.shared_bytes if figures else None,
        "occupancy": figures.occupancy if figures else None,
        "problem": one_line(config.problem, LONGEST_TEXT),
    }


def assembly_view(answer: AssemblyAnswer, key: str) -> None:
    """Draw the source with its loops marked, and its assembly beside it."""
    vectorised = [loop for loop in answer.loops if loop.kind != "scalar"]
    parallel = f"{fmt.count(len(answer.outlined), 'OpenMP region')} outlined" if answer.outlined else "no OpenMP region"
    st.caption(f"{fmt.number(len(vectorised))} of {fmt.count(len(answer.loops), 'loop')} vectorised; {parallel}.")
    left, right = st.columns(2, gap="medium")
    with left:
        lines = {number: number for number in range(1, answer.source.count("\n") + 2)}
        notes = {loop.line: loop_words(loop) for loop in answer.loops}
        notes |= {region.line: f"OpenMP: {region.pragma.removeprefix('omp ')}" for region in answer.regions}
        marks: dict[int, Mark] = {loop.line: "ok" if loop.kind != "scalar" else "info" for loop in answer.loops}
        rung_view(Rung("cpp", answer.source, lines), f"{key}-cpp", marks, notes)
    with right:
        rung_view(answer.assembly, f"{key}-asm")
    with st.expander("The compiler's command"):
        st.code(answer.command, language=None, wrap_lines=True)
    if answer.outlined:
        st.caption(
            "OpenMP regions as functions: " + ", ".join(code(name, LONGEST_NAME) for name in answer.outlined[:12])
        )


def loop_words(loop: Loop) -> str:
    """Describe a loop: vectorised and how, or why not."""
    tail = "tail: " if loop.tail else ""
    if loop.kind == "scalar":
        return f"{tail}not vectorised: {loop.words}"
    width = f"{loop.width_bytes}-byte vectors" if loop.width_bytes else "vectors of a width that is not said"
    how = "written as" if loop.kind == "explicit" else "by the compiler:"
    return f"{tail}vectorised with {width}, {how} {loop.words}"
