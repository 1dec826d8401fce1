"""Records about a frame that Dynamo compiled: its bytecode before and after."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.report.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class BytecodeRecord(Record):
    """Bytecode of a compilation's frame before and after Dynamo: logged as soon as Dynamo has rewritten it, and again
    with the decompiled code once its call has ended.

    Constants other than numbers, texts and code, such as the globals that Dynamo puts into its functions, are listed by
    their type.
    """

    name: str
    """the function's name in its code, such as `torch_dynamo_resume_in_forward_at_31` for a resume function"""
    qualname: str = ""
    """its name with the class and the functions that it is defined in: `Classifier.forward`"""
    file: str
    """the code's file"""
    line: int
    """its first line"""
    original: str
    """the code before, as Python's `dis` lists it, its first 200,000 characters"""
    modified: str
    """the code after, in the same form"""
    resumes: dict[str, str] = field(default_factory=dict)
    """name of a resume function in the modified code, to the function's name in its own code"""
    has_decompiler: bool | None = None
    """whether `depyf` is installed beside torch; null in the log of an older version"""
    decompiler: str = ""
    """the decompiler with its version: `depyf 0.20.0`; empty if it is not installed, or while the call runs"""
    original_python: str = ""
    """the code before, decompiled, its first 200,000 characters, of a resume function, which has no source; empty if it
    could not be decompiled"""
    modified_python: str = ""
    """the code after, decompiled in the same way, of every function"""
    not_decompiled: str = ""
    """why one of them could not be decompiled"""
