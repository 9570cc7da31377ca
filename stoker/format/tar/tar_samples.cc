#include "stoker/format/tar/tar_samples.h"

#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/base/units.h"
#include "stoker/format/index/index_places.h"
#include "stoker/format/member_name.h"

namespace stoker {

TarSamples::TarSamples(Source& source, std::stop_token stop) : source_(source), stop_(std::move(stop)), tar_(source) {}

bool TarSamples::next_member() {
  while (tar_.next()) {
    stop_if_asked(stop_, source_.name());
    if (tar_.name() == kIndexMember) saw_index_ = true;
    if (is_about_the_shard(tar_.name()) || tar_.is_folder()) continue;
    if (!tar_.is_plain_file()) {
      if (passed_over_++ == 0) first_passed_over_ = tar_.name();
    } else if (split_member_name(tar_.name())) {
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
    row.key = split_member_name(tar_.name())->key;
    do {
      add_member(row);
      has_member_ = next_member();
    } while (has_member_ && split_member_name(tar_.name())->key == row.key);
  }
  ended_ = !has_member_;
  if (ended_) warn();
  return !row.fields.empty();
}

void TarSamples::warn() const {
  class_numbers_.warn(source_.name());
  if (passed_over_ == 0) return;
  log(LogLevel::kWarning, "'{}': skips {} (links, devices or sparse files); the first is '{}'", source_.name(),
      counted(passed_over_, "member"), first_passed_over_);
}

void TarSamples::add_member(SampleRow& row) {
  assign_lower_case(field_, split_member_name(tar_.name())->field);
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
