// Writes HTML and SVG that is well-formed XML too, so that browsers show it and any XML parser can check it.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

/// Text as it may stand between tags and in attributes. What XML has no place for, control bytes and bytes that are no
/// UTF-8, becomes U+FFFD.
std::string markup_escaped(std::string_view text);

class Markup {
 public:
  struct Attribute {
    std::string_view name;
    std::string value;

    template <typename Value>
    Attribute(std::string_view called, const Value& of) : name(called), value(fmt::format("{}", of)) {}
    /// Lengths and places: a tenth of a pixel is enough.
    Attribute(std::string_view called, double of) : name(called), value(number(of)) {}
  };
  using Attributes = std::initializer_list<Attribute>;

  /// A number with at most one decimal.
  static std::string number(double value);

  void open(std::string_view name, Attributes attributes = {});
  /// The innermost element that is open.
  void close();
  void text(std::string_view text);
  /// Opens it, writes the text, closes it.
  void element(std::string_view name, Attributes attributes, std::string_view text);
  /// One without content. HTML has a few such (meta, col); of SVG's all may be.
  void empty(std::string_view name, Attributes attributes = {});
  /// As it is: what is known to be markup already, or a style sheet, which HTML does not unescape.
  void raw(std::string_view markup) { out_ += markup; }
  void line_break() { out_ += '\n'; }

  /// All that was written. Every element must have been closed.
  std::string take();

 private:
  void tag(std::string_view name, Attributes attributes);

  std::string out_;
  std::vector<std::string> open_;
};

}  // namespace stoker
