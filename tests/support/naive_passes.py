"""A sample compiled with recording on, while a second, naive observer counts: the text of the whole graph around each
pass.

`python -m tests.support.naive_passes SAMPLE TRAINING DIRECTORY` leaves the log in the directory and prints the names
of the passes for which the text changed, as JSON.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any


def main(name: str, training: bool, directory: Path) -> list[str]:
    """Compile and, for training, go backward."""
    import torch
    from torch.fx.passes.graph_transform_observer import GraphTransformObserver

    from core import CompileJob, Model, sample
    from core.job import Conditions
    from core.worker.load import Twin
    from core.worker.record import emit, recording, start_trace
    from core.worker.recorders.stacks import Sources

    texts: list[str] = []
    changed: list[str] = []
    enter, leave = GraphTransformObserver.__enter__, GraphTransformObserver.__exit__

    def naive_enter(observer: Any) -> Any:
        texts.append(str(observer.gm.graph))
        return enter(observer)

    def naive_leave(observer: Any, *error: Any) -> Any:
        result = leave(observer, *error)
        if texts.pop() != str(observer.gm.graph) and not texts:
            changed.append(observer.passname)
        return result

    GraphTransformObserver.__enter__, GraphTransformObserver.__exit__ = naive_enter, naive_leave
    start_trace(directory)
    twin = Twin(sample(name).path, CompileJob(Model("sample", name)), "naive_model")
    args, kwargs = next(twin.calls())
    with recording(Sources(emit), Conditions()), torch.set_grad_enabled(training):
        output = torch.compile(twin.model)(*args, **kwargs)
        if training:
            output.sum().backward()
    return changed


if __name__ == "__main__":
    answers = os.dup(1)
    os.dup2(2, 1)
    found = main(sys.argv[1], sys.argv[2] == "training", Path(sys.argv[3]))
    os.write(answers, json.dumps(found).encode())
