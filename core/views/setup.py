"""Views of the set-up: torch's options, and the checks of this machine as a sentence and rows."""

import importlib.util
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import ClassVar

from core.base import words as fmt
from core.base.errors import JobError
from core.base.machine import ConfigModule, ConfigOption, Environment
from core.code.torch_source import ConfigUse, config_uses
from core.job import CompileJob
from core.job.text import options_from_text
from core.runs.doctor import Check, CheckState, checks, compiler_check, summary
from core.runs.status import Status
from core.views.blocks import Data, Drawn, InLine, PageBlock, Text, Title, paragraph, spans
from core.views.markdown import LONGEST_LINE, LONGEST_TEXT, code, one_line, plain

# Names in torch's config modules that hold no option.
INTERNAL = frozenset(
    (
        "TYPE_CHECKING",
        "_cache_config_factory_keys",
        "_cache_config_ignore_prefix",
        "_profile_var",
        "_save_config_ignore",
    )
)
# Options that people set most, in the order shown → their place.
COMMON = {
    name: place
    for place, name in enumerate(
        (
            *("max_autotune", "freezing", "triton.cudagraphs", "epilogue_fusion", "coordinate_descent_tuning"),
            *("max_autotune_gemm_backends", "shape_padding", "fx_graph_cache", "compile_threads", "cpp_wrapper"),
            *("recompile_limit", "automatic_dynamic_shapes", "assume_static_by_default", "capture_scalar_outputs"),
            *("capture_dynamic_output_shape_ops", "suppress_errors", "specialize_float"),
        )
    )
}
NAMES: dict[ConfigModule, str] = {"inductor": "Inductor", "dynamo": "Dynamo"}


@dataclass(frozen=True, slots=True)
class ConfigOptionView:
    """An option with its facts, its uses in the installed torch, and the ways to set it for a run."""

    option: ConfigOption

    @property
    def heading(self) -> str:
        """Full name of the option."""
        return self.option.full_name

    @property
    def facts(self) -> str:
        """Value, type, default, alias and environment variables, in Markdown."""
        option = self.option
        facts = [
            f"alias of {code(option.alias, LONGEST_LINE)}"
            if option.alias
            else f"value {code(option.value, LONGEST_LINE)}",
            f"type {code(option.kind, LONGEST_LINE)}" if option.kind else "",
            f"default {code(option.default, LONGEST_LINE)}" if option.changed else "",
            f"environment variable {', '.join(code(name, LONGEST_LINE) for name in option.variables)}"
            if option.variables
            else "",
            f"set here: {', '.join(code(text, LONGEST_LINE) for text in option.environment)}"
            if option.environment
            else "",
            f"deprecated: {one_line(option.deprecated, LONGEST_LINE)}" if option.deprecated else "",
        ]
        return " · ".join(filter(None, facts))

    @property
    def comment(self) -> str:
        """Comment in torch's source; empty without one."""
        return self.option.comment[:LONGEST_TEXT]

    @property
    def place(self) -> str:
        """Line of the assignment in the installed torch; empty if unknown."""
        return f"torch/_{self.option.module}/config.py:{self.option.line}" if self.option.line else ""

    @property
    def uses(self) -> tuple[ConfigUse, ...]:
        """Lines of the installed torch that read the option."""
        return _uses(self.option.module, self.option.name)

    @property
    def uses_title(self) -> str:
        """Number of the lines that read the option."""
        if not self.uses:
            return "No line of the installed torch reads it as `config.NAME`."
        return f"Read in {fmt.count(len(self.uses), 'line')} of the installed torch:"

    @property
    def uses_text(self) -> str:
        """Lines that read the option, each with its file and number."""
        return "\n".join(f"torch/{use.path}:{use.line}  {one_line(use.text, LONGEST_LINE)}" for use in self.uses)

    def command(self, value: str) -> str:
        """Return the command that runs a model with the option."""
        return f"python -m core run MODEL {self.arguments(value)}"

    def arguments(self, value: str) -> str:
        """Return the argument of `python -m core run` that sets the option."""
        flag = "--options" if self.option.module == "inductor" else "--dynamo"
        return f"{flag} {self.option.name}={value}"

    def job(self, job: CompileJob, value: str) -> CompileJob:
        """Return a job with the option set to a typed value; raises JobError."""
        field = "compile.options" if self.option.module == "inductor" else "conditions.dynamo"
        options = options_from_text(f"{self.option.name}={value}", field) or {}
        if self.option.module == "dynamo":
            return replace(job, conditions=replace(job.conditions, dynamo={**(job.conditions.dynamo or {}), **options}))
        if job.compile.backend != "inductor":
            raise JobError(
                field, f"the backend of this run is {job.compile.backend}, which takes no option of Inductor"
            )
        if job.compile.mode:
            raise JobError(
                field, f"torch.compile takes either options or a mode, and this run has mode {job.compile.mode}"
            )
        return replace(job, compile=replace(job.compile, options={**(job.compile.options or {}), **options}))


@dataclass(frozen=True)
class ConfigView:
    """Options that match a search; if `changed`, only options that are set here."""

    environment: Environment
    text: str = ""
    module: ConfigModule | None = None
    changed: bool = False

    modules: ClassVar[dict[str, ConfigModule]] = {name: module for module, name in NAMES.items()}

    @cached_property
    def options(self) -> tuple[ConfigOption, ...]:
        """The matching options; options whose name matches come first."""
        return matching(self._all, self.text, self.module, self.changed)

    @cached_property
    def _all(self) -> tuple[ConfigOption, ...]:
        """The options in the order shown: those that people set, all others, and private ones."""
        return tuple(sorted((each for each in self.environment.options if each.name not in INTERNAL), key=_rank))

    @property
    def title(self) -> str:
        """Number of options of each module, or number of matching options for a search."""
        count = len(self._all)
        if self.text or self.module or self.changed:
            return f"{fmt.number(len(self.options))} of torch.compile's {fmt.count(count, 'option')} match."
        parts = [f"{fmt.number(self._count(module))} of {name}" for module, name in NAMES.items()]
        return f"torch.compile has {fmt.count(count, 'option')} here: {', '.join(parts)}."

    @property
    def note(self) -> str:
        """The version of torch, and the number of options that are set in the server's environment."""
        set_here = sum(option.is_set for option in self.environment.options)
        where = (
            f"{fmt.count(set_here, 'option')} set by the server's environment"
            if set_here
            else "none set by the server's environment"
        )
        return (
            f"torch {self.environment.torch}; {where}. Values are those of a new process, before a model's file. "
            "`mode`, `dynamic`, `fullgraph` and `backend` are arguments of `torch.compile`, on *New run*."
        )

    @property
    def rows(self) -> list[dict[str, object]]:
        """A row for each matching option."""
        return [_row(option) for option in self.options]

    @staticmethod
    def of(option: ConfigOption) -> ConfigOptionView:
        return ConfigOptionView(option)

    def _count(self, module: ConfigModule) -> int:
        return sum(option.module == module for option in self._all)


def _rank(option: ConfigOption) -> tuple[int, bool]:
    return COMMON.get(option.name, len(COMMON)), option.name.startswith("_")


def _row(option: ConfigOption) -> dict[str, object]:
    return {
        "option": option.name,
        "module": NAMES[option.module],
        "value": one_line(f"alias of {option.alias}" if option.alias else option.value, LONGEST_LINE),
        "set here": one_line(
            ", ".join(option.environment) or (f"default {option.default}" if option.changed else ""), LONGEST_LINE
        ),
        "environment variable": ", ".join(option.variables),
        "comment": one_line(option.comment, LONGEST_LINE),
    }


@lru_cache(maxsize=256)
def _uses(module: ConfigModule, name: str) -> tuple[ConfigUse, ...]:
    spec = importlib.util.find_spec("torch")
    places: Sequence[str] = (spec.submodule_search_locations or ()) if spec is not None else ()
    return config_uses(Path(places[0]), module, name) if places else ()


def matching(
    options: Sequence[ConfigOption], text: str = "", module: ConfigModule | None = None, changed: bool = False
) -> tuple[ConfigOption, ...]:
    """Return the options that match a text; options whose name matches come first.

    An option matches if every word of the text is in its name, alias, environment variables or comment. With
    `module`, only that module's options are returned; with `changed`, only options that are set here.
    """
    words = text.lower().split()
    chosen = [
        option
        for option in options
        if module in (None, option.module)
        and (option.is_set or not changed)
        and all(word in _searched(option) for word in words)
    ]
    return tuple(sorted(chosen, key=lambda option: not all(word in option.name.lower() for word in words)))


def option_text(option: ConfigOption) -> str:
    """Return an option as lines of text."""
    head = option.full_name + (f": alias of {option.alias}" if option.alias else f" = {option.value}")
    facts = [
        f"default {option.default}" if option.changed else "",
        f"deprecated: {option.deprecated}" if option.deprecated else "",
        f"environment variables: {', '.join(option.variables)}" if option.variables else "",
        f"set here: {', '.join(option.environment)}" if option.environment else "",
    ]
    lines = [head, *filter(None, facts), *option.comment.splitlines()]
    return textwrap.indent("\n".join(lines), "    ").removeprefix("    ")


def options_words(shown: Sequence[ConfigOption], environment: Environment) -> str:
    """Return the number of options that a search matches, of all options of this torch."""
    return f"{fmt.number(len(shown))} of {fmt.count(len(environment.options), 'option')} of torch {environment.torch}."


def _searched(option: ConfigOption) -> str:
    return "\n".join((option.full_name, option.alias, *option.variables, option.comment)).lower()


# The words before the checks in a state that is no problem.
STATES: dict[CheckState, str] = {"optional": "Missing, and needed by some features only:", "ok": "Here:"}
# Parts that the page draws by hand.
STARTING, COMPILE = "starting", "compile"


def doctor(results: tuple[Check, ...], is_starting: bool = False) -> Iterator[PageBlock]:
    """Yield the checks of a machine: problems, then missing optional things, then the rest."""
    yield Title(spans(summary(results)))
    if is_starting:
        yield Drawn(STARTING)
    yield from (Text(spans(_line(check)), "bad") for check in results if check.state == "problem")
    for state, head in STATES.items():
        lines = [f"- {_line(check)}" for check in results if check.state == state]
        yield from paragraph("\n".join([head, *lines]) if lines else "")
    works = Text(spans("A run of the sample `sin_cos` shows whether torch.compile works here."), "quiet")
    yield InLine((Drawn(COMPILE), works, Data("doctor", results)))


def compiling_check(status: Status) -> Check:
    """Return the check that torch.compile works, from the status of a run that compiled `x.sin() + 1`."""
    if status.state != "done":
        return Check("Compiling", "problem", status.reason, "torch.compile does not work here.")
    took = fmt.duration_s((status.ended_s or 0.0) - (status.started_s or 0.0))
    return Check("Compiling", "ok", f"`x.sin() + 1` was compiled and run in {took}")


def _line(check: Check) -> str:
    """Return a check as Markdown: its result, and the consequence and the remedy if something is missing."""
    parts = [check.found, check.consequence.removesuffix("."), check.remedy and f"To fix it: {check.remedy}"]
    result = one_line(". ".join(filter(None, parts)), LONGEST_TEXT)
    return f"**{check.name}**: {plain(result, LONGEST_TEXT)}"


@dataclass(frozen=True)
class DoctorView:
    """The checks of a machine whose store is `home`; `environment` is None while torch is starting."""

    home: Path
    environment: Environment | None

    @property
    def start_problem(self) -> str:
        """The reason why torch cannot be started; empty if torch has started or is starting."""
        problem = self.environment.problem if self.environment is not None else ""
        return f"torch cannot be started: {problem}" if problem else ""

    @property
    def checks(self) -> tuple[Check, ...]:
        """The results of all checks."""
        return checks(self.home, self.environment)

    @property
    def compiler_problem(self) -> str:
        """Sentence for a machine without a C++ compiler, with the remedy; empty if there is one."""
        check = compiler_check(start=False)
        if check.state == "ok":
            return ""
        return (
            f"There is no C++ compiler here ({check.found}). {check.consequence} To fix it: {check.remedy}; then "
            "start the dashboard again."
        )
