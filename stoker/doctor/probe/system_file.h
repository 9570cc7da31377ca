// The small texts that the kernel keeps under /proc and /sys.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

/// All of it; nothing where there is no such file, or it may not be read.
std::optional<std::string> read_system_file(const std::string& path);

/// Its first line, without blanks around it.
std::optional<std::string> read_system_line(const std::string& path);

/// The number that its first line begins with: 8 of "8.0 GT/s PCIe".
std::optional<double> read_system_number(const std::string& path);

/// The names in a folder, sorted; none where there is no such folder.
std::vector<std::string> names_in(const std::string& folder);

}  // namespace stoker
