#include "stoker/pack/synth/npz_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"
#include "stoker/format/npy/npy_format.h"
#include "stoker/format/zip/zip_directory.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;

class CollectedObject final : public ObjectWriter {
 public:
  explicit CollectedObject(std::vector<std::uint8_t>& into) : into_(into) {}

  const std::string& name() const override { return name_; }
  void write(Bytes bytes) override { into_.insert(into_.end(), bytes.begin(), bytes.end()); }
  void commit() override { into_.push_back('!'); }  // so that tests see it

 private:
  const std::string name_ = "x.npz";
  std::vector<std::uint8_t>& into_;
};

std::vector<std::uint8_t> archive_of_two() {
  std::vector<std::uint8_t> bytes;
  NpzWriter writer(std::make_unique<CollectedObject>(bytes));
  writer.add("x", {.type = "u1", .shape = {2, 2, 3}}, as_bytes("abcdefghijkl"));
  const std::uint8_t labels[] = {5, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0};
  writer.add("y", {.type = "i8", .shape = {2}}, labels);
  writer.finish();
  EXPECT_EQ(bytes.back(), '!') << "it was not committed";
  bytes.pop_back();
  return bytes;
}

TEST(NpzWriter, WritesWhatIsReadBack) {
  MemorySource source("x.npz", archive_of_two());
  const ZipDirectory directory(source, {});
  std::vector<std::string_view> names;
  for (const ZipMember& member : directory.members()) names.push_back(directory.name(member));
  EXPECT_THAT(names, ElementsAre("x.npy", "y.npy"));

  const std::unique_ptr<ShardScan> scan = NpyFormat().scan(source, {});
  std::vector<std::string> values;
  std::vector<std::int64_t> labels;
  for (SampleRow row; scan->next(row);) {
    ASSERT_EQ(row.fields.size(), 1u);
    EXPECT_EQ(row.fields[0].name, "npy");
    std::vector<std::uint8_t> content(row.fields[0].length);
    read_fully(*row.source, row.fields[0].offset, content);
    values.emplace_back(as_text(content).substr(content.size() - 6));
    labels.push_back(row.label);
  }
  EXPECT_THAT(values, ElementsAre("abcdef", "ghijkl"));
  EXPECT_THAT(labels, ElementsAre(5, 7));
}

TEST(NpzWriter, WritesTheSameBytesAgain) { EXPECT_EQ(archive_of_two(), archive_of_two()); }

}  // namespace
}  // namespace stoker
