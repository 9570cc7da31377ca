// What the samples of a pack have, as far as their rows tell before the first of them is written: by it formats whose
// shards all have the same columns choose them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/format/sample_row.h"

namespace stoker {

/// Threads: a value.
class PackContents {
 public:
  /// Of a field.
  struct Occurrence {
    std::int64_t samples = 0;     // that have it
    std::string first_without{};  // the first sample that lacks it, for messages; empty if all have it
  };

  PackContents() = default;
  /// As it was told elsewhere; without names of samples.
  PackContents(std::int64_t samples, std::set<std::string, std::less<>> images,
               std::map<std::string, Occurrence, std::less<>> others, bool has_labels)
      : samples_(samples), images_(std::move(images)), others_(std::move(others)), has_labels_(has_labels) {}

  /// In the order of the samples.
  void add(const SampleRow& row);

  std::int64_t samples() const { return samples_; }
  /// Names of samples' images.
  const std::set<std::string, std::less<>>& images() const { return images_; }
  /// The first sample without an image, for messages; empty if all have one.
  const std::string& first_without_image() const { return first_without_image_; }
  /// All images will have this name.
  void rename_images(std::string_view name) {
    if (!images_.empty()) images_ = {std::string(name)};
  }
  /// By name, fields that are neither the image nor the class number.
  const std::map<std::string, Occurrence, std::less<>>& others() const { return others_; }
  bool has_labels() const { return has_labels_; }

  std::vector<std::string> classes{};  // names by label; empty where there are none

 private:
  std::int64_t samples_ = 0;
  std::set<std::string, std::less<>> images_;
  std::map<std::string, Occurrence, std::less<>> others_;
  std::string first_sample_, first_without_image_;
  bool has_labels_ = false;
};

/// Whether the field has nothing but the row's label, or that there is none.
bool is_class_number(const SampleRow& row, const SampleField& field);

}  // namespace stoker
