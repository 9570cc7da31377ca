// What every source must do, wherever its bytes come from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <latch>
#include <limits>
#include <memory>
#include <optional>
#include <semaphore>
#include <stop_token>
#include <thread>

#include "stoker/base/clock.h"
#include "stoker/base/error_testing.h"
#include "stoker/base/random.h"
#include "stoker/base/stop_scope.h"
#include "stoker/storage/arranged_testing.h"
#include "stoker/storage/block_testing.h"
#include "stoker/storage/cache/disk_cache.h"
#include "stoker/storage/faulty_source_testing.h"
#include "stoker/storage/file_access_testing.h"
#include "stoker/storage/folder_source.h"
#include "stoker/storage/hf/hf_hub_testing.h"
#include "stoker/storage/http/http_server_testing.h"
#include "stoker/storage/http/http_store.h"
#include "stoker/storage/kept_chunks.h"
#include "stoker/storage/memory_source_testing.h"
#include "stoker/storage/s3/s3_server_testing.h"
#include "stoker/storage/temp_folder_testing.h"
#include "stoker/storage/thread_executor_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kSize = 100'003;  // the last block of a file is a partial one

struct SourceCase {
  std::string name;
  /// A source of what `file` in the folder holds, as its part `part` if it has parts.
  std::function<std::shared_ptr<Source>(const TempFolder&, const std::string& file,
                                        const std::vector<std::uint8_t>& content, const FileAccess&)>
      make;
  bool has_parts = false;
  bool in_file = true;  // where changes to the file show
  FileWay way{};
};

std::shared_ptr<Source> make_file(const TempFolder& folder, const std::string& file,
                                  const std::vector<std::uint8_t>& /*content*/, const FileAccess& access) {
  return std::make_shared<FileSource>(folder.path(file), access, FileOptions{.direct = access.direct, .random = true});
}

/// A source with the server that serves it.
std::shared_ptr<Source> make_served(const std::vector<std::uint8_t>& content) {
  struct Served {
    explicit Served(const std::vector<std::uint8_t>& bytes)
        : server([bytes](const HttpServer::Asked& asked) { return HttpServer::serve(asked, as_text(bytes)); }),
          transport(std::make_shared<HttpTransport>(HttpOptions(), [] { return std::make_shared<ThreadExecutor>(1); })),
          source(HttpStore("http", transport).open(server.url("/data.bin"))) {}

    HttpServer server;
    std::shared_ptr<HttpTransport> transport;
    std::shared_ptr<Source> source;
  };
  const auto served = std::make_shared<Served>(content);
  return {served, served->source.get()};
}

/// A source with the cache that it looks in.
std::shared_ptr<Source> make_cached(std::shared_ptr<Source> store, const TempFolder& folder, const FileAccess& access) {
  struct Cached {
    Cached(std::shared_ptr<Source> of, const TempFolder& folder, const FileAccess& access)
        : store(std::move(of)),
          cache({.folder = folder.path("cache"), .bytes_max = 10 << 20}, access, std::make_shared<ThreadExecutor>(1)),
          source(cache.in_front_of(*store)) {}

    std::shared_ptr<Source> store;
    DiskCache cache;
    Source& source;
  };
  const auto cached = std::make_shared<Cached>(std::move(store), folder, access);
  return {cached, &cached->source};
}

/// A source with what keeps its chunks.
std::shared_ptr<Source> make_kept(std::shared_ptr<Source> store) {
  struct Kept {
    explicit Kept(std::shared_ptr<Source> of)
        : store(std::move(of)), chunks(kSize), source(chunks.in_front_of(*store)) {}

    std::shared_ptr<Source> store;
    KeptChunks chunks;
    Source& source;
  };
  const auto kept = std::make_shared<Kept>(std::move(store));
  return {kept, &kept->source};
}

/// The part `file` of a folder, with the hub that has it.
std::shared_ptr<Source> make_on_hub(const std::string& file, const std::vector<std::uint8_t>& content) {
  struct OnHub {
    OnHub(const std::string& path, std::string_view bytes) {
      hub.push(path, std::string(bytes));
      source = hub.make_store()->open_folder("hf://datasets/o/n");
    }

    FakeHub hub;
    std::shared_ptr<Source> source;
  };
  const auto on_hub = std::make_shared<OnHub>(file, as_text(content));
  return {on_hub, on_hub->source.get()};
}

/// The object `file` of a bucket, or with `parts` the bucket, with the server that has it.
std::shared_ptr<Source> make_in_bucket(const std::string& file, const std::vector<std::uint8_t>& content, bool parts) {
  struct InBucket {
    InBucket(const std::string& key, std::string_view bytes, bool as_part) {
      server.put(key, std::string(bytes));
      const auto store = s3_store(server);
      source = as_part ? store->open_folder("s3://bucket") : store->open("s3://bucket/" + key);
    }

    S3Server server;
    std::shared_ptr<Source> source;
  };
  const auto in_bucket = std::make_shared<InBucket>(file, as_text(content), parts);
  return {in_bucket, in_bucket->source.get()};
}

/// The bytes of an object that has a compressed block, too.
std::shared_ptr<Source> make_beside_block(const std::vector<std::uint8_t>& content) {
  auto table = std::make_shared<BlockTable>(content.size());
  table->add({.offset = 0, .stored_length = 10, .length = 100, .codec = BlockCodec::kZstd});
  return std::make_shared<BlockSource>(std::make_shared<MemorySource>("memory", content), table,
                                       std::make_shared<BlockCache>());
}

std::vector<SourceCase> all_cases() {
  std::vector<SourceCase> cases = {
      {.name = "Folder",
       .make = [](const TempFolder& folder, const auto&, const auto&,
                  const auto& access) { return std::make_shared<FolderSource>(folder.path(), access.executor); },
       .has_parts = true},
      {.name = "Memory",
       .make = [](const TempFolder&, const auto&, const auto& content,
                  const auto&) { return std::make_shared<MemorySource>("memory", content); },
       .in_file = false},
      {.name = "Http",
       .make = [](const TempFolder&, const auto&, const auto& content, const auto&) { return make_served(content); },
       .in_file = false},
      {.name = "CachedHttp",
       .make = [](const TempFolder& folder, const auto&, const auto& content,
                  const auto& access) { return make_cached(make_served(content), folder, access); },
       .in_file = false},
      {.name = "KeptChunks",
       .make = [](const TempFolder&, const auto&, const auto& content,
                  const auto&) { return make_kept(make_served(content)); },
       .in_file = false},
      {.name = "Hub",
       .make = [](const TempFolder&, const auto& file, const auto& content,
                  const auto&) { return make_on_hub(file, content); },
       .has_parts = true,
       .in_file = false},
      {.name = "S3",
       .make = [](const TempFolder&, const auto& file, const auto& content,
                  const auto&) { return make_in_bucket(file, content, false); },
       .in_file = false},
      {.name = "S3Folder",
       .make = [](const TempFolder&, const auto& file, const auto& content,
                  const auto&) { return make_in_bucket(file, content, true); },
       .has_parts = true,
       .in_file = false},
      {.name = "Block",
       .make = [](const TempFolder&, const auto&, const auto& content,
                  const auto& access) { return std::make_shared<OneBlock>(content, access.executor); },
       .in_file = false},
      {.name = "BesideABlock",
       .make = [](const TempFolder&, const auto&, const auto& content,
                  const auto&) { return make_beside_block(content); },
       .in_file = false},
      {.name = "Arranged",
       .make = [](const TempFolder&, const auto&, const auto& content, const auto&) -> std::shared_ptr<Source> {
         const TornContent torn(content, 3000, 1);
         return std::make_shared<ArrangedSource>(torn.object(), torn.order);
       },
       .in_file = false},
      {.name = "FaultyWithoutFaults",
       .make =
           [](const TempFolder& folder, const auto& file, const auto& content, const auto& access) {
             return std::make_shared<FaultySource>(make_file(folder, file, content, access), FaultyOptions{});
           }},
  };
  for (const FileWay& way : kFileWays) cases.push_back({.name = way.name, .make = make_file, .way = way});
  return cases;
}

class SourceConformance : public ::testing::TestWithParam<std::tuple<SourceCase, int>> {
 protected:
  void SetUp() override {
    const SourceCase& source_case = std::get<0>(GetParam());
    const int threads = std::get<1>(GetParam());
    if (const std::string why = why_not(source_case.way); !why.empty()) GTEST_SKIP() << why;
    std::uint32_t state = 1;
    for (auto& byte : content_) byte = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
    std::shared_ptr<Executor> executor = std::make_shared<InlineExecutor>();
    if (threads > 0) executor = std::make_shared<ThreadExecutor>(threads);
    // One descriptor for two sources, and two buffers for all reads: every read that can wait does.
    FileAccess access = access_by(source_case.way, executor);
    access.open_files = std::make_shared<OpenFiles>(1);
    access.bounce_pool = std::make_shared<BouncePool>(2);
    access.direct = source_case.way.direct;
    const auto make = [&](const std::string& file) {
      folder_.write(file, content_);
      return source_case.make(folder_, file, content_, access);
    };
    source_ = make("class/data.bin");
    neighbour_ = make("class/other.bin");
    if (source_case.has_parts) part_ = "class/data.bin", neighbours_part_ = "class/other.bin";
  }

  std::vector<std::uint8_t> read(std::uint64_t offset, std::size_t length) {
    std::vector<std::uint8_t> bytes(length);
    std::uint8_t first = 0;
    read_fully(*neighbour_, 0, MutableBytes(&first, 1), neighbours_part_);
    read_fully(*source_, offset, bytes, part_);
    return bytes;
  }

  void read_pieces(std::uint64_t offset, Pieces into) {
    ReadRequest request;
    request.part = part_;
    request.offset = offset;
    request.into = into;
    request.done = [](ReadRequest& finished) noexcept { static_cast<std::latch*>(finished.context)->count_down(); };
    auto latch = std::make_unique<std::latch>(1);
    request.context = latch.get();
    source_->start(request);
    latch->wait();
    latches_.push_back(std::move(latch));
    if (request.error) std::rethrow_exception(request.error);
  }

  std::vector<std::uint8_t> expected(std::size_t offset, std::size_t length) const {
    const auto begin = content_.begin() + static_cast<std::ptrdiff_t>(offset);
    return {begin, begin + static_cast<std::ptrdiff_t>(length)};
  }

  ErrorKind kind_of_failure(std::uint64_t offset, std::size_t length, std::string_view part) {
    std::vector<std::uint8_t> bytes(length);
    try {
      read_fully(*source_, offset, bytes, part);
    } catch (const Error& error) {
      EXPECT_THAT(error.message(), HasSubstr(source_->name()));
      return error.kind();
    }
    ADD_FAILURE() << "the read did not fail";
    return ErrorKind::kClosed;
  }

  TempFolder folder_;
  std::vector<std::unique_ptr<std::latch>> latches_;  // threads may still be leaving count_down()
  std::vector<std::uint8_t> content_ = std::vector<std::uint8_t>(kSize);
  std::shared_ptr<Source> source_, neighbour_;
  std::string part_, neighbours_part_;
};

TEST_P(SourceConformance, KnowsItsSize) { EXPECT_EQ(source_->size(part_), kSize); }

TEST_P(SourceConformance, ReadsAnyRange) {
  EXPECT_EQ(read(0, kSize), content_);
  EXPECT_EQ(read(0, 1), expected(0, 1));
  EXPECT_EQ(read(4095, 2), expected(4095, 2));
  EXPECT_EQ(read(kSize - 1, 1), expected(kSize - 1, 1));
}

TEST_P(SourceConformance, ReadsNothingAnywhereInsideAndAtTheEnd) {
  EXPECT_TRUE(read(0, 0).empty());
  EXPECT_TRUE(read(kSize, 0).empty());
}

TEST_P(SourceConformance, RefusesRangesPastTheEnd) {
  EXPECT_EQ(kind_of_failure(0, kSize + 1, part_), ErrorKind::kData);
  EXPECT_EQ(kind_of_failure(kSize - 1, 2, part_), ErrorKind::kData);
  EXPECT_EQ(kind_of_failure(kSize, 1, part_), ErrorKind::kData);
  EXPECT_EQ(kind_of_failure(kSize + 1, 0, part_), ErrorKind::kData);
  EXPECT_EQ(kind_of_failure(~std::uint64_t{0}, 1, part_), ErrorKind::kData);
  EXPECT_EQ(kind_of_failure(~std::uint64_t{0} - 4, 10, part_), ErrorKind::kData);
}

TEST_P(SourceConformance, SaysHowLongTheObjectIs) {
  std::vector<std::uint8_t> bytes(kSize + 1);
  try {
    read_fully(*source_, 0, bytes, part_);
    FAIL() << "the read did not fail";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("100003 bytes"));
  }
}

TEST_P(SourceConformance, RefusesAPartThatIsNotThere) {
  EXPECT_EQ(kind_of_failure(0, 1, "no/such/part"), ErrorKind::kNotFound);
  EXPECT_THROW(source_->size("no/such/part"), Error);
}

TEST_P(SourceConformance, GivesUpWhatIsNoLongerWanted) {
  std::vector<std::uint8_t> bytes(100);
  const MutableBytes piece(bytes);
  ReadRequest request;
  const auto read_with = [&](std::int64_t deadline_ns, const std::stop_token& stop) -> std::optional<ErrorKind> {
    std::binary_semaphore ended(0);
    request.part = part_;
    request.into = Pieces(&piece, 1);
    request.deadline_ns = deadline_ns;
    request.stop = stop;
    request.context = &ended;
    request.done = [](ReadRequest& one) noexcept { static_cast<std::binary_semaphore*>(one.context)->release(); };
    source_->start(request);
    ended.acquire();
    if (!request.error) return std::nullopt;
    const Error error = error_of([&] { std::rethrow_exception(request.error); });
    EXPECT_THAT(error.message(), HasSubstr(source_->name()));
    return error.kind();
  };
  constexpr auto kNever = std::numeric_limits<std::int64_t>::max();
  std::stop_source stop;
  EXPECT_EQ(read_with(kNever, stop.get_token()), std::nullopt);
  EXPECT_EQ(read_with(now_ns() - 1, {}), ErrorKind::kIo);
  stop.request_stop();
  EXPECT_EQ(read_with(kNever, stop.get_token()), ErrorKind::kClosed);
  EXPECT_EQ(read_with(kNever, {}), std::nullopt) << "the same request again";
  EXPECT_EQ(bytes, expected(0, bytes.size()));
}

TEST_P(SourceConformance, EndsReadsThatTheirThreadWasToldToStop) {
  std::stop_source stop;
  stop.request_stop();
  std::vector<std::uint8_t> bytes(1);
  {
    const StopScope scope(stop.get_token());
    EXPECT_EQ(error_of([&] { read_fully(*source_, 0, bytes, part_); }).kind(), ErrorKind::kClosed);
  }
  read_fully(*source_, 0, bytes, part_);
}

TEST_P(SourceConformance, ScattersARangeIntoPiecesAroundHoles) {
  for (std::uint64_t trial = 0; trial < 100; ++trial) {
    Random random(1, 0, trial, 0);
    const std::size_t offset = random.below(kSize);
    std::vector<std::uint8_t> memory(kSize, 0xcd), want = memory;
    std::vector<MutableBytes> into;
    std::size_t at = offset;
    for (std::uint64_t left = random.below(40) + 1; left > 0; --left) {
      // Nothing, a few bytes, blocks; holes that are read and holes that are passed.
      const std::uint64_t most[] = {1, 20, 5000, 40'000};
      const std::size_t size = std::min<std::size_t>(random.below(most[random.below(4)]), kSize - at);
      if (random.below(2) == 0 && size > 0) {
        into.push_back(hole(size));
      } else {
        into.push_back(MutableBytes(memory).subspan(at, size));
        std::copy_n(content_.begin() + static_cast<std::ptrdiff_t>(at), size,
                    want.begin() + static_cast<std::ptrdiff_t>(at));
      }
      at += size;
    }
    read_pieces(offset, into);
    ASSERT_EQ(memory, want) << "trial " << trial;
  }
}

TEST_P(SourceConformance, ReadsAlignedBlocksAndTheLastPartOfOne) {
  std::vector<std::uint8_t> memory(3 * 4096);
  const std::size_t lead = 4096 - reinterpret_cast<std::uintptr_t>(memory.data()) % 4096;
  const MutableBytes aligned = MutableBytes(memory).subspan(lead, 8192);
  const MutableBytes into[] = {aligned.first(4096), aligned.last(4096)};
  read_pieces(4096, into);
  EXPECT_TRUE(std::equal(aligned.begin(), aligned.end(), content_.begin() + 4096));
  const std::size_t last = kSize / 4096 * 4096;
  EXPECT_EQ(read(last, kSize - last), expected(last, kSize - last));
}

TEST_P(SourceConformance, ReadsNothingIntoHoles) {
  const MutableBytes into[] = {hole(10), MutableBytes(), hole(50'000)};
  read_pieces(7, into);
  read_pieces(kSize - length_of(into), into);
  EXPECT_THROW(read_pieces(kSize - length_of(into) + 1, into), Error) << "past the end";
}

TEST_P(SourceConformance, TellsOfATruncationWhileInUse) {
  EXPECT_EQ(read(0, 10), expected(0, 10));
  std::filesystem::resize_file(folder_.path("class/data.bin"), 50'001);
  if (!std::get<0>(GetParam()).in_file) {
    EXPECT_EQ(read(0, kSize), content_);
    return;
  }
  EXPECT_EQ(kind_of_failure(45'000, 10'000, part_), ErrorKind::kData);
  EXPECT_EQ(kind_of_failure(60'000, 10, part_), ErrorKind::kData);
}

TEST_P(SourceConformance, TakesHints) {
  source_->will_need(0, kSize, part_);
  source_->will_need(kSize + 1, ~std::uint64_t{0}, part_);
  source_->will_need(5, 0, "no/such/part");
  EXPECT_EQ(read(0, kSize), content_);
}

TEST_P(SourceConformance, ServesReadsThatSeveralThreadsStart) {
  constexpr int kThreads = 4;
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (std::size_t i = 0; i < 100; ++i) {
          const std::size_t offset = (thread * 1009 + i * 4093) % (kSize - 3000);
          std::vector<std::uint8_t> bytes(i * 31 % 3000);
          const bool here = (i + thread) % 2 == 0;
          read_fully(here ? *source_ : *neighbour_, offset, bytes, here ? part_ : neighbours_part_);
          if (!std::equal(bytes.begin(), bytes.end(), content_.begin() + static_cast<std::ptrdiff_t>(offset))) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST_P(SourceConformance, ServesManyReadsAtOnceAndCallsDoneOncePerRead) {
  constexpr int kReads = 300;
  struct Slot {
    std::vector<std::uint8_t> bytes;
    MutableBytes piece;
    std::atomic<int> done_calls = 0;
    std::latch* all = nullptr;
  };
  std::latch all(kReads);
  std::vector<Slot> slots(kReads);
  std::vector<ReadRequest> requests(kReads);
  for (std::size_t i = 0; i < kReads; ++i) {
    slots[i].bytes.resize(i * 7 % 500);
    slots[i].all = &all;
    requests[i].offset = i * 31;
    slots[i].piece = slots[i].bytes;
    requests[i].into = Pieces(&slots[i].piece, 1);
    requests[i].context = &slots[i];
    requests[i].done = [](ReadRequest& request) noexcept {
      auto& slot = *static_cast<Slot*>(request.context);
      if (slot.done_calls.fetch_add(1) == 0) slot.all->count_down();
    };
    if (i % 10 == 3) requests[i].offset = kSize + 1;  // failures among them
  }
  for (std::size_t i = 0; i < kReads; ++i) {
    Source& source = i % 2 == 0 ? *source_ : *neighbour_;
    requests[i].part = i % 2 == 0 || part_.empty() ? std::string_view(part_) : neighbours_part_;
    source.start(requests[i]);
  }
  all.wait();
  source_.reset();
  neighbour_.reset();  // joins its executor's threads, which may still be leaving count_down()
  for (std::size_t i = 0; i < kReads; ++i) {
    EXPECT_EQ(slots[i].done_calls, 1);
    if (i % 10 == 3) {
      EXPECT_TRUE(requests[i].error);
    } else {
      ASSERT_FALSE(requests[i].error);
      EXPECT_EQ(slots[i].bytes, expected(i * 31, i * 7 % 500)) << "read " << i;
    }
  }
}

TEST_P(SourceConformance, TakesARequestAgainAfterItFailed) {
  std::vector<std::uint8_t> bytes(1);
  const MutableBytes piece(bytes);
  std::latch failed(1), succeeded(1);
  ReadRequest request;
  request.part = part_;
  request.offset = kSize;
  request.into = Pieces(&piece, 1);
  request.done = [](ReadRequest& finished) noexcept { static_cast<std::latch*>(finished.context)->count_down(); };
  request.context = &failed;
  source_->start(request);
  failed.wait();
  ASSERT_TRUE(request.error);
  request.offset = 0;
  request.context = &succeeded;
  source_->start(request);
  succeeded.wait();
  source_.reset();
  neighbour_.reset();  // joins its executor's threads, which may still be leaving count_down()
  EXPECT_FALSE(request.error);
  EXPECT_EQ(bytes[0], content_[0]);
}

INSTANTIATE_TEST_SUITE_P(All, SourceConformance,
                         ::testing::Combine(::testing::ValuesIn(all_cases()), ::testing::Values(0, 1, 4)),
                         [](const auto& instance) {
                           const int threads = std::get<1>(instance.param);
                           return std::get<0>(instance.param).name +
                                  (threads == 0 ? "Inline" : std::to_string(threads) + "Threads");
                         });

}  // namespace
}  // namespace stoker
