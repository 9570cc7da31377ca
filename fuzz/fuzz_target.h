// What is fuzzed: one target per parser of bytes that a stranger may have written. Each stands in a file of its own in
// targets/ and announces itself; libfuzzer.cc feeds it new inputs, replay.cc those that are kept in corpus/NAME.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/base/error.h"

namespace stoker {

struct FuzzTarget {
  std::string_view name;
  /// Parses the input, which may be anything, and aborts where what came out breaks a promise. An exception that gets
  /// out is a finding, too.
  void (*run)(Bytes input);
  /// Makes the checksums in an input right, so that a changed one gets past them; null where the format has none.
  void (*repair)(std::vector<std::uint8_t>& input) = nullptr;
  /// Where a run takes long: at how many places of an input a quick replay damages it. All by default.
  std::size_t places_max = SIZE_MAX;
};

/// The targets that were linked, by name.
std::span<const FuzzTarget> fuzz_targets();

/// One of these per target, at namespace scope.
struct AnnounceFuzzTarget {
  explicit AnnounceFuzzTarget(const FuzzTarget& target);
};

/// Says what does not hold and aborts, in every kind of build.
void require_that(bool holds, std::string_view what);

/// Whether the action went through. It may refuse its input with an Error of these kinds, and in no other way.
template <typename Action>
bool accepts(std::initializer_list<ErrorKind> refusals, Action action) {
  try {
    action();
    return true;
  } catch (const Error& error) {
    bool expected = false;
    for (const ErrorKind kind : refusals) expected = expected || error.kind() == kind;
    require_that(expected && !error.message().empty(), error.message());
    return false;
  }
}

}  // namespace stoker
