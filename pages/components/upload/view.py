"""Upload of a log from the visitor's machine by drop or file dialog, with a progress display."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from core.base import words as fmt
from pages.components.exchange import browser_value, component, message

_COMPONENT = component(Path(__file__).parent)


class UploadData(msgspec.Struct, frozen=True):
    """The message to the browser: the largest size of a file, in bytes and as text, and the prompt.

    `profile_of` is the run to which a profile is added; empty for an upload that makes a run.
    """

    most: int
    words: str
    asks: str
    profile_of: str


def upload(most_bytes: int, *, key: str, on_stored: Callable[[str], None], profile_of: str = "") -> None:
    """Offer to upload a log, or a profile of a run; `on_stored` gets the id of the run."""

    def stored() -> None:
        run_id = browser_value(key, "stored")
        if isinstance(run_id, str):
            on_stored(run_id)

    asks = "a profile" if profile_of else "a log or an archive"
    data = UploadData(most_bytes, fmt.bytes_(most_bytes), asks, profile_of)
    _COMPONENT(key=key, data=message(data), on_stored_change=stored)
