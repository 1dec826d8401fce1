// Blocks of a matrix with rows and columns exchanged: in registers, eight by eight, where the processor can.
#pragma once

#include <algorithm>
#include <cstdint>
#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace cb {

template <typename T>
void transpose_plain(const T* from, int64_t from_row, T* to, int64_t to_row, int64_t rows, int64_t columns) {
  for (int64_t c = 0; c < columns; c++)
    for (int64_t r = 0; r < rows; r++) to[c * to_row + r] = from[r * from_row + c];
}

#if defined(__AVX__)
inline void transpose_8x8(const float* from, int64_t from_row, float* to, int64_t to_row) {
  __m256 a[8], b[8];
  for (int i = 0; i < 4; i++) {
    // Halves of rows i and i + 4 side by side, so that no shuffle has to cross them.
    a[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(from + i * from_row)),
                                _mm_loadu_ps(from + (i + 4) * from_row), 1);
    a[i + 4] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(from + i * from_row + 4)),
                                    _mm_loadu_ps(from + (i + 4) * from_row + 4), 1);
  }
  for (int h = 0; h < 8; h += 4) {
    b[h] = _mm256_unpacklo_ps(a[h], a[h + 1]);
    b[h + 1] = _mm256_unpackhi_ps(a[h], a[h + 1]);
    b[h + 2] = _mm256_unpacklo_ps(a[h + 2], a[h + 3]);
    b[h + 3] = _mm256_unpackhi_ps(a[h + 2], a[h + 3]);
    _mm256_storeu_ps(to + h * to_row, _mm256_shuffle_ps(b[h], b[h + 2], 0x44));
    _mm256_storeu_ps(to + (h + 1) * to_row, _mm256_shuffle_ps(b[h], b[h + 2], 0xEE));
    _mm256_storeu_ps(to + (h + 2) * to_row, _mm256_shuffle_ps(b[h + 1], b[h + 3], 0x44));
    _mm256_storeu_ps(to + (h + 3) * to_row, _mm256_shuffle_ps(b[h + 1], b[h + 3], 0xEE));
  }
}
#else
inline void transpose_8x8(const float* from, int64_t from_row, float* to, int64_t to_row) {
  transpose_plain(from, from_row, to, to_row, 8, 8);
}
#endif

// to[c, r] = from[r, c]; rows are `from_row` and `to_row` elements apart.
inline void transpose(const float* from, int64_t from_row, float* to, int64_t to_row, int64_t rows, int64_t columns) {
  const int64_t r8 = rows / 8 * 8, c8 = columns / 8 * 8;
  for (int64_t r = 0; r < r8; r += 8) {
    for (int64_t c = 0; c < c8; c += 8) transpose_8x8(from + r * from_row + c, from_row, to + c * to_row + r, to_row);
    transpose_plain(from + r * from_row + c8, from_row, to + c8 * to_row + r, to_row, 8, columns - c8);
  }
  transpose_plain(from + r8 * from_row, from_row, to + r8, to_row, rows - r8, columns);
}

}  // namespace cb
