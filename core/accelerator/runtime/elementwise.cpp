// Elementwise steps, one span of elements after another: what lies between two steps stays in the first cache.
#include <algorithm>

#include "jobs.h"
#include "kernels.h"
#include "lanes.h"
#include "maths.h"
#include "transpose.h"

namespace cb {

namespace {

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
  const float* __restrict a = first.at, * __restrict b = second.at;
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

void power(int64_t n, float* to, Source a, Source b) {
  if (b.is_one && *b.at == 2.0f) return each(n, to, a, [](float x) { return x * x; });
  each(n, to, a, b, [](float x, float y) { return std::pow(x, y); });
}

// Sine or cosine; what is too large for the fast way, by the C library.
template <typename F>
void turn(int64_t n, float* to, Source a, int32_t shift, F exact) {
  if (a.is_one) return std::fill(to, to + n, exact(*a.at));
  constexpr int64_t FEW = 256;
  for (int64_t from = 0; from < n; from += FEW) {
    float given[FEW];  // `to` may be the operand's own memory
    const int64_t here = std::min(FEW, n - from);
    std::memcpy(given, a.at + from, size_t(here) * 4);
    int32_t is_large = 0;
    for (int64_t i = 0; i < here; i++) {
      const bool fits = std::fabs(given[i]) <= MOST_TURNED;
      is_large |= !fits;
      to[from + i] = turned(fits ? given[i] : 0.0f, shift);
    }
    for (int64_t i = 0; is_large && i < here; i++)
      if (!(std::fabs(given[i]) <= MOST_TURNED)) to[from + i] = exact(given[i]);
  }
}

void compute(const Step& step, int64_t n, float* to, Source a, Source b, Source c) {
  switch (step.op) {
    case StepOp::IDENTITY: return each(n, to, a, [](float x) { return x; });
    case StepOp::ADD: return each(n, to, a, b, [](float x, float y) { return x + y; });
    case StepOp::SUB: return each(n, to, a, b, [](float x, float y) { return x - y; });
    case StepOp::MUL: return each(n, to, a, b, [](float x, float y) { return x * y; });
    case StepOp::DIV: return each(n, to, a, b, [](float x, float y) { return x / y; });
    case StepOp::MAXIMUM: return each(n, to, a, b, [](float x, float y) { return larger(x, y); });
    case StepOp::MINIMUM: return each(n, to, a, b, [](float x, float y) { return smaller(x, y); });
    case StepOp::POW: return power(n, to, a, b);
    case StepOp::NEG: return each(n, to, a, [](float x) { return -x; });
    case StepOp::ABS: return each(n, to, a, [](float x) { return std::fabs(x); });
    case StepOp::EXP: return each(n, to, a, [](float x) { return fast_exp(x); });
    case StepOp::LOG: return each(n, to, a, [](float x) { return fast_log(x); });
    case StepOp::SQRT: return each(n, to, a, [](float x) { return std::sqrt(x); });
    case StepOp::RSQRT: return each(n, to, a, [](float x) { return 1.0f / std::sqrt(x); });
    case StepOp::RECIPROCAL: return each(n, to, a, [](float x) { return 1.0f / x; });
    case StepOp::SIN: return turn(n, to, a, 0, [](float x) { return std::sin(x); });
    case StepOp::COS: return turn(n, to, a, 1, [](float x) { return std::cos(x); });
    case StepOp::TANH: return each(n, to, a, [](float x) { return fast_tanh(x); });
    case StepOp::ERF: return each(n, to, a, [](float x) { return fast_erf(x); });
    case StepOp::SIGMOID: return each(n, to, a, [](float x) { return sigmoid(x); });
    case StepOp::RELU: return each(n, to, a, [](float x) { return x < 0.0f ? 0.0f : x; });
    case StepOp::GELU: return each(n, to, a, [](float x) { return gelu(x); });
    case StepOp::GELU_TANH: return each(n, to, a, [](float x) { return gelu_tanh(x); });
    case StepOp::SILU: return each(n, to, a, [](float x) { return x * sigmoid(x); });
    case StepOp::EQ: return each(n, to, a, b, [](float x, float y) { return x == y ? 1.0f : 0.0f; });
    case StepOp::NE: return each(n, to, a, b, [](float x, float y) { return x != y ? 1.0f : 0.0f; });
    case StepOp::LT: return each(n, to, a, b, [](float x, float y) { return x < y ? 1.0f : 0.0f; });
    case StepOp::LE: return each(n, to, a, b, [](float x, float y) { return x <= y ? 1.0f : 0.0f; });
    case StepOp::GT: return each(n, to, a, b, [](float x, float y) { return x > y ? 1.0f : 0.0f; });
    case StepOp::GE: return each(n, to, a, b, [](float x, float y) { return x >= y ? 1.0f : 0.0f; });
    case StepOp::LOGICAL_NOT: return each(n, to, a, [](float x) { return x != 0.0f ? 0.0f : 1.0f; });
    case StepOp::LOGICAL_AND:
      return each(n, to, a, b, [](float x, float y) { return x != 0.0f && y != 0.0f ? 1.0f : 0.0f; });
    case StepOp::LOGICAL_OR:
      return each(n, to, a, b, [](float x, float y) { return x != 0.0f || y != 0.0f ? 1.0f : 0.0f; });
    case StepOp::WHERE: return choose(n, to, a, b, c);
  }
}

// A cast that stands in the graph is made, also where its result is not stored.
void cast(uint32_t dtype, int64_t n, float* values) {
  if (dtype == CB_BF16) each(n, values, {values, false}, [](float x) { return from_bf16(to_bf16(x)); });
  if (dtype == CB_BOOL) each(n, values, {values, false}, [](float x) { return x != 0.0f ? 1.0f : 0.0f; });
}

}  // namespace

Loops loops_of(const Program& program, const Instruction& instruction) {
  std::vector<const Tensor*> all;
  for (uint32_t id : instruction.inputs) all.push_back(&program.tensors[id]);
  for (uint32_t id : instruction.outputs) all.push_back(&program.tensors[id]);
  return loops_over(all, program.tensors[instruction.outputs[0]]);
}

Loops loops_over(const std::vector<const Tensor*>& all, const Tensor& shape) {
  // Of a tensor without elements sizes and strides may be so large that their product overflows.
  if (std::find(shape.sizes, shape.sizes + shape.rank, 0) != shape.sizes + shape.rank) {
    Loops none;
    none.strides.resize(all.size());
    none.inner = 0;
    return none;
  }
  std::vector<uint32_t> dims;
  for (uint32_t d = 0; d < shape.rank; d++)
    if (shape.sizes[d] != 1) dims.push_back(d);
  std::stable_sort(dims.begin(), dims.end(),
                   [&](uint32_t a, uint32_t b) { return shape.strides[a] > shape.strides[b]; });
  Loops found;
  found.strides.resize(all.size());
  for (uint32_t d : dims) {
    bool joins = found.rank > 0;
    for (size_t t = 0; t < all.size() && joins; t++)
      joins = found.strides[t].outer[found.rank - 1] == all[t]->strides[d] * shape.sizes[d];
    if (joins) found.sizes[found.rank - 1] *= shape.sizes[d];
    else found.sizes[found.rank++] = shape.sizes[d];
    for (size_t t = 0; t < all.size(); t++) found.strides[t].outer[found.rank - 1] = all[t]->strides[d];
  }
  if (found.rank > 0) {
    found.inner = found.sizes[--found.rank];
    for (Loops::Strides& strides : found.strides) strides.inner = strides.outer[found.rank];
  }
  for (uint32_t d = 0; d < found.rank; d++) found.outer *= found.sizes[d];
  return found;
}

void load_span(const View& view, int64_t at, int64_t stride, int64_t n, float* __restrict to) {
  if (view.tensor->dtype == CB_F32) {
    const float* from = reinterpret_cast<const float*>(view.data) + at;
    if (stride == 1) std::memcpy(to, from, size_t(n) * 4);
    else if (stride == 0) std::fill(to, to + n, *from);
    else
      for (int64_t i = 0; i < n; i++) to[i] = from[i * stride];
  } else if (view.tensor->dtype == CB_BF16) {
    const uint16_t* from = reinterpret_cast<const uint16_t*>(view.data) + at;
    if (stride == 1)
      for (int64_t i = 0; i < n; i++) to[i] = from_bf16(from[i]);
    else
      for (int64_t i = 0; i < n; i++) to[i] = from_bf16(from[i * stride]);
  } else {
    const uint8_t* from = view.data + at;
    for (int64_t i = 0; i < n; i++) to[i] = from[i * stride] ? 1.0f : 0.0f;
  }
}

void store_span(const View& view, int64_t at, int64_t stride, int64_t n, const float* __restrict from) {
  if (view.tensor->dtype == CB_F32) {
    float* to = reinterpret_cast<float*>(view.data) + at;
    if (stride == 1) std::memcpy(to, from, size_t(n) * 4);
    else
      for (int64_t i = 0; i < n; i++) to[i * stride] = from[i];
  } else if (view.tensor->dtype == CB_BF16) {
    uint16_t* to = reinterpret_cast<uint16_t*>(view.data) + at;
    if (stride == 1)
      for (int64_t i = 0; i < n; i++) to[i] = to_bf16(from[i]);
    else
      for (int64_t i = 0; i < n; i++) to[i * stride] = to_bf16(from[i]);
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
    if (operand.kind == OperandKind::FROM_STEP) return {results.at[operand.index], false};
    if (operand.kind == OperandKind::FROM_PRODUCT) return {product, false};
    if (operand.kind == OperandKind::IMMEDIATE) {
      numbers[slot] = operand.immediate();
      return {numbers + slot, true};
    }
    if (operand.kind != OperandKind::FROM_INPUT) return {};
    const SpanOperand& input = inputs[operand.index];
    if (input.ready) return {input.ready, false};
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
    compute(step, n, results.at[s], source(step.operands[0], 0), source(step.operands[1], 1),
            source(step.operands[2], 2));
    if (step.op == StepOp::IDENTITY) cast(step.dtype, n, results.at[s]);
  }
  for (size_t o = 0; o < instruction.outputs.size(); o++) {
    if (results.is_stored[o]) continue;
    const float* from = instruction.stored[o] < 0 ? product : results.at[instruction.stored[o]];
    store_span(outputs[o].view, outputs[o].at, outputs[o].stride, n, from);
  }
}

namespace {

// Rows that are loaded at once where an input runs across them.
constexpr int64_t TILE = 16;

// One block of an elementwise instruction: some neighbouring rows of the last outer loop, and a span of each.
class Block {
 public:
  Block(const Instruction& instruction, const Operands& operands) : instruction_(instruction), operands_(operands) {}

  void run(const Loops& loops, int64_t row, int64_t rows, int64_t from, int64_t n) {
    const size_t inputs = operands_.inputs.size(), all = inputs + operands_.outputs.size();
    for (size_t t = 0; t < all; t++) {
      const Loops::Strides& strides = loops.strides[t];
      const View& view = t < inputs ? operands_.inputs[t] : operands_.outputs[t - inputs];
      int64_t offset = from * strides.inner, rest = row;
      for (uint32_t d = loops.rank; d-- > 0; rest /= loops.sizes[d]) offset += rest % loops.sizes[d] * strides.outer[d];
      at_[t] = {view, offset, strides.inner};
      turned_[t] = t < inputs && rows > 1 && runs_across(view, loops, t) ? turn(t, rows, n) : nullptr;
    }
    for (int64_t r = 0; r < rows; r++) {
      for (size_t t = 0; t < all; t++) {
        if (turned_[t]) at_[t].ready = turned_[t] + r * n;
        else if (r) at_[t].at += loops.strides[t].outer[loops.rank - 1];
      }
      run_steps(instruction_, at_, at_ + inputs, nullptr, n);
    }
  }

  static bool runs_across(const View& view, const Loops& loops, size_t t) {
    return view.tensor->dtype == CB_F32 && loops.strides[t].inner > 1 && loops.rank > 0 &&
           loops.strides[t].outer[loops.rank - 1] == 1;
  }

 private:
  // Rows of an input whose neighbouring elements are those of neighbouring rows.
  const float* turn(size_t t, int64_t rows, int64_t n) {
    thread_local std::vector<float> memory[MAX_INPUTS];
    memory[t].resize(TILE * SPAN);
    const float* from = reinterpret_cast<const float*>(at_[t].view.data) + at_[t].at;
    transpose(from, at_[t].stride, memory[t].data(), n, n, rows);
    return memory[t].data();
  }

  const Instruction& instruction_;
  const Operands& operands_;
  SpanOperand at_[MAX_INPUTS + MAX_OUTPUTS];
  const float* turned_[MAX_INPUTS + MAX_OUTPUTS];
};

// Moves elements of 1, 2 or 4 bytes as they are.
template <typename T>
void copy_rows(const T* from, T* to, int64_t from_row, int64_t to_row, int64_t from_step, int64_t rows, int64_t n) {
  if (from_step == 1) {
    for (int64_t r = 0; r < rows; r++) std::memcpy(to + r * to_row, from + r * from_row, size_t(n) * sizeof(T));
  } else if (from_row == 1) {
    if constexpr (sizeof(T) == 4)
      transpose(reinterpret_cast<const float*>(from), from_step, reinterpret_cast<float*>(to), to_row, n, rows);
    else transpose_plain(from, from_step, to, to_row, n, rows);
  } else {
    for (int64_t r = 0; r < rows; r++)
      for (int64_t i = 0; i < n; i++) to[r * to_row + i] = from[r * from_row + i * from_step];
  }
}

// Whether one step goes from memory to memory: nothing lies in between that the first cache had to hold.
bool is_direct(const Instruction& instruction, const Operands& operands) {
  if (instruction.steps.size() != 1 || operands.outputs.size() != 1) return false;
  for (size_t t = 0; t <= operands.inputs.size(); t++) {
    const Tensor& tensor = *(t < operands.inputs.size() ? operands.inputs[t] : operands.outputs[0]).tensor;
    const int64_t stride = operands.loops->strides[t].inner;
    if (tensor.dtype != CB_F32 || stride > 1 || (stride == 0 && t == operands.inputs.size())) return false;
  }
  return true;
}

bool is_copy(const Instruction& instruction, const Operands& operands) {
  if (instruction.steps.size() != 1 || operands.inputs.size() != 1 || operands.outputs.size() != 1) return false;
  const uint32_t dtype = operands.outputs[0].tensor->dtype;
  const Step& step = instruction.steps[0];
  return step.op == StepOp::IDENTITY && step.operands[0].kind == OperandKind::FROM_INPUT && dtype != CB_BOOL &&
         step.dtype == dtype && operands.inputs[0].tensor->dtype == dtype && operands.loops->strides[1].inner == 1;
}

template <typename T>
void copy_block(const Operands& operands, int64_t row, int64_t rows, int64_t from, int64_t n) {
  const Loops& loops = *operands.loops;
  const View* views[] = {&operands.inputs[0], &operands.outputs[0]};
  int64_t at[2], across[2];
  for (int t = 0; t < 2; t++) {
    at[t] = from * loops.strides[t].inner;
    int64_t rest = row;
    for (uint32_t d = loops.rank; d-- > 0; rest /= loops.sizes[d])
      at[t] += rest % loops.sizes[d] * loops.strides[t].outer[d];
    across[t] = loops.rank ? loops.strides[t].outer[loops.rank - 1] : 0;
  }
  copy_rows(reinterpret_cast<const T*>(views[0]->data) + at[0], reinterpret_cast<T*>(views[1]->data) + at[1], across[0],
            across[1], loops.strides[0].inner, rows, n);
}

}  // namespace

void elementwise(const Instruction& instruction, const Operands& operands, int threads) {
  const Loops& loops = *operands.loops;
  if (loops.outer == 0 || loops.inner == 0) return;
  const bool copies = is_copy(instruction, operands);
  bool across = false;
  for (size_t t = 0; t < operands.inputs.size(); t++) across |= Block::runs_across(operands.inputs[t], loops, t);
  const int64_t last = loops.rank ? loops.sizes[loops.rank - 1] : 1, high = copies ? 64 : across ? TILE : 1;
  const int64_t blocks = (last + high - 1) / high,
                wide = copies                             ? 4 * SPAN
                       : is_direct(instruction, operands) ? 16 * SPAN
                                                          : SPAN,
                spans = (loops.inner + wide - 1) / wide;
  const int64_t jobs = loops.outer / last * blocks * spans;
  const double work = double(loops.outer * loops.inner) * double(4 + 8 * instruction.steps.size());
  each_job(jobs, work < SHARED_WORK ? 1 : threads, [&](int64_t job) {
    const int64_t from = job % spans * wide, n = std::min(wide, loops.inner - from), number = job / spans;
    const int64_t row = number / blocks * last + number % blocks * high,
                  rows = std::min(high, last - number % blocks * high);
    if (!copies) Block(instruction, operands).run(loops, row, rows, from, n);
    else if (item_bytes(operands.outputs[0].tensor->dtype) == 4) copy_block<uint32_t>(operands, row, rows, from, n);
    else copy_block<uint16_t>(operands, row, rows, from, n);
  });
}

}  // namespace cb
