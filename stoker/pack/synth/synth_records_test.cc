#include "stoker/pack/synth/synth_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "stoker/base/error_testing.h"
#include "stoker/codec/image_decoder.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/format/record_field.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// The published ones have records of megabytes.
TrainingWorkload small_workload(std::string_view format, std::int64_t samples_per_file, double record_bytes = 3000) {
  return {.name = "small",
          .format = format,
          .files = 100,
          .samples_per_file = samples_per_file,
          .record_bytes = record_bytes,
          .record_bytes_sd = record_bytes / 10,
          .utilisation_min = 0.9};
}

std::string content_of_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::map<std::string, std::string> files_below(const std::string& root) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.is_regular_file()) files[fs::relative(entry.path(), root).string()] = content_of_file(entry.path());
  }
  return files;
}

class SynthRecordsOf : public testing::TestWithParam<std::string_view> {
 protected:
  TrainingWorkload workload_ = small_workload(GetParam(), GetParam() == "npz" || GetParam() == "jpeg" ? 1 : 5);
  TempFolder folder_;
};

TEST_P(SynthRecordsOf, AreTheSameBytesForAnyThreadCount) {
  SynthRecordsOptions options{.workload = &workload_, .count = 23, .seed = 3};
  std::map<std::string, std::string> first;
  for (const int threads : {1, 2, 7}) {
    const std::string out = folder_.path(std::to_string(threads));
    options.threads = threads;
    synthesize_records(out, options);
    if (threads == 1) first = files_below(out);
    EXPECT_EQ(files_below(out), first) << threads << " threads";
  }
  ++options.seed;
  synthesize_records(folder_.path("other"), options);
  std::set<std::string> contents;
  for (const auto& [path, content] : files_below(folder_.path("other"))) contents.insert(content);
  for (const auto& [path, content] : first) EXPECT_FALSE(contents.contains(content)) << path;
}

TEST_P(SynthRecordsOf, AreReadAsSamplesOfTheirSizes) {
  const SynthRecords made =
      synthesize_records(folder_.path("out"), {.workload = &workload_, .count = 23, .seed = 3, .threads = 2});
  const std::string train = folder_.path("out") + "/train";
  const auto data = open_dataset({GetParam() == "npz" ? train + "/*.npz" : train}, std::make_shared<InlineExecutor>());
  ASSERT_EQ(data->size(), 23);
  std::uint64_t all = 0;
  for (std::int64_t sample = 0; sample < data->size(); ++sample) {
    const SampleRow row = data->row(sample);
    const SampleField* const record = find_field(row, "record");
    ASSERT_NE(record, nullptr);
    const std::uint64_t drawn = draw_record_bytes(workload_, 3, sample);
    all += drawn;
    if (GetParam() == "npz") {  // with a header, and cut to a whole number of rows
      EXPECT_NEAR(static_cast<double>(record->length), static_cast<double>(drawn) + 128, 64) << sample;
    } else {
      EXPECT_EQ(record->length, drawn) << sample;
    }
  }
  EXPECT_EQ(made.bytes, all);
}

INSTANTIATE_TEST_SUITE_P(AllFormats, SynthRecordsOf, testing::Values("tfrecord", "npz", "jpeg", "parquet"),
                         [](const auto& format) { return std::string(format.param); });

TEST(SynthRecords, HaveAsManyFilesAsTheirShareAndAtLeastEight) {
  const TrainingWorkload& resnet50 = find_training_workload("resnet50");
  const auto files_of = [&](std::int64_t count) {
    const RecordFiles files = record_files(resnet50, count);
    return std::pair(files.files, files.samples_per_file);
  };
  EXPECT_EQ(files_of(resnet50.samples()), std::pair(std::int64_t{1024}, std::int64_t{1251}));
  EXPECT_EQ(files_of(12'510), std::pair(std::int64_t{10}, std::int64_t{1251}));
  EXPECT_EQ(files_of(800), std::pair(std::int64_t{8}, std::int64_t{100}));
  EXPECT_EQ(files_of(3), std::pair(std::int64_t{3}, std::int64_t{1}));
  EXPECT_EQ(record_files(find_training_workload("unet3d"), 20).files, 20);
}

TEST(SynthRecords, HaveTheWorkloadsMeanAndDeviation) {
  for (const TrainingWorkload* workload : training_workloads()) {
    constexpr int kDraws = 20'000;
    double sum = 0, squares = 0, least = INFINITY;
    for (int i = 0; i < kDraws; ++i) {
      const double bytes = static_cast<double>(draw_record_bytes(*workload, 1, i));
      least = std::min(least, bytes);
      sum += bytes - workload->record_bytes;
      squares += (bytes - workload->record_bytes) * (bytes - workload->record_bytes);
    }
    const double off = sum / kDraws;  // by five standard errors, and half a byte, it may be
    EXPECT_LE(std::abs(off), 5 * workload->record_bytes_sd / std::sqrt(kDraws) + 0.5) << workload->name;
    EXPECT_NEAR(std::sqrt(squares / kDraws), workload->record_bytes_sd, 0.02 * workload->record_bytes_sd + 0.5)
        << workload->name;
    EXPECT_GT(least, workload->record_bytes / 100) << workload->name;
  }
}

TEST(SynthRecords, OfJpegsArePicturesThatDecode) {
  const TempFolder folder;
  const TrainingWorkload workload = small_workload("jpeg", 1, 90'000);
  synthesize_records(folder.path("out"), {.workload = &workload, .count = 4, .seed = 0, .threads = 1});
  for (const auto& [path, content] : files_below(folder.path("out"))) {
    AnyImageDecoder decoder;
    const ImageFacts facts = decoder.read_facts(as_bytes(content));
    EXPECT_GT(facts.width, 250) << path << ": the comments are a small part of it";
    EXPECT_EQ(facts.width, facts.height) << path;
    std::vector<std::uint8_t> entry_points;
    EXPECT_TRUE(decoder.decodes_cleanly(as_bytes(content), facts, entry_points)) << path;
  }
}

TEST(SynthRecords, RefuseCountsThatTheWorkloadDoesNotHave) {
  const TempFolder folder;
  const TrainingWorkload workload = small_workload("npz", 1);
  for (const std::int64_t count : {0, 101}) {
    const Error error =
        error_of([&] { synthesize_records(folder.path("out"), {.workload = &workload, .count = count}); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.message(), HasSubstr("has 100 samples"));
  }
  EXPECT_FALSE(fs::exists(folder.path("out")));
}

TEST(SynthRecords, LeaveNothingWhenTheyAreStopped) {
  const TempFolder folder;
  const TrainingWorkload workload = small_workload("tfrecord", 5);
  std::atomic<bool> stop = false;
  SynthRecordsOptions options{.workload = &workload, .count = 400, .threads = 2, .stop = &stop};
  options.progress = [&](std::int64_t, std::int64_t) { stop = true; };
  EXPECT_EQ(error_of([&] { synthesize_records(folder.path("out/deeper"), options); }).kind(), ErrorKind::kClosed);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(SynthRecords, LeaveWhatOthersPutIntoTheirFolderWhenTheyAreStopped) {
  const TempFolder folder;
  for (const std::string_view format : {"tfrecord", "npz", "jpeg", "parquet"}) {
    const TrainingWorkload workload = small_workload(format, 1);
    std::atomic<bool> stop = false;
    SynthRecordsOptions options{.workload = &workload, .count = 100, .threads = 2, .stop = &stop};
    options.progress = [&](std::int64_t, std::int64_t) {
      if (!stop) folder.write("out/train/notes.txt", "of another program");
      stop = true;
    };
    EXPECT_EQ(error_of([&] { synthesize_records(folder.path("out"), options); }).kind(), ErrorKind::kClosed);
    EXPECT_EQ(files_below(folder.path()).size(), 1u) << format;
    EXPECT_EQ(files_below(folder.path())["out/train/notes.txt"], "of another program") << format;
    fs::remove_all(folder.path("out"));
  }
}

}  // namespace
}  // namespace stoker
