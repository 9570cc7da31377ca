#include "stoker/format/litdata/litdata_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/json_values.h"
#include "stoker/format/field_names.h"
#include "stoker/format/member_name.h"

namespace stoker {
namespace {

using namespace std::string_view_literals;
using LitDataJson = nlohmann::json;

constexpr std::uint64_t kLitDataListBytesMax = std::uint64_t{256} << 20;
constexpr int kTreeDepthMax = 64;

struct KnownSerializer {
  std::string_view name;  // up to the colon
  LitDataKind kind;
};

constexpr std::array<KnownSerializer, 17> kSerializers = {{{"str", LitDataKind::kText},
                                                           {"text", LitDataKind::kText},
                                                           {"int", LitDataKind::kInteger},
                                                           {"bool", LitDataKind::kTruth},
                                                           {"float", LitDataKind::kFloat},
                                                           {"no_header_numpy", LitDataKind::kNumbers},
                                                           {"no_header_tensor", LitDataKind::kNumbers},
                                                           {"numpy", LitDataKind::kNumpy},
                                                           {"tensor", LitDataKind::kTensor},
                                                           {"jpeg", LitDataKind::kImage},
                                                           {"image", LitDataKind::kImage},
                                                           {"tifffile", LitDataKind::kImage},
                                                           {"tiff", LitDataKind::kImage},
                                                           {"jpeg_array", LitDataKind::kImages},
                                                           {"pil", LitDataKind::kPixels},
                                                           {"json", LitDataKind::kNested},
                                                           {"pickle", LitDataKind::kPickle}}};

// Complex numbers and bfloat16 are not among the types that Stoker names.
constexpr std::array kNumpyTypes = {"i8"sv,  "i16"sv, "i32"sv, "i64"sv, "u8"sv, "u16"sv, "u32"sv,
                                    "u64"sv, "f16"sv, "f32"sv, "f64"sv, ""sv,   ""sv,    "u8"sv};

constexpr std::array kTorchTypes = {"f32"sv, "f32"sv, "f64"sv, "f64"sv, ""sv,    ""sv,   ""sv,
                                    ""sv,    "f16"sv, "f16"sv, ""sv,    "u8"sv,  "i8"sv, "i16"sv,
                                    "i16"sv, "i32"sv, "i32"sv, "i64"sv, "i64"sv, "u8"sv, "u16"sv};

// Serializers of files, which have the file's extension after a colon.
constexpr std::array kWithExtension = {"image"sv, "file"sv, "video"sv, "audio"sv, "nifti"sv, "mesh"sv};

const LitDataJson* json_member(const LitDataJson& of, const char* name) {
  if (!of.is_object()) return nullptr;
  const auto found = of.find(name);
  return found == of.end() || found->is_null() ? nullptr : &*found;
}

LitDataLeaf leaf_of(std::string name, std::string serializer) {
  LitDataLeaf leaf{.name = std::move(name), .serializer = std::move(serializer)};
  const std::string_view text = leaf.serializer;
  const std::string_view base = text.substr(0, text.find(':'));
  const std::string_view rest = text.substr(std::min(text.size(), base.size() + 1));
  const auto known =
      std::find_if(kSerializers.begin(), kSerializers.end(), [&](const auto& one) { return one.name == base; });
  if (known != kSerializers.end()) leaf.kind = known->kind;
  if (leaf.kind == LitDataKind::kNumbers) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc() || end != rest.data() + rest.size()) {
      fail(ErrorKind::kData, "the serializer '{}' does not say which type its numbers have", text);
    }
    leaf.type = base == "no_header_numpy" ? litdata_numpy_type(number) : litdata_torch_type(number);
  } else if (std::find(kWithExtension.begin(), kWithExtension.end(), base) != kWithExtension.end()) {
    leaf.extension = rest;
  } else if (base == "pdf") {
    leaf.extension = "pdf";
  } else if (base.starts_with("tif")) {
    leaf.extension = "tif";
  }
  return leaf;
}

/// The names of a node's children; numbers where it has none.
std::vector<std::string> names_of_children(const LitDataJson& node, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  const LitDataJson* const context = json_member(node, "context");
  if (!context || !context->is_string()) return names;
  LitDataJson keys = parse_data_json(context->get_ref<const std::string&>());
  if (const LitDataJson* of_default = json_member(keys, "dict_context")) keys = LitDataJson(*of_default);
  if (!keys.is_array() || keys.size() != count) return names;
  for (std::size_t i = 0; i < count; ++i) {
    if (keys[i].is_string()) names[i] = keys[i].get_ref<const std::string&>();
    if (keys[i].is_number()) names[i] = keys[i].dump();
  }
  return names;
}

/// Adds the names of the leaves below a node, in their order.
void add_leaf_names(const LitDataJson& node, const std::string& path, int depth, std::vector<std::string>& names) {
  const LitDataJson* const children = json_member(node, "children_spec");
  if (!children || !children->is_array() || depth > kTreeDepthMax) fail(ErrorKind::kData, "its 'data_spec' is damaged");
  const LitDataJson* const type = json_member(node, "type");
  if (children->empty()) {
    if (!type) names.push_back(path);  // an empty list or dictionary has no leaf
    return;
  }
  if (names.size() + children->size() > kLitDataLeavesMax) {
    fail(ErrorKind::kData, "its samples have more than {} values", kLitDataLeavesMax);
  }
  const std::vector<std::string> own = names_of_children(node, children->size());
  for (std::size_t i = 0; i < children->size(); ++i) {
    add_leaf_names((*children)[i], checked_name(path.empty() ? own[i] : path + "." + own[i]), depth + 1, names);
  }
}

/// Numbers if there is no tree.
std::vector<std::string> leaf_names(const LitDataJson& config, std::size_t count) {
  std::vector<std::string> names;
  if (const LitDataJson* spec = json_member(config, "data_spec")) {
    if (!spec->is_string()) fail(ErrorKind::kData, "its 'data_spec' is not a text");
    const LitDataJson tree = parse_data_json(spec->get_ref<const std::string&>());
    constexpr int kVersion = 1;
    if (!tree.is_array() || tree.size() != 2 || tree[0] != kVersion) {
      fail(ErrorKind::kData, "its 'data_spec' is not one of version {}", kVersion);
    }
    add_leaf_names(tree[1], "", 0, names);
  } else {
    for (std::size_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  }
  if (names.size() != count) {
    fail(ErrorKind::kData, "its 'data_format' has {} serializers, for {} values of 'data_spec'", count, names.size());
  }
  return names;
}

void read_chunks(const LitDataJson& chunks, LitDataList& list) {
  for (const LitDataJson& chunk : chunks) {
    const std::size_t number = list.chunks.size();
    const LitDataJson* const file = json_member(chunk, "filename");
    const LitDataJson* const samples = json_member(chunk, "chunk_size");
    if (!file || !file->is_string() || !samples || !samples->is_number_unsigned()) {
      fail(ErrorKind::kData, "its chunk {} has no 'filename' and 'chunk_size'", number);
    }
    const std::string& path = file->get_ref<const std::string&>();
    if (path.empty() || leads_elsewhere(path) || path.find('\0') != std::string::npos ||
        path.find("://") != std::string::npos) {
      fail(ErrorKind::kData, "its chunk {} is outside of the folder", number);
    }
    list.chunks.push_back({.file = path, .samples = samples->get<std::uint64_t>()});
  }
}

/// What chunks are that Stoker does not read; else empty.
std::string refusal_of(const LitDataJson& config) {
  if (json_member(config, "encryption")) {
    return "their samples are encrypted; litdata's optimize() without 'encryption' writes what Stoker reads";
  }
  const LitDataJson* const loader = json_member(config, "item_loader");
  if (loader && *loader != "PyTreeLoader" && *loader != "TokensLoader") {
    return fmt::format("they are for litdata's {}; Stoker reads those for its PyTreeLoader and TokensLoader",
                       loader->dump());
  }
  return "";
}

void read_leaves(const LitDataJson& config, const LitDataJson& chunks, LitDataList& list) {
  const LitDataJson& formats = *json_member(config, "data_format");
  if (!formats.is_array() || formats.empty() || formats.size() > kLitDataLeavesMax) {
    fail(ErrorKind::kData, "its 'data_format' is not a list of 1 to {} serializers", kLitDataLeavesMax);
  }
  std::vector<std::string> names = leaf_names(config, formats.size());
  for (std::size_t i = 0; i < formats.size(); ++i) {
    if (!formats[i].is_string()) fail(ErrorKind::kData, "its 'data_format' has a value that is not a text");
    list.leaves.push_back(leaf_of(std::move(names[i]), formats[i].get<std::string>()));
  }
  // Tokens: nothing but numbers, counted in 'dim'.
  const bool is_one_array = list.leaves.size() == 1 && list.leaves.front().kind == LitDataKind::kNumbers;
  list.has_sizes = !(is_one_array && !chunks.empty() && json_member(chunks.front(), "dim"));
  const LitDataJson* const level = json_member(config, "compression_level");
  list.is_zstd_by_one = level && *level == "sample";
}

}  // namespace

const LitDataList::Chunk* LitDataList::find(std::string_view name) const {
  const auto found = std::find_if(chunks.begin(), chunks.end(), [&](const Chunk& chunk) {
    const std::string_view file = chunk.file;
    return file.substr(file.find_last_of('/') + 1) == name;
  });
  return found == chunks.end() ? nullptr : &*found;
}

std::string_view litdata_numpy_type(std::uint32_t number) {
  return number < kNumpyTypes.size() ? kNumpyTypes[number] : std::string_view();
}

std::string_view litdata_torch_type(std::uint32_t number) {
  return number < kTorchTypes.size() ? kTorchTypes[number] : std::string_view();
}

std::optional<LitDataList> parse_litdata_list(Bytes json) {
  const LitDataJson list = parse_data_json(as_text(json));
  const LitDataJson* const chunks = json_member(list, "chunks");
  const LitDataJson* const config = json_member(list, "config");
  if (!chunks || !chunks->is_array() || !config || !json_member(*config, "data_format")) return std::nullopt;
  LitDataList read;
  read_chunks(*chunks, read);
  read.refusal = refusal_of(*config);
  if (read.refusal.empty()) read_leaves(*config, *chunks, read);
  return read;
}

std::optional<LitDataList> read_litdata_list(const Stores& stores, const Location& folder) {
  const Location at = folder / kLitDataListName;
  const std::optional<ObjectFacts> facts = stores.find(at);
  if (!facts || !facts->is_file() || facts->size > kLitDataListBytesMax) return std::nullopt;
  std::vector<std::uint8_t> text(facts->size);
  read_fully(*stores.open(at), 0, text);
  try {
    return parse_litdata_list(text);
  } catch (const Error& wrong) {
    fail(ErrorKind::kData, "'{}' cannot be used: {}", at, wrong.message());
  }
}

std::vector<Location> listed_litdata_chunks(const Stores& stores, const Location& folder) {
  const std::optional<LitDataList> list = read_litdata_list(stores, folder);
  std::vector<Location> chunks;
  if (!list) return chunks;
  for (const LitDataList::Chunk& chunk : list->chunks) chunks.push_back(folder / chunk.file);
  stores.expect(chunks);
  for (const Location& chunk : chunks) {
    if (!stores.find(chunk)) {
      fail(ErrorKind::kNotFound, "'{}' is not there, and '{}' lists it", chunk, folder / kLitDataListName);
    }
  }
  return chunks;
}

}  // namespace stoker
