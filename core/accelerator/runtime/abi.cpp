// The C ABI: no exception crosses it.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "execute.h"
#include "program.h"

struct cb_program {
  cb::Program program;
  std::vector<cb::Stage> stages;
  std::unique_ptr<cb::Executor> executor;
  // By their index: the storage, and what its address must be a multiple of.
  struct Place {
    const cb::Storage* storage;
    uint64_t alignment;
  };
  std::vector<Place> inputs, outputs;
};

namespace {

const char* const KERNELS[] = {"elementwise", "product",   "softmax",   "layer_norm", "rms_norm",
                               "reduce",      "embedding", "attention", "concatenate"};

template <typename F>
int guarded(char* error, size_t room, F body) {
  try {
    body();
    return 0;
  } catch (const std::exception& caught) {
    if (error && room) std::snprintf(error, room, "%s", caught.what());
    return 1;
  }
}

size_t copied(const std::string& text, char* to, size_t room) {
  if (room) std::memcpy(to, text.data(), std::min(room, text.size()));
  return text.size();
}

void index_storages(cb_program& made) {
  std::vector<uint64_t> alignment(made.program.storages.size(), 1);
  for (const cb::Tensor& tensor : made.program.tensors)
    alignment[tensor.storage] = std::max(alignment[tensor.storage], cb::item_bytes(tensor.dtype));
  for (size_t s = 0; s < alignment.size(); s++) {
    const cb::Storage& storage = made.program.storages[s];
    if (storage.kind != cb::StorageKind::INPUT && storage.kind != cb::StorageKind::OUTPUT) continue;
    auto& list = storage.kind == cb::StorageKind::INPUT ? made.inputs : made.outputs;
    list.resize(std::max<size_t>(list.size(), storage.place + 1));
    list[storage.place] = {&storage, alignment[s]};
  }
}

void require_buffers(const std::vector<cb_program::Place>& wanted, const cb_buffer* given, size_t n, const char* what) {
  if (n != wanted.size()) throw cb::Error(std::string("the program has another number of ") + what);
  auto refuse = [&](size_t i, const std::string& reason) {
    throw cb::Error(std::string("one of the ") + what + " " + reason + ": number " + std::to_string(i));
  };
  for (size_t i = 0; i < n; i++) {
    if (!wanted[i].storage->bytes) continue;
    if (!given[i].data || given[i].bytes < wanted[i].storage->bytes) refuse(i, "is too small");
    if (reinterpret_cast<uintptr_t>(given[i].data) % wanted[i].alignment)
      refuse(i, "is not at a multiple of " + std::to_string(wanted[i].alignment) + " bytes");
  }
}

}  // namespace

extern "C" {

uint32_t cb_abi_version(void) { return CB_ABI_VERSION; }

int cb_program_load(const void* file, size_t bytes, const cb_options* options, cb_program** out, char* error,
                    size_t error_bytes) {
  return guarded(error, error_bytes, [&] {
    if (options->abi_version != CB_ABI_VERSION)
      throw cb::Error("the caller was built for version " + std::to_string(options->abi_version) +
                      " of the ABI, and this is version " + std::to_string(CB_ABI_VERSION));
    if (options->executor > CB_OPTIMISING) throw cb::Error("there is no such executor");
    if (options->passes & ~uint32_t(CB_ALL_PASSES)) throw cb::Error("there is no such pass");
    if (options->reserved) throw cb::Error("the reserved word of the options is not zero");
    auto made = std::make_unique<cb_program>();
    made->program = cb::read_program(static_cast<const uint8_t*>(file), bytes);
    if (options->executor == CB_REFERENCE) cb::unfuse(made->program);
    uint32_t passes = options->executor == CB_REFERENCE ? 0 : options->passes;
    cb::optimise(made->program, passes, made->stages);
    made->executor = cb::make_executor(made->program, options->executor);
    index_storages(*made);
    *out = made.release();
  });
}

int cb_program_run(const cb_program* program, const cb_buffer* inputs, size_t n_inputs, const cb_buffer* outputs,
                   size_t n_outputs, uint32_t threads, cb_stats* stats, double* seconds, char* error,
                   size_t error_bytes) {
  return guarded(error, error_bytes, [&] {
    require_buffers(program->inputs, inputs, n_inputs, "inputs");
    require_buffers(program->outputs, outputs, n_outputs, "outputs");
    auto begin = std::chrono::steady_clock::now();
    int used = int(std::clamp<uint32_t>(threads, 1, 1024));
    uint64_t allocated = program->executor->run({inputs, outputs, used, seconds});
    std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    if (stats) *stats = {passed.count(), allocated, uint32_t(program->program.instructions.size()), uint32_t(used)};
  });
}

void cb_program_free(cb_program* program) { delete program; }

void cb_program_info(const cb_program* program, cb_info* info) {
  const cb::Program& p = program->program;
  *info = {uint32_t(program->inputs.size()),
           uint32_t(program->outputs.size()),
           uint32_t(p.results().size()),
           uint32_t(p.instructions.size()),
           p.arena_bytes(),
           p.temporary_bytes(),
           uint64_t(p.constants->size())};
}

uint64_t cb_program_input_bytes(const cb_program* program, uint32_t index) {
  return index < program->inputs.size() ? program->inputs[index].storage->bytes : 0;
}

uint64_t cb_program_output_bytes(const cb_program* program, uint32_t index) {
  return index < program->outputs.size() ? program->outputs[index].storage->bytes : 0;
}

int cb_program_result(const cb_program* program, uint32_t index, cb_tensor* result) {
  std::vector<uint32_t> all = program->program.results();
  if (index >= all.size()) return 1;
  const cb::Tensor& tensor = program->program.tensors[all[index]];
  const cb::Storage& storage = program->program.storages[tensor.storage];
  if (storage.kind != cb::StorageKind::INPUT && storage.kind != cb::StorageKind::OUTPUT) return 1;
  *result = {storage.kind == cb::StorageKind::INPUT,
             uint32_t(storage.place),
             tensor.dtype,
             tensor.rank,
             tensor.offset,
             {},
             {}};
  std::copy(tensor.sizes, tensor.sizes + CB_MAX_RANK, result->sizes);
  std::copy(tensor.strides, tensor.strides + CB_MAX_RANK, result->strides);
  return 0;
}

size_t cb_program_save(const cb_program* program, void* file, size_t room) {
  std::vector<uint8_t> bytes = cb::write_program(program->program);
  if (room) std::memcpy(file, bytes.data(), std::min(room, bytes.size()));
  return bytes.size();
}

size_t cb_program_listing(const cb_program* program, char* text, size_t room) {
  return copied(cb::listing(program->program), text, room);
}

size_t cb_program_dot(const cb_program* program, char* text, size_t room) {
  return copied(cb::dot(program->program), text, room);
}

size_t cb_program_c(const cb_program* program, const char* name, char* text, size_t room) {
  return copied(cb::as_c(program->program, name ? name : ""), text, room);
}

size_t cb_program_c_header(const cb_program* program, const char* name, char* text, size_t room) {
  return copied(cb::as_c_header(program->program, name ? name : ""), text, room);
}

size_t cb_program_stage(const cb_program* program, uint32_t stage, char* text, size_t room) {
  if (stage >= program->stages.size()) return 0;
  return copied(program->stages[stage].name + "\n" + program->stages[stage].text, text, room);
}

uint32_t cb_crc32c(const void* data, size_t bytes) { return cb::crc32c(static_cast<const uint8_t*>(data), bytes); }
size_t cb_kernel_count(void) { return sizeof KERNELS / sizeof *KERNELS; }
const char* cb_kernel_name(size_t index) { return index < cb_kernel_count() ? KERNELS[index] : ""; }
}
