// Matrix products: panels of both factors are packed as float32, and a tile of C stays in registers over all of k.
#include <algorithm>

#include "jobs.h"
#include "kernels.h"
#include "lanes.h"
#include "maths.h"
#include "transpose.h"

namespace cb {

namespace {

constexpr int MR = LANES == 16 ? 12 : 6;
constexpr int NR = 2 * LANES;
constexpr int64_t MC = MR * 12, KC = 256, NC = 512;

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

// Panels of MR rows, column after column; what is missing of the last panel is never read.
template <typename T>
void pack_panels(const T* a, int64_t row_stride, int64_t column_stride, int64_t rows, int64_t columns, float* to) {
  for (int64_t r = 0; r < rows; r += MR, a += MR * row_stride, to += MR * columns) {
    int64_t here = std::min<int64_t>(MR, rows - r);
    if (sizeof(T) == 4 && column_stride == 1 && row_stride != 1) {
      transpose(reinterpret_cast<const float*>(a), row_stride, to, MR, here, columns);
      continue;
    }
    if (here == MR) {
      for (int64_t c = 0; c < columns; c++) {
#pragma GCC unroll 12
        for (int i = 0; i < MR; i++) to[c * MR + i] = as_float(a[i * row_stride + c * column_stride]);
      }
      continue;
    }
    for (int64_t c = 0; c < columns; c++)
      for (int64_t i = 0; i < here; i++) to[c * MR + i] = as_float(a[i * row_stride + c * column_stride]);
  }
}

void pack_a(const Factor& a, int64_t row, int64_t rows, int64_t column, int64_t columns, float* to) {
  const int64_t begin = row * a.rows + column * a.columns;
  if (a.dtype == CB_F32)
    pack_panels(reinterpret_cast<const float*>(a.data) + begin, a.rows, a.columns, rows, columns, to);
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
    } else if (b.dtype == CB_F32 && b.rows == 1) {
      const float* from = reinterpret_cast<const float*>(b.data) + row + (column + c) * b.columns;
      transpose(from, b.columns, to, NR, here, rows);
    } else if (b.columns == 1) {
      const uint16_t* from = reinterpret_cast<const uint16_t*>(b.data) + row * b.rows + column + c;
      for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < here; i++) to[r * NR + i] = from_bf16(from[r * b.rows + i]);
    } else if (b.rows == 1) {
      for (int64_t i = 0; i < here; i++)
        for (int64_t r = 0; r < rows; r++) to[r * NR + i] = element(b, row + r, column + c + i);
    } else {
      for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < here; i++) to[r * NR + i] = element(b, row + r, column + c + i);
    }
  }
}

// M rows by NR columns of C, or the first `n` of them; what was summed before is added unless this is the first.
template <int M>
void tile(int64_t k, const float* a, const float* b, float* c, int64_t ldc, int64_t n, bool is_first) {
  Lanes sum[M][2] = {};
  for (int64_t p = 0; p < k; p++, a += MR, b += NR) {
    Lanes b0 = lanes(b), b1 = lanes(b + LANES);
#pragma GCC unroll 12
    for (int i = 0; i < M; i++) {
      sum[i][0] += a[i] * b0;
      sum[i][1] += a[i] * b1;
    }
  }
  if (n < NR) {
    float found[M][NR];
    std::memcpy(found, sum, sizeof found);
    for (int64_t i = 0; i < M; i++)
      for (int64_t j = 0; j < n; j++) c[i * ldc + j] = (is_first ? 0.0f : c[i * ldc + j]) + found[i][j];
    return;
  }
#pragma GCC unroll 12
  for (int i = 0; i < M; i++)
    for (int h = 0; h < 2; h++) {
      float* at = c + i * ldc + h * LANES;
      Lanes value = is_first ? sum[i][h] : lanes(at) + sum[i][h];
      std::memcpy(at, &value, sizeof value);
    }
}

using Tile = void (*)(int64_t, const float*, const float*, float*, int64_t, int64_t, bool);
const Tile TILES[] = {tile<1>,  tile<2>, tile<3>, tile<4>,
                      tile<5>,  tile<6>,
#if defined(__AVX512F__)
                      tile<7>,  tile<8>, tile<9>, tile<10>,
                      tile<11>, tile<12>
#endif
};
static_assert(sizeof TILES / sizeof *TILES == MR, "a tile for each number of rows");

void block(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c, int64_t ldc, bool is_first) {
  for (int64_t j = 0; j < n; j += NR)
    for (int64_t i = 0; i < m; i += MR)
      TILES[std::min<int64_t>(MR, m - i) - 1](k, a + i * k, b + j * k, c + i * ldc + j, ldc,
                                              std::min<int64_t>(NR, n - j), is_first);
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
  const size_t inputs = operands.inputs.size(), all = inputs + operands.outputs.size();
  SpanOperand at[MAX_INPUTS + MAX_OUTPUTS];
  int64_t begin[MAX_INPUTS + MAX_OUTPUTS], next[MAX_INPUTS + MAX_OUTPUTS];
  for (size_t t = 2; t < all; t++) {
    const View& view = t < inputs ? operands.inputs[t] : operands.outputs[t - inputs];
    const int r = int(view.tensor->rank);
    at[t] = {view, 0, view.stride(r - 1)};
    next[t] = view.stride(r - 2);
    begin[t] = batch_offset(*view.tensor, batch) + row * next[t] + column * at[t].stride;
  }
  for (int64_t i = 0; i < rows; i++)
    for (int64_t from = 0; from < columns; from += SPAN) {
      for (size_t t = 2; t < all; t++) at[t].at = begin[t] + i * next[t] + from * at[t].stride;
      run_steps(instruction, at, at + inputs, product + i * columns + from, std::min(SPAN, columns - from));
    }
}

// Whether the product itself is what is stored, as float32 in rows.
bool is_bare(const Instruction& instruction, const Operands& operands) {
  const Tensor& to = *operands.outputs[0].tensor;
  return operands.outputs.size() == 1 && instruction.stored[0] < 0 && to.dtype == CB_F32 &&
         (to.strides[to.rank - 1] == 1 || to.sizes[to.rank - 1] == 1);
}

}  // namespace

void gemm(int64_t m, int64_t n, int64_t k, Factor a, Factor b, float* c, int64_t ldc) {
  gemm(m, n, k, a, b, c, ldc, thinness(m, n, a, b));
}

void gemm(int64_t m, int64_t n, int64_t k, Factor a, Factor b, float* c, int64_t ldc, Thin thin) {
  if (k == 0) {
    for (int64_t i = 0; i < m; i++) std::fill(c + i * ldc, c + i * ldc + n, 0.0f);
    return;
  }
  if (thin != Thin::NO) return thin_gemm(m, n, k, a, b, c, ldc, thin);
  thread_local std::vector<float> packed_a(MC * KC), packed_b((NC + NR) * KC);
  for (int64_t p = 0; p < k; p += KC) {
    int64_t depth = std::min(KC, k - p);
    for (int64_t j = 0; j < n; j += NC) {
      int64_t width = std::min(NC, n - j);
      pack_b(b, p, depth, j, width, packed_b.data());
      for (int64_t i = 0; i < m; i += MC) {
        int64_t height = std::min(MC, m - i);
        pack_a(a, i, height, p, depth, packed_a.data());
        block(height, width, depth, packed_a.data(), packed_b.data(), c + i * ldc + j, ldc, p == 0);
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
  const bool bare = is_bare(instruction, operands);
  const double work = double(m) * double(n) * double(k) * double(batches);
  const int used = work < SHARED_WORK ? 1 : threads;
  // High blocks use what is packed of B more often; there are at least as many blocks as threads.
  int64_t high = bare && used == 1 ? m : std::min<int64_t>(m, 2 * MC), wide = std::min<int64_t>(n, NC);
  auto blocks = [&] { return batches * ((m + high - 1) / high) * ((n + wide - 1) / wide); };
  while (blocks() < used && high > MR) high = (high + 1) / 2;
  while (blocks() < 2 * used && used > 1 && wide > 2 * NR) wide = (wide / 2 + NR - 1) / NR * NR;
  const int64_t down = (m + high - 1) / high, across = (n + wide - 1) / wide;
  const Thin thin = thinness(m, n, factor(operands.inputs[0], 0), factor(operands.inputs[1], 0));
  each_job(batches * down * across, used, [&](int64_t job) {
    thread_local std::vector<float> result;
    int64_t batch = job / (down * across), row = job / across % down * high, column = job % across * wide;
    int64_t rows = std::min(high, m - row), columns = std::min(wide, n - column);
    const Factor a = moved(factor(operands.inputs[0], batch), row, 0),
                 b = moved(factor(operands.inputs[1], batch), 0, column);
    if (bare) {
      float* to = reinterpret_cast<float*>(operands.outputs[0].data) + batch_offset(c, batch);
      return gemm(rows, columns, k, a, b, to + row * c.strides[r - 2] + column, c.strides[r - 2], thin);
    }
    result.resize(size_t(rows * columns));
    gemm(rows, columns, k, a, b, result.data(), columns, thin);
    epilogue(instruction, operands, batch, row, rows, column, columns, result.data());
  });
}

}  // namespace cb
