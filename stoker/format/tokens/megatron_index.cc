#include "stoker/format/tokens/megatron_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kMegatronMagic = "MMIDIDX\0\0"sv;
constexpr std::size_t kMegatronHead = 9 + 8 + 1 + 8 + 8;
constexpr std::uint64_t kMegatronVersion = 1;
constexpr std::array<std::optional<TokenType>, 9> kMegatronTypes = {std::nullopt,    TokenType::kU8,  TokenType::kI8,
                                                                    TokenType::kI16, TokenType::kI32, TokenType::kI64,
                                                                    std::nullopt,    std::nullopt,    TokenType::kU16};

}  // namespace

MegatronIndex::MegatronIndex(std::shared_ptr<Source> index, std::uint64_t bin_bytes)
    : index_(std::move(index)), bin_bytes_(bin_bytes) {
  if (index_->size() < kMegatronHead) damaged("it is too short");
  std::array<std::uint8_t, kMegatronHead> head;
  read_fully(*index_, 0, head);
  if (as_text(head).substr(0, kMegatronMagic.size()) != kMegatronMagic) damaged("it does not begin as one");
  const auto version = load_little_endian<std::uint64_t>(&head[9]);
  if (version != kMegatronVersion)
    damaged(fmt::format("it has version {}, and Stoker knows {}", version, kMegatronVersion));
  const std::uint8_t type = head[17];
  if (type >= kMegatronTypes.size() || !kMegatronTypes[type]) damaged(fmt::format("its tokens have type {}", type));
  type_ = *kMegatronTypes[type];
  sequences_ = load_little_endian<std::uint64_t>(&head[18]);
  documents_ = load_little_endian<std::uint64_t>(&head[26]);
  check_size();
  check_end();
}

std::vector<std::uint64_t> MegatronIndex::document_begins() const {
  std::vector<std::uint64_t> begins;
  const std::vector<std::uint64_t> places = numbers_at(places_begin(), sequences_);
  const std::vector<std::uint64_t> firsts = numbers_at(documents_begin(), documents_);
  for (const std::uint64_t first : firsts) {
    if (first > sequences_) damaged("a document begins after the last sequence");
    const std::uint64_t begin = first == sequences_ ? bin_bytes_ : places[first];
    if (begin > bin_bytes_ || begin % size_of(type_) != 0) damaged("a document begins outside of the tokens");
    begins.push_back(begin / size_of(type_));
    if (begins.size() > 1 && begins[begins.size() - 2] > begins.back()) damaged("documents do not follow each other");
  }
  if (begins.empty() || begins.back() != tokens()) begins.push_back(tokens());
  begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
  return begins;
}

void MegatronIndex::damaged(std::string_view why) const {
  fail(ErrorKind::kData, "'{}' is not a sound index of tokens: {}", index_->name(), why);
}

std::uint64_t MegatronIndex::places_begin() const { return kMegatronHead + 4 * sequences_; }
std::uint64_t MegatronIndex::documents_begin() const { return places_begin() + 8 * sequences_; }

void MegatronIndex::check_size() const {
  const std::uint64_t most = index_->size() / 4;  // any number below that overflows nothing
  if (sequences_ == 0) damaged("it has no sequence");
  if (sequences_ > most || documents_ > most || documents_begin() + 8 * documents_ != index_->size()) {
    damaged(fmt::format("it has {}, and {} sequences with {} documents take other ones", byte_count(index_->size()),
                        sequences_, documents_));
  }
}

// The tokens are those of the sequences, one after another.
void MegatronIndex::check_end() const {
  std::array<std::uint8_t, 4> length;
  std::array<std::uint8_t, 8> place;
  read_fully(*index_, kMegatronHead + 4 * (sequences_ - 1), length);
  read_fully(*index_, places_begin() + 8 * (sequences_ - 1), place);
  const auto last_length = load_little_endian<std::int32_t>(length.data());
  const auto last_place = load_little_endian<std::uint64_t>(place.data());
  if (last_length < 0 || last_place > bin_bytes_ ||
      bin_bytes_ - last_place != static_cast<std::uint64_t>(last_length) * size_of(type_)) {
    damaged("its last sequence does not end where the tokens end: they belong to another index, or are truncated");
  }
}

std::vector<std::uint64_t> MegatronIndex::numbers_at(std::uint64_t offset, std::uint64_t count) const {
  std::vector<std::uint8_t> bytes(8 * count);
  read_fully(*index_, offset, bytes);
  std::vector<std::uint64_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = load_little_endian<std::uint64_t>(&bytes[8 * i]);
  return numbers;
}

MegatronIndexWriter::MegatronIndexWriter(TokenType type) : type_(type) {
  if (std::find(kMegatronTypes.begin(), kMegatronTypes.end(), type) != kMegatronTypes.end()) return;
  fail(ErrorKind::kUsage, "an index of tokens has no number for the type {}", to_string(type));
}

void MegatronIndexWriter::end_sequence() { lengths_.push_back(static_cast<std::uint32_t>(std::exchange(length_, 0))); }

void MegatronIndexWriter::end_document() {
  if (length_ > 0 || lengths_.size() == firsts_.back()) end_sequence();
  firsts_.push_back(lengths_.size());
}

std::vector<std::uint8_t> MegatronIndexWriter::bytes() const {
  std::vector<std::uint8_t> bytes(kMegatronMagic.begin(), kMegatronMagic.end());
  append_little_endian(bytes, kMegatronVersion);
  const auto type = std::find(kMegatronTypes.begin(), kMegatronTypes.end(), type_) - kMegatronTypes.begin();
  bytes.push_back(static_cast<std::uint8_t>(type));
  append_little_endian(bytes, std::uint64_t{lengths_.size()});
  append_little_endian(bytes, std::uint64_t{firsts_.size()});
  for (const std::uint32_t length : lengths_) append_little_endian(bytes, length);
  std::uint64_t begin = 0;
  for (const std::uint32_t length : lengths_) {
    append_little_endian(bytes, begin);
    begin += length * size_of(type_);
  }
  for (const std::uint64_t first : firsts_) append_little_endian(bytes, first);
  return bytes;
}

}  // namespace stoker
