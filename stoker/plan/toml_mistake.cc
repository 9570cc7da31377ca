#include "stoker/plan/toml_mistake.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "stoker/base/spelling.h"

namespace stoker {
namespace {

constexpr std::string_view kBlank = " \t\r";
constexpr std::string_view kWordEnds = " \t\r\n,=#[]{}\"'";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
struct Mistake {
  std::uint32_t line;
  std::string why;
  bool shows_line = false;  // `why` has what stands there
};

// Reads a text as TOML as far as it takes to see the first mistake, of those that people make.
class MistakeFinder {
 public:
  explicit MistakeFinder(std::string_view text) : text_(text) {}

  std::optional<Mistake> find() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    while (!mistake_ && at_ < text_.size()) step();
    if (!mistake_ && !open_.empty()) report_open();
    return mistake_;
  }

 private:
  enum class Next : std::uint8_t { kName, kEquals, kValue, kComma };
  struct Bracket {
    char kind;
    std::uint32_t line;
  };

  void report(std::string why, bool shows_line = false) { mistake_ = Mistake{line_, std::move(why), shows_line}; }

  void report_open() {
    const Bracket& bracket = open_.back();
    mistake_ = Mistake{line_,
                       fmt::format("the {} that opens in line {} is not closed with {}", bracket.kind, bracket.line,
                                   bracket.kind == '[' ? ']' : '}'),
                       false};
  }

  bool in(char bracket) const { return !open_.empty() && open_.back().kind == bracket; }

  std::string_view rest_of_line() const { return text_.substr(at_, text_.find('\n', at_) - at_); }

  void step() {
    const char c = text_[at_];
    if (c == '\n') return end_line();
    if (kBlank.find(c) != std::string_view::npos) {
      ++at_;
    } else if (c == '#') {
      at_ += rest_of_line().size();
    } else if (c == '=') {
      equals();
    } else if (c == ',') {
      ++at_;
      next_ = in('[') ? Next::kValue : Next::kName;
    } else if (c == ']' || c == '}') {
      close(c);
    } else if (c == '[' || c == '{') {
      open(c);
    } else if (c == '"' || c == '\'') {
      string(c);
    } else {
      word();
    }
  }

  void end_line() {
    if (in('{')) return report("a table in braces must be on one line");
    if (open_.empty() && (next_ == Next::kEquals || next_ == Next::kValue)) {
      return report(fmt::format("'{0}' has no value; write {0} = VALUE", name_));
    }
    if (open_.empty()) next_ = Next::kName;
    ++at_;
    ++line_;
  }

  void equals() {
    ++at_;
    if (in('[')) return report_open();  // a name stands in a list
    next_ = Next::kValue;
  }

  void open(char kind) {
    if (open_.empty() && next_ == Next::kName) {
      if (kind == '{') return report("this is JSON, but a recipe is written in TOML: [[view]], then NAME = VALUE");
      at_ += rest_of_line().size();  // of a table: the parser's words will do
      return;
    }
    if (!may_begin_value(kind == '[' ? "[" : "{")) return;
    open_.push_back({kind, line_});
    next_ = kind == '[' ? Next::kValue : Next::kName;
    ++at_;
  }

  void close(char kind) {
    ++at_;
    if (open_.empty() || in(kind == ']' ? '{' : '[')) {
      return open_.empty() ? report(fmt::format("{} closes nothing", kind)) : report_open();
    }
    open_.pop_back();
    next_ = Next::kComma;
  }

  // Whether a value may stand here; reports what is missing before it.
  bool may_begin_value(std::string_view shown) {
    if (next_ == Next::kValue) return true;
    if (next_ == Next::kComma && !open_.empty()) report(fmt::format("a comma is missing before `{}`", shown));
    if (next_ == Next::kComma && open_.empty()) report(fmt::format("`{}` follows the value", shown));
    if (next_ == Next::kEquals) report(fmt::format("= is missing after `{}`", name_));
    if (next_ == Next::kName) report(fmt::format("a name is missing before `{}`", shown));
    return false;
  }

  void string(char quote) {
    const std::string_view three = text_.substr(at_, 3);
    if (three == std::string(3, quote)) {
      const std::size_t end = text_.find(three, at_ + 3);
      const std::string_view whole = text_.substr(at_, end == std::string_view::npos ? end : end + 3 - at_);
      line_ += static_cast<std::uint32_t>(std::count(whole.begin(), whole.end(), '\n'));
      at_ += whole.size();
      next_ = Next::kComma;
      return;
    }
    const std::string_view line = text_.substr(at_);
    const auto ends = [&](std::size_t at) { return at >= line.size() || line[at] == '\n'; };
    std::size_t end = 1;
    for (; !ends(end) && line[end] != quote; ++end) {
      if (quote == '\'' || line[end] != '\\' || ends(end + 1)) continue;
      if (++end; std::string_view("btnfre\"\\xuU").find(line[end]) == std::string_view::npos) {
        return report(fmt::format(
            R"(`\{}` in double quotes is not a character; use single quotes, which keep \ as it is)", line[end]));
      }
    }
    if (ends(end)) return report(fmt::format("the text that begins with {} does not end on this line", quote));
    const std::string_view content = line.substr(1, end - 1);
    if (next_ == Next::kName) {
      name_ = content;
      next_ = Next::kEquals;
    } else if (may_begin_value(line.substr(0, end + 1))) {
      next_ = Next::kComma;
    }
    at_ += end + 1;
  }

  void word() {
    const std::size_t end = std::min(text_.find_first_of(kWordEnds, at_), text_.size());
    const std::string_view text = text_.substr(at_, std::max<std::size_t>(end - at_, 1));
    const std::size_t after = text_.find_first_not_of(kBlank, end);
    const bool names = after != std::string_view::npos && text_[after] == '=';
    at_ += text.size();
    if (in('[') && names) return report_open();
    if (text.starts_with("//")) return report("a comment begins with #");
    if (next_ == Next::kName) return name(text);
    if (next_ == Next::kEquals && text.starts_with(':')) return colon(name_);
    if (!may_begin_value(text)) return;
    value(text);
    next_ = Next::kComma;
  }

  void name(std::string_view text) {
    name_ = text.substr(0, text.find(':'));
    if (name_.size() < text.size()) return colon(name_);
    next_ = Next::kEquals;
  }

  void colon(std::string_view name) {
    report(fmt::format("write = between a name and its value, not a colon: {} = VALUE", name));
  }

  void value(std::string_view word) {
    if (word == "True" || word == "False" || word == "TRUE" || word == "FALSE") {
      return report(fmt::format("`{}` must be written {}", word, word[0] == 'T' ? "true" : "false"));
    }
    if (word == "None" || word == "null" || word == "nil") {
      return report(fmt::format("TOML has no `{}`; leave out '{}'", word, name_));
    }
    if (word.starts_with('(')) return report("a list is written in square brackets: [3, 4]");
    if (word.starts_with("\u201C") || word.starts_with("\u201D") || word.starts_with("\u2018")) {
      return report("these are typographic quotes; TOML uses \" and '");
    }
    if (const std::size_t call = word.find('('); is_letter(word[0]) && call != std::string_view::npos) {
      return report(fmt::format("an operator is not called as in Python; write it as {{ op = \"{}\", NAME = VALUE }}",
                                word.substr(0, call)));
    }
    if (word.size() > 1 && word[0] == '.' && is_digit(word[1])) {
      return report(fmt::format("a number needs a digit before its point: 0{}", word));
    }
    const bool is_known = word == "true" || word == "false" || word == "inf" || word == "nan";
    const bool is_text = is_letter(word[0]) || word[0] == '_' || word[0] == '/' || word[0] == '.' || word[0] == '~';
    if (is_known || !is_text) return;
    const std::string written = in('[') ? fmt::format("\"{}\"", word) : fmt::format("{} = \"{}\"", name_, word);
    report(fmt::format("`{}` is not quoted; write text in quotes: {}", word, written), true);
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  Next next_ = Next::kName;
  std::string_view name_;  // the last
  std::vector<Bracket> open_;
  std::optional<Mistake> mistake_;
};

// As messages show it: without what is around it, not too long, in one line.
std::string shown_line(std::string_view text, std::uint32_t number) {
  constexpr std::size_t kShown = 80;
  for (std::uint32_t line = 1; line < number; ++line) {
    const std::size_t end = text.find('\n');
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  text = text.substr(0, text.find_last_not_of(kBlank) + 1);
  std::string shown;
  for (const char c : text.substr(0, kShown)) {
    const auto byte = static_cast<unsigned char>(c);
    shown += byte < 0x20 || byte == 0x7F ? fmt::format("\\u{:04X}", byte) : std::string(1, c);
  }
  return text.size() > kShown ? shown + "..." : shown;
}

std::string with_line(std::string sentence, std::string_view text, std::uint32_t number) {
  const std::string line = shown_line(text, number);
  return line.empty() ? sentence : fmt::format("{}: `{}`", sentence, line);
}

}  // namespace

std::string toml_mistake(std::string_view text, const TomlComplaint& complaint) {
  const std::optional<Mistake> mistake = MistakeFinder(text).find();
  // The parser is right about where; it may stand at the end of a line where this stands at the next one's beginning.
  if (mistake && mistake->line <= complaint.line + 1 && mistake->line + 1 >= complaint.line) {
    const std::string sentence = fmt::format("line {}: {}", mistake->line, mistake->why);
    return mistake->shows_line ? sentence : with_line(sentence, text, mistake->line);
  }
  constexpr std::string_view kTwice = "cannot redefine existing ";
  if (const std::size_t twice = complaint.words.find(kTwice); twice != std::string_view::npos) {
    const std::string_view what = complaint.words.substr(twice + kTwice.size());
    const std::string_view name = what.substr(std::min(what.find('\''), what.size()));
    return with_line(fmt::format("line {}: {} is given twice", complaint.line, name.empty() ? what : name), text,
                     complaint.line);
  }
  return with_line(fmt::format("line {}, column {}: {}", complaint.line, complaint.column, complaint.words), text,
                   complaint.line);
}

}  // namespace stoker
