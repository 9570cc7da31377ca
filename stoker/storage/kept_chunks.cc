#include "stoker/storage/kept_chunks.h"

#include <algorithm>
#include <string>
#include <utility>

#include "stoker/base/error.h"

namespace stoker {

struct KeptChunks::Read {
  KeptChunkSource* source = nullptr;
  ReadRequest* request = nullptr;
  ReadRequest inner;
  std::vector<MutableBytes> pieces;  // of it: whole chunks, and holes where a chunk is kept already
  std::uint64_t first = 0;           // chunk that is read
};

/// Serves reads of a single object by chunks, or passes them on.
class KeptChunkSource final : public Source {
 public:
  KeptChunkSource(Source& object, KeptChunks& kept) : object_(object), kept_(kept), size_(object.size()) {}

  const std::string& name() const override { return object_.name(); }
  std::string name_of(std::string_view part) const override { return object_.name_of(part); }
  std::uint64_t size(std::string_view part = {}) const override { return object_.size(part); }
  std::optional<ObjectIdentity> identity(std::string_view part = {}) const override { return object_.identity(part); }
  void start(ReadRequest& request) override;
  void will_need(std::uint64_t offset, std::uint64_t length, std::string_view part = {}) override {
    object_.will_need(offset, length, part);
  }
  std::uint64_t alignment() const override { return object_.alignment(); }
  std::uint64_t gap_worth_reading() const override { return object_.gap_worth_reading(); }
  std::uint64_t gap_in_turn() const override { return object_.gap_in_turn(); }
  bool is_remote() const override { return object_.is_remote(); }
  std::string_view io_name() const override { return object_.io_name(); }

 private:
  enum class Way { kKept, kByChunks, kPassedOn };

  Way choose(const ReadRequest& request, KeptChunks::Read& read);
  bool reserve(const ReadRequest& request, KeptChunks::Read& read, std::uint64_t first, std::uint64_t end);
  void copy_kept(const ReadRequest& request) const;
  void let_go(const KeptChunks::Read& read, std::uint64_t end) noexcept;
  static void chunks_ended(ReadRequest& inner) noexcept;
  std::size_t length_of(std::uint64_t chunk) const {
    const std::uint64_t left = size_ - chunk * KeptChunks::kChunkBytes;
    return static_cast<std::size_t>(std::min<std::uint64_t>(KeptChunks::kChunkBytes, left));
  }

  Source& object_;
  KeptChunks& kept_;
  const std::uint64_t size_;
  std::unordered_map<std::uint64_t, KeptChunks::Chunk> chunks_;  // by number; guarded by the lock of what is kept
};

void KeptChunkSource::start(ReadRequest& request) {
  const std::uint64_t length = request.length();
  if (!request.part.empty() || length == 0 || request.offset > size_ || length > size_ - request.offset) {
    return object_.start(request);
  }
  KeptChunks::Read* read = nullptr;
  auto way = Way::kPassedOn;
  try {
    read = &kept_.reads_.take();
    way = choose(request, *read);
  } catch (const std::bad_alloc&) {
    way = Way::kPassedOn;  // which needs no memory
  }
  if (way == Way::kByChunks) {
    read->source = this;
    read->request = &request;
    read->inner.offset = read->first * KeptChunks::kChunkBytes;
    read->inner.into = read->pieces;
    read->inner.deadline_ns = request.deadline_ns;
    read->inner.stop = request.stop;
    read->inner.context = read;
    read->inner.done = &chunks_ended;
    return object_.start(read->inner);
  }
  if (read) kept_.reads_.give_back(*read);
  if (way == Way::kPassedOn) return object_.start(request);
  request.error = nullptr;
  request.done(request);
}

// Fills a request for which everything is kept.
KeptChunkSource::Way KeptChunkSource::choose(const ReadRequest& request, KeptChunks::Read& read) {
  const std::uint64_t first = request.offset / KeptChunks::kChunkBytes;
  const std::uint64_t end = (request.offset + request.length() - 1) / KeptChunks::kChunkBytes + 1;
  const std::lock_guard lock(kept_.mutex_);
  bool is_kept = true;
  for (std::uint64_t chunk = first; chunk < end; ++chunk) {
    const auto found = chunks_.find(chunk);
    if (found == chunks_.end()) {
      is_kept = false;
    } else if (!found->second.is_there) {
      return Way::kPassedOn;  // another read is under way for it
    }
  }
  kept_.asked_ += request.length();
  if (is_kept) {
    copy_kept(request);
    return Way::kKept;
  }
  return reserve(request, read, first, end) ? Way::kByChunks : Way::kPassedOn;
}

/// Makes room for the chunks that are not kept, if there may be.
bool KeptChunkSource::reserve(const ReadRequest& request, KeptChunks::Read& read, std::uint64_t first,
                              std::uint64_t end) {
  while (chunks_.contains(first)) ++first;
  while (chunks_.contains(end - 1)) --end;
  std::uint64_t bytes = 0;
  for (std::uint64_t chunk = first; chunk < end; ++chunk) bytes += chunks_.contains(chunk) ? 0 : length_of(chunk);
  const std::uint64_t unasked = bytes - std::min(bytes, request.length());
  if (kept_.bytes_ + bytes > kept_.bytes_max_) return false;
  if (kept_.unasked_ + unasked > KeptChunks::kUnaskedMax * kept_.asked_) return false;
  read.first = first;
  read.pieces.clear();
  try {
    for (std::uint64_t chunk = first; chunk < end; ++chunk) {
      MutableBytes piece = hole(length_of(chunk));
      if (!chunks_.contains(chunk)) {
        auto memory = std::make_unique<std::uint8_t[]>(piece.size());
        piece = {memory.get(), piece.size()};
        chunks_.emplace(chunk, KeptChunks::Chunk{.bytes = std::move(memory)});
        kept_.bytes_ += piece.size();
      }
      read.pieces.push_back(piece);
    }
  } catch (...) {
    let_go(read, end);
    throw;
  }
  kept_.unasked_ += unasked;
  return true;
}

/// Chunks up to `end` whose reading did not begin, or failed.
void KeptChunkSource::let_go(const KeptChunks::Read& read, std::uint64_t end) noexcept {
  for (std::uint64_t chunk = read.first; chunk < end; ++chunk) {
    const auto found = chunks_.find(chunk);
    if (found == chunks_.end() || found->second.is_there) continue;
    kept_.bytes_ -= length_of(chunk);
    chunks_.erase(found);
  }
}

void KeptChunkSource::copy_kept(const ReadRequest& request) const {
  PieceCursor into(request.into);
  std::uint64_t at = request.offset;
  while (!into.at_end()) {
    const std::uint64_t chunk = at / KeptChunks::kChunkBytes;
    const auto begin = static_cast<std::size_t>(at % KeptChunks::kChunkBytes);
    const std::size_t count =
        std::min(length_of(chunk) - begin, static_cast<std::size_t>(request.offset + request.length() - at));
    into.copy_from(Bytes(chunks_.at(chunk).bytes.get() + begin, count));
    at += count;
  }
}

void KeptChunkSource::chunks_ended(ReadRequest& inner) noexcept {
  KeptChunks::Read& read = *static_cast<KeptChunks::Read*>(inner.context);
  KeptChunkSource& source = *read.source;
  ReadRequest& request = *read.request;
  request.error = std::exchange(inner.error, nullptr);
  {
    const std::lock_guard lock(source.kept_.mutex_);
    const std::uint64_t end = read.first + read.pieces.size();
    if (request.error) {
      source.let_go(read, end);
    } else {
      for (std::uint64_t chunk = read.first; chunk < end; ++chunk) source.chunks_.at(chunk).is_there = true;
      source.copy_kept(request);
    }
  }
  inner.stop = {};
  source.kept_.reads_.give_back(read);
  request.done(request);  // the source may be gone from here on
}

KeptChunks::KeptChunks(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}
KeptChunks::~KeptChunks() = default;

Source& KeptChunks::in_front_of(Source& source) {
  if (!source.is_remote()) return source;
  const std::lock_guard lock(sources_mutex_);
  std::unique_ptr<KeptChunkSource>& kept = sources_[&source];
  if (!kept) kept = std::make_unique<KeptChunkSource>(source, *this);
  return *kept;
}

}  // namespace stoker
