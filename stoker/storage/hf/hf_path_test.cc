#include "stoker/storage/hf/hf_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Kind = HfRepository::Kind;

constexpr const char* kHub = "https://hub";
constexpr const char* kCommit = "0123456789abcdef0123456789abcdef01234567";

struct PathCase {
  const char* text;
  Kind kind;
  const char *name, *revision, *path;
};

TEST(HfPath, IsReadAsTheHubsOwnClientReadsIt) {
  const PathCase cases[] = {
      {"hf://datasets/o/n/train/a.tar", Kind::kDataset, "o/n", "main", "train/a.tar"},
      {"hf://datasets/o/n", Kind::kDataset, "o/n", "main", ""},
      {"hf://datasets/o/n/", Kind::kDataset, "o/n", "main", ""},
      {"hf://datasets/o-1/n_2.x/a/", Kind::kDataset, "o-1/n_2.x", "main", "a"},
      {"hf://spaces/o/n/a", Kind::kSpace, "o/n", "main", "a"},
      {"hf://models/o/n/a", Kind::kModel, "o/n", "main", "a"},
      {"hf://o/n/a", Kind::kModel, "o/n", "main", "a"},
      {"hf://datasets/o/n@v1.0/a", Kind::kDataset, "o/n", "v1.0", "a"},
      {"hf://datasets/o/n@v1.0", Kind::kDataset, "o/n", "v1.0", ""},
      {"hf://datasets/o/n@refs/convert/parquet/default/a", Kind::kDataset, "o/n", "refs/convert/parquet", "default/a"},
      {"hf://datasets/o/n@refs%2Fconvert%2Fparquet/a", Kind::kDataset, "o/n", "refs/convert/parquet", "a"},
      {"hf://datasets/o/n@refs/pr/12/a", Kind::kDataset, "o/n", "refs/pr/12", "a"},
      {"hf://datasets/o/n@refs/pr/x/a", Kind::kDataset, "o/n", "refs", "pr/x/a"},
      {"hf://datasets/o/n@feature%2fx/a", Kind::kDataset, "o/n", "feature/x", "a"},
      {"hf://datasets/o/n@50%/a", Kind::kDataset, "o/n", "50%", "a"},
      {"hf://datasets/o/n/lists/../a@2x.tar", Kind::kDataset, "o/n", "main", "a@2x.tar"},
      {"hf://datasets/o/n/./a//b?[c]*", Kind::kDataset, "o/n", "main", "a/b?[c]*"},
  };
  for (const PathCase& one : cases) {
    SCOPED_TRACE(one.text);
    const HfPath found = require_hf_path(one.text);
    EXPECT_EQ(found.repository.kind, one.kind);
    EXPECT_EQ(found.repository.name, one.name);
    EXPECT_EQ(found.repository.revision, one.revision);
    EXPECT_EQ(found.path, one.path);
    EXPECT_TRUE(std::string(one.text).starts_with(found.root));
    const HfPath again = require_hf_path(found.root + "/" + found.path);
    EXPECT_EQ(again.path, found.path);
    EXPECT_EQ(again.repository, found.repository);
  }
}

TEST(HfPath, IsRefusedWithTheFormThatItShouldHave) {
  for (const char* text : {"hf://", "hf://datasets", "hf://datasets/", "hf://datasets/o", "hf://datasets//n/a",
                           "hf://gpt2", "hf://datasets/o/n@/a", "hf://datasets/o/*/a", "hf://datasets/{a,b}/n/a",
                           "hf://datasets/o/../a", "hf://datasets/o/n/../../a", "hf://datasets/o/n@refs/pr/12x/a",
                           "hf://datasets/o/n@refs//pr/12/a", "hf://datasets/o/n@refs/./convert/a"}) {
    EXPECT_FALSE(parse_hf_path(text)) << text;
    const Error error = error_of([&] { require_hf_path(text); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.message(), AllOf(HasSubstr(text), HasSubstr("hf://datasets/OWNER/NAME")));
  }
}

TEST(HfCommit, IsWrittenInFull) {
  EXPECT_TRUE(is_hf_commit(kCommit));
  for (const char* other : {"main", "0123456", "", "0123456789abcdef0123456789abcdef0123456g"}) {
    EXPECT_FALSE(is_hf_commit(other)) << other;
  }
}

TEST(HfPath, BecomesTheUrlsOfTheHub) {
  const HfRepository data = require_hf_path("hf://datasets/o/n@refs/convert/parquet").repository;
  EXPECT_EQ(hf_page_url(kHub, data), "https://hub/datasets/o/n");
  EXPECT_EQ(hf_revision_url(kHub, data), "https://hub/api/datasets/o/n/revision/refs%2Fconvert%2Fparquet?expand=sha");
  EXPECT_EQ(hf_tree_url(kHub, data, kCommit, "", false),
            fmt::format("https://hub/api/datasets/o/n/tree/{}?recursive=false", kCommit));
  EXPECT_EQ(hf_tree_url(kHub, data, kCommit, "train/a b", true),
            fmt::format("https://hub/api/datasets/o/n/tree/{}/train/a%20b?recursive=true", kCommit));
  EXPECT_EQ(hf_file_url(kHub, data, kCommit, "train/caf\xc3\xa9 #1?.tar"),
            fmt::format("https://hub/datasets/o/n/resolve/{}/train/caf%C3%A9%20%231%3F.tar", kCommit));
  const HfRepository model = require_hf_path("hf://o/n").repository;
  EXPECT_EQ(hf_revision_url(kHub, model), "https://hub/api/models/o/n/revision/main?expand=sha");
  EXPECT_EQ(hf_file_url(kHub, model, kCommit, "a"), fmt::format("https://hub/o/n/resolve/{}/a", kCommit));
  const HfRepository space = require_hf_path("hf://spaces/o/n").repository;
  EXPECT_EQ(hf_file_url(kHub, space, kCommit, "a"), fmt::format("https://hub/spaces/o/n/resolve/{}/a", kCommit));
}

}  // namespace
}  // namespace stoker
