// float32 functions without branches, so that the compiler makes vectors of them. Errors against the exact value: below
// 3 units in the last place for exp, below 2e-7 for erf and tanh.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace cb {

inline float fast_exp(float x) {
  float clamped = x > -87.3f ? x : -87.3f;  // of a NaN, too, which no integer holds
  clamped = clamped > 88.7f ? 88.7f : clamped;
  float n = std::nearbyint(clamped * 1.44269504f);
  float r = clamped - n * 0.693359375f - n * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  float value = p * r * r + r + 1.0f;
  int32_t half = int32_t(n) / 2, rest = int32_t(n) - half;
  int32_t low = (half + 127) << 23, high = (rest + 127) << 23;
  float a, b;
  std::memcpy(&a, &low, 4);
  std::memcpy(&b, &high, 4);
  value = value * a * b;
  value = x < -87.3f ? 0.0f : value;
  value = x > 88.72283f ? INFINITY : value;
  return x != x ? x : value;
}

inline float fast_tanh(float x) {
  float x2 = x * x;
  float series = x * (1.0f + x2 * (-0.333333333f + x2 * (0.133333333f + x2 * (-0.0539682540f + x2 * 0.0218694885f))));
  float wide = 1.0f - 2.0f / (fast_exp(2.0f * x) + 1.0f);
  return std::fabs(x) < 0.25f ? series : wide;
}

// Abramowitz and Stegun 7.1.26 away from 0, the series of erf near it.
inline float fast_erf(float x) {
  float a = std::fabs(x), x2 = x * x;
  float series = 1.0f + x2 * (-0.333333333f + x2 * (0.1f + x2 * (-0.0238095238f + x2 * (0.00462962963f +
                 x2 * (-0.000757575758f + x2 * 0.000106837607f)))));
  float t = 1.0f / (1.0f + 0.3275911f * a);
  float p = t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
  float wide = 1.0f - p * fast_exp(-x2);
  float signed_wide = x < 0.0f ? -wide : wide;
  return a < 0.7f ? 1.12837917f * x * series : signed_wide;
}

inline float sigmoid(float x) { return 1.0f / (1.0f + fast_exp(-x)); }
inline float gelu(float x) { return 0.5f * x * (1.0f + fast_erf(x * 0.70710678f)); }
inline float gelu_tanh(float x) {
  return 0.5f * x * (1.0f + fast_tanh(0.79788456f * (x + 0.044715f * x * x * x)));
}

inline float from_bf16(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}

// To the nearest, ties to even; a NaN stays one.
inline uint16_t to_bf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  return uint16_t(value != value ? 0x7FC0u : rounded);
}

}  // namespace cb
