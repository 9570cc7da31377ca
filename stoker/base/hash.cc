#include "stoker/base/hash.h"

#include <fmt/format.h>
#define XXH_STATIC_LINKING_ONLY  // XXH3's state is declared only then, and we hold it by value
#include <xxhash.h>
#ifdef STOKER_XXHASH_DISPATCH
#include <xxh_x86dispatch.h>  // the same functions, by the instructions that the processor has
#endif

namespace stoker {

std::uint64_t hash64(Bytes bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string to_hex(std::uint64_t value) { return fmt::format("{:016x}", value); }

struct Hasher64::State {
  XXH3_state_t xxh;
};

Hasher64::Hasher64() : state_(std::make_unique<State>()) { reset(); }
Hasher64::~Hasher64() = default;

void Hasher64::reset() { XXH3_64bits_reset(&state_->xxh); }
void Hasher64::update(Bytes bytes) { XXH3_64bits_update(&state_->xxh, bytes.data(), bytes.size()); }
std::uint64_t Hasher64::digest() const { return XXH3_64bits_digest(&state_->xxh); }

}  // namespace stoker
