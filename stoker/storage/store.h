// The seam for storage: one kind of storage, which lists, examines, opens (for reading by range) and writes objects.
// Stores chooses the kind by the scheme of a Location.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/storage/folder.h"
#include "stoker/storage/location.h"
#include "stoker/storage/object_writer.h"
#include "stoker/storage/source.h"
#include "stoker/storage/store_traffic.h"

namespace stoker {

/// Facts about an object, or a folder of objects, without opening it.
struct ObjectFacts {
  mode_t mode = S_IFREG;  // what it is; a store that has objects and prefixes alone says S_IFREG or S_IFDIR
  std::uint64_t size = 0;
  Folder::Identity identity{};     // a file's; objects without one have zeros, or a hash of their names
  timespec modified{}, changed{};  // its bytes; the file in any way
  std::string tag{};               // of its content, where the store keeps one (an ETag)

  bool is_folder() const { return S_ISDIR(mode); }
  bool is_file() const { return S_ISREG(mode); }
  /// A text that changes when the bytes are replaced or changed.
  std::string version() const;
  /// Like version(), but also detects changes after which the times were set back.
  std::string strict_version() const;
};

/// Threads: any.
class Store {
 public:
  virtual ~Store() = default;

  /// The scheme of its locations: "s3"; empty for plain paths.
  virtual std::string_view scheme() const = 0;

  /// Nullopt if there is nothing, or it may not be examined. A store that is far away throws kIo when it does not
  /// answer.
  virtual std::optional<ObjectFacts> find(const Location& at) const = 0;
  /// Throws kNotFound or kIo: "cannot `doing` 's3://...': why".
  virtual ObjectFacts stat(const Location& at, std::string_view doing) const;
  /// A hint that these will be examined before long: a store that is far away asks for all of them at once. Never
  /// fails.
  virtual void expect(std::span<const Location> /*objects*/) const {}
  virtual bool can_list() const { return true; }
  /// The entries directly in a folder. Throws kNotFound or kIo.
  virtual std::unique_ptr<Folder> list(const Location& folder) const = 0;
  /// The locations that match a pattern of `*`, `?` and `[`, sorted by bytes. Throws kIo.
  virtual std::vector<Location> match(const Location& pattern) const = 0;

  /// Opens a single object. Throws kNotFound or kIo, and kUsage for one that cannot be read by range.
  virtual std::shared_ptr<Source> open(const Location& at) const = 0;
  /// Opens the same object for reads of samples, mostly at random: by default the source itself. Throws kData when the
  /// object has been replaced since it was opened.
  virtual std::shared_ptr<Source> open_for_samples(const std::shared_ptr<Source>& opened) const { return opened; }
  /// The objects in a folder, and in those below it, as parts of one source. Throws kNotFound or kIo.
  virtual std::shared_ptr<Source> open_folder(const Location& folder) const = 0;

  /// Begins an object, which replaces one of that name when it is committed. Throws kNotFound or kIo.
  virtual std::unique_ptr<ObjectWriter> put(const Location& at) const = 0;
  /// Removes an object; it may be gone already. Throws kIo, and kUsage for a store that cannot.
  virtual void remove(const Location& at) const = 0;
  /// Removes what writers that were killed have left in a folder of objects that are not whole. Throws kIo.
  virtual void remove_unfinished(const Location& /*folder*/) const {}
  /// Makes a folder, and those above it, if the store needs existing folders to write objects. Throws kIo.
  virtual void create_folder(const Location& /*folder*/) const {}
  /// The same for one of several writers that may write an object at the same time, the same bytes: what is not whole
  /// yet is then each one's own. Null for a store where that is so anyway.
  virtual std::shared_ptr<const Store> for_writer(std::string_view /*writer*/) const { return nullptr; }
  /// What counts its requests, if it is reached over a network: the same for stores that share a connection.
  virtual std::shared_ptr<const TrafficMeter> meter() const { return nullptr; }
  /// Whether `inner` would be in the folder, or below it.
  virtual bool lies_in(const Location& inner, const Location& folder) const;
  /// A hint that this, which may be a folder, will be examined, and the file of that name in it read: a store that is
  /// far away asks for both at once. Throws kIo, as find() does, when the store does not answer.
  virtual void expect_folder(const Location& /*folder*/, std::string_view /*file*/) const {}
};

}  // namespace stoker
