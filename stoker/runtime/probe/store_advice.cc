#include "stoker/runtime/probe/store_advice.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "stoker/base/machine.h"
#include "stoker/capacity/rates.h"
#include "stoker/runtime/engine/memory_plan.h"

namespace stoker {
namespace {

// From the beginning, and so on through the data set.
constexpr std::int64_t kStretches = 8, kStretchSamples = 256, kStretchProbed = 64;

// Orders as fast as this part of the fastest count as equally fast: then the one that mixes better is better.
constexpr double kEquallyFast = 0.95;

// Round trips that opening a shard takes, and how many times as long reading it is to take.
constexpr double kRoundTripsToOpen = 4, kReadAgainstOpen = 100;
constexpr std::uint64_t kShardBytesLeast = 1'000'000;

constexpr std::int64_t kWindowsSamplesMost = 16384;  // of all lanes, that are tried
constexpr std::int64_t kWindows[] = {256, 1024, 4096};
constexpr int kLanes[] = {4, 8, 16, 32, 64};

/// Forecasts of loaders that differ by their order alone.
class Forecasts {
 public:
  Forecasts(const Dataset& dataset, const Recipe& recipe, LoaderOptions options, double cpu_samples_per_s)
      : dataset_(dataset),
        recipe_(recipe),
        plan_(recipe),
        options_(std::move(options)),
        cpu_samples_per_s_(cpu_samples_per_s) {
    options_.order = OrderKind::kGlobal;
    options_.window.reset();
    options_.lanes.reset();
  }

  BoardOptions board(const LoaderOptions& options) const { return forecast_board(dataset_, recipe_, plan_, options); }

  void lay_out(const std::vector<std::int64_t>& begins, std::int64_t each) {
    layout_ = stoker::lay_out(dataset_, board(options_), begins, each);
  }
  const SampleLayout& layout() const { return layout_; }

  OrderExpectation global(const StoreRates& rates) const {
    OrderExpectation order;
    expect(board(options_), rates, order);
    return order;
  }

  /// The fastest, and of those that are about as fast the one with the most lanes and the longest windows: it mixes
  /// best.
  std::optional<OrderExpectation> windowed(const StoreRates& rates) const {
    std::vector<OrderExpectation> tried;
    for (const int lanes : kLanes) {
      for (const std::int64_t window : kWindows) {
        if (const auto order = windowed(rates, window, lanes)) tried.push_back(*order);
      }
    }
    if (tried.empty()) return std::nullopt;
    double best = 0;
    for (const OrderExpectation& order : tried) best = std::max(best, order.samples_per_s());
    const auto chosen = std::find_if(tried.rbegin(), tried.rend(), [&](const OrderExpectation& order) {
      return order.samples_per_s() >= kEquallyFast * best;
    });
    return *chosen;
  }

 private:
  /// Nothing if the lanes do not divide the batch, or the windows are more than the data set or the read-ahead.
  std::optional<OrderExpectation> windowed(const StoreRates& rates, std::int64_t window, int lanes) const {
    if (lanes * window > std::min(kWindowsSamplesMost, dataset_.size())) return std::nullopt;
    LoaderOptions options = options_;
    options.order = OrderKind::kWindowed;
    options.window = window;
    options.lanes = lanes;
    const BoardOptions board = this->board(options);
    if (board.slice.batch % lanes != 0 || lanes % board.slice.world != 0) return std::nullopt;
    const std::size_t all = read_ahead_of(dataset_, board.tickets.tickets_ahead);
    if (board.read_ahead.bytes < std::min(all, read_ahead_of(dataset_, 5 * lanes * window / 4))) return std::nullopt;
    OrderExpectation order{.order = OrderKind::kWindowed, .window = window, .lanes = lanes};
    expect(board, rates, order);
    return order;
  }

  void expect(const BoardOptions& board, const StoreRates& rates, OrderExpectation& order) const {
    order.reads =
        forecast_reads(layout_, board, std::min(rates.requests_at_once, reads_at_once(order.order, options_)));
    order.capacity.rates.fill(kUnlimited);
    order.capacity[Resource::kStore] = store_samples_per_s(rates, order.reads);
    order.capacity[Resource::kCpu] = cpu_samples_per_s_;
  }

  const Dataset& dataset_;
  const Recipe& recipe_;
  const Plan plan_;
  LoaderOptions options_;
  const double cpu_samples_per_s_;
  SampleLayout layout_;
};

}  // namespace

double store_samples_per_s(const StoreRates& rates, const ReadForecast& reads) {
  const double each_s = rates.first_byte_s_p50 + reads.bytes / reads.requests / rates.connection_bytes_per_s;
  const double under_way = std::min(static_cast<double>(rates.requests_at_once), reads.requests_ahead);
  return std::min({rate_of_requests(rates.requests_per_s, reads.requests),
                   rate_of_bytes(rates.link_bytes_per_s, reads.bytes),
                   rate_of_latency(under_way, each_s, reads.requests)});
}

double threads_samples_per_s(double core_samples_per_s, int threads, double cores) {
  return core_samples_per_s * std::min<double>(threads, cores);
}

int reads_at_once(OrderKind order, const LoaderOptions& options) {
  if (options.io_depth) return *options.io_depth;
  const bool is_tuned = options.tune != TuneMode::kOff;
  return is_tuned && order == OrderKind::kWindowed ? kIoDepthFarFirst : kIoDepthMax;
}

std::uint64_t shard_bytes_enough(const StoreRates& rates, const OrderExpectation& order, std::uint64_t sample_bytes) {
  const double open_s = kRoundTripsToOpen * rates.first_byte_s_p50 / std::max(rates.requests_at_once, 1);
  const auto to_open = static_cast<std::uint64_t>(kReadAgainstOpen * open_s * rates.link_bytes_per_s);
  const std::uint64_t of_window = static_cast<std::uint64_t>(order.window) * sample_bytes;
  const std::uint64_t least = std::max({to_open, of_window, kShardBytesLeast});
  return std::bit_ceil((least + kShardBytesLeast - 1) / kShardBytesLeast) * kShardBytesLeast;
}

std::optional<StoreAdvice> advise_store(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& options,
                                        double core_samples_per_s) {
  std::vector<std::int64_t> begins, probed;
  for (std::int64_t i = 0; i < kStretches; ++i) {
    const std::int64_t begin = dataset.size() * i / kStretches;
    if (!begins.empty() && begin < begins.back() + kStretchSamples) continue;
    begins.push_back(begin);
    for (std::int64_t at = begin; at < std::min(begin + kStretchProbed, dataset.size()); ++at) probed.push_back(at);
  }
  const std::optional<StoreRates> rates = measure_store(dataset, probed);
  if (!rates) return std::nullopt;

  StoreAdvice advice;
  advice.rates = *rates;
  advice.threads = resolve_sizes(dataset, recipe, options).knobs.threads;
  advice.cpu_samples_per_s = threads_samples_per_s(core_samples_per_s, advice.threads, usable_core_time());
  Forecasts forecasts(dataset, recipe, options, advice.cpu_samples_per_s);
  forecasts.lay_out(begins, kStretchSamples);
  advice.loose = forecasts.layout().loose;
  advice.orders.push_back(forecasts.global(*rates));
  if (!advice.loose) {
    if (const auto windowed = forecasts.windowed(*rates)) advice.orders.push_back(*windowed);
  }
  if (advice.orders.size() > 1 && advice.orders[0].samples_per_s() < kEquallyFast * advice.orders[1].samples_per_s()) {
    advice.recommended = 1;
  }
  const std::uint64_t sample_bytes = forecasts.layout().span_each();
  advice.shard_bytes = shard_bytes_enough(*rates, advice.orders[advice.recommended], sample_bytes);
  advice.shard_bytes_now = sample_bytes * static_cast<std::uint64_t>(dataset.size()) / dataset.shard_samples().size();
  return advice;
}

}  // namespace stoker
