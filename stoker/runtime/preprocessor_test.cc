// Requests: the pixels that a loader makes, from bytes, files and servers, for one caller or several; bad items.
#include "stoker/runtime/preprocessor.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "stoker/base/child_testing.h"
#include "stoker/base/error_testing.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/plan/cpu_executor.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/storage/http/http_server_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// Encoded images, and what refers to them.
class Images {
 public:
  explicit Images(int count) {
    for (int i = 0; i < count; ++i) add(noisy_jpeg(30 + i % 7, 40 - i % 5, static_cast<std::uint64_t>(i)));
  }

  void add(std::vector<std::uint8_t> encoded) { encoded_.push_back(std::move(encoded)); }
  void spoil(std::size_t number) { encoded_[number].assign(100, '?'); }

  std::vector<RequestItem> items() {
    fields_.assign(encoded_.begin(), encoded_.end());
    std::vector<RequestItem> items;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      items.push_back({.fields = {&fields_[i], 1}, .label = static_cast<std::int64_t>(10 * i)});
    }
    return items;
  }
  const std::vector<std::uint8_t>& encoded(std::size_t number) const { return encoded_[number]; }

 private:
  std::vector<std::vector<std::uint8_t>> encoded_;
  std::vector<Bytes> fields_;
};

/// What the executor makes of an item by itself, as the answer has it.
std::string alone(const Plan& plan, const Request& request, std::size_t number) {
  CpuExecutor executor(plan);
  const std::vector<SampleOutput> outputs = run_one(
      executor, {.fields = request.items[number].fields,
                 .label = request.items[number].label,
                 .draw = {.seed = request.seed, .epoch = request.epoch, .position = request.position + number}});
  std::string all;
  for (const SampleOutput& output : outputs) all.append(output.bytes.begin(), output.bytes.end());
  return all;
}

std::string slot_of(const Batch& batch, int slot) {
  std::string all;
  for (std::size_t output = 0; output < batch.outputs().size(); ++output) {
    const Bytes bytes = batch.slot_bytes(output, slot);
    all.append(bytes.begin(), bytes.end());
  }
  return all;
}

TEST(Preprocessor, MakesWhatALoaderWouldForAnyThreads) {
  Images images(21);
  const std::vector<RequestItem> items = images.items();
  const Recipe recipe = small_recipe();
  const Plan plan(recipe);
  for (const int threads : {1, 4}) {
    Preprocessor made(recipe, {.threads = threads});
    EXPECT_EQ(made.threads(), threads);
    EXPECT_THAT(made.fields(), ElementsAre("image"));
    for (const std::size_t count : {1u, 2u, 21u}) {
      const Request request{.items = std::span(items).first(count), .seed = 3, .epoch = 2, .position = 100};
      const auto batch = made.run(request);
      ASSERT_EQ(batch->size(), static_cast<int>(count));
      EXPECT_EQ(batch->valid_count(), static_cast<int>(count));
      EXPECT_EQ(batch->position.back(), static_cast<std::int64_t>(100 + count - 1));
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_TRUE(slot_of(*batch, static_cast<int>(i)) == alone(plan, request, i)) << i << " of " << count;
      }
    }
  }
}

TEST(Preprocessor, AnswersNothingByNothing) {
  Preprocessor made(small_recipe(), {.threads = 2});
  EXPECT_EQ(made.run({})->size(), 0);
}

TEST(Preprocessor, SharesItsThreadsAmongCallers) {
  Images images(12);
  const std::vector<RequestItem> items = images.items();
  const Plan plan(small_recipe());
  Preprocessor made(small_recipe(), {.threads = 2});
  std::vector<int> wrong(5);
  std::vector<std::thread> callers;
  for (std::size_t caller = 0; caller < wrong.size(); ++caller) {
    callers.emplace_back([&, caller] {
      for (int round = 0; round < rounds(20); ++round) {
        const std::size_t count = 1 + (caller + static_cast<std::size_t>(round)) % items.size();
        const Request request{.items = std::span(items).first(count), .seed = caller};
        const auto batch = made.run(request);
        for (std::size_t i = 0; i < count; ++i) {
          wrong[caller] += slot_of(*batch, static_cast<int>(i)) != alone(plan, request, i);
        }
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_THAT(wrong, testing::Each(0));
}

TEST(Preprocessor, UsesMemoryAgainThatNobodyHolds) {
  Images images(3);
  const std::vector<RequestItem> items = images.items();
  Preprocessor made(small_recipe(), {.threads = 1});
  const Request request{.items = items};
  auto first = made.run(request);
  const std::string content = slot_of(*first, 2);
  const auto second = made.run(request);
  EXPECT_NE(first->output(0).data, second->output(0).data);
  const std::uint8_t* const memory = first->output(0).data;
  first = nullptr;
  const auto third = made.run(request);
  EXPECT_EQ(third->output(0).data, memory);
  EXPECT_EQ(slot_of(*third, 2), content);
}

TEST(Preprocessor, BatchesOutliveIt) {
  Images images(2);
  const std::vector<RequestItem> items = images.items();
  auto made = std::make_unique<Preprocessor>(small_recipe());
  const auto batch = made->run({.items = items});
  const std::string content = slot_of(*batch, 1);
  made = nullptr;
  EXPECT_EQ(slot_of(*batch, 1), content);
}

TEST(Preprocessor, NamesTheFirstBadItemOrKeepsAll) {
  Images images(6);
  images.spoil(2);
  images.spoil(4);
  const std::vector<RequestItem> items = images.items();
  Preprocessor made(small_recipe(), {.threads = 3});
  const Error error = error_of([&] { made.run({.items = items}); });
  EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
  EXPECT_THAT(error.what(), HasSubstr("item 2"));
  const auto batch = made.run({.items = items, .keeps_bad = true});
  EXPECT_EQ(batch->valid_count(), 4);
  ASSERT_EQ(batch->errors.size(), 6u);
  for (const int slot : {2, 4}) {
    EXPECT_FALSE(batch->valid(slot));
    EXPECT_THAT(batch->errors[static_cast<std::size_t>(slot)], HasSubstr(fmt::format("item {}", slot)));
    for (const std::uint8_t byte : batch->slot_bytes(0, slot)) ASSERT_EQ(byte, 0);
  }
  EXPECT_EQ(batch->errors[3], "");
}

TEST(Preprocessor, ReadsFilesAndServers) {
  Images images(4);
  const TempFolder folder;
  const auto content = [&](std::size_t number) {
    return std::string(images.encoded(number).begin(), images.encoded(number).end());
  };
  const Location file = folder.write("a.jpg", content(0));
  const HttpServer server([&](const HttpServer::Asked& asked) {
    if (asked.target == "/b.jpg") return HttpServer::serve(asked, content(1));
    if (asked.target == "/c.jpg") return HttpServer::serve(asked, content(2));
    return HttpServer::status(404);
  });
  const Location b = server.url("/b.jpg"), c = server.url("/c.jpg"), absent = server.url("/none.jpg"),
                 gone = folder.path("no.jpg");
  const std::vector<RequestItem> plain = images.items();
  Preprocessor made(small_recipe(), {.threads = 2});
  std::vector<RequestItem> items = {
      {.place = &file, .label = 0}, {.place = &b, .label = 10}, {.place = &c, .label = 20}, plain[3]};
  const auto batch = made.run({.items = items}), want = made.run({.items = plain});
  for (int slot = 0; slot < 4; ++slot) EXPECT_TRUE(slot_of(*batch, slot) == slot_of(*want, slot)) << slot;
  EXPECT_EQ(batch->key[1], b.text());
  items[0].place = &gone;
  items[2].place = &absent;
  EXPECT_THAT(error_of([&] { made.run({.items = items}); }).what(), HasSubstr("no.jpg"));
  const auto kept = made.run({.items = items, .keeps_bad = true});
  EXPECT_EQ(kept->valid_count(), 2);
  EXPECT_THAT(kept->errors[2], AllOf(HasSubstr("none.jpg"), HasSubstr("404")));
}

TEST(Preprocessor, IsStoppedWhileAServerIsSilentAndServesAgain) {
  Images images(1);
  std::atomic<bool> silent = true;
  std::promise<void> asked_once;
  const HttpServer server([&](const HttpServer::Asked& asked) {
    if (!silent) return HttpServer::serve(asked, std::string(images.encoded(0).begin(), images.encoded(0).end()));
    if (silent.exchange(false)) asked_once.set_value();
    return HttpServer::Reply{"", HttpServer::After::kHold};
  });
  const Location at = server.url("/x.jpg");
  const RequestItem item{.place = &at};
  Preprocessor made(small_recipe(), {.threads = 1});
  std::stop_source stop;
  auto answer = std::async(std::launch::async, [&] {
    return error_of([&] { made.run({.items = {&item, 1}}, stop.get_token()); }).kind();
  });
  asked_once.get_future().wait();
  stop.request_stop();
  EXPECT_EQ(answer.get(), ErrorKind::kClosed);
  EXPECT_EQ(made.run({.items = {&item, 1}})->valid_count(), 1);
}

TEST(Preprocessor, RefusesWhatItCannotAnswer) {
  EXPECT_THAT(error_of([] { Preprocessor(Recipe().decode().normalize("imagenet")); }).what(), HasSubstr("image"));
  EXPECT_EQ(error_of([] { Preprocessor(small_recipe(), {.threads = -1}); }).kind(), ErrorKind::kUsage);
  Preprocessor made(small_recipe(), {.threads = 1});
  const RequestItem empty;
  EXPECT_THAT(error_of([&] { made.run({.items = {&empty, 1}}); }).what(), HasSubstr("0 fields"));
}

TEST(Preprocessor, SaysThatAForkedChildHasNoThreads) {
  if (!kChildrenOfThreadsWork) GTEST_SKIP() << "a forked child of several threads may hang";
  Preprocessor made(small_recipe(), {.threads = 2});
  EXPECT_EQ(status_in_child([&] { return error_of([&] { made.run({}); }).kind() == ErrorKind::kUsage ? 0 : 1; }), 0);
}

}  // namespace
}  // namespace stoker
