"""Settings of `torch._dynamo.config` that let Dynamo trace code it breaks on by default, each with its cost."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.analysis.repairs.source import CodeFix, UserCode
from core.report import GraphBreak


@dataclass(frozen=True, slots=True)
class DynamoSetting:
    """A name of `torch._dynamo.config`: the value that helps, its kinds of graph break, and its cost."""

    name: str
    value: bool
    registry_ids: tuple[str, ...]
    why: str
    cost: str

    @property
    def line(self) -> str:
        """Setting as a line of code."""
        return f"torch._dynamo.config.{self.name} = {self.value}"


SETTINGS = {
    setting.name: setting
    for setting in (
        DynamoSetting(
            "allow_rnn",
            True,
            ("GB0014",),
            "Dynamo then traces `nn.RNN`, `nn.LSTM` and `nn.GRU` instead of running the whole frame eagerly.",
            "Off by default, because not every backend runs an RNN well: measure it.",
        ),
        DynamoSetting(
            "capture_scalar_outputs",
            True,
            ("GB0124",),
            "The number that is read becomes an unbacked symbol of the graph.",
            "Code that branches on the number, or uses it as a size, still breaks the graph.",
        ),
        DynamoSetting(
            "capture_dynamic_output_shape_ops",
            True,
            ("GB0036",),
            "The data-dependent size becomes an unbacked symbol of the graph.",
            "Inductor cannot tune kernels for an unknown size, and fuses less around it.",
        ),
        DynamoSetting(
            "trace_autograd_ops",
            True,
            ("GB0123", "GB9186"),
            "`backward()` and `torch.autograd.grad` become a part of the graph.",
            "The backward runs with the forward in one graph, so that autograd cannot save less for it.",
        ),
        DynamoSetting(
            "graph_break_on_nn_param_ctor",
            False,
            ("GB0264",),
            "The parameter is made within the graph.",
            "Each call creates a new parameter, which the optimizer does not know.",
        ),
        DynamoSetting(
            "enable_trace_load_build_class",
            True,
            ("GB0075", "GB8977"),
            "Dynamo traces the statement that makes the class.",
            "The class is made while Dynamo traces; define it at the top of the file where that is possible.",
        ),
        DynamoSetting(
            "trace_numpy",
            True,
            ("GB0105", "GB0231", "GB0293"),
            "Dynamo traces NumPy's functions as torch ops.",
            "NumPy random numbers differ from those in eager mode.",
        ),
        DynamoSetting(
            "enable_trace_contextlib",
            True,
            ("GB0263",),
            "Dynamo traces context managers that are made by `contextlib.contextmanager`.",
            "Side effects of such a context manager happen while Dynamo traces.",
        ),
        DynamoSetting(
            "allow_unspec_int_on_nn_module",
            True,
            (),
            "An integer attribute of a module becomes a symbol after its first change: one more compilation serves all "
            "values.",
            "It applies to all modules: attributes that are sizes may become dynamic, too.",
        ),
    )
}  # fmt: skip
NAMED = re.compile(r"_dynamo\.config\.(\w+)")


def setting(_: UserCode, name: str) -> CodeFix | None:
    """Set a name of `torch._dynamo.config` for the run; the file stays as it is."""
    entry = SETTINGS.get(name)
    if entry is None:
        return None
    return CodeFix(f"Set `{entry.line}`.", entry.why, (), doubt=entry.cost, settings=(name,))


def settings_of_break(graph_break: GraphBreak) -> list[str]:
    """Return the names of settings for a graph break: those of its kind, otherwise those in torch's hints."""
    ids = [name for name, entry in SETTINGS.items() if graph_break.registry_id in entry.registry_ids]
    named = [name for hint in graph_break.hints for name in NAMED.findall(hint) if name in SETTINGS]
    return ids or list(dict.fromkeys(named))


def dynamo_settings(names: tuple[str, ...]) -> dict[str, bool]:
    """Return names of settings with their values, as in a job."""
    return {name: SETTINGS[name].value for name in names}
