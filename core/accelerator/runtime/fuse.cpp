// Fusion: an instruction goes down into the first one that reads what it computes, where that is elementwise, too.
// Every value is written once, so whoever else reads it comes later, and it is then stored as a further output.
#include "fuse.h"

#include <algorithm>
#include <optional>

namespace cb {

namespace {

using Sizes = std::vector<int64_t>;

Sizes sizes_of(const Tensor& tensor) { return {tensor.sizes, tensor.sizes + tensor.rank}; }

// The tensor with other sizes over the same elements in the same order, where strides can say that.
std::optional<Tensor> reshaped(const Tensor& from, const Sizes& sizes) {
  Tensor to = from;
  to.rank = uint32_t(sizes.size());
  std::fill(to.sizes, to.sizes + CB_MAX_RANK, 0);
  std::fill(to.strides, to.strides + CB_MAX_RANK, 0);
  std::copy(sizes.begin(), sizes.end(), to.sizes);
  if (to.numel() != from.numel() || from.numel() == 0) return std::nullopt;
  // Both shapes are walked from the innermost dimension out. Every dimension of `to` behind `open` has its stride.
  int64_t open = int64_t(sizes.size()) - 1;
  // Dimensions of `from` that one stride walks; dimensions of `to` fill their elements.
  struct Run {
    int64_t stride, elements = 1, filled = 1;
  };
  Run run{from.rank ? from.strides[from.rank - 1] : 0};
  for (int64_t dim = int64_t(from.rank) - 1; dim >= 0; dim--) {
    if (from.sizes[dim] != 1 && run.elements == 1) run.stride = from.strides[dim];
    run.elements *= from.sizes[dim];
    int64_t outer = dim - 1;
    while (outer >= 0 && from.sizes[outer] == 1) outer--;
    bool run_ends = outer < 0 || from.strides[outer] != run.elements * run.stride;
    if (from.sizes[dim] == 1 && outer >= 0 && run.elements == 1) continue;
    if (!run_ends) continue;
    while (open >= 0 && (run.filled < run.elements || sizes[size_t(open)] == 1)) {
      to.strides[open] = run.filled * run.stride;
      run.filled *= sizes[size_t(open--)];
    }
    if (run.filled != run.elements) return std::nullopt;
    run = {run.stride};
    dim = outer + 1;
  }
  return open < 0 ? std::optional<Tensor>(to) : std::nullopt;
}

bool same_place(const Tensor& a, const Tensor& b) {
  if (a.storage != b.storage || a.offset != b.offset || a.rank != b.rank || a.dtype != b.dtype) return false;
  for (uint32_t d = 0; d < a.rank; d++)
    if (a.sizes[d] != b.sizes[d] || (a.sizes[d] > 1 && a.strides[d] != b.strides[d])) return false;
  return true;
}

class Fusion {
 public:
  Fusion(Program& program, size_t upper, size_t lower) : program_(program), upper_(upper), lower_(lower) {}

  bool make() {
    size_t tensors = program_.tensors.size();
    if (std::optional<Pair> pair = aligned()) {
      Instruction whole = joined(pair->above, pair->below);
      if (whole.steps.size() <= MAX_STEPS && whole.inputs.size() <= MAX_INPUTS && whole.outputs.size() <= MAX_OUTPUTS) {
        program_.instructions[lower_] = whole;
        program_.instructions.erase(program_.instructions.begin() + int64_t(upper_));
        return true;
      }
    }
    program_.tensors.resize(tensors);
    return false;
  }

 private:
  struct Pair {
    Instruction above, below;
  };

  // Both instructions over the same sizes: as they are, over the sizes of the upper one, or over those of the lower
  // one.
  std::optional<Pair> aligned() {
    const Instruction above = program_.instructions[upper_], below = program_.instructions[lower_];
    if (fits(above, below)) return Pair{above, below};
    Instruction below_as_above = below;
    if (recast(below_as_above, sizes_of(tensor(above.outputs[0]))) && fits(above, below_as_above))
      return Pair{above, below_as_above};
    if (above.op != Op::ELEMENTWISE) return std::nullopt;
    Instruction above_as_below = above;
    if (recast(above_as_below, sizes_of(tensor(below.outputs[0]))) && fits(above_as_below, below))
      return Pair{above_as_below, below};
    return std::nullopt;
  }

  const Tensor& tensor(uint32_t id) const { return program_.tensors[id]; }

  // Which output of the upper instruction an input of the lower one is: -1 none, -2 one that is read in another order.
  int64_t which(const Instruction& above, uint32_t id) const {
    for (size_t o = 0; o < above.outputs.size(); o++) {
      if (tensor(above.outputs[o]).storage != tensor(id).storage) continue;
      return same_place(tensor(above.outputs[o]), tensor(id)) ? int64_t(o) : -2;
    }
    return -1;
  }

  bool fits(const Instruction& above, const Instruction& below) const {
    if (sizes_of(tensor(above.outputs[0])) != sizes_of(tensor(below.outputs[0]))) return false;
    return std::none_of(below.inputs.begin(), below.inputs.end(), [&](uint32_t id) { return which(above, id) == -2; });
  }

  // The same instruction over other sizes.
  bool recast(Instruction& instruction, const Sizes& sizes) {
    for (std::vector<uint32_t>* ids : {&instruction.inputs, &instruction.outputs})
      for (uint32_t& id : *ids) {
        std::optional<Tensor> other = reshaped(tensor(id), sizes);
        if (!other) return false;
        program_.tensors.push_back(*other);
        id = uint32_t(program_.tensors.size() - 1);
      }
    return true;
  }

  bool is_read_elsewhere(uint32_t id) const {
    uint32_t storage = tensor(id).storage;
    if (program_.storages[storage].kind == StorageKind::OUTPUT) return true;
    for (size_t n = upper_ + 1; n < program_.instructions.size(); n++)
      for (uint32_t input : program_.instructions[n].inputs)
        if (n != lower_ && tensor(input).storage == storage) return true;
    return false;
  }

  Instruction joined(const Instruction& above, const Instruction& below) const {
    Instruction whole = above;
    whole.outputs.clear();
    whole.stored.clear();
    for (size_t o = 0; o < above.outputs.size(); o++)
      if (is_read_elsewhere(above.outputs[o])) {
        whole.outputs.push_back(above.outputs[o]);
        whole.stored.push_back(above.stored[o]);
      }
    const auto before = uint32_t(above.steps.size());
    for (Step step : below.steps) {
      for (Operand& operand : step.operands) {
        if (operand.kind == OperandKind::FROM_STEP) operand.index += before;
        if (operand.kind == OperandKind::FROM_INPUT) operand = taken(above, whole, below.inputs[operand.index]);
      }
      whole.steps.push_back(step);
    }
    for (size_t o = 0; o < below.outputs.size(); o++) {
      whole.outputs.push_back(below.outputs[o]);
      whole.stored.push_back(below.stored[o] + int32_t(before));
    }
    return whole;
  }

  Operand taken(const Instruction& above, Instruction& whole, uint32_t id) const {
    int64_t output = which(above, id);
    if (output >= 0) {
      int32_t step = above.stored[size_t(output)];
      return step < 0 ? Operand{OperandKind::FROM_PRODUCT, 0} : Operand{OperandKind::FROM_STEP, uint32_t(step)};
    }
    for (size_t n = whole.op == Op::PRODUCT ? 2 : 0; n < whole.inputs.size(); n++)
      if (same_place(tensor(whole.inputs[n]), tensor(id))) return {OperandKind::FROM_INPUT, uint32_t(n)};
    whole.inputs.push_back(id);
    return {OperandKind::FROM_INPUT, uint32_t(whole.inputs.size() - 1)};
  }

  Program& program_;
  size_t upper_, lower_;
};

std::optional<size_t> first_reader(const Program& program, size_t at) {
  const Instruction& from = program.instructions[at];
  for (size_t n = at + 1; n < program.instructions.size(); n++)
    for (uint32_t input : program.instructions[n].inputs)
      for (uint32_t output : from.outputs)
        if (program.tensors[input].storage == program.tensors[output].storage) return n;
  return std::nullopt;
}

void fuse(Program& program, Op op) {
  for (size_t at = 0; at < program.instructions.size();) {
    if (program.instructions[at].op == op) {
      std::optional<size_t> reader = first_reader(program, at);
      if (reader && program.instructions[*reader].op == Op::ELEMENTWISE && Fusion(program, at, *reader).make())
        continue;
    }
    at++;
  }
}

}  // namespace

void fuse_products(Program& program) { fuse(program, Op::PRODUCT); }
void fuse_chains(Program& program) { fuse(program, Op::ELEMENTWISE); }

// Each step becomes an instruction, what lies between two of them a temporary.
void unfuse(Program& program) {
  std::vector<Instruction> all;
  auto temporary = [&](const Tensor& like, uint32_t dtype, const std::string& name) {
    Tensor tensor = like;
    tensor.name = name;
    tensor.dtype = dtype;
    tensor.offset = 0;
    int64_t extent = 1;
    for (uint32_t d = tensor.rank; d-- > 0; extent *= std::max<int64_t>(tensor.sizes[d], 1)) tensor.strides[d] = extent;
    tensor.storage = uint32_t(program.storages.size());
    program.storages.push_back({StorageKind::TEMPORARY, uint64_t(tensor.numel()) * item_bytes(dtype), UNPLACED});
    program.tensors.push_back(tensor);
    return uint32_t(program.tensors.size() - 1);
  };
  for (Storage& storage : program.storages)
    if (storage.kind == StorageKind::TEMPORARY) storage.place = UNPLACED;
  for (const Instruction& whole : program.instructions) {
    bool is_fused =
        whole.op == Op::PRODUCT ? !whole.steps.empty() : whole.op == Op::ELEMENTWISE && whole.steps.size() > 1;
    if (!is_fused) {
      all.push_back(whole);
      continue;
    }
    std::vector<uint32_t> made;  // the tensor of each step, the product's own first
    const Tensor like = program.tensors[whole.outputs[0]];
    for (int32_t s = whole.op == Op::PRODUCT ? -1 : 0; s < int32_t(whole.steps.size()); s++) {
      auto stored = std::find(whole.stored.begin(), whole.stored.end(), s);
      uint32_t dtype = s < 0 ? uint32_t(CB_F32) : whole.steps[size_t(s)].dtype;
      uint32_t to = stored != whole.stored.end()
                        ? whole.outputs[size_t(stored - whole.stored.begin())]
                        : temporary(like, dtype, s < 0 ? whole.name : whole.steps[size_t(s)].name);
      made.push_back(to);
      Instruction one;
      one.outputs = {to};
      if (s < 0) {
        one.op = Op::PRODUCT;
        one.name = whole.name;
        one.inputs = {whole.inputs[0], whole.inputs[1]};
        one.stored = {-1};
      } else {
        Step step = whole.steps[size_t(s)];
        one.op = Op::ELEMENTWISE;
        one.name = step.name;
        one.stored = {0};
        size_t first = whole.op == Op::PRODUCT ? 1 : 0;
        for (Operand& operand : step.operands) {
          if (operand.kind == OperandKind::NONE || operand.kind == OperandKind::IMMEDIATE) continue;
          one.inputs.push_back(operand.kind == OperandKind::FROM_INPUT     ? whole.inputs[operand.index]
                               : operand.kind == OperandKind::FROM_PRODUCT ? made[0]
                                                                           : made[first + operand.index]);
          operand = {OperandKind::FROM_INPUT, uint32_t(one.inputs.size() - 1)};
        }
        one.steps = {step};
      }
      all.push_back(one);
      for (size_t o = 0; o < whole.outputs.size(); o++) {
        if (whole.stored[o] != s || whole.outputs[o] == to) continue;
        Instruction copy{Op::ELEMENTWISE, one.name, {to}, {whole.outputs[o]}, {}, {}, {0}};
        copy.steps = {{StepOp::IDENTITY,
                       program.tensors[whole.outputs[o]].dtype,
                       one.name,
                       {{OperandKind::FROM_INPUT, 0}, {}, {}}}};
        all.push_back(copy);
      }
    }
  }
  program.instructions = all;
}

}  // namespace cb
