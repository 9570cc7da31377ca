#include "stoker/doctor/model/reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "stoker/doctor/model/read_table.h"

namespace stoker {
namespace {

constexpr double kReadSigma = 0.5;         // of a disk's reads, as logarithms, where it was not measured
constexpr double kStoreSigmaMost = 0.5;    // of a store's: late answers are asked for a second time
constexpr double kDiskClassError = 0.2;    // of the catalogue's figures: those of disks that are called the same
constexpr double kAloneOfDepth = 0.6;      // of what reads take that keep a disk busy: at most, of each by itself
constexpr double kLongBytesPerS = 160e6;   // of long reads, at least, where no file is large enough to try
constexpr double kLongError = 0.5;         // of that
constexpr double kReadInOrder = 64 << 10;  // bytes of the reads that a disk is asked for in order, at least
constexpr double kHeldByDepth = 0.75;      // of what a disk gives at more depth: below that, the depth is what limits
constexpr double kCounted = 0.9;           // of the reads that a control group allows: it is what holds them back
constexpr double kOpensReads = 2;          // small reads that opening a file takes: its directory's, its own
constexpr double kWarmOpensPerS = 200e3;   // where it was not measured
constexpr double kOpenedFileBytes = 1200;  // of memory, that a file takes which was opened before
constexpr double kOpenedFilesPart = 0.1;   // of memory, in which they stay
constexpr double kLinkIsNic = 0.75;        // of the NIC's rate: a store that gives so much is not what limits
constexpr double kNicReached = 0.9;        // of its rate, by bytes of files
const DiskClass kTypicalDisk{.name = "sata-ssd", .bytes_per_s = 0.55e9, .reads_per_s = 80e3, .latency_s = 150e-6};

// Seconds of a resource for a sample, and by how much of them that may be off.
struct ResourceCost {
  double seconds = 0, error_s = 0;

  void add(double more_s, double error) {
    seconds += more_s;
    error_s += more_s * error;
  }
  Carried carried() const {
    if (seconds <= 0) return {};
    return {1 / seconds, error_s / seconds};
  }
};

class ReadingModel {
 public:
  ReadingModel(const Facts& facts, const Configuration& change, const ResolvedRun& run, Epoch epoch)
      : facts_(facts), change_(change), run_(run), epoch_(epoch), sources_(run.sources(epoch)) {
    reading_.depth = run.io_depth;
  }

  Reading read() {
    if (sources_.disk + sources_.page > 0) disk();
    if (sources_.store > 0) store();
    reading_.bandwidth = bandwidth_.carried();
    reading_.requests = requests_.carried();
    reading_.network = network_.carried();
    const double more = run_.cache_error / std::max(sources_.disk, 1e-3);
    if (sources_.page > 0) {
      reading_.bandwidth.error = std::hypot(reading_.bandwidth.error, more);
      reading_.requests.error = std::hypot(reading_.requests.error, more);
    }
    reading_.read_share = sources_.disk + sources_.store;
    if (reading_.read_share > 0) {
      reading_.read_s = Quantiles::log_normal(1, sigma_).scaled_to_mean(latency_s_ / reading_.read_share);
      if (at_any_depth_s_ > 0) reading_.reads_per_s = reading_.read_share / at_any_depth_s_;
    }
    return std::move(reading_);
  }

 private:
  double sharers(bool shared) const { return shared ? run_.nodes : 1; }

  void disk() {
    std::optional<DiskClass> disk = change_.disk;
    if (!disk && !facts_.storage) disk = kTypicalDisk;
    const double as_class = disk ? kDiskClassError : 0;
    const ReadTable measured(facts_.storage ? facts_.storage->cold : std::vector<ReadFacts>{});
    const bool beyond = !disk && is_beyond(measured);
    const ReadTable table = disk     ? ReadTable(*disk)
                            : beyond ? ReadTable(facts_.storage->cold, kLongBytesPerS)
                                     : measured;
    const double shared = sharers(disk ? disk->shared : facts_.storage->over_network);

    double bytes_per_s = disk ? disk->bytes_per_s : facts_.storage->cold_bytes_per_s.median;
    double bytes_error = disk ? as_class : figure_error(facts_.storage->cold_bytes_per_s);
    if (table.known()) bytes_per_s = std::max(bytes_per_s, table.bytes_per_s_most());
    if (beyond) {
      bytes_per_s = std::max(bytes_per_s, kLongBytesPerS);
      bytes_error = std::hypot(bytes_error, kLongError);
      reading_.assumptions.push_back(
          fmt::format("long reads get at least {:.0f} MB/s from the disk: no file is large enough to measure it",
                      kLongBytesPerS / 1e6));
    }
    double reads_per_s_most = kUnlimited;
    if (!disk) {
      bytes_per_s = std::min(bytes_per_s, facts_.storage->limit_bytes_per_s.value_or(kUnlimited));
      reads_per_s_most = facts_.storage->limit_reads_per_s.value_or(kUnlimited);
    }
    if (bytes_per_s <= 0) {
      reading_.assumptions.emplace_back("what the storage gives was not measured cold, so it is not among the limits");
    } else {
      cold(table, {bytes_per_s / shared, bytes_error}, reads_per_s_most / shared, shared, as_class, measured);
    }
    warm();
    const bool over_network = disk ? disk->shared : facts_.storage->over_network;
    if (over_network) carry(sources_.disk * run_.bytes, nic(), 0);
  }

  // Whether the run would read more at a time than could be measured: of loose files that it packs.
  bool is_beyond(const ReadTable& measured) const {
    const bool packs = run_.opens == 0 && facts_.data.layout == "loose";
    return packs && measured.known() && run_.bytes / run_.requests > measured.largest_bytes();
  }

  struct Bandwidth {
    double bytes_per_s, error;
  };
  void cold(const ReadTable& table, const Bandwidth& bandwidth, double reads_per_s_most, double shared, double as_class,
            const ReadTable& measured) {
    const double by_bytes_s = run_.bytes / bandwidth.bytes_per_s;
    if (!table.known()) {
      bandwidth_.add(sources_.disk * by_bytes_s, bandwidth.error);
      at_any_depth_s_ += sources_.disk * by_bytes_s;
      return;
    }
    const double each = run_.bytes / run_.requests;
    const ReadTable::Rate rate = table.rate(each, run_.io_depth);
    const double reads_per_s = std::min({rate.reads_per_s / shared, reads_per_s_most, bandwidth.bytes_per_s / each});
    const double small_per_s = std::min(table.small_rate(run_.io_depth).reads_per_s / shared, reads_per_s_most);
    const double opens_s = run_.opens * open_s(table, measured);
    const double all_s = run_.requests / reads_per_s + opens_s;
    // What a small read takes beside its bytes: nothing on a disk that is held back by bytes alone.
    const double request_s = std::max(0.0, 1 / small_per_s - table.small_bytes() / bandwidth.bytes_per_s);
    const double by_requests_s = run_.requests * request_s + opens_s;
    const bool held_by_depth = rate.reads_per_s < kHeldByDepth * table.deepest_rate(each).reads_per_s;
    // Where reads are counted, those in order were held back, too, and their bytes say nothing of the disk's.
    const bool counts_reads =
        bandwidth.bytes_per_s >= kReadInOrder * reads_per_s_most || reads_per_s >= kCounted * reads_per_s_most;
    const double error = std::hypot(rate.error, as_class);
    // Each read takes both; what more of its time goes into gets all of it.
    if (by_bytes_s >= by_requests_s && !held_by_depth && !counts_reads) {
      bandwidth_.add(sources_.disk * std::max(all_s, by_bytes_s), std::max(error, bandwidth.error));
      requests_.add(sources_.disk * by_requests_s, error);
    } else {
      bandwidth_.add(sources_.disk * std::min(all_s, by_bytes_s), bandwidth.error);
      requests_.add(sources_.disk * all_s, error);
    }
    // What waits in the disk's queue waits for its rate at this depth. A read by itself takes what one takes that is
    // alone; but not as long as that rate, which includes it.
    const double at_depth_s = std::max(all_s, by_bytes_s);
    at_any_depth_s_ += sources_.disk * at_depth_s;
    latency_s_ += sources_.disk * std::min(run_.requests / table.rate(each, 1).reads_per_s + opens_s,
                                           kAloneOfDepth * run_.io_depth * at_depth_s);
  }

  // Of one file. In later epochs the system still knows the files, if they are not too many.
  double open_s(const ReadTable& table, const ReadTable& measured) {
    if (run_.opens == 0) return 0;
    const double memory = static_cast<double>(change_.memory_bytes.value_or(facts_.machine.memory_bytes));
    if (epoch_ == Epoch::kLater &&
        kOpenedFileBytes * static_cast<double>(facts_.data.samples) < kOpenedFilesPart * memory)
      return warm_open_s();
    const double small_per_s = table.small_rate(run_.io_depth).reads_per_s;
    if (!facts_.storage || !facts_.storage->cold_opens_per_s.known()) return kOpensReads / small_per_s;
    const Figure& opens = facts_.storage->cold_opens_per_s;
    double opens_per_s = opens.median;
    // What the file system knew already it was told by opening the data set, as a run does: no disk changes that.
    if (change_.disk && measured.known() && opens.caveat.empty()) {
      opens_per_s *= small_per_s / measured.small_rate(run_.io_depth).reads_per_s;
    }
    return 1 / opens_per_s;
  }

  double warm_open_s() const {
    if (!facts_.storage || !facts_.storage->warm_opens_per_s.known()) return 1 / kWarmOpensPerS;
    return 1 / facts_.storage->warm_opens_per_s.median;
  }

  void warm() {
    if (sources_.page <= 0) return;
    requests_.add(sources_.page * run_.opens * warm_open_s(), 0);
    const ReadTable table(facts_.storage ? facts_.storage->warm : std::vector<ReadFacts>{});
    if (!table.known()) return;
    const ReadTable::Rate rate = table.rate(run_.bytes / run_.requests, run_.io_depth);
    requests_.add(sources_.page * run_.requests / rate.reads_per_s, rate.error);
  }

  std::optional<double> nic() const {
    if (change_.network) return kNicReached * change_.network->bytes_per_s;
    if (!facts_.machine.network_bytes_per_s) return std::nullopt;
    return kNicReached * *facts_.machine.network_bytes_per_s;
  }

  void carry(double bytes, std::optional<double> bytes_per_s, double error) {
    if (!bytes_per_s || bytes <= 0 || *bytes_per_s <= 0) return;
    const double more = change_.network ? kDiskClassError / 2 : 0;
    network_.add(bytes / *bytes_per_s, std::hypot(error, more));
  }

  void store() {
    const StoreFacts& store = *facts_.store;
    // A store that fills the NIC may have more for others; one that does not has no more.
    const std::optional<double> own = facts_.machine.network_bytes_per_s;
    double link = store.link_bytes_per_s.median;
    const bool fills_nic = own && link >= kLinkIsNic * *own;
    const double shared = sharers(!fills_nic);
    link /= shared;
    if (change_.network) link = fills_nic || !own ? *nic() : std::min(link, *nic());
    carry(sources_.store * run_.bytes, link, figure_error(store.link_bytes_per_s));

    double first_byte_s = store.first_byte_s.median;
    if (change_.network && change_.network->first_byte_s) first_byte_s = *change_.network->first_byte_s;
    double connection = kUnlimited;
    if (store.connection_bytes_per_s.known()) connection = store.connection_bytes_per_s.median;
    const double each_s = first_byte_s + run_.bytes / run_.requests / connection;
    reading_.depth = std::min(run_.io_depth, std::max(1, store.requests_at_once) * run_.gpus);
    const double by_latency = rate_of_latency(reading_.depth, each_s, run_.requests);
    double by_requests = kUnlimited;
    if (store.requests_per_s.known()) {
      by_requests = rate_of_requests(store.requests_per_s.median / shared, run_.requests);
    }
    const bool held_by_latency = by_latency < by_requests;
    const double answers = std::min(by_latency, by_requests);
    requests_.add(sources_.store / answers, figure_error(held_by_latency ? store.first_byte_s : store.requests_per_s));
    latency_s_ += sources_.store * each_s * run_.requests;
    at_any_depth_s_ += sources_.store / std::min(by_requests, rate_of_bytes(link, run_.bytes));
    if (store.first_byte_s_p99 > store.first_byte_s.median && store.first_byte_s.median > 0) {
      constexpr double kP99 = 2.326;  // of the normal distribution
      const double sigma = std::log(store.first_byte_s_p99 / store.first_byte_s.median) / kP99;
      sigma_ = std::min(sigma, kStoreSigmaMost);
    }
  }

  const Facts& facts_;
  const Configuration& change_;
  const ResolvedRun& run_;
  const Epoch epoch_;
  const SampleSources& sources_;
  Reading reading_;
  ResourceCost bandwidth_, requests_, network_;
  double latency_s_ = 0;       // of reads, for a sample of any source
  double at_any_depth_s_ = 0;  // the same: of what carries them however many are under way
  double sigma_ = kReadSigma;
};

}  // namespace

Reading reading_of(const Facts& facts, const Configuration& change, const ResolvedRun& run, Epoch epoch) {
  return ReadingModel(facts, change, run, epoch).read();
}

}  // namespace stoker
