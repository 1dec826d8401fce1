"""Text of tables, charts and Compileboard's own components."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from streamlit import dataframe_util

from tests.support.screen_words import clipped, indented, listed

MAX_ROWS, MAX_ITEMS, MAX_EDGES, MAX_LINES, MAX_LIST = 15, 24, 12, 5, 12
# Where something is drawn, in which colour, and names that only the browser reads.
DRAWN = {
    *("x", "y", "w", "h", "height", "points", "part", "parts", "metrics", "least", "most", "light", "dark"),
    *("colour", "colours", "digest", "stamp", "source", "channel", "serial", "lane"),
}
# Properties of a chart that its other lines tell, and what plotly packs.
TOLD = re.compile(
    r"(template|height|title|annotations\.text|[xy]axis\d*\.(title|range))\b"
    r"|trace\.(type|name|x|y|z|text|values|base|width)\b|.*\.(bdata|dtype|shape)$"
)
MEASURES = ("x", "y", "z", "base", "width", "values")
Data = Mapping[str, Any]


def table(node: Any, fields: Data) -> str:
    """Return a table as a reader sees it: its first rows, with numbers in the words of the page."""
    columns = json.loads(fields.get("columns") or "{}")
    frame = _displayed(node)
    if not (columns.get("_index") or {}).get("hidden"):
        frame = frame.rename_axis("index").reset_index()
    shown = [name for name in frame.columns if not (columns.get(name) or {}).get("hidden")]
    lines = [_row(shown), _row(["---"] * len(shown))]
    for at in range(min(len(frame), MAX_ROWS)):
        lines.append(_row([_cell(frame[name].iloc[at], columns.get(name) or {}) for name in shown]))
    left = len(frame) - MAX_ROWS
    return "\n".join([*lines, *([f"\n_{left:,} more rows_"] if left > 0 else [])])


def _displayed(node: Any) -> pd.DataFrame:
    """Return the cells as the page has put them into words, and as they are without words."""
    frame = node.value
    arrow = getattr(node.proto, "arrow_data", node.proto)
    if not arrow.HasField("styler") or not arrow.styler.display_values:
        return frame
    return dataframe_util.convert_arrow_bytes_to_pandas_df(arrow.styler.display_values).set_axis(frame.columns, axis=1)


def _row(cells: list[Any]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _cell(value: Any, column: Data) -> str:
    style = (column.get("type_config") or {}).get("format")
    if isinstance(value, float | np.floating):
        text = "" if np.isnan(value) else _number(float(value), style)
    elif isinstance(value, list | tuple | np.ndarray):
        text = listed([str(part) for part in value], MAX_LIST)
    else:
        text = "" if value is None or value is pd.NA else str(value)
    return clipped(text.replace("|", "\\|").replace("\n", "⏎"))


def _number(value: float, style: Any) -> str:
    """Return a number in the column's format, or in Streamlit's own of four digits after the point."""
    if isinstance(style, str) and "%" in style:
        return style % value
    return f"{value:.4f}".rstrip("0").rstrip(".")


def chart(fields: Data) -> str:
    """Return what a chart shows: its axes, each trace with its number of points, and how they are drawn."""
    spec = json.loads(fields["spec"])
    layout = spec.get("layout", {})
    axes = {name: _title(axis) for name, axis in sorted(layout.items()) if name.startswith(("xaxis", "yaxis"))}
    ranges = [f"{name} from {_number_pair(layout[name])}" for name in axes if layout[name].get("range")]
    notes = [str(note["text"]) for note in layout.get("annotations", []) if note.get("text")]
    height = f"{layout['height']:g} pixels" if "height" in layout else ""
    titles = [f"{name}: {title}" for name, title in axes.items() if title]
    head = " · ".join(filter(None, [_title(layout), *titles, *ranges, height]))
    lines = [f"  - {_trace(trace)}" for trace in spec["data"]]
    lines += [f"  - notes: {clipped(listed(notes, MAX_LIST))}"] if notes else []
    lines += [f"  - drawn: {'; '.join(_drawn(spec))}"]
    return "\n".join(["- chart" + (f" ({head})" if head else ""), *lines])


def _drawn(spec: Data) -> list[str]:
    """Return the distinct values of each property that is drawn, such as `trace.marker.size`."""
    values: dict[str, dict[str, None]] = {}
    for path, value in _properties({"trace": spec["data"], **spec.get("layout", {})}):
        text = f"{value:.4g}" if isinstance(value, float) else str(value)
        values.setdefault(path, {})[text] = None
    return [clipped(f"{path} {listed(list(each), MAX_LINES)}") for path, each in values.items() if not TOLD.match(path)]


def _properties(part: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each value with its path; the parts of a list have the list's path."""
    if isinstance(part, list):
        for value in part:
            yield from _properties(value, path)
    elif isinstance(part, dict):
        for name, value in part.items():
            yield from _properties(value, f"{path}.{name}" if path else name)
    else:
        yield path, part


def _number_pair(axis: Data) -> str:
    low, high = axis["range"]
    return f"{low:.4g} to {high:.4g}" if isinstance(low, (int, float)) else f"{low} to {high}"


def _title(part: Data) -> str:
    title = part.get("title") or ""
    return str(title.get("text", "") if isinstance(title, dict) else title)


def _trace(trace: Data) -> str:
    points = max((_length(trace[axis]) for axis in ("x", "y", "z", "values") if axis in trace), default=0)
    name = trace.get("name") or "trace"
    text = [str(word) for word in trace["text"] if word] if isinstance(trace.get("text"), list) else []
    words = f": {clipped(listed(text, MAX_LIST))}" if text else ""
    spans = "".join(f"; {axis} {span}" for axis in MEASURES if (span := _span(_values(trace.get(axis)))))
    return f"{name} ({trace.get('type', 'scatter')}): {points:,} points{spans}{words}"


def _length(values: Any) -> int:
    """Return the number of values of an axis."""
    return len(_values(values)) if isinstance(values, (dict, list)) else 1


def _values(values: Any) -> list[Any]:
    """Return the values of an axis, which plotly may have packed."""
    if isinstance(values, dict):
        return list(np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"]).tolist())
    if values and isinstance(values, list) and all(isinstance(row, list) for row in values):
        return [value for row in values for value in row]
    return values if isinstance(values, list) else []


def _span(values: list[Any]) -> str:
    """Return the least and the largest number with their sum; the number if it is one, nothing for other values."""
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    if len(numbers) < 2:
        return "".join(f"{number:.4g}" for number in numbers)
    return f"{min(numbers):.4g} to {max(numbers):.4g}, together {sum(numbers):.4g}"


def component(fields: Data) -> str:
    """Return what one of our components is sent; nothing if it is sent nothing."""
    name = fields["componentName"].removeprefix("compileboard_")
    (data,) = json.loads(fields["json"])
    name = data.pop("kind") if name == "boxes" else name
    return COMPONENTS.get(name, _any)(name, data) if data else ""


def _any(name: str, data: Data) -> str:
    lines = [f"  - {key}: {value}" for key, value in _kept(data).items()]
    return "\n".join([f"- {name}", *map(clipped, lines)])


def _kept(data: Data) -> dict[str, str]:
    """Return the fields that say something, each in one line."""
    return {key: _compact(value) for key, value in data.items() if key not in DRAWN and value not in ("", None, [], {})}


def _compact(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{key}: {text}" for key, text in _kept(value).items())
    if isinstance(value, list):
        return f"[{listed([_compact(part) for part in value], MAX_LIST)}]"
    return str(round(value, 6) if isinstance(value, float) else value).replace("\n", "⏎")


def _chips(name: str, data: Data) -> str:
    return f"- {name}: " + " · ".join(_chip(chip) for chip in data["chips"])


def _chip(chip: Data) -> str:
    return f"{chip['value']} {chip['label']}".strip() + (f" ({chip['tone']})" if chip["tone"] else "")


def _keys(name: str, data: Data) -> str:
    return f"- {name}: {' '.join(data['keys'])}"


def _closed(_: str, __: Data) -> str:
    return ""


def _comments(name: str, data: Data) -> str:
    return f"- {name}: {data['count']} open, marked: {', '.join(data['commented'])}" if data["count"] else ""


def _command(_: str, data: Data) -> str:
    return f"- chosen in the graph: {data['id']}" if data["id"] else ""


def _graph(name: str, data: Data) -> str:
    size = dict(data.get("size") or {})
    caption = f"; {text}" if (text := size.pop("caption", "")) else ""
    lines = [f"- {name}: {', '.join(f'{count:,} {key}' for key, count in size.items())}{caption}"]
    lines += [
        f"  - {each['name']}: {each['value']} · {each['badge']} {each['text']}" for each in data.get("largest", [])
    ]
    lines += [f"  - colours by {listed([_overlay(overlay) for overlay in data['overlays']], MAX_LIST, ' · ')}"]
    lines += [indented(_level("root", data["root"]))]
    lines += [indented(_inside(key, level)) for key, level in data.get("opened", {}).items()]
    lines += [f"  - step {_frame(frame)}" for frame in data.get("frames", [])[:MAX_ITEMS]]
    return "\n".join(lines)


def _overlay(overlay: Data) -> str:
    names = [category["name"] for category in overlay["categories"]]
    between = " to ".join(f"{end:.4g}" for end in overlay["range"])
    values = " ".join(filter(None, [listed(names, MAX_LIST), between, overlay["unit"]]))
    return clipped(f"{overlay['title']} ({values})" if values else overlay["title"])


def _level(name: str, level: Data) -> str:
    items, edges = level["items"], level["edges"]
    lines = [f"- {name}: {len(items):,} boxes, {len(edges):,} edges {level['note']}".rstrip()]
    lines += [f"  - {_box(item)}" for item in items[:MAX_ITEMS]]
    lines += [f"  - … {len(items) - MAX_ITEMS:,} more boxes"] * (len(items) > MAX_ITEMS)
    lines += [f"  - {_edge(edge, items)}" for edge in edges[:MAX_EDGES]]
    lines += [f"  - … {len(edges) - MAX_EDGES:,} more edges"] * (len(edges) > MAX_EDGES)
    return "\n".join(lines)


def _inside(key: str, level: Data) -> str:
    labels = [item["label"] for item in level["items"]]
    return f"- inside {key}: {len(labels):,} boxes, {len(level['edges']):,} edges: {listed(labels, MAX_ITEMS)}"


def _box(item: Data) -> str:
    facts = "; ".join(f"{name} {value}" for name, value in item.get("facts", []))
    inside = f"{item['count']} nodes" if item.get("count") else ""
    parts = [item.get("detail", ""), item["cls"], inside, facts, ", ".join(item.get("chips", []))]
    return clipped(f"{item['label']}: {' · '.join(filter(None, parts))}".replace("\n", "⏎"))


def _edge(edge: Data, items: list[Data]) -> str:
    start, end = (items[at]["label"] if 0 <= at < len(items) else "outside" for at in (edge["s"], edge["t"]))
    return f"{start} → {end} {edge.get('label', '')}".rstrip()


def _frame(frame: Data) -> str:
    changes = f"+{len(frame['added'])} −{len(frame['removed'])} ~{len(frame['rewritten'])}"
    amounts = "".join(f"; {amount['text']}" for amount in frame.get("amounts", []))
    return clipped(f"{frame['title']}: {frame['detail']}{amounts} ({changes} nodes)".replace("\n", "⏎"))


def _code(_: str, data: Data) -> str:
    """Return the first lines of a code view, and each note beside a line."""
    lines = data["lines"]
    first = [clipped(f"{line[0] or ''}  {''.join(piece[1] for piece in line[2])}") for line in lines[:MAX_LINES]]
    noted = [f"{line[0]} {line[5]} {line[6] or line[7]}".replace("\n", "⏎") for line in lines if line[5] or line[6]]
    linked = sum(bool(line[3]) for line in lines)
    head = f"- code **{data['title']}**: {len(lines):,} lines, {linked:,} with links"
    notes = [f"  - line {clipped(note)}" for note in noted[:MAX_LIST]]
    notes += [f"  - … {len(noted) - MAX_LIST:,} more notes"] * (len(noted) > MAX_LIST)
    return "\n".join([head, *notes, "", indented("\n".join(first), 6)])


def _flame(name: str, data: Data) -> str:
    """Return the longest spans of a flame chart."""
    spans = sorted(data["spans"], key=lambda span: -span[4])
    lines = [f"- {name}: {len(spans):,} spans in {data['rows']} rows of {data['threads']} threads"]
    lines += [f"  - owner: {_compact(owner)}" for owner in data["owners"][:MAX_LIST]]
    lines += [f"  - {data['names'][span[1]]['text']}: {span[4] / 1e3:,.3g} ms" for span in spans[:MAX_LIST]]
    lines += [f"  - legend: {', '.join(entry['label'] for entry in data['legend'].values())}"]
    return "\n".join(map(clipped, lines))


COMPONENTS: dict[str, Callable[[str, Data], str]] = {
    # The menu is no part of a page; tests/pages/test_menu.py reads it.
    "menu": lambda _name, _data: "",
    "chips": _chips,
    "code_view": _code,
    "comments": _comments,
    "flame": _flame,
    "graph_command": _command,
    "graph_view": _graph,
    "keys": _keys,
    "palette": _closed,
    "palette_entries": _closed,
}
