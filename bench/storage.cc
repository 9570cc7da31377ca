// One contestant of the storage benchmark. It gets ready, says so, and waits for a line on stdin, so that
// bench/storage.py can empty the page cache; then it reads, for a while, and prints what came of it as JSON.
//
//   bench_storage loose FOLDER THREADS SECONDS HASH                HASH: 1 to hash what was read, 0 to only read it
//   bench_storage packed DATA ORDER IN_FLIGHT SECONDS HASH IO DIRECT READ_AHEAD
//                                                                  IO: auto, uring, pread; DIRECT: 0, 1; in MiB
//   bench_storage open DATA SAMPLES                                opens it, reads so many in global order
//   bench_storage hashes SECONDS                                   CRC-32C and XXH3 of the same bytes, on one core
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <functional>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "stoker/base/clock.h"
#include "stoker/base/crc32c.h"
#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/order/epoch_order.h"
#include "stoker/runtime/board/encoded_arena.h"
#include "stoker/runtime/engine/read_plan.h"
#include "stoker/runtime/open.h"
#include "stoker/storage/source.h"

namespace stoker {
namespace {

std::int64_t line_of(const char* path, const std::string& name) {
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    std::int64_t value = 0;
    if (word == name && file >> value) return value;
  }
  return 0;
}

std::int64_t process_read_bytes() { return line_of("/proc/self/io", "read_bytes:"); }
std::int64_t memory_peak_bytes() { return line_of("/proc/self/status", "VmHWM:") << 10; }

void wait_for_start() {
  std::cout << "ready\n" << std::flush;
  std::string line;
  std::getline(std::cin, line);
}

/// What was read; `hash` is the sum over the samples, whatever their order, if it was asked for.
struct Tally {
  explicit Tally(bool hashing) : hashes(hashing) {}

  const bool hashes;
  std::atomic<std::int64_t> samples = 0, bytes = 0;
  std::atomic<std::uint64_t> hash = 0;

  void add(Bytes sample) {
    ++samples;
    bytes += static_cast<std::int64_t>(sample.size());
    if (hashes) hash += hash64(sample);
  }
};

std::size_t mebibytes(const std::string& word) { return std::stoul(word) << 20; }
bool flag(const std::string& word) { return word == "1"; }

nlohmann::json report(const Tally& tally, std::int64_t began_ns, std::int64_t read_bytes_before) {
  return {{"samples", tally.samples.load()},
          {"bytes", tally.bytes.load()},
          {"hash", to_hex(tally.hash)},
          {"seconds", static_cast<double>(now_ns() - began_ns) * 1e-9},
          {"process_read_bytes", process_read_bytes() - read_bytes_before}};
}

std::int64_t deadline_after(const std::string& seconds) {
  return now_ns() + static_cast<std::int64_t>(std::stod(seconds) * 1e9);
}

// --- loose files

void list(const std::string& folder, std::vector<std::string>& files) {
  DIR* directory = opendir(folder.c_str());
  if (!directory) fail(ErrorKind::kNotFound, "cannot open {}", folder);
  std::vector<std::string> folders;
  while (const dirent* entry = readdir(directory)) {
    const std::string name = entry->d_name;
    if (name.starts_with('.')) continue;
    (entry->d_type == DT_DIR ? folders : files).push_back(folder + "/" + name);
  }
  closedir(directory);
  for (const std::string& inner : folders) list(inner, files);
}

void read_file(const std::string& path, std::vector<std::uint8_t>& into, Tally& tally) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat facts {};
  if (fd < 0 || ::fstat(fd, &facts) != 0) fail(ErrorKind::kIo, "cannot open {}", path);
  into.resize(static_cast<std::size_t>(facts.st_size));
  const ssize_t got = ::pread(fd, into.data(), into.size(), 0);
  ::close(fd);
  if (got != facts.st_size) fail(ErrorKind::kIo, "cannot read {}", path);
  tally.add(into);
}

nlohmann::json read_loose(const std::string& folder, int threads, const std::string& seconds, bool hashes) {
  std::vector<std::string> files;
  list(folder, files);
  wait_for_start();
  Tally tally(hashes);
  std::atomic<std::size_t> next = 0;
  const std::int64_t began = now_ns(), before = process_read_bytes(), deadline = deadline_after(seconds);
  {
    std::vector<std::jthread> pool;
    for (int i = 0; i < threads; ++i) {
      pool.emplace_back([&] {
        std::vector<std::uint8_t> buffer;
        for (std::size_t file; now_ns() < deadline && (file = next++) < files.size();) {
          read_file(files[file], buffer, tally);
        }
      });
    }
  }
  return report(tally, began, before);
}

// --- samples of shards

/// The loader's reader without its workers: draws, grants, plans and starts reads as Loader::Engine does, on the
/// calling thread, with a number of requests in flight at most.
class Reader {
 public:
  Reader(const Dataset& dataset, OrderKind kind, int in_flight, std::size_t read_ahead)
      : dataset_(dataset),
        order_(order_options(dataset, kind), 0),
        in_flight_max_(in_flight),
        arena_bytes_(kind == OrderKind::kWindowed ? windows_bytes(dataset) / 4 * 5 : read_ahead),
        near_bytes_(kind == OrderKind::kWindowed ? arena_bytes_ / 5 : arena_bytes_ / 2) {}

  std::int64_t requests() const { return requests_; }

  void read(std::int64_t samples, std::int64_t deadline_ns, Tally& tally) {
    positions_ = samples < dataset_.size() ? samples : order_.batches() * 256;
    std::int64_t finished = 0;
    while (finished < drawn_samples_ || next_ < positions_) {
      if (now_ns() > deadline_ns) positions_ = std::min(positions_, next_);
      collect();
      start();
      PlannedRead* ended = take_ended();
      start();  // what had no room, before what has ended is looked at
      while (ended) finished += finish(*std::exchange(ended, ended->next), tally);
    }
    for (; under_way_ > 0;) take_ended();
  }

 private:
  static constexpr std::size_t kDrawnAtOnce = 64;

  static OrderOptions order_options(const Dataset& dataset, OrderKind kind) {
    return {.samples = dataset.size(),
            .global_batch = 256,
            .kind = kind,
            .tail = Tail::kPad,
            .seed = 1,
            .shard_samples = std::make_shared<const std::vector<std::int64_t>>(dataset.shard_samples())};
  }

  /// As the loader reckons: loader_options.cc.
  static std::size_t windows_bytes(const Dataset& dataset) {
    const OrderOptions order;
    const std::int64_t samples = std::min(order.window * order.lanes, dataset.size());
    return static_cast<std::size_t>(samples) * (dataset.bytes() / static_cast<std::uint64_t>(dataset.size()) + 64);
  }

  void collect() {
    bool any = false;
    // As the engine's reader, which sleeps while there is little room.
    if (arena_.used() + near_bytes_ / 4 <= arena_bytes_) {
      while (grant_drawn(any) && draw()) continue;
    }
    const std::uint64_t near_end = arena_.front() + near_bytes_;
    if (!any && near_end < planned_to_ + near_bytes_ / 4) return;
    planned_to_ = near_end;
    for (PlannedRead* read : plan_.plan(near_end)) planned_.push_back(read);
  }

  /// Whether all that was drawn has its memory.
  bool grant_drawn(bool& any) {
    for (; !drawn_.empty(); drawn_.pop_front()) {
      Ticket& ticket = *drawn_.front();
      const SampleField* const image = ticket.row.image_field();
      const SampleField& field = image ? *image : ticket.row.fields[0];
      if (!arena_.fits(field.length)) return false;
      ticket.grant = arena_.grant(field.length);
      const MutableBytes bytes = ticket.grant.bytes;
      FieldRead& read = ticket.reads[0];
      read = FieldRead();
      read.field = &field;
      read.length = field.length;
      read.source = ticket.row.source;
      read.bytes = bytes;
      read.content = bytes;
      read.ticket = &ticket;
      plan_.add(ticket);
      any = true;
    }
    return true;
  }

  bool draw() {
    numbers_.clear();
    while (next_ < positions_ && numbers_.size() < kDrawnAtOnce) {
      if (const auto sample = order_.sample_at(next_++)) numbers_.push_back(*sample);
    }
    drawn_samples_ += static_cast<std::int64_t>(numbers_.size());
    dataset_.prepare(numbers_);
    for (const std::int64_t sample : numbers_) {
      if (spare_.empty()) {
        spare_.push_back(&tickets_.emplace_back());
        tickets_.back().reads.resize(1);
      }
      Ticket& ticket = *spare_.back();
      spare_.pop_back();
      dataset_.read(sample, ticket.row);
      drawn_.push_back(&ticket);
    }
    return !numbers_.empty();
  }

  void start() {
    for (; !planned_.empty() && under_way_ < in_flight_max_; planned_.pop_front(), ++under_way_, ++requests_) {
      PlannedRead& read = *planned_.front();
      read.engine = this;
      read.request.context = &read;
      read.request.done = [](ReadRequest& request) noexcept {
        PlannedRead& ended = *static_cast<PlannedRead*>(request.context);
        auto& reader = *static_cast<Reader*>(ended.engine);
        const std::lock_guard lock(reader.mutex_);
        ended.next = std::exchange(reader.ended_, &ended);
        reader.changed_.notify_one();
      };
      read.source->start(read.request);
    }
  }

  PlannedRead* take_ended() {
    if (under_way_ == 0) return nullptr;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_ != nullptr; });
    PlannedRead* list = std::exchange(ended_, nullptr);
    for (PlannedRead* read = list; read; read = read->next) --under_way_;
    return list;
  }

  std::int64_t finish(PlannedRead& read, Tally& tally) {
    if (read.request.error) std::rethrow_exception(read.request.error);
    std::int64_t count = 0;
    for (FieldRead* field = read.fields; field; field = field->next, ++count) {
      tally.add(field->bytes);
      arena_.release(field->ticket->grant);
      spare_.push_back(field->ticket);
    }
    read.next = nullptr;
    plan_.release(&read);
    return count;
  }

  const Dataset& dataset_;
  EpochOrder order_;
  const int in_flight_max_;
  std::int64_t positions_ = 0, next_ = 0, drawn_samples_ = 0;
  std::int64_t requests_ = 0;
  std::vector<std::int64_t> numbers_;
  std::deque<Ticket> tickets_;
  std::vector<Ticket*> spare_;
  std::deque<Ticket*> drawn_;
  const std::size_t arena_bytes_, near_bytes_;
  EncodedArena arena_{arena_bytes_, host_allocator()};
  ReadPlan plan_;
  std::uint64_t planned_to_ = 0;
  std::deque<PlannedRead*> planned_;
  int under_way_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  PlannedRead* ended_ = nullptr;
};

nlohmann::json read_packed(char** argument) {
  const OpenOptions options{.io = parse_io(argument[5]), .direct = flag(argument[6])};
  const auto dataset = open(argument[0], {}, options);
  auto reader =
      std::make_unique<Reader>(*dataset, parse_order(argument[1]), std::stoi(argument[2]), mebibytes(argument[7]));
  wait_for_start();
  Tally tally(flag(argument[4]));
  const std::int64_t began = now_ns(), before = process_read_bytes();
  reader->read(dataset->size(), deadline_after(argument[3]), tally);
  nlohmann::json result = report(tally, began, before);
  result["io"] = dataset->row(0).source->io_name();
  result["requests"] = reader->requests();
  return result;
}

nlohmann::json open_and_read(const std::string& data, std::int64_t samples) {
  wait_for_start();
  const std::int64_t memory = memory_peak_bytes(), before = process_read_bytes(), began = now_ns();
  const auto dataset = open(data);
  const std::int64_t opened = now_ns(), memory_opened = memory_peak_bytes();
  Tally tally(false);
  Reader(*dataset, OrderKind::kGlobal, 128, mebibytes("64")).read(samples, INT64_MAX, tally);
  nlohmann::json result = report(tally, opened, before);
  result["open_seconds"] = static_cast<double>(opened - began) * 1e-9;
  result["open_memory_bytes"] = memory_opened - memory;
  result["memory_bytes"] = memory_peak_bytes() - memory;
  result["data_samples"] = dataset->size();
  return result;
}

nlohmann::json hash_rate(const std::string& seconds) {
  const std::vector<std::uint8_t> bytes(std::size_t{64} << 20, 77);  // more than caches hold, as data from a disk
  wait_for_start();
  const std::int64_t began = now_ns(), deadline = deadline_after(seconds);
  std::int64_t hashed = 0;
  std::uint64_t sum = 0;
  constexpr std::size_t kPiece = 110'000;
  while (now_ns() < deadline) {
    for (std::size_t at = 0; at + kPiece <= bytes.size(); at += kPiece, hashed += kPiece) {
      const Bytes piece = Bytes(bytes).subspan(at, kPiece);
      sum += crc32c(piece) + hash64(piece);
    }
  }
  return {{"bytes", hashed}, {"hash", to_hex(sum)}, {"seconds", static_cast<double>(now_ns() - began) * 1e-9}};
}

nlohmann::json run(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "loose" && argc == 6) return read_loose(argv[2], std::stoi(argv[3]), argv[4], flag(argv[5]));
  if (command == "packed" && argc == 10) return read_packed(argv + 2);
  if (command == "open" && argc == 4) return open_and_read(argv[2], std::stoll(argv[3]));
  if (command == "hashes" && argc == 3) return hash_rate(argv[2]);
  fail(ErrorKind::kUsage, "usage: bench_storage loose|packed|open|hashes ...; see the top of bench/storage.cc");
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) {
  try {
    std::cout << stoker::run(argc, argv) << '\n';
  } catch (const std::exception& error) {
    std::cerr << "bench_storage: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
