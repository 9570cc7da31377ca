#include "stoker/format/tar/tar_format.h"

#include <fcntl.h>

#include <array>
#include <utility>

#include "stoker/format/member_name.h"
#include "stoker/format/tar/tar_samples.h"
#include "stoker/storage/file_source.h"

namespace stoker {
namespace {

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
  contents.samples = scan_tar(in_order, stop, &contents.holds_index);
  contents.source = std::make_shared<FileSource>(
      path, access, FileOptions{.direct = access.direct, .pattern = AccessPattern::kRandom});
  return contents;
}

SampleTable scan_tar(Source& source, const std::stop_token& stop, bool* holds_index) {
  SampleTable samples;
  TarSamples tar(source, stop);
  SampleRow row;
  while (tar.next(row)) {
    samples.add_sample(row.key, row.label);
    for (const SampleField& field : row.fields) samples.add_field(field.name, {}, field.offset, field.length);
  }
  if (holds_index) *holds_index = tar.saw_index();
  return samples;
}

}  // namespace stoker
