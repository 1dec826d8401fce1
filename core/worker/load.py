"""Loading of a file's callable and its calls, by one convention for samples and users' files:

    model = torch.nn.Linear(64, 64)      # any callable
    inputs = (torch.randn(8, 64),)       # positional arguments, or a dict of keyword arguments
    calls = [...]                        # or several such inputs: a list, or a generator function

`calls` as a generator function may change state between the calls. If the job requests another callable
`NAME`, then `NAME_inputs` and `NAME_calls` take precedence over `inputs` and `calls`.

Errors in the file are reported as one line of text, with the traceback's frames in the user's own files.
"""

from __future__ import annotations

import gc
import importlib.util
import linecache
import random
import re
import sys
import traceback
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Literal, NamedTuple

import torch
from torch.fx import Node
from torch.utils._pytree import tree_leaves, tree_map_only

from core.base.errors import JobError
from core.job import CompileJob
from core.job.arguments import CallSpec, OwnCall, TensorSpec, parse_call
from core.job.notebook import cells_of, is_notebook, place_of
from core.job.prepared import kind_of
from core.report import Frame, Place
from core.worker.conditions import resized
from core.worker.own_torch import importing_torch, registering

Arguments = tuple[tuple[Any, ...], dict[str, Any]]
# Libraries whose random numbers compiled code may draw otherwise.
Generators = Literal["torch", "numpy"]
#: times as much memory as several inputs may have that are views of it, to be views in float64, too
MOST_OF_A_VIEW = 16
GRAD_MODES = {"no_grad", "enable_grad", "set_grad_enabled", "inference_mode"}


def _is_initialized(value: Any) -> bool:
    """Return True for a module whose `__init__` called that of nn.Module."""
    return isinstance(value, torch.nn.Module) and "_modules" in vars(value)


class ModelCopy:
    """A freshly loaded copy of the user's code: its callable, its calls, its modules.

    With `wide`, the copy computes with the same numbers in float64.
    """

    def __init__(self, path: Path, job: CompileJob, module_name: str, wide: bool = False) -> None:
        self._job = job
        self._path = path
        self.wide = wide
        self._inputs = WideInputs()
        self._module = executed(path, job, module_name)
        self.model = _callable(self._module, job, path)
        for module in self.modules():
            module.to(device=job.device)
            if job.dtype:
                module.to(dtype=getattr(torch, job.dtype))
            if wide:
                module.to(dtype=torch.float64)
        if wide:
            vars(self._module).update({name: _widened(value) for name, value in self.values().items()})

    def modules(self) -> list[torch.nn.Module]:
        """Return every initialized nn.Module among the file's globals, and the model."""
        named = [value for value in vars(self._module).values() if _is_initialized(value)]
        if isinstance(self.model, torch.nn.Module):
            named.append(self.model)
        return list(dict.fromkeys(named))

    def named_modules(self) -> list[tuple[str, torch.nn.Module]]:
        """Return every module with the prefix of its names: empty for the model, `name.` for any other module."""
        names = {id(value): f"{name}." for name, value in vars(self._module).items()}
        return [("" if module is self.model else names[id(module)], module) for module in self.modules()]

    def values(self) -> dict[str, Any]:
        """Return the file's named values other than modules: tensors, numbers, lists …"""
        return {name: value for name, value in vars(self._module).items() if not isinstance(value, torch.nn.Module)}

    def place_of(self, name: str) -> str:
        """Return the last line of the file that names a variable, such as `line 12`."""
        code = self._path.read_text(encoding="utf-8")
        lines = [number for number, line in enumerate(code.split("\n"), 1) if re.search(rf"\b{name}\b", line)]
        return place_of(code, lines[-1]) if lines else "an imported file"

    def value_of(self, name: str, field: str) -> Any:
        """Return the file's value of that name; raises JobError, naming the job's field, if there is none."""
        if not hasattr(self._module, name):
            raise JobError(field, f"the model's file defines no `{name}`")
        return getattr(self._module, name)

    def parameters(self) -> list[torch.nn.Parameter]:
        """Return the parameters of all modules, each once."""
        return list(dict.fromkeys(p for module in self.modules() for p in module.parameters()))

    def calls(self) -> Iterator[Arguments]:
        """Yield the inputs of each call with the job's sizes, device and dtype."""
        inputs = self._requested_calls() if self._job.calls else self._file_calls()
        for index, value in enumerate(inputs):
            call = resized(_call(value), self._job.sizes, self._job.seed + index)
            moved = tree_map_only(torch.Tensor, self._moved, call)
            yield self._inputs.of(moved) if self.wide else moved

    def _moved(self, tensor: torch.Tensor) -> torch.Tensor:
        dtype = getattr(torch, self._job.dtype) if self._job.dtype and tensor.is_floating_point() else tensor.dtype
        device = torch.device(self._job.device)
        if (tensor.dtype, tensor.device.type) == (dtype, device.type) and device.index in (None, tensor.device.index):
            return tensor
        moved = tensor.detach().to(device=self._job.device, dtype=dtype).requires_grad_(tensor.requires_grad)
        vars(moved).update({name: mark for name, mark in vars(tensor).items() if name.startswith("_dynamo_")})
        return moved

    def _requested_calls(self) -> Iterator[CallSpec]:
        generator = torch.Generator().manual_seed(self._job.seed)
        for place, text in enumerate(self._job.calls):
            spec = parse_call(text)
            several = self._distinct_calls() if isinstance(spec, OwnCall) and spec.as_given else []
            if several:
                yield from several[place : place + 1]
            elif isinstance(spec, OwnCall):
                yield self._resized(spec)
            else:
                yield CallSpec(_built(spec.args, generator), _built(spec.kwargs, generator))

    def _distinct_calls(self) -> list[Any]:
        """Return the calls that the file lists, if their sizes differ; functions are not called."""
        name = self._calls_name()
        listed = getattr(self._module, name) if name else None
        if not isinstance(listed, (list, tuple)) or name is None or name.endswith("inputs"):
            return []
        shapes = {
            tuple(tensor.shape for tensor in tree_leaves(call) if isinstance(tensor, torch.Tensor)) for call in listed
        }
        return list(listed) if len(shapes) > 1 else []

    def _resized(self, spec: OwnCall) -> CallSpec:
        """Return the file's first call with the sizes in `spec`; raises JobError if the file has no call."""
        first_call = next(self._file_calls(), None)
        if first_call is None:
            raise JobError("calls", "the file's `calls` are empty, so that there is none to give other sizes")
        return CallSpec(*resized(_call(first_call), spec.sizes, self._job.seed))

    def sets_grad_mode(self) -> bool:
        """Return True if the file's `calls` function names a torch function that sets the grad mode."""
        function = None if self._job.calls else getattr(self._module, self._calls_name() or "", None)
        return isinstance(function, FunctionType) and bool(GRAD_MODES & set(function.__code__.co_names))

    def _calls_name(self) -> str | None:
        names = [f"{self._job.model.name}_calls", "calls", f"{self._job.model.name}_inputs", "inputs"]
        return next((name for name in names if hasattr(self._module, name)), None)

    def _file_calls(self) -> Iterator[Any]:
        name = self._calls_name()
        if name is None:
            raise JobError("model", "the file defines neither `inputs` nor `calls`; add inputs = (torch.randn(8, 64),)")
        value = getattr(self._module, name)
        if name.endswith("inputs"):
            return iter([value])
        return iter(value() if callable(value) else value)


def _widened(value: Any) -> Any:
    """Return a floating tensor in float64, any other value unchanged."""
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return value
    return value.detach().to(torch.float64).requires_grad_(value.requires_grad)


class WideInputs:
    """Inputs in float64: views of one memory stay so, and a call finds what the last call left."""

    def __init__(self) -> None:
        # The last call's inputs by identity, with their versions and their counterparts.
        self._last: dict[int, tuple[torch.Tensor, int, torch.Tensor]] = {}

    def of(self, call: Any) -> Any:
        """Return a call's inputs in float64, as the last call's objects if the file left them."""
        inputs = {id(leaf): leaf for leaf in tree_leaves(call) if isinstance(leaf, torch.Tensor)}
        last = self._last
        self._last = {key: last[key] for key, leaf in inputs.items() if key in last and last[key][1] == _version(leaf)}
        by_memory: dict[object, list[torch.Tensor]] = {}
        for key, leaf in inputs.items():
            if key not in self._last and leaf.is_floating_point():
                by_memory.setdefault(_memory(leaf), []).append(leaf)
        for group in by_memory.values():
            wide = _widened_together(group) if len(group) > 1 else [_widened(group[0])]
            self._last |= {id(leaf): (leaf, _version(leaf), made) for leaf, made in zip(group, wide, strict=True)}
        return tree_map_only(
            torch.Tensor, lambda leaf: self._last[id(leaf)][2] if id(leaf) in self._last else leaf, call
        )


def _version(tensor: torch.Tensor) -> int:
    return 0 if tensor.is_inference() else tensor._version


def _memory(tensor: torch.Tensor) -> object:
    """Return a key of a plain tensor's memory and dtype, or of the tensor itself."""
    is_plain = type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.layout == torch.strided
    address = tensor.untyped_storage().data_ptr() if is_plain else 0
    return (address, tensor.dtype) if address else id(tensor)


def _widened_together(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """Return views of one memory in float64, for tensors that are views of one memory."""
    elements = tensors[0].untyped_storage().nbytes() // tensors[0].element_size()
    if elements > MOST_OF_A_VIEW * sum(tensor.numel() for tensor in tensors):
        return [_widened(tensor) for tensor in tensors]
    whole = tensors[0].detach().as_strided((elements,), (1,), 0).to(torch.float64)
    return [
        whole.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset()).requires_grad_(tensor.requires_grad)
        for tensor in tensors
    ]


def executed(path: Path, job: CompileJob, module_name: str) -> ModuleType:
    """Execute a file as a module of that name with the job's seed, and return the module."""
    seed(job.seed)
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    code = path.read_text(encoding="utf-8")
    files = {str(path), *map(str, cell_paths(path, code))}
    with registering(files), _moving_to(job.device), importing_torch(not job.logs):
        if is_notebook(code):
            run_cells(path, code, vars(module))
        else:
            spec.loader.exec_module(module)
    return module


CELLS = "notebook"


def cell_paths(path: Path, code: str) -> dict[Path, str]:
    """Return the file of each cell of a notebook, `cell 3.py`, with its code; empty for other code."""
    if not is_notebook(code):
        return {}
    return {path.parent / CELLS / f"cell {number}.py": text for number, text in cells_of(code) if number}


def write_cells(path: Path, code: str) -> list[Path]:
    """Write each cell of a notebook to its file, so that a place names the cell; return the files."""
    cells = cell_paths(path, code)
    for cell, text in cells.items():
        cell.parent.mkdir(exist_ok=True)
        cell.write_text(text, encoding="utf-8")
    return list(cells)


def run_cells(path: Path, code: str, names: dict[str, Any]) -> None:
    """Execute the script of a notebook, with the names of each cell's own file."""
    exec(compile(dict(cells_of(code))[0], str(path), "exec"), names)
    for cell, text in cell_paths(path, code).items():
        exec(compile(text, str(cell), "exec"), names)


@contextmanager
def _moving_to(device: str) -> Iterator[None]:
    """Move the tensors that code in this context creates to a device afterwards.

    The code itself runs on the CPU, as its author runs it: a `torch.Generator()` draws there.
    """
    if device == "cpu":
        yield
        return
    earlier = _tensors()
    ids = set(map(id, earlier))
    yield
    for tensor in _tensors():
        if id(tensor) not in ids and tensor.device.type == "cpu" and tensor.grad_fn is None:
            _move(tensor, device)


def _tensors() -> list[torch.Tensor]:
    """Return every tensor of this process, also those in closures and attributes."""
    # An object may warn if it is asked for its class.
    return [value for value in gc.get_objects() if issubclass(type(value), torch.Tensor)]


def _move(tensor: torch.Tensor, device: str) -> None:
    """Move a tensor in place, so that all references to it have the moved one."""
    moved = tensor.detach().to(device)
    if torch._has_compatible_shallow_copy_type(tensor, moved):
        tensor.data = moved
        return
    moved = torch.nn.Parameter(moved, tensor.requires_grad) if isinstance(tensor, torch.nn.Parameter) else moved
    torch.utils.swap_tensors(tensor, moved.requires_grad_(tensor.requires_grad))


def _callable(module: ModuleType, job: CompileJob, path: Path) -> Callable[..., Any]:
    model = getattr(module, job.model.name, None)
    if isinstance(model, type) and issubclass(model, torch.nn.Module):
        model = model()
    if callable(model):
        return model
    names = [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]
    have = f"; it has {', '.join(names[:12])}" if names else ""
    what = "is not callable" if model is not None else "is not defined"
    reason = kind_of(job, path.read_text(encoding="utf-8")).reason
    raise JobError("model.name", f"`{job.model.name}` {what} in the file{have}; {reason}; `--script` runs it as it is")


def _call(value: Any) -> Arguments:
    if isinstance(value, CallSpec):
        return value.args, value.kwargs
    if isinstance(value, dict):
        return (), value
    if isinstance(value, (tuple, list)):
        return tuple(value), {}
    return (value,), {}


def _built(value: Any, generator: torch.Generator) -> Any:
    if isinstance(value, TensorSpec):
        return _random(value, generator)
    if isinstance(value, (list, tuple)):
        return type(value)(_built(element, generator) for element in value)
    if isinstance(value, dict):
        return {key: _built(element, generator) for key, element in value.items()}
    return value


def _random(spec: TensorSpec, generator: torch.Generator) -> torch.Tensor:
    dtype = getattr(torch, spec.dtype)
    if dtype == torch.bool or not (dtype.is_floating_point or dtype.is_complex):
        high = spec.high or 2
        return torch.randint(0, high, spec.shape, generator=generator).to(dtype)
    base = dtype if dtype.is_complex else torch.float32
    return torch.randn(spec.shape, generator=generator, dtype=base).to(dtype)


def described(call: Arguments) -> str:
    """Return the inputs of a call as text, tensors by dtype and shape."""
    args, kwargs = call
    parts = [value_text(value) for value in args]
    return ", ".join([*parts, *(f"{name}={value_text(value)}" for name, value in kwargs.items())])[:2000]


def value_text(value: Any) -> str:
    """Return a value as short text: a tensor by dtype and shape, an unknown object by its type."""
    if isinstance(value, torch.Tensor):
        short = torch.utils._dtype_abbrs.dtype_abbrs.get(value.dtype, str(value.dtype))
        return f"{short}{list(value.shape)}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(value_text(element) for element in value)}]"
    if isinstance(value, (bool, int, float, str, type(None))):
        return repr(value)[:200]
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return str(value)
    return type(value).__name__


def seed(number: int) -> None:
    """Seed torch's generators, Python's, and NumPy's if the user's code imported it."""
    torch.manual_seed(number)
    random.seed(number)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(number % 2**32)


class RngState(NamedTuple):
    """State of the generators that compiled code may use differently: torch's, and NumPy's.

    Python's is not included: Dynamo draws from it as eager does.
    """

    torch: tuple[bytes, ...]
    numpy: tuple[Any, ...]

    def drawn_since(self, before: RngState) -> frozenset[Generators]:
        """Return the generators that were used since an earlier state."""
        used: dict[Generators, bool] = {"torch": self.torch != before.torch, "numpy": self.numpy != before.numpy}
        return frozenset(name for name, is_used in used.items() if is_used)


def rng_state(device: str) -> RngState:
    """Return the state of torch's and NumPy's generators."""
    kind = device.partition(":")[0]
    states = [torch.get_rng_state()] if kind == "cpu" else [torch.get_rng_state(), getattr(torch, kind).get_rng_state()]
    numpy: tuple[Any, ...] = ()
    if "numpy" in sys.modules:
        name, keys, *rest = sys.modules["numpy"].random.get_state()
        numpy = (name, keys.tobytes(), *rest)
    return RngState(tuple(state.numpy().tobytes() for state in states), numpy)


LONGEST_REASON = 300  #: characters of the reason why a comparison with float64 failed
PLACE = re.compile(r'File "(?:[^"]*/)?(?P<file>[^"/]+)", line (?P<line>\d+)')
NO_MLX = (
    '. MLX is not installed in this environment: pip install "mlx[cpu]" (on a Mac: pip install mlx). torch.compile '
    "compiles functions of torch alone; the page Neighbours compares both"
)
# The traced lines in a message of Dynamo, outermost first.
TRACED = re.compile("from user code:|Found from ?:|Original traceback:")
LINE = re.compile(r'File "([^"]+)", line (\d+), in (\S+)\n\s+(.+)')
NOT_IN = re.compile(r"cannot import name '(\w+)'")


def user_frames(paths: Collection[Path], error: BaseException) -> tuple[Frame, ...]:
    """Return the lines of the user's files in an error's traceback, outermost first.

    An error of Dynamo has the traced lines in its message, as an error of a later phase has those of its op.
    """
    files = {str(path) for path in paths}
    frames = [
        Frame(frame.filename, frame.lineno or 0, frame.name, frame.line or "")
        for frame in traceback.TracebackException.from_exception(error).stack
        # The frame of compiled code has the line of its `def`.
        if frame.filename in files and not (frame.line or "").startswith("def ")
    ]
    if isinstance(error, SyntaxError) and error.filename in files:
        line = error.lineno or 0
        frames.append(Frame(error.filename, line, "", linecache.getline(error.filename, line).strip()))
    traced = TRACED.split(str(error), maxsplit=1)[1:]
    lines = LINE.findall(traced[0]) if traced else []
    frames += [Frame(file, int(line), name, text) for file, line, name, text in lines if file in files]
    return tuple(frames)


def first_line(error: BaseException) -> str:
    """Return an error's type and the first line of its message."""
    return f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0]}"[:LONGEST_REASON]


def node_line(node: Node) -> str:
    """Return the innermost frame of an FX node's stack trace, as `file:line: code`; empty without a trace."""
    lines = [line.strip() for line in (node.stack_trace or "").splitlines()]
    places = [(match, at) for at, line in enumerate(lines) if (match := PLACE.match(line))]
    if not places:
        return ""
    place, at = places[-1]
    return ": ".join([Place(place["file"], int(place["line"])).short, *lines[at + 1 : at + 2]])


def suggestion(error: BaseException) -> str:
    """Return a hint about a missing name: the torch module, or how to install MLX; or empty."""
    if isinstance(error, ModuleNotFoundError) and str(error.name).partition(".")[0] == "mlx":
        return NO_MLX
    module, wanted = _missing_name(error)
    path = module.split(".")
    above = [".".join(path[:depth]) for depth in range(len(path) - 1, 0, -1)] if path[0] == "torch" else []
    owner = next((name for name in above if hasattr(sys.modules.get(name), wanted)), None)
    return f". Did you mean: '{owner}.{wanted}'?" if owner else ""


def _missing_name(error: BaseException) -> tuple[str, str]:
    """Return a module and the name it lacks; empty for any other error."""
    if isinstance(error, AttributeError) and isinstance(error.obj, ModuleType):
        return error.obj.__name__, str(error.name)
    match = NOT_IN.match(str(error)) if isinstance(error, ImportError) else None
    return (str(error.name), match[1]) if isinstance(error, ImportError) and match else ("", "")
