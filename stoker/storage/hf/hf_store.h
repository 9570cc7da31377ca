// Repositories of the Hugging Face hub, "hf://datasets/OWNER/NAME[@REVISION]/path": read, not written. The first look
// at a revision finds its commit, which is what all that follows is of, so that a push changes nothing under a reader.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "stoker/storage/hf/hf_snapshot.h"
#include "stoker/storage/store.h"

namespace stoker {

class HfStore final : public Store {
 public:
  /// `access` is asked for with the first request: what it throws, all that needs the hub throws.
  HfStore(std::shared_ptr<HttpTransport> transport, std::function<HfAccess()> access);

  std::string_view scheme() const override { return "hf"; }
  /// A file's tag is the hash of its content. Throws kIo when the hub does not answer, kClosed when the transport was
  /// stopped.
  std::optional<ObjectFacts> find(const Location& at) const override;
  /// Throws also what the hub refuses, saying what to check, and kUsage for a location that names no repository.
  ObjectFacts stat(const Location& at, std::string_view doing) const override;
  std::unique_ptr<Folder> list(const Location& folder) const override;
  std::vector<Location> match(const Location& pattern) const override;
  std::shared_ptr<Source> open(const Location& at) const override;
  std::shared_ptr<Source> open_folder(const Location& folder) const override;
  /// They throw kUsage.
  std::unique_ptr<ObjectWriter> put(const Location& at) const override;
  void remove(const Location& at) const override;
  std::shared_ptr<const TrafficMeter> meter() const override { return transport_; }

 private:
  using Snapshot = std::shared_ptr<const HfSnapshot>;
  struct Found {
    Snapshot snapshot;
    HfEntry entry;
  };

  HfAnswer<Snapshot> snapshot_of(const HfRepository& repository, const HfQuestion& question) const;
  HfAnswer<Snapshot> resolve(const HfRepository& repository, const HfQuestion& question) const;
  HfAnswer<Found> look_at(const HfPath& path, const HfQuestion& question) const;
  /// The listing of a folder that has to be there.
  std::shared_ptr<const HfListing> list_folder(const HfSnapshot& snapshot, const std::string& folder, bool recursive,
                                               const HfQuestion& question) const;
  void match_below(const HfSnapshot& snapshot, const std::string& folder, std::string_view pattern,
                   const HfQuestion& question, std::vector<std::string>& found) const;

  const std::shared_ptr<HttpTransport> transport_;
  const std::function<HfAccess()> access_;
  const HomeProcess home_{};
  mutable std::mutex mutex_;
  mutable std::map<std::string, Snapshot> snapshots_;  // by kind, name and revision
};

}  // namespace stoker
