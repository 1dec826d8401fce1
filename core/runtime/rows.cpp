// Kernels over rows: softmax, layer norm, RMS norm, reductions.
#include <algorithm>

#include "jobs.h"
#include "kernels.h"
#include "lanes.h"
#include "maths.h"

namespace cb {

namespace {

constexpr int64_t SMALL = 16 * 1024;

int64_t count(const Tensor& tensor, uint32_t from, uint32_t to) {
  int64_t n = 1;
  for (uint32_t d = from; d < to; d++) n *= tensor.sizes[d];
  return n;
}

// Where the element of a running number lies, counted over the dimensions from `from` to `to`.
int64_t offset_of(const Tensor& tensor, uint32_t from, uint32_t to, int64_t number) {
  int64_t offset = 0;
  for (uint32_t d = to; d-- > from; number /= tensor.sizes[d]) offset += number % tensor.sizes[d] * tensor.strides[d];
  return offset;
}

// A whole row, gathered as float32: the last dimensions, whatever their strides.
void load_row(const View& view, uint32_t from, int64_t start, float* to) {
  const Tensor& tensor = *view.tensor;
  int64_t last = tensor.sizes[tensor.rank - 1], n = count(tensor, from, tensor.rank);
  for (int64_t i = 0; i < n; i += last)
    load_span(view, start + offset_of(tensor, from, tensor.rank - 1, i / last), tensor.strides[tensor.rank - 1], last,
              to + i);
}

void store_row(const View& view, uint32_t from, int64_t start, const float* values) {
  const Tensor& tensor = *view.tensor;
  int64_t last = tensor.sizes[tensor.rank - 1], n = count(tensor, from, tensor.rank);
  for (int64_t i = 0; i < n; i += last)
    store_span(view, start + offset_of(tensor, from, tensor.rank - 1, i / last), tensor.strides[tensor.rank - 1], last,
               values + i);
}

double sum(const float* values, int64_t n) {
  return sum_of(values, n, [](auto x) { return x; });
}

void softmax_row(float* row, int64_t n, bool is_log) {
  const float most = largest_of(row, n, -INFINITY);
  if (is_log) {
    double total = 0;
    float powers[SPAN];
    for (int64_t i = 0; i < n; i += SPAN) {
      int64_t here = std::min(SPAN, n - i);
      for (int64_t j = 0; j < here; j++) powers[j] = fast_exp(row[i + j] - most);
      total += sum(powers, here);
    }
    float less = most + float(std::log(total));
    for (int64_t i = 0; i < n; i++) row[i] -= less;
    return;
  }
  for (int64_t i = 0; i < n; i++) row[i] = fast_exp(row[i] - most);
  float scale = float(1.0 / sum(row, n));
  for (int64_t i = 0; i < n; i++) row[i] *= scale;
}

void store_one(const View& view, int64_t number, float value) { store_span(view, number, 1, 1, &value); }

struct Reducer {
  const View &from, &to;
  int64_t kind;
  std::vector<uint32_t> kept, gone;
  int64_t reduced = 1;

  int64_t offset(const std::vector<uint32_t>& dims, int64_t number) const {
    int64_t found = 0;
    for (size_t i = dims.size(); i-- > 0; number /= from.size(int(dims[i])))
      found += number % from.size(int(dims[i])) * from.stride(int(dims[i]));
    return found;
  }

  float value(double total) const { return float(kind == MEAN ? total / double(reduced) : total); }

  // One output: the innermost reduced dimension is read span by span.
  float one(int64_t start) const {
    float buffer[SPAN];
    double total = 0;
    float extreme = kind == AMAX ? -INFINITY : INFINITY;
    int64_t inner = gone.empty() ? 1 : from.size(int(gone.back()));
    int64_t stride = gone.empty() ? 0 : from.stride(int(gone.back()));
    for (int64_t i = 0; i < reduced; i += inner)
      for (int64_t j = 0; j < inner; j += SPAN) {
        int64_t n = std::min(SPAN, inner - j);
        load_span(from, start + offset(gone, i) + j * stride, stride, n, buffer);
        if (kind <= MEAN) total += sum(buffer, n);
        else if (kind == AMAX) extreme = largest_of(buffer, n, extreme);
        else for (int64_t b = 0; b < n; b++) extreme = smaller(buffer[b], extreme);
      }
    return kind <= MEAN ? value(total) : extreme;
  }

  // Sums of neighbouring columns at once, where the innermost dimension is kept: float32 over some rows, then float64.
  void columns(int64_t start, int64_t stride, int64_t n, float* out) const {
    double totals[SPAN] = {};
    float buffer[SPAN], part[SPAN];
    for (int64_t i = 0; i < reduced; i += LANES) {
      std::fill(part, part + n, 0.0f);
      for (int64_t row = i; row < std::min(i + LANES, reduced); row++) {
        load_span(from, start + offset(gone, row), stride, n, buffer);
        for (int64_t j = 0; j < n; j++) part[j] += buffer[j];
      }
      for (int64_t j = 0; j < n; j++) totals[j] += double(part[j]);
    }
    for (int64_t j = 0; j < n; j++) out[j] = value(totals[j]);
  }
};

}  // namespace

void softmax(const Instruction& instruction, const Operands& operands, int threads) {
  const View &from = operands.inputs[0], &to = operands.outputs[0];
  const uint32_t last = from.tensor->rank - 1;
  const int64_t n = from.size(int(last)), rows = count(*from.tensor, 0, last);
  if (n == 0) return;
  each_job(rows, rows * n < SMALL ? 1 : threads, [&](int64_t row) {
    thread_local std::vector<float> memory;
    memory.resize(size_t(n));
    load_row(from, last, offset_of(*from.tensor, 0, last, row), memory.data());
    softmax_row(memory.data(), n, instruction.attributes[0] != 0);
    store_row(to, last, offset_of(*to.tensor, 0, last, row), memory.data());
  });
}

void norm(const Instruction& instruction, const Operands& operands, int threads) {
  const View &from = operands.inputs[0], &to = operands.outputs[0];
  const bool layer = instruction.op == LAYER_NORM;
  const double epsilon = instruction.number(0);
  const uint32_t first = from.tensor->rank - uint32_t(instruction.attributes[1]);
  const int64_t n = count(*from.tensor, first, from.tensor->rank), rows = count(*from.tensor, 0, first);
  if (n == 0) return;
  std::vector<float> weight(size_t(n), 1.0f), bias(size_t(n), 0.0f);
  if (operands.inputs.size() > 1) load_span(operands.inputs[1], 0, 1, n, weight.data());
  if (operands.inputs.size() > 2) load_span(operands.inputs[2], 0, 1, n, bias.data());
  each_job(rows, rows * n < SMALL ? 1 : threads, [&](int64_t row) {
    thread_local std::vector<float> memory;
    memory.resize(size_t(n));
    float* x = memory.data();
    load_row(from, first, offset_of(*from.tensor, 0, first, row), x);
    float mean = layer ? float(sum(x, n) / double(n)) : 0.0f;
    double squares = sum_of(x, n, [mean](auto value) { return (value - mean) * (value - mean); });
    float scale = float(1.0 / std::sqrt(squares / double(n) + epsilon));
    for (int64_t i = 0; i < n; i++) x[i] = (x[i] - mean) * scale * weight[size_t(i)] + bias[size_t(i)];
    store_row(to, first, offset_of(*to.tensor, 0, first, row), x);
    const size_t statistics = operands.outputs.size();
    if (layer && statistics > 1) store_one(operands.outputs[1], row, mean);
    if (statistics > (layer ? 2u : 1u)) store_one(operands.outputs[statistics - 1], row, scale);
  });
}

void reduce(const Instruction& instruction, const Operands& operands, int threads) {
  Reducer work{operands.inputs[0], operands.outputs[0], instruction.attributes[0], {}, {}};
  const Tensor& from = *work.from.tensor;
  for (uint32_t d = 0; d < from.rank; d++) {
    bool is_gone = instruction.attributes[1] >> d & 1;
    (is_gone ? work.gone : work.kept).push_back(d);
    if (is_gone) work.reduced *= from.sizes[d];
  }
  const Tensor& to = *work.to.tensor;
  const int64_t outputs = to.numel();
  const bool small = from.numel() < SMALL;
  bool by_columns = !work.kept.empty() && work.kept.back() + 1 == from.rank && work.kind <= MEAN;
  if (!by_columns)
    return each_job(outputs, small ? 1 : threads, [&](int64_t i) {
      store_one(work.to, offset_of(to, 0, to.rank, i), work.one(work.offset(work.kept, i)));
    });
  const int64_t inner = from.sizes[from.rank - 1], width = std::min<int64_t>(SPAN, std::max<int64_t>(64, inner / threads));
  const int64_t spans = (inner + width - 1) / width, jobs = inner ? outputs / inner * spans : 0;
  each_job(jobs, small ? 1 : threads, [&](int64_t job) {
    float sums[SPAN];
    int64_t column = job % spans * width, number = job / spans * inner + column, n = std::min(width, inner - column);
    work.columns(work.offset(work.kept, number), from.strides[from.rank - 1], n, sums);
    store_span(work.to, offset_of(to, 0, to.rank, number), to.strides[to.rank - 1], n, sums);
  });
}

}  // namespace cb
