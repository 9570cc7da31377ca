// What pack makes of classes that are unknown, replaced, or beside a text of the user's own, in every format.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "stoker/base/error_testing.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/format/tar/tar_writer.h"
#include "stoker/format/tfrecord/tfrecord_writer.h"
#include "stoker/pack/pack_testing.h"
#include "stoker/storage/atomic_file.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PackLabels : public ::testing::TestWithParam<const WritableFormat*> {
 protected:
  void write_tar(const std::vector<std::pair<std::string, std::string>>& members) const {
    TarWriter tar(folder_.path("in.tar"));
    for (const auto& [name, content] : members) tar.add(name, as_bytes(content));
    tar.finish();
  }
  /// A sample with the class 3 by one feature, and a text in another.
  void write_tfrecord() const {
    ExampleBuilder example;
    const std::string key = "a", text = "cat";
    example.add_bytes("__key__", {as_bytes(key)});
    example.add_bytes("cls", {as_bytes(text)});
    example.add_bytes("image", {as_bytes(jpg_)});
    example.add_integers("label", {3});
    TfRecordWriter file(std::make_unique<AtomicFile>(folder_.path("in.tfrecord")));
    file.add(example.message());
    file.finish();
  }
  static PackOptions options() { return {.format = GetParam()}; }
  PackResult pack_in(const PackOptions& options, const std::string& data = "in.tar") const {
    fs::remove_all(folder_.path("out"));
    return pack({folder_.path(data)}, folder_.path("out"), options);
  }
  /// By the pack's index, and as a scan finds them.
  std::vector<std::vector<std::int64_t>> labels() const {
    std::vector<std::vector<std::int64_t>> all;
    const std::string shard = fmt::format("out/shard-000000.{}", GetParam()->ending());
    for (const bool use_index : {true, false}) {
      const auto data = open_dataset({folder_.path(use_index ? "out" : shard)}, std::make_shared<InlineExecutor>(),
                                     {.use = use_index});
      all.emplace_back();
      for (std::int64_t i = 0; i < data->size(); ++i) all.back().push_back(data->label(i));
    }
    return all;
  }

  TempFolder folder_;
  const std::string jpg_{as_text(noisy_jpeg(16, 16, 1))};
};

TEST_P(PackLabels, ForgetTheOldOnesOfSamplesThatHaveNoNewOnes) {
  write_tar({{"a.jpg", jpg_}, {"a.cls", "3"}, {"b.jpg", jpg_}, {"b.cls", "4"}, {"c.jpg", jpg_}, {"c.cls", "cat"}});
  folder_.write("labels.txt", "a 5\nb -1\nc -1\n");
  PackOptions relabelled = options();
  relabelled.labels = folder_.path("labels.txt");
  const PackResult packed = pack_in(relabelled);
  EXPECT_EQ(packed.samples, 3) << "what the old class was is no fault of a sample's";
  EXPECT_THAT(labels(), ElementsAre(ElementsAre(5, -1, -1), ElementsAre(5, -1, -1)));
}

TEST_P(PackLabels, KeepSamplesWhoseClassIsUnknown) {
  write_tar({{"a.jpg", jpg_}, {"a.cls", "2"}, {"b.jpg", jpg_}, {"b.cls", "-1\n"}, {"c.jpg", jpg_}, {"c.cls", "cat"}});
  const PackResult packed = pack_in(options());
  EXPECT_EQ(packed.samples, 2);
  ASSERT_EQ(packed.bad.size(), 1u);
  EXPECT_THAT(packed.bad[0].reason, HasSubstr("'cat', not a class number"));
  EXPECT_THAT(labels(), ElementsAre(ElementsAre(2, -1), ElementsAre(2, -1)));
  write_tar({{"a.jpg", jpg_}, {"a.cls", "-1"}});
  EXPECT_EQ(pack_in(options()).samples, 1);
  EXPECT_THAT(labels(), ElementsAre(ElementsAre(-1), ElementsAre(-1)));
}

TEST_P(PackLabels, RefuseATextWhereTheClassNumberWouldBe) {
  write_tfrecord();
  const Error error = error_of([&] { pack_in(options(), "in.tfrecord"); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("sample 'a'"), HasSubstr("its field 'cls' is 'cat'")));
  EXPECT_FALSE(fs::exists(folder_.path("out")));
  PackOptions chosen = options();
  chosen.fields.label = "cls";
  EXPECT_EQ(pack_in(chosen, "in.tfrecord").samples, 1);
  EXPECT_THAT(labels(), ElementsAre(ElementsAre(0), ElementsAre(0)));
}

INSTANTIATE_TEST_SUITE_P(All, PackLabels, ::testing::ValuesIn(writable_formats()),
                         [](const auto& instance) { return std::string(instance.param->name()); });

}  // namespace
}  // namespace stoker
