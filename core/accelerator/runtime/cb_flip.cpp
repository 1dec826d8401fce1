// cb_flip FILE [ROUNDS]: damages a program in every place, and loads and runs what is left of it. For the sanitizers:
// it ends with 0 unless something crashes. The second round mends the checksums, so that the damage reaches the checks
// behind them; further rounds damage several places at once.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "compileboard_runtime.h"

namespace {

using Bytes = std::vector<unsigned char>;

constexpr size_t HEADER = 64, ENTRY = 32;
constexpr uint64_t SMALL = 1 << 22;

struct Counts {
  long tried = 0, loaded = 0, ran = 0;
} counts;

template <typename T>
T number(const Bytes& file, size_t at) {
  T value;
  std::memcpy(&value, &file[at], sizeof value);
  return value;
}

void put(Bytes& file, size_t at, uint32_t value) { std::memcpy(&file[at], &value, 4); }

// Checksums that agree with the damage, as far as the sections still lie in the file.
void mend(Bytes& file) {
  uint32_t sections = number<uint32_t>(file, 12);
  if (sections > 64 || HEADER + sections * ENTRY > file.size()) return;
  for (uint32_t i = 0; i < sections; i++) {
    size_t entry = HEADER + i * ENTRY;
    uint64_t offset = number<uint64_t>(file, entry + 8), bytes = number<uint64_t>(file, entry + 16);
    if (offset <= file.size() && bytes <= file.size() - offset)
      put(file, entry + 4, cb_crc32c(&file[0] + offset, bytes));
  }
  put(file, 24, cb_crc32c(&file[HEADER], sections * ENTRY));
  put(file, 60, cb_crc32c(&file[0], 60));
}

void run(const cb_program* program) {
  cb_info info;
  cb_program_info(program, &info);
  uint64_t sum = info.temporary_bytes + info.arena_bytes;
  std::vector<cb_buffer> inputs, outputs;
  for (uint32_t i = 0; i < info.inputs; i++) sum += cb_program_input_bytes(program, i);
  for (uint32_t i = 0; i < info.outputs; i++) sum += cb_program_output_bytes(program, i);
  if (sum > SMALL) return;
  std::vector<Bytes> memory;
  auto add = [&](std::vector<cb_buffer>& to, uint64_t bytes) {
    memory.emplace_back(bytes + 1);
    to.push_back({memory.back().data(), bytes});
  };
  memory.reserve(info.inputs + info.outputs);
  for (uint32_t i = 0; i < info.inputs; i++) add(inputs, cb_program_input_bytes(program, i));
  for (uint32_t i = 0; i < info.outputs; i++) add(outputs, cb_program_output_bytes(program, i));
  char error[256];
  cb_program_run(program, inputs.data(), inputs.size(), outputs.data(), outputs.size(), 1, nullptr, nullptr, error,
                 sizeof error);
  counts.ran++;
}

void attempt(const Bytes& file) {
  for (uint32_t executor : {CB_REFERENCE, CB_OPTIMISING}) {
    cb_options options = {CB_ABI_VERSION, executor, CB_ALL_PASSES, 0};
    cb_program* program = nullptr;
    char error[256] = "";
    counts.tried++;
    if (cb_program_load(file.data(), file.size(), &options, &program, error, sizeof error)) {
      if (!error[0]) std::abort();  // a refusal always has a reason
      continue;
    }
    counts.loaded++;
    run(program);
    cb_program_free(program);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::ifstream stream(argc > 1 ? argv[1] : "", std::ios::binary);
  const Bytes good(std::istreambuf_iterator<char>(stream), {});
  const long rounds = argc > 2 ? std::atol(argv[2]) : 0;
  if (good.size() < HEADER) return 2;
  for (size_t at = 0; at < good.size(); at++) {
    Bytes bad = good;
    bad[at] ^= 0xFF;
    attempt(bad);
  }
  const long harmless = counts.loaded;
  for (size_t at = 0; at < good.size(); at++)
    for (uint8_t change : {uint8_t(0x01), uint8_t(0x80), uint8_t(0xFF)}) {
      Bytes bad = good;
      bad[at] ^= change;
      mend(bad);
      attempt(bad);
    }
  for (size_t length = 0; length < good.size(); length += 7) attempt(Bytes(good.begin(), good.begin() + long(length)));
  std::mt19937 random(7);
  for (long round = 0; round < rounds; round++) {
    Bytes bad = good;
    for (int n = 0; n < 3; n++) bad[random() % bad.size()] = (unsigned char)random();
    mend(bad);
    attempt(bad);
  }
  std::printf("%ld loads: %ld of single bytes went through, %ld with mended checksums, %ld ran\n", counts.tried,
              harmless, counts.loaded - harmless, counts.ran);
  return 0;
}
