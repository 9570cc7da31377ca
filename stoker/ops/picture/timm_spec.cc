#include "stoker/ops/picture/timm_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/parse_number.h"
#include "stoker/base/spelling.h"

namespace stoker {
namespace {

std::vector<std::string_view> sections_of(std::string_view text) {
  std::vector<std::string_view> sections;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('-', begin), text.size());
    sections.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return sections;
}

struct Section {
  std::string_view key, value;  // "mstd" and "0.5" of "mstd0.5"
};

// Sets what a section says; false for an unknown key.
class SectionReader {
 public:
  SectionReader(std::string_view text, Section section) : text_(text), section_(section) {}

  int integer(int least, int most) const {
    const auto number = parse_number<int>(section_.value);
    if (!number || *number < least || *number > most) {
      fail(ErrorKind::kUsage, "spec '{}': {} is {}, but must be a whole number from {} to {}", text_, section_.key,
           section_.value, least, most);
    }
    return *number;
  }

  double number(double least, double most) const {
    const auto number = parse_number<double>(section_.value);
    if (!number || !(*number >= least && *number <= most)) {
      fail(ErrorKind::kUsage, "spec '{}': {} is {}, but must be a number from {} to {}", text_, section_.key,
           section_.value, least, most);
    }
    return *number;
  }

 private:
  std::string_view text_;
  Section section_;
};

constexpr double kStdMax = 1000;

bool read_section(TimmSpec& spec, const Section& section, const SectionReader& read) {
  const std::string_view key = section.key;
  const bool rand = spec.policy == TimmSpec::Policy::kRand, mix = spec.policy == TimmSpec::Policy::kAugMix;
  if (key == "mstd") {
    const double std = read.number(0, kStdMax);
    spec.magnitude_std = std;
    if (rand && std > 100) spec.magnitude_std = TimmSpec::kUniform;
  } else if (key == "m" && (rand || mix)) {
    spec.magnitude = read.integer(0, 1000);
  } else if (key == "mmax" && rand) {
    const int most = read.integer(0, 1000);
    if (most > 0) spec.magnitude_max = most;
  } else if (key == "inc" && rand) {
    spec.increasing = read.integer(0, 1) == 1;
  } else if (key == "n" && rand) {
    spec.layers = read.integer(0, 30);
  } else if (key == "p" && rand) {
    spec.p = read.number(0, 1);
  } else if (key == "w" && mix) {
    spec.width = read.integer(1, 10);
  } else if (key == "d" && mix) {
    spec.depth = read.integer(0, 10);
  } else if (key == "a" && mix) {
    spec.alpha = read.number(1e-3, 1e3);
  } else if (key == "b" && mix) {
    spec.blended = read.integer(0, 1) == 1;
  } else {
    return false;
  }
  return true;
}

std::vector<std::string> keys_of(TimmSpec::Policy policy) {
  switch (policy) {
    case TimmSpec::Policy::kRand: return {"m", "n", "p", "mstd", "mmax", "inc", "t"};
    case TimmSpec::Policy::kAugMix: return {"m", "w", "d", "a", "b", "mstd"};
    case TimmSpec::Policy::kAuto: break;
  }
  return {"mstd"};
}

const std::vector<std::string> kSpecNames = {"rand", "augmix", "original", "originalr", "v0", "v0r", "3a"};
const std::vector<std::string> kSpecSets = {"weights", "3a", "3aw"};

void check_known(std::string_view text, std::string_view name, const std::vector<std::string>& known,
                 std::string_view what) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  fail(ErrorKind::kUsage, "spec '{}': '{}' is not a {}{}; there are {}", text, name, what, did_you_mean(name, known),
       fmt::join(known, ", "));
}

}  // namespace

TimmSpec TimmSpec::parse(std::string_view text) {
  const std::vector<std::string_view> sections = sections_of(text);
  check_known(text, sections.front(), kSpecNames, "policy");
  TimmSpec spec;
  if (sections.front() == "rand") {
    spec.policy = Policy::kRand;
  } else if (sections.front() == "augmix") {
    spec.policy = Policy::kAugMix;
    spec.magnitude = 3;
    spec.magnitude_std = kUniform;
  } else {
    spec.name = sections.front();
  }
  for (std::size_t i = 1; i < sections.size(); ++i) {
    const std::string_view written = sections[i];
    if (spec.policy == Policy::kRand && written.starts_with('t')) {
      spec.name = written.substr(1);
      check_known(text, spec.name, kSpecSets, "set of operators");
      continue;
    }
    const std::size_t digits = std::min(written.find_first_of("0123456789"), written.size());
    const Section section{written.substr(0, digits), written.substr(digits)};
    check_known(text, section.key, keys_of(spec.policy), "section");
    if (section.value.empty()) fail(ErrorKind::kUsage, "spec '{}': {} needs a number", text, section.key);
    if (!read_section(spec, section, SectionReader(text, section))) {
      fail(ErrorKind::kUsage, "spec '{}': '{}' has no number", text, written);
    }
  }
  return spec;
}

}  // namespace stoker
