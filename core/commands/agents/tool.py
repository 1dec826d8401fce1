"""A tool of agents: how the protocol lists it, and the result of a call."""

import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import msgspec
from msgspec import Meta

from core.base.decoder import converted, decoded_as
from core.base.errors import CompileboardError, DecodeError, SettingError
from core.commands.agents.session import AgentSession, ToolCall
from core.commands.output import CANCELLED, FAILED, OK, write_file
from core.views.agents import CRASHED, FEW_CHARS, LEAST_CHARS, MOST_CHARS, not_json_words, unknown_words
from core.views.printed import AgentAnswer, visible

Chars = Annotated[int, Meta(description="most characters of the answer", ge=LEAST_CHARS, le=MOST_CHARS)]


@dataclass(frozen=True)
class ToolResult:
    """The result of a call: text, the same as data, and a picture as PNG; an error's text is JSON."""

    text: str
    data: dict[str, Any] | None = None
    is_error: bool = False
    picture: bytes = b""


@dataclass(frozen=True)
class AgentTool:
    """A tool: its name and function, and what a client should know before it calls it.

    `output` is the JSON schema of the data of its results, if each result has data. A tool `runs` a user's code, or
    `writes` to the store; any other tool only reads. A server offers no tool that `is_local` to its visitors.
    """

    name: str
    function: Callable[..., AgentAnswer]
    runs: bool = False
    writes: bool = False
    is_local: bool = False
    output: Mapping[str, Any] | None = None

    @property
    def listed(self) -> dict[str, Any]:
        """The tool as the protocol lists it; its description is the docstring of the function."""
        schema = msgspec.json.schema_components([self.arguments])[1][self.arguments.__name__]
        hints = {
            "readOnlyHint": not (self.runs or self.writes),
            "destructiveHint": self.runs,
            "openWorldHint": self.runs,
        }
        return {
            "name": self.name,
            "description": " ".join((self.function.__doc__ or "").split()),
            # Without what only repeats names.
            "inputSchema": {name: value for name, value in schema.items() if name not in ("title", "description")},
            "annotations": hints,
            **({"outputSchema": self.output} if self.output else {}),
        }

    @cached_property
    def arguments(self) -> type[msgspec.Struct]:
        """The parameters of the function but its call, and `most_chars`, as a type."""
        hints = get_type_hints(self.function, include_extras=True)
        _, *parameters = signature(self.function).parameters.values()
        fields: list[Any] = [
            (each.name, hints[each.name], *(() if each.default is each.empty else (each.default,)))
            for each in parameters
        ]
        fields.append(("most_chars", Chars, FEW_CHARS))
        return msgspec.defstruct("Arguments", fields, kw_only=True, frozen=True, forbid_unknown_fields=True)

    def answer(self, call: ToolCall, arguments: Mapping[str, Any]) -> ToolResult:
        """Return the answer to a call; raises CompileboardError."""
        given = msgspec.structs.asdict(converted(arguments, self.arguments))
        most_chars = given.pop("most_chars")
        answer = self.function(call, **given)
        return ToolResult(*answer.fitted(most_chars), picture=answer.picture)


@dataclass(frozen=True)
class Toolbox:
    """The tools that a server offers, by their names; its calls are appended to `transcript`, a line each."""

    tools: Mapping[str, AgentTool]
    transcript: Path | None = None

    def result(self, call: ToolCall, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Return the result of a call; an error is a result, too."""
        result = self._result(call, name, arguments)
        if self.transcript is not None:
            line = msgspec.json.encode({"tool": name, "arguments": arguments, "characters": len(result.text)})
            write_file(str(self.transcript), line + b"\n", "ab")
        return result

    def _result(self, call: ToolCall, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        tool = self.tools.get(name)
        try:
            if tool is None:
                return failure(unknown_words("tool", name, tuple(self.tools)))
            return tool.answer(call, arguments)
        except CompileboardError as error:
            return failure(str(error))
        except Exception:
            traceback.print_exc(file=sys.stderr)
            return failure(CRASHED)


def failure(message: str) -> ToolResult:
    """Return an error as a result, its message as a JSON string."""
    return ToolResult(msgspec.json.encode({"error": visible(message)}).decode(), is_error=True)


def print_answer(session: AgentSession, toolbox: Toolbox, name: str, text: str) -> int:
    """Print the text of a tool's answer; SIGINT and SIGTERM cancel its run."""
    try:
        arguments = decoded_as(sys.stdin.buffer.read() if text == "-" else text, dict[str, Any])
    except DecodeError as error:
        raise SettingError(not_json_words(str(error))) from None
    call = ToolCall(session)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: call.stop.set())
    result = toolbox.result(call, name, arguments)
    print(result.text)
    return CANCELLED if call.stop.is_set() else FAILED if result.is_error else OK
