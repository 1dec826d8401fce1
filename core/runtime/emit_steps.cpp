// The C expression of each step, and what a file begins with.
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

std::string expression(uint32_t op, const std::string& a, const std::string& b, const std::string& c) {
  switch (op) {
    case ADD: return a + " + " + b;
    case SUB: return a + " - " + b;
    case MUL: return a + " * " + b;
    case DIV: return a + " / " + b;
    case MAXIMUM: return a + " != " + a + " || " + a + " > " + b + " ? " + a + " : " + b;
    case MINIMUM: return a + " != " + a + " || " + a + " < " + b + " ? " + a + " : " + b;
    case POW: return "powf(" + a + ", " + b + ")";
    case NEG: return "-" + a;
    case ABS: return "fabsf(" + a + ")";
    case EXP: return "expf(" + a + ")";
    case LOG: return "logf(" + a + ")";
    case SQRT: return "sqrtf(" + a + ")";
    case RSQRT: return "1.0f / sqrtf(" + a + ")";
    case RECIPROCAL: return "1.0f / " + a;
    case SIN: return "sinf(" + a + ")";
    case COS: return "cosf(" + a + ")";
    case TANH: return "tanhf(" + a + ")";
    case ERF: return "erff(" + a + ")";
    case SIGMOID: return "1.0f / (1.0f + expf(-" + a + "))";
    case RELU: return a + " < 0.0f ? 0.0f : " + a;
    case GELU: return "0.5f * " + a + " * (1.0f + erff(" + a + " * 0.70710678f))";
    case GELU_TANH:
      return "0.5f * " + a + " * (1.0f + tanhf(0.79788456f * (" + a + " + 0.044715f * " + a + " * " + a + " * " + a +
             ")))";
    case SILU: return a + " / (1.0f + expf(-" + a + "))";
    case EQ: return "(float)(" + a + " == " + b + ")";
    case NE: return "(float)(" + a + " != " + b + ")";
    case LT: return "(float)(" + a + " < " + b + ")";
    case LE: return "(float)(" + a + " <= " + b + ")";
    case GT: return "(float)(" + a + " > " + b + ")";
    case GE: return "(float)(" + a + " >= " + b + ")";
    case WHERE: return a + " != 0.0f ? " + b + " : " + c;
    case LOGICAL_NOT: return "(float)(" + a + " == 0.0f)";
    case LOGICAL_AND: return "(float)(" + a + " != 0.0f && " + b + " != 0.0f)";
    case LOGICAL_OR: return "(float)(" + a + " != 0.0f || " + b + " != 0.0f)";
    default: return a;
  }
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
