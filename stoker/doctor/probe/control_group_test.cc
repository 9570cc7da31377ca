// The probes in control groups of version 1 that limit this process; where none can be made, nothing is tested.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "stoker/base/machine.h"
#include "stoker/base/mount_table.h"
#include "stoker/doctor/probe/machine_probe.h"
#include "stoker/doctor/probe/storage_device.h"
#include "stoker/doctor/probe/storage_probe.h"
#include "stoker/pack/synth/synth.h"
#include "stoker/runtime/open.h"
#include "stoker/storage/posix_file.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

/// By system calls, since a stream does not say that the kernel refused a line.
bool write_line(const std::string& path, const std::string& line) {
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

/// A group of one controller, of which this process is a member while it exists.
class ControlGroup {
 public:
  explicit ControlGroup(const std::string& controller) {
    for (const Mount& mount : read_mounts()) {
      if (mount.file_system == "cgroup" && mount.options.ends_with("," + controller)) root_ = mount.point;
    }
    folder_ = root_ + "/stoker-test-" + std::to_string(::getpid());
    if (root_.empty() || ::mkdir(folder_.c_str(), 0755) != 0) folder_.clear();
  }
  ~ControlGroup() {
    if (folder_.empty()) return;
    write_line(root_ + "/cgroup.procs", std::to_string(::getpid()));
    ::rmdir(folder_.c_str());
  }
  ControlGroup(const ControlGroup&) = delete;
  ControlGroup& operator=(const ControlGroup&) = delete;

  /// False where this process may not be limited so.
  bool limit(const std::string& file, const std::string& line) const {
    return !folder_.empty() && write_line(folder_ + "/" + file, line);
  }
  bool enter() const { return !folder_.empty() && write_line(folder_ + "/cgroup.procs", std::to_string(::getpid())); }

 private:
  std::string root_, folder_;
};

TEST(ControlGroup, LimitsADiskAsItSays) {
  constexpr double kBytesPerSecond = 8e6;
  const TempFolder folder;
  const StorageDevice device = storage_device_of(folder.path());
  if (!device.disk) GTEST_SKIP() << "temporary files lie on no disk";
  const std::string path = folder.path("a.tar");
  synthesize(path, {.kind = SynthKind::kTiny, .format = SynthFormat::kTar, .count = 500, .classes = 2, .threads = 1});
  const ControlGroup group("blkio");
  if (!group.limit("blkio.throttle.read_bps_device",
                   fmt::format("{}:{} {:.0f}", device.disk->major, device.disk->minor, kBytesPerSecond)) ||
      !group.enter()) {
    GTEST_SKIP() << "no control group can limit reads from " << device.device;
  }
  const auto dataset = open(path);
  std::vector<std::string> doubts;
  const StorageFacts facts =
      probe_storage(find_data_files(*dataset, 100), {}, {.quick = true, .time_share = 0.5}, doubts);
  EXPECT_EQ(facts.limit_bytes_per_s, kBytesPerSecond);
  EXPECT_EQ(facts.limit_reads_per_s, std::nullopt);
  EXPECT_THAT(doubts, Contains(HasSubstr("limits this process to 8.00 MB/s of " + device.device)));
  // A limit holds over some tenths of a second, in which more may come at first.
  EXPECT_LT(facts.cold_bytes_per_s.median, 3 * kBytesPerSecond);
  EXPECT_GT(facts.cold_bytes_per_s.median, 0);
}

TEST(ControlGroup, LeavesAPartOfACore) {
  const double before = usable_core_time();
  const double quota = before >= 2 ? 1.5 : 0.5;
  const ControlGroup group("cpu");
  if (!group.limit("cpu.cfs_quota_us", fmt::format("{:.0f}", quota * 100'000)) || !group.enter()) {
    GTEST_SKIP() << "no control group can limit the cores";
  }
  EXPECT_EQ(usable_core_time(), quota);
  EXPECT_EQ(usable_cores(), before >= 2 ? 2 : 1);
  EXPECT_EQ(probe_machine().cores, quota);
}

TEST(ControlGroup, LimitsMemory) {
  constexpr std::uint64_t kBytes = std::uint64_t{1} << 30;
  const ControlGroup group("memory");
  if (usable_memory() < 2 * kBytes || !group.limit("memory.limit_in_bytes", std::to_string(kBytes)) || !group.enter()) {
    GTEST_SKIP() << "no control group can limit memory";
  }
  EXPECT_EQ(usable_memory(), kBytes);
  EXPECT_EQ(probe_machine().memory_bytes, kBytes);
}

}  // namespace
}  // namespace stoker
