// float32 in vectors as wide as the processor's, and what is joined over many numbers in a fixed order.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#if defined(__AVX__)
#include <immintrin.h>
#endif

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

// bfloat16 is the upper half of a float32.
inline Lanes lanes(const uint16_t* at) {
  typedef uint16_t Halves __attribute__((vector_size(LANES * 2)));
  typedef uint32_t Words __attribute__((vector_size(LANES * 4)));
  Halves halves;
  std::memcpy(&halves, at, sizeof halves);
  const Words words = __builtin_convertvector(halves, Words) << 16;
  Lanes value;
  std::memcpy(&value, &words, sizeof value);
  return value;
}

// Halves added to halves, so that rounding grows with the logarithm of the lanes.
inline float joined(Lanes values) {
  float parts[LANES];
  std::memcpy(parts, &values, sizeof parts);
  for (int width = LANES / 2; width > 0; width /= 2)
    for (int i = 0; i < width; i++) parts[i] += parts[i + width];
  return parts[0];
}

// The sum of what `of` makes of each number, itself or all lanes of them: float32 within a block, float64 over blocks.
template <typename F>
double sum_of(const float* values, int64_t n, F of) {
  constexpr int64_t BLOCK = 64 * LANES;
  double sum = 0;
  int64_t i = 0;
  for (; i + BLOCK <= n; i += BLOCK) {
    Lanes parts[8] = {};
    for (int64_t j = i; j < i + BLOCK; j += 8 * LANES)
#pragma GCC unroll 8
      for (int p = 0; p < 8; p++) parts[p] += of(lanes(values + j + p * LANES));
    for (int p = 4; p > 0; p /= 2)
      for (int q = 0; q < p; q++) parts[q] += parts[q + p];
    sum += double(joined(parts[0]));
  }
  Lanes part = {};
  for (; i + LANES <= n; i += LANES) part += of(lanes(values + i));
  float rest = 0;
  for (; i < n; i++) rest += of(values[i]);
  return sum + double(joined(part)) + double(rest);
}

inline Lanes all_lanes(float value) {
  Lanes found;
  for (int l = 0; l < LANES; l++) found[l] = value;
  return found;
}

// NaN wherever there is one.
inline float larger(float a, float b) { return a != a || a > b ? a : b; }
inline float smaller(float a, float b) { return a != a || a < b ? a : b; }

struct Larger {
  float operator()(float a, float b) const { return larger(a, b); }
  Lanes operator()(Lanes a, Lanes b) const {
#if defined(__AVX512F__)
    return Lanes(_mm512_mask_max_ps(__m512(a), 0xFFFF, __m512(a), __m512(b)));
#elif defined(__AVX2__)
    return Lanes(_mm256_max_ps(__m256(a), __m256(b)));
#else
    return a > b ? a : b;
#endif
  }
};

struct Smaller {
  float operator()(float a, float b) const { return smaller(a, b); }
  Lanes operator()(Lanes a, Lanes b) const {
#if defined(__AVX512F__)
    return Lanes(_mm512_mask_min_ps(__m512(a), 0xFFFF, __m512(a), __m512(b)));
#elif defined(__AVX2__)
    return Lanes(_mm256_min_ps(__m256(a), __m256(b)));
#else
    return a < b ? a : b;
#endif
  }
};

typedef int32_t Bits __attribute__((vector_size(LANES * 4)));

inline Bits larger_bits(Bits a, Bits b) {
#if defined(__AVX512F__)
  return Bits(_mm512_mask_max_epi32(__m512i(a), 0xFFFF, __m512i(a), __m512i(b)));
#elif defined(__AVX2__)
  return Bits(_mm256_max_epi32(__m256i(a), __m256i(b)));
#else
  return a > b ? a : b;
#endif
}

// What `pick` takes of `first` and all numbers. Its lanes pass over a NaN, which the bits without the sign show: they
// are larger than those of infinity.
template <typename Pick>
float picked(const float* values, int64_t n, float first, Pick pick) {
  constexpr int PARTS = 4;
  float found = first;
  int64_t i = 0;
  if (n >= PARTS * LANES) {
    Lanes parts[PARTS];
    Bits largest[PARTS] = {};
    for (int p = 0; p < PARTS; p++) parts[p] = all_lanes(first);
    for (; i + PARTS * LANES <= n; i += PARTS * LANES)
#pragma GCC unroll 4
      for (int p = 0; p < PARTS; p++) {
        const Lanes here = lanes(values + i + p * LANES);
        Bits bits;
        std::memcpy(&bits, &here, sizeof bits);
        bits &= 0x7FFFFFFF;
        largest[p] = larger_bits(bits, largest[p]);
        parts[p] = pick(here, parts[p]);
      }
    for (int p = 0; p < PARTS; p++)
      for (int l = 0; l < LANES; l++) {
        if (largest[p][l] > 0x7F800000) return NAN;
        found = pick(found, parts[p][l]);
      }
  }
  for (; i < n; i++) found = pick(values[i], found);
  return found;
}

inline float largest_of(const float* values, int64_t n, float least) { return picked(values, n, least, Larger()); }
inline float smallest_of(const float* values, int64_t n, float most) { return picked(values, n, most, Smaller()); }

}  // namespace cb
