// cb_threads FILE [THREADS] [RUNS]: one program, run by several threads at once, each with memory of its own and up to
// two threads that help.
// For the thread sanitizer: it ends with 1 where a thread gets other bytes than the first run, made alone.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "compileboard_runtime.h"

namespace {

using Bytes = std::vector<unsigned char>;
using Size = uint64_t (*)(const cb_program*, uint32_t);

struct Memory {
  std::vector<Bytes> bytes;
  std::vector<cb_buffer> buffers;

  Memory(const cb_program* program, uint32_t n, Size size) {
    for (uint32_t i = 0; i < n; i++) bytes.emplace_back(size(program, i) + 1, 0);
    for (uint32_t i = 0; i < n; i++) buffers.push_back({bytes[i].data(), size(program, i)});
  }
};

// The outputs of one run; inputs are small numbers, of whatever dtype they are read as.
std::vector<Bytes> run(const cb_program* program, uint32_t threads) {
  cb_info info;
  cb_program_info(program, &info);
  Memory inputs(program, info.inputs, cb_program_input_bytes), outputs(program, info.outputs, cb_program_output_bytes);
  for (size_t n = 0; n < inputs.bytes.size(); n++)
    for (size_t i = 3; i < inputs.bytes[n].size(); i += 4) inputs.bytes[n][i] = (unsigned char)(0x3c + (i + n) % 3);
  char error[256];
  if (cb_program_run(program, inputs.buffers.data(), inputs.buffers.size(), outputs.buffers.data(),
                     outputs.buffers.size(), threads, nullptr, nullptr, error, sizeof error)) {
    std::fprintf(stderr, "%s\n", error);
    std::exit(2);
  }
  return outputs.bytes;
}

}  // namespace

int main(int argc, char** argv) {
  std::ifstream stream(argc > 1 ? argv[1] : "", std::ios::binary);
  const Bytes file(std::istreambuf_iterator<char>(stream), {});
  const int threads = argc > 2 ? std::atoi(argv[2]) : 4, runs = argc > 3 ? std::atoi(argv[3]) : 100;
  cb_options options = {CB_ABI_VERSION, CB_OPTIMISING, CB_ALL_PASSES, 0};
  cb_program* program = nullptr;
  char error[256] = "";
  if (cb_program_load(file.data(), file.size(), &options, &program, error, sizeof error)) {
    std::fprintf(stderr, "%s\n", error);
    return 2;
  }
  const std::vector<Bytes> alone = run(program, 1);
  std::atomic<int> other{0};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; t++)
    all.emplace_back([&] {
      for (int n = 0; n < runs; n++) other += run(program, 1 + uint32_t(n % 3)) != alone;
    });
  for (std::thread& thread : all) thread.join();
  cb_program_free(program);
  std::printf("%d threads, %d runs each: %d with other bytes\n", threads, runs, other.load());
  return other ? 1 : 0;
}
