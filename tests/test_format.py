"""Numbers become text in one way only."""

import math

import pytest

from pages.look import format as fmt


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "not recorded"),
        (0, "0"),
        (0.0, "0"),
        (7, "7"),
        (1234567, "1,234,567"),
        (-3, "−3"),
        (3.14159, "3.14"),
        (0.0123456, "0.0123"),
        (9.999, "10.0"),
        (99.96, "100"),
        (123456.0, "123,000"),
        (-2.5, "−2.50"),
        (1.234e-7, "1.23e-7"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (math.nan, "not a number"),
    ],
)
def test_a_number_has_three_significant_digits(value: float | None, text: str) -> None:
    assert fmt.number(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "not recorded"),
        (0.0, "0 s"),
        (3e-9, "3.00 ns"),
        (12e-6, "12.0 µs"),
        (0.00182, "1.82 ms"),
        (0.9996, "1.00 s"),
        (3.4, "3.40 s"),
        (99.9, "99.9 s"),
        (125, "2 min 5 s"),
        (4_320, "1 h 12 min"),
        (-0.002, "−2.00 ms"),
        (math.inf, "∞ s"),
    ],
)
def test_a_duration_has_the_unit_that_reads_best(seconds: float | None, text: str) -> None:
    assert fmt.duration_s(seconds) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (None, "not recorded"),
        (0, "0 B"),
        (512, "512 B"),
        (999.0, "999 B"),
        (1_500_000, "1.50 MB"),
        (999_999, "1.00 MB"),
        (2_048, "2.05 kB"),
        (1.2e12, "1.20 TB"),
        (-4096, "−4.10 kB"),
    ],
)
def test_bytes_are_counted_in_decimal_units(size: float | None, text: str) -> None:
    assert fmt.bytes_(size) == text


def test_a_rate_names_its_unit() -> None:
    assert fmt.per_second(812e9) == "812 GB/s"
    assert fmt.per_second(1.2e12, "FLOP") == "1.20 TFLOP/s"
    assert fmt.per_second(None) == "not recorded"


@pytest.mark.parametrize(
    ("value", "bounds", "text"),
    [
        (None, None, "not recorded"),
        (1.82, None, "1.82 ×"),
        (2, None, "2.00 ×"),
        (1.8234, (1.7812, 1.8649), "1.82 × (1.78 to 1.86)"),
        (240.4, (98.4, 1_120.0), "240 × (98.4 to 1,120)"),
    ],
)
def test_a_ratio_shows_the_bounds_of_its_interval(
    value: float | None, bounds: tuple[float, float] | None, text: str
) -> None:
    assert fmt.ratio(value, bounds) == text


def test_a_fraction_reads_as_percentage() -> None:
    assert [fmt.percent(x) for x in (0.123, 1, 0.0, None)] == ["12.3 %", "100 %", "0 %", "not recorded"]


def test_a_count_agrees_with_its_noun() -> None:
    assert fmt.count(1, "kernel") == "1 kernel"
    assert fmt.count(0, "kernel") == "0 kernels"
    assert fmt.count(1_200, "kernel") == "1,200 kernels"
    assert fmt.count(2, "cache entry", "cache entries") == "2 cache entries"
    assert fmt.count(None, "kernel") == "kernels not recorded"


def test_a_tensor_reads_as_torch_annotates_graphs() -> None:
    assert fmt.tensor("torch.float32", (8, 64)) == "f32[8, 64]"
    assert fmt.tensor("bfloat16", ("s0", 64), (64, 1)) == "bf16[s0, 64][64, 1]"
    assert fmt.tensor("int64", ()) == "i64[]"
    assert fmt.tensor("float4_e2m1fn_x2", (2,)) == "float4_e2m1fn_x2[2]"
    assert fmt.tensor(None, (2,)) == "not recorded"


@pytest.mark.parametrize(
    ("age_s", "text"),
    [
        (-5, "just now"),
        (59, "just now"),
        (60, "1 minute ago"),
        (3_599, "59 minutes ago"),
        (7_200, "2 hours ago"),
        (86_400 * 3, "3 days ago"),
        (86_400 * 800, "2 years ago"),
    ],
)
def test_the_past_is_told_in_one_unit(age_s: float, text: str) -> None:
    assert fmt.ago(1_000_000.0, 1_000_000.0 + age_s) == text


def test_an_unknown_time_is_not_recorded() -> None:
    assert fmt.ago(None, 0.0) == "not recorded"
