"""Repairs of graph breaks and recompiles: edits of the user's file that is recorded, and settings of Dynamo.

A rule is a pure function of a file and of a line, a name or a dtype; `RULES` has them by name, and a repair's id is a
rule's name with what it is given, so that it can be made again from the file. Of an id no more than a number, a dtype
or a name that the file itself has becomes code: what is written is the file's own text, or the rule's.
"""

from core.analysis.repairs.offers import (
    LAST_RESORT,
    LOG,
    OF_BREAKS,
    OF_RECOMPILES,
    RULES,
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
from core.analysis.repairs.repair import REPAIR_ID, Mend, Repair, Risk
from core.analysis.repairs.settings import SETTINGS, dynamo_settings
from core.analysis.repairs.trials import Remainder, Trial, TrialOutcome, TrialSide, recompile_subject, trial

__all__ = [
    "LAST_RESORT",
    "LOG",
    "OF_BREAKS",
    "OF_RECOMPILES",
    "REPAIR_ID",
    "RULES",
    "SETTINGS",
    "Mend",
    "Remainder",
    "Repair",
    "Risk",
    "Trial",
    "TrialOutcome",
    "TrialSide",
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
