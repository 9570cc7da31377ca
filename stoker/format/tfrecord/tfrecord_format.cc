#include "stoker/format/tfrecord/tfrecord_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/format/tfrecord/tfrecord_frame.h"
#include "stoker/format/tfrecord/tfrecord_shard_writer.h"

namespace stoker {

namespace {

/// What follows the last "-00000-of-01024" of a name is cut off, and it; nothing if the name does not end so.
std::optional<std::string_view> before_shard_number(std::string_view name) {
  constexpr std::size_t kDigits = 5;
  constexpr std::string_view kOf = "-of-";
  constexpr std::size_t kAll = 1 + kDigits + kOf.size() + kDigits;
  if (name.size() <= kAll) return std::nullopt;
  const std::string_view end = name.substr(name.size() - kAll);
  const auto is_number = [](std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  if (end[0] != '-' || end.substr(1 + kDigits, kOf.size()) != kOf) return std::nullopt;
  if (!is_number(end.substr(1, kDigits)) || !is_number(end.substr(end.size() - kDigits))) return std::nullopt;
  return name.substr(0, name.size() - kAll);
}

bool is_named_as_tfrecord(std::string_view name) {
  if (const auto begin = before_shard_number(name)) name = *begin;
  return name.ends_with(".tfrecord") || name.ends_with(".tfrecords");
}

}  // namespace

bool TfRecordFormat::is_shard_name(std::string_view name) const {
  return is_named_as_tfrecord(name) || before_shard_number(name).has_value();
}

bool TfRecordFormat::recognises(const ShardCandidate& shard) const {
  if (shard.is_folder()) return false;
  const std::string& name = shard.name();
  if (is_named_as_tfrecord(name)) return true;
  for (const std::string_view ending : {".gz", ".zlib"}) {
    if (name.ends_with(ending))
      return is_named_as_tfrecord(std::string_view(name).substr(0, name.size() - ending.size()));
  }
  const Bytes head = shard.head();
  if (head.size() >= kTfRecordHeaderBytes && read_tfrecord_header(head)) return true;
  return before_shard_number(name) && (is_gzip(head) || is_zlib(head));
}

std::unique_ptr<ShardScan> TfRecordFormat::scan(Source& shard, const std::stop_token& stop) const {
  return std::make_unique<TfRecordSamples>(shard, stop);
}

const WritableFormat* TfRecordFormat::writing() const {
  static const TfRecordWriting writing;
  return &writing;
}

TfRecordSamples::TfRecordSamples(Source& source, std::stop_token stop)
    : source_(source), stop_(std::move(stop)), records_(source), rows_(source.name()) {}

bool TfRecordSamples::next(SampleRow& row) {
  row.clear();
  row.source = &source_;
  stop_if_asked(stop_, source_.name());
  if (!records_.next()) return false;
  try {
    rows_.read(records_.data(), {.offset = records_.offset(), .number = records_.number()}, row);
  } catch (const Error& wrong) {
    if (wrong.kind() != ErrorKind::kData) throw;
    fail(ErrorKind::kData, "'{}': {} cannot be used: {}", source_.name(), records_.place(), wrong.message());
  }
  return true;
}

ShardNotes TfRecordSamples::take_notes() {
  if (rows_.passed_over() == 0) return {};
  return {.problems = {fmt::format(
              "'{}': skips {} (lists of more than {} values, or numbers that do not lie together); "
              "the first is {}",
              source_.name(), counted(rows_.passed_over(), "list"), Example::kValuesMax, rows_.first_passed_over())}};
}

}  // namespace stoker
