#include "stoker/runtime/loader_option_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <concepts>
#include <limits>
#include <type_traits>

#include "stoker/base/error.h"
#include "stoker/device/open_device.h"
#include "stoker/plan/device_batch.h"
#include "stoker/runtime/report/metrics_server.h"

namespace stoker {
namespace {

constexpr std::uint64_t kIntMax = std::numeric_limits<int>::max();
constexpr std::uint64_t kInt64Max = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kUint64Max = std::numeric_limits<std::uint64_t>::max();

template <auto kField>
void set(LoaderOptions& options, const OptionValue& value) {
  auto& field = options.*kField;
  using Field = std::remove_reference_t<decltype(field)>;
  if constexpr (std::same_as<Field, bool> || std::same_as<Field, std::string>) {
    field = std::get<Field>(value);
  } else if constexpr (std::integral<Field>) {
    field = static_cast<Field>(std::get<std::uint64_t>(value));
  } else {
    field = static_cast<typename Field::value_type>(std::get<std::uint64_t>(value));
  }
}

template <auto kField, auto kParse>
void set(LoaderOptions& options, const OptionValue& value) {
  options.*kField = kParse(std::get<std::string>(value));
}

template <auto kField>
void set_path(LoaderOptions& options, const OptionValue& value) {
  if (std::get<std::string>(value).empty()) fail(ErrorKind::kUsage, "the path is empty; give a path, or leave it out");
  set<kField>(options, value);
}

void set_pixels_max(LoaderOptions& options, const OptionValue& value) {
  options.limits = DecodeLimits::up_to(static_cast<std::int64_t>(std::get<std::uint64_t>(value)));
}

void set_cache_text(LoaderOptions& options, const OptionValue& value) {
  set_cache(options, std::get<std::string>(value));
}

std::string address_text(std::string_view address) { return parse_metrics_address(address).text(); }

OptionForm integer(std::uint64_t least, std::uint64_t most) { return {OptionKind::kInteger, least, most}; }

}  // namespace

std::span<const LoaderOptionSpec> loader_option_table() {
  using enum OptionKind;
  using Of = LoaderOptions;
  // In the order of Python's arguments.
  static const LoaderOptionSpec table[] = {
      {"batch", "--batch N", integer(1, kIntMax), "", set<&Of::batch>, "samples in a batch of this rank"},
      {"global_batch", "--global-batch N", integer(1, kInt64Max), "", set<&Of::global_batch>,
       "samples in a batch of all ranks together, instead of batch"},
      {"seed", "--seed S", integer(0, kUint64Max), "0", set<&Of::seed>,
       "number from which, with the epoch's number, the order and all random numbers follow"},
      {"threads", "--threads N|auto", integer(1, kIntMax), "auto", set<&Of::threads>, "worker threads",
       "tuned, or one per core that the process may use"},
      {"prefetch", "--prefetch N|auto", integer(1, kIntMax), "auto", set<&Of::prefetch>,
       "batches prepared ahead of the consumer", fmt::format("tuned, starts at {}", kPrefetchDefault)},
      {"memory", "--memory SIZE", kSize, "", set<&Of::memory>,
       "budget for everything that the loader holds, in bytes or as 512MiB", "a quarter of the machine's memory"},
      {"order", "--order global|windowed|none", kWord, "global", set<&Of::order, parse_order>,
       "shuffle the whole data set (global), the shards and the samples near each other (windowed), or nothing (none)"},
      {"window", "--window N", integer(1, kInt64Max), "", set<&Of::window>,
       "samples in each lane that the windowed order shuffles at a time", fmt::to_string(OrderOptions().window)},
      {"lanes", "--lanes C", integer(1, kIntMax), "", set<&Of::lanes>,
       "number of places at which the windowed order reads, for all ranks together",
       fmt::to_string(OrderOptions().lanes)},
      {"rank", "--rank R", integer(0, kIntMax), "", set<&Of::rank>,
       "number of this process among those that share the batches, from 0", "from torchrun, MPI or Slurm"},
      {"world", "--world W", integer(1, kIntMax), "", set<&Of::world>, "number of processes that share the batches",
       "from torchrun, MPI or Slurm, or 1"},
      {"tail", "--tail drop|wrap|pad|keep", kWord, "", set<&Of::tail, parse_tail>,
       "leave an incomplete last batch out (drop), fill it from the beginning of the epoch (wrap), pad it with images "
       "of zeros and labels of -100 (pad), or make it shorter (keep: some ranks may have one batch less)",
       "as the recipe says"},
      {"audit", "--audit FILE", kPath, "", set_path<&Of::audit>,
       "write a line for each delivered sample to this file, with a hash of its pixels"},
      {"bad_sample", "--bad-sample substitute|skip|fail", kWord, "substitute",
       set<&Of::bad_sample, parse_bad_slot_policy>,
       "replace a bad sample with another one (substitute), leave it out (skip), or stop (fail)"},
      {"quarantine", "--quarantine FILE", kPath, "", set_path<&Of::quarantine>,
       "treat the samples on this list as bad, and add newly found bad ones to it"},
      {"cache", "--cache none|ram|disk=DIR:SIZE", kText, "none", set_cache_text,
       "keep encoded samples for later epochs: in memory, shared by the ranks of a host (ram), or on a disk that is "
       "faster than the store, in a folder up to this size, shared by all processes of a host (disk=DIR:SIZE)"},
      {"cache_memory", "--cache-memory SIZE", kSize, "", set<&Of::cache_memory>,
       "part of the memory budget that the cache in memory may take",
       "as much as all samples need, at most half of the budget"},
      {"repeats", "--repeats N", integer(1, kInt64Max), "1", set<&Of::repeats>,
       "how many times each sample comes in an epoch, augmented anew each time; the epoch is that much longer"},
      {"batch_repeats", "--batch-repeats N", integer(1, kInt64Max), "", set<&Of::batch_repeats>,
       "how many times each sample comes in its global batch, augmented anew each time (repeated augmentation); an "
       "epoch stays as long, and has fewer different samples",
       "as the recipe says"},
      {"device", "--device DEVICE", kDevice, "cpu", set<&Of::device, open_device>,
       "run the stages after the transfer index here: cpu (no device), a GPU such as cuda:0, emulated:execute (for "
       "agreement), or emulated:NAME (a model that computes nothing, for timing)"},
      {"transfer_index", "--transfer-index K|auto", integer(0, kTransferIndexMax), "auto", set<&Of::transfer_index>,
       fmt::format("number of stages that the CPU runs before the data go to the device, 0 to {}", kTransferIndexMax),
       "tuned, starts at 0"},
      {"device_memory", "--device-memory SIZE", kSize, "", set<&Of::device_memory>,
       "budget for everything that the loader holds in the device's memory", "a quarter of it"},
      {"nvjpeg", "--nvjpeg", kFlag, "False", set<&Of::nvjpeg>,
       "at transfer index 0, let nvJPEG decode JPEGs for which no index has entry points; its pixels differ from "
       "Stoker's, so a state is only valid with the same setting"},
      {"pin_memory", "", kFlag, "False", set<&Of::pin_memory>,
       "keep batches on the CPU in pinned memory, so that copies to a GPU overlap with other work; "
       "Batch.record_stream() tells the loader which streams copy a batch"},
      {"pin_threads", "--no-pin-threads", kFlag, "True", set<&Of::pin_threads>,
       "with a GPU, keep the threads on the cores near it"},
      {"io_depth", "--io-depth N", integer(1, kIoDepthMax), "", set<&Of::io_depth>,
       "the largest number of reads in flight", fmt::format("tuned, starts at {}; with pread at most 32", kIoDepthMax)},
      {"metrics_address", "--metrics ADDRESS", kAddress, "", set<&Of::metrics_address, address_text>,
       "serve what the loader measures to Prometheus at http://ADDRESS/metrics; ADDRESS is IP:PORT, or a port of "
       "127.0.0.1; 0: any free port"},
      {"dashboard_address", "--dashboard ADDRESS", kAddress, "", set<&Of::dashboard_address, address_text>,
       "serve a live page about the loader at http://ADDRESS/, with an ADDRESS as for metrics"},
      {"name", "", kText, "", set<&Of::name>, "name of this loader in the metrics that it serves", "a number"},
      {"trace", "--trace FILE", kPath, "", set_path<&Of::trace>,
       "write a trace of all workers, reads, batches and devices to this file when the loader closes, for Perfetto "
       "(ui.perfetto.dev)"},
      {"tune", "--tune on|once|off", kWord, "on", set<&Of::tune, parse_tune_mode>,
       "tune those of threads, prefetch, io_depth and transfer_index that are not given, until no change makes "
       "training faster or cheaper: again whenever conditions change (on), once, or not at all (off)"},
      {"pixels_max", "--pixels-max N", integer(1, kInt64Max), "", set_pixels_max,
       "images of more pixels are bad samples", fmt::to_string(DecodeLimits().pixels_max)},
  };
  return table;
}

const LoaderOptionSpec& loader_option(std::string_view name) {
  const std::span<const LoaderOptionSpec> table = loader_option_table();
  const auto found = std::find_if(table.begin(), table.end(), [&](const auto& option) { return option.name == name; });
  assert(found != table.end());
  return *found;
}

std::string help_of(const LoaderOptionSpec& option) {
  if (option.initial == "auto") return fmt::format("{}; auto: {}", option.doc, option.unset);
  if (!option.unset.empty()) return fmt::format("{}; by default {}", option.doc, option.unset);
  if (option.initial.empty() || option.form.kind == OptionKind::kFlag) return option.doc;
  return fmt::format("{}; by default {}", option.doc, option.initial);
}

}  // namespace stoker
