"""A script's run: its end, its entry points, and their calls as rows."""

from __future__ import annotations

from dataclasses import dataclass

from core.base import words as fmt
from core.report import Call, EntryPoint, Report, Script
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, one_line
from core.views.speedup import EXECUTIONS, NOT_COMPARED

MOST_CALL_LINES = 8
NOTHING = (
    "The script made no call of torch.compile. To compile a callable of the file, name it and its inputs: "
    "`FILE.py:NAME`, with `inputs = (…)` in the file."
)


@dataclass(frozen=True, slots=True)
class ScriptView:
    """The run of a script; `script` is its end, and `calls` are its recorded calls."""

    script: Script
    calls: tuple[Call, ...]

    @classmethod
    def of(cls, report: Report) -> ScriptView | None:
        """Return the view of a report; None if it is not of a script that has ended."""
        return cls(report.script, report.calls) if report.script is not None else None

    @property
    def title(self) -> str:
        """The exit code, the number of entry points and calls, and the time."""
        script = self.script
        made = f"{fmt.count(len(script.entries), 'compiled callable')}, {fmt.count(sum(script.calls), 'call')}"
        return f"Exit code {script.exit_code} after {fmt.duration_s(script.seconds)}: {made}."

    @property
    def note(self) -> str:
        """Reason why nothing is compared, or advice for a script that compiled nothing."""
        return NOT_COMPARED if self.script.entries else NOTHING

    @property
    def left_out(self) -> str:
        """Number of calls without a record of their own; empty if all have one."""
        more = sum(self.script.calls) - len(self.calls)
        if more <= 0:
            return ""
        return f"{fmt.count(more, 'call')} more, without a row: nested in another call, or after the first 2,000."

    @property
    def entry_rows(self) -> list[dict[str, object]]:
        """Entry points as rows of a table."""
        return [
            {
                "callable": one_line(entry.name, LONGEST_NAME),
                "torch.compile at": one_line(entry.place.short, LONGEST_NAME),
                "backend": one_line(entry.backend, LONGEST_NAME),
                "options": one_line(entry.options, LONGEST_LINE),
                "calls": calls,
            }
            for entry, calls in self._counted
        ]

    @property
    def call_rows(self) -> list[dict[str, object]]:
        """Recorded calls as rows of a table."""
        return [
            {
                "call": call.index,
                "callable": one_line(self._name(call.entry), LONGEST_NAME),
                "inputs": one_line(call.inputs, LONGEST_LINE),
                "time": fmt.duration_s(call.compiled_s),
                "execution": EXECUTIONS[call.how],
                "compilations": call.compilations,
                "stance": one_line(call.stance, LONGEST_NAME) or "default",
                "raised": one_line(call.raised, LONGEST_LINE),
            }
            for call in self.calls
        ]

    @property
    def lines(self) -> list[str]:
        """The end, the entry points and their calls as lines of text."""
        lines = [self.title, self.note]
        calls_of: dict[int | None, list[Call]] = {}
        for call in self.calls:
            calls_of.setdefault(call.entry, []).append(call)
        for number, (entry, count) in enumerate(self._counted):
            calls = calls_of.get(number, [])
            lines.append(f"  {_entry_words(entry)}: {fmt.count(count, 'call')}")
            lines += [f"    {_call_words(call)}" for call in calls[:MOST_CALL_LINES]]
            if len(calls) > MOST_CALL_LINES:
                lines.append(f"    … {fmt.count(len(calls) - MOST_CALL_LINES, 'call')} more")
        return lines

    @property
    def _counted(self) -> list[tuple[EntryPoint, int]]:
        """Entry points with their numbers of calls; a damaged log may have more of either."""
        return list(zip(self.script.entries, self.script.calls, strict=False))

    def _name(self, number: int | None) -> str:
        entries = self.script.entries
        return entries[number].name if number is not None and 0 <= number < len(entries) else ""


def _entry_words(entry: EntryPoint) -> str:
    options = f", {entry.options}" if entry.options else ""
    return one_line(f"{entry.name}, compiled at {entry.place.short} for {entry.backend}{options}", LONGEST_LINE)


def _call_words(call: Call) -> str:
    stance = f", stance {call.stance}" if call.stance else ""
    raised = f": {call.raised}" if call.raised else ""
    how = f"{EXECUTIONS[call.how]}, {fmt.duration_s(call.compiled_s)}{stance}{raised}"
    return one_line(f"call {call.index} ({call.inputs}): {how}", LONGEST_LINE)
