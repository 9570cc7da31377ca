// XXH3-64: names random streams, fingerprints data sets, and audits what the consumer received.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "stoker/base/bytes.h"

namespace stoker {

std::uint64_t hash64(Bytes bytes);
inline std::uint64_t hash64(std::string_view text) { return hash64(as_bytes(text)); }

/// Sixteen lower-case hexadecimal digits.
std::string to_hex(std::uint64_t value);

/// The same hash over bytes that arrive in pieces.
class Hasher64 {
 public:
  Hasher64();
  ~Hasher64();
  Hasher64(const Hasher64&) = delete;
  Hasher64& operator=(const Hasher64&) = delete;

  void reset();
  void update(Bytes bytes);
  std::uint64_t digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stoker
