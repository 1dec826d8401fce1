"""See what `torch.compile` did to your model.

    import compileboard

    with compileboard.record(label="train") as run:
        model(inputs)
    run.assert_no_graph_breaks()

Importing the package loads neither torch nor the dashboard; each name is loaded at its first use. Besides
`record` and `show`, the package has the names of `core`. `setup.py` installs this module as
`compileboard/__init__.py`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.library.recording import RecordedRun, RecordWarning, record, show

__all__ = ["RecordWarning", "RecordedRun", "record", "show"]


def __getattr__(name: str) -> Any:
    """Return a name of `core.library.recording`, otherwise of `core`."""
    if name in __all__:
        import core.library.recording as recording

        return getattr(recording, name)
    import core as face

    return getattr(face, name)
