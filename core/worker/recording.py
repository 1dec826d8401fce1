"""The recorders of a run, enabled together around its compilations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch._inductor.config

from core.job import CompileJob
from core.worker.backends.watch import watching_backends
from core.worker.conditions import lookups
from core.worker.record import emit, is_recorded
from core.worker.recorders.bytecode import watching_bytecode
from core.worker.recorders.deferred import DeferredRecords
from core.worker.recorders.guards import watching_guards
from core.worker.recorders.logs import watching_debug_files, watching_logs
from core.worker.recorders.partition import emit_saved_values, watching_autotuning, watching_partition
from core.worker.recorders.passes import PassRecorder
from core.worker.recorders.reuse import watching_cudagraphs
from core.worker.recorders.scheduler import ScheduleRecorder
from core.worker.recorders.stacks import Modules


@contextmanager
def recording(later: DeferredRecords, job: CompileJob) -> Iterator[None]:
    """Enable all recorders of a run, and disable caches that would hide compilations.

    A run that tests the caches keeps them enabled. Slow records are deferred to `later`, so that no call waits for
    them.
    """
    # torch.compile deep-copies Inductor's config; a bound method would be copied with its object, a lambda isn't.
    modules = Modules()
    recorder = ScheduleRecorder(emit, modules)
    passes = PassRecorder(emit, modules, later.sources)
    settings = {
        "_pre_fusion_custom_pass": lambda nodes: recorder.before_fusion(nodes),
        "_post_fusion_custom_pass": lambda nodes: recorder.after_fusion(emit_saved_values(emit, nodes)),
    }
    # With a custom pass, torch doesn't use its graph caches.
    conditions = job.conditions
    watched = {} if conditions.caches == "warm" else settings
    with (
        watching_logs(job.logs),
        recorder.watching_fusions(passed_on=bool(job.logs)),
        lookups(conditions),
        torch._inductor.config.patch(watched),
        recorder.watching_kernels(),
        watching_bytecode(emit, is_recorded, later),
        watching_guards(emit),
        watching_autotuning(emit),
        passes.watching(),
        watching_partition(emit, passes.subgraph),
        watching_backends(emit, is_recorded),
        watching_cudagraphs(),
        watching_debug_files(job.debug_files),
    ):
        yield
