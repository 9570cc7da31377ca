#include "stoker/runtime/share/host_table.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>
#include <vector>

#include "stoker/base/child_testing.h"
#include "stoker/base/log.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kBytes = static_cast<off_t>(HostTable::kSlots * sizeof(HostSlot));

/// A separate name for this test.
class HostTableTest : public ::testing::Test {
 public:
  ~HostTableTest() override { ::shm_unlink(name_.c_str()); }

 protected:
  /// Leaves an object as another program might have; false if the system does not allow it.
  bool leave_object(mode_t mode, off_t bytes, uid_t owner = ::geteuid()) const {
    ::shm_unlink(name_.c_str());
    const FileDescriptor object(::shm_open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR));
    return ::ftruncate(object.get(), bytes) == 0 && ::fchmod(object.get(), mode) == 0 &&
           ::fchown(object.get(), owner, static_cast<gid_t>(-1)) == 0;
  }

  const std::string name_ = fmt::format("/stoker-test-table-{}", ::getpid());
};

/// The debug message when no table of this name is available: then all tables belong to the process.
std::vector<std::string> lines_of_opening(const std::string& name) {
  std::vector<std::string> lines;
  set_log_sink(
      [&](LogLevel level, std::string_view line) {
        EXPECT_EQ(level, LogLevel::kDebug);
        lines.emplace_back(line);
      },
      LogLevel::kDebug);
  {
    const HostTable own("not a name: /"), table(name);
    EXPECT_EQ(own.slots().data() == table.slots().data(), lines.size() == 2);
    EXPECT_FALSE(own.removed() || table.removed());
  }
  set_log_sink(nullptr);
  lines.erase(lines.begin());
  return lines;
}

TEST_F(HostTableTest, IsOneForAllWhoAskForItsName) {
  const HostTable one(name_), same(name_);
  one.slots()[255].wanted = 7;
  EXPECT_EQ(same.slots()[255].wanted, 7);
  const int seen = status_in_child([&] {
    const HostTable childs(name_);
    childs.slots()[3].claim = 9;
    return childs.slots()[255].wanted.load();
  });
  EXPECT_EQ(seen, 7);
  EXPECT_EQ(same.slots()[3].claim, 9U);
}

TEST_F(HostTableTest, IsThisUsersAlone) {
  const HostTable table(name_);
  const FileDescriptor object(::shm_open(name_.c_str(), O_RDONLY, 0));
  struct stat facts {};
  ASSERT_EQ(::fstat(object.get(), &facts), 0);
  EXPECT_EQ(facts.st_mode & ALLPERMS, 0600U);
  EXPECT_EQ(facts.st_size, kBytes);
  EXPECT_GE(facts.st_blocks * 512, kBytes) << "no touch may find that there is no room";
}

TEST_F(HostTableTest, StaysWhenAllHaveLeft) {
  {
    const HostTable table(name_);
    table.slots()[1].wanted = 5;
  }
  EXPECT_EQ(HostTable(name_).slots()[1].wanted, 5);
}

TEST_F(HostTableTest, KnowsThatItWasRemoved) {
  const HostTable table(name_);
  EXPECT_FALSE(table.removed());
  ASSERT_EQ(::shm_unlink(name_.c_str()), 0);
  EXPECT_TRUE(table.removed());
  const HostTable next(name_);
  EXPECT_FALSE(next.removed());
  EXPECT_TRUE(table.removed());
}

TEST_F(HostTableTest, IsTheProcessesOwnWhereTheNameCannotBeHad) {
  EXPECT_THAT(lines_of_opening("/no-folder" + name_), ElementsAre(HasSubstr("cannot share '/no-folder/")));
  EXPECT_THAT(lines_of_opening("/" + std::string(300, 'x')), ElementsAre(HasSubstr("cannot share '/xxx")));
  EXPECT_THAT(lines_of_opening(""), ElementsAre(HasSubstr("cannot share ''")));
  EXPECT_THAT(lines_of_opening(name_), IsEmpty());
}

TEST_F(HostTableTest, PassesOverWhatIsNoTable) {
  ASSERT_TRUE(leave_object(0666, kBytes));
  EXPECT_THAT(lines_of_opening(name_), ElementsAre(HasSubstr("belongs to others as well as this user")));
  ASSERT_TRUE(leave_object(0600, 100));
  EXPECT_THAT(lines_of_opening(name_), ElementsAre(HasSubstr("has 100 bytes, not ")));
  ASSERT_TRUE(leave_object(0600, 2 * kBytes));
  EXPECT_THAT(lines_of_opening(name_), ElementsAre(HasSubstr("bytes, not ")));
  ASSERT_TRUE(leave_object(0600, 0));
  EXPECT_THAT(lines_of_opening(name_), IsEmpty()) << "of a process that was killed while it made one";
}

TEST_F(HostTableTest, PassesOverAnotherUsersTable) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give objects away";
  ASSERT_TRUE(leave_object(0600, kBytes, 54321));
  EXPECT_THAT(lines_of_opening(name_), ElementsAre(HasSubstr("belongs to others as well as this user")));
}

}  // namespace
}  // namespace stoker
