#include "stoker/format/tar_format.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/format/member_name.h"
#include "stoker/format/tar_reader.h"
#include "stoker/storage/file_source.h"

namespace stoker {
namespace {

/// Members below "__stoker__/", "__meta__/" and the like describe the shard and hold no sample; WebDataset agrees.
bool is_about_the_shard(std::string_view member) {
  const std::string_view first = member.substr(0, member.find('/'));
  return first.size() >= 4 && first.starts_with("__") && first.ends_with("__");
}

/// A class number as people and tools write it: digits, perhaps with white space around them.
std::optional<std::int64_t> parse_label(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return std::nullopt;
  text = text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
  std::int64_t label = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), label);
  if (error != std::errc{} || end != text.data() + text.size() || label < 0) return std::nullopt;
  return label;
}

std::int64_t read_label(const Source& source, TarReader& tar, std::string_view key) {
  constexpr std::size_t kLongest = 64;  // of a number and the white space around it
  const std::string text = tar.read(kLongest);
  const std::optional<std::int64_t> label = tar.length() <= kLongest ? parse_label(text) : std::nullopt;
  if (label) return *label;
  fail(ErrorKind::kData, "'{}': the cls field of sample '{}' is '{}', not a class number", source.name(), key,
       text.substr(0, 32));
}

bool has_tar_magic(const std::string& path) {
  const FileDescriptor fd = open_for_reading(AT_FDCWD, path.c_str());
  struct stat facts;
  if (!fd || ::fstat(fd.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
  std::array<std::uint8_t, 5> magic{};
  return pread_fully(fd.get(), 257, magic).count == magic.size() && as_text(magic) == "ustar";
}

}  // namespace

bool TarFormat::recognises(const std::string& path) const {
  struct stat facts;
  if (::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode)) return false;
  std::string name;
  assign_lower_case(name, std::string_view(path).substr(path.rfind('/') + 1));
  for (const std::string_view ending : {".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.xz", ".tar.bz2", ".tar.lz4"}) {
    if (name.ends_with(ending)) return true;
  }
  return has_tar_magic(path);
}

ShardContents TarFormat::scan(const std::string& path, const FileAccess& access, const std::stop_token& stop) const {
  ShardContents contents;
  FileSource in_order(path, access);  // what the kernel reads ahead helps the scan, and only it
  contents.samples = scan_tar(in_order, stop);
  contents.source = std::make_shared<FileSource>(
      path, access, FileOptions{.direct = access.direct, .pattern = AccessPattern::kRandom});
  return contents;
}

SampleTable scan_tar(Source& source, const std::stop_token& stop) {
  SampleTable samples;
  TarReader tar(source);
  std::string field;
  while (tar.next()) {
    stop_if_asked(stop, source.name());
    if (!tar.is_plain_file() || is_about_the_shard(tar.name())) continue;
    const std::optional<MemberName> name = split_member_name(tar.name());
    if (!name) continue;
    if (samples.size() == 0 || samples.key(samples.size() - 1) != name->key) samples.add_sample(name->key, -1);
    const std::int64_t sample = samples.size() - 1;

    assign_lower_case(field, name->field);
    const int number = samples.field_number(field);
    for (const FieldLocation& earlier : samples.fields(sample)) {
      if (earlier.name != number) continue;
      fail(ErrorKind::kData, "'{}': sample '{}' has its field '{}' twice; the second is member '{}' at byte {}",
           source.name(), name->key, field, tar.name(), tar.offset());
    }
    samples.add_field(field, 0, {}, tar.offset(), tar.length());
    if (field == "cls") samples.set_label(sample, read_label(source, tar, name->key));
  }
  return samples;
}

}  // namespace stoker
