// What a ticket's sample is, and which of its bytes are to be read. Threads: any, for distinct tickets; needs no lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stoker/format/dataset.h"
#include "stoker/runtime/board/array_windows.h"
#include "stoker/runtime/board/raw_windows.h"
#include "stoker/runtime/board/ticket.h"
#include "stoker/runtime/report/quarantine.h"
#include "stoker/runtime/share/sample_cache.h"
#include "stoker/storage/cache/disk_cache.h"
#include "stoker/storage/kept_chunks.h"

namespace stoker {

struct LocatorOptions {
  std::vector<std::string> fields{};    // of a sample that are read: Plan::fields()
  std::vector<std::string> optional{};  // those that samples may lack: they have no bytes then
  std::vector<bool> images{};           // by field: entry points make decoding it faster
  RawWindows raw_windows{};             // what of images stored raw is read,
  ArrayWindows array_windows{};         // and of arrays
  std::uint64_t seed = 0;               // of what is drawn for samples
  std::uint64_t sample_bytes_max = std::uint64_t{1} << 30;
  // Names the loader's budget in which so large a sample can be had, for errors: "413MB".
  std::function<std::string(std::uint64_t bytes)> enough_memory{};
  std::shared_ptr<const Quarantine> quarantine{};  // samples that are known to be bad, if any
  std::shared_ptr<SampleCache> cache{};            // of encoded samples, if any
  DiskCache* disk_cache = nullptr;                 // in front of their sources, if any
  KeptChunks* entry_points = nullptr;              // in front of those of entry points, if any
};

class SampleLocator {
 public:
  SampleLocator(const Dataset& dataset, LocatorOptions options)
      : dataset_(dataset), options_(std::move(options)), array_windows_(options_.array_windows) {}

  /// Fields of a sample that are read.
  std::size_t field_count() const { return options_.fields.size(); }
  /// Whether a sample was known to be bad from the beginning.
  bool knows_bad(const SampleRow& row) const {
    return options_.quarantine && row.source && options_.quarantine->contains(row);
  }

  /// Finds out where the tickets' samples lie and what they will read; what is wrong with that stands in their errors.
  /// May wait for an index to be read, and for headers of arrays. One thread at a time, for its windows.
  void locate(std::span<Ticket* const> tickets) const;
  void locate(Ticket& ticket) const {
    Ticket* const one = &ticket;
    locate(std::span(&one, 1));
  }
  /// Keeps what was read for a ticket whose sample is good, if there is a cache with room for it.
  void keep_in_cache(const Ticket& ticket) const;

 private:
  void find_row(Ticket& ticket) const;
  void read_array_headers(std::span<Ticket* const> tickets) const;
  void choose_reads(Ticket& ticket) const;
  void add_field(Ticket& ticket, std::size_t number) const;
  void check_length(std::uint64_t bytes) const;
  void leave_out_unwanted(Ticket& ticket) const;
  void read_window(Ticket& ticket, std::size_t number) const;
  void add_entry_points(Ticket& ticket) const;
  bool find_in_cache(Ticket& ticket) const;
  void read_by_caches(SampleRow& row) const;

  const Dataset& dataset_;
  const LocatorOptions options_;
  mutable ArrayWindows array_windows_;
  mutable std::vector<ArrayField> array_fields_;  // memory used again
};

}  // namespace stoker
