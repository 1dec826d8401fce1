// Elementwise steps, one span of elements after another: what lies between two steps stays in the first cache.
#include <algorithm>

#include "jobs.h"
#include "kernels.h"
#include "lanes.h"
#include "maths.h"

namespace cb {

namespace {

constexpr int64_t SMALL = 16 * 1024;

// What a step reads of a span: a number for each element, or one for all.
struct Source {
  const float* at = nullptr;
  bool is_one = false;
};

template <typename F>
void each(int64_t n, float* to, Source a, F f) {
  if (a.is_one) return std::fill(to, to + n, f(*a.at));
  for (int64_t i = 0; i < n; i++) to[i] = f(a.at[i]);
}

template <typename F>
void each(int64_t n, float* __restrict to, Source first, Source second, F f) {
  const float *__restrict a = first.at, *__restrict b = second.at;
  if (first.is_one && second.is_one) return std::fill(to, to + n, f(*a, *b));
  if (second.is_one) {
    const float y = *b;
    for (int64_t i = 0; i < n; i++) to[i] = f(a[i], y);
  } else if (first.is_one) {
    const float x = *a;
    for (int64_t i = 0; i < n; i++) to[i] = f(x, b[i]);
  } else {
    for (int64_t i = 0; i < n; i++) to[i] = f(a[i], b[i]);
  }
}

void choose(int64_t n, float* to, Source condition, Source yes, Source no) {
  const int64_t c = !condition.is_one, y = !yes.is_one, x = !no.is_one;
  if (c && y && x) {
    for (int64_t i = 0; i < n; i++) to[i] = condition.at[i] != 0.0f ? yes.at[i] : no.at[i];
  } else {
    for (int64_t i = 0; i < n; i++) to[i] = condition.at[i * c] != 0.0f ? yes.at[i * y] : no.at[i * x];
  }
}

void compute(const Step& step, int64_t n, float* to, Source a, Source b, Source c) {
  switch (step.op) {
    case IDENTITY: return each(n, to, a, [](float x) { return x; });
    case ADD: return each(n, to, a, b, [](float x, float y) { return x + y; });
    case SUB: return each(n, to, a, b, [](float x, float y) { return x - y; });
    case MUL: return each(n, to, a, b, [](float x, float y) { return x * y; });
    case DIV: return each(n, to, a, b, [](float x, float y) { return x / y; });
    case MAXIMUM: return each(n, to, a, b, [](float x, float y) { return larger(x, y); });
    case MINIMUM: return each(n, to, a, b, [](float x, float y) { return smaller(x, y); });
    case POW: return each(n, to, a, b, [](float x, float y) { return y == 2.0f ? x * x : std::pow(x, y); });
    case NEG: return each(n, to, a, [](float x) { return -x; });
    case ABS: return each(n, to, a, [](float x) { return std::fabs(x); });
    case EXP: return each(n, to, a, [](float x) { return fast_exp(x); });
    case LOG: return each(n, to, a, [](float x) { return std::log(x); });
    case SQRT: return each(n, to, a, [](float x) { return std::sqrt(x); });
    case RSQRT: return each(n, to, a, [](float x) { return 1.0f / std::sqrt(x); });
    case RECIPROCAL: return each(n, to, a, [](float x) { return 1.0f / x; });
    case SIN: return each(n, to, a, [](float x) { return std::sin(x); });
    case COS: return each(n, to, a, [](float x) { return std::cos(x); });
    case TANH: return each(n, to, a, [](float x) { return fast_tanh(x); });
    case ERF: return each(n, to, a, [](float x) { return fast_erf(x); });
    case SIGMOID: return each(n, to, a, [](float x) { return sigmoid(x); });
    case RELU: return each(n, to, a, [](float x) { return x < 0.0f ? 0.0f : x; });
    case GELU: return each(n, to, a, [](float x) { return gelu(x); });
    case GELU_TANH: return each(n, to, a, [](float x) { return gelu_tanh(x); });
    case SILU: return each(n, to, a, [](float x) { return x * sigmoid(x); });
    case EQ: return each(n, to, a, b, [](float x, float y) { return x == y ? 1.0f : 0.0f; });
    case NE: return each(n, to, a, b, [](float x, float y) { return x != y ? 1.0f : 0.0f; });
    case LT: return each(n, to, a, b, [](float x, float y) { return x < y ? 1.0f : 0.0f; });
    case LE: return each(n, to, a, b, [](float x, float y) { return x <= y ? 1.0f : 0.0f; });
    case GT: return each(n, to, a, b, [](float x, float y) { return x > y ? 1.0f : 0.0f; });
    case GE: return each(n, to, a, b, [](float x, float y) { return x >= y ? 1.0f : 0.0f; });
    case LOGICAL_NOT: return each(n, to, a, [](float x) { return x != 0.0f ? 0.0f : 1.0f; });
    case LOGICAL_AND: return each(n, to, a, b, [](float x, float y) { return x != 0.0f && y != 0.0f ? 1.0f : 0.0f; });
    case LOGICAL_OR: return each(n, to, a, b, [](float x, float y) { return x != 0.0f || y != 0.0f ? 1.0f : 0.0f; });
    case WHERE: return choose(n, to, a, b, c);
  }
}

// A cast that stands in the graph is made, also where its result is not stored.
void cast(uint32_t dtype, int64_t n, float* values) {
  if (dtype == CB_BF16) each(n, values, {values, false}, [](float x) { return from_bf16(to_bf16(x)); });
  if (dtype == CB_BOOL) each(n, values, {values, false}, [](float x) { return x != 0.0f ? 1.0f : 0.0f; });
}

struct Loops {
  int64_t outer = 1, inner = 1;  // outer indices, and elements of the innermost loop
  std::vector<int64_t> sizes;    // of the outer loops
  std::vector<std::vector<int64_t>> strides;
  std::vector<int64_t> inner_strides;
};

// Dimensions in the order of the first output's memory, neighbours joined wherever every operand allows.
Loops loops_of(const std::vector<const Tensor*>& all, const Tensor& shape) {
  std::vector<uint32_t> dims;
  for (uint32_t d = 0; d < shape.rank; d++)
    if (shape.sizes[d] != 1) dims.push_back(d);
  std::stable_sort(dims.begin(), dims.end(), [&](uint32_t a, uint32_t b) { return shape.strides[a] > shape.strides[b]; });
  std::vector<int64_t> sizes;
  std::vector<std::vector<int64_t>> strides(all.size());
  for (uint32_t d : dims) {
    bool joins = !sizes.empty();
    for (size_t t = 0; t < all.size() && joins; t++)
      joins = strides[t].back() == all[t]->strides[d] * shape.sizes[d];
    if (joins) sizes.back() *= shape.sizes[d];
    else sizes.push_back(shape.sizes[d]);
    for (size_t t = 0; t < all.size(); t++) {
      if (joins) strides[t].back() = all[t]->strides[d];
      else strides[t].push_back(all[t]->strides[d]);
    }
  }
  Loops found;
  for (size_t t = 0; t < all.size(); t++) {
    found.inner_strides.push_back(sizes.empty() ? 0 : strides[t].back());
    if (!sizes.empty()) strides[t].pop_back();
  }
  if (!sizes.empty()) {
    found.inner = sizes.back();
    sizes.pop_back();
  }
  for (int64_t size : sizes) found.outer *= size;
  found.sizes = sizes;
  found.strides = strides;
  return found;
}

}  // namespace

void load_span(const View& view, int64_t at, int64_t stride, int64_t n, float* __restrict to) {
  if (view.tensor->dtype == CB_F32) {
    const float* from = reinterpret_cast<const float*>(view.data) + at;
    if (stride == 1) std::memcpy(to, from, size_t(n) * 4);
    else if (stride == 0) std::fill(to, to + n, *from);
    else for (int64_t i = 0; i < n; i++) to[i] = from[i * stride];
  } else if (view.tensor->dtype == CB_BF16) {
    const uint16_t* from = reinterpret_cast<const uint16_t*>(view.data) + at;
    if (stride == 1) for (int64_t i = 0; i < n; i++) to[i] = from_bf16(from[i]);
    else for (int64_t i = 0; i < n; i++) to[i] = from_bf16(from[i * stride]);
  } else {
    const uint8_t* from = view.data + at;
    for (int64_t i = 0; i < n; i++) to[i] = from[i * stride] ? 1.0f : 0.0f;
  }
}

void store_span(const View& view, int64_t at, int64_t stride, int64_t n, const float* __restrict from) {
  if (view.tensor->dtype == CB_F32) {
    float* to = reinterpret_cast<float*>(view.data) + at;
    if (stride == 1) std::memcpy(to, from, size_t(n) * 4);
    else for (int64_t i = 0; i < n; i++) to[i * stride] = from[i];
  } else if (view.tensor->dtype == CB_BF16) {
    uint16_t* to = reinterpret_cast<uint16_t*>(view.data) + at;
    if (stride == 1) for (int64_t i = 0; i < n; i++) to[i] = to_bf16(from[i]);
    else for (int64_t i = 0; i < n; i++) to[i * stride] = to_bf16(from[i]);
  } else {
    uint8_t* to = view.data + at;
    for (int64_t i = 0; i < n; i++) to[i * stride] = from[i] != 0.0f;
  }
}

// Where the results of the steps go: right into an output where that is float32 without gaps, else into memory between.
struct Results {
  float* at[MAX_STEPS];
  bool is_stored[MAX_OUTPUTS] = {};

  Results(const Instruction& instruction, const SpanOperand* outputs, float* between) {
    for (size_t s = 0; s < instruction.steps.size(); s++) at[s] = between + s * SPAN;
    for (size_t o = 0; o < instruction.outputs.size(); o++) {
      const SpanOperand& output = outputs[o];
      const int32_t step = instruction.stored[o];
      if (step < 0 || output.stride != 1 || output.view.tensor->dtype != CB_F32 || at[step] != between + step * SPAN)
        continue;
      at[step] = reinterpret_cast<float*>(output.view.data) + output.at;
      is_stored[o] = true;
    }
  }
};

void run_steps(const Instruction& instruction, const SpanOperand* inputs, const SpanOperand* outputs,
               const float* product, int64_t n) {
  thread_local std::vector<float> memory((MAX_STEPS + MAX_INPUTS) * SPAN);
  Results results(instruction, outputs, memory.data());
  float* const loaded = memory.data() + MAX_STEPS * SPAN;
  const float* at[MAX_INPUTS] = {};
  float numbers[3];
  auto source = [&](const Operand& operand, int slot) -> Source {
    if (operand.kind == FROM_STEP) return {results.at[operand.index], false};
    if (operand.kind == FROM_PRODUCT) return {product, false};
    if (operand.kind == IMMEDIATE) {
      numbers[slot] = operand.immediate();
      return {numbers + slot, true};
    }
    if (operand.kind != FROM_INPUT) return {};
    const SpanOperand& input = inputs[operand.index];
    const bool is_f32 = input.view.tensor->dtype == CB_F32;
    const float* there = is_f32 ? reinterpret_cast<const float*>(input.view.data) + input.at : nullptr;
    if (is_f32 && input.stride <= 1) return {there, input.stride == 0};
    if (at[operand.index]) return {at[operand.index], false};
    float* to = loaded + operand.index * SPAN;
    load_span(input.view, input.at, input.stride, n, to);
    at[operand.index] = to;
    return {to, false};
  };
  for (size_t s = 0; s < instruction.steps.size(); s++) {
    const Step& step = instruction.steps[s];
    compute(step, n, results.at[s], source(step.operands[0], 0), source(step.operands[1], 1), source(step.operands[2], 2));
    if (step.op == IDENTITY) cast(step.dtype, n, results.at[s]);
  }
  for (size_t o = 0; o < instruction.outputs.size(); o++) {
    if (results.is_stored[o]) continue;
    const float* from = instruction.stored[o] < 0 ? product : results.at[instruction.stored[o]];
    store_span(outputs[o].view, outputs[o].at, outputs[o].stride, n, from);
  }
}

void elementwise(const Instruction& instruction, const Operands& operands, int threads) {
  std::vector<View> views = operands.inputs;
  views.insert(views.end(), operands.outputs.begin(), operands.outputs.end());
  const Tensor& shape = *operands.outputs[0].tensor;
  if (shape.numel() == 0) return;
  std::vector<const Tensor*> all;
  for (const View& view : views) all.push_back(view.tensor);
  const Loops loops = loops_of(all, shape);
  const int64_t spans = (loops.inner + SPAN - 1) / SPAN, jobs = loops.outer * spans;
  each_job(jobs, shape.numel() < SMALL ? 1 : threads, [&](int64_t job) {
    SpanOperand at[MAX_INPUTS + MAX_OUTPUTS];
    int64_t from = job % spans * SPAN, n = std::min(SPAN, loops.inner - from);
    for (size_t t = 0; t < views.size(); t++) {
      int64_t rest = job / spans, offset = from * loops.inner_strides[t];
      for (size_t d = loops.sizes.size(); d-- > 0; rest /= loops.sizes[d])
        offset += rest % loops.sizes[d] * loops.strides[t][d];
      at[t] = {views[t], offset, loops.inner_strides[t]};
    }
    run_steps(instruction, at, at + operands.inputs.size(), nullptr, n);
  });
}

}  // namespace cb
