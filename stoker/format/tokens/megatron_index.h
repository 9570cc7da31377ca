// The index of a file of tokens, as Megatron writes it: a magic word, a version, the number of the tokens' type, how
// many sequences and documents there are; then the lengths of all sequences in tokens, where they begin in bytes, and
// the sequence at which each document begins, and the number of all sequences last.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "stoker/storage/source.h"
#include "stoker/tensor/token_type.h"

namespace stoker {

/// Of a file whose tokens lie side by side.
class MegatronIndex {
 public:
  /// Reads its head and its end. Throws kData for an index that is damaged, or belongs to tokens of another size.
  MegatronIndex(std::shared_ptr<Source> index, std::uint64_t bin_bytes);

  TokenType type() const { return type_; }
  std::uint64_t tokens() const { return bin_bytes_ / size_of(type_); }
  /// The token at which each document begins, and the number of all tokens last; documents without tokens are left out.
  /// Throws kData.
  std::vector<std::uint64_t> document_begins() const;

 private:
  [[noreturn]] void damaged(std::string_view why) const;
  std::uint64_t places_begin() const;
  std::uint64_t documents_begin() const;
  void check_size() const;
  void check_end() const;
  std::vector<std::uint64_t> numbers_at(std::uint64_t offset, std::uint64_t count) const;

  std::shared_ptr<Source> index_;
  std::uint64_t bin_bytes_;
  TokenType type_ = TokenType::kU16;
  std::uint64_t sequences_ = 0, documents_ = 0;
};

class MegatronIndexWriter {
 public:
  /// Throws kUsage for a type that such an index has no number for.
  explicit MegatronIndexWriter(TokenType type);

  void add_token() {
    if (++length_ == kSequenceMost) end_sequence();
  }
  void end_document();
  std::int64_t documents() const { return static_cast<std::int64_t>(firsts_.size()) - 1; }
  std::vector<std::uint8_t> bytes() const;

 private:
  static constexpr std::uint64_t kSequenceMost = std::uint64_t{1} << 30;  // lengths have 31 bits

  void end_sequence();

  TokenType type_;
  std::uint64_t length_ = 0;
  std::vector<std::uint32_t> lengths_;
  std::vector<std::uint64_t> firsts_{0};  // by document, and all sequences last
};

}  // namespace stoker
