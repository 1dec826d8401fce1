// CRC32C (Castagnoli), by a table of 8 × 256 entries: eight bytes at a time.
#include "program.h"

namespace cb {

namespace {

struct Tables {
  uint32_t at[8][256];

  Tables() {
    for (uint32_t i = 0; i < 256; i++) {
      uint32_t crc = i;
      for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (crc & 1 ? 0x82F63B78u : 0);
      at[0][i] = crc;
    }
    for (int t = 1; t < 8; t++)
      for (uint32_t i = 0; i < 256; i++) at[t][i] = (at[t - 1][i] >> 8) ^ at[0][at[t - 1][i] & 255];
  }
};

}  // namespace

uint32_t crc32c(const uint8_t* data, size_t bytes) {
  static const Tables tables;
  const auto& t = tables.at;
  uint32_t crc = ~0u;
  for (; bytes >= 8; bytes -= 8, data += 8) {
    crc ^= uint32_t(data[0]) | uint32_t(data[1]) << 8 | uint32_t(data[2]) << 16 | uint32_t(data[3]) << 24;
    crc = t[7][crc & 255] ^ t[6][crc >> 8 & 255] ^ t[5][crc >> 16 & 255] ^ t[4][crc >> 24] ^ t[3][data[4]] ^
          t[2][data[5]] ^ t[1][data[6]] ^ t[0][data[7]];
  }
  for (; bytes; bytes--) crc = crc >> 8 ^ t[0][(crc ^ *data++) & 255];
  return ~crc;
}

}  // namespace cb
