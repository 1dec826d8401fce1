// A program as one C file of plain loops: void NAME(const void* const* inputs, void* const* outputs).
#include <algorithm>
#include <cctype>
#include <cmath>
#include <sstream>

#include "emit_c.h"
#include "program.h"

namespace cb {

namespace {

const char* const KINDS[] = {"f32", "bf16", "i64", "b8"};

class Emitter {
 public:
  Emitter(const Program& program, const std::string& name)
      : program_(program), name_(is_name(name) ? name : "program") {}

  std::string all() {
    out_ << PRELUDE;
    memory();
    out_ << "\n" << declaration() << ";\n" << declaration() << " {\n  (void)inputs;\n";
    bases();
    for (const Instruction& instruction : program_.instructions) one(instruction);
    out_ << "}\n";
    return out_.str();
  }

  std::string header() {
    std::string guard = name_;
    for (char& letter : guard) letter = char(std::toupper(static_cast<unsigned char>(letter)));
    out_ << "#ifndef " << guard << "_H\n#define " << guard << "_H\n\n";
    sizes(guard, "INPUT", StorageKind::INPUT);
    sizes(guard, "OUTPUT", StorageKind::OUTPUT);
    out_ << "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n// One thread at a time: its temporaries are in static "
            "memory.\n"
         << declaration() << ";\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
    return out_.str();
  }

 private:
  using Index = std::vector<std::string>;

  static bool is_name(const std::string& text) {
    auto fits = [](char letter) { return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_'; };
    return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
           std::all_of(text.begin(), text.end(), fits);
  }

  std::string declaration() const { return "void " + name_ + "(const void* const* inputs, void* const* outputs)"; }

  // How many there are, and the bytes of each.
  void sizes(const std::string& guard, const char* what, StorageKind kind) {
    std::vector<uint64_t> bytes;
    for (const Storage& storage : program_.storages)
      if (storage.kind == kind) {
        bytes.resize(std::max<size_t>(bytes.size(), storage.place + 1));
        bytes[storage.place] = storage.bytes;
      }
    out_ << "#define " << guard << "_" << what << "S " << bytes.size() << "\n";
    for (size_t i = 0; i < bytes.size(); i++)
      out_ << "#define " << guard << "_" << what << "_" << i << "_BYTES " << bytes[i] << "\n";
  }

  const Tensor& tensor(uint32_t id) const { return program_.tensors[id]; }

  void memory() {
    // Eight bytes a number, of which the first is the lowest: two thirds of what bytes take in the file.
    const std::vector<uint8_t>& bytes = *program_.constants;
    if (!bytes.empty()) {
      const size_t words = (bytes.size() + 7) / 8;
      out_ << "\nstatic const _Alignas(64) uint64_t constant_words[" << words << "] = {" << std::hex;
      for (size_t i = 0; i < words; i++) {
        uint64_t word = 0;
        std::memcpy(&word, bytes.data() + i * 8, std::min<size_t>(8, bytes.size() - i * 8));
        out_ << (i % 6 ? "" : "\n  ") << (word ? "0x" : "") << word << ",";
      }
      out_ << std::dec << "\n};\n";
    }
    if (program_.arena_bytes()) out_ << "static _Alignas(64) uint8_t arena[" << program_.arena_bytes() << "];\n";
  }

  void bases() {
    std::vector<Life> life = lives(program_);
    for (size_t s = 0; s < program_.storages.size(); s++) {
      const Storage& storage = program_.storages[s];
      if (storage.kind == StorageKind::INPUT) out_ << "  const void* m" << s << " = inputs[" << storage.place << "];\n";
      if (storage.kind == StorageKind::OUTPUT) out_ << "  void* m" << s << " = outputs[" << storage.place << "];\n";
      if (storage.kind == StorageKind::CONSTANT)
        out_ << "  const void* m" << s << " = (const uint8_t*)constant_words + " << storage.place << ";\n";
      if (storage.kind == StorageKind::TEMPORARY && life[s].first >= 0) {
        if (storage.place == UNPLACED)
          out_ << "  static _Alignas(64) uint8_t m" << s << "[" << aligned(storage.bytes + 1) << "];\n";
        else out_ << "  void* m" << s << " = arena + " << storage.place << ";\n";
      }
      out_ << (storage.kind == StorageKind::TEMPORARY && life[s].first < 0 ? ""
                                                                           : "  (void)m" + std::to_string(s) + ";\n");
    }
  }

  std::string where(uint32_t id, const Index& index) const {
    const Tensor& t = tensor(id);
    std::string text = std::to_string(t.offset);
    for (uint32_t d = 0; d < t.rank; d++)
      if (t.strides[d] && t.sizes[d] > 1) text += " + " + index[d] + " * " + std::to_string(t.strides[d]);
    return "m" + std::to_string(t.storage) + ", " + text;
  }

  std::string get(uint32_t id, const Index& index) const {
    return std::string("get_") + KINDS[tensor(id).dtype] + "(" + where(id, index) + ")";
  }

  std::string put(uint32_t id, const Index& index, const std::string& value) const {
    return std::string("put_") + KINDS[tensor(id).dtype] + "(" + where(id, index) + ", " + value + ");\n";
  }

  // Opens loops over some dimensions, and returns the names of their indices.
  Index loops(const Tensor& t, uint32_t from, uint32_t to, const char* prefix = "i") {
    Index names;
    for (uint32_t d = from; d < to; d++) {
      names.push_back(prefix + std::to_string(d));
      out_ << "  for (int64_t " << names.back() << " = 0; " << names.back() << " < " << t.sizes[d] << "; "
           << names.back() << "++) {\n";
    }
    open_ += to - from;
    return names;
  }

  void close(size_t down_to = 0) {
    for (; open_ > down_to; open_--) out_ << "  }\n";
  }

  void one(const Instruction& i) {
    if (i.op == Op::ARGUMENT || i.op == Op::RESULT || i.op == Op::VIEW) return;
    out_ << "  // " << op_name(i.op) << "\n";
    switch (i.op) {
      case Op::ARGUMENT:
      case Op::RESULT:
      case Op::VIEW: break;
      case Op::ELEMENTWISE: elementwise(i); break;
      case Op::PRODUCT: product(i); break;
      case Op::SOFTMAX: softmax(i); break;
      case Op::LAYER_NORM:
      case Op::RMS_NORM: norm(i); break;
      case Op::REDUCE: reduce(i); break;
      case Op::EMBEDDING: embedding(i); break;
      case Op::ATTENTION: attention(i); break;
      case Op::CONCATENATE: concatenate(i); break;
    }
    close();
  }

  void steps(const Instruction& i, const Index& index) {
    for (size_t s = 0; s < i.steps.size(); s++) {
      std::string of[3];
      for (int n = 0; n < 3; n++) {
        const Operand& operand = i.steps[s].operands[n];
        if (operand.kind == OperandKind::FROM_STEP) of[n] = "s" + std::to_string(operand.index);
        if (operand.kind == OperandKind::FROM_PRODUCT) of[n] = "sum";
        if (operand.kind == OperandKind::IMMEDIATE) of[n] = literal(operand.immediate());
        if (operand.kind != OperandKind::FROM_INPUT) continue;
        of[n] = "v" + std::to_string(s) + "_" + std::to_string(n);
        out_ << "    const float " << of[n] << " = " << get(i.inputs[operand.index], index) << ";\n";
      }
      std::string value = expression(i.steps[s].op, of[0], of[1], of[2]);
      if (i.steps[s].op == StepOp::IDENTITY && i.steps[s].dtype == CB_BF16) value = "rounded(" + value + ")";
      if (i.steps[s].op == StepOp::IDENTITY && i.steps[s].dtype == CB_BOOL) value = "(float)(" + value + " != 0.0f)";
      out_ << "    const float s" << s << " = " << value << ";\n    (void)s" << s << ";\n";
    }
    for (size_t o = 0; o < i.outputs.size(); o++)
      out_ << "    " << put(i.outputs[o], index, i.stored[o] < 0 ? "sum" : "s" + std::to_string(i.stored[o]));
  }

  void elementwise(const Instruction& i) {
    const Tensor& shape = tensor(i.outputs[0]);
    steps(i, loops(shape, 0, shape.rank));
  }

  void product(const Instruction& i) {
    const Tensor& c = tensor(i.outputs[0]);
    Index index = loops(c, 0, c.rank), a = index, b = index;
    a[c.rank - 1] = b[c.rank - 2] = "k";
    out_ << "    float sum = 0.0f;\n    for (int64_t k = 0; k < " << tensor(i.inputs[0]).sizes[c.rank - 1]
         << "; k++) sum += " << get(i.inputs[0], a) << " * " << get(i.inputs[1], b) << ";\n";
    steps(i, index);
  }

  // Opens loops over the last dimensions, does something there, and closes them.
  template <typename F>
  void inside(const Tensor& t, uint32_t from, const Index& outer, F body) {
    size_t open = open_;
    Index index = outer;
    for (const std::string& name : loops(t, from, t.rank)) index.push_back(name);
    out_ << "    " << body(index);
    close(open);
  }

  void softmax(const Instruction& i) {
    const uint32_t x = i.inputs[0], y = i.outputs[0], last = tensor(x).rank - 1;
    Index outer = loops(tensor(x), 0, last);
    bool is_log = i.attributes[0] != 0;
    out_ << "    float most = -INFINITY;\n    double sum = 0.0;\n";
    inside(tensor(x), last, outer, [&](const Index& at) { return "most = fmaxf(most, " + get(x, at) + ");\n"; });
    inside(tensor(x), last, outer, [&](const Index& at) { return "sum += expf(" + get(x, at) + " - most);\n"; });
    inside(tensor(x), last, outer, [&](const Index& at) {
      std::string from = get(x, at) + " - most";
      return put(y, at, is_log ? from + " - (float)log(sum)" : "expf(" + from + ") / (float)sum");
    });
  }

  void norm(const Instruction& i) {
    const Tensor& t = tensor(i.inputs[0]);
    const bool layer = i.op == Op::LAYER_NORM;
    const uint32_t x = i.inputs[0], first = t.rank - uint32_t(i.attributes[1]);
    int64_t n = 1;
    for (uint32_t d = first; d < t.rank; d++) n *= t.sizes[d];
    Index outer = loops(t, 0, first);
    std::ostringstream epsilon;
    epsilon.precision(17);
    epsilon << i.number(0);
    out_ << "    double mean = 0.0, squares = 0.0;\n";
    if (layer) {
      inside(t, first, outer, [&](const Index& at) { return "mean += " + get(x, at) + ";\n"; });
      out_ << "    mean /= " << n << ";\n";
    }
    inside(t, first, outer,
           [&](const Index& at) { return "squares += (" + get(x, at) + " - mean) * (" + get(x, at) + " - mean);\n"; });
    out_ << "    const double scale = 1.0 / sqrt(squares / " << n << " + " << epsilon.str() << ");\n";
    inside(t, first, outer, [&](const Index& at) {
      Index inner(at.begin() + first, at.end());
      std::string value = "(float)((" + get(x, at) + " - mean) * scale)";
      if (i.inputs.size() > 1) value += " * " + get(i.inputs[1], inner);
      if (i.inputs.size() > 2) value += " + " + get(i.inputs[2], inner);
      return put(i.outputs[0], at, value);
    });
    const size_t outputs = i.outputs.size();
    outer.resize(CB_MAX_RANK, "0");
    if (layer && outputs > 1) out_ << put(i.outputs[1], outer, "(float)mean");
    if (outputs > (layer ? 2u : 1u)) out_ << put(i.outputs[outputs - 1], outer, "(float)scale");
  }

  void reduce(const Instruction& i) {
    const Tensor& t = tensor(i.inputs[0]);
    const Reduction kind{i.attributes[0]};
    const int64_t bits = i.attributes[1];
    Index index(t.rank), kept;
    int64_t count = 1;
    auto loop = [&](bool gone) {
      for (uint32_t d = 0; d < t.rank; d++) {
        if ((bits >> d & 1) != gone) continue;
        index[d] = loops(t, d, d + 1)[0];
        if (gone) count *= t.sizes[d];
        else kept.push_back(index[d]);
      }
    };
    loop(false);
    size_t open = open_;
    out_ << "    double found = "
         << (kind == Reduction::AMAX   ? "-INFINITY"
             : kind == Reduction::AMIN ? "INFINITY"
                                       : "0.0")
         << ";\n";
    loop(true);
    std::string value = get(i.inputs[0], index);
    if (kind <= Reduction::MEAN) out_ << "    found += " << value << ";\n";
    else out_ << "    found = " << (kind == Reduction::AMAX ? "fmax" : "fmin") << "(found, " << value << ");\n";
    close(open);
    out_ << "    "
         << put(i.outputs[0], kept,
                kind == Reduction::MEAN ? "(float)(found / " + std::to_string(count) + ")" : "(float)found");
  }

  void embedding(const Instruction& i) {
    const Tensor& t = tensor(i.outputs[0]);
    Index index = loops(t, 0, t.rank);
    Index of_index(index.begin(), index.end() - 1);
    std::string at = where(i.inputs[1], of_index);
    size_t comma = at.find(", ");
    out_ << "    const int64_t row = ((const int64_t*)" << at.substr(0, comma) << ")[" << at.substr(comma + 2) << "];\n"
         << "    " << put(i.outputs[0], index, get(i.inputs[0], {"row", index.back()}));
  }

  void attention(const Instruction& i) {
    const Tensor &q = tensor(i.inputs[0]), &k = tensor(i.inputs[1]), &v = tensor(i.inputs[2]);
    Index at = loops(q, 0, 3);
    const std::string shared = at[1] + " / " + std::to_string(std::max<int64_t>(q.sizes[1] / k.sizes[1], 1));
    std::ostringstream scale;
    scale.precision(17);
    scale << i.number(0);
    const std::string seen = i.attributes[1] ? "(i2 + 1 < K ? i2 + 1 : K)" : "K";
    const std::string mask = i.inputs.size() > 3 ? " + " + get(i.inputs[3], {at[0], at[1], at[2], "j"}) : "";
    out_ << "    enum { K = " << k.sizes[2] << " };\n    static float scores[K];\n    float most = -INFINITY;\n"
         << "    double sum = 0.0;\n    const int64_t seen = " << seen << ";\n"
         << "    for (int64_t j = 0; j < seen; j++) {\n      float dot = 0.0f;\n      for (int64_t d = 0; d < "
         << q.sizes[3] << "; d++) dot += " << get(i.inputs[0], {at[0], at[1], at[2], "d"}) << " * "
         << get(i.inputs[1], {at[0], shared, "j", "d"}) << ";\n      scores[j] = dot * (float)" << scale.str() << mask
         << ";\n      most = fmaxf(most, scores[j]);\n    }\n    const int none = most == -INFINITY;\n"
         << "    for (int64_t j = 0; j < seen; j++) sum += scores[j] = none ? 0.0f : expf(scores[j] - most);\n"
         << "    if (none) sum = 1.0, most = 0.0f;\n"
         << "    for (int64_t d = 0; d < " << v.sizes[3] << "; d++) {\n      float value = 0.0f;\n"
         << "      for (int64_t j = 0; j < seen; j++) value += scores[j] / (float)sum * "
         << get(i.inputs[2], {at[0], shared, "j", "d"}) << ";\n      "
         << put(i.outputs[0], {at[0], at[1], at[2], "d"}, "value") << "    }\n";
    if (i.outputs.size() > 1) out_ << "    " << put(i.outputs[1], at, "most + (float)log(sum)");
  }

  void concatenate(const Instruction& i) {
    int64_t begin = 0;
    const auto dim = size_t(i.attributes[0]);
    for (uint32_t id : i.inputs) {
      const Tensor& part = tensor(id);
      Index index = loops(part, 0, part.rank), to = index;
      to[dim] = "(" + index[dim] + " + " + std::to_string(begin) + ")";
      out_ << "    " << put(i.outputs[0], to, get(id, index));
      close();
      begin += part.sizes[dim];
    }
  }

  const Program& program_;
  const std::string name_;
  std::ostringstream out_;
  size_t open_ = 0;
};

}  // namespace

std::string as_c(const Program& program, const std::string& name) { return Emitter(program, name).all(); }

std::string as_c_header(const Program& program, const std::string& name) { return Emitter(program, name).header(); }

}  // namespace cb
