#include "stoker/format/fingerprint.h"

#include <array>

#include "stoker/base/hash.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/sample_row.h"

namespace stoker {
namespace {

constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;
constexpr std::uint64_t kBase = 0x1a2b3c4d5e6f7081 % kPrime;  // any number between that has no small order will do

std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(Wide{a} * b % kPrime);
}

std::uint64_t add_modulo(std::uint64_t a, std::uint64_t b) { return (a + b) % kPrime; }

std::uint64_t power(std::uint64_t base, std::uint64_t exponent) {
  std::uint64_t result = 1;
  for (; exponent > 0; exponent >>= 1, base = multiply(base, base)) {
    if (exponent & 1) result = multiply(result, base);
  }
  return result;
}

std::uint64_t sample_hash(std::string_view key, std::int64_t label, std::uint64_t image_bytes) {
  std::array<std::uint8_t, 24> facts;
  store_little_endian(facts.data(), hash64(key));
  store_little_endian(facts.data() + 8, label);
  store_little_endian(facts.data() + 16, image_bytes);
  return hash64(facts) % kPrime;
}

}  // namespace

Fingerprint::Fingerprint(std::uint64_t value, std::int64_t samples) : value_(value % kPrime), samples_(samples) {}

void Fingerprint::add(std::string_view key, std::int64_t label, std::uint64_t image_bytes) {
  value_ = add_modulo(multiply(value_, kBase), sample_hash(key, label, image_bytes));
  ++samples_;
}

void Fingerprint::add(const SampleRow& row) {
  const SampleField* image = row.image_field();
  add(row.key, row.label, image ? image->length : 0);
}

void Fingerprint::append(const Fingerprint& next) {
  value_ = add_modulo(multiply(value_, power(kBase, static_cast<std::uint64_t>(next.samples_))), next.value_);
  samples_ += next.samples_;
}

}  // namespace stoker
