#include "stoker/base/cgroup.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string_view>
#include <system_error>

#include "stoker/base/mount_table.h"
#include "stoker/base/parse_number.h"

namespace stoker {
namespace {

// The memory of groups without a limit, in version 1: the largest number of whole pages.
constexpr double kUnlimited = 9e18;

/// Nothing for "max" and the numbers that stand for it.
std::optional<double> parse_limit(const std::string& word) {
  const auto number = parse_number<double>(word);
  return number && *number >= 0 && *number < kUnlimited ? number : std::nullopt;
}

std::optional<double> read_limit(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return parse_limit(word);
}

template <typename Number>
void lower(std::optional<Number>& limit, std::optional<double> to) {
  if (!to) return;
  const auto number = static_cast<Number>(*to);
  limit = limit ? std::min(*limit, number) : number;
}

bool has_option(const std::string& options, std::string_view wanted) {
  std::istringstream stream(options);
  for (std::string option; std::getline(stream, option, ',');) {
    if (option == wanted) return true;
  }
  return false;
}

class GroupReader {
 public:
  explicit GroupReader(const std::string& root) : root_(root), mounts_(read_mounts(root)) {
    std::ifstream file(root + "/proc/self/cgroup");
    for (std::string line; std::getline(file, line);) groups_.push_back(line);
  }

  CgroupLimits read() {
    for (const std::string& folder : folders_of("cpu")) {
      lower_cores(read_limit(folder + "/cpu.cfs_quota_us"), read_limit(folder + "/cpu.cfs_period_us"));
    }
    for (const std::string& folder : folders_of("memory")) {
      lower(limits_.memory_bytes, read_limit(folder + "/memory.limit_in_bytes"));
    }
    for (const std::string& folder : folders_of("blkio")) {
      read_throttle(folder + "/blkio.throttle.read_bps_device", &CgroupLimits::Device::read_bytes_per_s);
      read_throttle(folder + "/blkio.throttle.read_iops_device", &CgroupLimits::Device::reads_per_s);
    }
    for (const std::string& folder : folders_of("")) {
      std::ifstream cpu(folder + "/cpu.max");
      std::string quota, period;
      if (cpu >> quota >> period) lower_cores(parse_limit(quota), parse_limit(period));
      lower(limits_.memory_bytes, read_limit(folder + "/memory.max"));
      read_io_max(folder + "/io.max");
    }
    return std::move(limits_);
  }

 private:
  /// The folders of this process's group and those above it, of a controller of version 1; of version 2 for "".
  std::vector<std::string> folders_of(std::string_view controller) const {
    const bool v2 = controller.empty();
    const auto mount = std::find_if(mounts_.begin(), mounts_.end(), [&](const Mount& one) {
      return v2 ? one.file_system == "cgroup2" : one.file_system == "cgroup" && has_option(one.options, controller);
    });
    if (mount == mounts_.end()) return {};
    std::string group = group_of(controller);
    // A container sees its own group's folder mounted, though its name may be that of the host.
    if (mount->root != "/" && (group == mount->root || group.starts_with(mount->root + "/"))) {
      group.erase(0, mount->root.size());
    }
    std::vector<std::string> folders;
    std::error_code none;
    const std::string point = root_ + mount->point;
    if (!group.starts_with('/') || !std::filesystem::is_directory(point + group, none)) group.clear();
    for (;; group.erase(group.rfind('/'))) {
      while (group.ends_with('/')) group.pop_back();
      folders.push_back(point + group);
      if (group.empty()) return folders;
    }
  }

  /// By a line "4:cpu,cpuacct:/of/this", or "0::/of/this".
  std::string group_of(std::string_view controller) const {
    for (const std::string& line : groups_) {
      const std::size_t first = line.find(':'), second = line.find(':', first + 1);
      if (first == std::string::npos || second == std::string::npos) continue;
      const std::string names = line.substr(first + 1, second - first - 1);
      const bool is_it = controller.empty() ? names.empty() : has_option(names, controller);
      if (is_it) return line.substr(second + 1);
    }
    return "/";
  }

  void lower_cores(std::optional<double> quota, std::optional<double> period) {
    if (quota && period && *period > 0) lower(limits_.cores, *quota / *period);
  }

  CgroupLimits::Device* device_of(const std::string& name) {
    const std::size_t colon = name.find(':');
    if (colon == std::string::npos) return nullptr;
    const auto major = parse_number<unsigned>(std::string_view(name).substr(0, colon));
    const auto minor = parse_number<unsigned>(std::string_view(name).substr(colon + 1));
    if (!major || !minor) return nullptr;
    for (CgroupLimits::Device& device : limits_.devices) {
      if (device.major == *major && device.minor == *minor) return &device;
    }
    return &limits_.devices.emplace_back(CgroupLimits::Device{.major = *major, .minor = *minor});
  }

  /// Lines "254:0 1048576".
  void read_throttle(const std::string& path, std::optional<double> CgroupLimits::Device::*limit) {
    std::ifstream file(path);
    for (std::string name, number; file >> name >> number;) {
      if (CgroupLimits::Device* const device = device_of(name)) lower(device->*limit, parse_limit(number));
    }
  }

  /// Lines "254:0 rbps=1048576 wbps=max riops=max wiops=max".
  void read_io_max(const std::string& path) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      std::istringstream stream(line);
      std::string name;
      stream >> name;
      CgroupLimits::Device* const device = device_of(name);
      for (std::string word; device && stream >> word;) {
        if (word.starts_with("rbps=")) lower(device->read_bytes_per_s, parse_limit(word.substr(5)));
        if (word.starts_with("riops=")) lower(device->reads_per_s, parse_limit(word.substr(6)));
      }
    }
  }

  const std::string root_;
  const std::vector<Mount> mounts_;
  std::vector<std::string> groups_;  // lines of /proc/self/cgroup
  CgroupLimits limits_;
};

}  // namespace

const CgroupLimits::Device* CgroupLimits::device(unsigned major, unsigned minor) const {
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [&](const Device& one) { return one.major == major && one.minor == minor; });
  return found == devices.end() ? nullptr : &*found;
}

CgroupLimits cgroup_limits(const std::string& root) {
  CgroupLimits limits = GroupReader(root).read();
  std::erase_if(limits.devices,
                [](const CgroupLimits::Device& one) { return !one.read_bytes_per_s && !one.reads_per_s; });
  return limits;
}

}  // namespace stoker
