// Changes to programs that know the file: sections stay where they belong and checksums are right, so that what is
// wrong reaches the checks behind them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace cb_fuzz {

using Bytes = std::vector<uint8_t>;
using Random = std::minstd_rand;

// Changes bytes in a way of the engine's own; returns how many there are then.
using Anyhow = size_t (*)(uint8_t* data, size_t size, size_t most);

Bytes mutated(const Bytes& file, Random& random, Anyhow anyhow);
Bytes crossed(const Bytes& one, const Bytes& other, Random& random);

}  // namespace cb_fuzz
