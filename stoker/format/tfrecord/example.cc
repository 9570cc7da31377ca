#include "stoker/format/tfrecord/example.h"

#include <algorithm>
#include <numeric>
#include <protozero/pbf_reader.hpp>

#include "stoker/base/error.h"
#include "stoker/format/field_names.h"

namespace stoker {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

pbf_reader reader_of(Bytes message) {
  const std::string_view text = as_text(message);
  return pbf_reader(text.data(), text.size());
}

Bytes bytes_of(const protozero::data_view& view) { return as_bytes({view.data(), view.size()}); }

/// Field `number` of a message, each time that it occurs as bytes; others are passed over.
template <typename Take>
void for_each_part(Bytes message, std::uint32_t number, const Take& take) {
  pbf_reader reader = reader_of(message);
  while (reader.next(number, pbf_wire_type::length_delimited)) take(bytes_of(reader.get_view()));
}

struct MapEntry {
  std::string_view key;
  Bytes value;
};

MapEntry read_map_entry(Bytes message) {
  MapEntry entry;
  pbf_reader reader = reader_of(message);
  while (reader.next()) {
    const std::uint32_t tag = reader.tag();  // which reading the value may reset
    if (reader.wire_type() == pbf_wire_type::length_delimited && tag <= 2) {
      const Bytes bytes = bytes_of(reader.get_view());
      if (tag == 1) {
        entry.key = as_text(bytes);
      } else {
        entry.value = bytes;
      }
    } else {
      reader.skip();
    }
  }
  return entry;
}

/// Writers pack the values of a list into one run of bytes; some do not, and then only a single one lies together.
void parse_numbers(Bytes list, ExampleFeature& into) {
  const bool floats = into.kind == FeatureKind::kFloats;
  pbf_reader reader = reader_of(list);
  int runs = 0;
  std::int64_t last = 0;
  while (reader.next()) {
    const bool packed = reader.wire_type() == pbf_wire_type::length_delimited;
    const bool single = reader.wire_type() == (floats ? pbf_wire_type::fixed32 : pbf_wire_type::varint);
    if (reader.tag() != 1 || (!packed && !single)) {
      reader.skip();
      continue;
    }
    ++runs;
    if (packed && floats) {
      into.packed = bytes_of(reader.get_view());
      if (into.packed.size() % sizeof(float) != 0) throw protozero::invalid_length_exception();
      into.count += into.packed.size() / sizeof(float);
    } else if (packed) {
      into.packed = bytes_of(reader.get_view());
      const char* at = as_text(into.packed).data();
      for (const char* const end = at + into.packed.size(); at != end; ++into.count) {
        last = static_cast<std::int64_t>(protozero::decode_varint(&at, end));
      }
    } else {
      const char* const begin = reader.data().data();
      reader.skip();
      const auto length = static_cast<std::size_t>(reader.data().data() - begin);
      into.packed = as_bytes({begin, length});
      if (!floats) {
        const char* at = begin;
        last = static_cast<std::int64_t>(protozero::decode_varint(&at, begin + length));
      }
      ++into.count;
    }
  }
  if (runs > 1) into.packed = {};
  if (!floats && into.count == 1) into.integer = last;
}

}  // namespace

void Example::parse(Bytes message) {
  features_.clear();
  values_.clear();
  try {
    for_each_part(message, 1, [&](Bytes features) { parse_features(features); });
    for_each_part(message, 2, [&](Bytes lists) { parse_feature_lists(lists); });
    drop_replaced_entries();
  } catch (const protozero::exception&) {
    fail(ErrorKind::kData, "it is not a tf.train.Example or tf.train.SequenceExample");
  }
}

void Example::parse_features(Bytes map) {
  for_each_part(map, 1, [&](Bytes bytes) {
    const MapEntry entry = read_map_entry(bytes);
    parse_feature(entry.value, entry.key, std::nullopt);
  });
}

void Example::parse_feature_lists(Bytes map) {
  for_each_part(map, 1, [&](Bytes bytes) {
    const MapEntry entry = read_map_entry(bytes);
    const std::size_t first = features_.size();
    std::uint32_t step = 0;
    for_each_part(entry.value, 1, [&](Bytes feature) {
      parse_feature(feature, entry.key, step++);
      features_.back().entry = first;
    });
  });
}

void Example::drop_replaced_entries() {
  const auto key = [&](std::size_t i) { return std::pair(features_[i].name, features_[i].step.has_value()); };
  by_key_.resize(features_.size());
  std::iota(by_key_.begin(), by_key_.end(), std::size_t{0});
  std::sort(by_key_.begin(), by_key_.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(key(a), features_[a].entry) < std::pair(key(b), features_[b].entry);
  });
  bool is_any_replaced = false;
  for (std::size_t i = by_key_.size(); i-- > 1;) {
    ExampleFeature& earlier = features_[by_key_[i - 1]];
    const std::size_t last = features_[by_key_[i]].entry;
    if (key(by_key_[i - 1]) != key(by_key_[i]) || earlier.entry == last) continue;
    earlier.entry = last;  // by which those before it are known to be replaced, too
    earlier.is_replaced = is_any_replaced = true;
  }
  if (is_any_replaced) std::erase_if(features_, [](const ExampleFeature& feature) { return feature.is_replaced; });
}

void Example::parse_feature(Bytes feature, std::string_view name, std::optional<std::uint32_t> step) {
  if (features_.size() == kFeaturesMax) fail(ErrorKind::kData, "it has more than {} features", kFeaturesMax);
  check_name(name);
  ExampleFeature& into = features_.emplace_back(ExampleFeature{.name = name, .step = step, .entry = features_.size()});
  pbf_reader reader = reader_of(feature);
  while (reader.next()) {
    if (reader.wire_type() != pbf_wire_type::length_delimited || reader.tag() > 3) {
      reader.skip();
      continue;
    }
    const auto kind = static_cast<FeatureKind>(reader.tag());
    if (into.kind != FeatureKind::kNone) throw protozero::invalid_tag_exception();  // one list, of one kind
    into.kind = kind;
    const Bytes list = bytes_of(reader.get_view());
    if (kind == FeatureKind::kBytes) {
      parse_bytes(list, into);
    } else {
      parse_numbers(list, into);
    }
  }
}

void Example::parse_bytes(Bytes list, ExampleFeature& into) {
  into.first_value = values_.size();
  for_each_part(list, 1, [&](Bytes value) {
    if (into.count++ < kValuesMax) values_.push_back(value);
  });
}

}  // namespace stoker
