#include "mutate.h"

#include <algorithm>
#include <cstring>

#include "compileboard_runtime.h"

namespace cb_fuzz {

namespace {

constexpr size_t HEADER = 64, ENTRY = 32, SECTIONS = 6;
constexpr size_t RECORD[SECTIONS] = {1, 32, 160, 32, 8, 64};
enum { STRINGS, STORAGES, TENSORS, INSTRUCTIONS, WORDS, CONSTANTS };
const uint64_t NUMBERS[] = {0,          1,          2,           3,          4,
                            5,          7,          8,           12,         16,
                            31,         63,         64,          65,         127,
                            255,        256,        4096,        65535,      0x7fffffff,
                            0x80000000, 0xffffffff, 0x100000000, 1ull << 40, (1ull << 40) + 1,
                            1ull << 62, ~0ull >> 1, ~0ull,       ~0ull - 63, ~0ull - 1};

template <typename T>
T number(const Bytes& file, size_t at) {
  T value;
  std::memcpy(&value, &file[at], sizeof value);
  return value;
}

template <typename T>
void put(Bytes& to, size_t at, T value) {
  std::memcpy(&to[at], &value, sizeof value);
}

struct Parts {
  Bytes at[SECTIONS];

  // Whatever of the sections lies in the file.
  static bool read(const Bytes& file, Parts& found) {
    if (file.size() < HEADER + SECTIONS * ENTRY) return false;
    for (size_t i = 0; i < SECTIONS; i++) {
      size_t entry = HEADER + i * ENTRY;
      uint64_t offset = number<uint64_t>(file, entry + 8), bytes = number<uint64_t>(file, entry + 16);
      if (offset > file.size() || bytes > file.size() - offset) return false;
      found.at[i].assign(file.begin() + long(offset), file.begin() + long(offset + bytes));
    }
    return true;
  }

  Bytes file() const {
    Bytes made = {0x89, 'C', 'B', 'P', '\r', '\n', 0x1a, '\n'};
    made.resize(HEADER + SECTIONS * ENTRY);
    for (size_t i = 0; i < SECTIONS; i++) {
      made.resize((made.size() + 63) / 64 * 64);
      size_t entry = HEADER + i * ENTRY;
      put(made, entry, uint32_t(i + 1));
      put(made, entry + 4, cb_crc32c(at[i].data(), at[i].size()));
      put(made, entry + 8, uint64_t(made.size()));
      put(made, entry + 16, uint64_t(at[i].size()));
      made.insert(made.end(), at[i].begin(), at[i].end());
    }
    put(made, 8, uint32_t(1));
    put(made, 12, uint32_t(SECTIONS));
    put(made, 16, uint64_t(made.size()));
    put(made, 24, cb_crc32c(&made[HEADER], SECTIONS * ENTRY));
    put(made, 60, cb_crc32c(&made[0], 60));
    return made;
  }
};

size_t below(Random& random, size_t n) { return n ? random() % n : 0; }

uint64_t any_number(Random& random, uint64_t was) {
  switch (below(random, 5)) {
    case 0: return was + 1;
    case 1: return was - 1;
    case 2: return below(random, 16);
    case 3: return was ^ (1ull << below(random, 64));
    default: return NUMBERS[below(random, sizeof NUMBERS / sizeof *NUMBERS)];
  }
}

// A number of a record, by 4 or 8 bytes as the format has it.
void change_field(Bytes& section, size_t part, Random& random) {
  const size_t records = section.size() / RECORD[part];
  if (!records) return;
  size_t record = below(random, records) * RECORD[part];
  bool is_wide = part == WORDS || (part == STORAGES && below(random, 2)) || (part == TENSORS && below(random, 3));
  size_t fields = part == TENSORS && !is_wide ? 4 : RECORD[part] / (is_wide ? 8 : 4);
  size_t first = part == TENSORS && is_wide ? 2 : 0;
  size_t at = record + (first + below(random, fields - first)) * (is_wide ? 8 : 4);
  size_t other = below(random, records) * RECORD[part] + (at - record);
  bool copies = below(random, 3) == 0;
  if (is_wide)
    put(section, at, copies ? number<uint64_t>(section, other) : any_number(random, number<uint64_t>(section, at)));
  else
    put(section, at,
        copies ? number<uint32_t>(section, other) : uint32_t(any_number(random, number<uint32_t>(section, at))));
}

// An operand of a step: a kind, and the number of something.
void change_operand(Bytes& words, Random& random) {
  if (words.size() < 8) return;
  size_t at = below(random, words.size() / 8) * 8;
  put(words, at, uint64_t(below(random, 6)) << 32 | below(random, 12));
}

void change_records(Bytes& section, size_t size, Random& random) {
  const size_t records = section.size() / size;
  if (!records) return;
  auto at = [&](size_t n) { return section.begin() + long(n * size); };
  size_t one = below(random, records), other = below(random, records);
  Bytes copy(at(other), at(other) + long(size));
  switch (below(random, 4)) {
    case 0: std::copy(copy.begin(), copy.end(), at(one)); break;
    case 1: std::swap_ranges(at(one), at(one) + long(one == other ? 0 : size), at(other)); break;
    case 2: section.insert(at(one), copy.begin(), copy.end()); break;
    default: section.erase(at(one), at(one) + long(size));
  }
}

void change_anyhow(Bytes& section, Random& random, Anyhow anyhow) {
  size_t size = section.size(), most = size + 64;
  (void)random;
  section.resize(most);
  section.resize(anyhow(section.data(), size, most));
}

}  // namespace

Bytes mutated(const Bytes& file, Random& random, Anyhow anyhow) {
  Parts parts;
  if (below(random, 40) == 0 || !Parts::read(file, parts)) {
    Bytes raw = file;
    change_anyhow(raw, random, anyhow);
    return raw;
  }
  for (size_t n = 1 + below(random, 3); n-- > 0;) {
    switch (below(random, 12)) {
      case 0: change_anyhow(parts.at[below(random, SECTIONS)], random, anyhow); break;
      case 1: change_records(parts.at[INSTRUCTIONS], RECORD[INSTRUCTIONS], random); break;
      case 2: change_records(parts.at[STORAGES], RECORD[STORAGES], random); break;
      case 3: change_records(parts.at[TENSORS], RECORD[TENSORS], random); break;
      case 4: change_operand(parts.at[WORDS], random); break;
      case 5: change_field(parts.at[STORAGES], STORAGES, random); break;
      case 6:
      case 7: change_field(parts.at[INSTRUCTIONS], INSTRUCTIONS, random); break;
      case 8:
      case 9: change_field(parts.at[WORDS], WORDS, random); break;
      default: change_field(parts.at[TENSORS], TENSORS, random);
    }
  }
  return parts.file();
}

Bytes crossed(const Bytes& one, const Bytes& other, Random& random) {
  Parts a, b;
  if (!Parts::read(one, a) || !Parts::read(other, b)) return one;
  size_t part = below(random, SECTIONS), size = RECORD[part];
  size_t from = below(random, b.at[part].size() / size + 1) * size,
         to = below(random, a.at[part].size() / size + 1) * size;
  if (below(random, 2)) {
    a.at[part] = b.at[part];
  } else if (from <= b.at[part].size() && to <= a.at[part].size()) {
    a.at[part].insert(a.at[part].begin() + long(to), b.at[part].begin() + long(from), b.at[part].end());
  }
  return a.file();
}

}  // namespace cb_fuzz
