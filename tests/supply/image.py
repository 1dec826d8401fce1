"""A machine that carries a Dockerfile out without a container engine: a bare Debian in a folder, entered by chroot.

It is not an engine. The base is this machine's Debian with its Python, made by debootstrap, in the place of the image
that PYTHON_IMAGE names; memory and processes are not limited. All else is done: each step by root over an overlay of
the base, with mounts and processes of its own; and the container with its root read-only, without capabilities, a way
to new ones or a network.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.supply.dockerfile import Image
from tests.support.places import ROOT

HOME = ROOT / ".image"
PACKAGES = "ca-certificates,python3,python3-dev,python3-venv"
PYTHON = "/opt/python"
PATH = f"{PYTHON}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# What Docker gives a tmpfs unless it is told otherwise.
TMPFS = "noexec,nosuid,nodev"


class Bare:
    """A root directory over that of a bare Debian, empty at first."""

    def __init__(self) -> None:
        self.base, self.changes, self.root = HOME / "base", HOME / "changes", HOME / "root"
        self._pip = _pip_settings()

    def begin(self, _base: str) -> Mapping[str, str]:
        """A bare Debian with a Python; pip knows there what it knows on this machine."""
        _debian(self.base)
        for folder in (self.changes, HOME / "work", HOME / "volume"):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        self.root.mkdir(exist_ok=True)
        self.run(["python3", "-m", "venv", PYTHON], {"PATH": PATH}, "/")
        return {"PATH": PATH, **self._pip}

    def run(self, command: Sequence[str], environment: Mapping[str, str], directory: str) -> None:
        """A step of the build."""
        print(f"$ {shlex.join(command)}", flush=True)
        script = [*self._mounted(), *self._lent(), self._entered(command, environment, directory)]
        subprocess.run(_apart(script), check=True)

    def copy(self, files: Mapping[str, str]) -> None:
        """As root's, as COPY does."""
        for source, target in files.items():
            path = self.changes / target.lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / source, path)

    def container(self, image: Image, service: Mapping[str, Any], command: Sequence[str]) -> str:
        """What a command prints in a container of an image, with all that its service takes away."""
        volume = HOME / "volume"
        shutil.rmtree(volume)
        shutil.copytree(self.changes / image.volume.lstrip("/"), volume)
        shutil.chown(volume, self.owner(image.volume))
        mounts = [f"mount --bind {volume} {self.root}{image.volume}", f"mount -t tmpfs shm {self.root}/dev/shm"]
        for path, _, options in (entry.partition(":") for entry in service["tmpfs"]):
            mounts.append(f"mount -t tmpfs -o {TMPFS},{options} tmpfs {self.root}{path}")
        if service["read_only"]:
            mounts.append(f"mount -o remount,ro {self.root}")
        limited = ["setpriv", f"--reuid={image.user}", f"--regid={image.user}", "--init-groups", *_less(service)]
        environment = {name: value for name, value in image.environment.items() if name not in self._pip}
        entered = self._entered([*limited, *command], environment, image.directory)
        script = [*self._mounted(), *mounts, "ip link set lo up", entered]
        return subprocess.run(_apart(script, "--net"), stdout=subprocess.PIPE, text=True, check=True).stdout

    def owner(self, path: str) -> int:
        """The user whose a file of the image is."""
        return (self.changes / path.lstrip("/")).stat().st_uid

    def _mounted(self) -> list[str]:
        layers = f"lowerdir={self.base},upperdir={self.changes},workdir={HOME / 'work'}"
        return [
            "set -e",
            f"mount -t overlay -o {layers} overlay {self.root}",
            f"mount -t proc proc {self.root}/proc",
            f"mount --bind /dev {self.root}/dev",
        ]

    def _lent(self) -> list[str]:
        """What a build reads of this machine: certificates, and the folders and files that its pip looks into."""
        named = [word for value in self._pip.values() for word in value.replace("file://", "").split()]
        lines = []
        for path in map(Path, ["/etc/ssl/certs", *(word for word in named if word.startswith("/"))]):
            if path.is_dir():
                # An index may point to files beside it.
                place = path.parent if path.name == "simple" else path
                lines.append(f"mkdir -p {self.root}{place} && mount --bind -o ro {place} {self.root}{place}")
            elif path.is_file():
                made = f"mkdir -p {self.root}{path.parent} && touch {self.root}{path}"
                lines.append(f"{made} && mount --bind -o ro {path} {self.root}{path}")
        return list(dict.fromkeys(lines))

    def _entered(self, command: Sequence[str], environment: Mapping[str, str], directory: str) -> str:
        (self.changes / directory.lstrip("/")).mkdir(parents=True, exist_ok=True)
        variables = [f"{name}={value}" for name, value in environment.items()]
        enter = ["chroot", str(self.root), "/usr/bin/env", "-i", f"--chdir={directory}", *variables]
        return f"exec {shlex.join([*enter, *command])}"


def _apart(script: list[str], *more: str) -> list[str]:
    """With mounts and processes of its own, which end with it."""
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", *more, "sh", "-c", "\n".join(script)]


def _less(service: Mapping[str, Any]) -> list[str]:
    """What a service is denied, in the words of setpriv."""
    denied = ["--bounding-set=-all", "--inh-caps=-all"] if service["cap_drop"] == ["ALL"] else []
    return [*denied, *(["--no-new-privs"] if "no-new-privileges:true" in service["security_opt"] else [])]


def _pip_settings() -> dict[str, str]:
    """What this machine's pip is told, as the environment would tell it; the environment goes before files."""
    listed = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True)
    pairs = [line.partition("=") for line in sorted(listed.stdout.splitlines(), reverse=True)]
    settings: dict[str, str] = {}
    for name, _, value in pairs:
        key = "PIP_" + name.rpartition(".")[2].replace("-", "_").upper()
        settings[key] = os.environ.get(key, value.strip("'"))
    return settings


def _debian(folder: Path) -> None:
    """A bare Debian of this machine's release, from where this machine has its packages; made once."""
    if (folder / "done").exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    release = platform.freedesktop_os_release()["VERSION_CODENAME"]
    targets = ["apt-get", "indextargets", "--format", "$(SITE) $(CODENAME)", "Created-By: Packages"]
    listed = subprocess.run(targets, capture_output=True, text=True, check=True).stdout.splitlines()
    mirror = next(site for site, name in (line.split() for line in listed) if name == release)
    options = ["--variant=minbase", f"--include={PACKAGES}"]
    subprocess.run(["debootstrap", *options, release, str(folder), mirror], check=True, stdout=subprocess.DEVNULL)
    (folder / "done").touch()
