#include "stoker/format/folder/folder_format.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "stoker/base/error_testing.h"
#include "stoker/base/log_testing.h"
#include "stoker/format/tar_testing.h"
#include "stoker/storage/folder_source.h"
#include "stoker/storage/local_store_testing.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

struct Scanned : ShardNotes {
  SampleTable samples;
};

Scanned scan(const std::string& path) {
  FolderSource source(path, std::make_shared<InlineExecutor>());
  const std::unique_ptr<ShardScan> scan = FolderFormat().scan(source, {});
  SampleTable samples = table_of(*scan);
  return {scan->take_notes(), std::move(samples)};
}
Error failure_to_scan(const std::string& path) {
  return error_of([&] { scan(path); });
}

/// "key label field:part:length ...", a line per sample.
std::vector<std::string> listing(const Scanned& contents) {
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
  const Scanned contents = scan(folder.path());
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
  const Scanned contents = scan(folder.path());
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

TEST(FolderFormat, ReadsTheClassNumbersOfAFolderWithoutClasses) {
  TempFolder folder;
  for (const char* key : {"a", "b", "c"}) folder.write(fmt::format("flat/{}.jpg", key), "");
  folder.write("flat/a.cls", "7");
  folder.write("flat/c.CLS", " 012\n");
  const Scanned flat = scan(folder.path("flat"));
  EXPECT_EQ(flat.samples.label(0), 7);
  EXPECT_EQ(flat.samples.label(1), -1);
  EXPECT_EQ(flat.samples.label(2), 12);
  EXPECT_TRUE(flat.classes.empty());
  for (const std::string& wrong :
       {std::string("cat"), std::string(), std::string("1.5"), std::string(100, ' ') + "1"}) {
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
  const Scanned contents = scan(folder.path());
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
  folder.write("b/x.dib", "1");
  folder.write("c/x.jpg", "1");
  const Error error = failure_to_scan(folder.path());
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(), AllOf(HasSubstr(folder.path("b")), HasSubstr("contains no image"), HasSubstr("webp"),
                                     HasSubstr("1 DIB picture")));
}

TEST(FolderFormat, NamesAFolderOfShardsThatLooksLikeAClass) {
  TempFolder folder;
  folder.write("train/0.parquet", "1");
  folder.write("validation/0.parquet", "1");
  const std::string train = folder.path("train");
  EXPECT_THAT(failure_to_scan(folder.path()).message(),
              AllOf(HasSubstr("the folder '" + train + "' contains shards, such as '0.parquet'"),
                    HasSubstr("give '" + train + "' for them")));
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
  const Scanned contents = scan(folder.path());
  EXPECT_THAT(listing(contents), ElementsAre("a/b/y 0 jpg:a/b/y.jpg:1", "a/x 0 jpg:a/x.jpg:1",
                                             "b/a/x 1 jpg:b/a/x.jpg:1", "b/y 1 jpg:b/y.jpg:1"));
}

TEST(FolderFormat, TakesEachImageInAClassFolderForASample) {
  TempFolder folder;
  for (const char* name :
       {"a/cd1.1.jpg", "a/cd1.2.JPG", "a/cd1.1.json", "a/cd1.1.x.txt", "a/cd1.json", "a/cd2.1.jpg", "a/cd2.1.json",
        "a/cd2.cls", "a/flower.jpg", "a/flower.webp", "a/flower.txt", "a/x.jpg", "a/x.mask.png", "a/x.JPG"}) {
    folder.write(name, "1");
  }
  EXPECT_THAT(
      listing(scan(folder.path())),
      ElementsAre("a/cd1.1.jpg/image 0 jpg:a/cd1.1.jpg:1 json:a/cd1.1.json:1 x.txt:a/cd1.1.x.txt:1",
                  "a/cd1.2.JPG/image 0 jpg:a/cd1.2.JPG:1",
                  "a/cd2 0 jpg:a/cd2.1.jpg:1 json:a/cd2.1.json:1 cls:a/cd2.cls:1",
                  "a/flower.jpg/image 0 jpg:a/flower.jpg:1 txt:a/flower.txt:1",
                  "a/flower.webp/image 0 txt:a/flower.txt:1 webp:a/flower.webp:1", "a/x.JPG/image 0 jpg:a/x.JPG:1",
                  "a/x.jpg/image 0 jpg:a/x.jpg:1", "a/x.mask.png/image 0 png:a/x.mask.png:1"));
}

TEST(FolderFormat, TakesNamedImagesBesideASamplesOwnWhereThereAreNoClasses) {
  TempFolder folder;
  for (const char* name : {"cd.1.jpg", "cd.2.jpg", "flower.jpg", "flower.png", "x.jpg", "x.mask.png", "y.left.png"}) {
    folder.write(name, "1");
  }
  EXPECT_THAT(listing(scan(folder.path())),
              ElementsAre("cd.1.jpg/image -1 jpg:cd.1.jpg:1", "cd.2.jpg/image -1 jpg:cd.2.jpg:1",
                          "flower.jpg/image -1 jpg:flower.jpg:1", "flower.png/image -1 png:flower.png:1",
                          "x -1 jpg:x.jpg:1 mask.png:x.mask.png:1", "y -1 png:y.left.png:1"));
}

TEST(FolderFormat, OrdersImagesOfOneNameByTheBytesOfTheirKeysToo) {
  TempFolder folder;
  for (const char* name : {"a/x.jpg", "a/x.png", "a/x/y.jpg", "a/x.jpg-1/y.jpg", "a/x-1.jpg", "a/x0.jpg", "a/x.jp.jpg",
                           "a/x.jpg0.jpg", "a/x.k/y.jpg", "a/w.1.jpg", "a/w.\xff.jpg", "a/w.\xc3\xa9.jpg"}) {
    folder.write(name, "x");
  }
  const Scanned contents = scan(folder.path());
  std::vector<std::string> keys;
  for (std::int64_t i = 0; i < contents.samples.size(); ++i) keys.emplace_back(contents.samples.key(i));
  EXPECT_EQ(keys.size(), 12u);
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end())) << "std::string compares bytes";
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
}

TEST(FolderFormat, ReadsNamesWithManyDotsHoweverManyThereAre) {
  TempFolder folder;
  for (int i = 0; i < 4500; ++i) folder.write(fmt::format("a/2019-06-01 {}.{:02}.jpg", i, i % 60), "");
  const Scanned contents = scan(folder.path());
  EXPECT_EQ(contents.samples.size(), 4500);
  EXPECT_THAT(contents.samples.field_names(), ElementsAre("jpg"));
}

TEST(FolderFormat, TakesAllFilesThatAreJpegs) {
  TempFolder folder;
  for (const char* name : {"a/1.jpe", "a/2.JFIF", "a/3.mpo", "a/4.JPEG", "a/5.JPG"}) folder.write(name, "");
  EXPECT_EQ(scan(folder.path()).samples.size(), 5);
}

TEST(FolderFormat, PassesOverWhatCannotBeReadAndNamesIt) {
  TempFolder folder;
  folder.write("a/x.jpg", "1");
  for (const char* name : {"a/b1.jpg", "a/b2.jpg", "a/b3.png", "a/b4.png", "a/no_extension", "lost_class"}) {
    fs::create_symlink("nowhere", folder.path(name));
  }
  fs::create_symlink("x.webp", folder.path("a/x.webp"));  // to itself, and no second image of x
  ASSERT_EQ(::mkfifo(folder.path("a/pipe.jpg").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo(folder.path("a/x.txt").c_str(), 0600), 0);
  ASSERT_EQ(::mknod(folder.path("a/socket.png").c_str(), S_IFSOCK | 0600, 0), 0);
  const Scanned contents = scan(folder.path());
  EXPECT_THAT(listing(contents), ElementsAre("a/x 0 jpg:a/x.jpg:1"));
  EXPECT_THAT(contents.problems,
              ElementsAre(AllOf(HasSubstr(folder.path()), HasSubstr("7 broken links, which are skipped"),
                                HasSubstr("'a/b1.jpg', 'a/b2.jpg', 'a/b3.png' and 4 more")),
                          AllOf(HasSubstr("2 pipes"), HasSubstr("'a/pipe.jpg'")),
                          AllOf(HasSubstr("1 socket, which is"), HasSubstr("'a/socket.png'"))));
}

TEST(FolderFormat, PassesOverWhatItMayNotReadAndNamesIt) {
  TempFolder folder;
  folder.write("a/x.jpg", "1");
  folder.write("a/y.jpg", "1");
  folder.write("a/secret/x.jpg", "1");
  fs::permissions(folder.path("a/y.jpg"), fs::perms::none);
  fs::permissions(folder.path("a/secret"), fs::perms::none);
  const Scanned contents = [&] {
    const OrdinaryRights bound;
    return scan(folder.path());
  }();
  fs::permissions(folder.path("a/secret"), fs::perms::owner_all);
  EXPECT_THAT(listing(contents), ElementsAre("a/x 0 jpg:a/x.jpg:1"));
  EXPECT_THAT(contents.problems, ElementsAre(AllOf(HasSubstr("1 unreadable file"), HasSubstr("'a/y.jpg'")),
                                             AllOf(HasSubstr("1 unreadable folder"), HasSubstr("'a/secret'"))));
}

TEST(FolderFormat, CountsPicturesOfOtherKindsAndNamesOneOfEach) {
  TempFolder folder;
  for (const char* name :
       {"a/x.jpg", "a/1.dib", "a/2.DIB", "a/3.heif", "a/deep/4.jxl", "a/5.tga", "a/6.psd", "a/notes.txt", "top.png"}) {
    folder.write(name, "");
  }
  EXPECT_THAT(
      scan(folder.path()).problems,
      UnorderedElementsAre(AllOf(HasSubstr("2 DIB pictures"), HasSubstr("'a/1.dib', 'a/2.DIB'")),
                           AllOf(HasSubstr("1 HEIF picture, which is"), HasSubstr("'a/3.heif'")),
                           AllOf(HasSubstr("1 JXL picture"), HasSubstr("'a/deep/4.jxl'")), HasSubstr("1 TGA picture"),
                           HasSubstr("1 PSD picture"), AllOf(HasSubstr("1 classless image"), HasSubstr("'top.png'"))));
}

TEST(FolderFormat, TakesEveryNameOfJpeg2000AndCountsWhatElseMayBeAPicture) {
  TempFolder folder;
  for (const char* name : {"a/1.jpx", "a/2.jpf", "a/3.j2c", "a/4.JPC", "a/5.hif", "a/6.avifs", "a/7.pam", "a/8.exr",
                           "a/9.svg", "a/10.dng", "a/11.CR2"}) {
    folder.write(name, "");
  }
  const Scanned contents = scan(folder.path());
  EXPECT_THAT(listing(contents),
              ElementsAre("a/1 0 jpx:a/1.jpx:0", "a/2 0 jpf:a/2.jpf:0", "a/3 0 j2c:a/3.j2c:0", "a/4 0 jpc:a/4.JPC:0"));
  EXPECT_THAT(contents.problems,
              UnorderedElementsAre(HasSubstr("1 HIF picture"), HasSubstr("1 AVIFS picture"), HasSubstr("1 PAM picture"),
                                   HasSubstr("1 EXR picture"), HasSubstr("1 SVG picture"), HasSubstr("1 DNG picture"),
                                   HasSubstr("1 CR2 picture")));
}

TEST(FolderFormat, CountsPicturesOfOtherKindsBesideAnImageWhereEachImageIsASample) {
  TempFolder folder;
  for (const char* name : {"a/x.jpg", "a/x.dib", "a/y.1.png", "a/y.2.png", "a/y.1.heic", "a/y.2.HEIC", "a/y.jxl"}) {
    folder.write(name, "");
  }
  const Scanned contents = scan(folder.path());
  EXPECT_THAT(listing(contents), Contains("a/x 0 dib:a/x.dib:0 jpg:a/x.jpg:0"));
  EXPECT_THAT(contents.problems,
              UnorderedElementsAre(AllOf(HasSubstr("1 DIB picture,"), HasSubstr("'a/x.dib'")),
                                   AllOf(HasSubstr("2 HEIC pictures"), HasSubstr("'a/y.1.heic', 'a/y.2.HEIC'")),
                                   AllOf(HasSubstr("1 JXL picture,"), HasSubstr("'a/y.jxl'"))));
  TempFolder without_classes;
  for (const char* name : {"x.jpg", "x.dib"}) without_classes.write(name, "");
  EXPECT_THAT(scan(without_classes.path()).problems, IsEmpty());
}

TEST(FolderFormat, PassesOverTheSecondOfTwoFilesOfOneField) {
  TempFolder folder;
  for (const char* name : {"a.jpg", "a.json", "a.JSON", "b.JSON", "b.jpg"}) folder.write(name, "x");
  const Scanned contents = scan(folder.path());
  EXPECT_THAT(listing(contents), ElementsAre("a -1 json:a.JSON:1 jpg:a.jpg:1", "b -1 json:b.JSON:1 jpg:b.jpg:1"));
  EXPECT_THAT(contents.problems, ElementsAre(HasSubstr("'a.json'")));
}

TEST(FolderFormat, ReadsDeepFoldersAsFarAsPathsGo) {
  TempFolder folder;
  folder.write("a/x.jpg", "1");
  const fs::path before = fs::current_path();
  fs::current_path(folder.path("a"));
  const std::string name(250, 'n');
  int depth = 0;
  for (; depth < 20; ++depth) {  // 5,000 bytes
    fs::create_directory(name);
    fs::current_path(name);
    std::ofstream("y.jpg") << "1";
  }
  fs::current_path(before);
  const Scanned contents = scan(folder.path());
  EXPECT_EQ(contents.samples.size(), 1 + 16) << "250 bytes and a slash each, 4,096 in all";
  EXPECT_THAT(contents.problems, ElementsAre(HasSubstr("1 overlong path")));
}

}  // namespace
}  // namespace stoker
