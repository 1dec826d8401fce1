// Kernels over rows: softmax, layer norm, RMS norm, reductions.
#include <algorithm>

#include "jobs.h"
#include "kernels.h"
#include "lanes.h"
#include "maths.h"

namespace cb {

namespace {

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

// A row as float32 without gaps: where it lies, if it lies so, else a copy.
const float* row_of(const View& view, uint32_t from, int64_t start, bool in_place, std::vector<float>& memory,
                    int64_t n) {
  if (in_place) return reinterpret_cast<const float*>(view.data) + start;
  memory.resize(size_t(n));
  load_row(view, from, start, memory.data());
  return memory.data();
}

// Whether the dimensions from `from` on are float32 without gaps.
bool lies_in_rows(const Tensor& tensor, uint32_t from) {
  int64_t extent = 1;
  for (uint32_t d = tensor.rank; d-- > from; extent *= tensor.sizes[d])
    if (tensor.sizes[d] > 1 && tensor.strides[d] != extent) return false;
  return tensor.dtype == CB_F32;
}

// exp(x - most) of a row, which may be the same memory, and their sum: float32 within a span, float64 over spans.
double powers_of(const float* row, int64_t n, float most, float* to) {
  double total = 0;
  for (int64_t i = 0; i < n; i += SPAN) {
    const int64_t here = std::min(SPAN, n - i);
    for (int64_t j = 0; j < here; j++) to[i + j] = fast_exp(row[i + j] - most);
    total += sum(to + i, here);
  }
  return total;
}

void softmax_row(const float* row, int64_t n, float* to) {
  const float most = largest_of(row, n, -INFINITY);
  const float scale = float(1.0 / powers_of(row, n, most, to));
  for (int64_t i = 0; i < n; i++) to[i] *= scale;
}

void log_softmax_row(const float* row, int64_t n, float* to) {
  const float most = largest_of(row, n, -INFINITY);
  double total = 0;
  float powers[SPAN];
  for (int64_t i = 0; i < n; i += SPAN) total += powers_of(row + i, std::min(SPAN, n - i), most, powers);
  // The largest first: its sum with the logarithm would lose the logarithm's digits where the numbers are large.
  const float less = float(std::log(total));
  for (int64_t i = 0; i < n; i++) to[i] = (row[i] - most) - less;
}

void store_one(const View& view, int64_t number, float value) { store_span(view, number, 1, 1, &value); }

struct Reducer {
  const View &from, &to;
  Reduction kind;
  std::vector<uint32_t> kept, gone;
  int64_t reduced = 1;

  int64_t offset(const std::vector<uint32_t>& dims, int64_t number) const {
    int64_t found = 0;
    for (size_t i = dims.size(); i-- > 0; number /= from.size(int(dims[i])))
      found += number % from.size(int(dims[i])) * from.stride(int(dims[i]));
    return found;
  }

  float value(double total) const { return float(kind == Reduction::MEAN ? total / double(reduced) : total); }

  // A span where it lies, if that is float32 without gaps, else a copy.
  const float* span(int64_t at, int64_t stride, int64_t n, float* buffer) const {
    if (from.tensor->dtype == CB_F32 && (stride == 1 || n == 1)) return reinterpret_cast<const float*>(from.data) + at;
    load_span(from, at, stride, n, buffer);
    return buffer;
  }

  // One output: the innermost reduced dimension is read span by span.
  float one(int64_t start) const {
    float buffer[SPAN];
    double total = 0;
    float extreme = kind == Reduction::AMAX ? -INFINITY : INFINITY;
    int64_t inner = gone.empty() ? 1 : from.size(int(gone.back()));
    int64_t stride = gone.empty() ? 0 : from.stride(int(gone.back()));
    for (int64_t i = 0; i < reduced; i += inner)
      for (int64_t j = 0; j < inner; j += SPAN) {
        int64_t n = std::min(SPAN, inner - j);
        const float* values = span(start + offset(gone, i) + j * stride, stride, n, buffer);
        if (kind <= Reduction::MEAN) total += sum(values, n);
        else if (kind == Reduction::AMAX) extreme = largest_of(values, n, extreme);
        else extreme = smallest_of(values, n, extreme);
      }
    return kind <= Reduction::MEAN ? value(total) : extreme;
  }

  // Sums of neighbouring columns at once, where the innermost dimension is kept: float32 over some rows, then float64.
  void columns(int64_t start, int64_t stride, int64_t n, float* out) const {
    double totals[SPAN] = {};
    float buffer[SPAN], part[SPAN];
    for (int64_t i = 0; i < reduced; i += LANES) {
      std::fill(part, part + n, 0.0f);
      for (int64_t row = i; row < std::min(i + LANES, reduced); row++) {
        const float* values = span(start + offset(gone, row), stride, n, buffer);
        for (int64_t j = 0; j < n; j++) part[j] += values[j];
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
  const bool reads = lies_in_rows(*from.tensor, last), writes = lies_in_rows(*to.tensor, last);
  each_job(rows, double(rows * n) * 16 < SHARED_WORK ? 1 : threads, [&](int64_t row) {
    thread_local std::vector<float> memory, made;
    const float* x = row_of(from, last, offset_of(*from.tensor, 0, last, row), reads, memory, n);
    const int64_t at = offset_of(*to.tensor, 0, last, row);
    made.resize(writes ? 0 : size_t(n));
    float* y = writes ? reinterpret_cast<float*>(to.data) + at : made.data();
    instruction.attributes[0] != 0 ? log_softmax_row(x, n, y) : softmax_row(x, n, y);
    if (!writes) store_row(to, last, at, y);
  });
}

void norm(const Instruction& instruction, const Operands& operands, int threads) {
  const View &from = operands.inputs[0], &to = operands.outputs[0];
  const bool layer = instruction.op == Op::LAYER_NORM;
  const double epsilon = instruction.number(0);
  const uint32_t first = from.tensor->rank - uint32_t(instruction.attributes[1]);
  const int64_t n = count(*from.tensor, first, from.tensor->rank), rows = count(*from.tensor, 0, first);
  if (n == 0) return;
  std::vector<float> scales, shifts;
  const bool scaled = operands.inputs.size() > 1, shifted = operands.inputs.size() > 2;
  const float* weight =
      scaled ? row_of(operands.inputs[1], 0, 0, lies_in_rows(*operands.inputs[1].tensor, 0), scales, n) : nullptr;
  const float* bias =
      shifted ? row_of(operands.inputs[2], 0, 0, lies_in_rows(*operands.inputs[2].tensor, 0), shifts, n) : nullptr;
  const bool reads = lies_in_rows(*from.tensor, first), writes = lies_in_rows(*to.tensor, first);
  each_job(rows, double(rows * n) * 16 < SHARED_WORK ? 1 : threads, [&](int64_t row) {
    thread_local std::vector<float> memory, made;
    const float* x = row_of(from, first, offset_of(*from.tensor, 0, first, row), reads, memory, n);
    const int64_t at = offset_of(*to.tensor, 0, first, row);
    made.resize(writes ? 0 : size_t(n));
    float* y = writes ? reinterpret_cast<float*>(to.data) + at : made.data();
    const float mean = layer ? float(sum(x, n) / double(n)) : 0.0f;
    const double squares = sum_of(x, n, [mean](auto value) { return (value - mean) * (value - mean); });
    const float scale = float(1.0 / std::sqrt(squares / double(n) + epsilon));
    if (bias)
      for (int64_t i = 0; i < n; i++) y[i] = (x[i] - mean) * scale * weight[i] + bias[i];
    else if (weight)
      for (int64_t i = 0; i < n; i++) y[i] = (x[i] - mean) * scale * weight[i];
    else
      for (int64_t i = 0; i < n; i++) y[i] = (x[i] - mean) * scale;
    if (!writes) store_row(to, first, at, y);
    const size_t statistics = operands.outputs.size();
    if (layer && statistics > 1) store_one(operands.outputs[1], row, mean);
    if (statistics > (layer ? 2u : 1u)) store_one(operands.outputs[statistics - 1], row, scale);
  });
}

void reduce(const Instruction& instruction, const Operands& operands, int threads) {
  Reducer work{operands.inputs[0], operands.outputs[0], Reduction{instruction.attributes[0]}, {}, {}};
  const Tensor& from = *work.from.tensor;
  for (uint32_t d = 0; d < from.rank; d++) {
    bool is_gone = instruction.attributes[1] >> d & 1;
    (is_gone ? work.gone : work.kept).push_back(d);
    if (is_gone) work.reduced *= from.sizes[d];
  }
  const Tensor& to = *work.to.tensor;
  const int64_t outputs = to.numel();
  const bool small = double(from.numel()) * 8 < SHARED_WORK;
  bool by_columns = !work.kept.empty() && work.kept.back() + 1 == from.rank && work.kind <= Reduction::MEAN;
  if (!by_columns)
    return each_job(outputs, small ? 1 : threads, [&](int64_t i) {
      store_one(work.to, offset_of(to, 0, to.rank, i), work.one(work.offset(work.kept, i)));
    });
  const int64_t inner = from.sizes[from.rank - 1],
                width = std::min<int64_t>(SPAN, std::max<int64_t>(64, inner / threads));
  const int64_t spans = (inner + width - 1) / width, jobs = inner ? outputs / inner * spans : 0;
  each_job(jobs, small ? 1 : threads, [&](int64_t job) {
    float sums[SPAN];
    int64_t column = job % spans * width, number = job / spans * inner + column, n = std::min(width, inner - column);
    work.columns(work.offset(work.kept, number), from.strides[from.rank - 1], n, sums);
    store_span(work.to, offset_of(to, 0, to.rank, number), to.strides[to.rank - 1], n, sums);
  });
}

}  // namespace cb
