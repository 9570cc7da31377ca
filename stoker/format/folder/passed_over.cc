#include "stoker/format/folder/passed_over.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "stoker/base/units.h"
#include "stoker/format/member_name.h"

namespace stoker {
namespace {

constexpr std::size_t kNamed = 3;

constexpr std::array<std::string_view, 16> kOtherPictures = {"apng", "avifs", "cr2", "dib", "dng", "exr",
                                                             "heic", "heif",  "hif", "ico", "jxl", "pam",
                                                             "pcx",  "psd",   "svg", "tga"};

}  // namespace

void PassedOver::add(std::string_view kind, std::string_view path) {
  auto known = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& one) { return one.name == kind; });
  if (known == kinds_.end()) {
    kinds_.emplace_back().name = kind;
    known = kinds_.end() - 1;
  }
  if (known->count++ < kNamed) known->first.emplace_back(path);
}

void PassedOver::add_if_picture(std::string_view path) {
  std::string extension;
  assign_lower_case(extension, path.substr(path.rfind('.') + 1));
  if (std::find(kOtherPictures.begin(), kOtherPictures.end(), extension) == kOtherPictures.end()) return;
  for (char& c : extension) c = c >= 'a' ? static_cast<char>(c - 'a' + 'A') : c;
  add(extension + " picture", path);
}

std::vector<std::string> PassedOver::sentences(const std::string& folder) const {
  std::vector<std::string> all;
  for (const Kind& kind : kinds_) {
    const std::uint64_t more = kind.count - kind.first.size();
    all.push_back(fmt::format("'{}' contains {}, which {} skipped: '{}'{}", folder, counted(kind.count, kind.name),
                              kind.count == 1 ? "is" : "are", fmt::join(kind.first, "', '"),
                              more > 0 ? fmt::format(" and {} more", format_count(more)) : std::string()));
  }
  return all;
}

}  // namespace stoker
