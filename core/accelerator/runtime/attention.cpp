// Attention, embedding, and joining tensors.
#include <algorithm>
#include <string>

#include "jobs.h"
#include "kernels.h"
#include "lanes.h"
#include "maths.h"

namespace cb {

namespace {

constexpr int64_t QUERIES = 48;

int64_t line_of(const View& view, int64_t batch, int64_t head, int64_t row) {
  return batch * view.stride(0) + head * view.stride(1) + row * view.stride(2);
}

Factor matrix(const View& view, int64_t batch, int64_t head, int64_t row) {
  int64_t at = line_of(view, batch, head, row);
  return {view.data + at * int64_t(item_bytes(view.tensor->dtype)), view.tensor->dtype, view.stride(2), view.stride(3)};
}

Factor transposed(const Factor& f) { return {f.data, f.dtype, f.columns, f.rows}; }

// Scores of one query become weights; returns the logarithm of the sum of their exponentials. A query that a mask lets
// see nothing has no weights, and the sum is told as torch tells it, as 0.
float weigh(float* scores, int64_t n, int64_t seen) {
  const float most = largest_of(scores, seen, -INFINITY);
  if (most == -INFINITY) {
    std::fill(scores, scores + n, 0.0f);
    return 0.0f;
  }
  for (int64_t i = 0; i < seen; i++) scores[i] = fast_exp(scores[i] - most);
  const float sum = float(sum_of(scores, seen, [](auto x) { return x; })), share = 1.0f / sum;
  for (int64_t i = 0; i < seen; i++) scores[i] *= share;
  std::fill(scores + seen, scores + n, 0.0f);
  return most + std::log(sum);
}

// Scaled, and with a mask added span by span.
void scale_and_mask(float* scores, int64_t n, float scale, const View* mask, int64_t at) {
  float added[SPAN];
  for (int64_t i = 0; i < n; i++) scores[i] *= scale;
  for (int64_t i = 0; mask && i < n; i += SPAN) {
    int64_t here = std::min(SPAN, n - i);
    load_span(*mask, at + i * mask->stride(3), mask->stride(3), here, added);
    for (int64_t j = 0; j < here; j++) scores[i + j] += added[j];
  }
}

}  // namespace

void attention(const Instruction& instruction, const Operands& operands, int threads) {
  const View &q = operands.inputs[0], &k = operands.inputs[1], &v = operands.inputs[2], &o = operands.outputs[0];
  const int64_t heads = q.size(1), queries = q.size(2), keys = k.size(2), depth = q.size(3), width = v.size(3);
  const int64_t group = heads / k.size(1);  // heads of queries that share one of keys
  const float scale = float(instruction.number(0));
  const bool causal = instruction.attributes[1] != 0;
  const View* mask = operands.inputs.size() > 3 ? &operands.inputs[3] : nullptr;
  const View* sums = operands.outputs.size() > 1 ? &operands.outputs[1] : nullptr;
  const int64_t blocks = (queries + QUERIES - 1) / QUERIES, jobs = q.size(0) * heads * blocks;
  each_job(jobs, double(jobs) * QUERIES * double(keys) * double(depth) < SHARED_WORK ? 1 : threads, [&](int64_t job) {
    thread_local std::vector<float> scores, result;
    int64_t batch = job / (heads * blocks), head = job / blocks % heads, row = job % blocks * QUERIES;
    int64_t rows = std::min(QUERIES, queries - row), seen = causal ? std::min(keys, row + rows) : keys;
    scores.resize(size_t(rows * seen));
    result.resize(size_t(rows * width));
    const Factor turned = transposed(matrix(k, batch, head / group, 0));
    gemm(rows, seen, depth, matrix(q, batch, head, row), turned, scores.data(), seen);
    for (int64_t i = 0; i < rows; i++) {
      float* line = scores.data() + i * seen;
      const int64_t here = causal ? std::min(seen, row + i + 1) : seen;
      scale_and_mask(line, here, scale, mask, mask ? line_of(*mask, batch, head, row + i) : 0);
      float sum = weigh(line, seen, here);
      if (sums) store_span(*sums, line_of(*sums, batch, head, row + i), 1, 1, &sum);
    }
    Factor weights{reinterpret_cast<const uint8_t*>(scores.data()), CB_F32, seen, 1};
    gemm(rows, width, seen, weights, matrix(v, batch, head / group, 0), result.data(), width);
    for (int64_t i = 0; i < rows; i++)
      store_span(o, line_of(o, batch, head, row + i), o.stride(3), width, result.data() + i * width);
  });
}

void embedding(const Instruction&, const Operands& operands, int) {
  const View &table = operands.inputs[0], &index = operands.inputs[1], &to = operands.outputs[0];
  const int64_t rows = table.size(0), width = table.size(1), n = index.tensor->numel();
  const uint32_t rank = index.tensor->rank;
  std::vector<float> line(size_t(std::max<int64_t>(width, 1)));
  for (int64_t i = 0; i < n; i++) {
    int64_t from = 0, at = 0, rest = i;
    for (uint32_t d = rank; d-- > 0; rest /= index.tensor->sizes[d]) {
      from += rest % index.tensor->sizes[d] * index.tensor->strides[d];
      at += rest % index.tensor->sizes[d] * to.tensor->strides[d];
    }
    int64_t row = reinterpret_cast<const int64_t*>(index.data)[from];
    if (row < 0 || row >= rows)
      throw Error("an index of the embedding is " + std::to_string(row) + ", and it has " + std::to_string(rows) +
                  " rows");
    load_span(table, row * table.stride(0), table.stride(1), width, line.data());
    store_span(to, at, to.tensor->strides[rank], width, line.data());
  }
}

void concatenate(const Instruction& instruction, const Operands& operands, int threads) {
  Instruction copy;
  copy.steps = {{StepOp::IDENTITY, operands.outputs[0].tensor->dtype, "", {{OperandKind::FROM_INPUT, 0}, {}, {}}}};
  copy.inputs = copy.outputs = {0};
  copy.stored = {0};
  const View& to = operands.outputs[0];
  const int64_t dim = instruction.attributes[0];
  int64_t begin = 0;
  for (const View& part : operands.inputs) {
    Tensor slice = *part.tensor;
    std::copy(to.tensor->strides, to.tensor->strides + CB_MAX_RANK, slice.strides);
    uint8_t* data = to.data + begin * to.stride(int(dim)) * int64_t(item_bytes(slice.dtype));
    const Loops loops = loops_over({part.tensor, &slice}, slice);
    elementwise(copy, {{part}, {{&slice, data}}, &loops}, threads);
    begin += part.size(int(dim));
  }
}

}  // namespace cb
