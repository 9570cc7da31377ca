#include "stoker/doctor/probe/storage_device.h"

#include <gtest/gtest.h>

#include "stoker/doctor/probe/machine_tree_testing.h"

namespace stoker {
namespace {

/// A machine with a file system at /data, on the block device of that number.
void mount_data(const MachineTree& tree, const std::string& number, const std::string& file_system,
                const std::string& source) {
  tree.write("/proc/self/mountinfo", "1 1 254:0 / / rw - ext4 /dev/vda rw\n2 1 " + number + " / /data rw - " +
                                         file_system + " " + source + " rw\n");
}

struct DiskCase {
  std::string name, model, rotational, device_class;
};

TEST(StorageDevice, IsClassedByNameModelAndRotation) {
  for (const DiskCase& disk :
       {DiskCase{"nvme0n1", "Samsung SSD 990", "0", "nvme"},
        DiskCase{"nvme1n1", "Amazon Elastic Block Store", "0", "network-disk"}, DiskCase{"sda", "ST4000NM", "1", "hdd"},
        DiskCase{"sdb", "CT1000MX500", "0", "sata-ssd"}, DiskCase{"sdc", "PersistentDisk", "0", "network-disk"},
        DiskCase{"vdb", "", "1", "network-disk"}, DiskCase{"zram0", "", "0", "memory"},
        DiskCase{"mtdblock0", "", "0", ""}}) {
    const MachineTree tree;
    mount_data(tree, "8:16", "xfs", "/dev/" + disk.name);
    const std::string folder = "/sys/devices/pci/block/" + disk.name;
    tree.write(folder + "/dev", "8:16\n");
    tree.write(folder + "/device/model", disk.model + "   \n");
    tree.write(folder + "/queue/rotational", disk.rotational + "\n");
    tree.link("/sys/dev/block/8:16", folder);
    const StorageDevice device = storage_device_of("/data/train.tar", tree.root());
    EXPECT_EQ(device.device_class, disk.device_class) << disk.name << " " << disk.model;
    EXPECT_EQ(device.file_system, "xfs");
    EXPECT_EQ(device.device, "/dev/" + disk.name);
    ASSERT_TRUE(device.disk);
    EXPECT_EQ(device.disk->minor, 16u);
    EXPECT_FALSE(device.over_network);
  }
}

TEST(StorageDevice, OfAPartitionIsItsDisk) {
  const MachineTree tree;
  mount_data(tree, "8:1", "ext4", "/dev/sda1");
  tree.write("/sys/devices/pci/block/sda/dev", "8:0\n");
  tree.write("/sys/devices/pci/block/sda/queue/rotational", "1\n");
  tree.write("/sys/devices/pci/block/sda/sda1/partition", "1\n");
  tree.write("/sys/devices/pci/block/sda/sda1/dev", "8:1\n");
  tree.link("/sys/dev/block/8:1", "/sys/devices/pci/block/sda/sda1");
  const StorageDevice device = storage_device_of("/data/x", tree.root());
  EXPECT_EQ(device.device_class, "hdd");
  EXPECT_EQ(device.device, "/dev/sda1");
  ASSERT_TRUE(device.disk);
  EXPECT_EQ(device.disk->minor, 0u);
}

TEST(StorageDevice, OfALogicalVolumeIsClassedByWhatItIsMadeOf) {
  const MachineTree tree;
  mount_data(tree, "253:0", "ext4", "/dev/mapper/data");
  tree.write("/sys/devices/virtual/block/dm-0/dev", "253:0\n");
  tree.write("/sys/devices/virtual/block/dm-0/slaves/nvme0n1/dev", "259:0\n");
  tree.write("/sys/devices/pci/block/nvme0n1/dev", "259:0\n");
  tree.link("/sys/dev/block/253:0", "/sys/devices/virtual/block/dm-0");
  tree.link("/sys/class/block/nvme0n1", "/sys/devices/pci/block/nvme0n1");
  const StorageDevice device = storage_device_of("/data/x", tree.root());
  EXPECT_EQ(device.device_class, "nvme");
  ASSERT_TRUE(device.disk);
  EXPECT_EQ(device.disk->major, 253u) << "limits are set on the volume";
}

TEST(StorageDevice, MayBeAServerOrMemory) {
  const MachineTree tree;
  mount_data(tree, "0:52", "nfs4", "server:/export");
  const StorageDevice server = storage_device_of("/data/x", tree.root());
  EXPECT_EQ(server.device_class, "nfs");
  EXPECT_TRUE(server.over_network);
  EXPECT_FALSE(server.disk);
  mount_data(tree, "0:53", "tmpfs", "tmpfs");
  const StorageDevice memory = storage_device_of("/data/x", tree.root());
  EXPECT_EQ(memory.device_class, "memory");
  EXPECT_TRUE(memory.in_memory);
  mount_data(tree, "0:54", "overlay", "overlay");
  const StorageDevice overlay = storage_device_of("/data/x", tree.root());
  EXPECT_EQ(overlay.file_system, "overlay");
  EXPECT_EQ(overlay.device_class, "") << "what lies below it is not seen from a container";
  EXPECT_EQ(storage_device_of("/data/x", tree.root() + "/none").file_system, "");
}

TEST(DeviceReads, AreWhatTheKernelCounted) {
  EXPECT_EQ(parse_read_bytes("rchar: 6976\nwchar: 0\nread_bytes: 4096\nwrite_bytes: 1\n"), 4096u);
  EXPECT_EQ(parse_read_bytes("rchar: 6976\n"), std::nullopt);
  EXPECT_EQ(parse_disk_bytes("   99137    13640 52286866   113403    28301\n"), std::uint64_t{52'286'866} * 512);
  EXPECT_EQ(parse_disk_bytes("12"), std::nullopt);

  const MachineTree tree;
  const StorageDevice device{.file_system = "ext4", .device = "/dev/sda", .disk = StorageDevice::Disk{8, 0}};
  EXPECT_EQ(DeviceReads(device, tree.root()).bytes(), std::nullopt);
  tree.write("/sys/dev/block/8:0/stat", "1 0 10 5\n");
  EXPECT_EQ(DeviceReads(device, tree.root()).bytes(), 5120u);
  tree.write("/proc/self/io", "read_bytes: 7\n");
  EXPECT_EQ(DeviceReads(device, tree.root()).bytes(), 7u) << "this process alone is better";
}

}  // namespace
}  // namespace stoker
