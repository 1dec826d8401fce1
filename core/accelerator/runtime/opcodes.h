// Numbers of the file format: what core/accelerator/program/program.py says, too. Those of the steps are in steps.def.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cb {

enum class Op : uint32_t {
  ARGUMENT = 1,
  RESULT = 2,
  VIEW = 3,
  ELEMENTWISE = 4,
  PRODUCT = 5,
  SOFTMAX = 6,
  LAYER_NORM = 7,
  RMS_NORM = 8,
  REDUCE = 9,
  EMBEDDING = 10,
  ATTENTION = 11,
  CONCATENATE = 12,
};
constexpr Op LAST_OP = Op::CONCATENATE;

enum class StepOp : uint32_t {
#define STEP(constant, name, number, operands, c) constant = number,
#include "steps.def"
#undef STEP
};

#define STEP(constant, name, number, operands, c) +1
constexpr StepOp LAST_STEP{
#include "steps.def"
};
#undef STEP

enum class StorageKind : uint32_t { INPUT = 1, OUTPUT = 2, TEMPORARY = 3, CONSTANT = 4 };
enum class Reduction : int64_t { SUM = 0, MEAN = 1, AMAX = 2, AMIN = 3 };
enum class OperandKind : uint32_t { NONE = 0, FROM_INPUT = 1, FROM_STEP = 2, IMMEDIATE = 3, FROM_PRODUCT = 4 };

inline int arity(StepOp op) {
#define STEP(constant, name, number, operands, c) operands,
  constexpr int operands[] = {
      1,
#include "steps.def"
  };
#undef STEP
  return op <= LAST_STEP ? operands[size_t(op)] : 1;
}

}  // namespace cb
