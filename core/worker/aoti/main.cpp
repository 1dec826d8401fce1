// Runs a package that torch._inductor.aoti_compile_and_package made, without Python.
//
//   aoti_run PACKAGE.pt2 INPUTS.bin [--out FILE] [--expect FILE] [--bench N] [--device cuda] [--threads N] [--serve]
//
// A file of tensors is "CBTENS01", then int64 numbers, little-endian: how many tensors there are, and for each its
// c10::ScalarType, rank, sizes, strides and bytes, then so many bytes of its elements, from first to last as they lie.

#include <ATen/Parallel.h>
#include <ATen/Tensor.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Tensors = std::vector<at::Tensor>;

constexpr char kMagic[] = "CBTENS01";
constexpr int64_t kMostTensors = 4096, kMostRank = 64;

struct Arguments {
  std::string package, inputs, out, expected, device = "cpu";
  int64_t bench = 0, threads = 0;
  bool serve = false;
};

int64_t read_number(std::istream& file) {
  int64_t value = 0;
  if (!file.read(reinterpret_cast<char*>(&value), sizeof value)) throw std::runtime_error("the file of tensors ends early");
  return value;
}

void write_number(std::ostream& file, int64_t value) {
  file.write(reinterpret_cast<const char*>(&value), sizeof value);
}

std::vector<int64_t> read_numbers(std::istream& file, int64_t count) {
  std::vector<int64_t> values(count);
  for (auto& value : values) value = read_number(file);
  return values;
}

// Bytes from the first element to the last, which are more than there are elements where strides leave gaps.
int64_t span_bytes(const at::Tensor& tensor) {
  if (tensor.numel() == 0) return 0;
  int64_t last = 0;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) last += (tensor.size(dim) - 1) * tensor.stride(dim);
  return (last + 1) * static_cast<int64_t>(tensor.element_size());
}

at::Tensor read_tensor(std::istream& file) {
  const auto dtype = static_cast<c10::ScalarType>(read_number(file));
  const int64_t rank = read_number(file);
  if (rank < 0 || rank > kMostRank) throw std::runtime_error("a tensor has too many dimensions");
  const auto sizes = read_numbers(file, rank), strides = read_numbers(file, rank);
  const int64_t bytes = read_number(file);
  at::Tensor tensor = at::empty_strided(sizes, strides, at::TensorOptions().dtype(dtype));
  if (bytes != span_bytes(tensor)) throw std::runtime_error("a tensor has another number of bytes than its sizes say");
  if (bytes > 0 && !file.read(static_cast<char*>(tensor.data_ptr()), bytes)) {
    throw std::runtime_error("the file of tensors ends early");
  }
  return tensor;
}

Tensors read_tensors(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char magic[sizeof kMagic - 1] = {};
  if (!file.read(magic, sizeof magic) || std::memcmp(magic, kMagic, sizeof magic) != 0) {
    throw std::runtime_error(path + " is no file of tensors");
  }
  const int64_t count = read_number(file);
  if (count < 0 || count > kMostTensors) throw std::runtime_error(path + " has too many tensors");
  Tensors tensors;
  for (int64_t index = 0; index < count; ++index) tensors.push_back(read_tensor(file));
  return tensors;
}

void write_tensor(std::ostream& file, const at::Tensor& given) {
  const at::Tensor tensor = given.detach().cpu();
  write_number(file, static_cast<int64_t>(tensor.scalar_type()));
  write_number(file, tensor.dim());
  for (const int64_t size : tensor.sizes()) write_number(file, size);
  for (const int64_t stride : tensor.strides()) write_number(file, stride);
  const int64_t bytes = span_bytes(tensor);
  write_number(file, bytes);
  if (bytes > 0) file.write(static_cast<const char*>(tensor.data_ptr()), bytes);
}

void write_tensors(const std::string& path, const Tensors& tensors) {
  std::ofstream file(path, std::ios::binary);
  file.write(kMagic, sizeof kMagic - 1);
  write_number(file, static_cast<int64_t>(tensors.size()));
  for (const auto& tensor : tensors) write_tensor(file, tensor);
  if (!file.flush()) throw std::runtime_error(path + " cannot be written");
}

class Model {
 public:
  explicit Model(const Arguments& given)
      : device_(given.device), loader_(given.package), inputs_(read_tensors(given.inputs)) {
    for (auto& input : inputs_) input = input.to(device_);
  }

  Tensors call() { return loader_.run(inputs_); }

  // Nanoseconds of so many calls, one after the other, until the device has done them all.
  int64_t timed(int64_t calls) {
    wait();
    const auto start = Clock::now();
    for (int64_t index = 0; index < calls; ++index) call();
    wait();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
  }

 private:
  void wait() const {
    if (device_.is_cpu()) return;
    const c10::impl::VirtualGuardImpl guard(device_.type());
    guard.synchronizeDevice(guard.getDevice().index());
  }

  c10::Device device_;
  torch::inductor::AOTIModelPackageLoader loader_;
  Tensors inputs_;
};

void tell(const Tensors& outputs) {
  for (size_t index = 0; index < outputs.size(); ++index) {
    std::cout << "output " << index << ": " << outputs[index].scalar_type() << " " << outputs[index].sizes() << "\n";
  }
}

bool matches(const Tensors& outputs, const Tensors& expected) {
  if (outputs.size() != expected.size()) return false;
  bool same = true;
  for (size_t index = 0; index < outputs.size(); ++index) {
    const at::Tensor output = outputs[index].cpu();
    const bool close = output.sizes() == expected[index].sizes() && output.dtype() == expected[index].dtype() &&
        output.allclose(expected[index], 1e-3, 1e-4, true);
    std::cout << "output " << index << (close ? " is" : " is not") << " as expected\n";
    same = same && close;
  }
  return same;
}

void bench(Model& model, int64_t samples) {
  std::vector<int64_t> nanoseconds;
  for (int64_t index = 0; index < samples; ++index) nanoseconds.push_back(model.timed(1));
  std::sort(nanoseconds.begin(), nanoseconds.end());
  const auto at = [&](int64_t quarter) { return nanoseconds[(samples - 1) * quarter / 4] / 1e3; };
  std::cout << samples << " calls: " << at(2) << " us in the middle, quartiles " << at(1) << " and " << at(3) << " us\n";
}

// Answers each number of calls on a line of its own with the nanoseconds that they took.
void serve(Model& model, int64_t load_ns, int64_t call_ns) {
  std::cout << "ready " << load_ns << " " << call_ns << " " << at::get_num_threads() << std::endl;
  for (int64_t calls = 0; std::cin >> calls;) std::cout << model.timed(calls) << std::endl;
}

int64_t number_of(const std::string& text) {
  const int64_t value = std::stoll(text);
  if (value < 1) throw std::runtime_error("a number from 1 up, not " + text);
  return value;
}

Arguments arguments_of(int count, char** given) {
  Arguments found;
  std::vector<std::string> files;
  for (int index = 1; index < count; ++index) {
    const std::string name = given[index];
    const auto value = [&]() -> std::string {
      if (++index >= count) throw std::runtime_error(name + " takes a value");
      return given[index];
    };
    if (name == "--out") found.out = value();
    else if (name == "--expect") found.expected = value();
    else if (name == "--bench") found.bench = number_of(value());
    else if (name == "--threads") found.threads = number_of(value());
    else if (name == "--device") found.device = value();
    else if (name == "--serve") found.serve = true;
    else files.push_back(name);
  }
  if (files.size() != 2) throw std::runtime_error("give a package and a file of inputs");
  found.package = files[0], found.inputs = files[1];
  return found;
}

int run(const Arguments& given) {
  if (given.threads > 0) at::set_num_threads(static_cast<int>(given.threads));
  const c10::InferenceMode inference;
  const auto start = Clock::now();
  Model model(given);
  const auto loaded = Clock::now();
  const Tensors outputs = model.call();
  const auto called = Clock::now();
  if (!given.out.empty()) write_tensors(given.out, outputs);
  if (given.serve) {
    const auto ns = [](auto span) { return std::chrono::duration_cast<std::chrono::nanoseconds>(span).count(); };
    serve(model, ns(loaded - start), ns(called - loaded));
    return 0;
  }
  tell(outputs);
  if (given.bench > 0) bench(model, given.bench);
  return given.expected.empty() || matches(outputs, read_tensors(given.expected)) ? 0 : 1;
}

}  // namespace

int main(int count, char** given) {
  try {
    return run(arguments_of(count, given));
  } catch (const c10::Error& error) {
    std::cerr << error.what_without_backtrace() << "\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
}
