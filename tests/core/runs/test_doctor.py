"""The checks of a machine, each with and without what it looks for."""

import os
from pathlib import Path

import pytest

from core.base.machine import Environment
from core.runs import doctor
from core.runs.doctor import (
    Check,
    checks,
    compiler_check,
    device_check,
    disk_check,
    headers_check,
    memory_check,
    package_check,
    summary,
    torch_check,
)


def test_every_check_says_what_was_found_and_a_missing_thing_what_it_switches_off(tmp_path: Path) -> None:
    found = checks(tmp_path / "not" / "made", Environment(torch="2.13.0+cpu", devices={"cpu": "Xeon"}))
    assert len({check.name for check in found}) == len(found)
    assert all(check.found for check in found)
    assert all(check.consequence for check in found if check.state != "ok")
    assert not (tmp_path / "not").exists()


def test_without_a_path_no_compiler_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)
    check = compiler_check()
    assert (check.state, check.found) == ("problem", "no g++ on PATH")
    assert "apt-get install g++" in check.remedy
    assert {check.name: check.state for check in checks(tmp_path, None)}["CMake"] == "optional"


def test_a_compiler_that_does_not_start_is_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CXX", str(broken))
    assert compiler_check().found == f"{broken} does not start"
    assert compiler_check(start=False).state == "ok"


def test_missing_headers_are_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert headers_check().state == "ok"
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    assert (headers_check().state, headers_check().found) == ("problem", f"no {tmp_path / 'Python.h'}")


@pytest.mark.parametrize(
    ("environment", "state", "found"),
    [
        (Environment(torch="2.13.0+cpu"), "ok", "2.13.0+cpu"),
        (Environment(torch="2.10.1"), "problem", "2.10.1"),
        (Environment(torch="2.16.0a0+git"), "problem", "2.16.0a0+git"),
        (Environment(problem="libtorch.so: cannot open"), "problem", "libtorch.so: cannot open"),
    ],
)
def test_torch_is_a_version_that_was_tested_or_a_problem(environment: Environment, state: str, found: str) -> None:
    check = torch_check(environment)
    assert check.state == state
    assert check.found.endswith(found)


def test_a_machine_without_a_gpu_lacks_only_something_optional() -> None:
    assert device_check(Environment(devices={"cpu": "Xeon"})).state == "optional"
    check = device_check(Environment(devices={"cpu": "Xeon", "cuda": "H100"}))
    assert (check.name, check.state, check.found) == ("GPU", "ok", "cpu (Xeon), cuda (H100)")


def test_a_missing_package_says_how_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(doctor.PACKAGES, "no-such-package", ("Nothing works.", "pip install no-such-package"))
    assert package_check("no-such-package") == Check(
        "no-such-package", "optional", "not installed", "Nothing works.", "pip install no-such-package"
    )


def test_little_memory_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    assert memory_check().state == "ok"
    monkeypatch.setattr(doctor, "LEAST_MEMORY_BYTES", 1 << 60)
    assert memory_check().state == "problem"


def test_a_disk_without_room_is_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert disk_check("Store", tmp_path).state == "ok"
    monkeypatch.setattr(doctor, "LEAST_DISK_BYTES", 1 << 60)
    assert disk_check("Store", tmp_path).consequence == "A run may end with a full disk."


@pytest.mark.skipif(not os.path.exists("/dev/full") or not os.path.isdir("/proc/self"), reason="Linux alone has these")
def test_a_folder_that_cannot_be_written_is_a_problem_in_the_systems_words() -> None:
    check = disk_check("Store", Path("/proc/self"))
    assert check.state == "problem"
    assert check.found.startswith("/proc/self: ")


def test_without_any_folder_for_temporary_files_the_checks_still_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As on a full disk: Python tries to write in each candidate."""

    def refuse() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr("tempfile.gettempdir", refuse)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.delenv("COMPILEBOARD_CACHE", raising=False)
    found = {check.name: check.found for check in checks(tmp_path, None)}
    assert found["Temporary files"].startswith(f"{tmp_path}, ")
    assert found["Build cache"].startswith(f"{tmp_path / 'compileboard'}, ")


def test_a_summary_names_the_problems_and_counts_the_rest() -> None:
    here, missing, wrong = Check("a", "ok", "x"), Check("b", "optional", "x"), Check("c", "problem", "x")
    assert summary((here,)) == "Everything that a run needs is here; nothing is missing."
    assert summary((here, missing)) == "Everything that a run needs is here; 1 optional thing missing."
    assert summary((wrong, missing, wrong)) == "2 problems: c, c; 1 optional thing missing."
