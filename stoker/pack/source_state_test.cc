#include "stoker/pack/source_state.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>

#include "stoker/base/error_testing.h"
#include "stoker/format/tar_testing.h"
#include "stoker/storage/file_source.h"
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

std::shared_ptr<const ShardedDataset> open(const std::string& path) {
  return open_dataset({path}, std::make_shared<InlineExecutor>());
}

void touch(const std::string& path) {
  std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) + std::chrono::seconds(5));
}

TEST(SourceState, IsAnotherOnceAnyFileIs) {
  TempFolder folder;
  for (const char* name : {"loose/a.jpg", "loose/a.json", "loose/b.jpg", "loose/b.txt"}) folder.write(name, "content");
  for (const char* name : {"0.tar", "1.tar"}) folder.write(name, tar_member("a.jpg", "content") + tar_end());
  for (const char* data : {"loose", "*.tar"}) {
    const auto dataset = open(folder.path(data));
    const Stores stores;
    const std::string same = SourceState(*dataset, stores).digest();
    EXPECT_EQ(SourceState(*dataset, stores).digest(), same);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
      const std::string path = entry.path().string();
      if (!entry.is_regular_file() || path.ends_with(".tar") != std::string(data).ends_with(".tar")) continue;
      const SourceState before(*dataset, stores);
      before.require_unchanged();
      touch(path);
      EXPECT_NE(SourceState(*dataset, stores).digest(), before.digest()) << path;
      EXPECT_EQ(error_of([&] { before.require_unchanged(); }).kind(), ErrorKind::kData) << path;
    }
  }
}

TEST(SourceState, StopsBetweenFiles) {
  TempFolder folder;
  folder.write("loose/a.jpg", "content");
  const auto dataset = open(folder.path("loose"));
  const Stores stores;
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(error_of([&] { SourceState(*dataset, stores, stop.get_token()); }).kind(), ErrorKind::kClosed);
  const SourceState before(*dataset, stores);
  EXPECT_EQ(error_of([&] { before.require_unchanged(stop.get_token()); }).kind(), ErrorKind::kClosed);
}

}  // namespace
}  // namespace stoker
