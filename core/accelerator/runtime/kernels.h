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

// The loops of an elementwise instruction: dimensions in the order of the first output's memory, joined where possible.
struct Loops {
  int64_t outer = 1, inner = 1;  // indices of all outer loops together, and elements of the innermost one
  uint32_t rank = 0;             // outer loops
  int64_t sizes[CB_MAX_RANK] = {};
  struct Strides {
    int64_t outer[CB_MAX_RANK] = {}, inner = 0;
  };
  std::vector<Strides> strides;  // of the inputs, then of the outputs
};
Loops loops_of(const Program& program, const Instruction& instruction);
Loops loops_over(const std::vector<const Tensor*>& all, const Tensor& shape);

struct Operands {
  std::vector<View> inputs, outputs;
  const Loops* loops = nullptr;  // of an elementwise instruction
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

// Whether a product has so few rows, or columns, that its large factor is read as it lies. Blocks of one product are
// all made in the same way, so that its numbers do not depend on how many threads share it.
enum class Thin { NO, ROWS, COLUMNS };
Thin thinness(int64_t m, int64_t n, const Factor& a, const Factor& b);
void gemm(int64_t m, int64_t n, int64_t k, Factor a, Factor b, float* c, int64_t ldc, Thin thin);
void thin_gemm(int64_t m, int64_t n, int64_t k, Factor a, Factor b, float* c, int64_t ldc, Thin thin);

// Steps over one span: where its operands lie, and where its outputs go.
constexpr int64_t SPAN = 1024;
struct SpanOperand {
  View view;
  int64_t at, stride;
  const float* ready = nullptr;  // its numbers, if they were loaded before
};
void run_steps(const Instruction& instruction, const SpanOperand* inputs, const SpanOperand* outputs,
               const float* product, int64_t n);

}  // namespace cb
