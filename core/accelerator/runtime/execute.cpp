// The executors.
#include "execute.h"

#include <chrono>
#include <cstdlib>
#include <mutex>

#include "kernels.h"

namespace cb {

namespace {

using Kernel = void (*)(const Instruction&, const Operands&, int);

Kernel kernel_of(Op op) {
  switch (op) {
    case Op::ELEMENTWISE: return elementwise;
    case Op::PRODUCT: return product;
    case Op::SOFTMAX: return softmax;
    case Op::LAYER_NORM:
    case Op::RMS_NORM: return norm;
    case Op::REDUCE: return reduce;
    case Op::EMBEDDING: return embedding;
    case Op::ATTENTION: return attention;
    case Op::CONCATENATE: return concatenate;
    default: return nullptr;
  }
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

class Reference : public Executor {
 public:
  using Executor::Executor;

 protected:
  std::unique_ptr<Memory> take() const override { return std::make_unique<Memory>(); }
  void give(std::unique_ptr<Memory>) const override {}
  uint8_t* temporary(Memory& memory, uint32_t storage) const override {
    return allocate(memory, program_.storages[storage].bytes);
  }
};

class Optimising : public Executor {
 public:
  explicit Optimising(const Program& program) : Executor(program), arena_(program.arena_bytes()) {}

 protected:
  std::unique_ptr<Memory> take() const override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (idle_.empty()) {
      auto fresh = std::make_unique<Memory>();
      allocate(*fresh, arena_);
      return fresh;
    }
    std::unique_ptr<Memory> memory = std::move(idle_.back());
    idle_.pop_back();
    memory->owned.erase(memory->owned.begin() + 1, memory->owned.end());
    memory->allocated = aligned(arena_);
    return memory;
  }
  void give(std::unique_ptr<Memory> memory) const override {
    std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_back(std::move(memory));
  }
  uint8_t* temporary(Memory& memory, uint32_t storage) const override {
    const Storage& found = program_.storages[storage];
    return found.place == UNPLACED ? allocate(memory, found.bytes) : memory.owned[0].get() + found.place;
  }

 private:
  uint64_t arena_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Memory>> idle_;
};

void set_addresses(const Program& program, const std::vector<uint32_t>& ids, const std::vector<uint8_t*>& bases,
                   std::vector<View>& views) {
  views.clear();
  for (uint32_t id : ids) {
    const Tensor& tensor = program.tensors[id];
    views.push_back({&tensor, bases[tensor.storage] + tensor.offset * item_bytes(tensor.dtype)});
  }
}

}  // namespace

// What of an instruction is the same in each run.
struct Executor::Prepared {
  const Instruction* instruction;
  Kernel kernel;
  Loops loops;
};

Executor::Executor(const Program& program) : program_(program), lives_(lives(program)) {
  for (const Instruction& instruction : program.instructions)
    prepared_.push_back({&instruction, kernel_of(instruction.op),
                         instruction.op == Op::ELEMENTWISE ? loops_of(program, instruction) : Loops{}});
}

Executor::~Executor() = default;

uint8_t* Executor::allocate(Memory& memory, uint64_t bytes) {
  auto* data = static_cast<uint8_t*>(std::aligned_alloc(ALIGNMENT, aligned(bytes ? bytes : 1)));
  if (!data) throw Error("there is no memory for " + std::to_string(bytes) + " bytes of temporaries");
  memory.owned.emplace_back(data, std::free);
  memory.allocated += aligned(bytes);
  return data;
}

uint64_t Executor::run(const RunArguments& arguments) const {
  std::unique_ptr<Memory> memory = take();
  std::vector<uint8_t*>& bases = memory->bases;
  bases.resize(program_.storages.size());
  for (uint32_t s = 0; s < bases.size(); s++) {
    const Storage& storage = program_.storages[s];
    if (storage.kind == StorageKind::INPUT)
      bases[s] = const_cast<uint8_t*>(static_cast<const uint8_t*>(arguments.inputs[storage.place].data));
    if (storage.kind == StorageKind::OUTPUT) bases[s] = static_cast<uint8_t*>(arguments.outputs[storage.place].data);
    if (storage.kind == StorageKind::CONSTANT) bases[s] = program_.constants->data() + storage.place;
    if (storage.kind == StorageKind::TEMPORARY && lives_[s].first >= 0) bases[s] = temporary(*memory, s);
  }
  Operands operands;
  for (size_t i = 0; i < prepared_.size(); i++) {
    const Prepared& prepared = prepared_[i];
    double begin = arguments.seconds ? now() : 0;
    if (prepared.kernel) {
      set_addresses(program_, prepared.instruction->inputs, bases, operands.inputs);
      set_addresses(program_, prepared.instruction->outputs, bases, operands.outputs);
      operands.loops = &prepared.loops;
      prepared.kernel(*prepared.instruction, operands, arguments.threads);
    }
    if (arguments.seconds) arguments.seconds[i] = now() - begin;
  }
  uint64_t allocated = memory->allocated;
  give(std::move(memory));
  return allocated;
}

void execute(const Program& program, const Instruction& instruction, const std::vector<uint8_t*>& bases, int threads) {
  Kernel kernel = kernel_of(instruction.op);
  if (!kernel) return;
  Operands operands;
  set_addresses(program, instruction.inputs, bases, operands.inputs);
  set_addresses(program, instruction.outputs, bases, operands.outputs);
  const Loops loops = instruction.op == Op::ELEMENTWISE ? loops_of(program, instruction) : Loops{};
  operands.loops = &loops;
  kernel(instruction, operands, threads);
}

std::unique_ptr<Executor> make_executor(const Program& program, uint32_t kind) {
  if (kind == CB_REFERENCE) return std::make_unique<Reference>(program);
  return std::make_unique<Optimising>(program);
}

}  // namespace cb
