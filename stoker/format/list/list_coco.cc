// COCO's documents: {"images": [{"id", "file_name", ...}], "annotations": [{"image_id", "category_id", ...}],
// "categories": [{"id", "name"}], ...}. They may be large: nothing is kept of one but the images' names, and each
// annotation's text, put together by image.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/json_values.h"
#include "stoker/base/units.h"
#include "stoker/format/list/list_rows.h"
#include "stoker/format/shard_format.h"

namespace stoker {
namespace {

/// The elements of the lists that are members of a document, one by one.
class DocumentElements {
 public:
  DocumentElements(Source& list, const std::stop_token& stop) : name_(list.name()), stop_(stop), text_(list) {
    text_.skip_space();
    text_.skip();  // the brace
  }

  /// False after the last.
  bool next() {
    stop_if_asked(stop_, name_);
    for (;;) {
      text_.skip_space();
      const int c = text_.peek();
      if (c == ListText::kEnd) text_.fail_here("it ends inside a value");
      if (c == ',') {
        text_.skip();
        continue;
      }
      if (inside_ && c != ']') {
        take_element();
        return true;
      }
      if (inside_) {
        inside_ = false;
        text_.skip();
      } else if (c == '}') {
        text_.skip();
        text_.skip_space();
        if (text_.peek() != ListText::kEnd) text_.fail_here("something follows the document");
        return false;
      } else {
        enter_member();
      }
    }
  }

  const std::string& member() const { return member_; }
  /// Until next() is called.
  std::string_view element() const { return element_; }
  [[noreturn]] void fail_here(std::string_view why) const { text_.fail_here(why); }

 private:
  void enter_member() {
    text_.hold();
    if (text_.peek() != '"') text_.fail_here("a key is missing");
    text_.skip_json();
    member_ = text_.held().substr(1, text_.held().size() - 2);
    text_.skip_space();
    if (text_.peek() != ':') text_.fail_here("a colon is missing after a key");
    text_.skip();
    text_.skip_space();
    text_.hold();
    if (text_.peek() == '[') {
      text_.skip();
      inside_ = true;
    } else {
      skip_value();
    }
  }

  void take_element() {
    text_.hold();
    skip_value();
    element_ = text_.held();
  }

  void skip_value() {
    const std::uint64_t begin = text_.offset();
    text_.skip_json();
    if (text_.offset() == begin) text_.fail_here("a value is missing");
  }

  const std::string& name_;
  const std::stop_token& stop_;
  ListText text_;
  std::string member_;
  std::string_view element_;
  bool inside_ = false;  // a list
};

/// The numbers and texts that an element holds directly, by keys that are not longer than those that are asked for.
class ElementValues {
 public:
  explicit ElementValues(const DocumentElements& elements) {
    constexpr std::size_t kPointerMax = 64;
    bool is_object = false;
    const bool is_json = for_each_json_value(elements.element(), [&](const std::string& pointer, nlohmann::json value) {
      if (pointer.empty()) {
        is_object = value.is_object();
      } else if (pointer.size() <= kPointerMax && pointer.find('/', 1) == std::string::npos && value.is_primitive()) {
        values_[pointer.substr(1)] = std::move(value);
      }
    });
    if (!is_json || !is_object) {
      elements.fail_here(fmt::format("an element of '{}' is not a JSON object", elements.member()));
    }
  }

  std::optional<std::int64_t> number(std::string_view key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? std::nullopt : as_whole_number<std::int64_t>(found->second);
  }
  std::optional<std::string> text(std::string_view key) const {
    const auto found = values_.find(key);
    if (found == values_.end() || !found->second.is_string()) return std::nullopt;
    return found->second.get<std::string>();
  }

 private:
  std::map<std::string, nlohmann::json, std::less<>> values_;
};

struct CocoImage {
  std::int64_t id = 0;
  std::uint64_t line = 0, name_begin = 0;  // in the text of all names
  std::uint32_t name_length = 0;
  std::uint32_t annotations = 0;
  std::int64_t category = 0;  // of the last of them
  std::uint64_t json_begin = 0, json_end = 0;
};

class CocoRows final : public ListRows {
 public:
  static constexpr std::uint64_t kJsonBytesMax = std::uint64_t{1} << 30;

  CocoRows(Source& list, const std::stop_token& stop) : list_(list) {
    std::uint64_t total = 0;
    find_all(stop, total);
    if (!has_images_) return;
    put_annotations_together(stop, total);
    one_each_ =
        std::all_of(images_.begin(), images_.end(), [](const CocoImage& image) { return image.annotations <= 1; });
    for (const auto& [id, name] : categories_) {
      ranks_.emplace(id, classes_.size());
      classes_.push_back(name);
    }
  }

  bool has_images() const { return has_images_; }

  void rewind() override { next_ = 0; }

  bool next(ListRow& row) override {
    if (next_ == images_.size()) return false;
    const CocoImage& image = images_[order_[next_++]];
    row.line = image.line;
    row.path.assign(names_, image.name_begin, image.name_length);
    row.label.reset();
    const auto rank = ranks_.find(image.category);
    if (one_each_ && image.annotations == 1 && rank != ranks_.end()) row.label = std::to_string(rank->second);
    row.values.clear();
    ListValue& json = row.values.emplace_back();
    json.name = "json";
    json.text.emplace(json_, image.json_begin, image.json_end - image.json_begin);
    return true;
  }

  std::optional<std::vector<std::string>> classes() const override {
    return one_each_ ? classes_ : std::vector<std::string>();
  }

  /// "annotations/instances_val2017.json" is about "val2017/", beside the folder that it is in.
  std::vector<std::string> other_folders() const override {
    const std::string& path = list_.name();
    std::string_view file = std::string_view(path).substr(path.rfind('/') + 1);
    file = file.substr(0, file.rfind('.'));
    const std::string set(file.substr(file.rfind('_') + 1));
    return {set + "/", "../" + set + "/", "images/", "../images/", "images/" + set + "/", "../images/" + set + "/"};
  }

 private:
  void find_all(const std::stop_token& stop, std::uint64_t& total) {
    std::vector<std::int64_t> annotated;  // annotations may precede images
    for (DocumentElements elements(list_, stop); elements.next();) {
      if (elements.member() == "images") {
        add_image(elements);
      } else if (elements.member() == "categories") {
        const ElementValues values(elements);
        const auto id = values.number("id");
        if (id) categories_.emplace(*id, values.text("name").value_or(std::to_string(*id)));
      } else if (elements.member() == "annotations") {
        total += elements.element().size() + 1;
        if (total > kJsonBytesMax) {
          fail(ErrorKind::kLimit, "'{}' has more than {} of annotations, which Stoker would keep in memory",
               list_.name(), byte_count(kJsonBytesMax));
        }
      }
    }
    order_.resize(images_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = i;
    // By number, so that annotations find them; `order_` remembers the list's.
    std::sort(order_.begin(), order_.end(),
              [&](std::size_t a, std::size_t b) { return images_[a].id < images_[b].id; });
    std::vector<CocoImage> sorted;
    sorted.reserve(images_.size());
    for (const std::size_t i : order_) sorted.push_back(images_[i]);
    std::vector<std::size_t> place(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) place[order_[i]] = i;
    order_ = std::move(place);
    images_ = std::move(sorted);
    const auto twice = std::adjacent_find(images_.begin(), images_.end(),
                                          [](const CocoImage& a, const CocoImage& b) { return a.id == b.id; });
    if (twice != images_.end()) fail(ErrorKind::kData, "'{}' has two images with the id {}", list_.name(), twice->id);
  }

  void add_image(const DocumentElements& elements) {
    has_images_ = true;
    const ElementValues values(elements);
    const auto id = values.number("id");
    std::optional<std::string> name = values.text("file_name");
    for (const std::string_view key : kPathColumns) {
      if (!name) name = values.text(key);
    }
    if (!id || !name) elements.fail_here("an image has no number 'id' or no text 'file_name'");
    images_.push_back(
        {.id = *id, .name_begin = names_.size(), .name_length = static_cast<std::uint32_t>(name->size())});
    names_ += *name;
  }

  CocoImage* find_image(const DocumentElements& elements, std::int64_t& category) {
    const ElementValues values(elements);
    const auto id = values.number("image_id");
    category = values.number("category_id").value_or(-1);
    if (!id) return nullptr;
    const auto found = std::lower_bound(images_.begin(), images_.end(), *id,
                                        [](const CocoImage& image, std::int64_t wanted) { return image.id < wanted; });
    return found != images_.end() && found->id == *id ? &*found : nullptr;
  }

  /// "[{...},{...}]" for each image, one after another in `json_`: once to see how long each is, once to write it.
  void put_annotations_together(const std::stop_token& stop, std::uint64_t total) {
    std::int64_t category = 0;
    for (DocumentElements elements(list_, stop); elements.next();) {
      if (elements.member() != "annotations") continue;
      if (CocoImage* const image = find_image(elements, category)) {
        image->json_end += elements.element().size();
        ++image->annotations;
        image->category = category;
      }
    }
    json_.reserve(static_cast<std::size_t>(total + 2 * images_.size()));
    for (CocoImage& image : images_) {
      const std::uint64_t length = 2 + image.json_end + (image.annotations > 0 ? image.annotations - 1 : 0);
      image.json_begin = image.json_end = json_.size();
      json_.resize(json_.size() + static_cast<std::size_t>(length), ']');
      json_[image.json_end++] = '[';
    }
    for (DocumentElements elements(list_, stop); elements.next();) {
      if (elements.member() != "annotations") continue;
      if (CocoImage* const image = find_image(elements, category)) {
        if (image->json_end != image->json_begin + 1) json_[image->json_end++] = ',';
        json_.replace(image->json_end, elements.element().size(), elements.element());
        image->json_end += elements.element().size();
      }
    }
    for (CocoImage& image : images_) ++image.json_end;  // the bracket that is there
  }

  Source& list_;
  bool has_images_ = false, one_each_ = false;
  std::vector<CocoImage> images_;   // by id
  std::vector<std::size_t> order_;  // of the list: which of them
  std::string names_, json_;
  std::map<std::int64_t, std::string> categories_;
  std::map<std::int64_t, std::size_t> ranks_;  // of their ids
  std::vector<std::string> classes_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<ListRows> coco_rows(Source& list, const std::stop_token& stop) {
  auto rows = std::make_unique<CocoRows>(list, stop);
  if (!rows->has_images()) return nullptr;
  return rows;
}

}  // namespace stoker
