// Products of few rows, as a decoder has them: the large factor is read once, where it is, and nothing of it is packed.
#include <algorithm>
#include <vector>

#include "kernels.h"
#include "lanes.h"
#include "maths.h"

namespace cb {

namespace {

constexpr int MOST_ROWS = 8;             // at once
constexpr int64_t THIN = 2 * MOST_ROWS;  // above, packing pays
constexpr int64_t SUMS = 4096;           // floats of C that stay in the first cache

inline float number(float value) { return value; }
inline float number(uint16_t bits) { return from_bf16(bits); }

// M rows of A by J columns of B, whose elements of one column are neighbours.
template <int M, int J, typename T>
void dots(int64_t k, const float* a, const T* b, int64_t column, float* c, int64_t ldc) {
  Lanes sum[M][J] = {};
  int64_t p = 0;
  for (; p + LANES <= k; p += LANES) {
    Lanes right[J];
#pragma GCC unroll 8
    for (int j = 0; j < J; j++) right[j] = lanes(b + j * column + p);
#pragma GCC unroll 8
    for (int i = 0; i < M; i++) {
      const Lanes left = lanes(a + i * k + p);
#pragma GCC unroll 8
      for (int j = 0; j < J; j++) sum[i][j] += left * right[j];
    }
  }
  for (int i = 0; i < M; i++)
    for (int j = 0; j < J; j++) {
      float rest = 0;
      for (int64_t q = p; q < k; q++) rest += a[i * k + q] * number(b[j * column + q]);
      c[i * ldc + j] = joined(sum[i][j]) + rest;
    }
}

template <int M, typename T>
void by_columns(int64_t n, int64_t k, const float* a, const T* b, int64_t column, float* c, int64_t ldc) {
  constexpr int J = M <= 2 ? 8 : M <= 4 ? 4 : 2;
  int64_t j = 0;
  for (; j + J <= n; j += J) dots<M, J>(k, a, b + j * column, column, c + j, ldc);
  for (; j < n; j++) dots<M, 1>(k, a, b + j * column, column, c + j, ldc);
}

// M rows of A by all of B, whose elements of one row are neighbours: four rows of B at once.
template <int M, typename T>
void by_rows(int64_t n, int64_t k, const float* a, const T* b, int64_t row, float* c, int64_t ldc) {
  constexpr int64_t WIDE = SUMS / M / LANES * LANES;
  for (int i = 0; i < M; i++) std::fill(c + i * ldc, c + i * ldc + n, 0.0f);
  for (int64_t from = 0; from < n; from += WIDE) {
    const int64_t to = std::min(n, from + WIDE);
    for (int64_t p = 0; p < k; p += 4) {
      const int64_t here = std::min<int64_t>(4, k - p);
      float left[M][4] = {};
      const T* rows[4];
      for (int q = 0; q < 4; q++) {
        rows[q] = b + (p + std::min<int64_t>(q, here - 1)) * row;
        for (int i = 0; i < M && q < here; i++) left[i][q] = a[i * k + p + q];
      }
      // A row that is not there must not turn a zero into NaN.
      if (here < 4) {
        for (int64_t q = 0; q < here; q++)
          for (int i = 0; i < M; i++)
            for (int64_t j = from; j < to; j++) c[i * ldc + j] += left[i][q] * number(rows[q][j]);
        continue;
      }
      int64_t j = from;
      for (; j + LANES <= to; j += LANES) {
        const Lanes r0 = lanes(rows[0] + j), r1 = lanes(rows[1] + j), r2 = lanes(rows[2] + j), r3 = lanes(rows[3] + j);
#pragma GCC unroll 8
        for (int i = 0; i < M; i++) {
          Lanes sum = lanes(c + i * ldc + j);
          sum += left[i][0] * r0;
          sum += left[i][1] * r1;
          sum += left[i][2] * r2;
          sum += left[i][3] * r3;
          std::memcpy(c + i * ldc + j, &sum, sizeof sum);
        }
      }
      for (; j < to; j++)
        for (int i = 0; i < M; i++)
          for (int q = 0; q < 4; q++) c[i * ldc + j] += left[i][q] * number(rows[q][j]);
    }
  }
}

template <int M, typename T>
void rows_of(int64_t n, int64_t k, const float* a, const Factor& b, float* c, int64_t ldc) {
  const T* data = reinterpret_cast<const T*>(b.data);
  if (b.rows == 1) by_columns<M>(n, k, a, data, b.columns, c, ldc);
  else by_rows<M>(n, k, a, data, b.rows, c, ldc);
}

template <typename T>
void few_rows(int64_t m, int64_t n, int64_t k, const float* a, const Factor& b, float* c, int64_t ldc) {
  switch (m) {
    case 1: return rows_of<1, T>(n, k, a, b, c, ldc);
    case 2: return rows_of<2, T>(n, k, a, b, c, ldc);
    case 3: return rows_of<3, T>(n, k, a, b, c, ldc);
    case 4: return rows_of<4, T>(n, k, a, b, c, ldc);
    case 5: return rows_of<5, T>(n, k, a, b, c, ldc);
    case 6: return rows_of<6, T>(n, k, a, b, c, ldc);
    case 7: return rows_of<7, T>(n, k, a, b, c, ldc);
    default: return rows_of<8, T>(n, k, a, b, c, ldc);
  }
}

// The few rows as float32, one behind the other.
const float* gathered(int64_t m, int64_t k, const Factor& a, std::vector<float>& memory) {
  if (a.dtype == CB_F32 && a.columns == 1 && (a.rows == k || m == 1)) return reinterpret_cast<const float*>(a.data);
  memory.resize(size_t(m * k));
  const Tensor tensor{0, a.dtype, 0, 0, {}, {}, {}};
  for (int64_t i = 0; i < m; i++)
    load_span({&tensor, const_cast<uint8_t*>(a.data)}, i * a.rows, a.columns, k, memory.data() + i * k);
  return memory.data();
}

Factor transposed(const Factor& f) { return {f.data, f.dtype, f.columns, f.rows}; }

}  // namespace

Thin thinness(int64_t m, int64_t n, const Factor& a, const Factor& b) {
  const Factor& large = n < m ? a : b;
  if (std::min(m, n) > THIN || (large.rows != 1 && large.columns != 1)) return Thin::NO;
  return n < m ? Thin::COLUMNS : Thin::ROWS;
}

// Few columns are few rows of the transposed product.
void thin_gemm(int64_t m, int64_t n, int64_t k, Factor a, Factor b, float* c, int64_t ldc, Thin thin) {
  const bool turns = thin == Thin::COLUMNS;
  if (turns) std::swap(m, n), std::swap(a, b), a = transposed(a), b = transposed(b);
  thread_local std::vector<float> memory, between;
  const float* rows = gathered(m, k, a, memory);
  float* to = c;
  int64_t stride = ldc;
  if (turns) {
    between.resize(size_t(m * n));
    to = between.data();
    stride = n;
  }
  for (int64_t i = 0; i < m; i += MOST_ROWS) {
    const int64_t here = std::min<int64_t>(MOST_ROWS, m - i);
    if (b.dtype == CB_F32) few_rows<float>(here, n, k, rows + i * k, b, to + i * stride, stride);
    else few_rows<uint16_t>(here, n, k, rows + i * k, b, to + i * stride, stride);
  }
  for (int64_t j = 0; turns && j < n; j++)
    for (int64_t i = 0; i < m; i++) c[j * ldc + i] = between[size_t(i * n + j)];
}

}  // namespace cb
