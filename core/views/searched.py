"""Texts of a run that a scrubber searches for secrets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePath

from core.base.errors import StoreError
from core.base.machine import PROJECT_DIR
from core.base.words import bytes_
from core.job import CompileJob, job_to_json
from core.runs.store import Run
from core.runs.stored import side_of_run
from core.views.comments import CommentsView
from core.views.scrub import read_log
from core.views.texts import SourceView

MAX_SCRUBBED_BYTES = 64 * 1024**2


@dataclass(frozen=True, slots=True)
class SearchedTexts:
    """Texts of a run that a scrubber searches: code, other texts, names, the device and known paths."""

    codes: tuple[str, ...]
    texts: tuple[str, ...]
    names: tuple[str, ...]
    device: str
    places: tuple[str, ...]


def searched_texts(run: Run) -> SearchedTexts:
    """Return the content of a run that a scrubber searches; raises StoreError if its log is too large."""
    side, log = (side_of_run(run), run.log_path()) if run.log_path() else (None, None)
    if log is not None and log.stat().st_size > MAX_SCRUBBED_BYTES:
        raise StoreError(f"the log has more than {bytes_(MAX_SCRUBBED_BYTES)}: it cannot be scrubbed")
    job, status, sources = run.job(), run.status(), side.report.sources if side else ()
    code = SourceView(side.report, side.text) if side else None
    comments = CommentsView.stored(run).talk.comments
    authors = [each.by for each in comments if each.by]
    names = [run.name(), status.title, *(PurePath(source.path).stem for source in sources), run.note(), *authors]
    return SearchedTexts(
        codes=(run.code() if job else "", *(code.text(source.path) for source in sources if code)),
        texts=(
            *(read_log(log) if log else "", run.output_tail(), job_to_json(job).decode() if job else ""),
            *(run.note(), *(each.text for each in comments), *authors),
        ),
        names=(*names, *_model_names(job)),
        device=side.report.setting.device if side else "",
        places=(
            *(source.path for source in sources),
            *([job.model.value] if job and job.model.kind == "file" else []),
            *map(str, (run.path.parent, Path.cwd(), Path.home(), PROJECT_DIR)),
        ),
    )


def _model_names(job: CompileJob | None) -> tuple[str, ...]:
    """Return the name of the job's sample, or of its file."""
    if job is None or job.model.kind == "code":
        return ()
    return (PurePath(job.model.value).stem if job.model.kind == "file" else job.model.value,)
