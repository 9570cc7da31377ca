// The values of a tf.train.Example or tf.train.SequenceExample, located in its bytes. Both are maps from names to lists
// of values; the second has lists of such lists, too, one for each step of a sequence:
//
//   Example         { Features features = 1; }
//   SequenceExample { Features context = 1; FeatureLists feature_lists = 2; }
//   Features        { map<string, Feature> feature = 1; }
//   FeatureLists    { map<string, FeatureList> feature_list = 1; }
//   FeatureList     { repeated Feature feature = 1; }
//   Feature         { oneof { BytesList bytes_list = 1; FloatList float_list = 2; Int64List int64_list = 3; } }
//   BytesList       { repeated bytes value = 1; }
//   FloatList       { repeated float value = 1 [packed]; }
//   Int64List       { repeated int64 value = 1 [packed]; }
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "stoker/base/bytes.h"

namespace stoker {

enum class FeatureKind : std::uint8_t { kNone, kBytes, kFloats, kIntegers };

/// One list of values.
struct ExampleFeature {
  std::string_view name;
  std::optional<std::uint32_t> step{};  // of a feature list
  FeatureKind kind = FeatureKind::kNone;
  std::uint64_t count = 0;  // of values; of floats and integers those that lie in `packed`
  // Of kBytes: the first of its values in Example::values(). Those beyond kValuesMax are only counted.
  std::size_t first_value = 0;
  Bytes packed{};                         // of floats and integers: their bytes, if all of them lie together
  std::optional<std::int64_t> integer{};  // of integers: the value, if there is one
  std::size_t entry = 0;                  // of its map that it lies in; of two, that of the later one is larger
  bool is_replaced = false;               // by a later entry; while it is parsed
};

/// Used again and again, so that parsing allocates nothing in the steady state. Threads: one.
class Example {
 public:
  static constexpr std::size_t kFeaturesMax = 4096;
  static constexpr std::uint64_t kValuesMax = 256;  // of a feature

  /// Replaces what it held. Of a map's entries with one key the last counts. What it shows are parts of `message`.
  /// Throws kData, as a clause that says what is wrong, for bytes that are neither message, have more than kFeaturesMax
  /// features, or one whose name check_name() refuses.
  void parse(Bytes message);

  const std::vector<ExampleFeature>& features() const { return features_; }
  const std::vector<Bytes>& values() const { return values_; }
  /// A feature's value, of those kept.
  Bytes value(const ExampleFeature& feature, std::size_t i) const { return values_[feature.first_value + i]; }

 private:
  void parse_features(Bytes map);
  void parse_feature_lists(Bytes map);
  void drop_replaced_entries();
  void parse_feature(Bytes feature, std::string_view name, std::optional<std::uint32_t> step);
  void parse_bytes(Bytes list, ExampleFeature& into);

  std::vector<ExampleFeature> features_;
  std::vector<Bytes> values_;
  std::vector<std::size_t> by_key_;  // scratch
};

}  // namespace stoker
