#include "stoker/format/npy/npy_sets.h"

#include <algorithm>
#include <array>
#include <map>

#include "stoker/format/member_name.h"

namespace stoker {
namespace {

using namespace std::string_view_literals;
using NpyWords = std::set<std::string, std::less<>>;

constexpr std::array kRoleWords = {"x"sv,     "y"sv,      "image"sv,  "images"sv,  "img"sv, "imgs"sv, "data"sv,
                                   "label"sv, "labels"sv, "target"sv, "targets"sv, "cls"sv, "class"sv};

bool includes_words(const NpyWords& all, const NpyWords& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

/// The arrays after which the sets of one length are named.
std::vector<std::size_t> first_arrays(const std::vector<NpySetArray>& arrays, const std::vector<std::size_t>& same,
                                      const std::vector<NpyWords>& words) {
  std::vector<std::size_t> firsts;
  for (const std::size_t one : same) {
    if (!arrays[one].has_images) continue;
    const bool is_of_another = std::any_of(same.begin(), same.end(), [&](std::size_t other) {
      if (other == one || !arrays[other].has_images || !includes_words(words[one], words[other])) return false;
      return words[one] != words[other] || other < one;
    });
    if (!is_of_another) firsts.push_back(one);
  }
  return firsts.empty() ? std::vector{same.front()} : firsts;
}

}  // namespace

std::set<std::string, std::less<>> npy_set_words(std::string_view name) {
  std::string lower;
  assign_lower_case(lower, name);
  NpyWords words;
  for (std::size_t begin = 0; begin < lower.size();) {
    const std::size_t end = std::min(lower.find_first_of("_-./ ", begin), lower.size());
    const std::string word = lower.substr(begin, end - begin);
    if (!word.empty() && std::find(kRoleWords.begin(), kRoleWords.end(), word) == kRoleWords.end()) words.insert(word);
    begin = end + 1;
  }
  return words;
}

std::vector<NpySet> npy_sets(const std::vector<NpySetArray>& arrays) {
  std::map<std::uint64_t, std::vector<std::size_t>> by_rows;
  std::vector<NpyWords> words;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    by_rows[arrays[i].rows].push_back(i);
    words.push_back(npy_set_words(arrays[i].name));
  }
  std::vector<NpySet> sets;
  for (const auto& [rows, same] : by_rows) {
    const std::size_t before = sets.size();
    for (const std::size_t first : first_arrays(arrays, same, words)) sets.push_back({.first = first});
    for (const std::size_t one : same) {
      const auto takes = [&](const NpySet& set) {
        const bool is_first_of_another =
            one != set.first &&
            std::any_of(sets.begin(), sets.end(), [&](const auto& other) { return other.first == one; });
        return !is_first_of_another && includes_words(words[one], words[set.first]);
      };
      const auto begin = sets.begin() + static_cast<std::ptrdiff_t>(before);
      const bool is_of_all = std::none_of(begin, sets.end(), takes);
      for (auto set = begin; set != sets.end(); ++set) {
        if (is_of_all || takes(*set)) set->arrays.push_back(one);
      }
    }
  }
  std::sort(sets.begin(), sets.end(), [](const NpySet& a, const NpySet& b) { return a.first < b.first; });
  return sets;
}

}  // namespace stoker
