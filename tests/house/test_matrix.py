"""What an environment of the matrix is made of, and what is read from pytest's output."""

from tests.matrix import Outcome, counted, requirements


def test_the_wanted_torch_comes_first_and_tools_for_the_code_are_left_out() -> None:
    runtime = 'torch==2.13.0\ntriton==3.7.1 ; sys_platform == "linux"\nmsgspec==0.22.0\n'
    assert requirements("2.15.0", runtime, "pytest==9.1.1\nruff==0.17.5\n") == [
        "torch==2.15.0",
        "msgspec==0.22.0",
        "pytest==9.1.1",
    ]


def test_pytests_last_line_is_read_and_only_a_run_without_failures_is_good() -> None:
    found = counted("3 failed in the title\n===== 2 failed, 31 passed, 1 skipped, 1 error in 71.40s (0:01:11) =====\n")
    assert found == {"failed": 2, "passed": 31, "skipped": 1, "error": 1}
    assert Outcome("2.15.0", "3.9.0", found, 1.19).words == "| 2.15.0 | 3.9.0 | 31 | 2 | 1 | 1 | 1.2 |"
    assert not Outcome("2.15.0", "3.9.0", found, 1.0).good
    assert not Outcome("2.15.0", "3.9.0", counted("no tests ran\n"), 1.0).good
    assert Outcome("2.15.0", "3.9.0", counted("===== 31 passed in 60.00s =====\n"), 1.0).good
