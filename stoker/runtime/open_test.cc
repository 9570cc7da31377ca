#include "stoker/runtime/open.h"

#include <gtest/gtest.h>

#include "stoker/base/child_testing.h"
#include "stoker/base/error_testing.h"
#include "stoker/format/dataset_views.h"
#include "stoker/format/tar_testing.h"
#include "stoker/storage/file_access_testing.h"
#include "stoker/storage/source.h"

namespace stoker {
namespace {

std::string read_image(const Dataset& data, std::int64_t sample) {
  const SampleRow row = data.row(sample);
  const SampleField& image = *row.image_field();
  std::string content(image.length, '?');
  read_fully(*row.source, image.offset, {reinterpret_cast<std::uint8_t*>(content.data()), content.size()}, image.part);
  return content;
}

std::string_view io_name(const Dataset& data) { return data.row(0).source->io_name(); }

class OpenShard : public ::testing::Test {
 protected:
  OpenShard() : path_(folder_.write("a.tar", tar_member("x.jpg", "12345") + tar_end())) {}

  TempFolder folder_;
  std::string path_;
};

TEST_F(OpenShard, ReadsByUringWhereItWorks) {
  const bool works = UringIo::why_not().empty();
  const auto data = open(path_);
  EXPECT_EQ(io_name(*data), works ? "io_uring" : "pread");
  EXPECT_EQ(read_image(*data, 0), "12345");
  if (works) {
    EXPECT_EQ(io_name(*open(path_, {}, {.io = IoKind::kUring})), "io_uring");
  } else {
    EXPECT_EQ(error_of([&] { open(path_, {}, {.io = IoKind::kUring}); }).kind(), ErrorKind::kIo);
  }
}

TEST_F(OpenShard, ReadsByPreadWhenAskedTo) {
  const auto data = open(path_, {}, {.io = IoKind::kPread});
  EXPECT_EQ(io_name(*data), "pread");
  EXPECT_EQ(read_image(*data, 0), "12345");
}

TEST(Open, KnowsTheWaysToReadByName) {
  EXPECT_EQ(parse_io("auto"), IoKind::kAuto);
  EXPECT_EQ(parse_io("uring"), IoKind::kUring);
  EXPECT_EQ(parse_io("pread"), IoKind::kPread);
  EXPECT_EQ(error_of([] { parse_io("mmap"); }).kind(), ErrorKind::kUsage);
}

TEST_F(OpenShard, ReadsShardsDirectly) {
  if (const std::string why = why_not({"", false, true}); !why.empty()) GTEST_SKIP() << why;
  EXPECT_EQ(read_image(*open(path_, {}, {.direct = true}), 0), "12345");
  const auto data = open(path_, {}, {.io = IoKind::kPread, .direct = true});
  EXPECT_EQ(read_image(*data, 0), "12345");
  EXPECT_EQ(io_name(*data), "pread+direct");
  EXPECT_TRUE(data->is_direct());
  EXPECT_TRUE(subset(data, {0})->is_direct());
  EXPECT_TRUE(mix({open(path_), data}, {1, 1})->is_direct());
  EXPECT_FALSE(open(path_)->is_direct());
}

TEST_F(OpenShard, ReadsAFolderWhateverIsAskedForItsShards) {
  folder_.write("loose/x.jpg", "678");
  const auto data = open(folder_.path("loose"), {}, {.direct = true});
  EXPECT_EQ(io_name(*data), "pread");
  EXPECT_EQ(read_image(*data, 0), "678");
}

TEST_F(OpenShard, LetsAForkedChildReadAndLetGo) {
  auto data = open(path_);
  EXPECT_EQ(status_in_child([&] {
              const bool same = read_image(*data, 0) == "12345";
              data.reset();
              return same ? 0 : 1;
            }),
            0);
  EXPECT_EQ(read_image(*data, 0), "12345");
}

}  // namespace
}  // namespace stoker
