// What every program must hold before anything of it is run. Each refusal says what is wrong, and where.
#include <algorithm>
#include <set>

#include "program.h"

namespace cb {

namespace {

void require(bool good, const std::string& reason) {
  if (!good) throw Error(reason);
}

bool is_value(const Tensor& tensor) { return tensor.dtype != CB_I64; }

bool same_sizes(const Tensor& a, const Tensor& b) {
  return a.rank == b.rank && std::equal(a.sizes, a.sizes + a.rank, b.sizes);
}

// Whether no two elements share a place.
bool is_injective(const Tensor& tensor) {
  // Of a tensor without elements sizes and strides may be so large that their product overflows.
  if (std::find(tensor.sizes, tensor.sizes + tensor.rank, 0) != tensor.sizes + tensor.rank) return true;
  std::vector<std::pair<int64_t, int64_t>> dims;
  for (uint32_t d = 0; d < tensor.rank; d++)
    if (tensor.sizes[d] > 1) dims.emplace_back(tensor.strides[d], tensor.sizes[d]);
  std::sort(dims.begin(), dims.end());
  int64_t extent = 1;
  for (auto [stride, size] : dims) {
    if (stride < extent) return false;
    extent = stride * size;
  }
  return true;
}

class Checker {
 public:
  explicit Checker(const Program& program) : program_(program), written_(program.storages.size(), false) {}

  void all() {
    storages();
    for (const Tensor& tensor : program_.tensors) this->tensor(tensor);
    require(!program_.instructions.empty(), "the program has no instructions");
    for (size_t i = 0; i < program_.instructions.size(); i++) {
      const Instruction& instruction = program_.instructions[i];
      where_ = "instruction " + std::to_string(i) + " (" + op_name(instruction.op) + " " + printable(instruction.name) +
               "): ";
      one(instruction, i + 1 == program_.instructions.size());
    }
    for (size_t i = 0; i < written_.size(); i++)
      require(program_.storages[i].kind != StorageKind::OUTPUT || written_[i], "an output is never written");
    check_plan(program_);
  }

 private:
  void need(bool good, const char* reason) { require(good, where_ + reason); }

  void storages() {
    std::set<uint64_t> inputs, outputs;
    unsigned __int128 temporaries = 0, constants = 0;
    for (const Storage& storage : program_.storages) {
      require(storage.kind >= StorageKind::INPUT && storage.kind <= StorageKind::CONSTANT,
              "a storage is of no known kind");
      require(storage.bytes <= MAX_BYTES, "a storage is larger than a terabyte");
      if (storage.kind == StorageKind::INPUT)
        require(inputs.insert(storage.place).second, "two storages are the same input");
      if (storage.kind == StorageKind::OUTPUT)
        require(outputs.insert(storage.place).second, "two storages are the same output");
      if (storage.kind == StorageKind::CONSTANT) constants += storage.bytes;
      if (storage.kind == StorageKind::CONSTANT)
        require(storage.place % ALIGNMENT == 0 && storage.place <= program_.constants->size() &&
                    storage.bytes <= program_.constants->size() - storage.place,
                "a constant lies outside of its section, or not at a multiple of 64");
      if (storage.kind != StorageKind::TEMPORARY) continue;
      temporaries += storage.bytes;
      require(storage.place == UNPLACED || (storage.place % ALIGNMENT == 0 && storage.place <= MAX_BYTES),
              "a temporary has no good place in the arena");
    }
    require(inputs.empty() || *inputs.rbegin() == inputs.size() - 1, "the inputs are not numbered from 0");
    require(outputs.empty() || *outputs.rbegin() == outputs.size() - 1, "the outputs are not numbered from 0");
    require(constants <= program_.constants->size(), "constants share their memory");
    require(temporaries <= MAX_BYTES, "the temporaries are larger than a terabyte together");
  }

  void tensor(const Tensor& tensor) {
    require(tensor.storage < program_.storages.size(), "a tensor has no storage");
    require(tensor.dtype <= CB_BOOL, "a tensor is of no known dtype");
    require(tensor.rank <= CB_MAX_RANK, "a tensor has more dimensions than 8");
    unsigned __int128 last = tensor.offset, count = 1;
    bool is_empty = false;
    for (uint32_t d = 0; d < tensor.rank; d++) {
      int64_t size = tensor.sizes[d], stride = tensor.strides[d];
      require(size >= 0 && stride >= 0 && uint64_t(size) <= MAX_BYTES && uint64_t(stride) <= MAX_BYTES,
              "a tensor's size or stride is out of bounds");
      count *= unsigned(size > 0) ? (unsigned __int128)(size) : 1;
      require(count <= MAX_BYTES, "a tensor has too many elements");
      is_empty |= size == 0;
      if (size > 0) last += (unsigned __int128)(size - 1) * stride;
    }
    const Storage& storage = program_.storages[tensor.storage];
    require(is_empty || (last + 1) * item_bytes(tensor.dtype) <= storage.bytes, "a tensor lies outside of its storage");
    require(is_empty || uint64_t(tensor.offset) <= storage.bytes, "a tensor begins outside of its storage");
  }

  const Tensor& at(uint32_t id) const { return program_.tensors[id]; }
  const Tensor& in(const Instruction& i, size_t n) const { return at(i.inputs[n]); }
  const Tensor& out(const Instruction& i, size_t n) const { return at(i.outputs[n]); }

  void one(const Instruction& instruction, bool is_last) {
    need(instruction.op >= Op::ARGUMENT && instruction.op <= LAST_OP, "its op is not known");
    for (uint32_t id : instruction.inputs) {
      need(id < program_.tensors.size(), "an input is no tensor");
      const Storage& storage = program_.storage_of(id);
      bool there =
          storage.kind == StorageKind::INPUT || storage.kind == StorageKind::CONSTANT || written_[at(id).storage];
      need(there, "it reads what was not written");
    }
    for (uint32_t id : instruction.outputs) need(id < program_.tensors.size(), "an output is no tensor");
    need((instruction.op == Op::RESULT) == is_last, "a program has one RESULT, and it is the last instruction");
    shapes(instruction);
    if (instruction.op != Op::ARGUMENT && instruction.op != Op::VIEW) write(instruction);
  }

  void write(const Instruction& instruction) {
    for (uint32_t id : instruction.outputs) {
      StorageKind kind = program_.storage_of(id).kind;
      need(kind == StorageKind::OUTPUT || kind == StorageKind::TEMPORARY, "it writes to an input or a constant");
      need(!written_[at(id).storage], "it writes what was written before");
      need(is_injective(at(id)), "elements of its output share a place");
      written_[at(id).storage] = true;
    }
  }

  void arity(const Instruction& i, size_t least, size_t most, size_t out_least, size_t out_most, size_t attributes) {
    need(i.inputs.size() >= least && i.inputs.size() <= most, "it has another number of inputs");
    need(i.outputs.size() >= out_least && i.outputs.size() <= out_most, "it has another number of outputs");
    need(i.attributes.size() == attributes, "it has another number of attributes");
  }

  void values(const Instruction& i) {
    for (uint32_t id : i.inputs) need(is_value(at(id)), "an input is of int64");
    for (uint32_t id : i.outputs) need(is_value(at(id)), "an output is of int64");
  }

  void shapes(const Instruction& i) {
    switch (i.op) {
      case Op::ARGUMENT:
        arity(i, 0, 0, 1, 1, 0);
        return need(program_.storage_of(i.outputs[0]).kind == StorageKind::INPUT, "its tensor is no input");
      case Op::RESULT: return arity(i, 0, 4096, 0, 0, 0);
      case Op::VIEW:
        arity(i, 1, 1, 1, 1, 0);
        return need(in(i, 0).storage == out(i, 0).storage, "a view has another storage than what it views");
      case Op::ELEMENTWISE:
      case Op::PRODUCT: return fused(i);
      case Op::SOFTMAX:
        arity(i, 1, 1, 1, 1, 1);
        values(i);
        return need(out(i, 0).rank > 0 && same_sizes(in(i, 0), out(i, 0)), "its sizes do not agree");
      case Op::LAYER_NORM:
      case Op::RMS_NORM: return norm(i);
      case Op::REDUCE: return reduce(i);
      case Op::EMBEDDING: return embedding(i);
      case Op::ATTENTION: return attention(i);
      case Op::CONCATENATE: return concatenate(i);
    }
  }

  void fused(const Instruction& i) {
    bool product = i.op == Op::PRODUCT;
    arity(i, product ? 2 : 0, MAX_INPUTS, 1, MAX_OUTPUTS, 0);
    values(i);
    need(i.steps.size() <= MAX_STEPS && (product || !i.steps.empty()), "it has no steps, or too many");
    need(i.stored.size() == i.outputs.size(), "its outputs are not named");
    for (uint32_t id : i.outputs) need(same_sizes(at(id), out(i, 0)), "the sizes of its outputs do not agree");
    for (size_t n = product ? 2 : 0; n < i.inputs.size(); n++)
      need(same_sizes(in(i, n), out(i, 0)), "the sizes of its inputs do not agree");
    for (int32_t step : i.stored)
      need(step >= (product ? -1 : 0) && step < int32_t(i.steps.size()), "an output is no step's");
    if (product) factors(in(i, 0), in(i, 1), out(i, 0));
    for (size_t s = 0; s < i.steps.size(); s++) step(i, s, product);
  }

  void factors(const Tensor& a, const Tensor& b, const Tensor& c) {
    uint32_t r = c.rank;
    need(r >= 2 && a.rank == r && b.rank == r, "a product's factors have other ranks");
    need(a.dtype <= CB_BF16 && b.dtype <= CB_BF16, "a product's factors are no floats");
    for (uint32_t d = 0; d + 2 < r; d++)
      need(a.sizes[d] == c.sizes[d] && b.sizes[d] == c.sizes[d], "a product's batches do not agree");
    need(a.sizes[r - 2] == c.sizes[r - 2] && b.sizes[r - 1] == c.sizes[r - 1] && a.sizes[r - 1] == b.sizes[r - 2],
         "a product's sizes do not agree");
  }

  void step(const Instruction& i, size_t s, bool product) {
    const Step& step = i.steps[s];
    need(step.op >= StepOp::IDENTITY && step.op <= LAST_STEP, "a step's op is not known");
    need(step.dtype <= CB_BOOL && step.dtype != CB_I64, "a step's dtype is not known");
    for (int n = 0; n < 3; n++) {
      const Operand& operand = step.operands[n];
      bool used = n < cb::arity(step.op);
      need(used == (operand.kind != OperandKind::NONE) && operand.kind <= OperandKind::FROM_PRODUCT,
           "a step has another number of operands");
      if (operand.kind == OperandKind::FROM_INPUT)
        need(operand.index >= (product ? 2u : 0u) && operand.index < i.inputs.size(), "a step's operand is no input");
      if (operand.kind == OperandKind::FROM_STEP) need(operand.index < s, "a step uses a later one");
      if (operand.kind == OperandKind::FROM_PRODUCT) need(product, "a step uses a product that is not there");
    }
  }

  void norm(const Instruction& i) {
    bool layer = i.op == Op::LAYER_NORM;
    arity(i, 1, layer ? 3 : 2, 1, layer ? 3 : 2, 2);  // epsilon, number of normalised dimensions
    values(i);
    need(same_sizes(in(i, 0), out(i, 0)), "its sizes do not agree");
    int64_t dims = i.attributes[1], rank = in(i, 0).rank;
    need(dims >= 1 && dims <= rank, "it has another number of normalised dimensions");
    int64_t rows = 1, columns = 1;
    for (int64_t d = 0; d < rank; d++) (d < rank - dims ? rows : columns) *= in(i, 0).sizes[d];
    for (size_t n = 1; n < i.inputs.size(); n++) {
      need(in(i, n).numel() == columns && in(i, n).is_dense(), "a weight has other sizes, or gaps");
    }
    for (size_t n = 1; n < i.outputs.size(); n++)
      need(out(i, n).numel() == rows && out(i, n).is_dense(), "a statistic has other sizes, or gaps");
  }

  void reduce(const Instruction& i) {
    arity(i, 1, 1, 1, 1, 2);  // which reduction, bits of the dimensions
    values(i);
    const Reduction kind{i.attributes[0]};
    need(kind >= Reduction::SUM && kind <= Reduction::AMIN, "its reduction is not known");
    uint32_t kept = 0;
    const Tensor &from = in(i, 0), &to = out(i, 0);
    need(uint64_t(i.attributes[1]) < uint64_t(1) << from.rank || from.rank == 0,
         "it reduces a dimension that is not there");
    for (uint32_t d = 0; d < from.rank; d++) {
      if (i.attributes[1] >> d & 1) continue;
      need(kept < to.rank && to.sizes[kept] == from.sizes[d], "its sizes do not agree");
      kept++;
    }
    need(kept == to.rank, "its sizes do not agree");
    bool extreme = kind >= Reduction::AMAX;
    for (uint32_t d = 0; d < from.rank && extreme; d++) need(from.sizes[d] > 0, "the largest of nothing is asked for");
  }

  void embedding(const Instruction& i) {
    arity(i, 2, 2, 1, 1, 0);
    const Tensor &table = in(i, 0), &index = in(i, 1), &to = out(i, 0);
    need(table.rank == 2 && table.dtype <= CB_BF16 && to.dtype == table.dtype, "its table is no matrix of floats");
    need(index.dtype == CB_I64 && to.rank == index.rank + 1, "its index is not of int64, or of another rank");
    need(std::equal(index.sizes, index.sizes + index.rank, to.sizes), "its sizes do not agree");
    need(to.sizes[index.rank] == table.sizes[1], "its sizes do not agree");
  }

  void attention(const Instruction& i) {
    arity(i, 3, 4, 1, 2, 2);  // scale, whether causal
    const Tensor &q = in(i, 0), &k = in(i, 1), &v = in(i, 2), &o = out(i, 0);
    for (const Tensor* tensor : {&q, &k, &v, &o})
      need(tensor->rank == 4 && tensor->dtype <= CB_BF16, "it is not of four dimensions, or of no floats");
    need(q.sizes[0] == k.sizes[0] && q.sizes[0] == v.sizes[0] && q.sizes[0] == o.sizes[0], "its batches do not agree");
    need(q.sizes[1] == o.sizes[1] && k.sizes[1] == v.sizes[1] && k.sizes[1] > 0 && q.sizes[1] % k.sizes[1] == 0,
         "its heads do not agree");
    need(q.sizes[3] == k.sizes[3] && k.sizes[2] == v.sizes[2] && o.sizes[2] == q.sizes[2] && o.sizes[3] == v.sizes[3],
         "its sizes do not agree");
    need(k.sizes[2] > 0, "it attends to nothing");
    const int64_t scores[] = {q.sizes[0], q.sizes[1], q.sizes[2], k.sizes[2]};
    if (i.inputs.size() > 3)
      need(in(i, 3).rank == 4 && in(i, 3).dtype <= CB_BF16 && std::equal(scores, scores + 4, in(i, 3).sizes),
           "its mask is not of its scores' sizes, or of no floats");
    if (i.outputs.size() == 1) return;
    const Tensor& lse = out(i, 1);
    need(lse.rank == 3 && lse.dtype == CB_F32 && std::equal(lse.sizes, lse.sizes + 3, q.sizes),
         "its sums do not agree");
  }

  void concatenate(const Instruction& i) {
    arity(i, 1, 4096, 1, 1, 1);
    const Tensor& to = out(i, 0);
    int64_t dim = i.attributes[0], total = 0;
    need(dim >= 0 && dim < to.rank, "it has another dimension");
    for (uint32_t id : i.inputs) {
      const Tensor& part = at(id);
      need(part.rank == to.rank && part.dtype == to.dtype && part.dtype != CB_I64, "its parts do not agree");
      for (uint32_t d = 0; d < to.rank; d++)
        need(d == dim || part.sizes[d] == to.sizes[d], "the sizes of its parts do not agree");
      total += part.sizes[dim];
    }
    need(total == to.sizes[dim], "the sizes of its parts do not agree");
  }

  const Program& program_;
  std::vector<bool> written_;
  std::string where_;
};

}  // namespace

void check(const Program& program) { Checker(program).all(); }

}  // namespace cb
