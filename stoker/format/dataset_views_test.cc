#include "stoker/format/dataset_views.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "stoker/base/error_testing.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/format/tar_testing.h"
#include "stoker/storage/temp_folder_testing.h"
#include "stoker/storage/thread_executor_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Data = std::shared_ptr<const Dataset>;

std::vector<std::string> keys(const Dataset& data) {
  std::vector<std::string> all;
  for (std::int64_t i = 0; i < data.size(); ++i) all.push_back(data.key(i));
  return all;
}

std::vector<std::int64_t> labels(const Dataset& data) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < data.size(); ++i) all.push_back(data.label(i));
  return all;
}

/// The content of sample k's image is its key k times.
std::string shard_of(const std::vector<std::string>& keys) {
  std::string tar;
  for (const std::string& key : keys) {
    tar += tar_member(key + ".jpg", key) + tar_member(key + ".cls", std::to_string(key.size()));
  }
  return tar + tar_end();
}

class DatasetViews : public ::testing::Test {
 protected:
  Data open(const std::vector<std::string>& paths) { return open_dataset(paths, std::make_shared<InlineExecutor>()); }
  static std::string image(const Dataset& data, std::int64_t sample) {
    const SampleRow row = data.row(sample);
    const SampleField& field = *row.image_field();
    std::string content(field.length, '?');
    read_checked(row, field, {reinterpret_cast<std::uint8_t*>(content.data()), content.size()});
    return content;
  }

  TempFolder folder_;
  std::string first_ = folder_.write("1.tar", shard_of({"a", "bb", "ccc"}));
  std::string second_ = folder_.write("2.tar", shard_of({"dddd", "e", "bb"}));
  Data data_ = open({first_, second_});
};

TEST_F(DatasetViews, SubsetHasTheChosenSamplesAsTheyStand) {
  const Data part = subset(data_, {4, 1, 3, 1});
  EXPECT_THAT(keys(*part), ElementsAre("bb", "dddd", "e"));
  EXPECT_THAT(labels(*part), ElementsAre(2, 4, 1));
  EXPECT_EQ(image(*part, 1), "dddd");
  EXPECT_THAT(part->shard_samples(), ElementsAre(1, 2));
  EXPECT_EQ(part->bytes(), 2u + 4 + 1 + 3);
  EXPECT_THAT(part->field_names(), ElementsAre("jpg", "cls"));
  part->prepare(std::vector<std::int64_t>{0, 1, 2});
}

TEST_F(DatasetViews, SamplesAreFoundByKeysOrByWhatRowsSay) {
  EXPECT_THAT(samples_of_keys(*data_, {"e", "bb"}), ElementsAre(1, 4, 5));
  EXPECT_THAT(samples_where(*data_, [](const SampleRow& row) { return row.label > 2; }), ElementsAre(2, 3));
  EXPECT_EQ(subset(data_, {})->size(), 0);
}

TEST_F(DatasetViews, SubsetOfASubset) {
  EXPECT_THAT(keys(*subset(subset(data_, {1, 3, 5}), {2, 0})), ElementsAre("bb", "bb"));
}

TEST_F(DatasetViews, SubsetOfAllIsTheSameDataAndOfFewerIsNot) {
  EXPECT_EQ(subset(data_, {0, 1, 2, 3, 4, 5})->fingerprint(), data_->fingerprint());
  EXPECT_EQ(subset(data_, {0, 1, 2})->fingerprint(), open({first_})->fingerprint());
  EXPECT_NE(subset(data_, {0, 1})->fingerprint(), subset(data_, {0, 2})->fingerprint());
}

TEST_F(DatasetViews, SubsetSaysWhatIsNotThere) {
  EXPECT_THAT(error_of([&] { subset(data_, {1, 6}); }).message(), HasSubstr("no sample 6: the data set has 6"));
  EXPECT_THAT(error_of([&] { subset(data_, {-1}); }).message(), HasSubstr("no sample -1"));
  const Error error = error_of([&] { samples_of_keys(*data_, {"a", "x", "y", "x"}); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.message(), HasSubstr("2 of 3 keys not in the data set; the first is 'x'"));
}

TEST_F(DatasetViews, LabelsAreReplaced) {
  const Data other = with_labels(data_, {1, -1, 0, 1, 0, 1}, {"c0", "c1"});
  EXPECT_THAT(labels(*other), ElementsAre(1, -1, 0, 1, 0, 1));
  EXPECT_THAT(keys(*other), ElementsAre("a", "bb", "ccc", "dddd", "e", "bb"));
  EXPECT_THAT(other->classes(), ElementsAre("c0", "c1"));
  EXPECT_EQ(other->bytes(), data_->bytes());
  EXPECT_NE(other->fingerprint(), data_->fingerprint());
  EXPECT_EQ(with_labels(data_, labels(*data_), {})->fingerprint(), data_->fingerprint());
  EXPECT_THAT(error_of([&] {
                with_labels(data_, {1, 1, 1, 1, 2, 1}, {"c0", "c1"});
              }).message(),
              HasSubstr("a label is 2, but the last of the 2 given classes is 1"));
  EXPECT_THAT(error_of([&] { with_labels(data_, {1}, {}); }).message(),
              HasSubstr("1 label for 6 samples; give one label for each"));
}

TEST_F(DatasetViews, MixtureHasAllSamplesAndItsWeights) {
  const Data mixed = mix({open({second_}), subset(open({first_}), {0, 2})}, {0.75, 0.25});
  EXPECT_THAT(keys(*mixed), ElementsAre("dddd", "e", "bb", "a", "ccc"));
  EXPECT_EQ(image(*mixed, 4), "ccc");
  EXPECT_THAT(mixed->shard_samples(), ElementsAre(3, 2));
  EXPECT_EQ(mixed->bytes(), open({second_})->bytes() + 1 + 3 + 2);
  ASSERT_EQ(mixed->mixture().size(), 2u);
  EXPECT_EQ(mixed->mixture()[0].samples, 3);
  EXPECT_EQ(mixed->mixture()[0].weight, 3);
  EXPECT_EQ(mixed->mixture()[1].samples, 2);
  EXPECT_EQ(mixed->mixture()[1].weight, 1);
  mixed->prepare(std::vector<std::int64_t>{4, 0, 3});
  EXPECT_EQ(with_labels(mixed, {0, 0, 0, 0, 0}, {})->mixture().size(), 2u);
}

TEST_F(DatasetViews, MixtureChangesWithItsWeights) {
  const auto of = [&](std::vector<double> weights) { return mix({data_, data_}, weights)->fingerprint(); };
  EXPECT_EQ(of({1, 2}), of({10, 20}));
  EXPECT_NE(of({1, 2}), of({2, 1}));
}

std::vector<std::int64_t> weights_of(const Dataset& data) {
  std::vector<std::int64_t> weights;
  for (const MixPart& part : data.mixture()) weights.push_back(part.weight);
  return weights;
}

TEST_F(DatasetViews, MixtureKeepsRatiosOfWeights) {
  EXPECT_THAT(weights_of(*mix({data_, data_, data_}, {2, 4, 6})), ElementsAre(1, 2, 3));
  EXPECT_THAT(weights_of(*mix({data_, data_}, {0.1, 0.9})), ElementsAre(1, 9));
  EXPECT_THAT(weights_of(*mix({data_, data_}, {1, 999'999})), ElementsAre(1, 999'999));
  EXPECT_THAT(weights_of(*mix({data_, data_}, {1e12, 1e12})), ElementsAre(1, 1));
  EXPECT_THAT(weights_of(*mix({data_, data_}, {1.0 / 3, 2.0 / 3})), ElementsAre(1, 2));
  EXPECT_THAT(weights_of(*mix({data_, data_}, {12.5e9, 37.4e9})), ElementsAre(125, 374));
  EXPECT_THAT(weights_of(*mix({data_, data_, data_}, {3, 1, 0.5})), ElementsAre(6, 2, 1));
  EXPECT_THAT(weights_of(*mix({data_, data_}, {std::sqrt(0.5), 1 - std::sqrt(0.5)})), ElementsAre(707'107, 292'893));
}

TEST_F(DatasetViews, MixtureRefusesWhatCannotBeMixed) {
  const auto refusal = [](const std::vector<Data>& data, const std::vector<double>& weights) {
    return error_of([&] { mix(data, weights); }).message();
  };
  EXPECT_THAT(refusal({data_, data_}, {1}), HasSubstr("2 data sets and 1 weight were given"));
  EXPECT_THAT(refusal({}, {}), HasSubstr("0 data sets"));
  for (const double weight : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(refusal({data_, data_}, {1, weight}), HasSubstr("must be positive")) << weight;
  }
  EXPECT_THAT(refusal({data_, data_}, {1, 1e9}), HasSubstr("less than a millionth"));
  EXPECT_THAT(refusal({data_, subset(data_, {})}, {1, 1}), HasSubstr("without samples"));
  const Data mixed = mix({data_, data_}, {1, 1});
  EXPECT_THAT(refusal({data_, mixed}, {1, 1}), HasSubstr("cannot be mixed again"));
  EXPECT_THAT(error_of([&] { subset(mixed, {0}); }).message(), HasSubstr("take subsets of its parts"));
  EXPECT_THAT(refusal({with_labels(data_, {0, 0, 0, 0, 0, 0}, {"cat"}), data_}, {1, 1}),
              AllOf(HasSubstr("1 class (cat)"), HasSubstr("no class names"), HasSubstr(first_)));
}

TEST_F(DatasetViews, PartsOfAMixtureShareAFieldOrHaveImages) {
  const auto with = [&](const std::string& field) {
    return open({folder_.write(field + ".tar", tar_member("k." + field, "1") + tar_end())});
  };
  EXPECT_EQ(mix({data_, with("png")}, {1, 1})->size(), 7);
  EXPECT_EQ(mix({with("txt"), with("txt")}, {1, 1})->size(), 2);
  EXPECT_THAT(error_of([&] {
                mix({with("t.u16"), with("t.i32")}, {1, 1});
              }).message(),
              AllOf(HasSubstr("t.u16.tar' have t.u16, and those of '"), HasSubstr("t.i32.tar' have t.i32")));
  EXPECT_EQ(error_of([&] { mix({data_, with("txt")}, {1, 1}); }).kind(), ErrorKind::kData);
}

TEST_F(DatasetViews, StopWhenAskedTo) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(error_of([&] { samples_of_keys(*data_, {"a"}, stop.get_token()); }).kind(), ErrorKind::kClosed);
}

}  // namespace
}  // namespace stoker
