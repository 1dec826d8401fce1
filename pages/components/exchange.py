"""JavaScript modules of the components, served unchanged, and values shared with the browser.

Streamlit runs a component's script from an address where relative imports don't resolve. So the script only imports
the component's module from our own route. The route's address contains a digest of all modules, so browsers may cache
them.
"""

import hashlib
from collections.abc import Callable, Container, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import streamlit as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

Wish = TypeVar("Wish")
HERE = Path(__file__).parent
MODULES = {path.relative_to(HERE).as_posix(): path.read_bytes() for path in sorted(HERE.rglob("*.js"))}
VERSION = hashlib.sha256(b"\0".join(MODULES.values())).hexdigest()[:16]
CACHED = {"cache-control": "private, max-age=31536000, immutable"}


def component_script(file: Path) -> str:
    """Return a script that calls the draw function (default export) of a component's module."""
    name = file.relative_to(HERE).as_posix()
    return (
        f'const {{ default: draw }} = await import(new URL("components/{VERSION}/{name}", document.baseURI));\n'
        "export default (component) => draw({ ...component, data: component.data[0] });\n"
    )


def component(folder: Path) -> Callable[..., Any]:
    """Register the component of a folder, with its `view.css` and `view.js`, by the folder's name."""
    css = (folder / "view.css").read_text(encoding="utf-8")
    return st.components.v2.component(f"compileboard_{folder.name}", css=css, js=component_script(folder / "view.js"))


def message(data: Any) -> list[Any]:
    """Return a component's data in a list, where Streamlit looks for no data frames."""
    return [msgspec.to_builtins(data)]


def module_routes(base: str = "") -> list[Route]:
    """Return the route of the modules below `base`, the server's own path."""
    start = f"/{base.strip('/')}" if base.strip("/") else ""
    return [Route(f"{start}/components/{VERSION}/{{name:path}}", _module)]


async def _module(request: Request) -> Response:
    module = MODULES.get(request.path_params["name"])
    if module is None:
        return PlainTextResponse("Not found", 404)
    return Response(module, headers=CACHED, media_type="text/javascript")


def first_wish(key: str, wish: Wish) -> Wish:
    """Return the first value that a caller passed for this key; later, the browser owns it."""
    memory = f"{key}-initial"
    if key not in st.session_state or memory not in st.session_state:
        st.session_state[memory] = wish
    first: Wish = st.session_state[memory]
    return first


def ignore() -> None:
    """Do nothing: Streamlit keeps a component's state only with a callback."""


def browser_value(key: str, name: str) -> Any:
    """Return the value that the browser sent last for the view of this key.

    None before the view is drawn, and after a change of the page, since Streamlit then drops the value.
    """
    state = st.session_state.get(key)
    return state.get(name) if isinstance(state, Mapping) else None


def when_picked(key: str, name: str, choices: Container[object], pick: Callable[[str], None]) -> Callable[[], None]:
    """Return a callback that calls `pick` with the browser's choice if it is one of `choices`."""

    def picked() -> None:
        value = browser_value(key, name)
        if isinstance(value, str) and value in choices:
            pick(value)

    return picked
