// Numbers of the file format: what core/program/opcodes.py says, too.
#pragma once

#include <cstdint>

namespace cb {

enum Op : uint32_t {
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
  LAST_OP = 12,
};

enum StepOp : uint32_t {
  IDENTITY = 1,
  ADD = 2,
  SUB = 3,
  MUL = 4,
  DIV = 5,
  MAXIMUM = 6,
  MINIMUM = 7,
  POW = 8,
  NEG = 9,
  ABS = 10,
  EXP = 11,
  LOG = 12,
  SQRT = 13,
  RSQRT = 14,
  RECIPROCAL = 15,
  SIN = 16,
  COS = 17,
  TANH = 18,
  ERF = 19,
  SIGMOID = 20,
  RELU = 21,
  GELU = 22,
  GELU_TANH = 23,
  SILU = 24,
  EQ = 25,
  NE = 26,
  LT = 27,
  LE = 28,
  GT = 29,
  GE = 30,
  WHERE = 31,
  LOGICAL_NOT = 32,
  LOGICAL_AND = 33,
  LOGICAL_OR = 34,
  LAST_STEP = 34,
};

enum StorageKind : uint32_t { INPUT = 1, OUTPUT = 2, TEMPORARY = 3, CONSTANT = 4 };
enum Reduction : int64_t { SUM = 0, MEAN = 1, AMAX = 2, AMIN = 3 };
enum OperandKind : uint32_t { NONE = 0, FROM_INPUT = 1, FROM_STEP = 2, IMMEDIATE = 3, FROM_PRODUCT = 4 };

inline int arity(uint32_t op) {
  if (op == WHERE) return 3;
  bool two = (op >= ADD && op <= POW) || (op >= EQ && op <= GE) || op == LOGICAL_AND || op == LOGICAL_OR;
  return two ? 2 : 1;
}

}  // namespace cb
