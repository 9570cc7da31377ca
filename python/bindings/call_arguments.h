// The arguments of a call from Python by name, for functions whose mistakes deserve a sentence: a misspelt or unknown
// name, too many in order, one that is missing.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

namespace stoker::python {

/// How a function may be called: the first `positional` of the names in order too, the others only by name.
struct CallSignature {
  std::string_view function;  // "Loader"
  std::vector<std::string> names;
  std::size_t positional = 0;             // all of these must be given
  std::vector<std::string> torch_only{};  // names that its namesake in stoker.torch has beside these
};

class CallArguments {
 public:
  /// Throws kUsage for a call that the signature does not permit. The signature must outlive this.
  CallArguments(const CallSignature& signature, const nanobind::args& positional, const nanobind::kwargs& named);

  /// The argument, or an invalid handle where it was not given.
  nanobind::handle operator[](std::string_view name) const;
  /// The argument, or an invalid handle where it was not given or is None.
  nanobind::handle unless_none(std::string_view name) const;

 private:
  std::size_t index_of(std::string_view name) const;
  void set(std::string_view name, nanobind::handle value);

  const CallSignature& signature_;
  std::vector<nanobind::object> values_;  // by name; invalid where not given
};

}  // namespace stoker::python
