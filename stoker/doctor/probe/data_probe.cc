#include "stoker/doctor/probe/data_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/codec/own_decoder.h"
#include "stoker/doctor/probe/data_files.h"
#include "stoker/doctor/probe/figure_of.h"
#include "stoker/format/shard_format.h"
#include "stoker/order/epoch_order.h"
#include "stoker/runtime/engine/memory_plan.h"
#include "stoker/runtime/probe/read_forecast.h"
#include "stoker/runtime/probe/store_advice.h"
#include "stoker/storage/source.h"

namespace stoker {
namespace {

constexpr std::int64_t kSamplesLooked = 4096, kSamplesLookedQuick = 1024;
// Of images whose facts no index has, whose bytes are read.
constexpr int kImagesRead = 512, kImagesReadQuick = 128;
constexpr double kImagesReadS = 5, kImagesReadQuickS = 1.5;

// From the beginning, and so on through the data set.
constexpr std::int64_t kStretchCount = 8, kStretchLength = 256;

/// What is known of some samples.
class SampleLook {
 public:
  SampleLook(const Dataset& dataset, const Plan& plan, const DecodeLimits& decode, const Quarantine* listed,
             const ProbeLimits& limits)
      : dataset_(dataset), plan_(plan), decoder_(decode), listed_(listed), limits_(limits) {}

  void look() {
    const std::vector<std::int64_t> samples =
        spread_samples(dataset_, limits_.pick(kSamplesLooked, kSamplesLookedQuick));
    dataset_.prepare(samples);
    std::vector<std::int64_t> unknown;
    for (const std::int64_t sample : samples) {
      limits_.check();
      dataset_.read(sample, row_);
      if (!first_source_) first_source_ = row_.source;
      add_fields();
      if (row_.soundness == Soundness::kBad) {
        add_bad("by its index it is bad");
      } else if (row_.facts) {
        add_image(*row_.facts);
      } else if (row_.image_field()) {
        unknown.push_back(sample);
      }
    }
    if (bad_.looked == 0) read_images(unknown);
  }

  void fill(DataFacts& facts) {
    facts.layout = loose_ ? "loose" : "packed";
    facts.format = format();
    const double share = all_bytes_ > 0 ? wanted_bytes_ / all_bytes_ : 1;
    facts.bytes = static_cast<double>(dataset_.bytes()) * share;
    facts.record_bytes_quantiles = quantiles_of(std::move(records_), kQuantiles);
    if (!facts.record_bytes_quantiles.empty()) {
      facts.record_bytes = static_cast<std::uint64_t>(facts.record_bytes_quantiles[kQuantiles / 2]);
    }
    facts.width_quantiles = quantiles_of(std::move(widths_), kQuantiles);
    facts.height_quantiles = quantiles_of(std::move(heights_), kQuantiles);
    for (const auto& [codec, count] : codecs_) {
      facts.codecs.push_back({std::string(to_string(codec)), static_cast<double>(count) / images_});
    }
    std::sort(facts.codecs.begin(), facts.codecs.end(),
              [](const DataFacts::Codec& a, const DataFacts::Codec& b) { return a.share > b.share; });
    facts.bits_per_pixel = pixels_ > 0 ? 8 * image_bytes_ / pixels_ : 0;
    facts.slow_path_share = images_ > 0 ? slow_ / images_ : 0;
    facts.bad_samples = std::move(bad_);
  }

 private:
  void add_fields() {
    double bytes = 0;
    for (const SampleField& field : row_.fields) loose_ |= !field.part.empty();
    for (const std::string& name : plan_.fields()) {
      if (const SampleField* const field = row_.find(name)) bytes += static_cast<double>(field->length);
    }
    records_.push_back(bytes);
    wanted_bytes_ += bytes;
    all_bytes_ += static_cast<double>(row_.bytes());
  }

  /// Of the row.
  void add_image(const ImageFacts& facts) {
    ++bad_.looked, ++images_;
    ++codecs_[facts.codec];
    widths_.push_back(facts.width);
    heights_.push_back(facts.height);
    image_bytes_ += static_cast<double>(row_.image_field()->length);
    pixels_ += static_cast<double>(facts.width) * facts.height;
    if (!suits_own_decoder(facts) || row_.soundness == Soundness::kConcealed) ++slow_;
  }

  /// The row.
  void add_bad(std::string_view reason) {
    ++bad_.looked;
    if (listed_ && listed_->contains(row_)) {
      ++bad_.listed;
    } else if (bad_.bad++ == 0) {
      bad_.example = fmt::format("{}, sample '{}': {}", row_.source->name(), row_.key, reason);
    }
  }

  void read_images(const std::vector<std::int64_t>& samples) {
    const std::size_t most = static_cast<std::size_t>(limits_.pick(kImagesRead, kImagesReadQuick));
    const std::size_t count = std::min(most, samples.size());
    const std::int64_t end_ns = now_ns() + limits_.ns(kImagesReadS, kImagesReadQuickS);
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = 0; i < count && now_ns() < end_ns; ++i) {
      limits_.check();
      dataset_.read(samples[i * samples.size() / count], row_);
      const SampleField& image = *row_.image_field();
      bytes.resize(image.length);
      read_fully(*row_.source, image.offset, bytes, image.part);
      try {
        add_image(decoder_.read_facts(bytes));
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::kBadSample && error.kind() != ErrorKind::kLimit) throw;
        add_bad(error.message());
      }
    }
  }

  /// Of the first shard; empty if it does not say.
  std::string format() const {
    if (loose_) return "folder";
    if (!first_source_) return {};
    const Stores local;
    const Location place(first_source_->name());
    const std::optional<ObjectFacts> facts = place.is_local() ? local.find(place) : std::nullopt;
    try {
      const ShardFormat* const format = format_of(ShardCandidate(local, place, facts));
      return format ? std::string(format->name()) : std::string();
    } catch (const Error&) {  // a store that is not local has more to tell than its name
      return {};
    }
  }

  const Dataset& dataset_;
  const Plan& plan_;
  AnyImageDecoder decoder_;
  const Quarantine* const listed_;
  const ProbeLimits& limits_;
  SampleRow row_;
  const Source* first_source_ = nullptr;
  bool loose_ = false;
  double wanted_bytes_ = 0, all_bytes_ = 0, image_bytes_ = 0, pixels_ = 0;
  double images_ = 0, slow_ = 0;
  BadFacts bad_;
  std::vector<double> records_, widths_, heights_;
  std::map<Codec, std::int64_t> codecs_;
};

std::vector<std::int64_t> stretch_begins(const Dataset& dataset) {
  std::vector<std::int64_t> begins;
  for (std::int64_t i = 0; i < kStretchCount; ++i) {
    const std::int64_t begin = dataset.size() / kStretchCount * i;
    if (begins.empty() || begin >= begins.back() + kStretchLength) begins.push_back(begin);
  }
  return begins;
}

/// The loader's options with another order; nothing if it would refuse that.
std::optional<LoaderOptions> in_order(OrderKind order, const Dataset& dataset, const Recipe& recipe,
                                      const LoaderOptions& loader) {
  LoaderOptions other = loader;
  other.order = order;
  if (order != OrderKind::kWindowed) {
    other.window.reset();
    other.lanes.reset();
  }
  if (thrown_by([&] { resolve_options(dataset, recipe, other); })) return std::nullopt;
  return other;
}

// It does not depend on which samples come when.
std::int64_t batches_of_epoch(OrderOptions order) {
  order.kind = OrderKind::kNone;
  order.mixture.clear();
  return EpochOrder(order, 0).batches();
}

std::string_view name_of(CacheKind cache) {
  switch (cache) {
    case CacheKind::kRam: return "ram";
    case CacheKind::kDisk: return "disk";
    case CacheKind::kNone: break;
  }
  return "none";
}

}  // namespace

std::unique_ptr<const Quarantine> listed_bad_samples(const LoaderOptions& loader) {
  if (loader.quarantine.empty() || !std::filesystem::exists(loader.quarantine)) return nullptr;
  return std::make_unique<Quarantine>(loader.quarantine);
}

DataFacts probe_data(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& loader,
                     const Quarantine* listed, const ProbeLimits& limits) {
  const Plan plan(recipe);
  DataFacts facts;
  facts.samples = dataset.size();
  SampleLook look(dataset, plan, loader.limits, listed, limits);
  look.look();
  look.fill(facts);
  limits.check();
  const BoardOptions board = forecast_board(dataset, recipe, plan, loader);
  const SampleLayout layout = lay_out(dataset, board, stretch_begins(dataset), kStretchLength);
  const ReadForecast reads = forecast_reads(layout, board, reads_at_once(loader.order, loader));
  facts.read_bytes = reads.bytes;
  facts.requests = reads.requests;
  facts.index_bytes = reads.bytes_apart;
  facts.index_requests = reads.requests_apart;
  if (layout.loose) return facts;
  for (const OrderKind order : {OrderKind::kGlobal, OrderKind::kWindowed}) {
    if (order == loader.order) continue;
    const std::optional<LoaderOptions> other = in_order(order, dataset, recipe, loader);
    if (!other) continue;
    const ReadForecast its =
        forecast_reads(layout, forecast_board(dataset, recipe, plan, *other), reads_at_once(order, *other));
    facts.other_orders.push_back(
        {std::string(to_string(order)), its.bytes, its.requests, its.bytes_apart, its.requests_apart});
  }
  return facts;
}

RunFacts run_facts(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& loader, bool direct) {
  const ResolvedOptions resolved = resolve_options(dataset, recipe, loader);
  RunFacts run;
  run.batch = resolved.batch;
  run.threads = resolved.knobs.threads;
  run.prefetch = resolved.knobs.prefetch;
  run.io_depth = resolved.knobs.io_depth;
  if (loader.device) run.transfer_index = resolved.knobs.transfer_index;
  run.order = std::string(to_string(loader.order));
  run.may_window = in_order(OrderKind::kWindowed, dataset, recipe, loader).has_value();
  run.memory_bytes = resolved.memory;
  run.direct = direct;
  run.cache = std::string(name_of(loader.cache));
  if (loader.cache == CacheKind::kRam) run.cache_bytes = plan_memory(dataset, Plan(recipe), resolved).cache;
  if (loader.cache == CacheKind::kDisk) run.cache_bytes = loader.cache_bytes_max;
  run.slots = batches_of_epoch(resolved.order) * resolved.batch;
  const std::int64_t times = resolved.order.repeats * resolved.order.batch_repeats;
  run.different_samples = std::min(dataset.size(), run.slots / std::max<std::int64_t>(times, 1));
  run.bad_sample = std::string(to_string(loader.bad_sample));
  return run;
}

}  // namespace stoker
