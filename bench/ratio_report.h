// The figures of a benchmark whose claims are ratios: printed as they come, and kept for --json.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "stoker/base/error.h"

namespace stoker {

class RatioReport {
 public:
  struct Row {
    std::string name;  // "what: which figure of it"
    double value;
    std::string unit, against;
    double ratio;
    std::optional<double> floor{}, ceiling{};  // the least, or the most, that the ratio may be; neither: no claim
  };

  void add(const Row& row) {
    const std::optional<double> limit = row.floor ? row.floor : row.ceiling;
    const bool holds = row.floor ? row.ratio >= *row.floor : row.ceiling && row.ratio <= *row.ceiling;
    fmt::print("  {:<10}{:>9.4g} {:<8} {:>6.3f} of {:<22} {:<6}{}\n", row.name.substr(row.name.rfind(": ") + 2),
               row.value, row.unit, row.ratio, row.against, limit ? fmt::format("{:.2f}", *limit) : "",
               limit ? (holds ? "yes" : "NO") : "");
    nlohmann::ordered_json entry{{"name", row.name},       {"value", row.value}, {"unit", row.unit},
                                 {"against", row.against}, {"ratio", row.ratio}, {"floor", nullptr},
                                 {"goal", nullptr},        {"holds", nullptr}};
    if (row.floor) entry["floor"] = *row.floor;
    if (limit) entry["holds"] = holds;
    entries_.push_back(std::move(entry));
    std::fflush(stdout);
  }

  void write(const std::string& path) const {
    std::ofstream stream(path);
    stream << entries_.dump(2) << "\n";
    if (!stream.flush()) fail(ErrorKind::kIo, "{}: cannot be written", path);
  }

 private:
  nlohmann::ordered_json entries_ = nlohmann::ordered_json::array();
};

}  // namespace stoker
