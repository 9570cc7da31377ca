// RecordIO made byte by byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

/// One part of a record, of a kind that may be anything.
std::string recordio_part(std::uint32_t kind, std::string_view data);

/// A record, split where its bytes hold the magic number at a multiple of 4: as MXNet's writer does it.
std::string recordio_record(std::string_view data);

/// The header of an image and its bytes. One label is stored in the header, several follow it.
std::string recordio_image(const std::vector<float>& labels, std::uint64_t id, std::string_view image);

}  // namespace stoker
