"""The files of a run: the changes of an edited one."""

from core.views.run_files import RunFiles


def test_the_changes_of_an_edited_file_are_a_diff() -> None:
    diff = RunFiles.changes("a = 1\nb = 2\n", "a = 1\nb = 3\n")
    assert diff.splitlines() == ["--- generated", "+++ edited", "@@ -1,2 +1,2 @@", " a = 1", "-b = 2", "+b = 3"]
    assert RunFiles.changes("a = 1\n", "a = 1\n") == ""
