// Describes one sample for people: what its fields hold, as far as that can be told, and where they lie.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/codec/image_decoder.h"
#include "stoker/format/sample_row.h"
#include "stoker/storage/stores.h"

namespace stoker {

enum class FieldKind { kImage, kJson, kText, kNumbers, kBytes };

/// "image", "json", "text", "numbers", "bytes".
std::string_view to_string(FieldKind kind);

struct FieldDescription {
  std::string name;
  FieldKind kind = FieldKind::kBytes;
  std::uint64_t bytes = 0;
  std::string place;                      // the file: the shard, or a folder's file
  std::optional<std::uint64_t> offset{};  // there; unset for what is decompressed, or put together of several ranges
  std::optional<ImageFacts> image{};
  // Its beginning, in one line without control characters: text, numbers, or bytes in hexadecimal.
  std::string shown;
  bool is_shortened = false;
};

struct SampleDescription {
  std::int64_t number = 0;
  std::string key;
  std::int64_t label = -1;  // -1: unknown
  std::string class_name;   // empty: not known
  std::string image;        // the field that is its image; empty without one
  std::vector<FieldDescription> fields;
};

/// Of a row whose source is `shard`. Reads its fields, up to some MiB of each. Throws what reading throws.
SampleDescription describe_sample(const SampleRow& row, const Location& shard, const Stores& stores,
                                  const DecodeLimits& limits);

}  // namespace stoker
