#include "stoker/format/tar/tar_format.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/base/units.h"
#include "stoker/format/index/index_places.h"
#include "stoker/format/member_name.h"
#include "stoker/format/tar/tar_shard_writer.h"

namespace stoker {

bool TarFormat::recognises(const ShardCandidate& shard) const {
  if (shard.is_folder()) return false;
  for (const std::string_view ending : {".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.xz", ".tar.bz2", ".tar.lz4"}) {
    if (shard.name().ends_with(ending)) return true;
  }
  constexpr std::string_view kMagic = "ustar";
  constexpr std::size_t kMagicAt = 257;
  const std::string_view head = as_text(shard.head());
  return head.size() > kMagicAt && head.substr(kMagicAt).starts_with(kMagic);
}

std::unique_ptr<ShardScan> TarFormat::scan(Source& shard, const std::stop_token& stop) const {
  return std::make_unique<TarSamples>(shard, stop);
}

const WritableFormat* TarFormat::writing() const {
  static const TarWriting writing;
  return &writing;
}

TarSamples::TarSamples(Source& source, std::stop_token stop) : source_(source), stop_(std::move(stop)), tar_(source) {}

std::optional<MemberName> TarSamples::member_name() const {
  return split_member_name(without_this_folder(tar_.name()));
}

bool TarSamples::next_member() {
  while (tar_.next()) {
    stop_if_asked(stop_, source_.name());
    if (tar_.name() == kIndexMember) saw_index_ = true;
    if (is_about_the_shard(without_this_folder(tar_.name())) || tar_.is_folder()) continue;
    if (!tar_.is_plain_file()) {
      if (passed_over_++ == 0) first_passed_over_ = tar_.name();
    } else if (member_name()) {
      return true;
    }
  }
  return false;
}

bool TarSamples::next(SampleRow& row) {
  row.clear();
  row.source = &source_;
  if (ended_) return false;
  if (!has_member_) has_member_ = next_member();
  if (has_member_) {
    row.key = member_name()->key;
    do {
      add_member(row);
      has_member_ = next_member();
    } while (has_member_ && member_name()->key == row.key);
  }
  note_numbered_images(row);
  ended_ = !has_member_;
  if (ended_) warn();
  return !row.fields.empty();
}

/// "cd1.1.jpg" and "cd1.2.jpg" may well be two photographs, whose names have dots.
void TarSamples::note_numbered_images(const SampleRow& row) {
  std::vector<std::string_view> numbered;
  for (const SampleField& field : row.fields) {
    const bool begins_with_digit = field.name.front() >= '0' && field.name.front() <= '9';
    if (begins_with_digit && is_image_field_name(field.name)) numbered.push_back(field.name);
  }
  if (numbered.size() < 2 || numbered_++ > 0) return;
  first_numbered_ = fmt::format("'{}' with '{}' and '{}'", row.key, numbered[0], numbered[1]);
}

void TarSamples::warn() const {
  class_numbers_.warn(source_.name());
  if (numbered_ > 0) {
    log(LogLevel::kWarning,
        "'{}': {} several images that are told apart by numbers alone, such as {}; a sample's key ends at the first "
        "dot "
        "of the name, so if each image is a sample, replace the dots, or pack them from a folder",
        source_.name(), numbered_ == 1 ? "1 sample has" : fmt::format("{} samples have", numbered_), first_numbered_);
  }
  if (passed_over_ == 0) return;
  log(LogLevel::kWarning, "'{}': skips {} (links, devices or sparse files); the first is '{}'", source_.name(),
      counted(passed_over_, "member"), first_passed_over_);
}

void TarSamples::add_member(SampleRow& row) {
  assign_lower_case(field_, member_name()->field);
  if (row.field(field_)) {
    fail(ErrorKind::kData, "'{}': sample '{}' has the field '{}' twice; the second is member '{}' at byte {}",
         source_.name(), row.key, field_, tar_.name(), tar_.offset());
  }
  row.fields.push_back(
      {.name = *names_.insert(field_).first, .part = {}, .offset = tar_.offset(), .length = tar_.length()});
  if (field_ == "cls") {
    row.label = class_numbers_.label_of(tar_.read(kClassNumberBytesMax), tar_.length(), row.key);
  }
}

}  // namespace stoker
