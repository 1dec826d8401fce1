// A program as text: names of its ops, a listing, and a graph for Graphviz.
#include <map>
#include <sstream>

#include "program.h"

namespace cb {

namespace {

const char* const OPS[] = {"?",          "argument", "result", "view",      "elementwise", "product",    "softmax",
                           "layer_norm", "rms_norm", "reduce", "embedding", "attention",   "concatenate"};
#define STEP(constant, name, number, operands, c) #name,
const char* const STEPS[] = {
    "?",
#include "steps.def"
};
#undef STEP
const char* const DTYPES[] = {"f32", "bf16", "i64", "b8"};

std::string operand(const Program& program, const Instruction& instruction, const Operand& operand) {
  switch (operand.kind) {
    case OperandKind::FROM_INPUT: return "%" + printable(program.tensors[instruction.inputs[operand.index]].name);
    case OperandKind::FROM_STEP: return printable(instruction.steps[operand.index].name);
    case OperandKind::FROM_PRODUCT: return "product";
    default: {
      std::ostringstream text;
      text.precision(9);
      text << operand.immediate();
      return text.str();
    }
  }
}

std::string shape(const Tensor& tensor) {
  std::string text = std::string(DTYPES[tensor.dtype]) + "[";
  for (uint32_t d = 0; d < tensor.rank; d++) text += (d ? ", " : "") + std::to_string(tensor.sizes[d]);
  return text + "]";
}

std::string place(const Program& program, uint32_t id) {
  const Storage& storage = program.storage_of(id);
  if (storage.kind == StorageKind::CONSTANT) return " constant";
  if (storage.kind != StorageKind::TEMPORARY || storage.place == UNPLACED) return "";
  return " arena+" + std::to_string(storage.place);
}

void add_steps(std::ostringstream& text, const Program& program, const Instruction& instruction) {
  for (const Step& step : instruction.steps) {
    text << "    " << printable(step.name) << " = " << step_name(step.op) << "(";
    for (int n = 0; n < arity(step.op); n++) text << (n ? ", " : "") << operand(program, instruction, step.operands[n]);
    text << ")\n";
  }
}

// Which instruction made a tensor: the one of its name, which a repeated one keeps, or else who wrote its storage.
class Makers {
 public:
  explicit Makers(const Program& program) : program_(program) {}

  const size_t* of(uint32_t id) const {
    const Tensor& tensor = program_.tensors[id];
    auto named = named_.find({tensor.storage, tensor.name});
    if (named != named_.end()) return &named->second;
    auto written = written_.find(tensor.storage);
    return written == written_.end() ? nullptr : &written->second;
  }

  void add(const Instruction& instruction, size_t index) {
    for (uint32_t id : instruction.outputs) {
      const Tensor& tensor = program_.tensors[id];
      named_[{tensor.storage, tensor.name}] = index;
      if (instruction.op != Op::VIEW) written_[tensor.storage] = index;
    }
  }

 private:
  const Program& program_;
  std::map<std::pair<uint32_t, std::string>, size_t> named_;
  std::map<uint32_t, size_t> written_;
};

}  // namespace

const char* op_name(Op op) { return OPS[op <= LAST_OP ? size_t(op) : 0]; }
const char* step_name(StepOp op) { return STEPS[op <= LAST_STEP ? size_t(op) : 0]; }

std::string printable(const std::string& name) {
  std::string text = name;
  for (char& letter : text) {
    uint8_t byte = uint8_t(letter);
    if (byte < 0x20 || byte >= 0x7f) letter = '?';
  }
  return text;
}

std::string listing(const Program& program) {
  std::ostringstream text;
  for (const Instruction& instruction : program.instructions) {
    for (size_t n = 0; n < instruction.outputs.size(); n++) {
      const Tensor& tensor = program.tensors[instruction.outputs[n]];
      text << (n ? ", " : "") << "%" << printable(tensor.name) << ": " << shape(tensor)
           << place(program, instruction.outputs[n]);
    }
    text << (instruction.outputs.empty() ? "" : " = ") << op_name(instruction.op) << "(";
    for (size_t n = 0; n < instruction.inputs.size(); n++)
      text << (n ? ", " : "") << "%" << printable(program.tensors[instruction.inputs[n]].name);
    text << ")\n";
    add_steps(text, program, instruction);
  }
  return text.str();
}

std::string dot(const Program& program) {
  std::ostringstream text;
  Makers makers(program);
  text << "digraph program {\n  node [shape=box, fontname=\"monospace\"];\n";
  for (size_t i = 0; i < program.instructions.size(); i++) {
    const Instruction& instruction = program.instructions[i];
    text << "  n" << i << " [label=\"" << op_name(instruction.op);
    for (const Step& step : instruction.steps) text << "\\n" << step_name(step.op);
    text << "\"];\n";
    for (uint32_t id : instruction.inputs)
      if (const size_t* from = makers.of(id)) text << "  n" << *from << " -> n" << i << ";\n";
    makers.add(instruction, i);
  }
  text << "}\n";
  return text.str();
}

}  // namespace cb
