// The file of docs/program-format.md, read and written. Numbers are little-endian, as on every machine this runs on.
#include <algorithm>
#include <map>

#include "program.h"

namespace cb {

namespace {

const uint8_t MAGIC[8] = {0x89, 'C', 'B', 'P', '\r', '\n', 0x1a, '\n'};
constexpr uint32_t VERSION = 1, SECTIONS = 6;
// A record holds copies of its names and words. Several records may share a name, and each word is of one: without
// bounds on both a file of a megabyte would ask for gigabytes before anything of it is checked.
constexpr size_t MAX_NAME = 4096, NAMES_PER_FILE = 16;
constexpr size_t HEADER = 64, ENTRY = 32, STORAGE = 32, TENSOR = 160, INSTRUCTION = 32, STEP_WORDS = 6;
const char* const NAMES[SECTIONS] = {"strings", "storages", "tensors", "instructions", "words", "constants"};

template <typename T>
T number(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

void require(bool good, const std::string& reason) {
  if (!good) throw Error(reason);
}

struct Section {
  const uint8_t* data = nullptr;
  uint64_t bytes = 0;

  size_t records(size_t each, const char* name) const {
    require(bytes % each == 0, std::string("the section of ") + name + " ends within a record");
    return bytes / each;
  }
};

struct Sections {
  Section at[SECTIONS];
  uint64_t names_left = 0, words_left = 0;

  std::string text(uint32_t offset) {
    const Section& strings = at[0];
    require(offset < strings.bytes, "a name lies outside of the strings");
    const char* begin = reinterpret_cast<const char*>(strings.data) + offset;
    const void* end = std::memchr(begin, 0, std::min<uint64_t>(strings.bytes - offset, MAX_NAME + 1));
    require(end != nullptr, "a name has no end, or is longer than 4,096 bytes");
    uint64_t length = uint64_t(static_cast<const char*>(end) - begin);
    require(length <= names_left, "the names of all records are too long together");
    names_left -= length;
    return std::string(begin, length);
  }

  std::vector<int64_t> words(uint32_t first, uint32_t count) {
    const Section& words = at[4];
    require(uint64_t(first) + count <= words.bytes / 8, "an instruction's words lie outside of their section");
    require(count <= words_left, "two instructions share their words");
    words_left -= count;
    std::vector<int64_t> found(count);
    if (count) std::memcpy(found.data(), words.data + uint64_t(first) * 8, uint64_t(count) * 8);
    return found;
  }
};

void require_zero(const uint8_t* from, const uint8_t* to) {
  require(std::all_of(from, to, [](uint8_t byte) { return byte == 0; }), "bytes between the sections are not zero");
}

Sections read_sections(const uint8_t* file, size_t bytes) {
  require(bytes >= HEADER && std::memcmp(file, MAGIC, 8) == 0, "this is no program: it does not begin with the magic");
  require(number<uint32_t>(file + 8) == VERSION, "the program is of another version");
  require(number<uint32_t>(file + 60) == crc32c(file, 60), "the header's checksum is wrong");
  require(number<uint32_t>(file + 12) == SECTIONS, "the program has another number of sections");
  require(number<uint64_t>(file + 16) == bytes, "the file is cut short, or longer than it says");
  const size_t table = HEADER + SECTIONS * ENTRY;
  require(bytes >= table, "the file ends within its table of sections");
  require(number<uint32_t>(file + 24) == crc32c(file + HEADER, SECTIONS * ENTRY), "the table's checksum is wrong");
  Sections found;
  uint64_t end = table;
  for (uint32_t i = 0; i < SECTIONS; i++) {
    const uint8_t* entry = file + HEADER + i * ENTRY;
    uint64_t offset = number<uint64_t>(entry + 8), length = number<uint64_t>(entry + 16);
    require(number<uint32_t>(entry) == i + 1, "the sections are not in their order");
    require(offset == aligned(end) && offset <= bytes && length <= bytes - offset,
            "a section lies outside of the file");
    require_zero(file + end, file + offset);
    require(crc32c(file + offset, length) == number<uint32_t>(entry + 4),
            std::string("the checksum of the ") + NAMES[i] + " is wrong");
    found.at[i] = {file + offset, length};
    end = offset + length;
  }
  require(end == bytes, "there are bytes behind the last section");
  found.names_left = NAMES_PER_FILE * uint64_t(bytes);
  found.words_left = found.at[4].bytes / 8;
  return found;
}

Storage read_storage(const uint8_t* at) {
  Storage storage;
  storage.kind = StorageKind{number<uint32_t>(at)};
  storage.bytes = number<uint64_t>(at + 8);
  storage.place = number<uint64_t>(at + 16);
  return storage;
}

Tensor read_tensor(const uint8_t* at, Sections& sections) {
  Tensor tensor;
  tensor.storage = number<uint32_t>(at);
  tensor.dtype = number<uint32_t>(at + 4);
  tensor.rank = number<uint32_t>(at + 8);
  tensor.name = sections.text(number<uint32_t>(at + 12));
  tensor.offset = number<uint64_t>(at + 16);
  std::memcpy(tensor.sizes, at + 24, sizeof tensor.sizes);
  std::memcpy(tensor.strides, at + 88, sizeof tensor.strides);
  return tensor;
}

Step read_step(const int64_t* words, Sections& sections) {
  Step step;
  step.op = StepOp(uint32_t(words[0]));
  step.dtype = uint32_t(words[1]);
  step.name = sections.text(uint32_t(words[2]));
  for (int i = 0; i < 3; i++) step.operands[i] = {OperandKind(uint64_t(words[3 + i]) >> 32), uint32_t(words[3 + i])};
  return step;
}

void read_steps(Instruction& found, const std::vector<int64_t>& words, Sections& sections) {
  size_t outputs = found.outputs.size();
  require(words.size() >= outputs && (words.size() - outputs) % STEP_WORDS == 0, "an instruction ends within a step");
  for (size_t i = 0; i < outputs; i++) found.stored.push_back(int32_t(words[i]));
  for (size_t i = outputs; i < words.size(); i += STEP_WORDS) found.steps.push_back(read_step(&words[i], sections));
}

Instruction read_instruction(const uint8_t* at, Sections& sections) {
  uint32_t field[8];
  std::memcpy(field, at, sizeof field);
  Instruction found;
  found.op = Op{field[0]};
  found.name = sections.text(field[1]);
  for (int64_t word : sections.words(field[2], field[3])) found.inputs.push_back(uint32_t(word));
  for (int64_t word : sections.words(field[4], field[5])) found.outputs.push_back(uint32_t(word));
  std::vector<int64_t> words = sections.words(field[6], field[7]);
  if (found.op == Op::ELEMENTWISE || found.op == Op::PRODUCT) read_steps(found, words, sections);
  else found.attributes = words;
  return found;
}

class Writer {
 public:
  explicit Writer(const Program& program) : program_(program) { text(""); }

  std::vector<uint8_t> file() {
    for (const Storage& storage : program_.storages) add(storage);
    for (const Tensor& tensor : program_.tensors) add(tensor);
    for (const Instruction& instruction : program_.instructions) add(instruction);
    section_[5] = *program_.constants;
    return joined();
  }

 private:
  template <typename T>
  static void put(std::vector<uint8_t>& to, T value) {
    const uint8_t* at = reinterpret_cast<const uint8_t*>(&value);
    to.insert(to.end(), at, at + sizeof value);
  }

  uint32_t text(const std::string& name) {
    auto [at, fresh] = strings_.try_emplace(name, uint32_t(section_[0].size()));
    if (fresh) section_[0].insert(section_[0].end(), name.c_str(), name.c_str() + name.size() + 1);
    return at->second;
  }

  void add(const Storage& storage) {
    put(section_[1], uint32_t(storage.kind));
    put(section_[1], uint32_t(0));
    put(section_[1], storage.bytes);
    put(section_[1], storage.place);
    put(section_[1], uint64_t(0));
  }

  void add(const Tensor& tensor) {
    for (uint32_t value : {tensor.storage, tensor.dtype, tensor.rank, text(tensor.name)}) put(section_[2], value);
    put(section_[2], tensor.offset);
    for (int64_t size : tensor.sizes) put(section_[2], size);
    for (int64_t stride : tensor.strides) put(section_[2], stride);
    put(section_[2], uint64_t(0));
  }

  template <typename T>
  void words(const std::vector<T>& values, std::vector<uint32_t>& record) {
    record.push_back(uint32_t(section_[4].size() / 8));
    record.push_back(uint32_t(values.size()));
    for (T value : values) put(section_[4], int64_t(value));
  }

  void add(const Instruction& instruction) {
    std::vector<uint32_t> record = {uint32_t(instruction.op), text(instruction.name)};
    words(instruction.inputs, record);
    words(instruction.outputs, record);
    std::vector<int64_t> attributes = instruction.attributes;
    if (instruction.op == Op::ELEMENTWISE || instruction.op == Op::PRODUCT) attributes = step_words(instruction);
    words(attributes, record);
    for (uint32_t value : record) put(section_[3], value);
  }

  std::vector<int64_t> step_words(const Instruction& instruction) {
    std::vector<int64_t> found(instruction.stored.begin(), instruction.stored.end());
    for (const Step& step : instruction.steps) {
      found.insert(found.end(), {int64_t(step.op), int64_t(step.dtype), int64_t(text(step.name))});
      for (const Operand& operand : step.operands)
        found.push_back(int64_t(uint64_t(operand.kind) << 32 | operand.index));
    }
    return found;
  }

  std::vector<uint8_t> joined() const {
    std::vector<uint8_t> table, body;
    const uint64_t start = HEADER + SECTIONS * ENTRY;
    for (uint32_t i = 0; i < SECTIONS; i++) {
      body.resize(aligned(start + body.size()) - start);
      put(table, i + 1);
      put(table, crc32c(section_[i].data(), section_[i].size()));
      put(table, start + body.size());
      put(table, uint64_t(section_[i].size()));
      put(table, uint64_t(0));
      body.insert(body.end(), section_[i].begin(), section_[i].end());
    }
    std::vector<uint8_t> file(MAGIC, MAGIC + 8);
    put(file, VERSION);
    put(file, SECTIONS);
    put(file, start + body.size());
    put(file, crc32c(table.data(), table.size()));
    file.resize(60);
    put(file, crc32c(file.data(), 60));
    file.insert(file.end(), table.begin(), table.end());
    file.insert(file.end(), body.begin(), body.end());
    return file;
  }

  const Program& program_;
  std::vector<uint8_t> section_[SECTIONS];
  std::map<std::string, uint32_t> strings_;
};

}  // namespace

Program read_program(const uint8_t* file, size_t bytes) {
  Sections sections = read_sections(file, bytes);
  Program program;
  const Section* at = sections.at;
  for (size_t i = 0; i < at[1].records(STORAGE, NAMES[1]); i++)
    program.storages.push_back(read_storage(at[1].data + i * STORAGE));
  for (size_t i = 0; i < at[2].records(TENSOR, NAMES[2]); i++)
    program.tensors.push_back(read_tensor(at[2].data + i * TENSOR, sections));
  for (size_t i = 0; i < at[3].records(INSTRUCTION, NAMES[3]); i++)
    program.instructions.push_back(read_instruction(at[3].data + i * INSTRUCTION, sections));
  at[4].records(8, NAMES[4]);
  program.constants->assign(at[5].data, at[5].data + at[5].bytes);
  check(program);
  return program;
}

std::vector<uint8_t> write_program(const Program& program) { return Writer(program).file(); }

}  // namespace cb
