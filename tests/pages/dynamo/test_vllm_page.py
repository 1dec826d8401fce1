"""The page vLLM: the calls of its backend, and torch's records of a piecewise compilation."""

from pathlib import Path

from pages import menu
from tests.support.apps import code_of, opened, read_titles, read_words, sound
from tests.support.homes import IMAGE, add_run
from tests.support.vllm import LOG


def test_a_log_of_vllm_shows_its_compilations_and_a_record(empty_home: Path) -> None:
    app = sound(opened(menu.VLLM.script, add_run(empty_home, "served", LOG, kind="log").id))

    assert read_titles(app) == ["4 piecewise compilations in 3 calls of vLLM: 3 subgraphs, 2 of them distinct"]
    assert list(app.dataframe[0].value["subgraph"]) == ["submod_0", "submod_0", "submod_2", "submod_4"]
    assert code_of(app, "piece-0-submod_0-1-1")["title"] == "inductor_output_code"


def test_a_call_from_the_cache_is_not_in_the_log(empty_home: Path) -> None:
    run = add_run(empty_home, "served", LOG, kind="log").id
    app = sound(opened(menu.VLLM.script, run, vllm_call="3"))

    assert "Piecewise compilations of this call: not in this log" in read_words(app)
    assert "loaded its code from vLLM's AOT cache" in read_words(app)


def test_names_in_a_log_are_text(empty_home: Path) -> None:
    log = LOG.replace(b"submod_4", IMAGE.replace('"', "'").encode()).replace(b"eagle_head", b"<b>x</b>")
    sound(opened(menu.VLLM.script, add_run(empty_home, "hostile", log, kind="log").id))


def test_a_run_without_vllm_says_how_to_record_it(runs: dict[str, str]) -> None:
    app = sound(opened(menu.VLLM.script, runs["transformer_block"]))

    assert read_titles(app) == ["This log has no record of vLLM"]
    assert "vllm serve" in read_words(app)
