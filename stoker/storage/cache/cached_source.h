// A source in front of another: a single object, of which pieces that are in a disk cache are read from there.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/storage/cache/disk_cache.h"

namespace stoker {

class CachedSource;

/// A request under way, and used again.
struct CachedRead {
  /// Pieces that are read without a hole between them: whole chunks.
  struct Span {
    std::uint64_t begin = 0, end = 0;  // of the object
    std::size_t first = 0, count = 0;  // of `pieces`
  };
  /// Where a piece of the request comes from.
  enum class From : std::uint8_t { kNowhere, kDisk, kStore };

  CachedSource* source = nullptr;
  ReadRequest* request = nullptr;
  ReadRequest inner;
  std::vector<From> from;             // by piece of the request
  std::vector<MutableBytes> pieces;   // of the inner one
  std::vector<Span> spans;            // of it
  std::vector<std::uint8_t> margins;  // memory for bytes of chunks that no piece wants, used from where it is aligned
  std::size_t margins_used = 0;
  bool keeps = false;  // what comes from the store

  /// Makes the inner request's pieces: those from there, as whole chunks or as they are.
  void gather(From wanted, bool whole_chunks, std::uint64_t object_bytes);
  /// Calls `use(chunk, bytes)` for each chunk of a span that was read.
  template <typename Use>
  void for_each_chunk(const Span& span, Use use) const;

 private:
  void begin_span(std::uint64_t begin);
  void end_span(std::uint64_t at);
  void add_margin(std::uint64_t bytes);
};

class CachedSource final : public Source {
 public:
  CachedSource(Source& store, std::unique_ptr<CachedObject> object, DiskCache& cache)
      : store_(store), object_(std::move(object)), cache_(cache) {}

  const std::string& name() const override { return store_.name(); }
  std::string name_of(std::string_view part) const override { return store_.name_of(part); }
  std::uint64_t size(std::string_view part = {}) const override { return store_.size(part); }
  /// A request becomes up to two: for the pieces that are on the disk, and then for the others, and for those that
  /// were damaged there.
  void start(ReadRequest& request) override;
  void will_need(std::uint64_t offset, std::uint64_t length, std::string_view part = {}) override;
  std::uint64_t alignment() const override { return std::max(object_->alignment(), store_.alignment()); }
  std::uint64_t gap_worth_reading() const override { return store_.gap_worth_reading(); }
  std::uint64_t gap_in_turn() const override { return store_.gap_in_turn(); }
  bool is_remote() const override { return store_.is_remote(); }
  std::string_view io_name() const override { return store_.io_name(); }
  std::optional<ObjectIdentity> identity(std::string_view part = {}) const override { return store_.identity(part); }

 private:
  bool serves(const ReadRequest& request) const;
  void plan(CachedRead& read);
  void go_on(CachedRead& read, CachedRead::From first);
  void read_disk(CachedRead& read);
  void read_store(CachedRead& read);
  static void disk_ended(ReadRequest& inner) noexcept;
  static void store_ended(ReadRequest& inner) noexcept;
  void take_from_disk(CachedRead& read);
  void keep_spans(CachedRead& read) noexcept;
  void finish(CachedRead& read, std::exception_ptr error) noexcept;

  Source& store_;
  const std::unique_ptr<CachedObject> object_;
  DiskCache& cache_;
};

template <typename Use>
void CachedRead::for_each_chunk(const Span& span, Use use) const {
  std::array<std::uint8_t, CachedObject::kChunkBytes> scattered;
  std::size_t piece = span.first, done = 0;  // bytes of that piece
  for (std::uint64_t at = span.begin; at < span.end; at += scattered.size()) {
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(scattered.size(), span.end - at));
    while (done == pieces[piece].size()) ++piece, done = 0;
    Bytes bytes = pieces[piece].subspan(done);
    if (bytes.size() >= length) {
      bytes = bytes.first(length);
      done += length;
    } else {
      for (std::size_t filled = 0; filled < length;) {
        while (done == pieces[piece].size()) ++piece, done = 0;
        const std::size_t count = std::min(length - filled, pieces[piece].size() - done);
        std::copy_n(pieces[piece].data() + done, count, scattered.data() + filled);
        filled += count;
        done += count;
      }
      bytes = Bytes(scattered).first(length);
    }
    use(at / scattered.size(), bytes);
  }
}

}  // namespace stoker
