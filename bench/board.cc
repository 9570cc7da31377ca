// What the lock around the ticket board bears (docs/decisions/0002-one-lock.md): how long each ticket holds it, on a
// board that one thread drives without a lock, and what whole loaders make of samples that cost next to nothing.
//
//   bench_board [--json FILE]      pin it to two cores
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/format/tar/tar_writer.h"
#include "stoker/runtime/board/board.h"
#include "stoker/stoker.h"

namespace stoker {
namespace {

constexpr int kRounds = 9, kBatch = 256, kTaken = 4;
constexpr std::int64_t kSamples = 65'536;
// What is asked of the lock: so many workers, each at this rate.
constexpr double kWorkers = 64, kImagesPerWorker = 4'000;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Recipe small_records() { return Recipe().view("record", "bin").decode_bytes(16); }

std::string shard_of_records() {
  const std::string path = std::filesystem::temp_directory_path() / fmt::format("bench_board_{}.tar", now_ns());
  TarWriter tar(path);
  const std::vector<std::uint8_t> record(16, 7);
  for (std::int64_t sample = 0; sample < kSamples; ++sample) tar.add(fmt::format("{:06}.bin", sample), record);
  tar.finish();
  return path;
}

/// What the engine does with the lock held, one after the other for each ticket: drawing it and granting its bytes,
/// noting that it was read, handing it to a worker with three others, noting that it is done, and handing batches over.
/// Between them stands what needs no lock.
class DrivenByOne {
 public:
  explicit DrivenByOne(const Dataset& dataset) : board_(dataset, options(), host_allocator()) {}

  /// Nanoseconds per ticket with the lock held, of an epoch.
  double held_ns(std::int64_t epoch) {
    held_ns_ = tickets_ = 0;
    held([&] { board_.tickets.start_epoch(epoch); });
    std::vector<Ticket*> drawn;
    while (tickets_ < kSamples) {
      drawn.clear();
      draw(drawn);
      held([&] {
        for (Ticket* const ticket : drawn) board_.tickets.read_done(*ticket);
      });
      grant_memory();
      Ticket* taken[kTaken];
      std::size_t count = 0;
      do {
        held([&] {
          count = board_.tickets.take(taken);
          for (std::size_t i = 0; i < count; ++i) board_.tickets.finish(*taken[i]);
        });
        tickets_ += static_cast<std::int64_t>(count);
      } while (count > 0);
      deliver();
    }
    return static_cast<double>(held_ns_) / static_cast<double>(tickets_);
  }

 private:
  static BoardOptions options() {
    BoardOptions options;
    options.order = {.samples = kSamples, .global_batch = kBatch, .kind = OrderKind::kGlobal};
    options.slice = {.batch = kBatch};
    options.batches.outputs = Plan(small_records()).outputs();
    options.batches.memory_max.host = 10 * batch_bytes(options.batches.outputs, kBatch);
    options.locator.fields = {"bin"};
    options.locator.images = {false};
    options.tickets.prefetch = 3;
    options.read_ahead.bytes = std::size_t{1} << 20;
    return options;
  }

  // Clocks are read outside: their time does not count.
  template <class Work>
  void held(const Work& work) {
    const std::int64_t began = now_ns();
    work();
    held_ns_ += now_ns() - began - clock_ns_;
  }

  void draw(std::vector<Ticket*>& drawn) {
    Ticket* ticket = nullptr;
    do {
      held([&] { ticket = board_.tickets.draw(); });
      if (!ticket) break;
      board_.locator.locate(*ticket);
      held([&] {
        if (!board_.read_ahead.grant(*ticket)) fail(ErrorKind::kUsage, "there is no room for a record");
      });
      drawn.push_back(ticket);
    } while (drawn.size() < kBatch);
  }

  void grant_memory() {
    BatchGrant grant;
    bool granted = true;
    while (granted) {
      held([&] { granted = board_.tickets.take_grant(grant); });
      if (!granted) break;
      board_.batches.prepare(grant, grant.work->slots);
      held([&] { board_.tickets.granted(grant); });
      grant = {};
    }
  }

  void deliver() {
    held([&] {
      while (board_.tickets.front_sealed()) board_.batches.release(board_.tickets.pop(bad_));
    });
  }

  static std::int64_t clock_ns() {
    const std::int64_t began = now_ns();
    for (int i = 0; i < 1000; ++i) now_ns();
    return (now_ns() - began) / 1001;
  }

  Board board_;
  const std::int64_t clock_ns_ = clock_ns();
  std::int64_t held_ns_ = 0, tickets_ = 0;
  std::vector<BadSlot> bad_;
};

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

struct LoaderRate {
  double samples_per_s, cpu_us;  // of a sample
};

LoaderRate rate_with(const std::shared_ptr<const Dataset>& data, int threads) {
  constexpr std::int64_t kEpochs = 4;
  Loader loader(data, small_records(),
                {.batch = kBatch,
                 .seed = 1,
                 .threads = threads,
                 .prefetch = 4,
                 .tune = TuneMode::kOff,
                 .cache = CacheKind::kRam});
  for (const BatchPtr& batch : loader.epoch(0)) (void)batch;  // into the cache
  std::vector<double> rates, cpu_us;
  for (int round = 0; round < 3; ++round) {
    const std::int64_t began = now_ns();
    const double cpu_before = cpu_seconds();
    std::int64_t samples = 0;
    for (std::int64_t epoch = 1; epoch <= kEpochs; ++epoch) {
      for (const BatchPtr& batch : loader.epoch(round * kEpochs + epoch)) samples += batch->size();
    }
    rates.push_back(1e9 * static_cast<double>(samples) / static_cast<double>(now_ns() - began));
    cpu_us.push_back(1e6 * (cpu_seconds() - cpu_before) / static_cast<double>(samples));
  }
  return {median(rates), median(cpu_us)};
}

void run(const std::string& json_path) {
  const std::string shard = shard_of_records();
  const std::shared_ptr<const Dataset> data = open(shard);
  nlohmann::ordered_json written;

  DrivenByOne board(*data);
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) rounds.push_back(board.held_ns(round));
  const double held_ns = median(rounds), share = kWorkers * kImagesPerWorker * held_ns * 1e-9;
  fmt::print("a ticket holds the lock for {:.0f} ns: {:.2f} million tickets a second\n", held_ns, 1e3 / held_ns);
  fmt::print("{:.0f} workers at {:.0f} images a second hold it for {:.0f}% of the time\n", kWorkers, kImagesPerWorker,
             100 * share);
  written["held_ns"] = held_ns;
  written["held_share"] = share;

  fmt::print("\n{:>8} {:>12} {:>14}\n", "threads", "records/s", "CPU us each");
  for (const int threads : {1, 2, 4, 16, 64}) {
    const LoaderRate rate = rate_with(data, threads);
    fmt::print("{:8} {:12.0f} {:14.2f}\n", threads, rate.samples_per_s, rate.cpu_us);
    written["loaders"].push_back({{"threads", threads}, {"rate", rate.samples_per_s}, {"cpu_us", rate.cpu_us}});
  }
  std::filesystem::remove(shard);
  if (!json_path.empty()) std::ofstream(json_path) << written.dump(2) << '\n';
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) {
  try {
    const bool json = argc == 3 && std::string(argv[1]) == "--json";
    if (argc != 1 && !json) stoker::fail(stoker::ErrorKind::kUsage, "usage: bench_board [--json FILE]");
    stoker::run(json ? argv[2] : "");
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_board: {}\n", error.what());
    return 1;
  }
}
