// Reads one small field of many samples, side by side: their labels, as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/format/sample_row.h"

namespace stoker {

/// One text for each sample, in order: as it stands, without white space around it, or a whole number as people write
/// it. Nothing where a sample lacks the field, or it is empty.
struct LabelTexts {
  std::vector<std::optional<std::string>> texts{};
  bool are_numbers = false;  // of fields of numbers, so none is the name of a class
};

/// Threads: one.
class FieldTexts {
 public:
  /// Longer than what names a class.
  static constexpr std::uint64_t kBytesMax = 1024;

  /// Of the field of that name; without one, of a field of numbers, such as "NAME.i64".
  explicit FieldTexts(std::string name) : name_(std::move(name)) {}

  /// The next sample. Its source and what its fields show stay valid until take(). Throws as take().
  void add(const SampleRow& row);
  /// Throws kData, with the sample named, for a field that is no label (it is longer than kBytesMax, holds several
  /// numbers, or one that is not whole), and what reading throws.
  LabelTexts take();

 private:
  struct Queued {
    std::size_t sample;
    SampleField field;
    Source* source;
    std::string place;  // for messages
    std::vector<std::uint8_t> bytes;
    MutableBytes into{};  // all of them
  };

  void read_queued();

  std::string name_;
  std::vector<Queued> queued_;
  LabelTexts found_{.texts = {}, .are_numbers = true};
};

/// The field of that name, else the one of numbers that is called so. Null without either.
const SampleField* label_field(const SampleRow& row, std::string_view name);

}  // namespace stoker
