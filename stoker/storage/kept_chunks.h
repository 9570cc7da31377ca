// Keeps chunks of distant objects in memory, for small values that lie side by side, and are wanted one at a time and
// in every epoch: entry points of JPEGs. A request for one of them costs a store as much as one for an image.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "stoker/storage/kept_reads.h"
#include "stoker/storage/source.h"

namespace stoker {

class KeptChunkSource;

/// What is kept stays: where everything is used once per epoch, in any order, no other choice hits more often.
/// Threads: any.
class KeptChunks {
 public:
  static constexpr std::size_t kChunkBytes = std::size_t{64} << 10;
  // A value that is wanted has its whole chunk fetched as long as all the bytes that nothing has asked for are at most
  // so many times those that were. So what is kept grows by degrees, and delays no first batch.
  static constexpr std::uint64_t kUnaskedMax = 4;

  explicit KeptChunks(std::uint64_t bytes_max);
  ~KeptChunks();
  KeptChunks(const KeptChunks&) = delete;
  KeptChunks& operator=(const KeptChunks&) = delete;

  /// A source of the same bytes, which it keeps; the source itself if that is not remote. It must outlive this.
  Source& in_front_of(Source& source);

 private:
  friend class KeptChunkSource;
  struct Chunk {
    std::unique_ptr<std::uint8_t[]> bytes;
    bool is_there = false;  // it was read
  };
  struct Read;

  const std::uint64_t bytes_max_;
  std::mutex sources_mutex_;
  std::unordered_map<const Source*, std::unique_ptr<KeptChunkSource>> sources_;

  KeptReads<Read> reads_;

  std::mutex mutex_;
  std::uint64_t bytes_ = 0;  // of all chunks
  std::uint64_t asked_ = 0, unasked_ = 0;
};

}  // namespace stoker
