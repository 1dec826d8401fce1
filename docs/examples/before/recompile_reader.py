"""A training loop that reads its own recompiles: a handler on a private logger, and torch's messages taken apart."""

import logging
import re

import torch
from denoiser import RESOLUTIONS, Denoiser, at

FUNCTION = re.compile(r"Recompiling function (\S+) in (\S+):(\d+)")
REASON = re.compile(r"^\s*- \d+/\d+: (.*)$", re.MULTILINE)


class RecompileReader(logging.Handler):
    """Collects the step, the line and the reason of each recompile."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.step = 0
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Take a message of torch apart."""
        message = record.getMessage()
        function = FUNCTION.search(message)
        if function is None:
            return
        reasons = REASON.findall(message)
        name, file, line = function.groups()
        self.found.append(f"step={self.step}: {name} ({file}:{line}): {reasons[0] if reasons else 'unknown'}")


def main() -> None:
    """Train at three resolutions, and print what was compiled again."""
    reader = RecompileReader()
    logger = logging.getLogger("torch._dynamo.guards.__recompiles")
    torch._logging.set_logs(recompiles=True)
    handlers, logger.handlers = logger.handlers, [reader]
    model = torch.compile(Denoiser(), dynamic=False)
    try:
        for step, size in enumerate(RESOLUTIONS):
            reader.step = step
            model(at(size)).sum().backward()
    finally:
        logger.handlers = handlers
        torch._logging.set_logs()
    print("\n".join(reader.found))


if __name__ == "__main__":
    main()
