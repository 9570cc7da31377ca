#include "stoker/pack/pack_selection.h"

#include <gtest/gtest.h>

#include <memory>

#include "stoker/base/error_testing.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/format/tar_testing.h"
#include "stoker/storage/file_source.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

class PackSelectionOfNine : public ::testing::Test {
 protected:
  PackSelectionOfNine() {
    for (int i = 0; i < 9; ++i) folder_.write(fmt::format("in/c{}/{}.jpg", i % 3, i), "x");
    dataset_ = open_dataset({folder_.path("in")}, std::make_shared<InlineExecutor>());
  }

  TempFolder folder_;
  std::shared_ptr<const Dataset> dataset_;
};

TEST_F(PackSelectionOfNine, NumbersTheChosenClassesInTheirOrder) {
  const PackSelection all(*dataset_, {}, {}, {}), some(*dataset_, {"c2", "c1"}, {}, {});
  EXPECT_EQ(all.size(), 9);
  ASSERT_EQ(some.size(), 6);
  for (std::int64_t at = 0; at < 6; ++at) EXPECT_EQ(some.sample_at(at), at + 3) << "c0 comes first in the data";
  for (std::int64_t label = -1; label < 3; ++label) EXPECT_EQ(all.label_of(label), label);
  EXPECT_EQ(some.label_of(1), 0);
  EXPECT_EQ(some.label_of(2), 1);
  EXPECT_EQ(some.label_of(-1), -1) << "unknown stays unknown";
}

TEST_F(PackSelectionOfNine, StopsWhileItLooksForClasses) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(error_of([&] { PackSelection(*dataset_, {"c1"}, {}, stop.get_token()); }).kind(), ErrorKind::kClosed);
}

}  // namespace
}  // namespace stoker
