"""Search text for runs: each term is a condition, and what is no filter is searched as words and said."""

import re
import sqlite3
import time

import pytest

from core.runs.index.database import TABLES
from core.runs.index.query import FILTERS, IS, NEWEST_FIRST, SORTS, RunQuery

NOON_S = time.mktime((2026, 11, 26, 12, 0, 0, 0, 0, -1))
DAY_S = 86_400.0


def where(text: str) -> tuple[str, tuple[object, ...]]:
    condition = RunQuery.of(text, NOON_S).where
    return condition.sql, condition.values


@pytest.mark.parametrize(
    ("text", "sql", "values"),
    [
        ("", "1", ()),
        ("Two  WORDS", "coalesce(instr(words, ?), 0) AND coalesce(instr(words, ?), 0)", ("two", "words")),
        ('"two Words"', "coalesce(instr(words, ?), 0)", ("two words",)),
        ("model:GPT2", "coalesce(instr(model, ?), 0)", ("gpt2",)),
        ("device:cuda", "coalesce(instr(device, ?), 0)", ("cuda",)),
        ("torch:2.13", "coalesce(substr(torch, 1, ?) = ?, 0)", (5, "2.13.")),
        ("torch:2.13.0+cu130", "coalesce(substr(torch, 1, ?) = ?, 0)", (13, "2.13.0.cu130.")),
        ("is:failed", "coalesce(state = ?, 0)", ("failed",)),
        ("is:timed-out", "coalesce(state = ?, 0)", ("timed out",)),
        ("-is:pinned", "coalesce(NOT pinned, 0)", ()),
        ("tag:Nightly", "coalesce(instr(tags, ?), 0)", (" nightly ",)),
        ("author:owner", "coalesce(author = ?, 0)", ("",)),
        ("author:ada", "coalesce(author = ?, 0)", ("ada",)),
        ("since:2026-11-26", "coalesce(created_s >= ?, 0)", (NOON_S - DAY_S / 2,)),
        ("before:2w", "coalesce(created_s < ?, 0)", (NOON_S - 14 * DAY_S,)),
        ("speedup:>1.2", "coalesce(speedup > ?, 0)", (1.2,)),
        ("breaks:0", "coalesce(breaks = ?, 0)", (0.0,)),
    ],
)
def test_each_term_is_a_condition_with_its_value_as_a_parameter(
    text: str, sql: str, values: tuple[object, ...]
) -> None:
    assert where(text) == (sql, values)
    assert RunQuery.of(text, NOON_S).problems == ()


@pytest.mark.parametrize(
    ("text", "word", "problem"),
    [
        ("colour:red", "colour:red", "`colour:` is no filter"),
        ("is:purple", "is:purple", "`is:purple` is unknown"),
        ("since:yesterday", "since:yesterday", "`yesterday` is no date"),
        ("since:2026-13-01", "since:2026-13-01", "`2026-13-01` is no date"),
        ("speedup:fast", "speedup:fast", "`fast` is no bound"),
        ("sort:beauty", "sort:beauty", "runs are not sorted by `beauty`"),
    ],
)
def test_what_is_no_filter_is_searched_as_words_and_said(text: str, word: str, problem: str) -> None:
    assert where(text) == ("coalesce(instr(words, ?), 0)", (word,))
    (said,) = RunQuery.of(text).problems
    assert said.startswith(problem)


def test_runs_are_sorted_largest_first_or_smallest_first_and_unknown_last() -> None:
    assert RunQuery.of("").order == NEWEST_FIRST == "created_s DESC, id DESC"
    assert RunQuery.of("sort:compile").order == f"compile_s IS NULL, compile_s DESC, {NEWEST_FIRST}"
    assert RunQuery.of("sort:-compile").order == f"compile_s IS NULL, compile_s ASC, {NEWEST_FIRST}"


def test_a_long_search_is_cut_off_and_that_is_reported() -> None:
    query = RunQuery.of("word " * 10_000)
    assert len(query.conditions) == 20
    assert query.problems == ("only the first 20 terms of 1000 characters are searched",)


HOSTILE = ("'; DROP TABLE runs; --", "%_\\", '"', '""', "-", ":", "-:", "tag:", "\0", "is:' OR 1=1", "x" * 5_000)


@pytest.mark.promise("people")
@pytest.mark.parametrize(
    "text", [*HOSTILE, *(f"{key}:{value}" for key in (*FILTERS, "sort") for value in ("x'", "", "-1", "9" * 40))]
)
def test_every_text_is_sql_that_sqlite_runs_and_holds_no_part_of_the_text(text: str) -> None:
    """No text of a search becomes part of an SQL statement."""
    connection = sqlite3.connect(":memory:")
    for table in TABLES:
        connection.execute(table)
    query = RunQuery.of(text)
    assert connection.execute(f"SELECT * FROM runs WHERE {query.where.sql} ORDER BY {query.order}", query.where.values)
    assert re.fullmatch(r"[\w\s(),?=<>'.]*", query.where.sql)


@pytest.mark.parametrize("text", [*(f"is:{word}" for word in IS), *(f"sort:{word}" for word in SORTS)])
def test_every_word_of_is_and_sort_is_sql_that_sqlite_runs(text: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute(TABLES[0])
    query = RunQuery.of(text)
    assert query.problems == ()
    connection.execute(f"SELECT * FROM runs WHERE {query.where.sql} ORDER BY {query.order}", query.where.values)
