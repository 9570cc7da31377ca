// The files that a list names, as samples.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/format/folder/passed_over.h"
#include "stoker/format/list/list_rows.h"
#include "stoker/format/list/list_source.h"
#include "stoker/format/shard_format.h"

namespace stoker {

/// What the labels of all rows are: class numbers, or names of classes; or other numbers, which are no labels.
class ListLabels {
 public:
  /// Names are those of classes if there are no more than this.
  static constexpr std::size_t kClassesMax = 65536;

  void see(const std::optional<std::string>& label);
  /// To be called after the last.
  void finish();

  /// -1 for one that is unknown.
  std::int64_t number(const std::optional<std::string>& label) const;
  /// In byte order; none where labels are numbers.
  std::vector<std::string>& classes() { return classes_; }
  bool are_too_many() const { return are_more_ && !all_numbers_ && !are_fractional(); }
  /// Whether all are numbers, and not all of them whole.
  bool are_fractional() const { return all_reals_ && !all_numbers_; }

 private:
  std::set<std::string, std::less<>> names_;
  std::vector<std::string> classes_;
  bool all_numbers_ = true, all_reals_ = true, are_more_ = false;
};

class ListSamples final : public ShardScan {
 public:
  /// What values that do not lie in the list as they are may take of memory, all together.
  static constexpr std::uint64_t kCopiesBytesMax = std::uint64_t{1} << 30;

  ListSamples(ListSource& source, std::unique_ptr<ListRows> rows, std::stop_token stop);

  bool next(SampleRow& row) override;
  ShardNotes take_notes() override;

 private:
  void look_at_all_rows();
  /// Chooses where files are looked for: where the first that exists is.
  void choose_folder();
  /// From now on, in the folder of all files; the second if the path leads out of the list's.
  void look_anywhere();
  void look_anywhere_for(const std::string& path);
  /// Where the file of a row is, in the source.
  void set_part(const std::string& path) { part_ = part_of(path); }
  std::string part_of(const std::string& path) const;
  std::optional<std::uint64_t> find_length() const { return find_length(part_); }
  std::optional<std::uint64_t> find_length(const std::string& part) const;
  void set_key(const std::string& path, SampleRow& row) const;
  void add_values(SampleRow& row);
  void add_files(SampleRow& row);
  std::string_view keep_name(std::string_view name);

  ListSource& source_;
  std::unique_ptr<ListRows> rows_;
  const std::stop_token stop_;
  ListLabels labels_;
  std::string folder_;  // relative to the list's, what paths are relative to
  bool is_anywhere_ = false;
  ListRow row_;
  std::string part_, name_;
  std::deque<std::string> more_parts_;  // of the row's further files; they do not move
  std::vector<std::uint8_t> copies_;
  std::set<std::string, std::less<>> names_;  // of fields: rows have views of them
  PassedOver passed_over_;
  std::uint64_t seen_ = 0, found_ = 0;
};

}  // namespace stoker
