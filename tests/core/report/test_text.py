"""Tensors become text in one way only."""

from core.report import tensor_text


def test_a_tensor_reads_as_torch_annotates_graphs() -> None:
    assert tensor_text("torch.float32", (8, 64)) == "f32[8, 64]"
    assert tensor_text("bfloat16", ("s0", 64), (64, 1)) == "bf16[s0, 64][64, 1]"
    assert tensor_text("int64", ()) == "i64[]"
    assert tensor_text("float4_e2m1fn_x2", (2,)) == "float4_e2m1fn_x2[2]"
