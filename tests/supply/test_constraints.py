"""What is pinned: all that the requirements bring, once, and nothing else."""

import sys
from collections import Counter
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.supply import audit, pins
from tests.support.imports import FILES, tops
from tests.support.places import ROOT

RUNTIME = (pins.REQUIREMENTS, pins.CONSTRAINTS)
DEVELOPMENT = (*RUNTIME, pins.DEVELOPMENT, pins.DEVELOPMENT_CONSTRAINTS)


def names(*files: str) -> list[str]:
    return [name for file in files for name, _ in pins.pins(file)]


def brought(*files: str) -> list[Requirement]:
    return pins.brought(names(*files))


# Packages that no module of ours imports, and why they are required.
NOT_IMPORTED = {"tabulate": "torch's print_tabular imports it"}
# A module that only type checkers know.
STUBS = {"_typeshed"}
# A module that imports its own plugin.
HOSTS = {"pytest"}
# A module that torch brings, and that is imported for an archive elsewhere alone.
BY_TORCH = {"fsspec"}
# Modules of the extra `mcp`, and of what it brings, that its command alone imports.
OF_AN_EXTRA = {"mcp", "mcp_types", "anyio"}


def test_the_requirements_are_the_packages_that_we_import() -> None:
    assert set(names(pins.REQUIREMENTS)) == imported_packages() | NOT_IMPORTED.keys()


def imported_packages() -> set[str]:
    """The packages outside of Python and of this project that core, pages and the dashboard import."""
    modules = {top for name in FILES for top in tops(name)}
    providers = metadata.packages_distributions()
    outside = modules - sys.stdlib_module_names - {"core", "pages"} - STUBS - HOSTS - BY_TORCH - OF_AN_EXTRA
    return {canonicalize_name(package) for top in outside for package in providers.get(top, [top])}


@pytest.mark.promise("supply")
@pytest.mark.parametrize("files", [RUNTIME, DEVELOPMENT], ids=["runtime", "development"])
def test_every_package_that_is_brought_is_pinned_once_and_no_other(files: tuple[str, ...]) -> None:
    """Every package that the requirements install is pinned, once.

    Run `make constraints` if it is not so.
    """
    direct, brings = names(*files[::2]), brought(*files[::2])
    wanted = {*direct, *(canonicalize_name(item.name) for item in brings)}
    assert Counter(names(*files)) == Counter(wanted)


def test_the_tests_have_the_packages_of_a_server_with_sign_in_and_agents() -> None:
    assert {*pins.pins(pins.LOGIN), *pins.pins(pins.MCP)} <= set(pins.pins(pins.DEVELOPMENT))


def test_every_pin_is_a_version_that_each_package_beside_it_takes() -> None:
    pinned = {name: version for file in DEVELOPMENT for name, version in pins.pins(file)}
    unfit = [item for item in brought(*DEVELOPMENT) if pinned[canonicalize_name(item.name)] not in item.specifier]
    assert list(map(str, unfit)) == []


@pytest.mark.promise("supply")
def test_constraints_hold_for_every_build_of_torch() -> None:
    """The pinned versions are the same for every build of torch.

    What one build of torch alone brings is left to it, and a build of one's own may be used.
    """
    constrained = names(pins.CONSTRAINTS)
    assert "torch" not in constrained
    assert [name for name in constrained if pins.is_of_a_build(name)] == []
    assert "--hash" not in (ROOT / pins.CONSTRAINTS).read_text(encoding="utf-8")


@pytest.mark.promise("supply")
def test_the_hashes_are_of_all_pins_but_torch() -> None:
    """`hashes.txt` has a hash of every pinned package except torch's build."""
    pinned = {pin for file in RUNTIME for pin in pins.pins(file) if pin[0] != "torch"}
    assert sorted(pins.pins(pins.HASHES)) == sorted(pinned)
    entries = (ROOT / pins.HASHES).read_text(encoding="utf-8").split("==")[1:]
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


def test_a_requirement_without_a_version_is_no_pin(tmp_path: Path) -> None:
    for line in ("torch", "torch>=2.13", "torch==2.*", "torch>=2,<3"):
        (tmp_path / "x.txt").write_text(line)
        with pytest.raises(ValueError, match="torch"):
            pins.pins(str(tmp_path / "x.txt"))


VULNERABLE = {
    "dependencies": [
        {"name": "msgspec", "version": "0.22.0", "vulns": []},
        {
            "name": "jinja2",
            "version": "3.1.0",
            "vulns": [{"id": "X-2024-1", "fix_versions": ["3.1.3"], "aliases": ["CVE-1"], "description": "…"}],
        },
        {"name": "torch", "skip_reason": "Dependency not found"},
    ]
}


def test_an_audit_names_what_is_known_and_what_was_not_looked_up() -> None:
    found = audit.read(VULNERABLE)
    assert found.words() == [
        "jinja2 3.1.0: X-2024-1 (CVE-1), mended in 3.1.3",
        "not looked up: torch (Dependency not found)",
        "3 packages: 1 known vulnerabilities, 1 not looked up.",
    ]
    assert found.exit_code == 1


def test_an_audit_of_nothing_is_called_so() -> None:
    """As a mirror of a package index answers, which has no advisories."""
    found = audit.Audit(2, (), ("a (not found)", "b (not found)"))
    assert (found.exit_code, found.words()) == (
        2,
        ["Nothing was audited: the advisory service that can be reached from here knows none of the packages."],
    )


@pytest.mark.parametrize(("vulnerabilities", "skipped", "code"), [(0, 0, 0), (0, 1, 2), (1, 0, 1), (1, 1, 1)])
def test_an_audit_is_good_only_if_all_was_looked_up(vulnerabilities: int, skipped: int, code: int) -> None:
    assert audit.Audit(3, ("a",) * vulnerabilities, ("b",) * skipped).exit_code == code


def test_an_advisory_service_that_does_not_answer_is_an_audit_that_did_not_take_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tool = tmp_path / "pip-audit"
    tool.write_text("#!/bin/sh\necho 'Traceback …' >&2\necho 'ConnectionError: no route' >&2\nexit 1\n")
    tool.chmod(0o755)
    assert audit.main(tool) == 2
    said = capsys.readouterr().err
    assert said == "Nothing was audited: the advisory service did not answer (ConnectionError: no route).\n"
