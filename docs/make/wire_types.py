"""python -m docs.make.wire_types: write TypeScript types of all messages to the browser.

The types are made from the Python structs.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from functools import reduce
from operator import or_
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from core.views.wire import GraphData
from pages.components.boxes.view import ChipsData, LineageData, StagesData, WayData
from pages.components.code.view import CodeData, EditorData
from pages.components.comments.view import CommentsData
from pages.components.contract.view import ContractData
from pages.components.flame.view import FlameData
from pages.components.graph import routes
from pages.components.keys.view import KeysData
from pages.components.menu.view import MenuData
from pages.components.palette.view import PaletteData, RunEntriesData
from pages.components.progress.view import ProgressData
from pages.components.upload.view import UploadData

FILE = Path(__file__).parents[2] / "pages" / "components" / "js" / "wire.d.ts"
HEAD = "// Written by `make docs` from the structs of pages/components and core.views.wire: messages to the browser.\n"
WORDS: dict[Any, str] = {str: "string", int: "number", float: "number", bool: "boolean", NoneType: "null"}
MESSAGES: tuple[type, ...] = (
    GraphData,
    routes.PlaceData,
    routes.CommandData,
    routes.LevelsData,
    routes.HitsData,
    routes.FoundData,
    routes.PartData,
    routes.ProblemData,
    CodeData,
    EditorData,
    ProgressData,
    FlameData,
    ChipsData,
    CommentsData,
    ContractData,
    KeysData,
    LineageData,
    PaletteData,
    RunEntriesData,
    MenuData,
    StagesData,
    UploadData,
    WayData,
)


def types() -> str:
    """Return all messages as TypeScript, each after the types that it contains."""
    kinds: dict[type, None] = {}
    for message in MESSAGES:
        kinds |= dict.fromkeys(_with_parts(message))
    return "\n".join([HEAD, *map(_declare, kinds)])


def _with_parts(kind: type) -> Iterator[type]:
    """Yield the types that a type consists of, then the type itself."""
    for hint, _ in _fields(kind).values():
        for part in _parts(hint):
            yield from _with_parts(part)
    yield kind


def _parts(hint: Any) -> list[type]:
    """Return the types with fields in a hint: `Row` of `tuple[Row, ...]`."""
    return [hint] if _has_fields(hint) else [inner for part in get_args(hint) for inner in _parts(part)]


def _has_fields(hint: Any) -> bool:
    return isinstance(hint, type) and (
        dataclasses.is_dataclass(hint) or hasattr(hint, "__struct_fields__") or _is_named(hint)
    )


def _is_named(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields")


def _fields(kind: type) -> dict[str, tuple[Any, bool]]:
    """Return sent name → (type, True if it may be missing) of each field."""
    hints = get_type_hints(kind)
    if dataclasses.is_dataclass(kind):
        return {field.name: (hints[field.name], False) for field in dataclasses.fields(kind)}
    if _is_named(kind):
        return {name: (hints[name], False) for name in getattr(kind, "_fields", ())}
    omits = kind.__struct_config__.omit_defaults  # type: ignore[attr-defined]
    return {
        field.encode_name: (hints[field.name], omits and not field.required) for field in msgspec.structs.fields(kind)
    }


def _declare(kind: type) -> str:
    words = re.sub(r"\s+", " ", inspect.getdoc(kind) or "")
    comment = textwrap.fill(f"/** {words} */", 120, subsequent_indent=" * ").replace("\n * */", "\n */")
    fields = _fields(kind)
    if _is_named(kind) or getattr(getattr(kind, "__struct_config__", None), "array_like", False):
        rows = "".join(f"  {name}: {_word(hint)},\n" for name, (hint, _) in fields.items())
        return f"{comment}\nexport type {kind.__name__} = [\n{rows}];\n"
    rows = "".join(
        f"  {name}{'?' * omitted}: {_word(_sent_type(hint, omitted))};\n" for name, (hint, omitted) in fields.items()
    )
    return f"{comment}\nexport interface {kind.__name__} {{\n{rows}}}\n"


def _sent_type(hint: Any, omitted: bool) -> Any:
    """Return the type of a field without None if the field may be omitted, since None is then never sent."""
    parts = tuple(part for part in get_args(hint) if part is not NoneType)
    return reduce(or_, parts) if omitted and get_origin(hint) in (Union, UnionType) else hint


def _word(hint: Any) -> str:
    """Return a type in TypeScript; raises TypeError for a type that no message may have."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint in WORDS:
        return WORDS[hint]
    if origin is Literal:
        return " | ".join(f'"{part}"' for part in parts)
    if origin in (Union, UnionType):
        return " | ".join(dict.fromkeys(map(_word, parts)))
    if origin is tuple and parts[-1] is not Ellipsis:
        return f"[{', '.join(map(_word, parts))}]"
    if origin is tuple:
        word = _word(parts[0])
        return f"({word})[]" if "|" in word else f"{word}[]"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return f"Record<{', '.join(map(_word, parts))}>"
    if _has_fields(hint):
        return str(hint.__name__)
    raise TypeError(f"a message holds {hint}")


def main() -> None:
    """Write the file."""
    FILE.write_text(types(), encoding="utf-8")


if __name__ == "__main__":
    main()
