#include "stoker/storage/open_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <deque>
#include <filesystem>

#include "stoker/base/error_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

bool is_open(int descriptor) { return ::fcntl(descriptor, F_GETFD) != -1; }

/// A cache, and files "0", "1", ... to use it with.
class OpenFilesTest : public ::testing::Test {
 protected:
  explicit OpenFilesTest(int capacity = 2) : cache_(capacity) {
    for (int i = 0; i < 5; ++i) {
      const std::string& name = names_.emplace_back(folder_.write(std::to_string(i), std::string(10, 'x')));
      files_.emplace_back(name, name, FileOptions{});
    }
  }
  ~OpenFilesTest() override {
    for (OpenFiles::File& file : files_) cache_.forget(file);
  }

  struct Use {
    OpenFiles::Lease lease;
    OpenFilesTest* test = nullptr;
    int number = 0;
  };

  /// Acquires file `number`; null if it has to wait.
  Use* use(int number) {
    Use& use = uses_.emplace_back();
    use.test = this;
    use.number = number;
    use.lease.context = &use;
    use.lease.resume = [](Waiter& waiter) noexcept {
      auto& self = *static_cast<Use*>(waiter.context);
      try {
        self.test->cache_.finish(self.lease);
        self.test->resumed_.push_back(self.number);
      } catch (const Error& error) {
        self.test->failed_ += error.message();
      }
    };
    return cache_.acquire(file(number), use.lease) ? &use : nullptr;
  }

  void release(Use* use) { cache_.release(use->lease); }
  OpenFiles::File& file(int number) { return files_[static_cast<std::size_t>(number)]; }
  int descriptor_after_use(int number) {
    Use* const now = use(number);
    const int descriptor = now->lease.descriptor;
    release(now);
    return descriptor;
  }

  TempFolder folder_;
  OpenFiles cache_;
  std::deque<std::string> names_;
  std::deque<OpenFiles::File> files_;
  std::deque<Use> uses_;
  std::vector<int> resumed_;
  std::string failed_;
};

TEST_F(OpenFilesTest, KeepsTheFilesOpenThatWereUsedLast) {
  const int zero = descriptor_after_use(0);
  const int one = descriptor_after_use(1);
  EXPECT_TRUE(is_open(zero) && is_open(one));
  EXPECT_EQ(descriptor_after_use(0), zero);
  EXPECT_EQ(descriptor_after_use(2), one) << "file 1 was closed, and its number given to file 2";
  EXPECT_EQ(descriptor_after_use(0), zero);
}

TEST_F(OpenFilesTest, NeverClosesAFileInUse) {
  Use* const zero = use(0);
  Use* const again = use(0);
  ASSERT_TRUE(zero && again);
  release(again);
  for (const int other : {1, 2, 3, 4, 1, 2}) EXPECT_NE(descriptor_after_use(other), zero->lease.descriptor);
  char byte = 0;
  EXPECT_EQ(::pread(zero->lease.descriptor, &byte, 1, 0), 1);
  release(zero);
}

TEST_F(OpenFilesTest, LetsReadsWaitInTurnWhenAllFilesAreInUse) {
  Use* const zero = use(0);
  Use* const one = use(1);
  ASSERT_TRUE(zero && one);
  EXPECT_FALSE(use(2));
  EXPECT_FALSE(use(0)) << "open, but others wait already";
  EXPECT_FALSE(use(3));
  OpenFiles::Lease hint;
  EXPECT_FALSE(cache_.acquire(file(0), hint, false));
  EXPECT_TRUE(resumed_.empty());
  release(one);
  EXPECT_THAT(resumed_, ElementsAre(2, 0));
  release(&uses_[2]);
  EXPECT_THAT(resumed_, ElementsAre(2, 0, 3));
  release(zero);
  release(&uses_[3]);
  release(&uses_[4]);
  EXPECT_TRUE(use(4));
  release(&uses_.back());
}

TEST_F(OpenFilesTest, KeepsOneDescriptorOfAFileThatSeveralOpenAtOnce) {
  Use* const zero = use(0);
  Use* const one = use(1);
  for (Use* const second : {&uses_.emplace_back(), &uses_.emplace_back()}) {
    second->lease.resume = [](Waiter&) noexcept {};  // has its turn, and takes its time
    EXPECT_FALSE(cache_.acquire(file(2), second->lease));
  }
  release(zero);
  release(one);
  cache_.finish(uses_[2].lease);
  cache_.finish(uses_[3].lease);
  EXPECT_EQ(uses_[2].lease.descriptor, uses_[3].lease.descriptor);
  release(&uses_[2]);
  EXPECT_TRUE(is_open(uses_[3].lease.descriptor));
  release(&uses_[3]);
  Use* const three = use(3);
  Use* const four = use(4);
  ASSERT_TRUE(three && four) << "the descriptor that was not kept left its place";
  release(three);
  release(four);
}

TEST_F(OpenFilesTest, ServesTheNextWhenAFileCannotBeOpened) {
  Use* const zero = use(0);
  Use* const one = use(1);
  EXPECT_FALSE(use(2));
  EXPECT_FALSE(use(3));
  std::filesystem::remove(names_[2]);
  release(one);
  EXPECT_THAT(failed_, HasSubstr("No such file"));
  EXPECT_THAT(resumed_, ElementsAre(3));
  release(&uses_[3]);
  release(zero);
}

TEST_F(OpenFilesTest, FindsThatAFileWasReplacedWhileClosed) {
  descriptor_after_use(0);
  for (const int other : {1, 2}) descriptor_after_use(other);
  folder_.write("new", std::string(10, 'y'));
  std::filesystem::rename(folder_.path("new"), names_[0]);
  const Error error = error_of([&] { use(0); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), AllOf(HasSubstr(names_[0]), HasSubstr("was replaced while in use")));
}

TEST_F(OpenFilesTest, FindsThatAFileChangedItsSizeWhileClosed) {
  descriptor_after_use(0);
  for (const int other : {1, 2}) descriptor_after_use(other);
  std::filesystem::resize_file(names_[0], 7);
  const Error error = error_of([&] { use(0); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("while in use"), HasSubstr("10 bytes"), HasSubstr("has 7")));
}

TEST_F(OpenFilesTest, ClosesWhatIsForgottenAndMakesRoomForOthers) {
  const int zero = descriptor_after_use(0);
  Use* const one = use(1);
  cache_.forget(file(0));
  EXPECT_FALSE(is_open(zero));
  Use* const two = use(2);
  ASSERT_TRUE(two);
  release(one);
  release(two);
}

TEST(OpenFiles, TakesHalfOfWhatTheProcessMayOpenAndNoMoreThanAThousandOrSo) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit changed = before;
  changed.rlim_cur = std::min<rlim_t>(before.rlim_max, 300);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &changed), 0);
  EXPECT_EQ(OpenFiles::default_capacity(), static_cast<int>(changed.rlim_cur / 2));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_LE(OpenFiles::default_capacity(), 1024);
}

}  // namespace
}  // namespace stoker
