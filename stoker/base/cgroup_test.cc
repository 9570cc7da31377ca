#include "stoker/base/cgroup.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace stoker {
namespace {

/// The folders /proc and /sys of a machine.
class MachineTree {
 public:
  MachineTree() {
    std::string pattern = (std::filesystem::temp_directory_path() / "stoker-test-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~MachineTree() { std::filesystem::remove_all(root_); }
  MachineTree(const MachineTree&) = delete;
  MachineTree& operator=(const MachineTree&) = delete;

  const std::string& root() const { return root_; }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

 private:
  std::string root_;
};

TEST(Cgroup, OfVersion1LimitsByTheGroupAndThoseAboveIt) {
  const MachineTree tree;
  tree.write("/proc/self/mountinfo",
             "1 1 0:1 / /cg/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
             "2 1 0:2 / /cg/memory rw - cgroup cgroup rw,memory\n"
             "3 1 0:3 / /cg/blkio rw - cgroup cgroup rw,blkio\n");
  tree.write("/proc/self/cgroup", "9:cpuset:/\n4:cpu,cpuacct:/jobs/one\n3:memory:/jobs/one\n2:blkio:/jobs\n");
  tree.write("/cg/cpu,cpuacct/jobs/cpu.cfs_quota_us", "150000\n");
  tree.write("/cg/cpu,cpuacct/jobs/cpu.cfs_period_us", "100000\n");
  tree.write("/cg/cpu,cpuacct/jobs/one/cpu.cfs_quota_us", "-1\n");
  tree.write("/cg/cpu,cpuacct/jobs/one/cpu.cfs_period_us", "100000\n");
  tree.write("/cg/memory/memory.limit_in_bytes", "9223372036854771712\n");
  tree.write("/cg/memory/jobs/memory.limit_in_bytes", "4294967296\n");
  tree.write("/cg/memory/jobs/one/memory.limit_in_bytes", "1073741824\n");
  tree.write("/cg/blkio/jobs/blkio.throttle.read_bps_device", "254:0 52428800\n8:0 1000\n");
  tree.write("/cg/blkio/jobs/blkio.throttle.read_iops_device", "254:0 200\n");
  const CgroupLimits limits = cgroup_limits(tree.root());
  EXPECT_EQ(limits.cores, 1.5);
  EXPECT_EQ(limits.memory_bytes, 1'073'741'824u);
  ASSERT_EQ(limits.devices.size(), 2u);
  EXPECT_EQ(limits.device(254, 0)->read_bytes_per_s, 52'428'800);
  EXPECT_EQ(limits.device(254, 0)->reads_per_s, 200);
  EXPECT_EQ(limits.device(8, 0)->reads_per_s, std::nullopt);
  EXPECT_EQ(limits.device(8, 1), nullptr);
}

TEST(Cgroup, OfVersion2LimitsInTheSameWay) {
  const MachineTree tree;
  tree.write("/proc/self/mountinfo", "1 1 0:1 / /cg rw - cgroup2 cgroup2 rw\n");
  tree.write("/proc/self/cgroup", "0::/a.slice/b.scope\n");
  tree.write("/cg/a.slice/cpu.max", "250000 100000\n");
  tree.write("/cg/a.slice/b.scope/cpu.max", "max 100000\n");
  tree.write("/cg/a.slice/b.scope/memory.max", "max\n");
  tree.write("/cg/a.slice/b.scope/io.max", "259:0 rbps=1048576 wbps=max riops=max wiops=max\n8:0 rbps=max wbps=1\n");
  const CgroupLimits limits = cgroup_limits(tree.root());
  EXPECT_EQ(limits.cores, 2.5);
  EXPECT_EQ(limits.memory_bytes, std::nullopt);
  ASSERT_EQ(limits.devices.size(), 1u);
  EXPECT_EQ(limits.devices[0].read_bytes_per_s, 1'048'576);
  EXPECT_EQ(limits.devices[0].reads_per_s, std::nullopt);
}

TEST(Cgroup, OfAContainerIsAtTheMountUnderTheHostsName) {
  const MachineTree tree;
  tree.write("/proc/self/mountinfo", "1 1 0:1 /docker/abc /cg/cpu rw - cgroup cgroup rw,cpu\n");
  tree.write("/proc/self/cgroup", "4:cpu:/docker/abc\n");
  tree.write("/cg/cpu/cpu.cfs_quota_us", "50000\n");
  tree.write("/cg/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_limits(tree.root()).cores, 0.5);
  tree.write("/proc/self/cgroup", "4:cpu:/elsewhere\n");
  EXPECT_EQ(cgroup_limits(tree.root()).cores, 0.5) << "a group that is not seen here";
}

TEST(Cgroup, LimitsNothingWhereThereIsNone) {
  const MachineTree tree;
  const CgroupLimits limits = cgroup_limits(tree.root());
  EXPECT_EQ(limits.cores, std::nullopt);
  EXPECT_EQ(limits.memory_bytes, std::nullopt);
  EXPECT_TRUE(limits.devices.empty());
}

}  // namespace
}  // namespace stoker
