// What a user may ask of a loader. Threads: a value; many may read it, one may change it. The loader copies them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/codec/decode_limits.h"
#include "stoker/order/order_options.h"
#include "stoker/runtime/bad_slot_policy.h"
#include "stoker/tensor/allocator.h"

namespace stoker {

class Device;
struct TuningMove;

/// How far an epoch has come.
struct LoaderProgress {
  std::int64_t epoch = 0;
  std::int64_t batches = 0, batches_per_epoch = 0;
  std::int64_t samples = 0;  // of all epochs so far
};

/// Storage answers no faster when it is asked for more at once.
constexpr int kIoDepthMax = 1024;
/// Where tuning begins for data in a store far away: an answer takes as long there whether there are one or hundreds,
/// so that what is few wastes the first windows.
constexpr int kIoDepthFarFirst = 256;

/// Whether the knobs that the options leave open are turned while the loader runs, until they are at their best: always
/// again when something changes, once, or not at all.
enum class TuneMode : std::uint8_t { kOn, kOnce, kOff };
/// Throws kUsage.
TuneMode parse_tune_mode(std::string_view word);

/// Where encoded samples are kept for later epochs.
enum class CacheKind : std::uint8_t {
  kNone,
  kRam,   // in memory: those that were read first, as far as they fit
  kDisk,  // on a disk, in front of slower storage (storage/cache/disk_cache.h)
};

struct LoaderOptions;
/// "none", "ram", "disk=DIR:SIZE"; throws kUsage.
void set_cache(LoaderOptions& options, std::string_view text);

/// The table of those that users give by name, loader_option_table.h, says more about each.
struct LoaderOptions {
  int batch = 0;                  // slots per rank; either this
  std::int64_t global_batch = 0;  // or this, of all ranks
  std::uint64_t seed = 0;
  int threads = 0;                // workers; 0: as tuned, or as many as there are cores that they may use
  std::optional<int> prefetch{};  // batches made ahead of the consumer; unset: as tuned, or kPrefetchDefault
  std::optional<int> io_depth{};  // reads under way at once, at most; unset: as tuned, or kIoDepthMax
  TuneMode tune = TuneMode::kOn;
  // Called when the tuner has news, by its thread; at first there is no window yet; must not throw. It may close the
  // loader, whose destructor then joins that thread.
  std::function<void(const TuningMove&)> tuned{};
  std::optional<std::uint64_t> memory{};  // bytes, of all that a loader holds; unset: a quarter of the machine's
  DecodeLimits limits{};                  // of images: larger ones are bad samples
  OrderKind order = OrderKind::kGlobal;
  std::optional<std::int64_t> window{};         // samples, of the windowed order only; unset: as OrderOptions has it
  std::optional<int> lanes{};                   // of the windowed order only; unset: as OrderOptions has it
  std::int64_t repeats = 1;                     // how often each sample comes in an epoch, augmented anew each time
  std::optional<std::int64_t> batch_repeats{};  // how often each sample of a global batch stands in it, augmented anew
                                                // each time; unset: the recipe's
  std::optional<int> rank{}, world{};           // unset: what the launcher says (order/launcher.h)
  bool launched = true;                         // false: a loader of its own, about which the launcher says nothing
  std::optional<Tail> tail{};                   // unset: the recipe's
  CacheKind cache = CacheKind::kNone;           // of encoded samples, shared by the ranks of this host
  std::string cache_folder{};                   // of the cache on a disk,
  std::uint64_t cache_bytes_max = 0;            // and its size, for all processes that use it
  std::optional<std::uint64_t> cache_memory{};  // bytes, in memory; unset: what all samples need, at most half
  BadSlotPolicy bad_sample = BadSlotPolicy::kSubstitute;
  std::string quarantine{};         // file: samples that it lists are bad, others that are bad are added; empty: none
  std::string metrics_address{};    // to serve metrics at (runtime/report/metrics_server.h); empty: nowhere
  std::string dashboard_address{};  // to serve a page about them at (runtime/report/dashboard.h); empty: nowhere
  std::string name{};               // of this loader in its metrics; empty: a number
  std::string audit{};              // file to write one line per delivered sample to; empty: none
  std::string trace{};              // file for what each thread did when (runtime/report/trace.h); empty: none
  bool step_goes_on = false;        // while the consumer takes a batch that is there: it only emulates an accelerator
  bool keep_step = true;  // the time of the consumer's steps is kept for the doctor (runtime/report/step_record.h)
  std::int64_t epochs_end = INT64_MAX;  // the first epoch that will not be asked for: nothing of it is prefetched
  std::function<void(const LoaderProgress&)> progress{};  // called after each batch, by the thread that took it
  Allocator* allocator = &host_allocator();               // of batches and read-ahead; outlives them
  std::shared_ptr<Device> device{};     // that does the stages after the transfer index, from open_device(); null: none
  std::optional<int> transfer_index{};  // stages before it; unset: as tuned, or none where there is a device
  std::optional<std::uint64_t> device_memory{};  // budget in bytes of its own memory; unset: a quarter of it
  bool nvjpeg = false;      // at index 0 it decodes JPEGs without entry points, to pixels of its own: kept in the state
  bool pin_memory = false;  // of batches that the consumer copies to a GPU, if there is no device
  bool pin_threads = true;  // to the cores near the device, where some are nearer than others
};

constexpr int kPrefetchDefault = 2;

}  // namespace stoker
