// float32 in vectors as wide as the processor's, and what is joined over many numbers in a fixed order.
#pragma once

#include <cstdint>
#include <cstring>

namespace cb {

#if defined(__AVX512F__)
constexpr int LANES = 16;
#elif defined(__AVX2__)
constexpr int LANES = 8;
#else
constexpr int LANES = 4;
#endif

typedef float Lanes __attribute__((vector_size(LANES * 4)));

inline Lanes lanes(const float* at) {
  Lanes value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

inline double joined(Lanes values) {
  double sum = 0;
  for (int l = 0; l < LANES; l++) sum += double(values[l]);
  return sum;
}

// The sum of what `of` makes of each number, itself or all lanes of them: float32 within a block, float64 over blocks.
template <typename F>
double sum_of(const float* values, int64_t n, F of) {
  constexpr int64_t BLOCK = 32 * LANES;
  double sum = 0;
  int64_t i = 0;
  for (; i + BLOCK <= n; i += BLOCK) {
    Lanes parts[4] = {};
    for (int64_t j = i; j < i + BLOCK; j += 4 * LANES)
      for (int p = 0; p < 4; p++) parts[p] += of(lanes(values + j + p * LANES));
    sum += joined((parts[0] + parts[1]) + (parts[2] + parts[3]));
  }
  Lanes part = {};
  for (; i + LANES <= n; i += LANES) part += of(lanes(values + i));
  float rest = 0;
  for (; i < n; i++) rest += of(values[i]);
  return sum + joined(part) + double(rest);
}

// NaN wherever there is one.
inline float larger(float a, float b) { return a != a || a > b ? a : b; }
inline float smaller(float a, float b) { return a != a || a < b ? a : b; }

// The largest of `least` and all numbers.
inline float largest_of(const float* values, int64_t n, float least) {
  float found = least;
  int64_t i = 0;
  if (n >= LANES) {
    Lanes most = lanes(values);
    for (i = LANES; i + LANES <= n; i += LANES) {
      const Lanes here = lanes(values + i);
      const auto is_larger = (here != here) | (here > most);
      most = is_larger ? here : most;
    }
    for (int l = 0; l < LANES; l++) found = larger(most[l], found);
  }
  for (; i < n; i++) found = larger(values[i], found);
  return found;
}

}  // namespace cb
