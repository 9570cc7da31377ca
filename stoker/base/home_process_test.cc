#include "stoker/base/home_process.h"

#include <gtest/gtest.h>

#include <memory>

#include "stoker/base/child_testing.h"

namespace stoker {
namespace {

TEST(HomeProcess, IsThatWhichMadeTheObject) {
  const HomeProcess home;
  EXPECT_TRUE(home.here());
  EXPECT_EQ(status_in_child([&] { return home.here() ? 1 : 0; }), 0);
  EXPECT_TRUE(home.here());
}

TEST(HomeProcess, OfAChildIsTheChild) {
  const HomeProcess parent;
  const auto in_child = [&] {
    const HomeProcess child;
    if (!child.here() || parent.here()) return 1;
    const auto in_grandchild = [&] { return child.here() || parent.here() || !HomeProcess().here() ? 1 : 0; };
    return status_in_child(in_grandchild) == 0 && child.here() ? 0 : 2;
  };
  EXPECT_EQ(status_in_child(in_child), 0);
}

TEST(MakeSharedAtHome, DestroysNothingInAChild) {
  struct Told {
    ~Told() { *destroyed = true; }
    bool* destroyed;
  };
  bool destroyed = false;
  auto object = make_shared_at_home<Told>(&destroyed);
  const auto in_child = [&] {
    object.reset();
    return destroyed ? 1 : 0;
  };
  EXPECT_EQ(status_in_child(in_child), 0);
  object.reset();
  EXPECT_TRUE(destroyed);
}

}  // namespace
}  // namespace stoker
