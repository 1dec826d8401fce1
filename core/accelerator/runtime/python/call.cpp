// One call of a program from Python: tensors are looked at and results allocated here, since each step costs Python as
// much as a small kernel. Nothing of a call is kept: addresses are asked for each time. It is not linked with the
// runtime, but is given the address of cb_program_run, so that there is one runtime in a process.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "compileboard_runtime.h"

namespace {

enum Argument { RUN, PROGRAM, INPUT_PLANS, OUTPUT_PLANS, ALLOCATE, THREADS, INPUTS, ARGUMENTS };
constexpr Py_ssize_t FEW = 16;
PyObject *shape_name, *stride_name, *dtype_name, *address_name, *program_error;

// A reference that is given back at the end of its block.
struct Owned {
  PyObject* object;
  explicit Owned(PyObject* made) : object(made) {}
  ~Owned() { Py_XDECREF(object); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
};

// Addresses of inputs and outputs, on the stack where they are few.
struct Buffers {
  cb_buffer few[FEW];
  cb_buffer* all;
  explicit Buffers(Py_ssize_t count) : all(count <= FEW ? few : PyMem_New(cb_buffer, count)) {}
  ~Buffers() {
    if (all != few) PyMem_Free(all);
  }
};

bool is_int(PyObject* number, long value) { return PyLong_AsLong(number) == value; }

// Whether elements lie as planned: strides of dimensions of size 1 do not count, nor any where there is no element.
bool lies_alike(PyObject* strides, PyObject* sizes, PyObject* wanted) {
  Py_ssize_t rank = PyTuple_GET_SIZE(sizes);
  bool same = PyTuple_GET_SIZE(strides) == rank;
  for (Py_ssize_t d = 0; d < rank; d++) {
    PyObject* size = PyTuple_GET_ITEM(sizes, d);
    if (is_int(size, 0)) return true;
    if (same && !is_int(size, 1))
      same = PyObject_RichCompareBool(PyTuple_GET_ITEM(strides, d), PyTuple_GET_ITEM(wanted, d), Py_EQ) == 1;
  }
  return same;
}

// Returns 1 for yes, 0 for no, -1 with an exception.
int is_as_planned(PyObject* tensor, PyObject* sizes, PyObject* strides, PyObject* dtype) {
  Owned own_dtype(PyObject_GetAttr(tensor, dtype_name)), shape(PyObject_GetAttr(tensor, shape_name));
  if (!own_dtype.object || !shape.object) return -1;
  if (own_dtype.object != dtype) return 0;
  int same = PyObject_RichCompareBool(shape.object, sizes, Py_EQ);
  if (same != 1) return same;
  Owned found(PyObject_CallMethodNoArgs(tensor, stride_name));
  if (!found.object) return -1;
  if (!PyTuple_Check(found.object)) return 0;
  same = PyObject_RichCompareBool(found.object, strides, Py_EQ);
  return same ? same : lies_alike(found.object, sizes, strides);
}

bool set_buffer(cb_buffer& buffer, PyObject* tensor, PyObject* bytes) {
  Owned address(PyObject_CallMethodNoArgs(tensor, address_name));
  if (!address.object) return false;
  buffer = {PyLong_AsVoidPtr(address.object), PyLong_AsUnsignedLongLong(bytes)};
  return !PyErr_Occurred();
}

// A plan of an input is (argument, sizes, strides, dtype, bytes).
int set_inputs(PyObject* inputs, PyObject* plans, cb_buffer* buffers) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(plans); i++) {
    PyObject* const* plan = &PyTuple_GET_ITEM(PyTuple_GET_ITEM(plans, i), 0);
    PyObject* tensor = PyTuple_GetItem(inputs, PyLong_AsSsize_t(plan[0]));
    if (!tensor) return -1;
    int fits = is_as_planned(tensor, plan[1], plan[2], plan[3]);
    if (fits != 1) return fits;
    if (!set_buffer(buffers[i], tensor, plan[4])) return -1;
  }
  return 1;
}

// A plan of an output is (sizes, strides, dtype, bytes), the first three what the allocation is called with.
PyObject* allocate(PyObject* function, PyObject* plans, cb_buffer* buffers) {
  PyObject* made = PyList_New(PyTuple_GET_SIZE(plans));
  for (Py_ssize_t i = 0; made && i < PyTuple_GET_SIZE(plans); i++) {
    PyObject* const* plan = &PyTuple_GET_ITEM(PyTuple_GET_ITEM(plans, i), 0);
    PyObject* tensor = PyObject_Vectorcall(function, plan, 3, nullptr);
    if (tensor) PyList_SET_ITEM(made, i, tensor);
    if (!tensor || !set_buffer(buffers[i], tensor, plan[3])) Py_CLEAR(made);
  }
  return made;
}

PyObject* call(PyObject*, PyObject* const* given, Py_ssize_t count) {
  if (count != ARGUMENTS) return PyErr_Format(PyExc_TypeError, "call takes %d arguments, not %zd", ARGUMENTS, count);
  auto run = reinterpret_cast<decltype(&cb_program_run)>(PyLong_AsVoidPtr(given[RUN]));
  auto* program = static_cast<const cb_program*>(PyLong_AsVoidPtr(given[PROGRAM]));
  auto threads = uint32_t(PyLong_AsUnsignedLong(given[THREADS]));
  if (PyErr_Occurred()) return nullptr;
  Py_ssize_t inputs = PyTuple_Size(given[INPUT_PLANS]), outputs = PyTuple_Size(given[OUTPUT_PLANS]);
  if (inputs < 0 || outputs < 0) return nullptr;
  Buffers buffers(inputs + outputs);
  if (!buffers.all) return PyErr_NoMemory();
  int fits = set_inputs(given[INPUTS], given[INPUT_PLANS], buffers.all);
  if (fits < 0) return nullptr;
  if (!fits) Py_RETURN_NONE;
  cb_buffer* results = buffers.all + inputs;
  Owned made(allocate(given[ALLOCATE], given[OUTPUT_PLANS], results));
  if (!made.object) return nullptr;
  cb_stats stats;
  char error[1024];
  int failed;
  Py_BEGIN_ALLOW_THREADS;
  failed = run(program, buffers.all, size_t(inputs), results, size_t(outputs), threads, &stats, nullptr, error,
               sizeof error);
  Py_END_ALLOW_THREADS;
  if (failed) return PyErr_Format(program_error, "%s", error);
  return Py_BuildValue("OdK", made.object, stats.seconds, static_cast<unsigned long long>(stats.allocated_bytes));
}

PyMethodDef methods[] = {{"call", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call)), METH_FASTCALL,
                          "call(run, program, input_plans, output_plans, allocate, threads, inputs): the outputs, "
                          "seconds in the runtime and bytes "
                          "of temporaries; None if an input has other sizes, strides or dtype than planned."},
                         {nullptr, nullptr, 0, nullptr}};

PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "compileboard_call", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_compileboard_call() {
  shape_name = PyUnicode_InternFromString("shape");
  stride_name = PyUnicode_InternFromString("stride");
  dtype_name = PyUnicode_InternFromString("dtype");
  address_name = PyUnicode_InternFromString("data_ptr");
  Owned errors(PyImport_ImportModule("core.base.errors"));
  program_error = errors.object ? PyObject_GetAttrString(errors.object, "ProgramError") : nullptr;
  bool whole = shape_name && stride_name && dtype_name && address_name && program_error;
  return whole ? PyModule_Create(&module) : nullptr;
}
