// The kernels: each takes tensors whose sizes were checked when the program was loaded.
#pragma once

#include <functional>

#include "program.h"

namespace cb {

// A tensor with its memory.
struct View {
  const Tensor* tensor;
  uint8_t* data;  // of its first element

  int64_t size(int d) const { return tensor->sizes[d]; }
  int64_t stride(int d) const { return tensor->strides[d]; }
};

struct Operands {
  std::vector<View> inputs, outputs;
};

void load_span(const View& view, int64_t at, int64_t stride, int64_t n, float* to);
void store_span(const View& view, int64_t at, int64_t stride, int64_t n, const float* from);

void elementwise(const Instruction& instruction, const Operands& operands, int threads);
void product(const Instruction& instruction, const Operands& operands, int threads);
void softmax(const Instruction& instruction, const Operands& operands, int threads);
void norm(const Instruction& instruction, const Operands& operands, int threads);
void reduce(const Instruction& instruction, const Operands& operands, int threads);
void embedding(const Instruction& instruction, const Operands& operands, int threads);
void attention(const Instruction& instruction, const Operands& operands, int threads);
void concatenate(const Instruction& instruction, const Operands& operands, int threads);

// C[m, n] = A[m, k] B[k, n] by one thread; the factors have any strides, C has rows of `ldc` floats.
struct Factor {
  const uint8_t* data;
  uint32_t dtype;
  int64_t rows, columns;  // strides
};
void gemm(int64_t m, int64_t n, int64_t k, Factor a, Factor b, float* c, int64_t ldc);

// Steps over one span: where its operands lie, and where its outputs go.
constexpr int64_t SPAN = 512;
struct SpanOperand {
  View view;
  int64_t at, stride;
};
void run_steps(const Instruction& instruction, const SpanOperand* inputs, const SpanOperand* outputs,
               const float* product, int64_t n);

}  // namespace cb
