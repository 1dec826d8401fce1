// Passes over a program. Each keeps what the program computes; fusion leaves out the rounding of what lies between.
#include <algorithm>
#include <functional>
#include <set>

#include "execute.h"
#include "fuse.h"
#include "program.h"

namespace cb {

namespace {

constexpr uint64_t SMALL_CONSTANT = 4096;

bool is_marker(const Instruction& i) { return i.op == Op::ARGUMENT || i.op == Op::RESULT; }

void erase_if(Program& program, const std::function<bool(const Instruction&)>& condition) {
  auto& all = program.instructions;
  all.erase(std::remove_if(all.begin(), all.end(), condition), all.end());
}

bool same_layout(const Tensor& a, const Tensor& b) {
  if (a.rank != b.rank || a.dtype != b.dtype) return false;
  for (uint32_t d = 0; d < a.rank; d++)
    if (a.sizes[d] != b.sizes[d] || (a.sizes[d] > 1 && a.strides[d] != b.strides[d])) return false;
  return true;
}

// A copy of the same layout, in memory that nobody outside sees.
bool is_needless_copy(const Program& program, const Instruction& i) {
  if (i.op != Op::ELEMENTWISE || i.steps.size() != 1 || i.inputs.size() != 1 || i.outputs.size() != 1) return false;
  const Tensor &from = program.tensors[i.inputs[0]], &to = program.tensors[i.outputs[0]];
  const Step& step = i.steps[0];
  bool copies =
      step.op == StepOp::IDENTITY && step.operands[0].kind == OperandKind::FROM_INPUT && step.dtype == to.dtype;
  return copies && same_layout(from, to) && program.storages[to.storage].kind == StorageKind::TEMPORARY;
}

void take_memory_of(Program& program, uint32_t copy, uint32_t original) {
  const Tensor from = program.tensors[original], to = program.tensors[copy];
  for (Tensor& tensor : program.tensors)
    if (tensor.storage == to.storage) {
      tensor.storage = from.storage;
      tensor.offset += from.offset - to.offset;
    }
}

void drop_no_ops(Program& program) {
  erase_if(program, [](const Instruction& i) { return i.op == Op::VIEW; });
  for (const Instruction& i : program.instructions)
    if (is_needless_copy(program, i)) take_memory_of(program, i.outputs[0], i.inputs[0]);
  erase_if(program, [&](const Instruction& i) {
    return i.op == Op::ELEMENTWISE && i.outputs.size() == 1 && i.inputs.size() == 1 &&
           program.tensors[i.outputs[0]].storage == program.tensors[i.inputs[0]].storage;
  });
}

void drop_outputs(Program& program, Instruction& i, const std::vector<bool>& used) {
  bool is_fused = i.op == Op::ELEMENTWISE || i.op == Op::PRODUCT;
  for (size_t n = i.outputs.size(); n-- > 0 && i.outputs.size() > 1;) {
    if (used[program.tensors[i.outputs[n]].storage]) {
      if (is_fused) continue;
      return;  // of other ops only the last outputs can be left out
    }
    i.outputs.erase(i.outputs.begin() + int64_t(n));
    if (is_fused) i.stored.erase(i.stored.begin() + int64_t(n));
  }
}

void drop_dead_code(Program& program) {
  std::vector<bool> used(program.storages.size());
  for (size_t s = 0; s < used.size(); s++) used[s] = program.storages[s].kind == StorageKind::OUTPUT;
  std::vector<Instruction> kept;
  for (size_t n = program.instructions.size(); n-- > 0;) {
    Instruction& i = program.instructions[n];
    bool is_used = is_marker(i);
    for (uint32_t id : i.outputs) is_used |= used[program.tensors[id].storage];
    if (!is_used) continue;
    drop_outputs(program, i, used);
    for (uint32_t id : i.inputs) used[program.tensors[id].storage] = true;
    kept.push_back(i);
  }
  std::reverse(kept.begin(), kept.end());
  program.instructions = kept;
}

uint64_t bytes_of(const Tensor& tensor) { return uint64_t(tensor.numel()) * item_bytes(tensor.dtype); }

// A large fill is cheaper made than read, and strides that repeat elements must not make loading long.
bool folds(const Program& program, const Instruction& i) {
  if (is_marker(i) || i.op == Op::VIEW) return false;
  std::set<uint32_t> given;
  uint64_t in = 0, out = 0;
  for (uint32_t id : i.inputs) {
    if (program.storage_of(id).kind != StorageKind::CONSTANT) return false;
    if (given.insert(program.tensors[id].storage).second) in += program.storage_of(id).bytes;
  }
  for (uint32_t id : i.inputs)
    if (bytes_of(program.tensors[id]) > in + SMALL_CONSTANT) return false;
  for (uint32_t id : i.outputs) {
    if (program.storage_of(id).kind != StorageKind::TEMPORARY) return false;
    out += program.storage_of(id).bytes;
  }
  return out <= in + SMALL_CONSTANT;
}

void fold_constants(Program& program) {
  auto constants = std::make_shared<std::vector<uint8_t>>(*program.constants);
  program.constants = constants;
  std::vector<Instruction> kept;
  for (const Instruction& i : program.instructions) {
    if (!folds(program, i)) {
      kept.push_back(i);
      continue;
    }
    for (uint32_t id : i.outputs) {
      Storage& storage = program.storages[program.tensors[id].storage];
      storage.kind = StorageKind::CONSTANT;
      storage.place = aligned(constants->size());
      constants->resize(storage.place + storage.bytes);
    }
    std::vector<uint8_t*> bases(program.storages.size(), nullptr);
    for (size_t s = 0; s < bases.size(); s++)
      if (program.storages[s].kind == StorageKind::CONSTANT) bases[s] = constants->data() + program.storages[s].place;
    execute(program, i, bases, 1);
  }
  program.instructions = kept;
}

// Without storages, tensors and constants that no instruction names.
void compact(Program& program) {
  Program small;
  std::vector<int64_t> storage_to(program.storages.size(), -1), tensor_to(program.tensors.size(), -1);
  auto storage = [&](uint32_t s) {
    if (storage_to[s] >= 0) return uint32_t(storage_to[s]);
    Storage moved = program.storages[s];
    if (moved.kind == StorageKind::CONSTANT) {
      const uint8_t* from = program.constants->data() + moved.place;
      small.constants->resize(aligned(small.constants->size()));
      moved.place = small.constants->size();
      small.constants->insert(small.constants->end(), from, from + moved.bytes);
    }
    small.storages.push_back(moved);
    storage_to[s] = int64_t(small.storages.size()) - 1;
    return uint32_t(storage_to[s]);
  };
  for (uint32_t s = 0; s < program.storages.size(); s++)
    if (program.storages[s].kind <= StorageKind::OUTPUT) storage(s);
  for (Instruction i : program.instructions) {
    for (std::vector<uint32_t>* ids : {&i.inputs, &i.outputs})
      for (uint32_t& id : *ids) {
        if (tensor_to[id] < 0) {
          Tensor tensor = program.tensors[id];
          tensor.storage = storage(tensor.storage);
          small.tensors.push_back(tensor);
          tensor_to[id] = int64_t(small.tensors.size()) - 1;
        }
        id = uint32_t(tensor_to[id]);
      }
    small.instructions.push_back(i);
  }
  program = small;
}

struct Named {
  uint32_t bit;
  const char* name;
  void (*pass)(Program&);
};
const Named PASSES[] = {
    {CB_FOLD_CONSTANTS, "fold-constants", fold_constants},  {CB_DROP_NO_OPS, "drop-no-ops", drop_no_ops},
    {CB_DROP_DEAD_CODE, "drop-dead-code", drop_dead_code},  {CB_FUSE_PRODUCTS, "fuse-products", fuse_products},
    {CB_FUSE_ELEMENTWISE, "fuse-elementwise", fuse_chains}, {CB_PLAN_MEMORY, "plan-memory", plan_memory},
};

}  // namespace

void optimise(Program& program, uint32_t passes, std::vector<Stage>& stages) {
  stages.push_back({"as it was read", listing(program)});
  for (Storage& storage : program.storages)
    if (passes && storage.kind == StorageKind::TEMPORARY) storage.place = UNPLACED;
  for (const Named& pass : PASSES) {
    if (!(passes & pass.bit)) continue;
    pass.pass(program);
    compact(program);
    check(program);
    stages.push_back({pass.name, listing(program)});
  }
}

// Largest first, each at the lowest place that is free while it lives.
void plan_memory(Program& program) {
  std::vector<Life> life = lives(program);
  std::vector<uint32_t> order;
  for (uint32_t s = 0; s < program.storages.size(); s++)
    if (program.storages[s].kind == StorageKind::TEMPORARY && life[s].first >= 0) order.push_back(s);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return program.storages[a].bytes > program.storages[b].bytes; });
  std::vector<uint32_t> placed;
  for (uint32_t s : order) {
    std::vector<std::pair<uint64_t, uint64_t>> taken;
    for (uint32_t other : placed)
      if (life[other].first <= life[s].last && life[s].first <= life[other].last)
        taken.emplace_back(program.storages[other].place,
                           program.storages[other].place + aligned(program.storages[other].bytes));
    std::sort(taken.begin(), taken.end());
    uint64_t place = 0;
    for (auto [begin, end] : taken) {
      if (begin >= place + aligned(program.storages[s].bytes)) break;
      place = std::max(place, end);
    }
    program.storages[s].place = place;
    placed.push_back(s);
  }
}

}  // namespace cb
