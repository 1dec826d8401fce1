"""A fork server without torch: it says what a machine with a CPU has, and refuses runs."""

import json
import os
import sys

ENVIRONMENT = {"torch": "2.13.0", "devices": {"cpu": "Xeon"}, "backends": ["aot_eager", "eager", "inductor"]}
ANSWERS = {
    "Probe": {"type": "ProbeResult", "environment": ENVIRONMENT},
    "WarmUp": {"type": "StartMessage", "pid": os.getpid()},
    "Start": {"type": "FailureMessage", "why": "there is no torch here"},
}
print(json.dumps({"type": "Ready"}), flush=True)
for line in sys.stdin:
    print(json.dumps(ANSWERS[json.loads(line)["type"]]), flush=True)
