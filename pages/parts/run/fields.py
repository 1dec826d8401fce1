"""Initial values of a job's form."""

from __future__ import annotations

from dataclasses import dataclass, field

from core import GIB, OPEN_BACKENDS, SHIPPED_BACKENDS, CompileJob, Environment, FileSettings, Limits

BACKENDS = ("inductor", "aot_eager", "eager")
OWN = "your own…"
# Choice of a form field that leaves the setting to the model's file.
AS_FILE = "as the file says"
MOST_S, MOST_GIB, LEAST_GIB = 86_400.0, 1024.0, 0.5


@dataclass(frozen=True, slots=True)
class Form:
    """Sources of the fields' initial values.

    `environment` has torch's devices and backends here, `start` is a job, `limits` are the bounds set by the server's
    owner; `code` is True if this visitor may bring code, and `file` has the settings of the model's file.
    """

    environment: Environment
    start: CompileJob
    limits: Limits
    code: bool = True
    file: FileSettings = field(default_factory=FileSettings)

    def is_left(self, name: str) -> bool:
        """Return True if the job leaves a setting to the model's file."""
        return name in self.start.as_file_says()

    @property
    def backends(self) -> list[str]:
        """Torch's backends here (without its test backends), the built-in ones, and the job's.

        Visitors who may not bring code get only the backends that are open to everybody.
        """
        here = [name for name in self.environment.backends or BACKENDS if "TESTING" not in name]
        chosen, forced = self.start.compile, self.start.conditions.force_backend
        named = ("" if chosen.backend_code else chosen.backend, forced)
        found = dict.fromkeys([*here, *SHIPPED_BACKENDS, *filter(None, named)])
        return [name for name in found if self.code or name in OPEN_BACKENDS]

    @property
    def backend(self) -> str:
        """The initial choice of the backend field; the custom backend if the job contains its code."""
        if self.is_left("backend"):
            return AS_FILE
        return OWN if self.start.compile.backend_code else self.start.compile.backend

    @property
    def devices(self) -> dict[str, str]:
        """The devices of this machine, each with its name."""
        return self.environment.devices or {"cpu": ""}

    @property
    def device(self) -> str:
        """The device or target of the job if it is available here, otherwise the first device."""
        first = next(iter(self.devices), "cpu")
        return self.start.target or (self.start.device if self.start.device in self.devices else first)

    @property
    def most_s(self) -> int:
        """The longest time limit in seconds."""
        return max(1, int(self.limits.time_s or MOST_S))

    @property
    def most_gib(self) -> float:
        """The largest memory limit in GiB."""
        return max(LEAST_GIB, (self.limits.memory_bytes or MOST_GIB * GIB) / GIB)
