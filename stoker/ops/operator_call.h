// One operator of a recipe as data: its name and its arguments. Threads: a value; many may read it, one may change it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace stoker {

/// A type of its own: of strings and vectors alone g++ 12 thinks that a variant of them is never without a value, also
/// where copying one threw, and destroys what is not there.
struct Numbers : std::vector<double> {
  using vector::vector;
  Numbers(std::vector<double> numbers) : vector(std::move(numbers)) {}
};

struct OperatorCall;
/// The operators that another operator holds.
struct OperatorCalls : std::vector<OperatorCall> {
  using vector::vector;
};

/// Numbers are doubles throughout (integers up to 2^53 are exact); a list is one of numbers or of
/// operators.
using Value = std::variant<bool, double, std::string, Numbers, OperatorCalls>;

struct OperatorCall {
  std::string name;
  std::vector<std::pair<std::string, Value>> args;

  // After check_call() every argument of the operator is there with its declared type; these cannot fail then.
  double number(std::string_view arg) const { return std::get<double>(value(arg)); }
  int integer(std::string_view arg) const { return static_cast<int>(number(arg)); }
  bool flag(std::string_view arg) const { return std::get<bool>(value(arg)); }
  const std::string& text(std::string_view arg) const { return std::get<std::string>(value(arg)); }
  const std::vector<double>& numbers(std::string_view arg) const { return std::get<Numbers>(value(arg)); }
  const OperatorCalls& operators(std::string_view arg) const { return std::get<OperatorCalls>(value(arg)); }

  friend bool operator==(const OperatorCall&, const OperatorCall&) = default;

 private:
  const Value& value(std::string_view arg) const;
};

/// "resize(size=[256, 256], filter='bilinear')".
std::string to_string(const OperatorCall& call);
/// A value as recipes write it: true, 0.5, 'text', [1, 2], [flip(), pad(padding=[2])].
std::string to_string(const Value& value);

}  // namespace stoker
