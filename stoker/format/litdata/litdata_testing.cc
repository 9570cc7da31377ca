#include "stoker/format/litdata/litdata_testing.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "stoker/base/bytes.h"
#include "stoker/base/little_endian.h"
#include "stoker/storage/block_testing.h"

namespace stoker {
namespace {

template <typename Integer>
void append(std::string& bytes, Integer number) {
  std::vector<std::uint8_t> added;
  append_little_endian(added, number);
  bytes += as_text(added);
}

void append_ends(std::string& bytes, std::uint32_t begin, const std::vector<std::string>& items) {
  append(bytes, begin);
  for (const std::string& item : items) append(bytes, begin += static_cast<std::uint32_t>(item.size()));
}

}  // namespace

std::string litdata_int(std::int64_t number) {
  std::string bytes;
  append(bytes, number);
  return bytes;
}

std::string litdata_u32s(const std::vector<std::uint32_t>& numbers) {
  std::string bytes;
  for (const std::uint32_t number : numbers) append(bytes, number);
  return bytes;
}

std::string litdata_item(const std::vector<std::string>& values) {
  std::string item;
  for (const std::string& value : values) append(item, static_cast<std::uint32_t>(value.size()));
  for (const std::string& value : values) item += value;
  return item;
}

std::string litdata_chunk(const std::vector<std::string>& items) {
  std::string chunk;
  const auto count = static_cast<std::uint32_t>(items.size());
  append(chunk, count);
  append_ends(chunk, 4 + 4 * (count + 1), items);
  for (const std::string& item : items) chunk += item;
  return chunk;
}

std::string litdata_chunk_of_frames(const std::vector<std::string>& items, std::size_t items_in_frame) {
  const std::size_t frames = (items.size() + items_in_frame - 1) / items_in_frame;
  std::string chunk("LDFZ01\0\0\1\0\0\0", 12);
  chunk += litdata_u32s({static_cast<std::uint32_t>(items.size()), static_cast<std::uint32_t>(items_in_frame),
                         static_cast<std::uint32_t>(frames)});
  append_ends(chunk, 0, items);
  std::string stored;
  const std::size_t stored_at = chunk.size() + 24 * frames;
  for (std::size_t first = 0; first < items.size(); first += items_in_frame) {
    const std::size_t count = std::min(items_in_frame, items.size() - first);
    std::string content;
    for (std::size_t i = 0; i < count; ++i) content += items[first + i];
    const std::string frame(as_text(compressed_by_zstd(as_bytes(content))));
    chunk += litdata_u32s({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(count)});
    append(chunk, std::uint64_t{stored_at + stored.size()});
    chunk += litdata_u32s({static_cast<std::uint32_t>(frame.size()), static_cast<std::uint32_t>(content.size())});
    stored += frame;
  }
  return chunk + stored;
}

std::string litdata_chunk_by_one(const std::vector<std::string>& items) {
  std::vector<std::string> stored;
  for (const std::string& item : items) stored.emplace_back(as_text(compressed_by_zstd(as_bytes(item))));
  return litdata_chunk(stored);
}

std::string litdata_chunk_of_table(std::size_t items, const std::string& table) {
  return litdata_chunk(std::vector<std::string>(items)) + table +
         litdata_u32s({static_cast<std::uint32_t>(table.size())}) + std::string("LDARW01\0", 8);
}

std::string litdata_list(const std::vector<LitDataTestLeaf>& leaves,
                         const std::vector<std::pair<std::string, std::size_t>>& chunks, const std::string& more) {
  using Json = nlohmann::json;
  Json names = Json::array(), formats = Json::array(), children = Json::array(), listed = Json::array();
  for (const auto& [name, serializer] : leaves) {
    names.push_back(name);
    formats.push_back(serializer);
    children.push_back({{"type", nullptr}, {"context", nullptr}, {"children_spec", Json::array()}});
  }
  for (const auto& [file, samples] : chunks) {
    listed.push_back({{"filename", file}, {"chunk_size", samples}, {"chunk_bytes", 0}, {"dim", nullptr}});
  }
  const Json tree = {1, {{"type", "builtins.dict"}, {"context", names.dump()}, {"children_spec", children}}};
  return fmt::format(R"({{"chunks": {}, "config": {{"data_format": {}, "data_spec": {}, {}}}}})", listed.dump(),
                     formats.dump(), Json(tree.dump()).dump(), more);
}

}  // namespace stoker
