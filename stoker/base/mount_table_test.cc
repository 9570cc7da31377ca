#include "stoker/base/mount_table.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

constexpr const char* kMountInfo =
    "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n"
    "25 24 0:23 / /dev/shm rw,relatime - tmpfs tmpfs rw,size=24684084k\n"
    "60 27 8:17 /sub /media/my\\040data rw,noatime shared:1 master:2 - xfs /dev/sdb1 rw,attr2\n"
    "61 27 0:52 / /media/net rw - nfs4 server:/export rw,vers=4.2\n"
    "62 61 0:53 / /media/net rw - fuse.sshfs me@there: rw\n"
    "no mount at all\n"
    "63 27 x:1 / /media/x rw - ext4 /dev/x rw\n"
    "64 27 8:1 / /media/y rw -\n";

TEST(MountTable, ReadsLinesWithAndWithoutTags) {
  const std::vector<Mount> mounts = parse_mounts(kMountInfo);
  ASSERT_EQ(mounts.size(), 5u);
  EXPECT_EQ(mounts[0].source, "/dev/vda");
  EXPECT_EQ(mounts[0].major, 254u);
  EXPECT_EQ(mounts[2].point, "/media/my data");
  EXPECT_EQ(mounts[2].root, "/sub");
  EXPECT_EQ(mounts[2].minor, 17u);
  EXPECT_EQ(mounts[2].file_system, "xfs");
  EXPECT_EQ(mounts[2].options, "rw,attr2");
}

TEST(MountTable, FindsTheMountThatAPathLiesIn) {
  const std::vector<Mount> mounts = parse_mounts(kMountInfo);
  EXPECT_EQ(mount_of(mounts, "/data/a.tar")->point, "/");
  EXPECT_EQ(mount_of(mounts, "/dev/shm/a.tar")->file_system, "tmpfs");
  EXPECT_EQ(mount_of(mounts, "/dev/shmoo")->point, "/");
  EXPECT_EQ(mount_of(mounts, "/media/my data/x")->file_system, "xfs");
  EXPECT_EQ(mount_of(mounts, "/media/net")->file_system, "fuse.sshfs") << "the one that was mounted last";
  EXPECT_EQ(mount_of({}, "/data"), nullptr);
}

// Not of the root, which in a chroot need not be a mount.
TEST(MountTable, OfThisProcessHasThatOfProc) { EXPECT_NE(mount_of(read_mounts(), "/proc"), nullptr); }

}  // namespace
}  // namespace stoker
