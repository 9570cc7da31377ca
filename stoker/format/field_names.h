// The names of a shard's fields, each kept once: rows have views of them. A file may name one long text for each of its
// values, or put a long name before those of many others; without limits, a file of a megabyte would take gigabytes.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace stoker {

/// More bytes than a name has: of a field, of a column with those that it lies in, or of a dataset. What is longer was
/// made to be long.
inline constexpr std::size_t kNameBytesMax = 4096;

/// The name. Throws kData, as a clause, if it is longer.
std::string checked_name(std::string name);
void check_name(std::string_view name);

/// Threads: one.
class FieldNames {
 public:
  /// As many as an index can have.
  static constexpr std::size_t kNamesMax = 65'535;

  /// The same name, which lives as long as this object. Throws kData, as a clause, for one that check_name() refuses,
  /// and for more than kNamesMax.
  std::string_view keep(std::string_view name);

 private:
  std::set<std::string, std::less<>> names_;
};

}  // namespace stoker
