"""Files: what two threads do at the same time."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from core.base.files import remove


def test_a_directory_that_others_remove_at_the_same_time_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    for _ in range(20):
        for at in range(30):
            (folder / str(at)).mkdir(parents=True)
            (folder / str(at) / "file").touch()
        with ThreadPoolExecutor(4) as pool:
            for each in [pool.submit(remove, folder) for _ in range(4)]:
                each.result()
        assert not folder.exists()
