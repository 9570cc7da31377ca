#include "stoker/format/tar_samples.h"

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/format/class_number.h"
#include "stoker/format/index_places.h"
#include "stoker/format/member_name.h"
#include "stoker/format/shard_format.h"

namespace stoker {
namespace {

std::int64_t read_label(const Source& source, TarReader& tar, std::string_view key) {
  return parse_class_number(tar.read(kClassNumberBytesMax), tar.length(), source.name(), key);
}

}  // namespace

TarSamples::TarSamples(Source& source, std::stop_token stop) : source_(source), stop_(std::move(stop)), tar_(source) {}

bool TarSamples::next_member() {
  while (tar_.next()) {
    stop_if_asked(stop_, source_.name());
    if (tar_.name() == kIndexMember) saw_index_ = true;
    if (tar_.is_plain_file() && !is_about_the_shard(tar_.name()) && split_member_name(tar_.name())) return true;
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
  return !row.fields.empty();
}

void TarSamples::add_member(SampleRow& row) {
  assign_lower_case(field_, split_member_name(tar_.name())->field);
  if (row.field(field_)) {
    fail(ErrorKind::kData, "'{}': sample '{}' has its field '{}' twice; the second is member '{}' at byte {}",
         source_.name(), row.key, field_, tar_.name(), tar_.offset());
  }
  auto name = names_.find(field_);
  if (name == names_.end()) name = names_.insert(field_).first;
  row.fields.push_back({.name = *name, .part = {}, .offset = tar_.offset(), .length = tar_.length()});
  if (field_ == "cls") row.label = read_label(source_, tar_, row.key);
}

}  // namespace stoker
