#include "stoker/storage/folder_source.h"

#include <gtest/gtest.h>

#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

TEST(FolderSource, ReadsInTurnWhatAnEndedReadStarts) {
  TempFolder folder;
  folder.write("f", "12345");
  struct Chain {
    FolderSource source;
    std::uint8_t byte = 0;
    MutableBytes into{&byte, 1};
    int left = 20'000;  // deep enough to overflow a stack if one read ran inside another
    bool inside = false;
  } chain{.source = FolderSource(folder.path(), std::make_shared<InlineExecutor>())};
  ReadRequest request;
  request.part = "f";
  request.offset = 2;
  request.into = Pieces(&chain.into, 1);
  request.context = &chain;
  request.done = [](ReadRequest& ended) noexcept {
    auto& state = *static_cast<Chain*>(ended.context);
    EXPECT_FALSE(state.inside);
    EXPECT_FALSE(ended.error);
    state.inside = true;
    if (--state.left > 0) state.source.start(ended);
    state.inside = false;
  };
  chain.source.start(request);
  EXPECT_EQ(chain.left, 0);
  EXPECT_EQ(chain.byte, '3');
}

}  // namespace
}  // namespace stoker
