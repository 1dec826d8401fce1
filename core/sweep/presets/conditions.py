"""Presets of one condition: dtype, inference or training, threads, calls, caches.

`NUMERICS` compares eager and compiled results with float64, in each floating dtype below float64. `START` runs the
first calls of a process with empty caches, with caches that another process filled, and with that process's bundle.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from core.analysis.durations import CLASS_WORDS
from core.analysis.dynamo.costs import FrameStart
from core.analysis.speed import calls_to_pay
from core.base.machine import Environment
from core.base.words import bytes_, calls_after, count, duration_s, ratio
from core.job import CompileJob
from core.sweep.model import DYNAMO, VARIANT, Axis, AxisValue
from core.sweep.presets.preset import (
    Answer,
    BreakEven,
    Plan,
    Preset,
    Question,
    ResultFact,
    StartFact,
    ended,
    faster,
    interval_words,
    label,
    listed,
    quickest,
    seconds,
    speed_fact,
    speed_words,
)
from core.sweep.store import SweepRow

DTYPES = ("float32", "bfloat16", "float16", "float64")
MOST_THREADS = 64  #: limit: threads in the preset on threads
FLOATING = ("float32", "bfloat16", "float16")


def dtypes(base: CompileJob, environment: Environment) -> Plan:
    """Return a plan with a cell per floating dtype; model and inputs are cast to the dtype."""
    return Plan(_with_measuring(base), (Axis("dtype", DTYPES),))


def trainings(base: CompileJob, environment: Environment) -> Plan:
    """Return a plan with two cells: the forward alone, and the forward with its backward."""
    return Plan(_with_measuring(base), (Axis("training", (False, True), ("inference", "training")),))


def threads(base: CompileJob, environment: Environment) -> Plan:
    """Return a plan with a cell for each power of two below the number of CPUs, and for that number.

    The number of CPUs is limited to 64.
    """
    most = min(max(1, environment.cpus), MOST_THREADS)
    counts = sorted({*(2**power for power in range(7) if 2**power < most), most})
    return Plan(_with_measuring(base), (Axis("threads", tuple(counts)),))


def _with_measuring(base: CompileJob) -> CompileJob:
    return replace(base, measure=True, target="", rival=None)


def answer(question: Question) -> Answer:
    """Return each cell's ratio, the fastest compiled call, and cells whose results differ from eager's."""
    done = ended(question.rows)
    return Answer(
        sentence=_sentence(done),
        notes=_unlike(done),
        facts=tuple(map(speed_fact, done)),
    )


def _sentence(done: Sequence[SweepRow]) -> str:
    texts = [f"{label(row)}: {speed_words(row)}" for row in done if speed_words(row)]
    if not texts:
        return ""
    best = quickest([row for row in done if not row.disturbed])
    first = f"Compiled is quickest with {label(best)}, {duration_s(best.compiled_s)}; " if best and done[1:] else ""
    return f"{first}{'; '.join(texts)}."


def _unlike(done: Sequence[SweepRow]) -> tuple[str, ...]:
    """Return the cells whose results differ from their eager results, in words."""
    names = [f"{label(row)} ({row.results_words})" for row in done if row.results == "differs"]
    return (f"Results differ from eager's with {listed(names)}.",) if names else ()


def training_answer(question: Question) -> Answer:
    """Return the ratios of inference and training, and the wrapper's times of forward and backward."""
    result = answer(question)
    parts = tuple(
        f"{label(row)}: " + ", ".join(f"{name} {duration_s(part)}" for name, part in row.directions_s.items())
        for row in ended(question.rows)
        if row.directions_s
    )
    notes = (f"In Inductor's wrapper, a call takes: {'; '.join(parts)}.",) if parts else ()
    return replace(result, notes=(*notes, *result.notes))


def threads_answer(question: Question) -> Answer:
    """Return the change in eager and compiled time from the fewest to the most threads."""
    result = answer(question)
    done = sorted(
        (row for row in ended(question.rows) if row.eager_s and row.compiled_s), key=lambda row: int(row.at[0])
    )
    if len(done) < 2:
        return result
    fewest, most = done[0], done[-1]
    eager = (fewest.eager_s or 0.0) / (most.eager_s or 1.0)
    compiled = (fewest.compiled_s or 0.0) / (most.compiled_s or 1.0)
    ends = f"From {label(fewest)} to {count(int(most.at[0]), 'thread')}"
    words = f"{ends} eager takes {ratio(1 / eager)} its time, compiled {ratio(1 / compiled)}"
    ratios = [f"{interval_words(row.ratio)} with {label(row)}" for row in (fewest, most) if row.ratio is not None]
    return replace(result, sentence=f"{words}; eager over compiled: {', '.join(ratios)}.")


DTYPE = Preset(
    "dtype",
    "Dtype",
    "How fast is the model in each floating dtype, and are its results eager's?",
    dtypes,
    answer,
    fields=("dtype",),
)
TRAINING = Preset(
    "training",
    "Inference or training",
    "Does compiling pay for the forward alone, and for the forward with its backward?",
    trainings,
    training_answer,
    fields=("training",),
)
THREADS = Preset(
    "threads",
    "Threads",
    "How do eager and compiled scale with the threads of the CPU?",
    threads,
    threads_answer,
    fields=("threads",),
)


def numerics_plan(base: CompileJob, environment: Environment) -> Plan:
    """Return a plan with a cell per dtype that compares outputs and gradients with float64."""
    compared = replace(base, numerics="results", measure=False, target="", rival=None)
    return Plan(compared, (Axis("dtype", FLOATING),))


def numerics_answer(question: Question) -> Answer:
    """Return for each dtype whether compiled is as close to float64 as eager."""
    facts = tuple(map(result_fact, ended(question.rows)))
    texts = [f"{result.label}: {_within(result.words)}" for result in facts if result.words]
    return Answer(
        sentence=f"{'; '.join(texts)}." if texts else "",
        columns={"against float64": tuple(row.numerics_words for row in question.rows)},
        facts=facts,
    )


def result_fact(row: SweepRow) -> ResultFact:
    """Return a row's comparison with float64, or with eager if float64 was not computed."""
    same = {
        "same": "results are eager's",
        "other strides": "values are eager's",
        "differs": f"results differ from eager's: {row.results_words}",
    }
    return ResultFact(label(row), row.results, row.numerics_words or same.get(row.results, row.results_words))


def _within(words: str) -> str:
    """Return the text before the first colon, without a final period, with a lowercase first letter."""
    first = words.partition(":")[0].removesuffix(".")
    return f"{first[:1].lower()}{first[1:]}"


NUMERICS = Preset(
    "numerics",
    "Numerics",
    "Are compiled results as close to float64 as eager's?",
    numerics_plan,
    numerics_answer,
)


CACHES = ("cold", "warm")


def calls_plan(base: CompileJob, environment: Environment) -> Plan:
    """Return a plan with two cells: a process with empty caches, and a process with filled caches."""
    return Plan(replace(base, measure=True, target="", rival=None), (Axis("caches", CACHES),))


def calls_answer(question: Question) -> Answer:
    """Return the number of calls after which compiling pays off, with cold and with warm caches."""
    done = ended(question.rows)
    facts = {row.at: break_even(row) for row in done}
    return Answer(
        sentence=_calls_sentence(tuple(facts.values()), done),
        notes=_notes(done),
        columns={
            "cost of the first calls": tuple(
                seconds(facts[row.at].cost_s) if row.at in facts else "" for row in question.rows
            ),
            "pays off": tuple(pays_words(facts.get(row.at)) for row in question.rows),
        },
        facts=tuple(facts.values()),
    )


def break_even(row: SweepRow) -> BreakEven:
    """Return a row's break-even, without calls if a time is missing or nothing is clearly saved."""
    cost_s = cost(row)
    if cost_s is None or row.eager_s is None or row.ratio is None or not faster(row) or row.disturbed:
        return BreakEven(label(row), None, cost_s)
    return BreakEven(label(row), calls_to_pay(cost_s, row.eager_s, row.ratio), cost_s)


def cost(row: SweepRow) -> float | None:
    """Return the seconds by which a row's calls exceed the compiled steady state; None if not measured."""
    if row.compiled_s is None or not row.calls:
        return None
    return sum(max(0.0, (call.compiled_s or 0.0) - row.compiled_s) for call in row.calls)


def pays_words(pays: BreakEven | None) -> str:
    """Return the calls after which compiling pays off, in words; empty if it does not measurably pay off."""
    if pays is None or pays.calls is None:
        return ""
    return calls_after(*pays.calls)


def _calls_sentence(facts: tuple[BreakEven, ...], done: tuple[SweepRow, ...]) -> str:
    texts = [f"{pays_words(fact)} with {fact.label} caches" for fact in facts if fact.calls]
    if texts:
        return f"Break-even: {', '.join(texts)}."
    if any(faster(row) for row in done):
        return "Compiled is faster, but the number of calls after which it pays off is unknown."
    if any(fact.cost_s is not None for fact in facts):
        return "Compiled is not clearly faster, so compiling does not pay off."
    return ""


def _notes(done: tuple[SweepRow, ...]) -> tuple[str, ...]:
    texts = [f"{duration_s(row.first_compiled_s)} with {label(row)} caches" for row in done if row.first_compiled_s]
    return (f"The first compiled call took {', '.join(texts)}.",) if texts else ()


CALLS = Preset(
    "calls",
    "Number of calls",
    "After how many calls does compiling pay off, with cold and warm caches?",
    calls_plan,
    calls_answer,
    "cumulative",
    ("caches",),
)


PRECOMPILE = "caching_precompile"
COLD, WARM, BUNDLE = "cold", "warm", "bundle"
DYNAMOS_CODE = " with Dynamo's code"
# For the end of the first process, and for the beginning of each next one.
BUNDLE_CODE = """\
saved = torch.compiler.save_cache_artifacts()
Path("compiled.bin").write_bytes(saved[0])

torch.compiler.load_cache_artifacts(Path("compiled.bin").read_bytes())
"""


def start_plan(base: CompileJob, environment: Environment) -> Plan:
    """Return a plan with cold caches, warm caches and a bundle.

    Where torch can save Dynamo's code, the last two have cells with it, too.
    """
    states: dict[str, AxisValue] = {state: {"caches": state} for state in (COLD, WARM, BUNDLE)}
    if any((option.module, option.name) == ("dynamo", PRECOMPILE) for option in environment.options):
        for state in (WARM, BUNDLE):
            states[f"{state}{DYNAMOS_CODE}"] = {"caches": state, f"{DYNAMO}{PRECOMPILE}": True}
    plain = replace(base, measure=False, target="", rival=None)
    return Plan(plain, (Axis(VARIANT, tuple(states.values()), tuple(states)),))


def start_answer(question: Question) -> Answer:
    """Return the seconds of each start, what was still compiled in it, and how to stop that."""
    starts = {label(row): row for row in ended(question.rows)}
    facts = tuple(map(_start_fact, starts.values()))
    code = [f"torch._dynamo.config.{PRECOMPILE} = True\n\n"] if _with_dynamo(starts) else []
    return Answer(
        sentence=_start_sentence({fact.label: fact for fact in facts}),
        notes=tuple(_start_notes(starts)),
        columns={
            "bundle": tuple(_bundle_words(row) for row in question.rows),
            "still compiled": tuple(_still_compiled(row) for row in question.rows),
        },
        facts=facts,
        code="".join([*code, BUNDLE_CODE]) if any(BUNDLE in name for name in starts) else "",
    )


def _bundle_words(row: SweepRow) -> str:
    return bytes_(row.filled.bundle_bytes) if row.filled and row.filled.bundle_bytes else ""


def _with_dynamo(starts: Collection[str]) -> list[str]:
    return [name for name in starts if name.endswith(DYNAMOS_CODE)]


def _start_fact(row: SweepRow) -> StartFact:
    size = row.filled.bundle_bytes if row.filled else 0
    return StartFact(label(row), row.compile_s, row.first_compiled_s, size, row.frames)


def _start_sentence(starts: Mapping[str, StartFact]) -> str:
    cold = starts[COLD].compile_s if COLD in starts else None
    others = [start for start in starts.values() if start.label != COLD and start.compile_s is not None]
    if cold is None or not others:
        return ""
    first, *texts = [f"{duration_s(start.compile_s)} with {_start_words(start)}" for start in others]
    rest = f"; {listed(texts)}" if texts else ""
    return f"A second process compiles for {first}, instead of {duration_s(cold)} with empty caches{rest}."


def _start_words(start: StartFact) -> str:
    also = " and Dynamo's code" if start.label.endswith(DYNAMOS_CODE) else ""
    if start.label.startswith(WARM):
        return f"the caches{also} kept"
    return f"a bundle{DYNAMOS_CODE if also else ''} of {bytes_(start.bundle_bytes)}"


def _start_notes(starts: Mapping[str, SweepRow]) -> Iterator[str]:
    """Yield what each second process still compiled, and the change that stops it."""
    for name in (name for name in starts if name != COLD):
        frames = starts[name].frames
        by_class = Counter[str]()
        for frame in frames:
            by_class.update(frame.phases_s)
        if by_class.total() > 0:
            kind, took_s = by_class.most_common(1)[0]
            words = f"{CLASS_WORDS[kind]} ({duration_s(took_s)} of {duration_s(by_class.total())})"
            yield f"{name[:1].upper()}{name[1:]}: most of what is left is {words}. {_remedy(name, kind, starts)}"
        for frame in frames:
            yield from (
                f"{name}: a cache was bypassed for `{frame.function}` [{frame.compilation}], {_frame_s(frame)} at "
                f"every start: {' '.join(reason.split())}"
                for reason in frame.reasons
            )


def _frame_s(frame: FrameStart) -> str:
    """Return the seconds of a compilation after Dynamo, which a bypassed cache costs."""
    return duration_s(frame.seconds - frame.phases_s.get("dynamo", 0.0))


def _remedy(name: str, kind: str, starts: Mapping[str, SweepRow]) -> str:
    """Return how to stop the work of a class of phases in a second process."""
    missed = [frame for frame in starts[name].frames if "miss" in frame.outcomes.values()]
    if kind == "dynamo" and not name.endswith(DYNAMOS_CODE):
        saves = f"`torch._dynamo.config.{PRECOMPILE} = True` saves Dynamo's code, too; torch calls it experimental"
        without = "Dynamo traces in every process; only an AOTInductor package starts without it"
        return f"{saves if _with_dynamo(starts) else without}."
    if missed:
        return (
            f"{count(len(missed), 'graph')} missed the cache: its key differs between processes. Compare two runs "
            "with `compare RUN OTHER --aspect caches`."
        )
    if kind == "compile" and BUNDLE in name:
        return "The bundle has no compiled C++. Set `TORCHINDUCTOR_CACHE_DIR` to a folder that outlives the process."
    return "It loads what the caches have."


def _still_compiled(row: SweepRow) -> str:
    """Return the seconds of the longest compilations by phase class."""
    texts = []
    for frame in row.frames[:MOST_STILL]:
        parts = sorted(frame.phases_s.items(), key=lambda part: -part[1])[:MOST_STILL]
        classes = ", ".join(f"{CLASS_WORDS[kind]} {duration_s(took_s)}" for kind, took_s in parts if took_s > 0)
        texts.append(f"{frame.function or frame.compilation}: {classes}")
    return "; ".join(texts)


MOST_STILL = 3  #: compilations, and phase classes of each, in a cell of the table
START = Preset(
    "start",
    "Second start",
    "What does a second process still compile, with its caches kept or with a bundle?",
    start_plan,
    start_answer,
)
