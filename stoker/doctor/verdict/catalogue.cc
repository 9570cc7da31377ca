#include "stoker/doctor/verdict/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <tuple>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/spelling.h"
#include "stoker/doctor/verdict/shipped_catalogue.h"
#include "stoker/plan/toml_document.h"

namespace stoker {
namespace {

[[noreturn]] void refuse_entry(const toml::node& node, std::string_view what) {
  fail(ErrorKind::kUsage, "line {}: {}", node.source().begin.line, what);
}

template <typename Entry>
std::vector<std::string> names_of(const std::vector<Entry>& entries) {
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (const Entry& entry : entries) names.push_back(entry.name);
  return names;
}

/// One table, as `disk.nvme`: it takes the names it knows, and finds those that were not taken.
class EntryTable {
 public:
  EntryTable(std::string kind, std::string name, const toml::table& table)
      : kind_(std::move(kind)), name_(std::move(name)), table_(table) {}

  const std::string& name() const { return name_; }

  /// Numbers are above 0. Those of a new entry must be there.
  void number(std::string_view key, double unit, double& value) { value = number_at(key, true, value / unit) * unit; }
  void number(std::string_view key, double unit, std::uint64_t& value) {
    double bytes = static_cast<double>(value);
    number(key, unit, bytes);
    value = static_cast<std::uint64_t>(std::llround(bytes));
  }
  void optional(std::string_view key, double unit, std::optional<double>& value) {
    if (find(key)) value = number_at(key, false, 0) * unit;
  }
  void count(std::string_view key, int& value) {
    const double number = number_at(key, true, value);
    if (number != std::floor(number) || number > 1e6)
      refuse_entry(*find(key), fmt::format("{} of {} must be a whole number", key, title()));
    value = static_cast<int>(number);
  }
  void flag(std::string_view key, bool& value) {
    const toml::node* node = find(key);
    if (!node) return;
    if (!node->is_boolean()) refuse_entry(*node, fmt::format("{} of {} must be true or false", key, title()));
    value = *node->value<bool>();
  }
  /// The name of another entry.
  template <typename Entry>
  void name_of(std::string_view key, const std::vector<Entry>& entries, std::string& value) {
    const toml::node* node = find(key);
    if (!node) return;
    const auto text = node->is_string() ? node->value<std::string>() : std::nullopt;
    const std::vector<std::string> names = names_of(entries);
    if (!text || std::find(names.begin(), names.end(), *text) == names.end()) {
      refuse_entry(*node, fmt::format("{} of {} must be the name of one in the catalogue{}: {}", key, title(),
                                      did_you_mean(text.value_or(""), names), fmt::join(names, ", ")));
    }
    value = *text;
  }

  void refuse_others() const {
    for (const auto& [key, node] : table_) {
      if (std::find(known_.begin(), known_.end(), key.str()) != known_.end()) continue;
      refuse_entry(node, fmt::format("'{}' is not known in {}{}; known are {}", key.str(), title(),
                                     did_you_mean(key.str(), known_), fmt::join(known_, ", ")));
    }
  }

 private:
  std::string title() const { return fmt::format("{}.{}", kind_, name_); }

  const toml::node* find(std::string_view key) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
    return table_.get(key);
  }

  double number_at(std::string_view key, bool needed, double before) {
    const toml::node* node = find(key);
    if (!node) {
      if (needed && before <= 0)
        refuse_entry(table_, fmt::format("{} has no {}; it is new, so it needs one", title(), key));
      return before;
    }
    const auto number = node->is_number() ? node->value<double>() : std::nullopt;
    if (!number || !(*number > 0) || !std::isfinite(*number)) {
      refuse_entry(*node, fmt::format("{} of {} must be a number above 0", key, title()));
    }
    return *number;
  }

  const std::string kind_, name_;
  const toml::table& table_;
  std::vector<std::string> known_;
};

constexpr double kGiga = 1e9, kGigabit = 1e9 / 8, kMilli = 1e-3, kGibibyte = 1024.0 * 1024 * 1024;

void read_entry(EntryTable& table, const Catalogue&, DiskClass& disk) {
  table.number("gb_per_s", kGiga, disk.bytes_per_s);
  table.number("reads_per_s", 1, disk.reads_per_s);
  table.number("latency_ms", kMilli, disk.latency_s);
  table.flag("shared", disk.shared);
}

void read_entry(EntryTable& table, const Catalogue&, NetworkClass& network) {
  table.number("gbit_per_s", kGigabit, network.bytes_per_s);
  table.optional("first_byte_ms", kMilli, network.first_byte_s);
}

void read_entry(EntryTable& table, const Catalogue&, GpuClass& gpu) {
  table.number("speed", 1, gpu.speed_against);
  table.number("memory_gb", kGibibyte, gpu.memory_bytes);
}

void read_entry(EntryTable& table, const Catalogue& catalogue, CloudMachine& machine) {
  table.number("vcpus", 1, machine.vcpus);
  table.number("memory_gb", kGibibyte, machine.memory_bytes);
  table.name_of("gpu", catalogue.gpus, machine.gpu);
  table.name_of("network", catalogue.networks, machine.network);
  table.name_of("disk", catalogue.disks, machine.disk);
  if (!machine.gpu.empty()) {
    machine.gpus = std::max(machine.gpus, 1);
    table.count("gpus", machine.gpus);
  }
  table.optional("price_per_hour", 1, machine.price_per_hour);
}

// Names stand in what-ifs, whose words end at these.
void check_name(const toml::node& node, const char* kind, std::string name) {
  constexpr std::string_view kWordEnds = " ,\t\n\r";
  if (name.empty()) refuse_entry(node, fmt::format("a {0} needs a name: [{0}.NAME]", kind));
  if (name.find_first_of(kWordEnds) == std::string::npos) return;
  const std::string wrong = name;
  for (char& letter : name) letter = kWordEnds.find(letter) == std::string_view::npos ? letter : '-';
  refuse_entry(node,
               fmt::format("'{}' is no name that --what-if {}=NAME can give: it has a space or a comma; call it '{}'",
                           wrong, kind, name));
}

template <typename Entry>
void read_kind(const toml::table& root, const char* kind, const Catalogue& catalogue, std::vector<Entry>& entries) {
  const toml::node* node = root.get(kind);
  if (!node) return;
  const toml::table* tables = node->as_table();
  if (!tables) refuse_entry(*node, fmt::format("'{0}' must be tables: [{0}.NAME]", kind));
  for (const auto& [key, entry_node] : *tables) {
    const std::string name(key.str());
    const toml::table* table = entry_node.as_table();
    if (!table) refuse_entry(entry_node, fmt::format("'{1}' must be in a table with a name: [{0}.NAME]", kind, name));
    const auto found =
        std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.name == name; });
    Entry entry{};
    if constexpr (!std::is_same_v<Entry, CloudMachine>) check_name(entry_node, kind, name);
    if constexpr (std::is_same_v<Entry, GpuClass>) entry.speed_against = 0;  // it has to be given
    if (found != entries.end()) entry = *found;
    entry.name = name;
    EntryTable reader(kind, name, *table);
    read_entry(reader, catalogue, entry);
    reader.refuse_others();
    if (found != entries.end()) {
      *found = entry;
    } else {
      entries.push_back(entry);
    }
  }
}

template <typename Entry>
const Entry& find_entry(const std::vector<Entry>& entries, std::string_view what, std::string_view name) {
  for (const Entry& entry : entries) {
    if (entry.name == name) return entry;
  }
  const std::vector<std::string> names = names_of(entries);
  fail(ErrorKind::kUsage, "there is no {} '{}' in the catalogue{}; it has {}", what, name, did_you_mean(name, names),
       fmt::join(names, ", "));
}

// Letters and digits, in small letters, as words.
std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    if (is_digit || is_letter(c)) {
      words.back() += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

std::string catalogue_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  char block[4096];
  while (file.read(block, sizeof(block)) || file.gcount() > 0) {
    text.append(block, static_cast<std::size_t>(file.gcount()));
  }
  if (file.eof()) return text;
  const int cause = errno;
  fail(cause == ENOENT || cause == ENOTDIR ? ErrorKind::kNotFound : ErrorKind::kIo, "cannot read the catalogue {}: {}",
       path, std::strerror(cause));
}

}  // namespace

const Catalogue& Catalogue::shipped() {
  static const Catalogue catalogue = [] {
    Catalogue shipped;
    shipped.extend(shipped_catalogue());
    return shipped;
  }();
  return catalogue;
}

void Catalogue::extend(std::string_view text) {
  const toml::table root = parse_toml(text, "a catalogue");
  const std::vector<std::string> kinds = {"disk", "network", "gpu", "machine"};
  for (const auto& [key, node] : root) {
    if (std::find(kinds.begin(), kinds.end(), key.str()) != kinds.end()) continue;
    refuse_entry(node, fmt::format("'{}' is not known in a catalogue{}; known are {}", key.str(),
                                   did_you_mean(key.str(), kinds), fmt::join(kinds, ", ")));
  }
  Catalogue extended = *this;
  read_kind(root, "disk", extended, extended.disks);
  read_kind(root, "network", extended, extended.networks);
  read_kind(root, "gpu", extended, extended.gpus);
  read_kind(root, "machine", extended, extended.machines);
  std::stable_sort(extended.disks.begin(), extended.disks.end(),
                   [](const DiskClass& a, const DiskClass& b) { return a.bytes_per_s < b.bytes_per_s; });
  std::stable_sort(extended.networks.begin(), extended.networks.end(),
                   [](const NetworkClass& a, const NetworkClass& b) { return a.bytes_per_s < b.bytes_per_s; });
  std::stable_sort(extended.gpus.begin(), extended.gpus.end(),
                   [](const GpuClass& a, const GpuClass& b) { return a.speed_against < b.speed_against; });
  std::stable_sort(
      extended.machines.begin(), extended.machines.end(),
      [](const CloudMachine& a, const CloudMachine& b) { return std::tie(a.gpus, a.name) < std::tie(b.gpus, b.name); });
  *this = std::move(extended);
}

void Catalogue::extend_by_file(const std::string& path) {
  const std::string text = catalogue_file(path);
  try {
    extend(text);
  } catch (const Error& error) {
    throw error.with_context(path);
  }
}

const DiskClass& Catalogue::disk(std::string_view name) const { return find_entry(disks, "disk", name); }
const NetworkClass& Catalogue::network(std::string_view name) const { return find_entry(networks, "network", name); }
const GpuClass& Catalogue::gpu(std::string_view name) const { return find_entry(gpus, "GPU", name); }
const CloudMachine& Catalogue::machine(std::string_view name) const { return find_entry(machines, "machine", name); }

const GpuClass* Catalogue::gpu_within(std::string_view text) const {
  const std::vector<std::string> words = words_in(text);
  for (const GpuClass& gpu : gpus) {
    std::string name;
    for (const std::string& word : words_in(gpu.name)) name += word;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string two = words[i] + (i + 1 < words.size() ? words[i + 1] : "");  // "RTX 4090"
      if (!name.empty() && (words[i] == name || two == name)) return &gpu;
    }
  }
  return nullptr;
}

}  // namespace stoker
