#include "stoker/format/list/list_format.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"
#include "stoker/base/log_testing.h"
#include "stoker/format/list/list_rows.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Lists beside three images.
class ListFormatTest : public ::testing::Test {
 protected:
  ListFormatTest() {
    for (const char* name : {"a.jpg", "n01/b.jpg", "n01/c.1.png"}) folder_.write(name, fmt::format("<{}>", name));
  }

  std::shared_ptr<const ShardedDataset> open(const std::string& name, std::string_view text) const {
    const std::string path = folder_.write(name, std::string(text));
    return open_dataset({path}, std::make_shared<InlineExecutor>(), {.use = false});
  }
  /// "key label field=content ..." of each sample.
  static std::vector<std::string> listing(const Dataset& data) {
    std::vector<std::string> lines;
    for (std::int64_t i = 0; i < data.size(); ++i) {
      const SampleRow row = data.row(i);
      lines.push_back(fmt::format("{} {}", row.key, row.label));
      for (const SampleField& field : row.fields) {
        std::string content(field.length, '?');
        read_checked(row, field, {reinterpret_cast<std::uint8_t*>(content.data()), content.size()});
        lines.back() += fmt::format(" {}={}", field.name, content);
      }
    }
    return lines;
  }
  std::vector<std::string> listing(const std::string& name, std::string_view text) const {
    return listing(*open(name, text));
  }
  std::string refusal(const std::string& name, std::string_view text) const {
    const Error error = error_of([&] { listing(name, text); });
    EXPECT_EQ(error.kind(), ErrorKind::kData) << error.message();
    EXPECT_THAT(error.message(), HasSubstr(name));
    return error.message();
  }

  TempFolder folder_;
};

TEST_F(ListFormatTest, ReadsTables) {
  EXPECT_THAT(listing("train.csv", "path,label,Caption\na.jpg,3,\"one, two\"\r\nn01/b.jpg,0,say \n\nn01/c.1.png,1,\n"),
              ElementsAre("a 3 jpg=<a.jpg> caption=one, two", "n01/b 0 jpg=<n01/b.jpg> caption=say ",
                          "n01/c.1.png/image 1 png=<n01/c.1.png> caption="));
  EXPECT_THAT(listing("train.tsv", "class\tfile_name\ncat\ta.jpg\nant\t./n01/b.jpg"),
              ElementsAre("a 1 jpg=<a.jpg>", "n01/b 0 jpg=<n01/b.jpg>"));
  EXPECT_THAT(listing("train", "\xef\xbb\xbf\"Image\";\"id\"\na.jpg;7\n"), ElementsAre("a -1 jpg=<a.jpg> id=7"));
  EXPECT_THAT(listing("one.csv", "path\na.jpg\n"), ElementsAre("a -1 jpg=<a.jpg>"));
  EXPECT_THAT(listing("one.csv", "path\na.jpg\n\n"), ElementsAre("a -1 jpg=<a.jpg>")) << "an empty line is no row";
  EXPECT_THAT(listing("one.txt", "path\na.jpg\nn01/b.jpg\n"),
              ElementsAre("a -1 jpg=<a.jpg>", "n01/b -1 jpg=<n01/b.jpg>"));
}

TEST_F(ListFormatTest, RestoresQuotedCells) {
  EXPECT_THAT(listing("train.csv", "path,text\n\"a.jpg\",\"a \"\"b\"\"\nc\"\n\"n01/b.jpg\",\"\"\"\"\n"),
              ElementsAre("a -1 jpg=<a.jpg> text=a \"b\"\nc", "n01/b -1 jpg=<n01/b.jpg> text=\""));
  EXPECT_THAT(listing("train.csv", "\"size, in cm\",\"Path\"\n5,a.jpg\n"),
              ElementsAre("a -1 jpg=<a.jpg> size,_in_cm=5"));
}

TEST_F(ListFormatTest, NamesFieldsAfterColumnsThatMeanNothingElse) {
  EXPECT_THAT(listing("train.csv", "path,cls,png,a b,,seg.jpg\na.jpg,1,2,3,4,5\n"),
              ElementsAre("a -1 jpg=<a.jpg> cls.txt=1 png.txt=2 a_b=3 seg.jpg.txt=5"));
}

TEST_F(ListFormatTest, ReadsSeveralFilesOfOneSample) {
  folder_.write("gtFine/b_mask.png", "mask");
  folder_.write("xml/b.xml", "objects");
  EXPECT_THAT(
      listing("train.csv",
              "path,file:Mask.png,label,file:xml,note\nn01/b.jpg,gtFine/b_mask.png,3,xml/b.xml,x\na.jpg,,4,,y\n"),
      ElementsAre("n01/b 3 jpg=<n01/b.jpg> mask.png=mask xml=objects note=x", "a 4 jpg=<a.jpg> note=y"));
  LogCapture log;
  EXPECT_THAT(listing("train.csv", "path,file:mask.png\na.jpg,gone.png\nn01/b.jpg,gtFine/b_mask.png\n"),
              ElementsAre("a -1 jpg=<a.jpg>", "n01/b -1 jpg=<n01/b.jpg> mask.png=mask"))
      << "the sample lacks what is missing";
  EXPECT_THAT(log.lines, ElementsAre(HasSubstr("'gone.png'")));
  EXPECT_THAT(listing("lists/train.csv", "path,file:mask.png\n../n01/b.jpg,../gtFine/b_mask.png\n"),
              ElementsAre("n01/b -1 jpg=<n01/b.jpg> mask.png=mask"));
  EXPECT_THAT(refusal("x.csv", "path,file:\na.jpg,b\n"), HasSubstr("the column 'file:' names no field"));
  EXPECT_THAT(refusal("x.csv", "path,file:jpg\na.jpg,n01/b.jpg\n"),
              HasSubstr("line 2 names two files of the field 'jpg'"));
  EXPECT_THAT(refusal("x.csv", "path,file:note,note\na.jpg,b,c\n"), HasSubstr("has two columns 'note'"));
}

TEST_F(ListFormatTest, NumbersClassesInByteOrder) {
  const auto data = open("train.csv", "path,label\na.jpg,dog\nn01/b.jpg,Cat\nn01/c.1.png,\n");
  EXPECT_THAT(data->classes(), ElementsAre("Cat", "dog"));
  EXPECT_EQ(data->label(0), 1);
  EXPECT_EQ(data->label(1), 0);
  EXPECT_EQ(data->label(2), -1);
  const auto numbers = open("numbers.csv", "path,label\na.jpg,10\nn01/b.jpg,-1\nn01/c.1.png,2\n");
  EXPECT_THAT(numbers->classes(), IsEmpty());
  EXPECT_EQ(numbers->label(0), 10);
  EXPECT_EQ(numbers->label(1), -1);
  // One that is not a number makes names of all.
  EXPECT_THAT(open("mixed.csv", "path,label\na.jpg,10\nn01/b.jpg,9a\n")->classes(), ElementsAre("10", "9a"));
}

TEST_F(ListFormatTest, TakesNumbersWithFractionsForNoClasses) {
  const LogCapture log;
  const auto data = open("ages.csv", "path,target\na.jpg,8.25\nn01/b.jpg,9\nn01/c.1.png,1e-1\n");
  EXPECT_THAT(data->classes(), IsEmpty());
  EXPECT_THAT((std::vector{data->label(0), data->label(1), data->label(2)}), ElementsAre(-1, 9, -1));
  EXPECT_THAT(log.lines, ElementsAre(AllOf(HasSubstr("2 fractional labels"), HasSubstr("'a.jpg'"))));
  // One that is not a number makes names of all.
  EXPECT_THAT(open("sizes.csv", "path,label\na.jpg,8.25\nn01/b.jpg,XL\n")->classes(), ElementsAre("8.25", "XL"));
}

// As pandas writes them where one is missing.
TEST_F(ListFormatTest, TakesWholeNumbersHoweverTheyAreWritten) {
  const auto labels = [&](const std::string& name, const std::string& text) {
    const auto data = open(name, text);
    EXPECT_THAT(data->classes(), IsEmpty()) << text;
    return std::vector{data->label(0), data->label(1), data->label(2)};
  };
  EXPECT_THAT(labels("a.csv", "path,label\na.jpg,10.0\nn01/b.jpg,2.0\nn01/c.1.png,\n"), ElementsAre(10, 2, -1));
  EXPECT_THAT(labels("a.csv", "path,label\na.jpg,+3\nn01/b.jpg,007\nn01/c.1.png,-1.0\n"), ElementsAre(3, 7, -1));
  EXPECT_THAT(labels("a.csv", "path,label\na.jpg,+3\nn01/b.jpg,2\nn01/c.1.png,-7\n"), ElementsAre(3, 2, -1));
  EXPECT_THAT(labels("a.jsonl",
                     "{\"path\": \"a.jpg\", \"label\": 10.0}\n{\"path\": \"n01/b.jpg\", \"label\": \"2.0\"}\n"
                     "{\"path\": \"n01/c.1.png\", \"label\": null}\n"),
              ElementsAre(10, 2, -1));
  EXPECT_THAT(labels("a.jsonl",
                     "{\"path\": \"a.jpg\", \"label\": true}\n{\"path\": \"n01/b.jpg\", \"label\": false}\n"
                     "{\"image\": true, \"path\": \"n01/c.1.png\", \"label\": [1]}\n"),
              ElementsAre(1, 0, -1));
  EXPECT_THAT(labels("a.jsonl",
                     "{\"path\": \"a.jpg\", \"label\": \"+3\"}\n{\"path\": \"n01/b.jpg\", \"label\": 1e2}\n"
                     "{\"path\": \"n01/c.1.png\", \"label\": -1.0}\n"),
              ElementsAre(3, 100, -1));
  for (const char* text : {"+", ".0", "2.", "+-3", "2.0.0", "2,0"}) {
    EXPECT_THAT(open("a.tsv", fmt::format("path\tlabel\na.jpg\t{}\n", text))->classes(), ElementsAre(text));
  }
  const LogCapture log;
  EXPECT_THAT(labels("a.jsonl",
                     "{\"path\": \"a.jpg\", \"label\": 2}\n{\"path\": \"n01/b.jpg\", \"label\": 2.5}\n"
                     "{\"path\": \"n01/c.1.png\", \"label\": 1e300}\n"),
              ElementsAre(2, -1, -1));
  EXPECT_THAT(log.lines, ElementsAre(AllOf(HasSubstr("1 fractional label"), HasSubstr("'n01/b.jpg'")),
                                     AllOf(HasSubstr("1 too large (2^63 or more) label"), HasSubstr("'n01/c.1.png'"))));
}

TEST_F(ListFormatTest, ReadsAJsonListOfObjects) {
  const std::string first = R"({"file_name": "a.jpg",
 "label": 3, "boxes": [[1, 2], {"path": "x"}]})";
  const std::string second = R"({"label": 5, "file_name": "n01/b.jpg"})";
  for (const char* name : {"train.json", "train"}) {
    EXPECT_THAT(listing(name, " [\n" + first + " ,\n  " + second + "\n]\n"),
                ElementsAre("a 3 jpg=<a.jpg> json=" + first, "n01/b 5 jpg=<n01/b.jpg> json=" + second));
    EXPECT_THAT(listing(name, "[" + second + "]"), ElementsAre("n01/b 5 jpg=<n01/b.jpg> json=" + second));
  }
  EXPECT_THAT(refusal("x.json", "[" + second + "\n" + second + "]"), AllOf(HasSubstr("line 2"), HasSubstr("a comma")));
  EXPECT_THAT(refusal("x.json", "[" + second + ",\n]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(refusal("x.json", "[" + second + ",\n3]"), AllOf(HasSubstr("line 2"), HasSubstr("not a JSON object")));
  EXPECT_THAT(refusal("x.json", "[" + second + "] 3"), HasSubstr("something follows the list"));
  EXPECT_THAT(refusal("x.json", R"([{"id": 3}])"), HasSubstr("none of the keys that name a file"));
  const std::string whole = "[" + second + ", " + second + "]";
  for (std::size_t length = 5; length < whole.size(); ++length) refusal("x.json", whole.substr(0, length));
}

TEST_F(ListFormatTest, ReadsLinesOfJson) {
  const std::string first = R"({"file_name": "a.jpg", "label": 3, "boxes": [[1, 2], {"path": "x"}]})";
  const std::string second = R"({"label": 5, "file_name": "n01\/b.jpg", "text": "\u00e9"})";
  for (const char* name : {"train.jsonl", "train.json", "train"}) {
    EXPECT_THAT(listing(name, first + "\r\n\n" + second),
                ElementsAre("a 3 jpg=<a.jpg> json=" + first, "n01/b 5 jpg=<n01/b.jpg> json=" + second));
  }
}

constexpr std::string_view kCoco = R"({"info": {"a": ["]", "\"}"]},
 "annotations": [{"id": 1, "image_id": 8, "category_id": 20, "bbox": [1, 2]}, {"id": 2, "image_id": 9, "category_id": 7},
                 {"id": 3, "image_id": 8, "category_id": 7}, {"id": 4, "image_id": 77, "category_id": 7}],
 "images": [{"id": 9, "file_name": "n01/b.jpg"}, {"id": 8, "file_name": "a.jpg"}, {"id": 3, "file_name": "n01/c.1.png"}],
 "categories": [{"id": 20, "name": "zebra"}, {"id": 7, "name": "ant"}]})";

TEST_F(ListFormatTest, ReadsDocumentsAsCocos) {
  const auto data = open("instances.json", kCoco);
  EXPECT_THAT(listing(*data),
              ElementsAre(R"(n01/b -1 jpg=<n01/b.jpg> json=[{"id": 2, "image_id": 9, "category_id": 7}])",
                          R"(a -1 jpg=<a.jpg> json=[{"id": 1, "image_id": 8, "category_id": 20, "bbox": [1, 2]},)"
                          R"({"id": 3, "image_id": 8, "category_id": 7}])",
                          "n01/c.1.png/image -1 png=<n01/c.1.png> json=[]"));
  EXPECT_THAT(data->classes(), IsEmpty()) << "an image has two annotations";
}

TEST_F(ListFormatTest, TakesTheCategoryOfTheOnlyAnnotationAsTheLabel) {
  std::string text(kCoco);
  text.replace(text.find(R"("id": 3, "image_id": 8)"), 22, R"("id": 3, "image_id": 3)");
  const auto data = open("train.json", text);
  EXPECT_THAT(data->classes(), ElementsAre("ant", "zebra")) << "in the order of their ids";
  EXPECT_EQ(data->label(0), 0);
  EXPECT_EQ(data->label(1), 1);
  EXPECT_EQ(data->label(2), 0);
}

TEST_F(ListFormatTest, FindsCocosImagesInTheFolderOfTheirSet) {
  const std::string text = R"({"images": [{"id": 1, "file_name": "x.jpg"}]})";
  folder_.write("val2017/x.jpg", "one");
  EXPECT_THAT(listing("annotations/instances_val2017.json", text), ElementsAre("x -1 jpg=one json=[]"));
  folder_.write("images/x.jpg", "two");
  EXPECT_THAT(listing("train.json", text), ElementsAre("x -1 jpg=two json=[]"));
  LogCapture log;
  EXPECT_THAT(
      listing("train.json", R"({"images": [{"id": 1, "file_name": "gone.jpg"}, {"id": 2, "file_name": "x.jpg"}]})"),
      ElementsAre("x -1 jpg=two json=[]"));
  EXPECT_THAT(log.lines, ElementsAre(HasSubstr("'gone.jpg'")));
}

TEST_F(ListFormatTest, ReadsFilesOutsideOfItsFolder) {
  const std::string elsewhere = folder_.write("other/d.jpg", "d");
  EXPECT_THAT(listing("lists/train.csv", "path\n../a.jpg\n" + elsewhere + "\n../other/../n01/b.jpg\n"),
              ElementsAre("a -1 jpg=<a.jpg>", elsewhere.substr(1, elsewhere.size() - 5) + " -1 jpg=d",
                          "n01/b -1 jpg=<n01/b.jpg>"));
}

TEST_F(ListFormatTest, NamesMissingFiles) {
  LogCapture log;
  EXPECT_THAT(listing("train.csv", "path\na.jpg\ngone.jpg\nn01\nn01/b.jpg\n"),
              ElementsAre("a -1 jpg=<a.jpg>", "n01/b -1 jpg=<n01/b.jpg>"));
  EXPECT_THAT(log.lines, ElementsAre(AllOf(HasSubstr("2 missing files"), HasSubstr("'gone.jpg', 'n01'"))));
  EXPECT_THAT(refusal("wrong.csv", "path\ngone.jpg\nx/gone.jpg\n"),
              HasSubstr("none of the 2 files that it names exists"));
}

TEST_F(ListFormatTest, NamesTheLineThatIsDamaged) {
  EXPECT_THAT(refusal("x.csv", "path,label\na.jpg,1\nn01/b.jpg\n"),
              HasSubstr("line 3 has 1 column, and the heading has 2"));
  EXPECT_THAT(refusal("x.csv", "path,label\na.jpg,1,2\n"), HasSubstr("line 2 has 3 columns"));
  EXPECT_THAT(refusal("x.csv", "path,label\n\"a.jpg,1\n"), HasSubstr("ends inside a quoted cell"));
  EXPECT_THAT(refusal("x.csv", "path,label\n\"a.jpg\"b,1\n"), HasSubstr("line 2: something follows a quoted cell"));
  EXPECT_THAT(refusal("x.csv", "path,label\n,1\n"), HasSubstr("line 2 names no file"));
  EXPECT_THAT(refusal("x.csv", "path,x,X\na.jpg,1,2\n"), HasSubstr("has two columns 'x'"));
  EXPECT_THAT(refusal("x.csv", "name,label\na.jpg,1\n"), HasSubstr("no column of paths: its heading is 'name,label'"));
  EXPECT_THAT(refusal("x.jsonl", "{\"path\": \"a.jpg\"}\n{\"path\": \n"), HasSubstr("line 2: it is not a JSON object"));
  EXPECT_THAT(refusal("x.jsonl", "{\"path\": \"a.jpg\"}\n{\"pth\": 1}\n"), HasSubstr("line 2: its object has none"));
  EXPECT_THAT(refusal("x.json", "{\"shards\": []}"), HasSubstr("it must be lines or a list of objects"));
  EXPECT_THAT(refusal("x.json", R"({"images": [{"id": 1}]})"), HasSubstr("no number 'id' or no text 'file_name'"));
  EXPECT_THAT(refusal("x.json", R"({"images": [{"id": 1, "file_name": "a.jpg"}, {"id": 1, "file_name": "a.jpg"}]})"),
              HasSubstr("two images with the id 1"));
  EXPECT_THAT(refusal("x.json", R"({"images": [[1]]})"), HasSubstr("an element of 'images' is not a JSON object"));
}

TEST_F(ListFormatTest, NamesADocumentWhereverItIsCut) {
  for (std::size_t length = 3; length < kCoco.size(); ++length) {
    EXPECT_FALSE(refusal("cut.json", kCoco.substr(0, length)).empty()) << length;
  }
}

TEST_F(ListFormatTest, SurvivesWhateverByteChanges) {
  const std::string table = "path,label\n\"a.jpg\",\"x\"\"y\"\nn01/b.jpg,z\n";
  for (const std::string& good : {table, std::string(kCoco),
                                  std::string(R"({"path": "a.jpg", "label": "x"})"
                                              "\n")}) {
    for (std::size_t at = 0; at < good.size(); ++at) {
      for (const int change : {1, 0x80}) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ change);
        const std::string path = folder_.write("changed.list", bad);
        LogCapture log;
        try {
          const auto data = open_dataset({path}, std::make_shared<InlineExecutor>(), {.use = false});
          EXPECT_LE(listing(*data).size(), 3u);
        } catch (const Error& error) {  // of any kind: it may have become a text file of paths
          EXPECT_THAT(error.message(), HasSubstr("changed.list"));
        }
      }
    }
  }
}

TEST_F(ListFormatTest, IsNotATextFileOfPaths) {
  const auto kind = [](std::string_view head, std::string_view name = "list.txt") {
    return kind_of_list(as_bytes(head), name);
  };
  EXPECT_EQ(kind("a.tar\nb.tar\n"), ListKind::kNone);
  EXPECT_EQ(kind("image\nb.tar\n"), ListKind::kNone) << "may be a folder's name";
  EXPECT_EQ(kind("image\nb.jpg\n", "list.csv"), ListKind::kTable);
  EXPECT_EQ(kind("path\na.jpg\n"), ListKind::kTable);
  EXPECT_EQ(kind("\xef\xbb\xbfPath\r\nn01/A.PNG\r\n"), ListKind::kTable);
  EXPECT_EQ(kind("path\n"), ListKind::kNone);
  EXPECT_EQ(kind("name\na.jpg\n"), ListKind::kNone);
  EXPECT_EQ(kind("[{\"path\": 1"), ListKind::kJson);
  EXPECT_EQ(kind("[\n {\n\"path\": 1"), ListKind::kJson);
  EXPECT_EQ(kind("[0-9].tar\n"), ListKind::kNone);
  EXPECT_EQ(kind("{00..10}.tar\n"), ListKind::kNone);
  EXPECT_EQ(kind("{a,b}/path,label.tar\n"), ListKind::kNone);
  EXPECT_EQ(kind("{\n \"images\""), ListKind::kJson);
  EXPECT_EQ(kind("a,b\n"), ListKind::kNone);
  EXPECT_EQ(kind("a,b\n", "x.csv"), ListKind::kTable) << "which is refused with the reason";
  EXPECT_EQ(kind("path,label"), ListKind::kTable);
  EXPECT_EQ(kind("path\tlabel\x01\n"), ListKind::kNone);
  EXPECT_EQ(kind(""), ListKind::kNone);
  EXPECT_EQ(kind("\n\n"), ListKind::kNone);
}

}  // namespace
}  // namespace stoker
