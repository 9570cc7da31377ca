// LitData chunks and their index.json for tests, as the published layout has them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stoker {

/// A name and a serializer: {"image", "jpeg"}.
using LitDataTestLeaf = std::pair<std::string, std::string>;

/// A sample of values: their sizes, then they.
std::string litdata_item(const std::vector<std::string>& values);

std::string litdata_chunk(const std::vector<std::string>& items);
/// The items compressed, so many at a time.
std::string litdata_chunk_of_frames(const std::vector<std::string>& items, std::size_t items_in_frame);

/// The items compressed, each by itself.
std::string litdata_chunk_by_one(const std::vector<std::string>& items);
/// A table of Arrow in the place of so many items.
std::string litdata_chunk_of_table(std::size_t items, const std::string& table);

/// The description of dictionaries with these leaves. `chunks`: names and numbers of samples. `more`: further JSON in
/// its "config".
std::string litdata_list(const std::vector<LitDataTestLeaf>& leaves,
                         const std::vector<std::pair<std::string, std::size_t>>& chunks,
                         const std::string& more = "\"item_loader\": \"PyTreeLoader\"");

/// Numbers as values: little-endian.
std::string litdata_int(std::int64_t number);
std::string litdata_u32s(const std::vector<std::uint32_t>& numbers);

}  // namespace stoker
