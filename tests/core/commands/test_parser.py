"""Errors of the command line: similar names, the usage of the command, and no names of fields."""

import subprocess
import sys
from pathlib import Path

import pytest

from core.commands.main import COMMANDS, main, make_parser, own_version
from core.commands.output import OK, USAGE
from tests.support.places import ROOT


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "first", "usage"),
    [
        ("runn mlp", "python -m core: there is no command `runn`; did you mean run or runs?", " COMMAND"),
        ("run mlp --bakend eager", "python -m core run: unrecognized arguments: --bakend eager; did you mean --backend",
         " run [OPTION…] model [arguments ...]"),
        ("run mlp --mode max-autotun", "python -m core run: argument --mode: there is no value `max-autotun`; "
         "did you mean max-autotune", " run [OPTION…] model [arguments ...]"),
        ("run mlp --mode x", "python -m core run: argument --mode: there is no value `x`; there are default,",
         " run [OPTION…] model [arguments ...]"),
        ("work", "python -m core work: the following arguments are required: --server, --token-file",
         " work [OPTION…] --server URL --token-file FILE"),
        ("runs --mots 3", "python -m core runs: unrecognized arguments: --mots; did you mean --most",
         " runs [OPTION…]"),
    ],
)  # fmt: skip
def test_an_error_suggests_similar_names_and_prints_the_usage_of_its_command(
    arguments: str, first: str, usage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(arguments.split())
    lines = capsys.readouterr().err.splitlines()
    assert (exit_.value.code, lines[0].startswith(first)) == (USAGE, True)
    assert lines[1].startswith("usage: python -m core")
    assert usage in lines[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("run nofile.py", "there is no file "),
        ("run mlp --dtype int64", "--dtype: `int64` is none of float64,"),
        ("run mlp --call f33[1]", "--call: `f33` is no dtype"),
        ("sweeps --csv", "--csv: a list has no table: give the id of one sweep"),
        ("sweep mlp --axis bakend=eager", "axis bakend: no field of the job is called so (did you mean backend"),
    ],
)
def test_an_invalid_job_names_the_option(arguments: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments.split()) == USAGE
    assert capsys.readouterr().err.startswith(message)


def test_the_version_is_printed_with_those_of_torch_and_python(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["--version"])
    printed = capsys.readouterr().out
    python = ".".join(map(str, sys.version_info[:3]))
    assert (exit_.value.code, printed.startswith(f"compileboard {own_version()} (torch ")) == (OK, True)
    assert printed.endswith(f", Python {python})\n")


def test_a_command_imports_no_other_command() -> None:
    code = (
        "import sys; from core.commands.main import main\n"
        "try: main(['--help'])\n"
        "finally: print(*(name for name in sys.modules if name.startswith('core.')), file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, capture_output=True, text=True)
    assert set(ran.stderr.split()) == {
        *("core.base", "core.base.errors", "core.base.machine", "core.base.syntax", "core.base.words"),
        *("core.commands", "core.commands.main", "core.commands.output", "core.commands.main"),
    }
    assert [line.split()[0] for line in ran.stdout.splitlines() if line.startswith("    ") and line[4] != " "] == [
        "COMMAND", *(command.name for command in COMMANDS)
    ][1:]  # fmt: skip


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_has_all_commands_and_options(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == OK
    script = capsys.readouterr().out
    flags = {flag for parser in make_parser().commands.values() for flag in parser._option_string_actions}
    long = {flag.removeprefix("--") for flag in flags if flag.startswith("--")}
    assert {name for name in (*(command.name for command in COMMANDS), *long) if name not in script} == set()


def test_bash_completes_commands_options_and_values(capsys: pytest.CaptureFixture[str]) -> None:
    main(["completion", "bash"])
    script = capsys.readouterr().out
    words = {"sw": 1, "run --mod": 2, "run --mode reduce": 3}
    tried = "".join(
        f"COMP_WORDS=(compileboard {typed}); COMP_CWORD={place}; _compileboard; echo ${{COMPREPLY[@]}}\n"
        for typed, place in words.items()
    )
    ran = subprocess.run(["bash"], input=script + tried, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["sweep sweeps", "--model --mode", "reduce-overhead"]
