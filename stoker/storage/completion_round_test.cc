#include "stoker/storage/completion_round.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

namespace stoker {
namespace {

/// Collects numbers that end, in a chain while a round is open.
struct Owner {
  struct Node {
    int number = 0;
    Node* before = nullptr;
  };
  std::vector<std::vector<int>> finished;

  void end(Node& node) {
    void** const chain = CompletionRound::chain(&Owner::finish, this);
    if (!chain) return finish(this, &node);
    node.before = static_cast<Node*>(std::exchange(*chain, &node));
  }
  static void finish(void* owner, void* chain) noexcept {
    std::vector<int>& numbers = static_cast<Owner*>(owner)->finished.emplace_back();
    for (const Node* node = static_cast<Node*>(chain); node; node = node->before) numbers.push_back(node->number);
  }
};

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CompletionRound, HandsEachOwnerItsChainAsItCloses) {
  Owner one, other;
  Owner::Node a{1}, b{2}, c{3};
  {
    const CompletionRound round;
    one.end(a);
    other.end(b);
    one.end(c);
    EXPECT_THAT(one.finished, IsEmpty());
  }
  EXPECT_THAT(one.finished, ElementsAre(ElementsAre(3, 1)));
  EXPECT_THAT(other.finished, ElementsAre(ElementsAre(2)));
}

TEST(CompletionRound, KeepsNothingWhereNoneIsOpenOrThereIsNoRoom) {
  Owner alone;
  Owner::Node a{1};
  alone.end(a);
  EXPECT_THAT(alone.finished, ElementsAre(ElementsAre(1)));

  std::array<Owner, 9> owners;
  std::array<Owner::Node, 9> nodes;
  const CompletionRound round;
  for (std::size_t i = 0; i < owners.size(); ++i) owners[i].end(nodes[i]);
  EXPECT_THAT(owners.front().finished, IsEmpty());
  EXPECT_THAT(owners.back().finished, ElementsAre(ElementsAre(0)));
}

// Its owner may be gone by then.
TEST(CompletionRound, LeavesAnOwnerAloneThatTookItsChainBack) {
  Owner owner;
  Owner::Node a{1};
  {
    const CompletionRound round;
    owner.end(a);
    *CompletionRound::chain(&Owner::finish, &owner) = nullptr;
  }
  EXPECT_THAT(owner.finished, IsEmpty());
}

TEST(CompletionRound, WithinAnotherIsOfItsOwn) {
  Owner owner;
  Owner::Node a{1}, b{2};
  {
    const CompletionRound outer;
    owner.end(a);
    {
      const CompletionRound inner;
      owner.end(b);
    }
    EXPECT_THAT(owner.finished, ElementsAre(ElementsAre(2)));
  }
  EXPECT_THAT(owner.finished, ElementsAre(ElementsAre(2), ElementsAre(1)));
}

}  // namespace
}  // namespace stoker
