// What the doctor knows of a machine, a data set, a recipe and a training step: what its probes measured, and what the
// model computes with. Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stoker {

/// One quantity, measured several times.
struct Figure {
  double median = 0;
  double low = 0, high = 0;  // the quartiles of the tries
  int count = 0;             // tries; 0: not measured
  std::string caveat{};      // why it may not be what it seems: "read from the page cache"; empty if nothing is known

  bool known() const { return count > 0; }
  /// Half of what lies between the quartiles, against the median.
  double spread() const { return median > 0 ? (high - low) / 2 / median : 0; }
};

struct GpuFacts {
  std::string name;
  std::string bus_id;           // on the PCI bus
  int numa_node = -1;           // -1: not known
  double link_bytes_per_s = 0;  // of its PCIe link, as negotiated; 0: not known
  std::uint64_t memory_bytes = 0;
};

struct MachineFacts {
  std::string name{};
  double cores = 1;  // that this process may use: a quota may leave a part of one
  int sockets = 1, numa_nodes = 1;
  std::uint64_t memory_bytes = 0;  // that this process may use, page cache included
  std::vector<GpuFacts> gpus{};
  std::optional<double> network_bytes_per_s{};  // of the fastest interface that is up, as it says
  double stolen_share = 0;                      // of the cores' time, while the probes ran: by other virtual machines
  double others_cores = 0;                      // of `cores`, that other programs used meanwhile

  /// Whether so much was taken from the probes that what they measured means little.
  bool too_noisy() const { return stolen_share + others_cores / cores > 0.25; }
};

/// Reads of one size, so many at a time.
struct ReadFacts {
  std::uint64_t bytes = 0;
  int depth = 1;
  Figure reads_per_s{};
  Figure latency_s{};
};

/// Storage on this machine, or mounted into it. Cold figures count only if the device was seen to give the bytes.
struct StorageFacts {
  std::string file_system, device;  // "ext4", "/dev/nvme0n1"
  // "hdd", "sata-ssd", "nvme", "network-disk" (a virtual machine's, too), "nfs", "memory"; empty: not known
  std::string device_class;
  bool over_network = false;                                       // nfs, cifs, lustre, ...
  Figure cold_bytes_per_s{}, warm_bytes_per_s{};                   // in order
  std::vector<ReadFacts> cold{}, warm{};                           // at random
  Figure cold_opens_per_s{}, warm_opens_per_s{};                   // of loose files, with what stat says of them
  std::optional<double> limit_bytes_per_s{}, limit_reads_per_s{};  // set by a control group on this process
};

/// A store behind a network.
struct StoreFacts {
  Figure first_byte_s{};  // median
  double first_byte_s_p99 = 0;
  Figure connection_bytes_per_s{}, link_bytes_per_s{}, requests_per_s{};
  int requests_at_once = 1;
  Figure cpu_s_per_request{}, cpu_s_per_byte{};  // of a core, for small answers and for large ones
  bool throttled = false;                        // it answered that it was asked too often
};

struct StageFacts {
  std::string name;  // as `plan` has it
  std::string kind;  // "decode", "geometry", ...: ops/stage.h
  double cpu_s = 0;  // of one core, per sample
  std::optional<double> device_s{};
  double bytes_out = 0;
};

struct CpuFacts {
  std::vector<StageFacts> stages{};
  double other_s = 0;              // per sample, outside the stages: reading, checking, batches
  std::vector<double> sample_s{};  // quantiles of a sample's whole cost, evenly spaced from the least to the largest
  struct Scaling {
    int threads = 1;
    Figure samples_per_s{};
    double cpu_s = 0;  // per sample, of all threads
  };
  std::vector<Scaling> scaling{};  // with data in memory
  double entry_point_share = 0;    // of images decoded by the entry points of an index
  double indexed_decode = 0;       // of decoding's time: what it would take with an index; 0: not known

  double total_s() const {
    double sum = other_s;
    for (const StageFacts& stage : stages) sum += stage.cpu_s;
    return sum;
  }
};

struct MemoryFacts {
  Figure copy_bytes_per_s{};  // bytes copied, of so many cores together:
  double cores = 0;
  double copied_bytes = 0;  // per sample, by the loader
};

struct CopyFacts {
  std::string device;  // empty: there is none
  Figure pinned_bytes_per_s{}, pageable_bytes_per_s{};
  Figure far_bytes_per_s{};                       // pinned, from another socket; unknown where there is one alone
  std::vector<double> bytes_per_sample{};         // by transfer index
  std::vector<double> cpu_s_per_sample{};         // the same: what is left to a core, CpuFacts::other_s apart
  std::vector<std::optional<double>> device_s{};  // the same: of the device's kernels
  Figure together_bytes_per_s{};                  // pinned, of so many GPUs while all copy:
  int together = 0;
};

struct StepFacts {
  std::string source;     // "seconds", a profile's name, "replay"
  Figure seconds{};       // of one step, with all data there
  int batch = 0;          // samples of it
  int gpus = 1;           // that take a batch each
  std::string account{};  // of a replayed one, where it comes from: "40 steps on ..., 2 days ago"
};

/// Of some samples that were looked at.
struct BadFacts {
  std::int64_t looked = 0;
  std::int64_t bad = 0;     // of these, but for
  std::int64_t listed = 0;  // those that the quarantine list has, of which a run takes no notice
  std::string example{};    // one of the bad ones, and why

  double share() const { return looked > 0 ? static_cast<double>(bad) / static_cast<double>(looked) : 0; }
};

struct DataFacts {
  /// What an order reads, per sample.
  struct OrderReads {
    std::string order;
    double bytes = 0, requests = 0;
    double index_bytes = 0, index_requests = 0;  // of these, of entry points in an index
  };

  std::string layout;  // "packed", "loose"
  std::string format;
  std::int64_t samples = 0;
  double bytes = 0;                              // of all samples' fields that the recipe reads
  double read_bytes = 0;                         // per sample, as the loader reads them
  double requests = 0;                           // the same: reads or requests
  double index_bytes = 0, index_requests = 0;    // of these, of entry points in an index
  std::vector<OrderReads> other_orders{};        // what they would read of packed data, as far as that was worked out
  std::uint64_t record_bytes = 0;                // the median sample
  std::vector<double> record_bytes_quantiles{};  // evenly spaced from the least to the largest
  std::vector<double> width_quantiles{}, height_quantiles{};
  struct Codec {
    std::string name;
    double share = 0;
  };
  std::vector<Codec> codecs{};
  double bits_per_pixel = 0;
  double slow_path_share = 0;  // images that the fast decoder does not take
  BadFacts bad_samples{};
};

/// The run that is asked about. Each of the GPUs has a loader of its own, with so many threads and reads.
struct RunFacts {
  int batch = 0, threads = 0, prefetch = 0, io_depth = 0;
  int transfer_index = -1;  // -1: there is no device
  std::string order;
  bool may_window = true;          // it would take the windowed order
  std::uint64_t memory_bytes = 0;  // its budget
  bool direct = false;             // it reads past the page cache
  std::string cache = "none";      // "none", "ram", "disk"
  std::uint64_t cache_bytes = 0;
  std::int64_t slots = 0;              // of an epoch, that are filled for one of the GPUs
  std::int64_t different_samples = 0;  // that stand in them, at least
  std::string bad_sample = "substitute";
};

struct Facts {
  MachineFacts machine;
  std::optional<StorageFacts> storage{};  // of local data
  std::optional<StoreFacts> store{};      // of data behind a network
  CpuFacts cpu;
  MemoryFacts memory;
  CopyFacts copy;
  StepFacts step;
  DataFacts data;
  RunFacts run;
  std::vector<std::string> doubts{};  // sentences: what could not be measured honestly, and why
};

}  // namespace stoker
