// The C expression of each step, and what a file begins with.
#include <cctype>
#include <cmath>
#include <sstream>

#include "emit_c.h"
#include "program.h"

namespace cb {

const char* const PRELUDE = R"(#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float get_f32(const void* data, int64_t i) { return ((const float*)data)[i]; }
static inline float get_b8(const void* data, int64_t i) { return ((const uint8_t*)data)[i] ? 1.0f : 0.0f; }
static inline float get_bf16(const void* data, int64_t i) {
  uint32_t bits = (uint32_t)((const uint16_t*)data)[i] << 16;
  float value;
  memcpy(&value, &bits, 4);
  return value;
}
static inline void put_f32(void* data, int64_t i, float value) { ((float*)data)[i] = value; }
static inline void put_b8(void* data, int64_t i, float value) { ((uint8_t*)data)[i] = value != 0.0f; }
static inline void put_bf16(void* data, int64_t i, float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  ((uint16_t*)data)[i] = value != value ? 0x7FC0u : (uint16_t)((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}
static inline float rounded(float value) {
  uint16_t bits;
  put_bf16(&bits, 0, value);
  return get_bf16(&bits, 0);
}
)";

namespace {

#define STEP(constant, name, number, operands, c) c,
const char* const EXPRESSIONS[] = {
    "x",
#include "steps.def"
};
#undef STEP

bool is_word(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_'; }

}  // namespace

std::string expression(StepOp op, const std::string& a, const std::string& b, const std::string& c) {
  std::string text;
  for (const char* at = EXPRESSIONS[op <= LAST_STEP ? size_t(op) : 0]; *at;) {
    std::string word(1, *at++);
    while (is_word(word[0]) && is_word(*at)) word += *at++;
    text += word == "x" ? a : word == "y" ? b : word == "z" ? c : word;
  }
  return text;
}

std::string literal(float value) {
  if (value != value) return "NAN";
  if (std::isinf(value)) return value > 0 ? "INFINITY" : "(-INFINITY)";
  std::ostringstream text;
  text.precision(9);
  text << std::showpoint << value << "f";
  return value < 0 ? "(" + text.str() + ")" : text.str();
}

}  // namespace cb
