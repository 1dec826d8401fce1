"""See what `torch.compile` did to your model.

    import compileboard

    with compileboard.record() as run:
        model(inputs)
    run.assert_no_graph_breaks()

Importing the package loads neither torch nor the dashboard: a name is loaded when it is used. `setup.py` makes this
module `compileboard/__init__.py`.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    import core as face

    return getattr(face, name)
