// A program in memory, and its way from and to a file.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "compileboard_runtime.h"
#include "opcodes.h"

namespace cb {

constexpr uint64_t UNPLACED = ~uint64_t(0);
constexpr uint64_t ALIGNMENT = 64;
constexpr uint64_t MAX_BYTES = uint64_t(1) << 40;
constexpr size_t MAX_STEPS = 64, MAX_INPUTS = 24, MAX_OUTPUTS = 8;

// Whatever is wrong with a file, or with a call; its text is the reason.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline uint64_t aligned(uint64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }
inline uint64_t item_bytes(uint32_t dtype) {
  return dtype == CB_F32 ? 4 : dtype == CB_BF16 ? 2 : dtype == CB_I64 ? 8 : 1;
}

// Memory: `place` is the index of an input or output, a constant's offset, or a temporary's offset in the arena.
struct Storage {
  StorageKind kind = StorageKind::TEMPORARY;
  uint64_t bytes = 0;
  uint64_t place = UNPLACED;
};

// A view of a storage; strides and offset in elements.
struct Tensor {
  uint32_t storage = 0, dtype = CB_F32, rank = 0;
  uint64_t offset = 0;
  int64_t sizes[CB_MAX_RANK] = {}, strides[CB_MAX_RANK] = {};
  std::string name;

  int64_t numel() const {
    int64_t n = 1;
    for (uint32_t d = 0; d < rank; d++) n *= sizes[d];
    return n;
  }

  // Whether it lies without gaps, in the order of its dimensions.
  bool is_dense() const {
    int64_t extent = 1;
    for (uint32_t d = rank; d-- > 0; extent *= sizes[d])
      if (sizes[d] > 1 && strides[d] != extent) return false;
    return true;
  }
};

struct Operand {
  OperandKind kind = OperandKind::NONE;
  uint32_t index = 0;

  float immediate() const {
    float value;
    std::memcpy(&value, &index, 4);
    return value;
  }
};

// One elementwise operation; what it computes is kept in float32, and is of `dtype` where it is stored.
struct Step {
  StepOp op = StepOp::IDENTITY;
  uint32_t dtype = CB_F32;
  std::string name;
  Operand operands[3];
};

struct Instruction {
  Op op{};
  std::string name;
  std::vector<uint32_t> inputs, outputs;  // tensors
  std::vector<int64_t> attributes;        // of ops without steps
  std::vector<Step> steps;                // of ELEMENTWISE and PRODUCT
  std::vector<int32_t> stored;            // which step each output is; -1 for the product itself

  double number(size_t index) const {
    double value;
    std::memcpy(&value, &attributes.at(index), 8);
    return value;
  }
};

struct Program {
  std::vector<Storage> storages;
  std::vector<Tensor> tensors;
  std::vector<Instruction> instructions;
  std::shared_ptr<std::vector<uint8_t>> constants = std::make_shared<std::vector<uint8_t>>();

  const Storage& storage_of(uint32_t tensor) const { return storages[tensors[tensor].storage]; }
  uint64_t arena_bytes() const;
  uint64_t temporary_bytes() const;
  std::vector<uint32_t> results() const;
  bool planned() const;
};

// First instruction that writes each storage and last one that uses it; a result is used to the end.
struct Life {
  int64_t first = -1, last = -1;
};
std::vector<Life> lives(const Program& program);
void check_plan(const Program& program);

uint32_t crc32c(const uint8_t* data, size_t bytes);
Program read_program(const uint8_t* file, size_t bytes);
std::vector<uint8_t> write_program(const Program& program);
void check(const Program& program);  // throws Error with what is wrong

std::string listing(const Program& program);
std::string dot(const Program& program);
// `name` is that of the function; `program` where it is empty or no name of C.
std::string as_c(const Program& program, const std::string& name);
std::string as_c_header(const Program& program, const std::string& name);
// A name as a terminal may show it: a file's names are anybody's, and an escape sequence of one would be obeyed.
std::string printable(const std::string& name);
const char* op_name(Op op);
const char* step_name(StepOp op);

struct Stage {
  std::string name, text;
};
void optimise(Program& program, uint32_t passes, std::vector<Stage>& stages);
void unfuse(Program& program);
void plan_memory(Program& program);

}  // namespace cb
