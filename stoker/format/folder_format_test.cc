#include "stoker/format/folder_format.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "stoker/base/error_testing.h"
#include "stoker/base/log_testing.h"
#include "stoker/format/tar_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ShardContents scan(const std::string& path) {
  return FolderFormat().scan(path, std::make_shared<InlineExecutor>(), {});
}
Error failure_to_scan(const std::string& path) {
  return error_of([&] { scan(path); });
}

/// "key label field:part:length ...", a line per sample.
std::vector<std::string> listing(const ShardContents& contents) {
  std::vector<std::string> lines;
  for (std::int64_t i = 0; i < contents.samples.size(); ++i) {
    std::string line = fmt::format("{} {}", contents.samples.key(i), contents.samples.label(i));
    for (const FieldLocation& field : contents.samples.fields(i)) {
      EXPECT_EQ(field.offset, 0u);
      line += fmt::format(" {}:{}:{}", contents.samples.field_names()[field.name], contents.samples.part(field),
                          field.length);
    }
    lines.push_back(line);
  }
  return lines;
}

TEST(FolderFormat, NumbersClassesByTheByteOrderOfTheirNames) {
  TempFolder folder;
  for (const char* name : {"b", "a", "B", "a-b", "a.c", "10", "9", "é"})
    folder.write(fmt::format("{}/x.jpg", name), "x");
  const ShardContents contents = scan(folder.path());
  EXPECT_THAT(contents.classes, ElementsAre("10", "9", "B", "a", "a-b", "a.c", "b", "é"));
  for (std::int64_t i = 0; i < contents.samples.size(); ++i) {
    const std::string expected = contents.classes[static_cast<std::size_t>(contents.samples.label(i))] + "/x";
    EXPECT_EQ(contents.samples.key(i), expected);
  }
}

TEST(FolderFormat, OrdersSamplesByTheBytesOfTheirKeys) {
  TempFolder folder;
  for (const char* name :
       {"a/x.jpg", "a-b/x.jpg", "a.c/x.jpg", "a0/x.jpg", "a/b/y.jpg", "a/b-c/y.jpg", "a/b.jpg", "a/b0.jpg", "a/b+.jpg",
        "a/b!.jpg", "a/ab.jpg", "a/a.jpg", "a/Z.jpg", "a/\xff.jpg", "a/b/\x01/z.jpg"}) {
    folder.write(name, "x");
  }
  const ShardContents contents = scan(folder.path());
  std::vector<std::string> keys;
  for (std::int64_t i = 0; i < contents.samples.size(); ++i) keys.emplace_back(contents.samples.key(i));
  std::vector<std::string> sorted = keys;
  std::sort(sorted.begin(), sorted.end(), [](const std::string& a, const std::string& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
      return static_cast<unsigned char>(x) < static_cast<unsigned char>(y);
    });
  });
  EXPECT_EQ(keys.size(), 15u);
  EXPECT_EQ(keys, sorted);
}

TEST(FolderFormat, FindsImagesBelowAClassAndOnlyImages) {
  TempFolder folder;
  folder.write("dog/deep/er/x.JPEG", "12345");
  folder.write("dog/y.webp", "1");
  folder.write("dog/notes.txt", "-");
  folder.write("dog/.z.jpg", "-");
  folder.write("dog/.git/z.jpg", "-");
  folder.write("dog/jpg", "-");
  folder.write("dog/trailing.", "-");
  folder.write(".hidden/z.jpg", "-");
  folder.write("in_the_root.jpg", "-");
  EXPECT_THAT(listing(scan(folder.path())),
              ElementsAre("dog/deep/er/x 0 jpeg:dog/deep/er/x.JPEG:5", "dog/y 0 webp:dog/y.webp:1"));
}

TEST(FolderFormat, MakesOneSampleOfTheFilesThatShareAKey) {
  TempFolder folder;
  folder.write("a/x.jpg", "123");
  folder.write("a/x.Meta.JSON", "12");
  folder.write("a/x.txt", "");
  folder.write("a/xy.jpg", "1");
  folder.write("a/z.json", "no image, no sample");
  EXPECT_THAT(listing(scan(folder.path())),
              ElementsAre("a/x 0 meta.json:a/x.Meta.JSON:2 jpg:a/x.jpg:3 txt:a/x.txt:0", "a/xy 0 jpg:a/xy.jpg:1"));
}

TEST(FolderFormat, RefusesTwoImagesOfOneSample) {
  TempFolder folder;
  folder.write("a/img.001.jpg", "1");
  folder.write("a/img.002.jpg", "2");
  const Error error = failure_to_scan(folder.path());
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), AllOf(HasSubstr(folder.path("a/img.001.jpg")), HasSubstr(folder.path("a/img.002.jpg")),
                                     HasSubstr("sample 'a/img'"), HasSubstr("rename")));
}

TEST(FolderFormat, ReadsTheClassNumbersOfAFolderWithoutClasses) {
  TempFolder folder;
  for (const char* key : {"a", "b", "c"}) folder.write(fmt::format("flat/{}.jpg", key), "");
  folder.write("flat/a.cls", "7");
  folder.write("flat/c.CLS", " 012\n");
  const ShardContents flat = scan(folder.path("flat"));
  EXPECT_EQ(flat.samples.label(0), 7);
  EXPECT_EQ(flat.samples.label(1), -1);
  EXPECT_EQ(flat.samples.label(2), 12);
  EXPECT_TRUE(flat.classes.empty());
  for (const std::string& wrong : {std::string("cat"), std::string(), std::string("-1"), std::string(100, ' ') + "1"}) {
    folder.write("flat/b.cls", wrong);
    const LogCapture log;
    EXPECT_EQ(scan(folder.path("flat")).samples.label(1), -1);
    EXPECT_THAT(log.lines, ElementsAre(AllOf(HasSubstr("flat"), HasSubstr("class number"), HasSubstr("'b'"))));
  }
  // Where folders are classes, they decide.
  folder.write("in/k0/x.jpg", "");
  folder.write("in/k0/x.cls", "cat");
  EXPECT_EQ(scan(folder.path("in")).samples.label(0), 0);
}

TEST(FolderFormat, TakesAFolderWithoutFoldersForSamplesWithoutClasses) {
  TempFolder folder;
  folder.write("b.jpg", "1");
  folder.write("a.png", "22");
  const ShardContents contents = scan(folder.path());
  EXPECT_TRUE(contents.classes.empty());
  EXPECT_THAT(listing(contents), ElementsAre("a -1 png:a.png:2", "b -1 jpg:b.jpg:1"));
}

TEST(FolderFormat, FindsNothingInAnEmptyFolder) {
  TempFolder folder;
  EXPECT_EQ(scan(folder.path()).samples.size(), 0);
}

TEST(FolderFormat, NamesAClassWithoutImages) {
  TempFolder folder;
  folder.write("a/x.jpg", "1");
  folder.write("b/x.bmp", "1");
  folder.write("c/x.jpg", "1");
  const Error error = failure_to_scan(folder.path());
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), AllOf(HasSubstr(folder.path("b")), HasSubstr("holds no image"), HasSubstr("webp")));
}

TEST(FolderFormat, FollowsLinksToFilesAndFolders) {
  TempFolder folder, elsewhere;
  elsewhere.write("n/x.jpg", "12");
  elsewhere.write("y.jpg", "123");
  folder.write("a/z.jpg", "1");
  fs::create_directory_symlink(elsewhere.path("n"), folder.path("b"));
  fs::create_symlink(elsewhere.path("y.jpg"), folder.path("a/y.jpg"));
  EXPECT_THAT(listing(scan(folder.path())),
              ElementsAre("a/y 0 jpg:a/y.jpg:3", "a/z 0 jpg:a/z.jpg:1", "b/x 1 jpg:b/x.jpg:2"));
}

TEST(FolderFormat, EndsWhereLinksGoInCircles) {
  TempFolder folder;
  folder.write("a/x.jpg", "1");
  folder.write("b/y.jpg", "1");
  fs::create_directory_symlink("..", folder.path("a/up"));
  fs::create_directory_symlink("../b", folder.path("a/b"));
  fs::create_directory_symlink("../a", folder.path("b/a"));
  const ShardContents contents = scan(folder.path());
  EXPECT_THAT(listing(contents), ElementsAre("a/b/y 0 jpg:a/b/y.jpg:1", "a/x 0 jpg:a/x.jpg:1",
                                             "b/a/x 1 jpg:b/a/x.jpg:1", "b/y 1 jpg:b/y.jpg:1"));
}

TEST(FolderFormat, NamesAnImageThatCannotBeLookedAt) {
  TempFolder folder;
  folder.write("a/x.jpg", "1");
  fs::create_symlink("nowhere", folder.path("a/broken.jpg"));
  EXPECT_THAT(failure_to_scan(folder.path()).message(), HasSubstr(folder.path("a/broken.jpg")));
  fs::remove(folder.path("a/broken.jpg"));
  ASSERT_EQ(::mkfifo(folder.path("a/pipe.jpg").c_str(), 0600), 0);
  const Error error = failure_to_scan(folder.path());
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), AllOf(HasSubstr(folder.path("a/pipe.jpg")), HasSubstr("is a pipe")));
}

// While it lives, permissions bind this thread even if root runs it.
class WithoutPrivileges {
 public:
  WithoutPrivileges() {
    EXPECT_EQ(::syscall(SYS_capget, &header_, all_), 0);
    __user_cap_data_struct fewer[2] = {all_[0], all_[1]};
    fewer[0].effective &= ~(1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH);
    EXPECT_EQ(::syscall(SYS_capset, &header_, fewer), 0);
  }
  ~WithoutPrivileges() { EXPECT_EQ(::syscall(SYS_capset, &header_, all_), 0); }
  WithoutPrivileges(const WithoutPrivileges&) = delete;
  WithoutPrivileges& operator=(const WithoutPrivileges&) = delete;

 private:
  __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct all_[2] = {};
};

TEST(FolderFormat, TakesNamedImagesBesideASamplesOwn) {
  TempFolder folder;
  folder.write("a/x.jpg", "123");
  folder.write("a/x.mask.png", "1");
  EXPECT_THAT(listing(scan(folder.path())), ElementsAre("a/x 0 jpg:a/x.jpg:3 mask.png:a/x.mask.png:1"));
}

TEST(FolderFormat, RefusesTwoImagesThatCouldBothBeTheSamples) {
  TempFolder folder;
  folder.write("a/x.jpg", "1");
  folder.write("a/x.png", "1");
  EXPECT_THAT(failure_to_scan(folder.path()).message(),
              AllOf(HasSubstr("a/x.jpg"), HasSubstr("a/x.png"), HasSubstr("only their extensions differ")));
  fs::remove(folder.path("a/x.png"));
  fs::rename(folder.path("a/x.jpg"), folder.path("a/x.0001.jpg"));
  folder.write("a/x.0002.jpg", "1");
  EXPECT_THAT(failure_to_scan(folder.path()).message(), HasSubstr("the only dot is the one before the extension"));
}

TEST(FolderFormat, RefusesFieldsThatDifferInCaseAlone) {
  TempFolder folder;
  for (const char* name : {"a.jpg", "a.json", "a.JSON", "b.JSON", "b.jpg"}) folder.write(name, "x");
  EXPECT_THAT(failure_to_scan(folder.path()).message(),
              AllOf(HasSubstr(folder.path("a.json")), HasSubstr("'json' twice")));
}

TEST(FolderFormat, NamesAFolderThatCannotBeRead) {
  TempFolder folder;
  folder.write("a/secret/x.jpg", "1");
  fs::permissions(folder.path("a/secret"), fs::perms::none);
  const Error error = [&] {
    const WithoutPrivileges bound;
    return failure_to_scan(folder.path());
  }();
  fs::permissions(folder.path("a/secret"), fs::perms::owner_all);
  EXPECT_EQ(error.kind(), ErrorKind::kIo);
  EXPECT_THAT(error.message(), HasSubstr(folder.path("a/secret")));
}

}  // namespace
}  // namespace stoker
