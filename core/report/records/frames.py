"""Records about a frame that Dynamo compiled: its bytecode before and after."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.report.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class BytecodeRecord(Record):
    """Bytecode of a compilation's frame before and after Dynamo: logged as soon as Dynamo has rewritten it, and again
    with the decompiled code once its call has ended.

    Constants that are no numbers, texts or code, such as the globals that Dynamo puts into a function it makes, are
    listed by their type.
    """

    name: str
    """the function's name in its code, `torch_dynamo_resume_in_forward_at_31` for one that goes on after a break"""
    qualname: str = ""
    """its name with the class and the functions that it is defined in: `Classifier.forward`"""
    file: str
    """the file that the code is of"""
    line: int
    """its first line"""
    original: str
    """the code before, as Python's `dis` lists it, its first 200,000 characters"""
    modified: str
    """the code after, alike"""
    resumes: dict[str, str] = field(default_factory=dict)
    """name that the modified code calls to go on after a graph break, to the name of the function in its own code"""
    has_decompiler: bool | None = None
    """whether `depyf` is installed beside torch; null in the log of an older version"""
    decompiler: str = ""
    """what wrote both as Python again, with its version: `depyf 0.20.0`; empty where it is not installed, or while
    the call goes on"""
    original_python: str = ""
    """the code before, decompiled, its first 200,000 characters, of a function that goes on after a break, which has no
    source; empty where it could not be"""
    modified_python: str = ""
    """the code after, alike, of every function"""
    not_decompiled: str = ""
    """why one of them could not be decompiled"""
