"""Repairs of graph breaks and recompiles: edits of the recorded user file, and Dynamo settings.

A rule is a pure function of a file and arguments, such as a line, a name or a dtype; `RULES` has the rules by
name. A repair's id is the rule's name with its arguments, so that the repair can be recreated from the file.
Written code is text of the file or of the rule. From an id, code gets only numbers, dtypes, and names that
occur in the file.
"""

from core.analysis.repairs.offers import (
    LAST_RESORT,
    LOG,
    OF_BREAKS,
    OF_RECOMPILES,
    RULES,
    decides,
    dynamic_spares,
    line_of,
    newest_reasons,
    repair_of,
    repaired,
    repairs_of_break,
    repairs_of_recompile,
    together,
    together_diff,
)
from core.analysis.repairs.source import REPAIR_ID, SETTINGS, CodeFix, Repair, Risk, dynamo_settings
from core.analysis.repairs.trials import Remainder, Trial, TrialOutcome, TrialSide, recompile_subject, trial

__all__ = [
    "LAST_RESORT",
    "LOG",
    "OF_BREAKS",
    "OF_RECOMPILES",
    "REPAIR_ID",
    "RULES",
    "SETTINGS",
    "CodeFix",
    "Remainder",
    "Repair",
    "Risk",
    "Trial",
    "TrialOutcome",
    "TrialSide",
    "decides",
    "dynamic_spares",
    "dynamo_settings",
    "line_of",
    "newest_reasons",
    "recompile_subject",
    "repair_of",
    "repaired",
    "repairs_of_break",
    "repairs_of_recompile",
    "together",
    "together_diff",
    "trial",
]
