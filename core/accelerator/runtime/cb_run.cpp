// cb_run FILE [INPUTS]: a program run without torch and without Python, through the C ABI alone.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "compileboard_runtime.h"

namespace {

const char USAGE[] =
    "cb_run FILE [INPUTS] [options]\n"
    "  FILE             a program (docs/program-format.md)\n"
    "  INPUTS           the bytes of all inputs, one after another\n"
    "  --out FILE       write the bytes of all outputs there\n"
    "  --expect FILE    compare the outputs with these; exits with 1 where they differ\n"
    "  --reference      op by op, each temporary in memory of its own\n"
    "  --passes=A,B     passes of the optimising executor: all (the default), none, or names of them\n"
    "  --print-graph    the program after each pass\n"
    "  --dot            the program as a graph for Graphviz\n"
    "  --emit-c NAME    write NAME.c with the function NAME, and NAME.h with its sizes\n"
    "  --save FILE      the program after its passes\n"
    "  --bench N        run it N times, and tell the quartiles\n"
    "  --threads N      threads of one run; all of the machine's unless said otherwise\n"
    "  --abi N          claim to be built for version N of the ABI\n";

using Bytes = std::vector<char>;

const std::map<std::string, uint32_t> PASSES = {
    {"fold-constants", CB_FOLD_CONSTANTS},
    {"drop-no-ops", CB_DROP_NO_OPS},
    {"drop-dead-code", CB_DROP_DEAD_CODE},
    {"fuse-products", CB_FUSE_PRODUCTS},
    {"fuse-elementwise", CB_FUSE_ELEMENTWISE},
    {"plan-memory", CB_PLAN_MEMORY},
    {"all", CB_ALL_PASSES},
    {"none", 0},
};

struct Arguments {
  std::string file, inputs, out, expect, save, emit_c;
  uint32_t executor = CB_OPTIMISING, passes = CB_ALL_PASSES, abi = CB_ABI_VERSION;
  bool print_graph = false, dot = false;
  int bench = 0;
  uint32_t threads = std::max(1u, std::thread::hardware_concurrency());
};

Bytes read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + " cannot be read");
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

void write_file(const std::string& path, const char* data, size_t bytes) {
  std::ofstream file(path, std::ios::binary);
  if (!file.write(data, std::streamsize(bytes))) throw std::runtime_error(path + " cannot be written");
}

uint32_t passes_of(const std::string& text) {
  uint32_t bits = 0;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    auto found = PASSES.find(text.substr(at, end - at));
    if (found == PASSES.end()) throw std::runtime_error("there is no pass `" + text.substr(at, end - at) + "`");
    bits |= found->second;
    at = end + 1;
  }
  return bits;
}

Arguments parse(int argc, char** argv) {
  Arguments found;
  auto value = [&](int& i) -> std::string {
    if (i + 1 >= argc) throw std::runtime_error(std::string(argv[i]) + " needs a value");
    return argv[++i];
  };
  for (int i = 1; i < argc; i++) {
    std::string word = argv[i];
    if (word == "--out") found.out = value(i);
    else if (word == "--expect") found.expect = value(i);
    else if (word == "--save") found.save = value(i);
    else if (word == "--reference") found.executor = CB_REFERENCE;
    else if (word.rfind("--passes=", 0) == 0) found.passes = passes_of(word.substr(9));
    else if (word == "--print-graph") found.print_graph = true;
    else if (word == "--dot") found.dot = true;
    else if (word == "--emit-c") found.emit_c = value(i);
    else if (word == "--bench") found.bench = std::max(1, std::atoi(value(i).c_str()));
    else if (word == "--threads") found.threads = uint32_t(std::max(1, std::atoi(value(i).c_str())));
    else if (word == "--abi") found.abi = uint32_t(std::atoi(value(i).c_str()));
    else if (word.rfind("--", 0) == 0) throw std::runtime_error("there is no option " + word);
    else if (found.file.empty()) found.file = word;
    else if (found.inputs.empty()) found.inputs = word;
    else throw std::runtime_error("there are too many files");
  }
  if (found.file.empty()) throw std::runtime_error(USAGE);
  return found;
}

template <typename F>
std::string text_of(F get) {
  std::string text(get(nullptr, size_t(0)), '\0');
  get(text.data(), text.size());
  return text;
}

class Loaded {
 public:
  Loaded(const Bytes& file, const Arguments& arguments) {
    char error[512] = "";
    cb_options options = {arguments.abi, arguments.executor, arguments.passes, 0};
    if (cb_program_load(file.data(), file.size(), &options, &program_, error, sizeof error))
      throw std::runtime_error(error);
    cb_program_info(program_, &info_);
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  ~Loaded() { cb_program_free(program_); }

  const cb_program* get() const { return program_; }
  const cb_info& info() const { return info_; }

 private:
  cb_program* program_ = nullptr;
  cb_info info_ = {};
};

void require_size(const Bytes& file, uint64_t bytes) {
  std::string sizes = std::to_string(file.size()) + " bytes, and the program takes " + std::to_string(bytes);
  if (file.size() != bytes) throw std::runtime_error("the inputs are " + sizes);
}

uint64_t input_bytes(const Loaded& loaded) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < loaded.info().inputs; i++) sum += cb_program_input_bytes(loaded.get(), i);
  return sum;
}

// Memory of all inputs or outputs, one after another in one file, each at a multiple of 64 here.
struct Buffers {
  Bytes memory;
  std::vector<cb_buffer> each;
  uint64_t bytes = 0;

  Buffers(const cb_program* program, uint32_t n, uint64_t (*size)(const cb_program*, uint32_t)) {
    std::vector<uint64_t> begins;
    uint64_t end = 0;
    for (uint32_t i = 0; i < n; i++) {
      begins.push_back(end);
      end += (size(program, i) + 63) / 64 * 64;
      bytes += size(program, i);
    }
    memory.resize(end + 64);
    auto address = reinterpret_cast<uintptr_t>(memory.data());
    char* base = memory.data() + (64 - address % 64) % 64;
    for (uint32_t i = 0; i < n; i++) each.push_back({base + begins[i], size(program, i)});
  }

  void fill(const Bytes& from) {
    require_size(from, bytes);
    size_t at = 0;
    for (cb_buffer& buffer : each) {
      std::memcpy(buffer.data, from.data() + at, buffer.bytes);
      at += buffer.bytes;
    }
  }

  Bytes joined() const {
    Bytes all;
    for (const cb_buffer& buffer : each) {
      const char* data = static_cast<const char*>(buffer.data);
      all.insert(all.end(), data, data + buffer.bytes);
    }
    return all;
  }
};

float value_at(const cb_tensor& tensor, const void* data, uint64_t at) {
  if (tensor.dtype == CB_F32) return static_cast<const float*>(data)[at];
  if (tensor.dtype == CB_BOOL) return static_cast<const uint8_t*>(data)[at];
  uint32_t bits = uint32_t(static_cast<const uint16_t*>(data)[at]) << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

template <typename F>
void each_value(const cb_tensor& tensor, const void* data, F visit) {
  int64_t n = 1;
  for (uint32_t d = 0; d < tensor.rank; d++) n *= tensor.sizes[d];
  for (int64_t i = 0; i < n; i++) {
    uint64_t at = tensor.offset;
    int64_t rest = i;
    for (uint32_t d = tensor.rank; d-- > 0; rest /= tensor.sizes[d])
      at += uint64_t(rest % tensor.sizes[d] * tensor.strides[d]);
    visit(at, value_at(tensor, data, at));
  }
}

// Each result in a line; against what was expected, where that was given. Returns whether all agree.
bool report(const Loaded& loaded, const Buffers& inputs, const Buffers& outputs, const Buffers* expected) {
  bool agree = true;
  for (uint32_t r = 0; r < loaded.info().results; r++) {
    cb_tensor tensor;
    if (cb_program_result(loaded.get(), r, &tensor)) continue;
    const Buffers& from = tensor.storage_is_input ? inputs : outputs;
    const void* data = from.each[tensor.buffer].data;
    if (tensor.dtype == CB_I64) continue;
    double sum = 0, apart = 0, scale = 0;
    each_value(tensor, data, [&](uint64_t, float value) { sum += value; });
    std::printf("result %u: [", r);
    for (uint32_t d = 0; d < tensor.rank; d++) std::printf("%s%lld", d ? ", " : "", (long long)tensor.sizes[d]);
    std::printf("], sum %.6g", sum);
    if (expected && !tensor.storage_is_input) {
      const void* other = expected->each[tensor.buffer].data;
      each_value(tensor, data, [&](uint64_t at, float value) {
        float wanted = value_at(tensor, other, at);
        bool same = value == wanted || (value != value && wanted != wanted);
        double distance = std::fabs(double(value) - double(wanted));
        apart = std::max(apart, same ? 0.0 : distance == distance ? distance : INFINITY);
        scale = std::max(scale, std::isfinite(wanted) ? std::fabs(double(wanted)) : 0.0);
      });
      bool is_same = apart <= (tensor.dtype == CB_BF16 ? 2e-2 : 1e-4) * std::max(scale, 1e-3);
      std::printf(", largest distance %.3g of %.3g: %s", apart, scale, is_same ? "as expected" : "NOT as expected");
      agree &= is_same;
    }
    std::printf("\n");
  }
  return agree;
}

void print_stages(const cb_program* program) {
  for (uint32_t stage = 0;; stage++) {
    std::string text = text_of([&](char* to, size_t room) { return cb_program_stage(program, stage, to, room); });
    if (text.empty()) return;
    std::printf("-- %s\n", text.c_str());
  }
}

void bench(const Loaded& loaded, const Arguments& arguments, const Buffers& inputs, const Buffers& outputs) {
  std::vector<double> seconds;
  cb_stats stats = {};
  for (int i = 0; i <= arguments.bench; i++) {
    cb_program_run(loaded.get(), inputs.each.data(), inputs.each.size(), outputs.each.data(), outputs.each.size(),
                   arguments.threads, &stats, nullptr, nullptr, 0);
    if (i) seconds.push_back(stats.seconds);
  }
  std::sort(seconds.begin(), seconds.end());
  size_t n = seconds.size();
  std::printf("%zu runs, %u threads: median %.3f us, quartiles %.3f and %.3f us; arena %llu bytes, temporaries %llu\n",
              n, arguments.threads, seconds[n / 2] * 1e6, seconds[n / 4] * 1e6, seconds[n * 3 / 4] * 1e6,
              (unsigned long long)loaded.info().arena_bytes, (unsigned long long)loaded.info().temporary_bytes);
}

// NAME.c and NAME.h.
void emit(const cb_program* program, const std::string& path) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  auto write = [&](const char* ending, auto function) {
    std::string text = text_of([&](char* to, size_t room) { return function(program, name.c_str(), to, room); });
    write_file(path + ending, text.data(), text.size());
  };
  write(".c", cb_program_c);
  write(".h", cb_program_c_header);
}

int run(const Arguments& arguments) {
  Loaded loaded(read_file(arguments.file), arguments);
  auto with = [&](auto function) {
    return text_of([&](char* to, size_t room) { return function(loaded.get(), to, room); });
  };
  if (arguments.print_graph) print_stages(loaded.get());
  if (arguments.dot) std::fputs(with(cb_program_dot).c_str(), stdout);
  if (!arguments.emit_c.empty()) emit(loaded.get(), arguments.emit_c);
  if (!arguments.save.empty()) {
    std::string saved = with([](const cb_program* p, char* to, size_t room) { return cb_program_save(p, to, room); });
    write_file(arguments.save, saved.data(), saved.size());
  }
  if (arguments.inputs.empty()) return 0;
  // What a program declares is not taken before there is a file of that size.
  Bytes given = read_file(arguments.inputs);
  require_size(given, input_bytes(loaded));
  Buffers inputs(loaded.get(), loaded.info().inputs, cb_program_input_bytes);
  Buffers outputs(loaded.get(), loaded.info().outputs, cb_program_output_bytes);
  inputs.fill(given);
  char error[512] = "";
  cb_stats stats = {};
  if (cb_program_run(loaded.get(), inputs.each.data(), inputs.each.size(), outputs.each.data(), outputs.each.size(),
                     arguments.threads, &stats, nullptr, error, sizeof error))
    throw std::runtime_error(error);
  Bytes bytes = outputs.joined();
  if (!arguments.out.empty()) write_file(arguments.out, bytes.data(), bytes.size());
  Buffers expected(loaded.get(), loaded.info().outputs, cb_program_output_bytes);
  if (!arguments.expect.empty()) expected.fill(read_file(arguments.expect));
  bool agree = report(loaded, inputs, outputs, arguments.expect.empty() ? nullptr : &expected);
  if (arguments.bench) bench(loaded, arguments, inputs, outputs);
  return agree ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
