"""Two runs of one model side by side, on literal reports: which kernels are paired, and what is said to differ."""

from dataclasses import replace

from core.analysis.comparison.kernels import Comparison, KernelPair, Side, compare
from core.report import Binary, Compilation, Config, Frame, Kernel, KernelCall, Payload, Report, Setting
from core.report.model import Language
from core.report.nodes import Direction
from core.views.comparison import kernels_sentence

NORM = ("var_mean", "sub", "rsqrt", "mul")
GELU = ("view_7", "mul_4", "erf", "mul_5")
SOURCE = """{name} = async_compile.triton('{name}', '''
@triton_heuristics.pointwise(
    size_hints={{'x': {size}}},
    triton_meta={{'device': '{device}'}},
)
@triton.jit
def {name}(in_ptr0, XBLOCK : tl.constexpr):
    tmp0 = tl.load(in_ptr0 + {stride})
''', device_str='cuda')"""


def kernel(name: str, line: int, *origins: str, language: Language = "triton", way: Direction = "inference") -> Kernel:
    extern = language == "extern"
    return Kernel(
        id=f"0/0.{way}.{name}" + (f"#{line}" if extern else ""),
        name=name,
        direction=way,
        language=language,
        extern=extern,
        category="extern" if extern else "pointwise",
        graph=f"inductor_post_grad_graph.{way}",
        origins=origins,
        nodes=(),
        lines=(1, 2),
        calls=(KernelCall(line),),
        stacks=(),
        output_code=Payload(0, 0),
        bytes_read=100,
        bytes_written=20,
    )


def compiled(kernel: Kernel, registers: int, block: int = 256, spill_bytes: int = 0) -> Kernel:
    config = Config({"XBLOCK": block}, 4, 1, True, 0.1, registers=registers, spill_bytes=spill_bytes, shared_bytes=0)
    return replace(kernel, binary=Binary("pointwise", "the only config", (config,)))


def side(target: str, kernels: tuple[Kernel, ...], code: dict[str, str] | None = None) -> Side:
    compilation = Compilation("0/0", Frame("model.py", 1, "forward"), (), 1, "ok", "", (), (), None, (), (), kernels)
    return Side(Report(Setting(device="a CPU", target=target)), compilation, code or {})


def names(found: Comparison) -> list[tuple[str, str]]:
    return [(pair.left.name if pair.left else "", pair.right.name if pair.right else "") for pair in found.pairs]


NORM_KERNEL, GELU_KERNEL = kernel("triton_norm", 1, *NORM), kernel("triton_gelu", 3, *GELU)
MM = kernel("extern_kernels.mm", 2, "mm_default", language="extern")
ALL = (NORM_KERNEL, GELU_KERNEL, MM)
LEFT = side("a100", (compiled(NORM_KERNEL, 26), compiled(GELU_KERNEL, 30), MM))


def only(found: Comparison, name: str) -> KernelPair:
    return next(pair for pair in found.pairs if pair.either.name == name)


def test_a_run_compared_with_itself_differs_in_nothing() -> None:
    found = compare(LEFT, LEFT)
    assert names(found) == [(name, name) for name in ("triton_norm", "extern_kernels.mm", "triton_gelu")]
    assert [pair.differs for pair in found.pairs] == [(), (), ()]
    assert kernels_sentence(found) == "Fusion is the same; no config, register or shared memory differs."


def test_the_sentence_counts_what_differs() -> None:
    gelu = compiled(GELU_KERNEL, 31, block=512, spill_bytes=8)
    right = side("h100", (compiled(NORM_KERNEL, 27), gelu, MM))
    found = compare(LEFT, right)
    assert (
        kernels_sentence(found)
        == "Fusion is the same; 1 of 2 kernels has another config; 2 differ in registers; 1 differs in spills."
    )
    assert only(found, "triton_norm").differs == ("registers",)
    assert only(found, "triton_gelu").differs == ("config", "registers", "spills")


def test_each_side_says_whether_it_was_run() -> None:
    found = compare(side("", ALL), side("h100", ALL))
    assert (found.left, found.right) == (
        "run on a CPU",
        "generated for NVIDIA H100, which is not present; not run",
    )


def test_kernels_are_paired_by_the_nodes_that_they_share_whatever_they_are_called() -> None:
    right = side(
        "", (kernel("cpp_1", 1, "erf", "mul_5", "add_9", language="cpp"), kernel("cpp_2", 5, *NORM, language="cpp"))
    )
    found = compare(side("h100", (NORM_KERNEL, GELU_KERNEL)), right)
    assert names(found) == [("triton_norm", "cpp_2"), ("triton_gelu", "cpp_1")]
    assert (only(found, "triton_gelu").only_left, only(found, "triton_gelu").only_right) == (("mul",), ("add",))
    assert kernels_sentence(found) == (
        "Of 2 matched generated kernels, 1 fuses different ops; 2 kernels are Triton on the left and C++ on the right."
    )


def test_the_kernel_with_the_larger_part_in_common_is_taken_before_one_that_has_more_of_everything() -> None:
    few, many = ("erf", "add_1"), ("erf", "add_1", "exp", "log", "sin", "cos", "neg")
    right = side("", (kernel("large", 1, *many, language="cpp"), kernel("small", 5, "erf", language="cpp")))
    found = compare(side("h100", (kernel("triton_few", 1, *few),)), right)
    assert ("triton_few", "small") in names(found)


def test_library_calls_without_a_common_node_are_paired_by_kind_and_order() -> None:
    products = [kernel("extern_kernels.addmm", line, f"addmm_{line}", language="extern") for line in (2, 4)]
    flash = kernel("aten.flash", 5, "_scaled_dot_product_flash_attention_for_cpu", language="extern")
    others = [kernel("extern_kernels.mm", line, f"mm_default_{9 - line}", language="extern") for line in (2, 4)]
    efficient = kernel("aten.efficient", 3, "_scaled_dot_product_efficient_attention", language="extern")
    found = compare(side("", (NORM_KERNEL, *products, flash)), side("h100", (NORM_KERNEL, *others, efficient)))
    assert names(found) == [
        ("triton_norm", "triton_norm"),
        ("extern_kernels.addmm", "extern_kernels.mm"),
        ("extern_kernels.addmm", "extern_kernels.mm"),
        ("aten.flash", "aten.efficient"),
    ]
    assert [(pair.left.kernel, pair.right.kernel) for pair in found.pairs[1:3] if pair.left and pair.right] == [
        ("0/0.inference.extern_kernels.addmm#2", "0/0.inference.extern_kernels.mm#2"),
        ("0/0.inference.extern_kernels.addmm#4", "0/0.inference.extern_kernels.mm#4"),
    ]
    assert kernels_sentence(found) == "Fusion is the same; 3 extern calls are of another function."


def test_a_kernel_that_one_side_lacks_is_alone() -> None:
    merged = kernel("triton_all", 1, *NORM, *GELU)
    found = compare(side("a100", (NORM_KERNEL, GELU_KERNEL)), side("h100", (merged,)))
    assert names(found) == [("triton_norm", "triton_all"), ("triton_gelu", "")]
    assert found.pairs[1].both is False
    assert kernels_sentence(found).startswith(
        "Of 1 matched generated kernel, 1 fuses different ops; 1 kernel is only on the left"
    )


def test_forward_is_never_paired_with_backward() -> None:
    backward = kernel("triton_norm", 1, *NORM, way="backward")
    found = compare(side("a100", (NORM_KERNEL,)), side("h100", (backward,)))
    assert names(found) == [("triton_norm", ""), ("", "triton_norm")]


def source(name: str, device: str = "sm_80", size: int = 512, stride: str = "x0") -> dict[str, str]:
    return {f"0/0.inference.{name}": SOURCE.format(name=name, device=device, size=size, stride=stride)}


def test_sources_are_the_same_text_but_for_names_and_the_devices_properties() -> None:
    left = side("a100", (NORM_KERNEL,), code=source("triton_norm"))
    renamed = replace(NORM_KERNEL, id="0/0.inference.triton_norm_1", name="triton_norm_1")
    same = compare(left, side("h100", (renamed,), code=source("triton_norm_1", "sm_90")))
    assert (same.pairs[0].same_text, same.pairs[0].differs) == (True, ())
    assert kernels_sentence(same) == "Fusion is the same; the generated source is identical."

    other = compare(left, side("h100", (renamed,), code=source("triton_norm_1", size=64, stride="4*x0")))
    assert (other.pairs[0].same_text, other.pairs[0].differs) == (False, ("tiling", "source"))
    assert (other.pairs[0].either.tiling, other.pairs[0].right and other.pairs[0].right.tiling) == ("x: 512", "x: 64")


def test_what_one_side_does_not_know_is_no_difference() -> None:
    found = compare(side("a100", ALL), LEFT)
    assert [pair.differs for pair in found.pairs] == [(), (), ()]


def test_two_compilations_without_kernels_have_nothing_to_compare() -> None:
    assert kernels_sentence(compare(side("", ()), side("h100", ()))) == "Neither side has a kernel."
