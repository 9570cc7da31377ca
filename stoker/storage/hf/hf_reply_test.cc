#include "stoker/storage/hf/hf_reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(HfTree, ListsFilesWithTheSizeOfTheirContent) {
  const std::vector<HfEntry> entries = parse_hf_tree(R"([
    {"type": "directory", "oid": "aa", "size": 0, "path": "train/more"},
    {"type": "file", "oid": "bb", "size": 17, "path": "train/README.md"},
    {"type": "file", "oid": "cc", "size": 134, "path": "train/a.tar", "xetHash": "ee",
     "lfs": {"oid": "dd", "size": 5000000000, "pointerSize": 134}},
    {"type": "file", "lfs": null, "path": "train/b", "size": 0, "oid": "ff", "new": [{"path": "x"}, {"size": 3}]},
    {"type": "submodule", "path": "train/other"}])");
  EXPECT_THAT(entries,
              ElementsAre(HfEntry{"train/more", true, 0, ""}, HfEntry{"train/README.md", false, 17, "bb"},
                          HfEntry{"train/a.tar", false, 5'000'000'000, "dd"}, HfEntry{"train/b", false, 0, "ff"}));
  EXPECT_THAT(parse_hf_tree("[]"), IsEmpty());
}

TEST(HfTree, RefusesWhatIsNoListing) {
  for (const char* json :
       {"", "{}", "7", "[", R"({"error": "none"})", R"([{"type": "file", "size": 3}])",
        R"([{"type": "file", "path": "a"}])", R"([{"type": "file", "path": "a", "size": -1}])",
        R"([{"type": "file", "path": "a", "size": 1.5}])", R"([{"type": "file", "path": "/a", "size": 1}])",
        R"([{"type": "directory", "path": "../a"}])", R"([{"type": "directory", "path": "a/"}])",
        R"([{"type": "file", "path": "a\u0000b", "size": 1}])"}) {
    EXPECT_EQ(error_of([&] { parse_hf_tree(json); }).kind(), ErrorKind::kData) << json;
  }
  EXPECT_THAT(parse_hf_tree(R"([1, "x", {}, null])"), IsEmpty()) << "what is neither file nor folder is passed over";
}

TEST(HfCommit, IsReadFromTheReplyAboutARevision) {
  const std::string commit = "0123456789abcdef0123456789abcdef01234567";
  EXPECT_EQ(parse_hf_commit(R"({"_id": "x", "card": {"sha": "other"}, "sha": ")" + commit + R"(", "id": "o/n"})"),
            commit);
  for (const std::string json :
       {R"({"id": "o/n"})", R"({"sha": 7})", R"({"sha": "main"})", R"({"sha": "../../x"})", "", "[]"}) {
    EXPECT_THAT(error_of([&] { parse_hf_commit(json); }).message(), HasSubstr("commit")) << json;
  }
}

TEST(HfNext, IsTheQueryOfTheNextPage) {
  EXPECT_EQ(
      parse_hf_next(R"(<https://huggingface.co/api/datasets/o/n/tree/x?recursive=true&cursor=ab%3D>; rel="next")"),
      "?recursive=true&cursor=ab%3D");
  EXPECT_EQ(parse_hf_next(R"(<https://h/?cursor=a,b>; rel="first", <https://h/?cursor=c>; title="x"; rel="next")"),
            "?cursor=c");
  EXPECT_EQ(parse_hf_next(R"(<https://h/?cursor=a>; rel="prev")"), std::nullopt);
  EXPECT_EQ(parse_hf_next(""), std::nullopt);
  for (const char* link : {"<https://h/?cursor=a", "https://h/?cursor=a; rel=next", R"(<https://h/>; rel="next")",
                           R"(<https://h/?a b>; rel="next")", "<https://h/?a\r\nb>; rel=next"}) {
    EXPECT_EQ(error_of([&] { parse_hf_next(link); }).kind(), ErrorKind::kData) << link;
  }
}

}  // namespace
}  // namespace stoker
