// From where to where each storage is needed, and what all temporaries take.
#include <algorithm>

#include "program.h"

namespace cb {

std::vector<Life> lives(const Program& program) {
  std::vector<Life> found(program.storages.size());
  for (size_t i = 0; i < program.instructions.size(); i++) {
    const Instruction& instruction = program.instructions[i];
    for (uint32_t id : instruction.outputs) {
      Life& life = found[program.tensors[id].storage];
      if (life.first < 0) life.first = int64_t(i);
      life.last = std::max(life.last, int64_t(i));
    }
    for (uint32_t id : instruction.inputs) found[program.tensors[id].storage].last = int64_t(i);
  }
  return found;
}

// Throws where two temporaries share memory while both are needed.
void check_plan(const Program& program) {
  std::vector<Life> life = lives(program);
  std::vector<size_t> placed;
  for (size_t i = 0; i < life.size(); i++) {
    const Storage& storage = program.storages[i];
    if (storage.kind != StorageKind::TEMPORARY || storage.place == UNPLACED || life[i].first < 0) continue;
    for (size_t other : placed) {
      const Storage& beside = program.storages[other];
      bool apart = life[i].first > life[other].last || life[other].first > life[i].last;
      bool beyond = storage.place >= beside.place + beside.bytes || beside.place >= storage.place + storage.bytes;
      if (!apart && !beyond) throw Error("two temporaries lie in the same place of the arena at the same time");
    }
    placed.push_back(i);
  }
}

uint64_t Program::arena_bytes() const {
  uint64_t end = 0;
  for (const Storage& storage : storages)
    if (storage.kind == StorageKind::TEMPORARY && storage.place != UNPLACED)
      end = std::max(end, storage.place + aligned(storage.bytes));
  return end;
}

uint64_t Program::temporary_bytes() const {
  uint64_t sum = 0;
  std::vector<Life> life = lives(*this);
  for (size_t i = 0; i < storages.size(); i++)
    if (storages[i].kind == StorageKind::TEMPORARY && life[i].first >= 0) sum += aligned(storages[i].bytes);
  return sum;
}

bool Program::planned() const {
  std::vector<Life> life = lives(*this);
  for (size_t i = 0; i < storages.size(); i++)
    if (storages[i].kind == StorageKind::TEMPORARY && life[i].first >= 0 && storages[i].place == UNPLACED) return false;
  return true;
}

std::vector<uint32_t> Program::results() const { return instructions.back().inputs; }

}  // namespace cb
