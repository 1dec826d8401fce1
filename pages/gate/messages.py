"""The messages that a page may send to the server over its WebSocket; Streamlit's others are for developers.

`clear_cache` would empty the caches of all visitors, with the engine in them, and start another engine each time.
"""

from __future__ import annotations

import re

from google.protobuf.message import DecodeError
from starlette.types import Message, Receive
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest, BackMsg
from streamlit.proto.ClientState_pb2 import ClientState

HEEDED = frozenset({"rerun_script", "stop_script", "app_heartbeat", "backend_operation_request"})
# The others install files for developers.
OPERATIONS = frozenset({"deferred_file", "dataframe_chunk"})
# The owner may send a file of code; other visitors only choose, and type a line or two.
MOST_BYTES = 8_000_000
MOST_BYTES_WITHOUT_CODE = 256_000
MOST_QUERY_CHARS = 20_000
MOST_WIDGETS = 2_000
# A widget that Streamlit has drawn. It would look up any other name, and print it with the error to the owner's
# terminal.
NAME = re.compile(r"[\w.-]{0,200}")
WIDGET = re.compile(r"(\$\$STREAMLIT_INTERNAL_KEY_)?\$\$ID-[0-9a-f]{32}-[^\x00-\x1f\x7f-\x9f]{1,2000}")


def heeded(receive: Receive, most_bytes: int = MOST_BYTES) -> Receive:
    """Return a WebSocket's receive function without messages that no page sends, and without too large ones."""

    async def listen() -> Message:
        while True:
            message = await receive()
            if message["type"] != "websocket.receive" or is_heeded(message.get("bytes"), most_bytes):
                return message

    return listen


def is_heeded(frame: bytes | None, most_bytes: int = MOST_BYTES) -> bool:
    """Return True if Streamlit may answer the frame.

    Text is no message of Streamlit's. A damaged frame passes, since Streamlit refuses it itself.
    """
    if frame is None or len(frame) > most_bytes:
        return False
    try:
        message = BackMsg.FromString(frame)
    except DecodeError:
        return True
    kind = message.WhichOneof("type")
    if kind == "backend_operation_request":
        return _is_drawn_data(message.backend_operation_request)
    return kind in HEEDED and _is_drawn(message.rerun_script)


def _is_drawn_data(request: BackendOperationRequest) -> bool:
    """Return True if the names match those that Streamlit makes for a page's request for a file or for table rows."""
    names = (request.request_id, request.deferred_file.file_id, request.dataframe_chunk.source_id)
    return request.WhichOneof("payload") in OPERATIONS and all(NAME.fullmatch(name) for name in names)


def _is_drawn(state: ClientState) -> bool:
    """Return True if a page may send this state: widgets with names that Streamlit makes, and an address,
    both bounded.
    """
    widgets = state.widget_states.widgets
    small = len(state.query_string) <= MOST_QUERY_CHARS and len(widgets) <= MOST_WIDGETS
    return small and all(WIDGET.fullmatch(widget.id) for widget in widgets)
