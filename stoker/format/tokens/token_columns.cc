#include "stoker/format/tokens/token_columns.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/format/key_prefix.h"
#include "stoker/storage/arranged_source.h"
#include "stoker/tensor/field_number.h"

namespace stoker {
namespace {

constexpr std::int64_t kRowsAtOnce = 4096;

struct Column {
  std::string name;
  TokenType type;
};

std::optional<TokenType> type_of_ending(std::string_view field) {
  const std::string_view ending = field.substr(field.rfind('.') + 1);
  for (const TokenType type : {TokenType::kU8, TokenType::kU16, TokenType::kU32, TokenType::kI8, TokenType::kI16,
                               TokenType::kI32, TokenType::kI64}) {
    if (ending == to_string(type)) return type;
  }
  return std::nullopt;
}

Column find_column(const Dataset& data, std::string_view field, std::optional<TokenType> given) {
  for (const std::string& name : data.field_names()) {
    const std::optional<TokenType> type = type_of_ending(name);
    const std::string_view stem = type ? std::string_view(name).substr(0, name.rfind('.')) : name;
    if (name != field && stem != field) continue;
    if (type && given && *type != *given) {
      fail(ErrorKind::kUsage, "the field '{}' has tokens of type {}, not {}", name, to_string(*type),
           to_string(*given));
    }
    if (type || given) return {name, type ? *type : *given};
    fail(ErrorKind::kUsage,
         "the field '{}' does not say what its tokens are; give their type as token_type, such as u16", name);
  }
  for (const std::string& name : data.field_names()) {
    if (!number_type_in_name(name) || name.substr(0, name.rfind('.')) != field) continue;
    fail(ErrorKind::kUsage, "the field '{}' has no tokens: they are integers of up to 32 bits, or i64", name);
  }
  fail(ErrorKind::kUsage, "no sample has the field '{}'; there are {}", field, fmt::join(data.field_names(), ", "));
}

/// Puts the documents of a shard one after the other.
class ShardTokens {
 public:
  ShardTokens(std::shared_ptr<const Dataset> data, const Column& column, bool with_documents)
      : data_(std::move(data)), column_(column), with_documents_(with_documents) {
    if (with_documents_) file_.documents.push_back(0);
    file_.type = column.type;
  }

  void add(const SampleRow& row) {
    shard_ = row.source;
    const SampleField* const field = row.field(column_.name);
    if (!field || field->length == 0) return;  // formats leave out the fields of empty lists
    if (field->length % size_of(column_.type) != 0) {
      fail(ErrorKind::kData, "{}: '{}' has {}, which is not a whole number of tokens of type {}", describe(row),
           column_.name, byte_count(field->length), to_string(column_.type));
    }
    if (!field->part.empty() || (source_ && source_ != row.source)) {
      fail(ErrorKind::kUsage, "{}: tokens are not taken from loose files; pack them first", describe(row));
    }
    source_ = row.source;
    // What lies past the object's end is of a block that is decoded: the next one's values do not lie behind it.
    if (end_ != field->offset || end_ > source_->size()) {
      end_stretch();
      begin_ = field->offset;
    }
    end_ = field->offset + field->length;
    file_.tokens += field->length / size_of(column_.type);
    if (with_documents_) file_.documents.push_back(file_.tokens);
  }

  /// Nothing for a shard without samples.
  std::optional<TokenFile> take() {
    if (!shard_) return std::nullopt;
    if (!source_) fail(ErrorKind::kData, "no sample of '{}' has a token in '{}'", shard_->name(), column_.name);
    end_stretch();
    const std::string_view name = source_->name();
    file_.key_prefix = key_prefix_of_file(name, {name.substr(std::min(name.rfind('.'), name.size()))});
    file_.source = std::make_shared<ArrangedSource>(std::shared_ptr<Source>(data_, source_), std::move(stretches_));
    return std::move(file_);
  }

 private:
  void end_stretch() {
    if (end_ > begin_) stretches_->add(begin_, end_ - begin_);
  }

  std::shared_ptr<const Dataset> data_;
  const Column& column_;
  const bool with_documents_;
  const Source* shard_ = nullptr;  // of samples
  Source* source_ = nullptr;       // of tokens
  std::shared_ptr<StretchOrder> stretches_ = std::make_shared<StretchOrder>();
  std::uint64_t begin_ = 0, end_ = 0;  // of the stretch that may go on
  TokenFile file_;
};

}  // namespace

std::vector<TokenFile> open_token_columns(const std::shared_ptr<const Dataset>& data, std::string_view field,
                                          std::optional<TokenType> type, bool with_documents,
                                          const std::stop_token& stop) {
  const Column column = find_column(*data, field, type);
  std::vector<TokenFile> files;
  std::vector<std::int64_t> numbers;
  SampleRow row;
  std::int64_t next = 0;
  for (const std::int64_t samples : data->shard_samples()) {
    ShardTokens shard(data, column, with_documents);
    for (const std::int64_t end = next + samples; next < end;) {
      if (stop.stop_requested()) fail(ErrorKind::kClosed, "stopped while documents of tokens were looked for");
      numbers.resize(static_cast<std::size_t>(std::min(kRowsAtOnce, end - next)));
      std::iota(numbers.begin(), numbers.end(), next);
      data->prepare(numbers);
      for (; !numbers.empty() && next <= numbers.back(); ++next) {
        data->read(next, row);
        shard.add(row);
      }
    }
    if (std::optional<TokenFile> file = shard.take()) files.push_back(std::move(*file));
  }
  if (files.empty()) fail(ErrorKind::kData, "there is no sample");
  return files;
}

}  // namespace stoker
