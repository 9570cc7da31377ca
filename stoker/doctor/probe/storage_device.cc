#include "stoker/doctor/probe/storage_device.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "stoker/base/mount_table.h"
#include "stoker/doctor/probe/system_file.h"

namespace stoker {
namespace {

// Devices that are made of others, such as a loop device on a logical volume: no deeper than this.
constexpr int kDeepest = 8;

constexpr std::array<std::string_view, 15> kNetworkFileSystems = {
    "nfs",    "nfs4",      "cifs",     "smb3",           "smbfs", "lustre", "ceph", "9p",
    "beegfs", "glusterfs", "virtiofs", "fuse.glusterfs", "gpfs",  "wekafs", "afs"};

// Disks behind a network that look like others: what their model begins with.
constexpr std::array<std::string_view, 6> kNetworkModels = {
    "Amazon Elastic Block Store", "nvme_card-pd", "PersistentDisk",
    "MSFT NVMe Accelerator",      "Virtual Disk", "QEMU HARDDISK"};

bool is_network_file_system(std::string_view name) {
  return name.starts_with("fuse.") ||
         std::find(kNetworkFileSystems.begin(), kNetworkFileSystems.end(), name) != kNetworkFileSystems.end();
}

/// The class of a disk by its name and what its folder under /sys says.
std::string class_of_disk(const std::string& name, const std::string& folder) {
  const std::string model = read_system_line(folder + "/device/model").value_or("");
  const bool is_networked = std::any_of(kNetworkModels.begin(), kNetworkModels.end(),
                                        [&](std::string_view known) { return model.starts_with(known); });
  if (is_networked || name.starts_with("vd") || name.starts_with("xvd") || name.starts_with("nbd") ||
      name.starts_with("rbd")) {
    return "network-disk";
  }
  if (name.starts_with("zram") || name.starts_with("ram") || name.starts_with("pmem")) return "memory";
  if (name.starts_with("nvme")) return "nvme";
  if (!name.starts_with("sd")) return {};
  const std::optional<double> rotational = read_system_number(folder + "/queue/rotational");
  if (!rotational) return {};
  return *rotational > 0 ? "hdd" : "sata-ssd";
}

class DeviceFinder {
 public:
  explicit DeviceFinder(const std::string& root) : root_(root), mounts_(read_mounts(root)) {}

  StorageDevice find(const std::string& path, int depth = 0) const {
    std::error_code none;
    const std::filesystem::path whole = std::filesystem::weakly_canonical(path, none);
    const Mount* const mount = mount_of(mounts_, whole.empty() ? path : whole.string());
    if (!mount) return {};
    StorageDevice device{.file_system = mount->file_system, .device = mount->source};
    if (mount->file_system == "tmpfs" || mount->file_system == "ramfs" || mount->file_system == "devtmpfs") {
      device.device_class = "memory";
      device.in_memory = true;
    } else if (is_network_file_system(mount->file_system)) {
      device.device_class = "nfs";
      device.over_network = true;
    } else {
      find_disk(*mount, depth, device);
    }
    return device;
  }

 private:
  void find_disk(const Mount& mount, int depth, StorageDevice& device) const {
    unsigned major = mount.major, minor = mount.minor;
    struct stat node {};
    // Some file systems, such as btrfs, have a number of their own.
    if (major == 0 && mount.source.starts_with("/dev/") && ::stat(mount.source.c_str(), &node) == 0 &&
        S_ISBLK(node.st_mode)) {
      major = ::major(node.st_rdev);
      minor = ::minor(node.st_rdev);
    }
    if (major == 0) return;
    look_at(fmt::format("{}/sys/dev/block/{}:{}", root_, major, minor), depth, device);
  }

  void look_at(const std::string& link, int depth, StorageDevice& device) const {
    std::error_code none;
    std::filesystem::path folder = std::filesystem::canonical(link, none);
    if (folder.empty() || depth > kDeepest) return;
    if (std::filesystem::exists(folder / "partition", none)) folder = folder.parent_path();
    if (!device.disk) {
      if (const auto number = read_system_line(folder / "dev")) {
        std::istringstream stream(*number);
        StorageDevice::Disk disk;
        char colon = 0;
        if (stream >> disk.major >> colon >> disk.minor) device.disk = disk;
      }
    }
    if (const auto file = read_system_line(folder / "loop/backing_file")) {
      device.device_class = find(*file, depth + 1).device_class;
      return;
    }
    const std::vector<std::string> parts = names_in(folder / "slaves");
    if (parts.empty()) {
      device.device_class = class_of_disk(folder.filename().string(), folder.string());
    } else {
      look_at(root_ + "/sys/class/block/" + parts.front(), depth + 1, device);
    }
  }

  const std::string root_;
  const std::vector<Mount> mounts_;
};

}  // namespace

StorageDevice storage_device_of(const std::string& path, const std::string& root) {
  return DeviceFinder(root).find(path);
}

DeviceReads::DeviceReads(const StorageDevice& device, std::string root) : root_(std::move(root)) {
  if (device.disk) stat_ = fmt::format("{}/sys/dev/block/{}:{}/stat", root_, device.disk->major, device.disk->minor);
}

std::optional<std::uint64_t> DeviceReads::bytes() const {
  if (const auto io = read_system_file(root_ + "/proc/self/io")) {
    if (const auto bytes = parse_read_bytes(*io)) return bytes;
  }
  if (stat_.empty()) return std::nullopt;
  const auto stat = read_system_file(stat_);
  return stat ? parse_disk_bytes(*stat) : std::nullopt;
}

std::optional<std::uint64_t> parse_read_bytes(const std::string& io) {
  std::istringstream stream(io);
  std::string word;
  while (stream >> word) {
    std::uint64_t bytes = 0;
    if (word == "read_bytes:" && stream >> bytes) return bytes;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> parse_disk_bytes(const std::string& stat) {
  constexpr std::uint64_t kSectorBytes = 512;  // whatever the disk's own are
  std::istringstream stream(stat);
  std::uint64_t reads = 0, merged = 0, sectors = 0;
  if (!(stream >> reads >> merged >> sectors)) return std::nullopt;
  return sectors * kSectorBytes;
}

}  // namespace stoker
