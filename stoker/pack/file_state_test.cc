#include "stoker/pack/file_state.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "stoker/base/error_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

class FileStateOfOne : public ::testing::Test {
 protected:
  void set_time(const std::string& path, long nanoseconds) {
    const timespec both[] = {{1'700'000'000, nanoseconds}, {1'700'000'000, nanoseconds}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), both, 0), 0);
  }
  void expect_changed(const FileState& before, const char* what) {
    EXPECT_NE(FileState(stores_, path_).version(), before.version()) << what;
    EXPECT_EQ(error_of([&] { before.require_unchanged(); }).kind(), ErrorKind::kData) << what;
  }

  TempFolder folder_;
  const Stores stores_;
  const std::string path_ = folder_.write("file", "content");
};

// Tools that copy set times back, and may leave any one of these as the only difference.
TEST_F(FileStateOfOne, IsAnotherWithAnotherSizeTimeOrFile) {
  set_time(path_, 5);
  const FileState before(stores_, path_);
  before.require_unchanged();
  set_time(path_, 6);
  expect_changed(before, "time");
  set_time(path_, 5);
  before.require_unchanged();
  folder_.write("file", "contents");
  set_time(path_, 5);
  expect_changed(before, "size");
  folder_.write("file", "content");
  set_time(path_, 5);
  before.require_unchanged();
  const std::string other = folder_.write("other", "content");
  set_time(other, 5);
  std::filesystem::rename(other, path_);
  expect_changed(before, "file");
}

}  // namespace
}  // namespace stoker
