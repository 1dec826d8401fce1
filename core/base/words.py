"""Numbers and run ids as text: three significant digits, a unit, "not recorded" for missing values.

Other modules write numbers with these functions. A number that an owner or a visitor has set, such as a
limit, is written as short as possible.
"""

import math
import re
import secrets
import time
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from itertools import pairwise
from numbers import Integral
from pathlib import Path

NOT_RECORDED = "not recorded"

_DURATIONS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_DECIMALS = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_GIB = 1024**3
# Characters that start a formula in a spreadsheet, including fullwidth forms.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
# Tick steps between two powers of ten, from coarse to fine.
_STEPS = ((1,), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), (1, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 5, 6, 7, 8, 9))
FEWEST_TICKS = 3
_AGES = ((86_400 * 365, "year"), (86_400, "day"), (3_600, "hour"), (60, "minute"))
# Run ids, used as names of directories: creation time, subject, and four random hexadecimal digits. `ID@3` is rank 3.
RUN_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[a-z0-9_]{1,40}-[0-9a-f]{4}")
RANKED_ID = re.compile(rf"({RUN_ID.pattern})(?:@(0|[1-9][0-9]{{0,5}}))?")
STAMP = "%Y%m%d-%H%M%S"
STAMP_CHARS = 15


def number(x: float | None) -> str:
    """Write a number with three significant digits and thousands separators; integers stay exact."""
    if x is None:
        return NOT_RECORDED
    # An integer in a table may be numpy's.
    if isinstance(x, Integral):
        return _minus(f"{int(x):,}")
    if not math.isfinite(x):
        return {"inf": "∞", "-inf": "−∞"}.get(str(x), "not a number")
    return _minus(_three_digits(x))


def exact(x: float) -> str:
    """Write a number that somebody set, as short as possible: "2", "0.5", "1,000,000"."""
    return _minus(f"{x:,}" if isinstance(x, int) else f"{x:,.15g}")


def limit_s(x: float) -> str:
    """Write a limit in seconds, the unit in which it is set: "600 s"."""
    return f"{exact(x)} s"


def gib(n: float) -> str:
    """Write bytes in GiB, the unit of limits: whole numbers as "8 GiB", others as "0.312 GiB"."""
    size = n / _GIB
    return f"{exact(size if size == int(size) else round(_round_to_three(size), 3))} GiB"


def duration_s(x: float | None) -> str:
    """Write seconds in the most readable unit: "12.0 µs", "1.82 ms", "3.40 s", "2 min 5 s", "1 h 12 min"."""
    if x is None:
        return NOT_RECORDED
    if not math.isfinite(x):
        return f"{number(x)} s"
    if x < 0:
        return f"−{duration_s(-x)}"
    if x >= 99.95:
        return _long_duration(math.floor(x + 0.5))
    if x == 0:
        return "0 s"
    scale, unit = next((pair for pair in _DURATIONS if _round_to_three(x) >= pair[0]), _DURATIONS[-1])
    return f"{number(x / scale)} {unit}"


def estimate_s(x: float) -> str:
    """Write estimated seconds: "about 9 s", "about 2 min 5 s"; whole seconds from 1 s up."""
    return f"about {round(x)} s" if 1 <= x < 99.95 else f"about {duration_s(x)}"


def predicted_s(x: float, bounds: tuple[float, float]) -> str:
    """Write predicted seconds with their interval, in two digits and one unit: "about 12 µs (8.1–18)"."""
    scale, unit = next((pair for pair in _DURATIONS if _round_to_three(x) >= pair[0]), _DURATIONS[-1])
    middle, low, high = (_two_digits(seconds / scale) for seconds in (x, *bounds))
    return f"about {middle} {unit} ({low}–{high})"


def _two_digits(x: float) -> str:
    rounded = float(f"{x:.1e}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:.1f}" if rounded >= 1 else f"{rounded:.2g}"


def amount(n: float | None, unit: str = "") -> str:
    """Write a count with three digits and a decimal prefix: "1.20 M"; with unit "FLOP", "1.20 MFLOP"."""
    return _with_prefix(n, unit).rstrip()


def bytes_(n: float | None) -> str:
    """Write an amount of bytes in decimal units, as PyTorch counts GB/s: "512 B", "1.50 MB"."""
    return _with_prefix(n, "B")


def per_second(x: float | None, unit: str = "B") -> str:
    """Write a rate in decimal units: "812 GB/s"; with unit "FLOP", "1.20 TFLOP/s"."""
    return _with_prefix(x, f"{unit}/s")


def ratio(x: float | None, bounds: tuple[float, float] | None = None) -> str:
    """Write a ratio, with the bounds of its interval if given: "1.82× (1.78–1.86)"."""
    if x is None:
        return NOT_RECORDED
    return f"{number(float(x))}×" + (f" ({number(bounds[0])}–{number(bounds[1])})" if bounds else "")


def ratio_tick(x: float) -> str:
    """Write a ratio at a tick of an axis, without zeros at its end: "0.5×", "1×", "20×"."""
    return f"{x:.6g}×"


def power_of_ten(exponent: int) -> str:
    """Write a power of ten, for the ticks of an axis: "10⁻⁵", "10", "1"."""
    if exponent in (0, 1):
        return str(10**exponent)
    return "10" + str(exponent).translate(_SUPERSCRIPTS)


def percent(x: float | None) -> str:
    """Write a fraction as a percentage: 0.123 is "12.3 %"."""
    return NOT_RECORDED if x is None else f"{number(float(x) * 100)} %"


def kernel_share(part: float, is_predicted: bool) -> str:
    """Write a share of the kernels' time; of predicted times it is the least that their intervals allow."""
    return f"at least {percent(part)} of predicted kernel time" if is_predicted else f"{percent(part)} of kernel time"


def share(part: float, total: float) -> str:
    """Write a measured part of a measured total as a percentage.

    A part that was timed alone may take as long as the total, or longer; it is written as "about all".
    """
    return "about all" if part >= total else percent(part / total)


def ordinal(n: int) -> str:
    """Write an ordinal: "14th", "21st", "1,013th"."""
    suffix = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n:,}{suffix}"


def calls_after(soonest: int, latest: int) -> str:
    """Write an estimated number of calls in two digits: "after about 690 calls", "after 590–790 calls"."""
    low, high = (int(float(f"{calls:.1e}")) for calls in (soonest, latest))
    return f"after about {count(low, 'call')}" if low == high else f"after {low:,}–{high:,} calls"


def count(n: int | None, noun: str, plural: str | None = None) -> str:
    """Write a count with its noun: "1 kernel", "4 kernels"; with a `plural`, "2 graphs with breaks"."""
    if n is None:
        return f"{plural or noun + 's'} {NOT_RECORDED}"
    return f"{number(n)} {agree(n, noun, plural or noun + 's')}"


def ranges_words(numbers: Sequence[int]) -> str:
    """Write ascending integers, with consecutive integers as ranges: "0–7", "0–2, 5"."""
    starts = [index for index, value in enumerate(numbers) if index == 0 or value != numbers[index - 1] + 1]
    pairs = [(numbers[start], numbers[end - 1]) for start, end in pairwise([*starts, len(numbers)])]
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in pairs)


def agree(n: int | None, singular: str, plural: str) -> str:
    """Return the word that agrees with a count: "is" or "are", "differs" or "differ"."""
    return singular if n == 1 else plural


def suggestion(name: str, known: Iterable[str], most: int = 1) -> str:
    """Write a hint on an unknown name: "did you mean mlp?", or all known names if none is similar."""
    names = tuple(known)
    close = get_close_matches(name[:100], names, n=most, cutoff=0.5)
    return f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(names)}"


def ago(ts: float | None, now: float) -> str:
    """Write how long ago a moment was, such as "3 minutes ago"; both times are in seconds since the epoch."""
    if ts is None:
        return NOT_RECORDED
    age_s = now - ts
    for seconds, unit in _AGES:
        if age_s >= seconds:
            return f"{count(int(age_s // seconds), unit)} ago"
    return "just now"


def _with_prefix(x: float | None, unit: str) -> str:
    if x is None:
        return NOT_RECORDED
    size = _round_to_three(abs(x)) if math.isfinite(x) else 0
    for scale, prefix in _DECIMALS:
        if size >= scale:
            return f"{number(x / scale)} {prefix}{unit}"
    return f"{number(int(x) if x == int(x) else x) if math.isfinite(x) else number(x)} {unit}"


def _long_duration(seconds: int) -> str:
    minutes, rest_s = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes} min {rest_s} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes} min"


def _three_digits(x: float) -> str:
    if x == 0:
        return "0"
    if 1e-4 <= abs(x) < 1e15:
        return f"{_round_to_three(x):,.{_decimals(x)}f}"
    mantissa, exponent = f"{x:.2e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def _decimals(x: float) -> int:
    """Return the number of decimals for three significant digits."""
    if x == 0:
        return 2
    return max(0, 2 - math.floor(math.log10(abs(_round_to_three(x)))))


def _round_to_three(x: float) -> float:
    return float(f"{x:.2e}")


def _minus(text: str) -> str:
    return f"−{text[1:]}" if text.startswith("-") else text


def spreadsheet_cell(value: object) -> object:
    """Return a value for a CSV file; a text that a spreadsheet would read as a formula gets an apostrophe."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


# Texts by which a library reports a slow path, or a deprecation.
SLOW = re.compile(
    r"\b(?:fall(?:s|ing)?[ -]?back|fallback|much slower|slower|slow path|is slow|(?:is|are) not installed"
    r"|fast path is not available|not been compiled with|without (?:the )?(?:fast|optimi[sz]ed))\b",
    re.IGNORECASE,
)
DEPRECATED = re.compile(r"\bdeprecated\b|\bDeprecationWarning\b|\bFutureWarning\b", re.IGNORECASE)


def log_ticks(low: float, high: float) -> list[float]:
    """Return ticks of a log axis between two numbers: the coarsest with at least three ticks."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found: list[float] = []
    for steps in _STEPS:
        every = [round(step * 10.0**power, 12) for power in powers for step in steps]
        found = [tick for tick in every if low <= tick <= high]
        if len(found) >= FEWEST_TICKS:
            return found
    unit = 10.0 ** math.floor(math.log10((high - low) / FEWEST_TICKS))
    apart = (unit * times for times in (5, 2, 1))
    linear = ([k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)] for step in apart)
    return next((ticks for ticks in linear if len(ticks) >= FEWEST_TICKS), found)


def first_of(names: Sequence[str], most: int) -> str:
    """Return the first names of a list, and how many more there are: "add, mul, sin +4"."""
    more = f" +{number(len(names) - most)}" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def word_list(names: Sequence[str]) -> str:
    """Return names in a sentence: "a, b and c"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def fresh_id(title: str, folder: Path | None = None) -> str:
    """Return a new run id from the current time and a title; no run in the folder has this id."""
    slug = re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_")[:40] or "run"
    run_id = f"{time.strftime(STAMP)}-{slug}-{secrets.token_hex(2)}"
    return fresh_id(title, folder) if folder is not None and (folder / run_id).exists() else run_id


def creation_time_s(run_id: str) -> float:
    """Return a run's creation time in seconds since the epoch; 0 if its id has no valid time."""
    try:
        return time.mktime(time.strptime(run_id[:STAMP_CHARS], STAMP))
    except (ValueError, OverflowError):
        return 0.0


def slug_of(run_id: str) -> str:
    """Return the subject of a run, from its id."""
    return run_id.partition("@")[0][STAMP_CHARS + 1 : -5]


def split_rank(run_id: str) -> tuple[str, int | None]:
    """Return a run's id without its rank, empty for any other text, and the rank or None."""
    match = RANKED_ID.fullmatch(run_id)
    if match is None:
        return "", None
    return match[1], None if match[2] is None else int(match[2])


def with_rank(run_id: str, rank: int) -> str:
    return f"{run_id.partition('@')[0]}@{rank}"
