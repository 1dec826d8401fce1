"""The image and the container that compose.yaml makes of it."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from core.runs.limits import VARIABLES
from tests.supply import dockerfile
from tests.supply.image import Bare
from tests.support.browser import serving
from tests.support.places import ROOT

TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SERVICE: dict[str, Any] = COMPOSE["services"]["compileboard"]
ARGUMENTS = {"PYTHON_IMAGE": "python@sha256:…"}
ASK = """
{command} &
for attempt in $(seq 90); do {health} && break; sleep 1; done
{health}
echo healthy
touch /app/x /home/compileboard/x 2>/dev/null && exit 3
echo "writes $(ls /app/x /home/compileboard/x 2>/dev/null)"
grep -E '^(Uid|CapBnd|CapEff|NoNewPrivs):' /proc/self/status
python -m core run transformer_block --no-measure --json > /data/answer.json
python -c "import json; report = json.load(open('/data/answer.json'))
print('compiled', len(report['compilations'][0]['kernels']) > 0, report['error'])"
"""


class Recorder:
    """A machine that does nothing, and remembers."""

    def __init__(self) -> None:
        self.base = ""
        self.commands: list[str] = []
        self.copied: dict[str, str] = {}

    def begin(self, _base: str) -> Mapping[str, str]:
        self.base = _base
        return {"PATH": "/bin"}

    def run(self, command: Sequence[str], environment: Mapping[str, str], directory: str) -> None:
        self.commands.append(f"{directory}$ {command[-1]} # {sorted(environment)}")

    def copy(self, files: Mapping[str, str]) -> None:
        self.copied |= files


def read(text: str = TEXT, **arguments: str) -> tuple[dockerfile.Image, Recorder]:
    machine = Recorder()
    return dockerfile.build(text, {**ARGUMENTS, **arguments}, dockerfile.context(ROOT), machine), machine


def test_a_dockerfile_is_read_as_docker_reads_it() -> None:
    text = """# a comment
ARG BASE
FROM ${BASE}
ARG INDEX
WORKDIR /app
ENV A=1 \\
    B="two words"
# between
RUN one \\
    && two $A
COPY LICENSE core ./
USER somebody
CMD ["a", "b"]
"""
    image, machine = read(text, BASE="x@sha256:1", INDEX="i")
    assert machine.base == "x@sha256:1"
    assert machine.commands == ["/app$ one     && two $A # ['A', 'B', 'INDEX', 'PATH']"]
    assert machine.copied["core/base/words.py"] == "/app/core/base/words.py"
    assert (image.user, image.command, image.environment["B"]) == ("somebody", ("a", "b"), "two words")
    with pytest.raises(ValueError, match="tests"):
        read("COPY tests .")


@pytest.mark.promise("supply")
def test_the_base_is_what_the_builder_names_and_nothing_else() -> None:
    """The image starts from the base that the builder names, by digest or tag."""
    assert read()[1].base == ARGUMENTS["PYTHON_IMAGE"]
    with pytest.raises(ValueError, match="FROM"):
        dockerfile.build(TEXT, {}, [], Recorder())
    assert SERVICE["build"]["args"]["PYTHON_IMAGE"].startswith("${PYTHON_IMAGE:?")


@pytest.mark.promise("supply")
def test_the_context_is_the_program_and_what_it_needs() -> None:
    """The image contains the program and what it needs, and nothing else of the checkout."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    ours = re.compile(
        r"(core|pages)/.*|dashboard\.py|(requirements|constraints|hashes)\.txt|LICENSE|\.streamlit/config\.toml"
        r"|docs/skill/SKILL\.md"
    )
    wanted = {name for name in tracked if ours.fullmatch(name)}
    found = set(dockerfile.context(ROOT))
    assert wanted - found == set()
    assert {name for name in found - wanted if not name.startswith(("core/", "pages/"))} == set()


def test_the_profile_cuda_is_the_same_service_with_all_gpus() -> None:
    services = COMPOSE["services"]
    assert set(services) == {"compileboard", "compileboard-cuda", "compileboard-several", "caddy"}
    assert services["compileboard-cuda"] == {
        **SERVICE,
        "profiles": ["cuda"],
        "image": "compileboard-cuda",
        "ports": ["127.0.0.1:8502:8501"],
        "deploy": {
            "resources": {
                "reservations": {"devices": [{"driver": "nvidia", "count": "all", "capabilities": ["gpu"]}]},
            },
        },
    }
    assert "deploy" not in SERVICE


def test_no_two_services_publish_the_same_port() -> None:
    services = COMPOSE["services"].values()
    ports = [port.rpartition(":")[0].rpartition(":")[2] for service in services for port in service.get("ports", ())]
    assert sorted(ports) == ["443", "80", "8501", "8502"]
    assert not any("extends" in service for service in services), "Compose joins the ports of services that extend"


def test_the_profile_several_has_the_processes_that_caddy_passes_requests_to() -> None:
    several, caddy = (COMPOSE["services"][name] for name in ("compileboard-several", "caddy"))
    options = several["command"]
    count, port = (int(options[options.index(option) + 1]) for option in ("--processes", "--port"))
    recipe = (ROOT / "Caddyfile").read_text(encoding="utf-8")
    (line,) = [line.split() for line in recipe.splitlines() if "reverse_proxy" in line]
    assert line[1:-1] == [f"127.0.0.1:{port + index}" for index in range(count)]
    assert re.fullmatch(r"\$\{CADDY_IMAGE:-caddy:\d+\.\d+\.\d+\}", caddy["image"])
    assert caddy["network_mode"] == "service:compileboard-several"
    assert "./Caddyfile:/etc/caddy/Caddyfile:ro" in caddy["volumes"]
    assert several["profiles"] == caddy["profiles"] == ["several"]
    assert "compileboard-cuda" in (ROOT / "docs/deploying.md").read_text(encoding="utf-8")


@pytest.mark.promise("supply")
def test_packages_are_installed_with_hashes_and_the_rest_with_constraints() -> None:
    """The image installs packages with required hashes, and the rest with constraints."""
    _, machine = read()
    (install,) = (command for command in machine.commands if "pip install" in command)
    first, second, *_ = install.split("&&")
    assert "--require-hashes" in first
    assert "hashes.txt" in first
    assert "--constraint constraints.txt --requirement requirements.txt" in second


def test_the_image_is_nobodys_root_and_runs_no_code_unless_allowed() -> None:
    image, _ = read()
    assert image.user not in ("root", "0", "")
    assert image.environment["COMPILEBOARD_ALLOW_CODE"] == "0"
    assert image.environment["STREAMLIT_SERVER_PORT"] == image.port
    assert image.environment["COMPILEBOARD_HOME"] == image.volume


@pytest.mark.promise("supply")
def test_the_container_has_what_it_needs_and_no_more() -> None:
    """`compose.yaml` drops all capabilities, makes the root read-only, and limits memory, processes and log."""
    image, _ = read()
    assert (SERVICE["read_only"], SERVICE["cap_drop"], SERVICE["init"]) == (True, ["ALL"], True)
    assert SERVICE["security_opt"] == ["no-new-privileges:true"]
    assert SERVICE["mem_limit"] == SERVICE["memswap_limit"]
    assert SERVICE["pids_limit"] > 0
    assert SERVICE["logging"]["options"] == {"max-size": "10m", "max-file": "3"}
    assert [entry.partition(":")[0] for entry in SERVICE["tmpfs"]] == ["/tmp"]
    assert SERVICE["volumes"] == [f"data:{image.volume}"]
    assert SERVICE["ports"] == [f"127.0.0.1:{image.port}:{image.port}"]
    assert SERVICE["environment"]["COMPILEBOARD_ALLOW_CODE"] == "${COMPILEBOARD_ALLOW_CODE:-0}"
    assert {variable for variable, _ in VARIABLES.values()} < set(SERVICE["environment"])
    assert {"privileged", "network_mode", "pid", "devices", "cap_add", "user"} & set(SERVICE) == set()


@pytest.mark.promise("supply")
@pytest.mark.server
@pytest.mark.parametrize("allowed", ["0", "1"])
def test_the_health_check_passes_the_gate(tmp_path: Path, allowed: str) -> None:
    """The health check asks the server only, uses no proxy, and passes the gate with and without code.

    A proxy in the environment is not asked.
    """
    image, _ = read()
    base: dict[str, Any] = {"STREAMLIT_SERVER_BASE_URL_PATH": "board"}
    command = [sys.executable, *image.health[1:]]
    with serving(tmp_path, "--server.address=0.0.0.0", COMPILEBOARD_ALLOW_CODE=allowed, **base) as server:
        port = str(urlsplit(server.url).port)
        environment = {**os.environ, **base, "STREAMLIT_SERVER_PORT": port, "http_proxy": "http://127.0.0.1:9"}
        assert subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode == 0
        other = {**environment, "STREAMLIT_SERVER_BASE_URL_PATH": "elsewhere"}
        assert subprocess.run(command, cwd=ROOT, env=other, check=False).returncode == 1
    assert subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode == 1


@pytest.fixture(scope="module")
def built() -> tuple[dockerfile.Image, Bare]:
    """The image, built for real."""
    missing = [name for name in ("debootstrap", "unshare", "ip") if shutil.which(name) is None]
    assert not missing, f"to build an image without an engine, install {missing}"
    assert os.getuid() == 0, "only root can enter another root directory"
    machine = Bare()
    return dockerfile.build(TEXT, ARGUMENTS, dockerfile.context(ROOT), machine), machine


@pytest.mark.image
def test_every_instruction_of_the_dockerfile_is_carried_out(built: tuple[dockerfile.Image, Bare]) -> None:
    _, machine = built
    root = machine.changes
    assert (root / "usr/bin/g++").exists()
    assert machine.owner("/data") == 10_001
    assert {machine.owner(f"/app/{name}") for name in dockerfile.context(ROOT)} == {0}
    listed = {path.relative_to(root / "app").as_posix() for path in (root / "app").rglob("*") if path.is_file()}
    assert listed == set(dockerfile.context(ROOT))


@pytest.mark.promise("supply")
@pytest.mark.image
def test_a_container_with_all_taken_from_it_is_healthy_and_compiles(built: tuple[dockerfile.Image, Bare]) -> None:
    """Without root, capabilities or new privileges, the container is healthy and compiles."""
    image, machine = built
    script = ASK.format(command=shlex.join(image.command), health=shlex.join(image.health))
    said = machine.container(image, SERVICE, ["sh", "-ec", script])
    assert "healthy" in said
    assert re.search(r"^writes $", said, re.MULTILINE)
    assert re.findall(r"^(?:Uid|CapBnd|CapEff|NoNewPrivs):\s+(\w+)", said, re.MULTILINE) == [
        "10001",
        "0" * 16,
        "0" * 16,
        "1",
    ]
    assert "compiled True None" in said
