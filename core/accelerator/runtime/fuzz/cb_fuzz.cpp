// cb_fuzz: programs that are changed in ways that know the file, loaded by both executors, run, written and read again.
//   with clang: libFuzzer's own options, e.g. cb_fuzz CORPUS -max_total_time=600
//   with g++:   cb_fuzz SECONDS FILE…
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "compileboard_runtime.h"
#include "mutate.h"
#include "program.h"

namespace {

constexpr double MOST_WORK = 1 << 22;
constexpr uint64_t MOST_MEMORY = 1 << 22;

// About how many numbers a program reads; strides that repeat elements make that large in a small file.
double work_of(const cb::Program& program) {
  double work = 0;
  for (const cb::Instruction& instruction : program.instructions) {
    double largest = 0, depth = 1;
    for (const auto* ids : {&instruction.inputs, &instruction.outputs})
      for (uint32_t id : *ids) largest = std::max(largest, double(program.tensors[id].numel()));
    if (instruction.op == cb::Op::PRODUCT || instruction.op == cb::Op::ATTENTION) {
      for (uint32_t id : instruction.inputs) depth = std::max(depth, double(program.tensors[id].numel()));
    }
    work += largest * depth * double(instruction.steps.size() + 1);
  }
  return work;
}

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "cb_fuzz: %s\n", what);
  std::abort();
}

// Memory of exactly the size that is asked for, so that the sanitizer sees what reaches beyond it.
struct Exact {
  std::vector<std::unique_ptr<uint8_t[]>> owned;
  std::vector<cb_buffer> buffers;

  void add(uint64_t bytes, uint8_t fill) {
    owned.emplace_back(new uint8_t[bytes]);
    std::memset(owned.back().get(), fill, bytes);
    buffers.push_back({owned.back().get(), bytes});
  }
};

void run(const cb_program* program) {
  cb_info info;
  cb_program_info(program, &info);
  uint64_t sum = info.temporary_bytes + info.arena_bytes;
  for (uint32_t i = 0; i < info.inputs; i++) sum += cb_program_input_bytes(program, i);
  for (uint32_t i = 0; i < info.outputs; i++) sum += cb_program_output_bytes(program, i);
  if (sum > MOST_MEMORY) return;
  Exact inputs, outputs;
  for (uint32_t i = 0; i < info.inputs; i++) inputs.add(cb_program_input_bytes(program, i), i % 2 ? 0x3c : 0);
  for (uint32_t i = 0; i < info.outputs; i++) outputs.add(cb_program_output_bytes(program, i), 0xff);
  char error[256] = "";
  cb_stats stats;
  std::vector<double> seconds(info.instructions);
  if (cb_program_run(program, inputs.buffers.data(), inputs.buffers.size(), outputs.buffers.data(),
                     outputs.buffers.size(), 1, &stats, seconds.data(), error, sizeof error) &&
      !error[0])
    fail("a run ended without a reason");
}

template <typename F>
size_t length(const cb_program* program, F function) {
  return function(program, nullptr, 0);
}

void attempt(const uint8_t* data, size_t size, uint32_t executor, uint32_t passes, bool runs) {
  cb_options options = {CB_ABI_VERSION, executor, passes, 0};
  cb_program* program = nullptr;
  char error[256] = "";
  if (cb_program_load(data, size, &options, &program, error, sizeof error)) {
    if (!error[0]) fail("a refusal without a reason");
    return;
  }
  std::unique_ptr<cb_program, void (*)(cb_program*)> owned(program, cb_program_free);
  for (auto function : {cb_program_listing, cb_program_dot}) length(program, function);
  for (auto function : {cb_program_c, cb_program_c_header})
    length(program, [&](const cb_program* of, char* text, size_t room) { return function(of, "name", text, room); });
  cb_info info;
  cb_program_info(program, &info);
  for (uint32_t i = 0; i < info.results; i++) {
    cb_tensor result;
    cb_program_result(program, i, &result);
  }
  std::vector<uint8_t> saved(cb_program_save(program, nullptr, 0));
  cb_program_save(program, saved.data(), saved.size());
  if (cb::write_program(cb::read_program(saved.data(), saved.size())) != saved)
    fail("a saved program is read as another");
  if (runs) run(program);
}

}  // namespace

extern "C" {

size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  bool runs = false;
  try {
    runs = work_of(cb::read_program(data, size)) <= MOST_WORK;
  } catch (const cb::Error&) {
  }
  uint32_t some = size ? data[size / 2] & CB_ALL_PASSES : 0;
  attempt(data, size, CB_REFERENCE, 0, runs);
  attempt(data, size, CB_OPTIMISING, CB_ALL_PASSES, runs);
  attempt(data, size, CB_OPTIMISING, some, runs);
  return 0;
}

static size_t copied(const cb_fuzz::Bytes& made, uint8_t* to, size_t most) {
  if (made.size() > most) return 0;
  std::memcpy(to, made.data(), made.size());
  return made.size();
}

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  cb_fuzz::Random random(seed);
  size_t made = copied(cb_fuzz::mutated({data, data + size}, random, LLVMFuzzerMutate), data, most);
  return made ? made : size;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t* one, size_t one_size, const uint8_t* other, size_t other_size,
                                 uint8_t* to, size_t most, unsigned seed) {
  cb_fuzz::Random random(seed);
  return copied(cb_fuzz::crossed({one, one + one_size}, {other, other + other_size}, random), to, most);
}
}

#ifdef CB_FUZZ_LOOP
#include <chrono>
#include <fstream>
#include <iterator>

static cb_fuzz::Random& bytes_random() {
  static cb_fuzz::Random random(0);
  return random;
}

// Bytes at random places: what libFuzzer would choose by what was reached.
size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t) {
  cb_fuzz::Random& random = bytes_random();
  for (int n = 0; n < 3 && size; n++) data[random() % size] = uint8_t(random());
  return size;
}

// cb_fuzz SECONDS SEED FILE…
int main(int argc, char** argv) {
  std::vector<cb_fuzz::Bytes> corpus;
  for (int i = 3; i < argc; i++) {
    std::ifstream stream(argv[i], std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  if (corpus.empty()) return 2;
  const auto seed = unsigned(std::strtoul(argv[2], nullptr, 10));
  cb_fuzz::Random random(seed);
  bytes_random() = cb_fuzz::Random(seed);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(std::atof(argv[1]));
  long executions = 0;
  for (; std::chrono::steady_clock::now() < end; executions++) {
    cb_fuzz::Bytes file = corpus[random() % corpus.size()];
    for (size_t n = 1 + random() % 4; n-- > 0;)
      file = random() % 8 ? cb_fuzz::mutated(file, random, LLVMFuzzerMutate)
                          : cb_fuzz::crossed(file, corpus[random() % corpus.size()], random);
    std::ofstream("cb_fuzz.last", std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()), long(file.size()));
    LLVMFuzzerTestOneInput(file.data(), file.size());
  }
  std::printf("%ld executions, no crash\n", executions);
  return 0;
}
#endif
