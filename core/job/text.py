"""Text form of a job's fields, such as options: `name=value, name=value`.

Readers such as `whole` convert one value and raise ValueError.
"""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from core.base.decoder import decoded
from core.base.errors import DecodeError, JobError
from core.base.files import read
from core.base.words import number
from core.job.arguments import short
from core.job.model import CompileOptions, DynamicDim, OptionValue

# The parameters of an alternative configuration, and their types.
OWN = {
    **{"fullgraph": bool, "dynamic": bool, "backend": str, "mode": str},
    **{"disable": bool, "recompile_limit": int, "isolate_recompiles": bool},
}
OPTION = "options."
RANGE = re.compile(r"(?:inputs\.)?(?P<at>[\w.+]+)\s*(?:=\s*(?P<least>\d{0,18})\.\.(?P<most>\d{0,18}))?")
MAX_CODE_BYTES = 1_000_000  #: limit: pasted code
MAX_CALLS_CHARS = 40_000  #: limit: all calls of a job
MAX_OPTIONS_CHARS = 10_000  #: limit: options of one kind, as text
MAX_SIZE_CHARS = 1_000  #: a size or a dynamic dimension, as text
MAX_SIZE_DIGITS = 18  #: digits of a size
MOST_ARGUMENTS = 256  #: limit: arguments of a script
MAX_ARGUMENT_CHARS = 20_000  #: limit: characters of all arguments of a script
CONSTANTS = {"True": "true", "False": "false", "None": "null"}
DYNAMIC = {"automatic": None, "always": True, "never": False}
NONE = ("", "none", "None", "null")
FLAGS = {"true": True, "false": False, "True": True, "False": False, "yes": True, "no": False, "1": True, "0": False}
Reader = Callable[[str], OptionValue | tuple[str, ...]]


def code_of(path: str, field: str, most_bytes: int = MAX_CODE_BYTES) -> str:
    """Return the code of a file, with Unix line endings; raises JobError, which names `field`."""
    try:
        return read(Path(path), most_bytes).decode("utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        raise JobError(field, f"{path} cannot be read: {reason}") from None


def options_from_text(text: str, field: str = "compile.options") -> dict[str, Any] | None:
    """Return the options in a text `name=value, name=value`; None if the text is empty.

    Raises JobError that names the field. A comma is part of the value unless `name=` follows, as in
    `max_autotune_gemm_backends=CPP,ATEN`.
    """
    if not short(text, MAX_OPTIONS_CHARS, field).strip():
        return None
    options: dict[str, Any] = {}
    for part in re.split(r",(?=\s*[\w.]+\s*=)", text.rstrip().removesuffix(",")):
        name, separator, value = part.partition("=")
        if not separator:
            raise JobError(field, f"`{part.strip()[:60]}`: write name=value")
        try:
            options[name.strip()] = decoded(CONSTANTS.get(value.strip(), value.strip()))
        except DecodeError:
            options[name.strip()] = value.strip().strip("\"'")
    return options


def bits_from_text(text: str) -> dict[str, OptionValue]:
    """Return the settings of the other configuration of a bitwise comparison; raises JobError.

    The settings are typed as `batch=1, options.NAME=VALUE`.
    """
    return options_from_text(text, "bits") or {}


def options_as_text(options: Mapping[str, OptionValue]) -> str:
    """Return options as text that `options_from_text` reads."""
    return ", ".join(f"{name}={_as_typed(value)}" for name, value in options.items())


def _as_typed(value: OptionValue) -> str:
    return str(value) if value is None or isinstance(value, bool) else msgspec.json.encode(value).decode()


def sizes_from_text(texts: Sequence[str]) -> dict[str, int]:
    """Return the sizes by dimension, each typed as `WHERE=N`; raises JobError."""
    sizes: dict[str, int] = {}
    for text in texts:
        where, separator, size = short(text, MAX_SIZE_CHARS, "sizes").partition("=")
        if not separator or not re.fullmatch(rf"\d{{1,{MAX_SIZE_DIGITS}}}", size.strip()):
            raise JobError("sizes", f"`{text[:60]}`: write batch=64, or 0.1=128")
        sizes[where.strip()] = int(size)
    return sizes


def compile_options_from_text(text: str, field: str) -> CompileOptions:
    """Return the torch.compile parameters typed as `mode=…, options.NAME=VALUE`; raises JobError."""
    typed = options_from_text(text, field) or {}
    parameters: dict[str, Any] = {name: value for name, value in typed.items() if name in OWN}
    options = {name.removeprefix(OPTION): value for name, value in typed.items() if name.startswith(OPTION)}
    strange = next((name for name in typed if name not in OWN and not name.startswith(OPTION)), None)
    if strange is not None:
        raise JobError(field, f"`{strange[:60]}` is none of {', '.join(OWN)}; write {OPTION}NAME for Inductor's own")
    for name, kinds in OWN.items():
        if name in parameters and parameters[name] is not None and not isinstance(parameters[name], kinds):
            raise JobError(f"{field}.{name}", f"`{parameters[name]}` is no {kinds.__name__}")
    return CompileOptions(**parameters, options=options or None)


def compile_options_as_text(options: CompileOptions) -> str:
    """Return torch.compile parameters as text that `compile_options_from_text` reads.

    For the default parameters, the text names the backend, since an empty text means no parameters.
    """
    default = CompileOptions()
    values = {name: getattr(options, name) for name in OWN if getattr(options, name) != getattr(default, name)}
    values |= {f"{OPTION}{name}": value for name, value in (options.options or {}).items()}
    return options_as_text(values or {"backend": options.backend})


def sizes_as_text(sizes: Mapping[str, int]) -> str:
    """Return sizes as one line of text: `WHERE=N, WHERE=N`."""
    return ", ".join(f"{where}={size}" for where, size in sizes.items())


def dims_from_text(texts: Sequence[str]) -> tuple[DynamicDim, ...]:
    """Return dynamic dimensions, each typed as `WHERE=MIN..MAX` or `WHERE` alone; raises JobError."""
    dims = []
    for text in texts:
        match = RANGE.fullmatch(short(text, MAX_SIZE_CHARS, "aoti.dims").strip())
        if match is None:
            raise JobError("aoti.dims", f"`{text[:60]}`: write batch=1..128, or 0.1=2.. for dimension 1 of argument 0")
        least, most = (int(bound) if bound else None for bound in match.group("least", "most"))
        dims.append(DynamicDim(match["at"], least, most))
    return tuple(dims)


def whole(text: str) -> int:
    """Return a text as an integer; raises ValueError."""
    if not re.fullmatch(r"-?\d{1,18}", text):
        raise ValueError(f"`{text[:60]}` is no whole number")
    return int(text)


def whole_or_none(text: str) -> int | None:
    """Return a text as an integer; None for `none` or an empty text. Raises ValueError."""
    return None if text in NONE else whole(text)


def flag(text: str) -> bool:
    """Return True or False for a text such as `true`, `no` or `1`; raises ValueError."""
    if text not in FLAGS:
        raise ValueError(f"`{text[:60]}`: write true or false")
    return FLAGS[text]


def flag_or_none(text: str) -> bool | None:
    """Return True or False for a text; None for `none` or an empty text. Raises ValueError."""
    return None if text in NONE else flag(text)


def dynamic(text: str) -> bool | None:
    """Return the value of `dynamic`: None for `automatic`, True for `always`, False for `never`.

    Other texts are read as by `flag_or_none`.
    """
    if text in DYNAMIC:
        return DYNAMIC[text]
    try:
        return flag_or_none(text)
    except ValueError:
        raise ValueError(f"`{text[:60]}` is none of {', '.join(DYNAMIC)}, true, false") from None


def word(text: str) -> str:
    """Return the text itself; `none` becomes empty."""
    return "" if text in NONE else text


def word_or_none(text: str) -> str | None:
    """Return the text itself; None for `none` or an empty text."""
    return None if text in NONE else text


def several(text: str) -> tuple[str, ...]:
    """Return the parts of a text separated by `;`; no parts for `none` or an empty text."""
    return () if text in NONE else tuple(part.strip() for part in text.split(";"))


def arguments_from_text(text: str) -> tuple[str, ...]:
    """Return the arguments of a script as a shell splits them; raises JobError."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise JobError("arguments", f"they cannot be read: {error}") from None


def arguments_problem(arguments: tuple[str, ...]) -> str:
    """Return why a job may not have these arguments; empty if they are allowed."""
    if len(arguments) > MOST_ARGUMENTS:
        return f"at most {number(MOST_ARGUMENTS)} arguments"
    return f"at most {number(MAX_ARGUMENT_CHARS)} characters" if sum(map(len, arguments)) > MAX_ARGUMENT_CHARS else ""
