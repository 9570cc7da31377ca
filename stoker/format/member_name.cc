#include "stoker/format/member_name.h"

#include <algorithm>
#include <array>

namespace stoker {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

const std::string_view kImageExtensions =
    "jpg, jpeg, jpe, jfif, mpo, png, webp, bmp, gif, tif, tiff, jp2, j2k, jpx, jpf, j2c, jpc, avif, ppm, pgm, pbm, pnm";

std::optional<MemberName> split_member_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t base = slash == std::string_view::npos ? 0 : slash + 1;
  const std::size_t dot = path.find('.', base);
  if (dot == std::string_view::npos || dot == base || dot + 1 == path.size()) return std::nullopt;
  return MemberName{path.substr(0, dot), path.substr(dot + 1)};
}

std::string key_of_file(std::string_view name) {
  name = without_this_folder(name);
  const std::optional<MemberName> split = split_member_name(name);
  if (!split) return std::string(name);
  const bool has_dots = split->field.find('.') != std::string_view::npos;
  return has_dots ? std::string(name).append(kKeyBelowName) : std::string(split->key);
}

std::string_view without_this_folder(std::string_view name) {
  while (name.starts_with("./")) name.remove_prefix(2);
  return name;
}

std::vector<std::string> keys_of_name(std::string_view name) {
  name = without_this_folder(name);
  const std::optional<MemberName> split = split_member_name(name);
  if (!split) return {std::string(name)};
  return {std::string(split->key), std::string(name).append(kKeyBelowName)};
}

bool is_about_the_shard(std::string_view member) {
  const std::string_view first = member.substr(0, member.find('/'));
  return first.size() >= 4 && first.starts_with("__") && first.ends_with("__");
}

bool leads_elsewhere(std::string_view member) {
  if (member.starts_with('/')) return true;
  for (std::size_t begin = 0; begin <= member.size();) {
    const std::size_t end = std::min(member.find('/', begin), member.size());
    if (member.substr(begin, end - begin) == "..") return true;
    begin = end + 1;
  }
  return false;
}

void assign_lower_case(std::string& into, std::string_view text) {
  into.assign(text);
  std::transform(into.begin(), into.end(), into.begin(), lower);
}

bool is_called(std::string_view name, std::string_view lower_case) {
  return std::equal(name.begin(), name.end(), lower_case.begin(), lower_case.end(),
                    [](char one, char other) { return lower(one) == other; });
}

bool is_image_field_name(std::string_view field) {
  // MPO is a JPEG followed by others, which decoders of JPEGs skip.
  constexpr std::string_view kExtensions[] = {"jpg", "jpeg", "png",  "webp", "jpe", "jfif", "mpo",  "bmp",
                                              "gif", "tif",  "tiff", "jp2",  "j2k", "jpx",  "jpf",  "j2c",
                                              "jpc", "avif", "ppm",  "pgm",  "pbm", "pnm",  "datum"};
  const std::size_t dot = field.rfind('.');
  const std::string_view extension = dot == std::string_view::npos ? field : field.substr(dot + 1);
  return std::any_of(std::begin(kExtensions), std::end(kExtensions),
                     [&](std::string_view known) { return is_called(extension, known); });
}

}  // namespace stoker
