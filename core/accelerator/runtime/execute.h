// Running one instruction, and a whole program by one of two executors.
#pragma once

#include <memory>

#include "program.h"

namespace cb {

// `bases` has the memory of each storage.
void execute(const Program& program, const Instruction& instruction, const std::vector<uint8_t*>& bases, int threads);

struct RunArguments {
  const cb_buffer* inputs;
  const cb_buffer* outputs;
  int threads;
  double* seconds;
};

// Both run the same instructions: the reference gives each temporary memory of its own for each run, the optimising one
// takes one arena for all, which it keeps for the next run.
class Executor {
 public:
  explicit Executor(const Program& program);
  virtual ~Executor();
  uint64_t run(const RunArguments& arguments) const;  // returns the bytes of temporaries that were allocated

 protected:
  // What one run needs: memory of temporaries, and where each storage is.
  struct Memory {
    std::vector<std::unique_ptr<uint8_t, void (*)(void*)>> owned;
    std::vector<uint8_t*> bases;
    uint64_t allocated = 0;
  };
  virtual std::unique_ptr<Memory> take() const = 0;
  virtual void give(std::unique_ptr<Memory> memory) const = 0;
  virtual uint8_t* temporary(Memory& memory, uint32_t storage) const = 0;
  static uint8_t* allocate(Memory& memory, uint64_t bytes);

  const Program& program_;
  const std::vector<Life> lives_;

 private:
  struct Prepared;
  std::vector<Prepared> prepared_;
};

std::unique_ptr<Executor> make_executor(const Program& program, uint32_t kind);

}  // namespace cb
