#include "stoker/doctor/probe/machine_probe.h"

#include <gtest/gtest.h>

#include "stoker/base/machine.h"
#include "stoker/doctor/probe/machine_tree_testing.h"

namespace stoker {
namespace {

void add_pci_device(const MachineTree& tree, const std::string& bus_id, const std::string& pci_class,
                    const std::string& vendor) {
  const std::string folder = "/sys/bus/pci/devices/" + bus_id;
  tree.write(folder + "/class", pci_class + "\n");
  tree.write(folder + "/vendor", vendor + "\n");
  tree.write(folder + "/device", "0x2330\n");
  tree.write(folder + "/numa_node", "1\n");
  tree.write(folder + "/max_link_speed", "32.0 GT/s PCIe\n");
  tree.write(folder + "/current_link_speed", "2.5 GT/s PCIe\n");
  tree.write(folder + "/current_link_width", "16\n");
}

TEST(MachineProbe, FindsSocketsNodesAndGpus) {
  const MachineTree tree;
  for (int core = 0; core < 4; ++core) {
    tree.write("/sys/devices/system/cpu/cpu" + std::to_string(core) + "/topology/physical_package_id",
               core < 2 ? "0\n" : "1\n");
  }
  tree.write("/sys/devices/system/cpu/cpufreq/x", "");
  tree.write("/sys/devices/system/node/node0/cpulist", "0-1\n");
  tree.write("/sys/devices/system/node/node1/cpulist", "2-3\n");
  add_pci_device(tree, "0000:3b:00.0", "0x030200", "0x10de");
  add_pci_device(tree, "0000:3c:00.0", "0x030000", "0x1a03");  // a board's own display
  add_pci_device(tree, "0000:3d:00.0", "0x020000", "0x15b3");  // a network card
  tree.write("/proc/driver/nvidia/gpus/0000:3b:00.0/information", "Model: \t\t NVIDIA H100 PCIe\nIRQ:  16\n");
  const MachineFacts machine = probe_machine(tree.root());
  EXPECT_EQ(machine.sockets, 2);
  EXPECT_EQ(machine.numa_nodes, 2);
  ASSERT_EQ(machine.gpus.size(), 1u);
  EXPECT_EQ(machine.gpus[0].name, "NVIDIA H100 PCIe");
  EXPECT_EQ(machine.gpus[0].numa_node, 1);
  EXPECT_NEAR(machine.gpus[0].link_bytes_per_s, 63.0e9, 0.1e9) << "the link of an idle GPU is slow only for a while";
}

TEST(MachineProbe, TakesTheSpeedOfRealNetworkCards) {
  const MachineTree tree;
  const auto add = [&](const std::string& name, const std::string& state, const std::string& speed, bool real) {
    tree.write("/sys/class/net/" + name + "/operstate", state + "\n");
    tree.write("/sys/class/net/" + name + "/speed", speed + "\n");
    if (real) tree.write("/sys/class/net/" + name + "/device/uevent", "DRIVER=mlx5\n");
  };
  add("eth0", "up", "25000", true);
  add("eth1", "down", "100000", true);
  add("veth0", "up", "400000", false);
  EXPECT_EQ(probe_machine(tree.root()).network_bytes_per_s, 25e9 / 8);
  const MachineTree virtual_machine;
  virtual_machine.write("/sys/class/net/eth0/operstate", "up\n");
  virtual_machine.write("/sys/class/net/eth0/speed", "-1\n");
  virtual_machine.write("/sys/class/net/eth0/device/uevent", "DRIVER=virtio_net\n");
  EXPECT_EQ(probe_machine(virtual_machine.root()).network_bytes_per_s, std::nullopt);
}

TEST(MachineProbe, BusIdsAreTheSameInCapitals) {
  EXPECT_TRUE(same_bus_id("0000:3b:00.0", "0000:3B:00.0"));
  EXPECT_FALSE(same_bus_id("0000:3b:00.0", "0000:3C:00.0"));
  EXPECT_FALSE(same_bus_id("0000:3b:00.0", "0000:3b:00")) << "another length";
  EXPECT_FALSE(same_bus_id("0000:3b:00.0", "")) << "an emulated device is on no bus";
}

TEST(MachineProbe, HasTheCoresAndMemoryOfThisProcess) {
  const MachineFacts machine = probe_machine();
  EXPECT_EQ(machine.cores, usable_core_time());
  EXPECT_EQ(machine.memory_bytes, usable_memory());
  EXPECT_GE(machine.sockets, 1);
}

}  // namespace
}  // namespace stoker
