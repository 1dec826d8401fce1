// Steps as expressions of C.
#pragma once

#include <string>

#include "opcodes.h"

namespace cb {

extern const char* const PRELUDE;

// `a`, `b` and `c` are the expressions of the operands.
std::string expression(StepOp op, const std::string& a, const std::string& b, const std::string& c);
std::string literal(float value);

}  // namespace cb
