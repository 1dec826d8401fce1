"""Fake tensor results of operators without a meta function.

On the device, torch runs such an operator on zeros, and reads sizes and strides from the results. Without the
device, the zeros are on the CPU, and the results are moved to the target. `DESCRIBED` has operators without
CPU code: sizes and strides as `aten/src/ATen/native/cuda` and `cudnn` allocate them. Any other operator
without CPU code is a graph break. With unknown sizes, torch raises the same error as on the device.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch._meta_registrations import _create_grouped_mm_output_tensor
from torch._prims_common import suggest_memory_format
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils import _pytree as pytree

from core.report import TargetChoice
from core.worker.record import emit

RUN_HERE = ("CPU", "CompositeExplicitAutograd", "CompositeImplicitAutograd")
GRU_WORKSPACE = 5
CUDNN_CTC_LENGTH = 256
LIBRARY = "the size is an answer of {}"
OVERRIDDEN = "it has no code on any device before it is overridden"
SPARSE = "the layout is one of the device's sparse libraries"
HIDDEN = "torch calls it within an operator that has a meta function"
Sizes = Sequence[int]
Optional: TypeAlias = Tensor | None


def on_target(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return the replacement of `fake_tensor.run_fallback_kernel`."""

    def run_fallback_kernel(
        mode: FakeTensorMode, func: Any, flat_args: Sequence[Any], spec: Any, refusal: RuntimeError
    ) -> Any:
        device = next((arg.device for arg in flat_args if _is_fake(arg) and arg.device.type == "cuda"), None)
        if device is None:
            return original(mode, func, flat_args, spec, refusal)
        name = func.name()
        described = DESCRIBED.get(name)
        if described is not None:
            args, kwargs = pytree.tree_unflatten(list(flat_args), spec)
            with mode:
                return described(*args, **kwargs)
        if not any(torch._C._dispatch_has_kernel_for_dispatch_key(name, key) for key in RUN_HERE):
            reason = UNDECIDED.get(name, "torch has code for it on the device alone")
            record_choice(f"results of {func}", "graph break", f"needs the device: {reason}", ["graph break"])
            raise refusal
        inputs = set(map(id, flat_args))
        results = original(mode, func, flat_args, spec, refusal)
        return pytree.tree_map(lambda value: value if id(value) in inputs else _moved(mode, value, device), results)

    return run_fallback_kernel


def _is_fake(value: Any) -> bool:
    return isinstance(value, FakeTensor)


def _moved(mode: FakeTensorMode, value: Any, device: torch.device) -> Any:
    if not _is_fake(value) or value.device == device or value.layout != torch.strided:
        return value
    with mode:
        return torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device=device)


def _plain(tensor: Tensor) -> Tensor:
    return torch.empty_like(tensor, memory_format=torch.contiguous_format)


def _gru_cell(input_gates: Tensor, hidden_gates: Tensor, hx: Tensor, *biases: Optional, **_: Any) -> Any:
    return _plain(hx), hx.new_empty(hx.size(0), hx.size(1) * GRU_WORKSPACE)


def _gru_cell_backward(grad_hy: Tensor, workspace: Tensor, has_bias: bool) -> Any:
    rows, gates = workspace.size(0), 3 * (workspace.size(1) // GRU_WORKSPACE)
    biases = [workspace.new_empty(gates) if has_bias else None for _ in range(2)]
    return workspace.new_empty(rows, gates), workspace.new_empty(rows, gates), _plain(grad_hy), *biases


def _rnn_backward(input: Tensor, weight: Sequence[Tensor], stride0: int, buffer: Tensor, hx: Tensor, cx: Optional,
                  *_: Any, **__: Any) -> Any:  # fmt: skip
    return _plain(input), _plain(hx), _plain(cx) if cx is not None else None, [_plain(part) for part in weight]


def _use_ctc(log_probs: Tensor, targets: Tensor, input_lengths: Sizes, target_lengths: Sizes, blank: int) -> bool:
    lengths = zip(target_lengths, input_lengths, strict=True)
    return (
        _ctc_fits(log_probs, targets, blank)
        and targets.device.type == "cpu"
        and all(length == log_probs.size(0) for length in input_lengths)
        and all(target < CUDNN_CTC_LENGTH and target <= length for target, length in lengths)
    )


def _use_ctc_tensor(log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor,
                    blank: int) -> bool:  # fmt: skip
    """Return True if torch uses cuDNN; it calls this with lengths of zero."""
    int32_lengths = input_lengths.dtype == target_lengths.dtype == torch.int32
    return _ctc_fits(log_probs, targets, blank) and int32_lengths


def _ctc_fits(log_probs: Tensor, targets: Tensor, blank: int) -> bool:
    dtypes = (log_probs.dtype, targets.dtype) == (torch.float32, torch.int32)
    shapes = (log_probs.dim(), targets.dim()) == (3, 1)
    return torch.backends.cudnn.enabled and blank == 0 and dtypes and shapes and targets.is_contiguous()


def _ctc(log_probs: Tensor, *_: Any, **__: Any) -> Any:
    return log_probs.new_empty(log_probs.size(1)), _plain(log_probs)


def _affine_grid(theta: Tensor, n: int, c: int, h: int, w: int) -> Tensor:
    return theta.new_empty(n, h, w, 2)


def _affine_grid_backward(grad: Tensor, n: int, c: int, h: int, w: int) -> Tensor:
    return grad.new_empty(n, 2, 3)


def _grid_sampler(input: Tensor, grid: Tensor) -> Tensor:
    return input.new_empty(*input.shape[:2], *grid.shape[1:3])


def _grid_sampler_backward(input: Tensor, grid: Tensor, grad: Tensor) -> Any:
    return _plain(input), _plain(grid)


def _convolved(input: Tensor, weight: Tensor, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int,
               output_padding: Sizes | None = None) -> Tensor:  # fmt: skip
    transposed = output_padding is not None
    return torch.ops.aten.convolution.default(
        input, weight, None, stride, padding, dilation, transposed, output_padding or [0] * len(stride), groups
    )


def _cudnn_conv(input: Tensor, weight: Tensor, padding: Sizes, stride: Sizes, dilation: Sizes, groups: int,
                *_: bool) -> Tensor:  # fmt: skip
    return _convolved(input, weight, stride, padding, dilation, groups)


def _cudnn_conv_transpose(input: Tensor, weight: Tensor, padding: Sizes, output_padding: Sizes, stride: Sizes,
                          dilation: Sizes, groups: int, *_: bool) -> Tensor:  # fmt: skip
    return _convolved(input, weight, stride, padding, dilation, groups, output_padding)


def _miopen_conv(input: Tensor, weight: Tensor, bias: Optional, *rest: Any) -> Tensor:
    return _cudnn_conv(input, weight, *rest)


def _miopen_conv_transpose(input: Tensor, weight: Tensor, bias: Optional, *rest: Any) -> Tensor:
    return _cudnn_conv_transpose(input, weight, *rest)


def _conv_relu(input: Tensor, weight: Tensor, bias: Optional, stride: Sizes, padding: Sizes, dilation: Sizes,
               groups: int) -> Tensor:  # fmt: skip
    return _convolved(input, weight, stride, padding, dilation, groups)


def _conv_add_relu(input: Tensor, weight: Tensor, z: Tensor, alpha: Any, *rest: Any) -> Tensor:
    return _conv_relu(input, weight, *rest)


def _depthwise(input: Tensor, weight: Tensor, kernel: Sizes, bias: Optional, stride: Sizes, padding: Sizes,
               dilation: Sizes) -> Tensor:  # fmt: skip
    return _plain(_convolved(input, weight, stride, padding, dilation, input.size(1)))


def _wide(dtype: torch.dtype) -> torch.dtype:
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype


def _norm_stats(input: Tensor, eps: float) -> Any:
    return tuple(input.new_empty(input.size(1), dtype=_wide(input.dtype)) for _ in range(2))


def _norm_gathered(input: Tensor, mean: Tensor, *_: Any) -> Any:
    return tuple(mean.new_empty(mean.size(1), dtype=_wide(mean.dtype)) for _ in range(2))


def _norm_elements(input: Tensor, *_: Any) -> Tensor:
    return torch.empty_like(input)


def _norm_reduced(grad: Tensor, input: Tensor, mean: Tensor, invstd: Tensor, weight: Optional, input_g: bool,
                  weight_g: bool, bias_g: bool) -> Any:  # fmt: skip
    of_mean = (_plain(mean) if input_g else None for _ in range(2))
    of_weight = (_plain(weight) if wanted and weight is not None else None for wanted in (weight_g, bias_g))
    return *of_mean, *of_weight


def _norm_elements_backward(grad: Tensor, input: Tensor, *_: Any) -> Tensor:
    return torch.empty_like(input, memory_format=suggest_memory_format(input))


def _scaled_grouped_mm(left: Tensor, right: Tensor, *_: Any, **options: Any) -> Tensor:
    rest = dict(zip(("offs", "bias", "out_dtype"), _[6:9], strict=False)) | options
    dtype = rest.get("out_dtype") or torch.bfloat16
    return _create_grouped_mm_output_tensor(left, right, rest.get("offs"), dtype)


def _nothing(*_: Any) -> None:
    return None


DESCRIBED: dict[str, Callable[..., Any]] = {
    "aten::_thnn_fused_gru_cell": _gru_cell,
    "aten::_thnn_fused_gru_cell_backward": _gru_cell_backward,
    "aten::_cudnn_rnn_backward": _rnn_backward,
    "aten::miopen_rnn_backward": _rnn_backward,
    "aten::_use_cudnn_ctc_loss": _use_ctc,
    "aten::_use_cudnn_ctc_loss.Tensor": _use_ctc_tensor,
    "aten::_use_miopen_ctc_loss": _use_ctc,
    "aten::_use_miopen_ctc_loss.Tensor": _use_ctc_tensor,
    "aten::_cudnn_ctc_loss": _ctc,
    "aten::_cudnn_ctc_loss.Tensor": _ctc,
    "aten::miopen_ctc_loss": _ctc,
    "aten::miopen_ctc_loss.Tensor": _ctc,
    "aten::cudnn_affine_grid_generator": _affine_grid,
    "aten::cudnn_affine_grid_generator_backward": _affine_grid_backward,
    "aten::cudnn_grid_sampler": _grid_sampler,
    "aten::cudnn_grid_sampler_backward": _grid_sampler_backward,
    "aten::cudnn_convolution": _cudnn_conv,
    "aten::cudnn_convolution_transpose": _cudnn_conv_transpose,
    "aten::cudnn_convolution_relu": _conv_relu,
    "aten::cudnn_convolution_add_relu": _conv_add_relu,
    "aten::miopen_convolution": _miopen_conv,
    "aten::miopen_convolution_transpose": _miopen_conv_transpose,
    "aten::miopen_depthwise_convolution": _miopen_conv,
    "aten::miopen_convolution_relu": _conv_relu,
    "aten::miopen_convolution_add_relu": _conv_add_relu,
    "aten::_conv_depthwise2d": _depthwise,
    "aten::conv_depthwise3d": _depthwise,
    "aten::batch_norm_stats": _norm_stats,
    "aten::batch_norm_elemt": _norm_elements,
    "aten::batch_norm_gather_stats": _norm_gathered,
    "aten::batch_norm_gather_stats_with_counts": _norm_gathered,
    "aten::batch_norm_backward_reduce": _norm_reduced,
    "aten::batch_norm_backward_elemt": _norm_elements_backward,
    "aten::_scaled_grouped_mm_v2": _scaled_grouped_mm,
    "aten::record_stream": _nothing,
}
# Operators that stay a graph break for a target, each with the reason.
UNDECIDED = {
    "aten::_cudnn_rnn_flatten_weight": LIBRARY.format("cuDNN"),
    "aten::_cudnn_init_dropout_state": LIBRARY.format("cuDNN"),
    "aten::_cslt_compress": LIBRARY.format("cuSPARSELt"),
    "aten::_cslt_sparse_mm_search": "the result is the algorithm that was timed to be fastest",
    "aten::_sparse_semi_structured_tile": SPARSE,
    "aten::_sparse_semi_structured_apply": SPARSE,
    "aten::_sparse_semi_structured_apply_dense": SPARSE,
    "aten::_to_sparse_semi_structured": SPARSE,
    "aten::_mixed_dtypes_linear": "the weight is packed as CUTLASS wants it",
    "aten::_cudnn_attention_forward": HIDDEN,
    "aten::_cudnn_attention_backward": HIDDEN,
    "aten::_triton_scaled_dot_attention": OVERRIDDEN,
    "aten::_triton_multi_head_attention": OVERRIDDEN,
}


_recorded: set[tuple[str, ...]] = set()


def record_choice(about: str, chosen: str, reason: str, among: list[str]) -> None:
    """Record a decision once per compilation, since tracing repeats the same call several times."""
    choice = (str(torch._guards.CompileContext.current_compile_id()), about, chosen, reason)
    if choice not in _recorded:
        _recorded.add(choice)
        emit(TargetChoice(about=about, chosen=chosen, reason=reason, among=tuple(among)))
