#include "stoker/ops/combination.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <numeric>
#include <utility>

#include "stoker/base/distributions.h"
#include "stoker/base/error.h"

namespace stoker {

Combination::Combination(Kind kind, const OperatorCalls& members, std::vector<double> p, bool of_batch)
    : kind_(kind), of_batch_(of_batch), p_(std::move(p)) {
  assert(!members.empty() && members.size() <= kMembersMax);
  std::map<std::string_view, int> occurrences;
  for (const OperatorCall& member : members) {
    streams_.push_back(random_stream("", member.name, occurrences[member.name]++));
  }
}

Combination::Drawn Combination::draw(Random& random) const {
  Drawn drawn;
  const auto all = [&] {
    drawn.count_ = streams_.size();
    std::iota(drawn.members_.begin(), drawn.members_.begin() + static_cast<std::ptrdiff_t>(drawn.count_),
              std::uint8_t{0});
  };
  switch (kind_) {
    case Kind::kSequence: all(); break;
    case Kind::kApply:
      if (random.uniform() < p_.front()) all();
      break;
    case Kind::kChoice:
      drawn.count_ = 1;
      drawn.members_[0] = static_cast<std::uint8_t>(draw_place(random, p_));
      break;
    case Kind::kOrder:
      all();
      for (std::size_t i = drawn.count_ - 1; i > 0; --i) {
        std::swap(drawn.members_[i], drawn.members_[random.below(i + 1)]);
      }
      break;
  }
  return drawn;
}

Combination combine_sequence(const OperatorCall& call) {
  return {Combination::Kind::kSequence, call.operators(kCombinedOperators), {}};
}

Combination combine_random_apply(const OperatorCall& call) {
  return {Combination::Kind::kApply, call.operators(kCombinedOperators), {call.number("p")}};
}

Combination combine_random_choice(const OperatorCall& call) {
  const OperatorCalls& members = call.operators(kCombinedOperators);
  std::vector<double> p = call.numbers("p");
  if (p.empty()) p.assign(members.size(), 1);
  if (p.size() != members.size()) {
    fail(ErrorKind::kUsage, "random_choice: p has {} numbers for {} operators: it must have one for each", p.size(),
         members.size());
  }
  if (std::all_of(p.begin(), p.end(), [](double weight) { return weight == 0; })) {
    fail(ErrorKind::kUsage, "random_choice: p is 0 for every operator, so none can be chosen");
  }
  return {Combination::Kind::kChoice, members, std::move(p), call.text("mode") == "batch"};
}

Combination combine_random_order(const OperatorCall& call) {
  return {Combination::Kind::kOrder, call.operators(kCombinedOperators), {}};
}

}  // namespace stoker
