"""Backend field of a form: a named backend, whose code is shown if it is built in, or a custom one.

A custom backend is written in the form, or defined in the model's file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from core import SHIPPED_BACKENDS, CompileJob
from pages.components.code.editor import code_editor
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.look.sizes import MAX_LINE_CHARS, SHORT, TALL
from pages.parts.run.fields import AS_FILE, OWN
from pages.session.state import held, hold

CONVENTION = (
    "Any callable `(gm, example_inputs)` that returns a callable: torch gives it a graph, and calls what it returns at "
    "each call whose guards hold."
)
NAME = "backend"
START = "template"
WRITTEN, IN_FILE = "Written here", "In the model's file"
EDITED = "this run's"
# The last typed text of any page.
DRAFT = "backend-draft"


@dataclass(frozen=True, slots=True)
class BackendChoice:
    """A backend's name, and its code if it is custom."""

    name: str
    code: str = ""


LEFT = BackendChoice("")


def chosen_backend(choice: str, start: CompileJob, key: str) -> BackendChoice:
    """Draw the form's backend field, and return the chosen backend; `LEFT` if the file decides.

    Also draw an editor for a custom backend, and the code of a built-in one.
    """
    if choice == AS_FILE:
        return LEFT
    if choice != OWN:
        shipped_code(choice, key)
        return BackendChoice(choice)
    with st.container(border=True, key=f"{key}-own"):
        if start.model.kind != "sample" and _way(start, key) == IN_FILE:
            return BackendChoice(_name(start, key))
        return own_code(start, key)


def of_a_job(choice: str, start: CompileJob, key: str) -> BackendChoice:
    """Return the backend that the form had chosen when last drawn.

    The code of a custom backend is the text before editing: only use it to check if there is code.
    """
    if choice != OWN:
        return LEFT if choice == AS_FILE else BackendChoice(choice)
    here = held(f"{key}-own-way", WRITTEN) != IN_FILE
    code = start.compile.backend_code or shipped_text(START) if here else ""
    return BackendChoice(held(f"{key}-own-name", _first_name(start)), code)


def _way(start: CompileJob, key: str) -> str:
    st.caption(CONVENTION)
    ways = [WRITTEN, IN_FILE]
    return st.segmented_control("Where is the backend?", ways, default=WRITTEN, key=f"{key}-own-way") or WRITTEN


def own_code(start: CompileJob, key: str, most: int = TALL) -> BackendChoice:
    """Draw an editor for a backend, initially with the job's or a built-in one; typed text is stored."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        begins = _begins(start)
        begin = st.selectbox("Begin with", begins, key=f"{key}-own-begin", width=190) or begins[0]
        name = _name(start, key)
    kept = f"{key}-own-code-{begin}"
    first = start.compile.backend_code if begin == EDITED else shipped_text(begin)
    if begin == START:
        first = held(DRAFT, first)

    def keep(code: str) -> None:
        hold(kept, code)
        if begin == START:
            hold(DRAFT, code)

    editor = f"{kept}-editor"
    code = code_editor(held(kept, first), label="Backend", key=editor, least=SHORT, most=most, keep=keep)
    return BackendChoice(name, code)


def _begins(start: CompileJob) -> list[str]:
    """Return the backends to start editing from; the job's comes first if it can be edited."""
    asked = start.compile
    own = [EDITED] if asked.backend_code else [asked.backend] if asked.backend in SHIPPED_BACKENDS else []
    return list(dict.fromkeys([*own, *SHIPPED_BACKENDS]))


def _name(start: CompileJob, key: str) -> str:
    first = _first_name(start)
    most = max(MAX_LINE_CHARS, len(first))
    return st.text_input("Name of the callable", first, key=f"{key}-own-name", width=190, max_chars=most).strip()


def _first_name(start: CompileJob) -> str:
    return start.compile.backend if start.compile.backend_code else NAME


def shipped_text(name: str) -> str:
    """Return the code of a built-in backend."""
    return SHIPPED_BACKENDS[name].path.read_text(encoding="utf-8")


def shipped_code(name: str, key: str) -> None:
    """Draw the code of a built-in backend, folded; nothing for other backends."""
    if name not in SHIPPED_BACKENDS:
        return
    with st.expander(f"The backend `{name}` {SHIPPED_BACKENDS[name].words}", icon=":material/menu_book:"):
        picture = CodePicture(f"{name}.py", "python", code_lines(shipped_text(name)))
        code_view(picture, key=f"{key}-shipped-{name}", height=TALL)


def with_backend(job: CompileJob, chosen: BackendChoice) -> CompileJob:
    """Return the job with another backend.

    Its mode, options and target are removed: they belong to the previous backend, and targets need Inductor.
    """
    changed = job.with_settings(backend=chosen.name, backend_code=chosen.code, mode=None, options=None)
    return replace(changed, target="")
