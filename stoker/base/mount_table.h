// The file systems that this process sees, as /proc/self/mountinfo lists them. Threads: values.
#pragma once

#include <string>
#include <vector>

namespace stoker {

struct Mount {
  unsigned major = 0, minor = 0;  // of its device; of one that has none, such as NFS, the major number is 0
  std::string root;               // the folder of the file system that is mounted
  std::string point;              // where it is mounted
  std::string file_system;        // "ext4", "nfs4", "fuse.sshfs"
  std::string source;             // "/dev/vda1", "server:/export"
  std::string options;            // of the file system: "rw,cpu,cpuacct"
};

/// In the order of the text; lines that are not of its form are passed over.
std::vector<Mount> parse_mounts(const std::string& mountinfo);

/// Those of this process. `root`: of the folder /proc, for tests.
std::vector<Mount> read_mounts(const std::string& root = {});

/// The one that an absolute path without links lies in; null if there is none.
const Mount* mount_of(const std::vector<Mount>& mounts, const std::string& path);

}  // namespace stoker
