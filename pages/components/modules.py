"""JavaScript modules of the components, served unchanged.

Streamlit runs a component's script from an address where relative imports don't resolve. So the script only imports
the component's module from our own route. The route's address contains a digest of all modules, so browsers may cache
them.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

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


def message(data: Any) -> list[Any]:
    """Return a component's data for Streamlit, in a list, which `component_script` unwraps.

    Streamlit imports pandas to look for data frames in a dictionary's values, but not in a list.
    """
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
