// Reads of loose files, each opened, read whole and closed.
#pragma once

#include <memory>
#include <vector>

#include "stoker/base/random.h"
#include "stoker/doctor/probe/data_files.h"
#include "stoker/doctor/probe/stored_reads.h"
#include "stoker/storage/file_access.h"
#include "stoker/storage/folder_source.h"

namespace stoker {

/// Larger files are read up to here.
inline constexpr std::uint64_t kLooseReadMax = 4 << 20;

class LooseReads final : public StoredReads {
 public:
  /// Opens the folders. Throws kNotFound or kIo.
  LooseReads(const DataFiles& files, const FileAccess& access, const StorageDevice& device);

  /// The files in another order, which has nothing to do with where they lie.
  std::vector<DataFiles::File> shuffled() const;

  std::vector<ReadSize> sizes(std::uint64_t record_bytes) const override;
  StoredRead all_in_order(double seconds) const override;
  TimedReads read_cold(const StoredRead& read) override;
  std::uint64_t load(std::uint64_t bytes, double seconds) override;
  TimedReads read_warm(const StoredRead& read) override;

 private:
  ReadPlace place_of(std::size_t file, std::uint64_t bytes) const;
  NextPlace each_once(std::vector<std::size_t> files, std::uint64_t bytes) const;

  const DataFiles& files_;
  std::vector<std::unique_ptr<FolderSource>> folders_;
  std::uint64_t largest_ = 1;       // of the files, up to kLooseReadMax
  std::vector<std::size_t> order_;  // of the files, shuffled
  std::size_t turn_ = 0;            // of the next file to be read cold
  std::vector<std::size_t> warm_;   // those that are in the page cache
  double files_per_s_;
  Random random_{0, 0, 0, random_stream("doctor", "loose reads", 0)};
};

}  // namespace stoker
