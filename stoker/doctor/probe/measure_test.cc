#include "stoker/doctor/probe/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "stoker/base/error_testing.h"
#include "stoker/device/open_device.h"
#include "stoker/pack/index_job.h"
#include "stoker/pack/synth/synth.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;

class Measure : public ::testing::Test {
 protected:
  MeasureOptions options(const std::string& data) const {
    return {.data = {data},
            .dataset = open(data),
            .recipe = small_recipe(),
            .loader = {.batch = 8, .threads = 1},
            .step = "0.1",
            .quick = true,
            .time_share = 0.02,
            .cache_folder = folder_.path("cache")};
  }

  std::string synthesized(const std::string& name, SynthKind kind, SynthFormat format, int count) const {
    synthesize(folder_.path(name), {.kind = kind, .format = format, .count = count, .classes = 2, .threads = 1});
    return folder_.path(name);
  }

  const TempFolder folder_;
};

TEST_F(Measure, FillsInTheFacts) {
  const std::string data = synthesized("photos.tar", SynthKind::kImagenet, SynthFormat::kTar, 24);
  MeasureOptions options = this->options(data);
  std::vector<std::string> probes;
  options.progress = [&](std::string_view probe, int done, int of) {
    EXPECT_EQ(done, std::ssize(probes));
    EXPECT_EQ(of, 6);
    probes.emplace_back(probe);
  };
  const Facts facts = measure(options);
  EXPECT_THAT(probes, ElementsAre("machine", "storage", "data", "cpu", "memory", "copy", ""));
  EXPECT_GT(facts.machine.cores, 0);
  ASSERT_TRUE(facts.storage);
  EXPECT_FALSE(facts.store);
  EXPECT_EQ(facts.step.seconds.median, 0.1);
  EXPECT_EQ(facts.run.batch, 8);
  EXPECT_EQ(facts.run.transfer_index, -1);
  EXPECT_EQ(facts.copy.device, "");

  const DataFacts& of_data = facts.data;
  EXPECT_EQ(of_data.layout, "packed");
  EXPECT_EQ(of_data.format, "tar");
  EXPECT_EQ(of_data.samples, 24);
  ASSERT_EQ(of_data.codecs.size(), 1u);
  EXPECT_EQ(of_data.codecs[0].name, "jpeg");
  EXPECT_EQ(of_data.codecs[0].share, 1);
  EXPECT_THAT(of_data.width_quantiles, Each(Gt(16)));
  EXPECT_NEAR(of_data.bytes, static_cast<double>(std::filesystem::file_size(data)), 0.3 * of_data.bytes);
  EXPECT_NEAR(of_data.read_bytes, of_data.bytes / 24, 0.5 * of_data.read_bytes);
  EXPECT_GT(of_data.requests, 0);
  EXPECT_EQ(of_data.bad_samples.bad, 0);

  ASSERT_EQ(facts.cpu.stages.size(), 3u);
  EXPECT_EQ(facts.cpu.stages[0].kind, "decode");
  EXPECT_GT(facts.cpu.total_s(), facts.cpu.stages[0].cpu_s);
  ASSERT_FALSE(facts.cpu.sample_s.empty());
  EXPECT_LE(facts.cpu.sample_s.front(), facts.cpu.sample_s.back());
  EXPECT_EQ(facts.cpu.scaling.front().threads, 1);
  EXPECT_GT(facts.cpu.scaling.front().samples_per_s.median, 0);
  EXPECT_GT(facts.memory.copy_bytes_per_s.median, 0);
  EXPECT_LE(facts.memory.cores, std::ceil(facts.machine.cores)) << "a quota counts";
  EXPECT_GT(facts.memory.copied_bytes, of_data.read_bytes);
}

TEST_F(Measure, KnowsLooseFilesAndADevice) {
  MeasureOptions options = this->options(synthesized("loose", SynthKind::kTiny, SynthFormat::kFolder, 40));
  options.loader.device = open_device("emulated:h100");
  const Facts facts = measure(options);
  EXPECT_EQ(facts.data.layout, "loose");
  EXPECT_EQ(facts.data.format, "folder");
  EXPECT_THAT(facts.data.requests, DoubleNear(1, 0.01)) << "a file is a read";
  EXPECT_EQ(facts.data.slow_path_share, 1) << "they are no JPEGs";
  EXPECT_GT(facts.storage->warm_opens_per_s.median, 0);
  EXPECT_EQ(facts.run.transfer_index, 0);
  EXPECT_EQ(facts.copy.device, "emulated:h100");
  EXPECT_GT(facts.copy.pinned_bytes_per_s.median, 0);
  EXPECT_NE(facts.copy.pinned_bytes_per_s.caveat, "") << "it is no GPU";
  ASSERT_EQ(facts.copy.bytes_per_sample.size(), 4u);
  EXPECT_THAT(facts.copy.cpu_s_per_sample, Each(Gt(0)));
}

TEST_F(Measure, RefusesWhatCannotBeAsked) {
  const std::string data = synthesized("few.tar", SynthKind::kTiny, SynthFormat::kTar, 5);
  const Error few = error_of([&] { measure(options(data)); });
  EXPECT_THAT(few.message(), HasSubstr("an epoch has 5 samples, fewer than one global batch of 8"));
  MeasureOptions replay = options(data);
  replay.loader.batch = 5;
  replay.step = "replay";
  bool began = false;
  replay.progress = [&](std::string_view, int, int) { began = true; };
  EXPECT_THAT(error_of([&] { measure(replay); }).message(), HasSubstr("there is no recorded training step"));
  EXPECT_FALSE(began) << "it is said at once";
}

TEST_F(Measure, StopsWhenAsked) {
  MeasureOptions options = this->options(synthesized("a.tar", SynthKind::kTiny, SynthFormat::kTar, 20));
  std::stop_source stop;
  options.stop = stop.get_token();
  std::string last;
  options.progress = [&](std::string_view probe, int, int) {
    last = probe;
    if (probe == "data") stop.request_stop();
  };
  EXPECT_EQ(error_of([&] { measure(options); }).kind(), ErrorKind::kClosed);
  EXPECT_EQ(last, "data");
}

TEST_F(Measure, NamesDataWithoutGoodSamples) {
  const TempFolder bad;
  for (int i = 0; i < 8; ++i) bad.write("c0/" + std::to_string(i) + ".jpg", "not a picture");
  const Error error = error_of([&] { measure(options(bad.path())); });
  EXPECT_THAT(error.message(), HasSubstr("is good; the first, "));
}

TEST_F(Measure, ChangesNothing) {
  const std::string data = synthesized("a", SynthKind::kTiny, SynthFormat::kFolder, 20);
  const auto names_of = [&] {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
      names.push_back(entry.path().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  };
  const std::vector<std::string> before = names_of();
  measure(options(data));
  EXPECT_EQ(names_of(), before);
}

}  // namespace
}  // namespace stoker
