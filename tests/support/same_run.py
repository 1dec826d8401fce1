"""Run directories compared byte by byte, but for times, ids, paths, process ids, memory and the node; all else counts.

What is replaced, and nothing else:

status.json    `created_s`, `started_s`, `ended_s` and `peak_memory_bytes` by whether they are there, `node` by nothing
every file     the run's id, and the path of its directory, here or on a node
names of logs  the random part
logs           each line's time of day and process id, digests of payloads, ids of compiled functions, addresses and
               ids of Python's objects in texts, the directories of Inductor's and Triton's caches, and the numbers
               of the fields in `TIMES` and `TIME_LISTS`
"""

import json
import re

from core import Run

TIMES = (
    *("ts", "dur", "seconds", "start_time", "start_time_us", "end_time_us", "duration_us", "gc_time_us"),
    *("entire_frame_compile_time_s", "backend_compile_time_s", "dynamo_time_before_restart_s", "guard_latency_us"),
    *("dynamo_cumulative_compile_time_us", "aot_autograd_cumulative_compile_time_us", "get_fake_value_time_s"),
    *("structured_logging_overhead_s", "structured_logging_overhead_us", "wrap_to_fake_tensor_and_record_time_s"),
    *("variable_builder_call_time_s", "create_proxy_time_s", "copy_us", "check_us", "warm_us"),
    *("eager_s", "compiled_s", "cache_event_time", "inductor_compile_time_s", "code_gen_time_s"),
    *("inductor_cumulative_compile_time_us", "inductor_code_gen_cumulative_compile_time_us", "triton_compile_time_us"),
    *("pre_grad_pass_time_us", "joint_graph_pass_time_us", "post_grad_pass_time_us"),
)
TIME_LISTS = ("families_us", "checks_us", "unchanged")
OF_STATUS = ("created_s", "started_s", "ended_s", "peak_memory_bytes")
NUMBER = rb"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
HEAD = re.compile(rb"^([A-Z])\d{4} \d\d:\d\d:\d\d\.\d{6} \d+ ", re.MULTILINE)
PAYLOAD = re.compile(rb'("has_payload": )"[0-9a-f]{32}"')
COMPILED = re.compile(rb"(__compiled_fn_\d+)_[0-9a-f]{8}(?:_[0-9a-f]{4}){3}_[0-9a-f]{12}\b")
ADDRESS = re.compile(rb"( at )0x[0-9a-f]+\b")
OBJECT = re.compile(rb"(___check_(?:type|obj)_id\(.*?, |# graph id: )\d{9,}")
CACHE = re.compile(rb"/[^\"'\s]*/cache/(inductor|triton)\b")
LATENCY = re.compile(rb"(Guard latency = )" + NUMBER)
TIME = re.compile(rb'("(?:' + "|".join(TIMES).encode() + rb')": )' + NUMBER)
TIME_LIST = re.compile(rb'"(?:' + "|".join(TIME_LISTS).encode() + rb')": (?:\[(?:\[[^\]]*\]|[^\]])*\]|\{[^}]*\})')
LOG_NAME = re.compile(r"^(trace/dedicated_log_torch_trace)_\w{8}(\.log)$")


def tree(run: Run) -> dict[str, bytes]:
    """The files of a run by their names, normalised."""
    paths = {path.relative_to(run.path).as_posix(): path for path in run.path.rglob("*") if not path.is_dir()}
    return {LOG_NAME.sub(r"\1\2", name): _normal(run, name, path.read_bytes()) for name, path in paths.items()}


def _normal(run: Run, name: str, data: bytes) -> bytes:
    if name == "status.json":
        status = json.loads(data)
        return json.dumps({**status, **{key: status[key] is not None for key in OF_STATUS}, "node": ""}).encode()
    place = rb'/[^"\s]*/(?:runs/|hosted/[0-9a-f]{16}-[0-9a-f]{16}-)'
    data = re.sub(place + run.id.encode(), b"DIRECTORY", data).replace(run.id.encode(), b"RUN")
    return _normal_log(data) if name.startswith("trace/") else data


def _normal_log(data: bytes) -> bytes:
    for pattern, instead in (
        (HEAD, rb"\1 "),
        (PAYLOAD, rb"\g<1>0"),
        (COMPILED, rb"\1"),
        (ADDRESS, rb"\g<1>0"),
        (OBJECT, rb"\g<1>0"),
        (CACHE, rb"CACHE/\1"),
    ):
        data = pattern.sub(instead, data)
    data = TIME.sub(rb"\g<1>0", LATENCY.sub(rb"\g<1>0", data))
    return TIME_LIST.sub(lambda times: re.sub(rb"(?<=[\[ ])" + NUMBER, b"0", times[0]), data)
