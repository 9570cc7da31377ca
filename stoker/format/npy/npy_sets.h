// The sets of samples in an archive whose arrays have different lengths, such as x_train and y_train beside x_test and
// y_test.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

struct NpySetArray {
  std::string_view name;
  std::uint64_t rows = 0;
  bool has_images = false;
};

struct NpySet {
  std::size_t first = 0;              // the array that it is named after: that of its images, if it has any
  std::vector<std::size_t> arrays{};  // all of it, in the order in which they were given
};

/// The words of a name, but for those that say what its values are in every set: "train" of "x_train" and of
/// "train_labels".
std::set<std::string, std::less<>> npy_set_words(std::string_view name);

/// Arrays of one length are a set. Of several arrays of images with that length each has a set of its own, unless its
/// name has all the words of another's and more; an array without images belongs to those whose words are in its name,
/// or to all of them if there are none.
std::vector<NpySet> npy_sets(const std::vector<NpySetArray>& arrays);

}  // namespace stoker
