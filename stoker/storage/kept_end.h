// The last bytes of an object, fetched with one request for what is read there piece by piece: the trailer, the
// directory and the rows of an index would each take a round trip to a store that is far away.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/base/pending.h"
#include "stoker/storage/source.h"

namespace stoker {

/// A value: copies share what is kept.
class KeptEnd {
 public:
  static constexpr std::uint64_t kBytes = 64 << 10;

  /// Keeps nothing, so that every read is of the source.
  template <std::derived_from<Source> T>
  KeptEnd(std::shared_ptr<T> source) : source_(std::move(source)) {}

  const std::shared_ptr<Source>& source() const { return source_; }
  /// Begins to fetch the end of a source that is remote; others keep nothing. Nothing is to be read until `reads` have
  /// ended. Never fails: what could not be fetched is read from the source.
  void fetch(Pending& reads);
  /// Fetches it and waits.
  void fetch();
  bool keeps(std::uint64_t offset, std::uint64_t length) const;
  /// As read_fully().
  void read(std::uint64_t offset, MutableBytes into) const;

 private:
  struct Kept {
    std::vector<std::uint8_t> bytes;
    MutableBytes into;
    ReadRequest request;
  };

  std::shared_ptr<Source> source_;
  std::shared_ptr<Kept> kept_;
};

}  // namespace stoker
