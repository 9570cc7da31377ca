#include "stoker/page/xml_testing.h"

#include <fmt/format.h>

#include <cctype>
#include <set>
#include <vector>

namespace stoker {
namespace {

class Checker {
 public:
  explicit Checker(std::string_view xml) : all_(xml), left_(xml) {}

  std::string fault() {
    if (left_.starts_with("<!DOCTYPE ")) skip_to(">");
    while (fault_.empty() && !left_.empty()) {
      if (take("<![CDATA[")) {
        skip_to("]]>");
      } else if (left_.starts_with("</")) {
        end_tag();
      } else if (left_.front() == '<') {
        start_tag();
      } else {
        text();
      }
    }
    if (fault_.empty() && !open_.empty()) complain(open_.back() + " is never closed");
    if (fault_.empty() && roots_ != 1) complain(fmt::format("{} root elements", roots_));
    return fault_;
  }

 private:
  void complain(const std::string& what) {
    if (fault_.empty()) fault_ = fmt::format("{}, at byte {}", what, all_.size() - left_.size());
  }
  void skip_to(std::string_view end) {
    const std::size_t at = left_.find(end);
    if (at == std::string_view::npos) return complain(fmt::format("no '{}' follows", end));
    left_.remove_prefix(at + end.size());
  }
  bool take(std::string_view what) {
    if (!left_.starts_with(what)) return false;
    left_.remove_prefix(what.size());
    return true;
  }
  std::string name() {
    std::size_t size = 0;
    while (size < left_.size() && (std::isalnum(static_cast<unsigned char>(left_[size])) != 0 || left_[size] == '-'))
      ++size;
    if (size == 0) complain("a name is missing");
    const std::string name(left_.substr(0, size));
    left_.remove_prefix(size);
    return name;
  }
  void start_tag() {
    left_.remove_prefix(1);
    const std::string element = name();
    std::set<std::string> attributes;
    while (fault_.empty() && take(" ")) {
      const std::string attribute = name();
      if (!attributes.insert(attribute).second) complain(attribute + " stands twice");
      if (!take("=\"")) return complain("no quote before the value of " + attribute);
      const std::string_view value = left_.substr(0, left_.find('"'));
      characters(value);
      if (fault_.empty()) skip_to("\"");
    }
    roots_ += open_.empty();
    if (take("/>")) return;
    if (!take(">")) return complain("the tag of " + element + " does not end");
    open_.push_back(element);
  }
  void end_tag() {
    left_.remove_prefix(2);
    const std::string element = name();
    if (!take(">")) return complain("the end tag of " + element + " does not end");
    if (open_.empty() || open_.back() != element) return complain(element + " ends and is not open");
    open_.pop_back();
  }
  void text() {
    const std::string_view text = left_.substr(0, left_.find('<'));
    if (open_.empty() && text.find_first_not_of('\n') != std::string_view::npos) return complain("text outside");
    characters(text);
    left_.remove_prefix(text.size());
  }
  void characters(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '<') complain("a bare <");
      if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r') complain("a control byte");
      if (c != '&') continue;
      const std::string_view entity = text.substr(i, text.find(';', i) - i + 1);
      static const std::set<std::string_view> kKnown = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
      if (!kKnown.contains(entity)) complain("a bare &");
    }
  }

  std::string_view all_, left_;
  std::string fault_;
  std::vector<std::string> open_;
  int roots_ = 0;
};

}  // namespace

std::string xml_fault(std::string_view xml) { return Checker(xml).fault(); }

}  // namespace stoker
