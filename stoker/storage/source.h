// A source of bytes: one object, or a folder of objects addressed by relative path, read by byte range, asynchronously.
// A source may fail late: a read that was accepted can still end in an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>

#include "stoker/base/bytes.h"
#include "stoker/storage/folder.h"
#include "stoker/storage/pieces.h"

namespace stoker {

class Pending;
class Source;

/// Memory in a request for the source's state while the read is under way, so that nothing is allocated.
class ReadScratch {
 public:
  /// Makes a T, which stays until the next one is made: nothing is ever destroyed.
  template <typename T>
  T& make() {
    static_assert(sizeof(T) <= kBytes && alignof(T) <= alignof(std::max_align_t));
    static_assert(std::is_trivially_destructible_v<T>);
    return *::new (static_cast<void*>(memory_)) T();
  }

  /// The T that was made last.
  template <typename T>
  T& get() {
    return *std::launder(reinterpret_cast<T*>(memory_));
  }

 private:
  static constexpr std::size_t kBytes = 320;
  alignas(std::max_align_t) std::byte memory_[kBytes];  // left uninitialised until used
};

/// One read. The caller owns it and keeps it, its part name, its pieces and their memory alive until `done` was
/// called. It may be used again after that.
struct ReadRequest {
  std::string_view part;  // which object of a folder source; empty for a single object
  std::uint64_t offset = 0;
  Pieces into;  // what the one range from `offset` on fills completely, apart from its holes, or `error` is set

  std::uint64_t length() const { return length_of(into); }

  /// A read that waits, for its turn, for a retry or for a server, is dropped once it is no longer needed: with kIo
  /// after the deadline (by now_ns()), with kClosed when `stop` was requested. A read that the file system has begun is
  /// completed.
  std::int64_t deadline_ns = std::numeric_limits<std::int64_t>::max();
  std::stop_token stop{};

  /// Called exactly once, on any thread, possibly before start() returns; must not block for long.
  void (*done)(ReadRequest& request) noexcept = nullptr;
  void* context = nullptr;   // the caller's
  std::exception_ptr error;  // an Error of kind kIo, kNotFound, kData or kClosed; null when the read succeeded

  // For the source's own use between start() and done().
  Source* source = nullptr;
  ReadRequest* next = nullptr;
  ReadScratch scratch;
};

/// What tells the bytes of an object from all others, now and later.
struct ObjectIdentity {
  std::string place;    // where it is, as the store knows it: it may give access, so it is not for messages
  std::string version;  // changes whenever the bytes do
};

class Source {
 public:
  virtual ~Source() = default;

  /// For messages: the path or URL that the user knows.
  virtual const std::string& name() const = 0;

  /// Where a part is, as name() tells of the source.
  virtual std::string name_of(std::string_view part) const { return name() + '/' + std::string(part); }

  /// Bytes of the object (of `part`, for a folder source). Throws Error when it is not there or cannot be read.
  virtual std::uint64_t size(std::string_view part = {}) const = 0;

  /// Of the object that reads are from. Nothing if the source cannot tell one version from another.
  virtual std::optional<ObjectIdentity> identity(std::string_view /*part*/ = {}) const { return std::nullopt; }

  /// For a source that makes its bytes from those of an object: the same from what `replace` gives in place of the
  /// object's source, such as a cache in front of it, which must outlive what is returned. Else null.
  virtual std::unique_ptr<Source> over(const std::function<Source&(Source& object)>& /*replace*/) const {
    return nullptr;
  }

  /// The entries of the folder `part` of a folder source, "" for the whole; null for one that may not be read. Throws
  /// kIo, and kUsage if the source is a single object.
  virtual std::unique_ptr<Folder> list(std::string_view part) const;

  /// Starts the read; failures are reported through the request. Threads: any, also several at once. Allocates nothing
  /// in the steady state. A range that reaches past the object's end is an error (kData) that says how long it is.
  virtual void start(ReadRequest& request) = 0;

  /// A hint that the range will be read before long: the source may begin to fetch it. Threads: any. Never fails.
  virtual void will_need(std::uint64_t offset, std::uint64_t length, std::string_view part = {});

  /// Reads whose offsets, memory and sizes are multiples of this need no copy. Other reads work, too.
  virtual std::uint64_t alignment() const { return 1; }

  /// The largest gap between two needed ranges that costs less to read than another request.
  virtual std::uint64_t gap_worth_reading() const { return kHoleReadMax; }
  /// The same for a reader that learns from one read where the next is.
  virtual std::uint64_t gap_in_turn() const { return gap_worth_reading(); }

  /// Whether a part of what lies at the offset costs less than all of it: not of what is compressed.
  virtual bool has_cheap_parts(std::uint64_t /*offset*/) const { return true; }

  /// Whether its bytes come over a network, from a store that counts its own traffic (store_traffic.h).
  virtual bool is_remote() const { return false; }

  /// The interface that reads the bytes, for reports: "pread", "io_uring+direct", or "memory".
  virtual std::string_view io_name() const { return "memory"; }
};

/// Starts the read, whose `done` and `context` are this function's: it counts as pending until it has ended. Its error
/// is the caller's to look at then. A stop of the thread (StopScope) ends it.
void start_pending(Source& source, ReadRequest& request, Pending& reads);

/// Reads the range and waits for it. Throws the read's error. Not to be called from a task of the executor that the
/// source reads on: with every thread waiting, none would be left to read.
void read_fully(Source& source, std::uint64_t offset, MutableBytes into, std::string_view part = {});

/// All bytes of a single object; as read_fully().
std::string read_whole(Source& source);

// --- The checks that every source makes on a request, with the same messages

/// Throws kNotFound when a source that is a single object is asked for a part.
void require_no_part(std::string_view name, std::string_view part);

/// Throws kData when bytes [offset, offset + length) are not all inside an object of `size` bytes.
void require_range_inside(std::string_view name, std::uint64_t size, std::uint64_t offset, std::uint64_t length);

/// Throws kIo when the request's deadline has passed, kClosed when it was stopped: to be asked before it is submitted,
/// and whenever it has waited.
void require_wanted(std::string_view name, const ReadRequest& request);

}  // namespace stoker
