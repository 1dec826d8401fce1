// float32 functions without branches, so that the compiler makes vectors of them.
// tests/live/accelerator/test_accuracy.py holds each to its distance from the exact value, in units in the last place.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace cb {

inline float bits_as_float(int32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

inline int32_t float_as_bits(float value) {
  int32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

// The polynomials and quotients below are least-squares fits, weighted until the relative error is even.
inline float fast_exp(float x) {
  float clamped = x > -104.0f ? x : -104.0f;  // of a NaN, too, which no integer holds
  clamped = clamped > 88.8f ? 88.8f : clamped;
  const float n = std::nearbyint(clamped * 1.44269504f);
  const float r = clamped - n * 0.693359375f - n * -2.12194440e-4f;
  float p = 0.001395063f;
  p = p * r + 0.00836897f;
  p = p * r + 0.0416662037f;
  p = p * r + 0.166665182f;
  p = p * r + 0.50000001f;
  // Two factors, since 2 to the n may be too large, or too small, for one.
  const int32_t half = int32_t(n) / 2, rest = int32_t(n) - half;
  float value = (p * r * r + r + 1.0f) * bits_as_float((half + 127) << 23) * bits_as_float((rest + 127) << 23);
  value = x > 88.72283f ? INFINITY : value;
  return x != x ? x : value;
}

inline float fast_log(float x) {
  const bool is_small = x < 1.17549435e-38f;
  const int32_t bits = float_as_bits(is_small ? x * 8388608.0f : x) - 0x3F3504F3;  // of the root of a half
  const float e = float((bits >> 23) - (is_small ? 23 : 0));
  const float f = bits_as_float((bits & 0x7FFFFF) + 0x3F3504F3) - 1.0f;
  float p = -0.0785959222f;
  p = p * f + 0.128816405f;
  p = p * f + -0.131287587f;
  p = p * f + 0.141811931f;
  p = p * f + -0.166245538f;
  p = p * f + 0.200022862f;
  p = p * f + -0.250008104f;
  p = p * f + 0.333333167f;
  const float f2 = f * f;
  float value = (f - (0.5f * f2 - (p * f * f2 + e * -2.12194440e-4f))) + e * 0.693359375f;
  value = x == 0.0f ? -INFINITY : value;
  value = x < 0.0f ? NAN : value;
  return x < INFINITY ? value : x;  // NaN and infinity as they are
}

// Sine where `shift` is 0, cosine where it is 1, for |x| up to MOST_TURNED.
constexpr float MOST_TURNED = 30000.0f;
inline float turned(float x, int32_t shift) {
  const float n = std::nearbyint(x * 0.636619772f);
  float r = std::fma(n, -1.57079601f, x);
  r = std::fma(n, -3.13916473e-07f, r);
  r = std::fma(n, -5.39030295e-15f, r);
  const int32_t quarter = int32_t(n) + shift;
  const float r2 = r * r;
  const float sine = r + r * r2 * (-0.166666546f + r2 * (0.008332155f + r2 * -0.0001951408f));
  const float cosine = 1.0f - 0.5f * r2 + r2 * r2 * (0.0416666463f + r2 * (-0.00138873371f + r2 * 2.44348454e-05f));
  const float value = quarter & 1 ? cosine : sine;
  return quarter & 2 ? -value : value;
}

inline float fast_tanh(float x) {
  const float most = 9.02f;
  const float c = x > most ? most : x < -most ? -most : x, t = c * c;
  const float p = 1.0f + t * (0.133797209f + t * (0.00349403801f + t * (2.05835336e-05f + t * 1.33191363e-08f)));
  const float q = 1.0f + t * (0.467130362f + t * (0.0258710866f + t * (0.000328309829f + t * 7.7620475e-07f)));
  const float value = c * p / q;
  return value > 1.0f ? 1.0f : value < -1.0f ? -1.0f : value;
}

inline float fast_erf(float x) {
  const float most = 3.925f;  // from there on it is 1
  const float c = x > most ? most : x < -most ? -most : x, t = c * c;
  const float p =
      1.12837915f +
      t * (0.19059511f + t * (0.0527694749f + t * (0.00377260512f + t * (0.000284844239f + t * 2.0460115e-06f))));
  const float q =
      1.0f + t * (0.502243248f + t * (0.114183278f + t * (0.0149833117f + t * (0.00116386993f + t * 3.80476437e-05f))));
  const float value = c * p / q;
  return c >= most ? 1.0f : c <= -most ? -1.0f : value;
}

inline float sigmoid(float x) { return 1.0f / (1.0f + fast_exp(-x)); }
inline float gelu(float x) { return 0.5f * x * (1.0f + fast_erf(x * 0.70710678f)); }
inline float gelu_tanh(float x) { return 0.5f * x * (1.0f + fast_tanh(0.79788456f * (x + 0.044715f * x * x * x))); }

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
