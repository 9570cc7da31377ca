// Fictitious machines for hwloc.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace stoker {

struct TestSocket {
  std::vector<int> cores;
  std::string bus_id;  // of a GPU there
};

/// As hwloc's XML: sockets, each with its memory and a GPU, and one more GPU that is as near to all of them.
inline std::string machine_xml(const std::vector<TestSocket>& sockets, const std::string& bus_id_of_all) {
  const auto mask = [](const std::vector<int>& numbers) {
    std::string text;
    for (int word = *std::ranges::max_element(numbers) / 32; word >= 0; --word) {
      unsigned bits = 0;
      for (const int number : numbers) bits |= number / 32 == word ? 1U << number % 32 : 0;
      text += fmt::format("{}{:#010x}", text.empty() ? "" : ",", bits);
    }
    return text;
  };
  const auto object = [&](const char* type, int number, const std::vector<int>& cores, const std::vector<int>& memories,
                          const std::string& more, const std::string& inside) {
    return fmt::format(
        R"(<object type="{0}" os_index="{1}" cpuset="{2}" complete_cpuset="{2}" nodeset="{3}" complete_nodeset="{3}" )"
        R"({4}>{5}</object>)",
        type, number, mask(cores), mask(memories), more, inside);
  };
  const auto gpu = [](const std::string& bus_id) {
    return fmt::format(
        R"(<object type="Bridge" bridge_type="0-1" depth="0" bridge_pci="0000:[{0}-{0}]"><object type="PCIDev" )"
        R"(pci_busid="{1}" pci_type="0302 [10de:2330] [10de:16c1] a1" pci_link_speed="63"/></object>)",
        bus_id.substr(5, 2), bus_id);
  };
  std::vector<int> all_cores, all_memories;
  std::string inside;
  for (int number = 0; const TestSocket& socket : sockets) {
    std::string parts = object("NUMANode", number, socket.cores, {number}, R"(local_memory="1024")", "");
    for (const int core : socket.cores) {
      const std::string unit = object("PU", core, {core}, {number}, "", "");
      parts += object("Core", core, {core}, {number}, "", unit);
    }
    inside += object("Package", number, socket.cores, {number}, "", parts + gpu(socket.bus_id));
    all_cores.insert(all_cores.end(), socket.cores.begin(), socket.cores.end());
    all_memories.push_back(number++);
  }
  const std::string allowed =
      fmt::format(R"(allowed_cpuset="{}" allowed_nodeset="{}")", mask(all_cores), mask(all_memories));
  // In lines, for the parser that hwloc has where libxml2 is not installed.
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
         "<topology version=\"2.0\">\n" +
         object("Machine", 0, all_cores, all_memories, allowed, inside + gpu(bus_id_of_all)) + "\n</topology>\n";
}

}  // namespace stoker
