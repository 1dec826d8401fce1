// Compileboard's runtime: programs of docs/program-format.md, loaded, optimised and run. A C ABI: no torch, no Python.
#ifndef COMPILEBOARD_RUNTIME_H
#define COMPILEBOARD_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#define CB_ABI_VERSION 2u
#define CB_MAX_RANK 8

#if defined(__GNUC__)
#define CB_API __attribute__((visibility("default")))
#else
#define CB_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum cb_dtype { CB_F32 = 0, CB_BF16 = 1, CB_I64 = 2, CB_BOOL = 3 };
enum cb_executor { CB_REFERENCE = 0, CB_OPTIMISING = 1 };

// Bits of cb_options.passes, in the order in which passes are made.
enum cb_pass {
  CB_FOLD_CONSTANTS = 1,
  CB_DROP_NO_OPS = 2,
  CB_DROP_DEAD_CODE = 4,
  CB_FUSE_PRODUCTS = 8,
  CB_FUSE_ELEMENTWISE = 16,
  CB_PLAN_MEMORY = 32,
  CB_ALL_PASSES = 63
};

typedef struct cb_program cb_program;

typedef struct {
  uint32_t abi_version;  // CB_ABI_VERSION of the caller's header; another is refused
  uint32_t executor;     // cb_executor; the reference makes no pass and undoes fusion
  uint32_t passes;       // bits of cb_pass; others are refused
  uint32_t reserved;     // 0
} cb_options;

// Memory of the caller. Its address is a multiple of the bytes of one element (float32 4, bfloat16 2, int64 8, bool 1),
// else the run is refused; a multiple of 64 is fastest. An input is only read, so that it may be constant; an output is
// written and never read, and must share no memory with an input or with another output.
typedef struct {
  void* data;
  uint64_t bytes;
} cb_buffer;

typedef struct {
  uint32_t storage_is_input;  // 1: it is a view of an input's memory, which no output buffer is needed for
  uint32_t buffer;            // which input or output it lies in
  uint32_t dtype;
  uint32_t rank;
  uint64_t offset;  // in elements
  int64_t sizes[CB_MAX_RANK];
  int64_t strides[CB_MAX_RANK];
} cb_tensor;

typedef struct {
  uint32_t inputs, outputs, results, instructions;
  uint64_t arena_bytes;      // temporaries as they are placed
  uint64_t temporary_bytes;  // temporaries, each with memory of its own
  uint64_t constant_bytes;
} cb_info;

typedef struct {
  double seconds;
  uint64_t allocated_bytes;  // of temporaries, in this run
  uint32_t instructions;
  uint32_t threads;
} cb_stats;

CB_API uint32_t cb_abi_version(void);

// Each returns 0, or writes a reason into `error` and returns another number.
CB_API int cb_program_load(const void* file, size_t bytes, const cb_options* options, cb_program** out, char* error,
                           size_t error_bytes);
// `threads` help with one run, this one among them; 0 counts as 1, and more than the processor has are not used. They
// sleep between runs. `stats` may be NULL. `seconds` may be NULL, or has room for one number an instruction. Any number
// of threads may run one program at once.
CB_API int cb_program_run(const cb_program* program, const cb_buffer* inputs, size_t n_inputs, const cb_buffer* outputs,
                          size_t n_outputs, uint32_t threads, cb_stats* stats, double* seconds, char* error,
                          size_t error_bytes);
CB_API void cb_program_free(cb_program* program);

CB_API void cb_program_info(const cb_program* program, cb_info* info);
CB_API uint64_t cb_program_input_bytes(const cb_program* program, uint32_t index);
CB_API uint64_t cb_program_output_bytes(const cb_program* program, uint32_t index);
CB_API int cb_program_result(const cb_program* program, uint32_t index, cb_tensor* result);

// Each writes at most `room` bytes and returns how many there are: call with 0 for the length.
CB_API size_t cb_program_save(const cb_program* program, void* file, size_t room);
CB_API size_t cb_program_listing(const cb_program* program, char* text, size_t room);
CB_API size_t cb_program_dot(const cb_program* program, char* text, size_t room);
// The program as C11: a function `name` (`program` if NULL), and the header that declares it, with the sizes.
CB_API size_t cb_program_c(const cb_program* program, const char* name, char* text, size_t room);
CB_API size_t cb_program_c_header(const cb_program* program, const char* name, char* text, size_t room);
// The listing before the first pass (0) and after each pass that was made (1 …), its name in the first line.
CB_API size_t cb_program_stage(const cb_program* program, uint32_t stage, char* text, size_t room);

CB_API uint32_t cb_crc32c(const void* data, size_t bytes);
CB_API size_t cb_kernel_count(void);
CB_API const char* cb_kernel_name(size_t index);

#ifdef __cplusplus
}
#endif
#endif
