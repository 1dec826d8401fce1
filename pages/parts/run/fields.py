"""The fields of a job's form: their initial values, and the kinds of fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from core import GIB, OPEN_BACKENDS, SHIPPED_BACKENDS, CompileJob, Environment, FileSettings, Limits
from pages.look.sizes import MAX_CHARS

BACKENDS = ("inductor", "aot_eager", "eager")
OWN = "your own…"
# The choice that leaves a setting to the model's file, and the labels of a switch.
AS_FILE, ON, OFF = "as the file says", "on", "off"
MOST_S, MOST_GIB, LEAST_GIB = 86_400.0, 1024.0, 0.5


@dataclass(frozen=True, slots=True)
class Form:
    """The start of the fields.

    `environment` is what torch can do here, `start` a job, `limits` the bounds of the server's owner; `code` is True if
    this visitor may bring code, and `file` holds the settings of the model's file.
    """

    environment: Environment
    start: CompileJob
    limits: Limits
    code: bool = True
    file: FileSettings = field(default_factory=FileSettings)

    def is_left(self, name: str) -> bool:
        """Return True if the job leaves a setting to the model's file."""
        return name in self.start.as_file_says()

    @property
    def backends(self) -> list[str]:
        """The backends of torch here without its test backends, the built-in ones, and the job's.

        If the visitor may bring no code, only those that are open to everybody.
        """
        here = [name for name in self.environment.backends or BACKENDS if "TESTING" not in name]
        chosen, forced = self.start.compile, self.start.conditions.force_backend
        named = ("" if chosen.backend_code else chosen.backend, forced)
        found = dict.fromkeys([*here, *SHIPPED_BACKENDS, *filter(None, named)])
        return [name for name in found if self.code or name in OPEN_BACKENDS]

    @property
    def backend(self) -> str:
        """The first choice of the backend field; the custom one if the job holds its code."""
        if self.is_left("backend"):
            return AS_FILE
        return OWN if self.start.compile.backend_code else self.start.compile.backend

    @property
    def devices(self) -> dict[str, str]:
        """The devices of this machine, each with its name."""
        return self.environment.devices or {"cpu": ""}

    @property
    def device(self) -> str:
        """The device or target of the job if it is available here; else the first."""
        first = next(iter(self.devices), "cpu")
        return self.start.target or (self.start.device if self.start.device in self.devices else first)

    @property
    def most_s(self) -> int:
        """The longest time limit in seconds."""
        return max(1, int(self.limits.time_s or MOST_S))

    @property
    def most_gib(self) -> float:
        """The largest memory limit in GiB."""
        return max(LEAST_GIB, (self.limits.memory_bytes or MOST_GIB * GIB) / GIB)


@dataclass(frozen=True, slots=True)
class Field:
    """An option: the end of its widget's key, its first value, and the function that draws it with that value and a
    key.
    """

    name: str
    first: Callable[[Form], Any]
    draw: Callable[[Any, Form, Any, str], Any]


def choice(
    name: str,
    choices: Callable[[Form], Sequence[str]],
    first: Callable[[Form], str],
    help_: str,
    *,
    label: str = "",
    says: Callable[[str, Form], str] = lambda choice, _: choice,
) -> Field:
    """Return a field to choose one of several words, each labelled by `says`."""

    def draw(at: Any, form: Form, value: str, key: str) -> Any:
        offered = list(choices(form))
        index = offered.index(value) if value in offered else 0
        shown = {choice: says(choice, form) for choice in offered}
        return at.selectbox(label or name, offered, index, shown.__getitem__, key=key, help=help_)

    return Field(name, first, draw)


def switch(name: str, first: Callable[[Form], bool], help_: str, *, label: str = "") -> Field:
    """Return a field for on or off."""
    return Field(name, first, lambda at, _, value, key: at.toggle(label or name, value, key=key, help=help_))


def setting(
    name: str,
    choices: Callable[[Form], Sequence[str]],
    first: Callable[[Form], str],
    word: Callable[[Any], str],
    default: Any,
    help_: str,
) -> Field:
    """Return a field for a setting that the model's file may have: one of several words, or as the file sets it.

    `word` is the word of a value, `default` the value if the file does not set it.
    """

    def says(choice: str, form: Form) -> str:
        return f"{word(form.file.values.get(name, default))} (file)" if choice == AS_FILE else choice

    return choice(
        name,
        lambda form: [AS_FILE, *choices(form)],
        lambda form: AS_FILE if form.is_left(name) else first(form),
        f"{help_} *(file)*: {AS_FILE}.",
        says=says,
    )


def file_switch(name: str, first: Callable[[Form], bool], help_: str) -> Field:
    """Return a field for on, off, or as the model's file sets it."""
    return setting(name, lambda _: [ON, OFF], lambda form: switch_word(first(form)), switch_word, False, help_)


def switch_word(value: Any) -> str:
    """Return the word for a switch."""
    return ON if value else OFF


def text(name: str, first: Callable[[Form], str], label: str, example: str, help_: str) -> Field:
    """Return a field for one line of text, with an example as placeholder."""

    def draw(at: Any, _: Form, value: str, key: str) -> Any:
        most = max(MAX_CHARS, len(value))
        return at.text_input(label, value, key=key, placeholder=example, help=help_, max_chars=most)

    return Field(name, first, draw)


def lines(name: str, first: Callable[[Form], str], example: str, help_: str) -> Field:
    """Return a field for several lines, with an example as placeholder."""

    def draw(at: Any, _: Form, value: str, key: str) -> Any:
        most = max(MAX_CHARS, len(value))
        return at.text_area(name, value, key=key, placeholder=example, help=help_, height=90, max_chars=most)

    return Field(name, first, draw)
