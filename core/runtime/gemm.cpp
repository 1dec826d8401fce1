// Matrix products: panels of both factors are packed as float32, and a tile of C stays in registers over all of k.
#include <algorithm>

#include "jobs.h"
#include "kernels.h"
#include "lanes.h"
#include "maths.h"

namespace cb {

namespace {

constexpr int MR = LANES == 16 ? 12 : 6;
constexpr int NR = 2 * LANES;
constexpr int64_t MC = MR * 12, KC = 256, NC = 512;
constexpr int64_t SMALL = 32 * 1024;

float element(const Factor& f, int64_t row, int64_t column) {
  int64_t at = row * f.rows + column * f.columns;
  if (f.dtype == CB_F32) return reinterpret_cast<const float*>(f.data)[at];
  return from_bf16(reinterpret_cast<const uint16_t*>(f.data)[at]);
}

template <typename T>
float as_float(T value) {
  if constexpr (sizeof(T) == 4) return value;
  else return from_bf16(value);
}

// Panels of MR rows, column after column; what is missing of the last panel is zero.
template <typename T>
void pack_panels(const T* a, int64_t row_stride, int64_t column_stride, int64_t rows, int64_t columns, float* to) {
  for (int64_t r = 0; r < rows; r += MR, a += MR * row_stride, to += MR * columns) {
    int64_t here = std::min<int64_t>(MR, rows - r);
    if (here == MR) {
      for (int64_t c = 0; c < columns; c++) {
#pragma GCC unroll 12
        for (int i = 0; i < MR; i++) to[c * MR + i] = as_float(a[i * row_stride + c * column_stride]);
      }
      continue;
    }
    std::fill(to, to + MR * columns, 0.0f);
    for (int64_t c = 0; c < columns; c++)
      for (int64_t i = 0; i < here; i++) to[c * MR + i] = as_float(a[i * row_stride + c * column_stride]);
  }
}

void pack_a(const Factor& a, int64_t row, int64_t rows, int64_t column, int64_t columns, float* to) {
  const int64_t begin = row * a.rows + column * a.columns;
  if (a.dtype == CB_F32) pack_panels(reinterpret_cast<const float*>(a.data) + begin, a.rows, a.columns, rows, columns, to);
  else pack_panels(reinterpret_cast<const uint16_t*>(a.data) + begin, a.rows, a.columns, rows, columns, to);
}

// Panels of NR columns, row after row.
void pack_b(const Factor& b, int64_t row, int64_t rows, int64_t column, int64_t columns, float* to) {
  for (int64_t c = 0; c < columns; c += NR, to += NR * rows) {
    int64_t here = std::min<int64_t>(NR, columns - c);
    if (here < NR) std::fill(to, to + NR * rows, 0.0f);
    if (b.dtype == CB_F32 && b.columns == 1) {
      const float* from = reinterpret_cast<const float*>(b.data) + row * b.rows + column + c;
      for (int64_t r = 0; r < rows; r++) std::memcpy(to + r * NR, from + r * b.rows, size_t(here) * 4);
    } else if (b.rows == 1) {
      for (int64_t i = 0; i < here; i++)
        for (int64_t r = 0; r < rows; r++) to[r * NR + i] = element(b, row + r, column + c + i);
    } else {
      for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < here; i++) to[r * NR + i] = element(b, row + r, column + c + i);
    }
  }
}

void add_tile(const Lanes (&sum)[MR][2], int64_t m, int64_t n, float* c, int64_t ldc) {
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) c[i * ldc + j] += sum[i][j / LANES][j % LANES];
}

void tile(int64_t k, const float* a, const float* b, float* c, int64_t ldc, int64_t m, int64_t n) {
  Lanes sum[MR][2] = {};
  for (int64_t p = 0; p < k; p++, a += MR, b += NR) {
    Lanes b0 = lanes(b), b1 = lanes(b + LANES);
#pragma GCC unroll 12
    for (int i = 0; i < MR; i++) {
      sum[i][0] += a[i] * b0;
      sum[i][1] += a[i] * b1;
    }
  }
  if (m < MR || n < NR) return add_tile(sum, m, n, c, ldc);
#pragma GCC unroll 12
  for (int i = 0; i < MR; i++)
    for (int h = 0; h < 2; h++) {
      float* at = c + i * ldc + h * LANES;
      Lanes value = lanes(at) + sum[i][h];
      std::memcpy(at, &value, sizeof value);
    }
}

void block(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c, int64_t ldc) {
  for (int64_t j = 0; j < n; j += NR)
    for (int64_t i = 0; i < m; i += MR)
      tile(k, a + i * k, b + j * k, c + i * ldc + j, ldc, std::min<int64_t>(MR, m - i), std::min<int64_t>(NR, n - j));
}

// A pointer to each batch of a tensor, and where the rows of an operand of the epilogue begin.
int64_t batch_offset(const Tensor& tensor, int64_t batch) {
  int64_t offset = 0;
  for (int d = int(tensor.rank) - 3; d >= 0; batch /= tensor.sizes[d--])
    offset += batch % tensor.sizes[d] * tensor.strides[d];
  return offset;
}

Factor factor(const View& view, int64_t batch) {
  const Tensor& tensor = *view.tensor;
  int r = int(tensor.rank);
  return {view.data + batch_offset(tensor, batch) * int64_t(item_bytes(tensor.dtype)), tensor.dtype,
          tensor.strides[r - 2], tensor.strides[r - 1]};
}

Factor moved(const Factor& f, int64_t row, int64_t column) {
  return {f.data + (row * f.rows + column * f.columns) * int64_t(item_bytes(f.dtype)), f.dtype, f.rows, f.columns};
}

// One block of the product, of which the steps are made while it is in the cache.
void epilogue(const Instruction& instruction, const Operands& operands, int64_t batch, int64_t row, int64_t rows,
              int64_t column, int64_t columns, const float* product) {
  std::vector<SpanOperand> at(operands.inputs.size() + operands.outputs.size());
  for (int64_t i = 0; i < rows; i++)
    for (int64_t from = 0; from < columns; from += SPAN) {
      for (size_t t = 2; t < at.size(); t++) {
        bool is_input = t < operands.inputs.size();
        const View& view = is_input ? operands.inputs[t] : operands.outputs[t - operands.inputs.size()];
        int r = int(view.tensor->rank);
        int64_t stride = view.stride(r - 1);
        at[t] = {view, batch_offset(*view.tensor, batch) + (row + i) * view.stride(r - 2) + (column + from) * stride,
                 stride};
      }
      run_steps(instruction, at.data(), at.data() + operands.inputs.size(), product + i * columns + from,
                std::min(SPAN, columns - from));
    }
}

}  // namespace

void gemm(int64_t m, int64_t n, int64_t k, Factor a, Factor b, float* c, int64_t ldc) {
  thread_local std::vector<float> packed_a(MC * KC), packed_b((NC + NR) * KC);
  for (int64_t i = 0; i < m; i++) std::fill(c + i * ldc, c + i * ldc + n, 0.0f);
  for (int64_t p = 0; p < k; p += KC) {
    int64_t depth = std::min(KC, k - p);
    for (int64_t j = 0; j < n; j += NC) {
      int64_t width = std::min(NC, n - j);
      pack_b(b, p, depth, j, width, packed_b.data());
      for (int64_t i = 0; i < m; i += MC) {
        int64_t height = std::min(MC, m - i);
        pack_a(a, i, height, p, depth, packed_a.data());
        block(height, width, depth, packed_a.data(), packed_b.data(), c + i * ldc + j, ldc);
      }
    }
  }
}

void product(const Instruction& instruction, const Operands& operands, int threads) {
  const Tensor& c = *operands.outputs[0].tensor;
  const int r = int(c.rank);
  const int64_t m = c.sizes[r - 2], n = c.sizes[r - 1], k = operands.inputs[0].size(r - 1);
  if (c.numel() == 0) return;
  const int64_t batches = c.numel() / (m * n);
  // High blocks use what is packed of B more often; there are at least as many blocks as threads.
  int64_t high = std::min<int64_t>(m, 2 * MC), wide = std::min<int64_t>(n, NC);
  while (batches * ((m + high - 1) / high) * ((n + wide - 1) / wide) < threads && high > MR) high = (high + 1) / 2;
  const int64_t down = (m + high - 1) / high, across = (n + wide - 1) / wide, jobs = batches * down * across;
  const double work = double(m) * double(n) * double(k) * double(batches);
  each_job(jobs, work < SMALL ? 1 : threads, [&](int64_t job) {
    thread_local std::vector<float> result;
    int64_t batch = job / (down * across), row = job / across % down * high, column = job % across * wide;
    int64_t rows = std::min(high, m - row), columns = std::min(wide, n - column);
    result.resize(size_t(rows * columns));
    gemm(rows, columns, k, moved(factor(operands.inputs[0], batch), row, 0),
         moved(factor(operands.inputs[1], batch), 0, column), result.data(), columns);
    epilogue(instruction, operands, batch, row, rows, column, columns, result.data());
  });
}

}  // namespace cb
