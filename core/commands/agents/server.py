"""`python -m core mcp`: the tools of agents over stdio, and as an ASGI app for the dashboard.

The SDK `mcp` is an extra, imported only by this module. A call that its client cancels or leaves cancels its run.
"""

from __future__ import annotations

import argparse
import itertools
import os
import signal
import threading
import time
from base64 import b64encode
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from core.base.errors import CompileboardError, SettingError
from core.base.files import one_line
from core.commands.agents.session import (
    RESOURCES,
    AgentSession,
    AgentVisitor,
    OwnRunner,
    ToolCall,
    resource,
    session_of_visitor,
)
from core.commands.agents.tool import Toolbox, ToolResult, failure, print_answer
from core.commands.agents.tools import TOOLS
from core.commands.main import own_version
from core.commands.output import CANCELLED, OK
from core.job import CompileJob
from core.runs.runner import Runner
from core.runs.store import Run, Store
from core.views.agents import (
    INSTRUCTIONS,
    PROMPT_TITLES,
    PROMPTS,
    TOO_MANY,
    no_directory_words,
    prompt,
    unknown_words,
)
from core.views.printed import visible

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.lowlevel import Server

MISSING = "mcp is not installed: `make extra EXTRA=mcp`, or pip install 'compileboard[mcp]'"
MOST_CALLS = 16  #: limit: simultaneous tool calls of one visitor's agents
MOST_CALLS_OF_ALL = 64  #: limit: simultaneous tool calls of all agents of a server
MOST_REQUEST_BYTES = 1_000_000  #: limit: a request of an agent over HTTP
MOST_PROGRESS_CHARS = 200  #: a progress message
MOST_WAIT_S = 50.0  #: limit: seconds until a call answers and its run goes on; TypeScript's clients give up after 60 s
END_S, POLL_S = 10.0, 0.05  # until calls of a client that is gone have ended
ALL_TOOLS = Toolbox({tool.name: tool for tool in TOOLS})
SessionOf = Callable[[Any], AgentSession]


def add_mcp_command(command: argparse.ArgumentParser) -> None:
    """Add the options of `mcp`."""
    command.add_argument(
        "--root",
        action="append",
        type=Path,
        metavar="DIR",
        help="directory whose files agents may name (the working directory); repeat",
    )
    command.add_argument(
        "--call",
        nargs=2,
        metavar=("TOOL", "JSON"),
        help="print the answer of a tool to a JSON object of arguments (`-`: standard input), and serve nothing",
    )
    command.add_argument("--tools", action="store_true", help="print the tools as a client lists them, a line each")
    command.add_argument("--transcript", type=Path, metavar="FILE", help="append each call to FILE, a JSON line each")


def mcp_command(arguments: argparse.Namespace) -> int:
    """Serve the tools, or list them, or call one of them."""
    roots = tuple(root.resolve() for root in arguments.root or [Path.cwd()])
    for root in roots:
        if not root.is_dir():
            raise SettingError(no_directory_words(root))
    if arguments.tools:
        for tool in TOOLS:
            print(msgspec.json.encode(tool.listed).decode())
        return OK
    own = OwnRunner(Store(), arguments.engine)
    session = AgentSession(own.store, own.runner, own.sweeps, roots)
    toolbox = replace(ALL_TOOLS, transcript=arguments.transcript)
    try:
        return print_answer(session, toolbox, *arguments.call) if arguments.call else _serve(session, toolbox, own)
    finally:
        own.close()


def _serve(session: AgentSession, toolbox: Toolbox, own: OwnRunner) -> int:
    """Serve the tools over stdio until the client closes it, or until SIGTERM."""
    if find_spec("mcp") is None:
        raise SettingError(MISSING)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    import anyio

    agents = Agents(lambda _: session, toolbox)
    try:
        anyio.run(agents.over_stdio)
    except KeyboardInterrupt:
        agents.end()
        own.close()
        # The thread that reads from the client waits as long as the client does.
        os._exit(CANCELLED)
    agents.end()
    return OK


class Agents:
    """A server of the protocol: tools, prompts and resources; `session_of` returns a request's session."""

    def __init__(self, session_of: SessionOf, toolbox: Toolbox = ALL_TOOLS) -> None:
        from anyio import CapacityLimiter
        from mcp.server.lowlevel import Server

        # Threads of its own: calls that wait for a run leave a server's other threads free.
        self._threads = CapacityLimiter(MOST_CALLS_OF_ALL)
        self._session_of, self._toolbox = session_of, toolbox
        self._calls, self._going = dict[threading.Event, str](), dict[tuple[str, str], str]()
        self.server: Server[Any] = Server(
            "compileboard",
            version=own_version(),
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_list_resource_templates=self._list_templates,
            on_list_resources=self._list_resources,
            on_read_resource=self._read_resource,
        )

    async def over_stdio(self) -> None:
        """Serve one client over stdin and stdout, until it is gone."""
        from mcp.server.stdio import stdio_server

        try:
            async with stdio_server() as (incoming, outgoing):
                await self.server.run(incoming, outgoing, self.server.create_initialization_options())
        except* BrokenPipeError:
            pass

    def end(self) -> None:
        """Stop all calls, and wait until their runs have ended."""
        deadline_s = time.monotonic() + END_S
        for stop in [*self._calls]:
            stop.set()
        while self._calls and time.monotonic() < deadline_s:
            time.sleep(POLL_S)

    async def _list_tools(self, *_: Any) -> types.ListToolsResult:
        import mcp_types as types

        tools = [types.Tool.model_validate(tool.listed) for tool in self._toolbox.tools.values()]
        return types.ListToolsResult(tools=tools)

    async def _call_tool(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        from anyio import from_thread, get_cancelled_exc_class, to_thread

        numbers, stop = itertools.count(1), threading.Event()

        def report(words: str) -> None:
            message = visible(one_line(words, MOST_PROGRESS_CHARS))
            with suppress(RuntimeError):
                from_thread.run(context.session.report_progress, next(numbers), None, message)

        call = ToolCall(self._session_of(context), report, stop, time.monotonic() + MOST_WAIT_S, self._going)
        going = [*self._calls.values()]
        if going.count(call.session.by) >= MOST_CALLS or len(going) >= MOST_CALLS_OF_ALL:
            return _result(failure(TOO_MANY))
        self._calls[stop] = call.session.by
        work = partial(self._answer, call, params.name, params.arguments or {})
        try:
            return await to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._threads)
        except get_cancelled_exc_class():
            stop.set()
            raise

    def _answer(self, call: ToolCall, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
        """Return the result of a call; an error is a result, too."""
        try:
            return _result(self._toolbox.result(call, name, arguments))
        finally:
            self._calls.pop(call.stop, None)

    async def _list_prompts(self, *_: Any) -> types.ListPromptsResult:
        import mcp_types as types

        file = types.PromptArgument(name="file", description="the model's file", required=False)
        listed = [types.Prompt(name=name, description=text, arguments=[file]) for name, text in PROMPT_TITLES.items()]
        return types.ListPromptsResult(prompts=listed)

    async def _get_prompt(self, _: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        import mcp_types as types

        if params.name not in PROMPTS:
            raise _refusal(unknown_words("prompt", params.name, tuple(PROMPTS)))
        text = types.TextContent(type="text", text=prompt(params.name, (params.arguments or {}).get("file", "")))
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=text)])

    async def _list_resources(self, *_: Any) -> types.ListResourcesResult:
        import mcp_types as types

        return types.ListResourcesResult(resources=[])

    async def _list_templates(self, *_: Any) -> types.ListResourceTemplatesResult:
        import mcp_types as types

        listed = [types.ResourceTemplate(uri_template=uri, name=name) for name, uri in RESOURCES.items()]
        return types.ListResourceTemplatesResult(resource_templates=listed)

    async def _read_resource(self, context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        import mcp_types as types
        from anyio import to_thread

        try:
            text = await to_thread.run_sync(resource, self._session_of(context), str(params.uri))
        except CompileboardError as error:
            raise _refusal(str(error)) from None
        contents = types.TextResourceContents(uri=params.uri, text=text, mime_type="text/plain")
        return types.ReadResourceResult(contents=[contents])


class AgentRoute:
    """The tools over streamable HTTP, as an ASGI app without sessions of its own.

    `visitor_of` returns the visitor of a request, and `admit` queues a permitted job for a visitor. Tools for the
    owner's machine alone are not offered. Raises SettingError without the SDK.
    """

    def __init__(
        self,
        runner: Callable[[], Runner],
        visitor_of: Callable[[Any], AgentVisitor],
        admit: Callable[[CompileJob, Any], Run],
    ) -> None:
        if find_spec("mcp") is None:
            raise SettingError(MISSING)
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        offered = {tool.name: tool for tool in TOOLS if not tool.is_local}

        def session_of(context: Any) -> AgentSession:
            visitor = visitor_of(context.request)
            return session_of_visitor(runner(), visitor, lambda job: admit(job, visitor))

        self._agents = Agents(session_of, Toolbox(offered))
        self._manager = StreamableHTTPSessionManager(
            app=self._agents.server, stateless=True, max_request_body_size=MOST_REQUEST_BYTES
        )

    def running(self) -> AbstractAsyncContextManager[None]:
        """Return the context in which requests are answered."""
        running: AbstractAsyncContextManager[None] = self._manager.run()
        return running

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a call; without sessions, no stream of events is kept open for a client."""
        if scope["method"] == "POST":
            await self._manager.handle_request(scope, receive, send)
        else:
            await send({"type": "http.response.start", "status": 405, "headers": [(b"allow", b"POST")]})
            await send({"type": "http.response.body"})


def _result(result: ToolResult) -> types.CallToolResult:
    import mcp_types as types

    content: list[Any] = [types.TextContent(type="text", text=result.text)]
    if result.picture:
        data = b64encode(result.picture).decode()
        content.append(types.ImageContent(type="image", data=data, mime_type="image/png"))
    return types.CallToolResult(content=content, structured_content=result.data, is_error=result.is_error)


def _refusal(message: str) -> Exception:
    import mcp_types as types
    from mcp.shared.exceptions import MCPError

    refusal: Exception = MCPError(code=types.INVALID_PARAMS, message=visible(message))
    return refusal
