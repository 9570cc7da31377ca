#include "stoker/format/tokens/token_file.h"

#include <array>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/format/key_prefix.h"
#include "stoker/format/npy/npy_array.h"
#include "stoker/format/tokens/megatron_index.h"

namespace stoker {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kNpyMagic = "\x93NUMPY"sv, kTokenIndexMagic = "MMIDIDX"sv;

bool begins_with(Source& source, std::string_view magic) {
  std::array<std::uint8_t, 7> head{};  // as long as the longer of the above
  if (source.size() >= head.size()) read_fully(source, 0, head);
  return as_text(head).starts_with(magic);
}

TokenType type_of(const NpyArray& array, const Source& source) {
  for (const auto& [name, type] :
       {std::pair("u1", TokenType::kU8), std::pair("u2", TokenType::kU16), std::pair("u4", TokenType::kU32),
        std::pair("i1", TokenType::kI8), std::pair("i2", TokenType::kI16), std::pair("i4", TokenType::kI32),
        std::pair("i8", TokenType::kI64)}) {
    if (array.type == name && (!array.is_big_endian || size_of(type) == 1)) return type;
  }
  fail(ErrorKind::kData,
       "'{}' holds numbers of numpy's type '{}'{}, which cannot be tokens; store u1, u2, u4, i1, i2, i4 or i8, lowest "
       "byte first",
       source.name(), array.type, array.is_big_endian ? ", highest byte first" : "");
}

// By its last dot: "corpus.bin" has "corpus.idx".
Location index_beside(const Location& at) {
  const std::string& text = at.text();
  const std::size_t dot = text.rfind('.');
  return Location((dot == std::string::npos ? text : text.substr(0, dot)) + ".idx");
}

// The rows of an array.
std::vector<std::uint64_t> rows_as_documents(const NpyArray& array, std::uint64_t tokens, const Source& source) {
  if (array.shape.size() == 1 || tokens == 0) return {};
  if (array.shape.size() > 2) {
    fail(ErrorKind::kData, "'{}' has {} axes; documents are the rows of an array with two", source.name(),
         array.shape.size());
  }
  std::vector<std::uint64_t> begins(static_cast<std::size_t>(array.rows()) + 1);
  for (std::size_t i = 0; i < begins.size(); ++i) begins[i] = i * array.shape[1];
  return begins;
}

void check_type(const Source& source, TokenType found, std::optional<TokenType> wanted) {
  if (!wanted || *wanted == found) return;
  fail(ErrorKind::kUsage, "'{}' has tokens of type {}, not {}", source.name(), to_string(found), to_string(*wanted));
}

NpyArray read_tokens_array(Source& source) {
  try {
    return read_npy_array(source, 0, source.size());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kData) throw;
    throw error.with_context(fmt::format("'{}'", source.name()));
  }
}

}  // namespace

std::optional<Location> find_token_index(const Stores& stores, const Location& at) {
  const Location index = index_beside(at);
  const std::optional<ObjectFacts> facts = stores.find(index);
  if (!facts || !facts->is_file() || !begins_with(*stores.open(index), kTokenIndexMagic)) return std::nullopt;
  return index;
}

std::vector<Location> find_token_files(const Stores& stores, const Location& at, std::optional<TokenType> type) {
  const std::optional<ObjectFacts> facts = stores.find(at);
  if (!facts || !facts->is_folder()) return {at};
  const std::unique_ptr<Folder> folder = stores.list(at);
  folder->drop_hidden();
  std::set<std::string> names;
  for (std::size_t i = 0; i < folder->size(); ++i) {
    if (!(*folder)[i].is_folder) names.emplace((*folder)[i].name);
  }
  std::vector<Location> files;
  for (const std::string& name : names) {
    const bool is_bin = name.ends_with(".bin") && (type || names.contains(index_beside(name).text()));
    if (is_bin || name.ends_with(".npy")) files.push_back(at / name);
  }
  if (files.empty()) {
    fail(ErrorKind::kUsage, "'{}' has no file of tokens directly in it: neither an .npy, nor a .bin with its .idx", at);
  }
  return files;
}

TokenFile open_token_file(const Stores& stores, const Location& at, std::optional<TokenType> type,
                          bool with_documents) {
  TokenFile file{.source = stores.of(at).open_for_samples(stores.open(at))};
  Source& source = *file.source;
  file.key_prefix = key_prefix_of_file(source.name(), {".bin", ".npy"});
  if (begins_with(source, kNpyMagic)) {
    const NpyArray array = read_tokens_array(source);
    file.type = type_of(array, source);
    file.offset = array.offset;
    file.tokens = array.row_bytes / size_of(file.type) * array.rows();
    check_type(source, file.type, type);
    if (with_documents) file.documents = rows_as_documents(array, file.tokens, source);
    return file;
  }
  if (begins_with(source, kTokenIndexMagic)) {
    fail(ErrorKind::kUsage, "'{}' is the index of a file of tokens; name that file, which has the same name with .bin",
         source.name());
  }
  const Location beside = index_beside(at);
  if (beside.text() != at.text() && stores.find(beside)) {
    const MegatronIndex index(stores.open(beside), source.size());
    file.type = index.type();
    file.tokens = index.tokens();
    if (with_documents) file.documents = index.document_begins();
    check_type(source, file.type, type);
    return file;
  }
  if (!type) {
    fail(ErrorKind::kUsage,
         "'{}' does not say what its tokens are: it is not a numpy array, and there is no '{}' beside it; give the "
         "type of the tokens as token_type, such as u16, or, if samples have tokens in a field, the field's name as "
         "token_field",
         source.name(), beside.text());
  }
  file.type = *type;
  file.tokens = source.size() / size_of(*type);
  if (file.tokens * size_of(*type) != source.size()) {
    fail(ErrorKind::kData, "'{}' has {}, which is not a whole number of tokens of type {}", source.name(),
         byte_count(source.size()), to_string(*type));
  }
  return file;
}

}  // namespace stoker
