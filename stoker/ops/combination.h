// Operators that hold operators: random_apply, random_choice, random_order, sequence. A combination says which of its
// members run, and in which order; the members' family says what running them means (make_geometry_operator,
// make_picture_operator).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "stoker/base/random.h"
#include "stoker/ops/operator_call.h"

namespace stoker {

class GeometryOperator;
class PictureOperator;

/// The argument that holds a combination's operators.
inline constexpr std::string_view kCombinedOperators = "operators";

class Combination {
 public:
  enum class Kind : std::uint8_t { kSequence, kApply, kChoice, kOrder };
  static constexpr std::size_t kMembersMax = 31;

  /// `p` is the probability that all run (kApply), or by member that it is the one that runs, in any unit (kChoice).
  /// `of_batch`: what runs is drawn once for all samples of a batch.
  Combination(Kind kind, const OperatorCalls& members, std::vector<double> p, bool of_batch = false);

  Kind kind() const { return kind_; }
  bool is_of_batch() const { return of_batch_; }

  /// Which members run, in order.
  class Drawn {
   public:
    std::span<const std::uint8_t> members() const { return {members_.data(), count_}; }

   private:
    friend Combination;
    std::array<std::uint8_t, kMembersMax> members_;
    std::size_t count_ = 0;
  };
  Drawn draw(Random& random) const;

  /// The random numbers of a member, where `random` has those of the combination. They depend on the member's name and
  /// its occurrence among the members: adding others changes nothing for it.
  Random random_of(const Random& random, std::size_t member) const { return random.branch(streams_[member]); }

 private:
  Kind kind_;
  bool of_batch_;
  std::vector<double> p_;
  std::vector<std::uint64_t> streams_;  // by member
};

// One maker per operator, for the operator table; they throw kUsage for arguments that contradict each other.
Combination combine_sequence(const OperatorCall& call);
Combination combine_random_apply(const OperatorCall& call);
Combination combine_random_choice(const OperatorCall& call);
Combination combine_random_order(const OperatorCall& call);

/// The operator of a checked call of the family: a row's own, or a combination of such.
std::unique_ptr<GeometryOperator> make_geometry_operator(const OperatorCall& call);
std::unique_ptr<PictureOperator> make_picture_operator(const OperatorCall& call);

}  // namespace stoker
