// Words that people write and read for the values of an enumeration.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace stoker {

template <typename Value>
struct Word {
  Value value;
  std::string_view text;
};

/// The word for a value; every value has one.
template <typename Value, std::size_t N>
std::string_view word_of(const Word<Value> (&words)[N], Value value) {
  return std::find_if(words, words + N, [&](const Word<Value>& word) { return word.value == value; })->text;
}

/// Throws kUsage: "'{text}' is {no_such}; use this, that or those".
[[noreturn]] void fail_no_word(std::string_view text, std::string_view no_such,
                               const std::vector<std::string_view>& words);

/// The value that a word stands for. Throws kUsage for others: "'{text}' is {no_such}; use this, that or those".
template <typename Value, std::size_t N>
Value value_of(const Word<Value> (&words)[N], std::string_view text, std::string_view no_such) {
  std::vector<std::string_view> texts;
  for (const Word<Value>& word : words) {
    if (word.text == text) return word.value;
    texts.push_back(word.text);
  }
  fail_no_word(text, no_such, texts);
}

}  // namespace stoker
