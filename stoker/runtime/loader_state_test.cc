#include "stoker/runtime/loader_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

LoaderIdentity identity() {
  return {.data = 0x1234,
          .samples = 1000,
          .recipe = 7,
          .order = {.samples = 1000, .global_batch = 64, .seed = 3},
          .semantics = 2};
}

std::string refusal(const LoaderIdentity& other, const std::string& json) {
  const Error error = error_of([&] { LoaderState(other).parse(json); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  return error.message();
}

TEST(LoaderState, KeepsAPosition) {
  const LoaderState state(identity());
  const std::string json = state.to_json({.epoch = 4, .batch = 1'000'000'000'000});
  EXPECT_EQ(state.parse(json), (LoaderPosition{4, 1'000'000'000'000}));
  EXPECT_LT(json.size(), 1000u);
}

TEST(LoaderState, SaysAllThatDiffers) {
  const std::string json = LoaderState(identity()).to_json({});
  LoaderIdentity other = identity();
  other.order.seed = 8;
  other.order.global_batch = 128;
  EXPECT_THAT(refusal(other, json), AllOf(HasSubstr("the seed was 3 and is now 8"),
                                          HasSubstr("the global batch was 64 and is now 128"), Not(HasSubstr("tail"))));
  other = identity();
  other.data = 5;
  EXPECT_THAT(refusal(other, json), HasSubstr("fingerprint"));
  other = identity();
  other.recipe = 5;
  EXPECT_THAT(refusal(other, json), HasSubstr("recipe"));
  other = identity();
  other.semantics = 5;
  EXPECT_THAT(refusal(other, json), HasSubstr("semantics version was 2 and is now 5"));
  other = identity();
  const auto shards = [](std::vector<std::int64_t> sizes) {
    return std::make_shared<const std::vector<std::int64_t>>(std::move(sizes));
  };
  other.order.kind = OrderKind::kWindowed;
  other.order.shard_samples = shards({1000});
  EXPECT_THAT(refusal(other, json), AllOf(HasSubstr("order was global and is now windowed"),
                                          HasSubstr("the window was none and is now 1024")));
  const std::string windowed = LoaderState(other).to_json({});
  EXPECT_EQ(LoaderState(other).parse(windowed), (LoaderPosition{}));
  other.order.shard_samples = shards({500, 500});
  EXPECT_THAT(refusal(other, windowed), HasSubstr("the division into shards was"));
  other = identity();
  other.nvjpeg = true;
  EXPECT_THAT(refusal(other, json), HasSubstr("nvjpeg, whose pixels differ, was false and is now true"));
  EXPECT_THAT(refusal(identity(), LoaderState(other).to_json({})), HasSubstr("was true and is now false"));
  other = identity();
  other.order.tail = Tail::kPad;
  EXPECT_THAT(refusal(other, json), HasSubstr("tail was drop and is now pad"));
}

TEST(LoaderState, WhatIsFalseNeedNotBeNamed) {
  const LoaderState state(identity());
  std::string json = state.to_json({1, 2});
  EXPECT_EQ(json.find("nvjpeg"), std::string::npos) << "files from before there was such a thing";
  json.insert(json.find("\"epoch\""), "\"nvjpeg\":false,");
  EXPECT_EQ(state.parse(json), (LoaderPosition{1, 2}));
}

TEST(LoaderState, RefusesWhatIsNone) {
  for (const char* json : {"", "{", "[]", "7", "{\"epoch\": 0}"}) {
    EXPECT_THAT(refusal(identity(), json), HasSubstr("not a state")) << json;
  }
  std::string json = LoaderState(identity()).to_json({1, 2});
  json.replace(json.find("\"batch\":2"), 9, "\"batch\":-2");
  EXPECT_THAT(refusal(identity(), json), AllOf(HasSubstr("damaged"), HasSubstr("'batch'")));
}

}  // namespace
}  // namespace stoker
