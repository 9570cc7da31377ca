// Combinations of geometry operators: the members that are drawn change the sampling map one after another, so that
// they still cost one resampling.
#include <algorithm>
#include <optional>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/ops/operator_table.h"

namespace stoker {
namespace {

using Padding = GeometryOperator::Padding;

class GeometryCombination final : public GeometryOperator {
 public:
  explicit GeometryCombination(const OperatorCall& call)
      : combination_(std::get<CombinationFunction>(find_operator(call.name).function)(call)) {
    for (const OperatorCall& member : call.operators(kCombinedOperators)) {
      members_.push_back(make_geometry_operator(member));
      if (!members_.back()->batch_choice().members.empty()) {
        fail(ErrorKind::kUsage, "random_choice with mode='batch' cannot stand within another operator");
      }
    }
    padding_ = padding_of_all();
  }

  void apply(Random& random, SamplingMap& map) const override {
    apply_to(ImageSize{map.width(), map.height()}, random, map);
  }

  void apply_to(const SeenImage& image, Random& random, SamplingMap& map) const override {
    const Combination::Drawn drawn = combination_.draw(random);
    for (const std::uint8_t member : drawn.members()) {
      Random own = combination_.random_of(random, member);
      members_[member]->apply_to(image, own, map);
    }
  }

  bool looks_at_boxes() const override {
    return std::any_of(members_.begin(), members_.end(), [](const auto& member) { return member->looks_at_boxes(); });
  }

  Padding padding() const override { return padding_; }

  // A member that cannot follow what is surely there is refused, however seldom it is drawn. What some draws leave
  // otherwise is not sure.
  void follow_padding(std::optional<PaddingColor>& color) const override {
    const std::optional<PaddingColor> before = color;
    const bool in_turn = combination_.kind() != Combination::Kind::kChoice;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      std::optional<PaddingColor> own = in_turn ? color : before;
      members_[i]->follow_padding(own);
      color = in_turn || i == 0 || own == color ? own : std::nullopt;
    }
    const bool is_sure = combination_.kind() == Combination::Kind::kSequence || !in_turn;
    if (!is_sure && color != before) color.reset();
  }

  GeometryChoice batch_choice() const override {
    if (!combination_.is_of_batch()) return {};
    return {&combination_, members_};
  }

  std::optional<ImageSize> output_size(std::optional<ImageSize> input) const override {
    switch (combination_.kind()) {
      case Combination::Kind::kSequence: return size_after_all(input);
      case Combination::Kind::kApply: return size_after_all(input) == input ? input : std::nullopt;
      case Combination::Kind::kChoice: return size_after_any(input);
      case Combination::Kind::kOrder: break;
    }
    return size_in_any_order(input);
  }

 private:
  using Size = std::optional<ImageSize>;

  bool any(Padding wanted) const {
    return std::any_of(members_.begin(), members_.end(), [=](const auto& m) { return m->padding() == wanted; });
  }

  // After a chance, padding counts as added if it may have been, and as cut off only if it surely was.
  Padding padding_of_all() const {
    switch (combination_.kind()) {
      case Combination::Kind::kSequence: return padding_in_turn();
      case Combination::Kind::kApply: {
        const Padding padding = padding_in_turn();
        return padding == Padding::kMayCutOff ? Padding::kKeeps : padding;
      }
      case Combination::Kind::kChoice:
        for (const Padding padding :
             {Padding::kAddsButCannotBear, Padding::kCannotBear, Padding::kAdds, Padding::kKeeps}) {
          if (any(padding)) return padding;
        }
        return Padding::kMayCutOff;
      case Combination::Kind::kOrder: break;
    }
    if (may_resize_padding()) fail(ErrorKind::kUsage, "{}", kPaddingResized);
    for (const Padding padding :
         {Padding::kAddsButCannotBear, Padding::kCannotBear, Padding::kAdds, Padding::kMayCutOff}) {
      if (any(padding)) return padding;
    }
    return Padding::kKeeps;
  }

  // Whether in some order a member that resizes follows one that pads.
  bool may_resize_padding() const {
    for (const auto& first : members_) {
      for (const auto& second : members_) {
        if (first != second && adds(first->padding()) && !bears(second->padding())) return true;
      }
    }
    return false;
  }

  Padding padding_in_turn() const {
    bool kept = true;    // what was there before
    bool added = false;  // by a member after which none crops
    bool bears_all = true;
    for (const auto& member : members_) {
      const Padding padding = member->padding();
      if (!bears(padding)) {
        if (added) fail(ErrorKind::kUsage, "{}", kPaddingResized);
        bears_all = bears_all && !kept;
      }
      if (padding != Padding::kKeeps) added = adds(padding);
      if (padding == Padding::kMayCutOff) kept = false;
    }
    if (!bears_all) return added ? Padding::kAddsButCannotBear : Padding::kCannotBear;
    if (added) return Padding::kAdds;
    return kept ? Padding::kKeeps : Padding::kMayCutOff;
  }

  Size size_after_all(Size size) const {
    for (const auto& member : members_) size = member->output_size(size);
    return size;
  }

  Size size_after_any(Size input) const {
    const Size first = members_.front()->output_size(input);
    const bool same =
        std::all_of(members_.begin(), members_.end(), [&](const auto& m) { return m->output_size(input) == first; });
    return same ? first : std::nullopt;
  }

  // The same in every order if each member either makes that size of any image or keeps it.
  Size size_in_any_order(Size input) const {
    Size result = input;
    for (const auto& member : members_) {
      if (const Size made = member->output_size(std::nullopt)) result = made;
    }
    const bool kept =
        std::all_of(members_.begin(), members_.end(), [&](const auto& m) { return m->output_size(result) == result; });
    return kept ? result : std::nullopt;
  }

  Combination combination_;
  std::vector<std::unique_ptr<GeometryOperator>> members_;
  Padding padding_;
};

}  // namespace

std::unique_ptr<GeometryOperator> make_geometry_operator(const OperatorCall& call) {
  const OperatorSpec& spec = find_operator(call.name);
  if (const auto* make = std::get_if<GeometryFunction>(&spec.function)) return (*make)(call);
  return std::make_unique<GeometryCombination>(call);
}

}  // namespace stoker
