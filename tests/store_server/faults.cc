#include "tests/store_server/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "tests/store_server/xml_answer.h"

namespace stoker {
namespace {

constexpr double kDripBytesPerS = 1000;
constexpr double kLateS = 1;

constexpr std::array kNames = {
    std::pair(Fault::k500, "500"),
    std::pair(Fault::k503, "503"),
    std::pair(Fault::k503RetryAfter, "503-retry-after"),
    std::pair(Fault::kReset, "reset"),
    std::pair(Fault::kSilence, "silence"),
    std::pair(Fault::kDrip, "drip"),
    std::pair(Fault::kShort, "short"),
    std::pair(Fault::kWrongLength, "wrong-length"),
    std::pair(Fault::kWrongRange, "wrong-range"),
    std::pair(Fault::kChangedTag, "changed-tag"),
    std::pair(Fault::kGarbage, "garbage"),
    std::pair(Fault::kNotHttp, "not-http"),
    std::pair(Fault::kLost, "lost"),
    std::pair(Fault::kMute, "mute"),
    std::pair(Fault::kLate, "late"),
    std::pair(Fault::kInternalError, "internal-error"),
};

std::string random_bytes(std::mt19937_64& random) {
  std::string bytes(200, '\0');
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random()); });
  return bytes;
}

void cut(Answer& answer) {
  answer.length /= 2;
  answer.text.resize(answer.text.size() / 2);
}

void apply(Fault fault, Answer& answer, std::mt19937_64& random) {
  switch (fault) {
    case Fault::k500: answer = Answer::of_status("500 Internal Server Error", "no luck"); return;
    case Fault::k503: answer = Answer::of_status("503 Slow Down", "no luck"); return;
    case Fault::k503RetryAfter:
      answer = Answer::of_status("503 Slow Down");
      answer.fields["Retry-After"] = random() % 2 ? "0" : "Thu, 01 Jan 1970 00:00:00 GMT";
      return;
    case Fault::kReset:
      cut(answer);
      answer.after = Answer::After::kReset;
      return;
    case Fault::kSilence: answer.after = Answer::After::kSilent; return;
    case Fault::kDrip: answer.bytes_per_s = kDripBytesPerS; return;
    case Fault::kShort:
      cut(answer);
      answer.after = Answer::After::kClose;
      return;
    case Fault::kWrongLength:
      answer.length -= std::min<std::uint64_t>(answer.length, 3);
      answer.fields["Content-Length"] = fmt::to_string(answer.text.size() + answer.length);
      return;
    case Fault::kWrongRange:
      answer.fields["Content-Range"] = fmt::format("bytes 1-{}/{}", answer.length, answer.length + 1);
      return;
    case Fault::kChangedTag: answer.fields["ETag"] = "\"another\""; return;
    case Fault::kGarbage: answer = Answer::of_status("200 OK", "<html>what a proxy has to say</html>"); return;
    case Fault::kNotHttp:
      answer = {};
      answer.status.clear();
      answer.text = random_bytes(random);
      answer.after = Answer::After::kClose;
      return;
    case Fault::kLost:
      answer = {};
      answer.status.clear();
      answer.after = Answer::After::kReset;
      return;
    case Fault::kMute: answer.after = Answer::After::kSilent; return;
    case Fault::kLate: answer.late_s = kLateS; return;
    case Fault::kInternalError: answer = refusal("200 OK", "InternalError"); return;
  }
}

/// Of an answer to a request that writes: within its document, or else within its head.
void cut_short(Answer& answer) {
  const std::string whole = answer.opening();
  const std::size_t left_out = (answer.text.empty() ? whole : answer.text).size() / 2;
  answer = {};
  answer.status.clear();
  answer.text = whole.substr(0, whole.size() - left_out);
  answer.after = Answer::After::kClose;
}

bool applies(Fault fault, const RequestHead& asked) {
  switch (fault) {
    case Fault::kInternalError: return asked.step() == "complete";
    case Fault::kDrip:
    case Fault::kWrongLength:
    case Fault::kWrongRange:
    case Fault::kChangedTag:
    case Fault::kGarbage:
    case Fault::kNotHttp: return !asked.writes();
    default: return true;
  }
}

}  // namespace

std::string_view name_of(Fault fault) {
  return std::find_if(kNames.begin(), kNames.end(), [&](const auto& known) { return known.first == fault; })->second;
}

std::optional<Fault> find_fault(std::string_view name) {
  const auto* const found =
      std::find_if(kNames.begin(), kNames.end(), [&](const auto& known) { return known.second == name; });
  if (found == kNames.end()) return std::nullopt;
  return found->first;
}

std::optional<Fault> Faults::draw(const RequestHead& asked, std::uint64_t number) {
  if (made_ == options_.most || number <= options_.after || (!options_.step.empty() && options_.step != asked.step()))
    return std::nullopt;
  std::vector<Fault> kinds;
  std::copy_if(options_.kinds.begin(), options_.kinds.end(), std::back_inserter(kinds),
               [&](Fault fault) { return applies(fault, asked); });
  if (kinds.empty() || std::uniform_real_distribution(0.0, 1.0)(random_) >= options_.share) return std::nullopt;
  ++made_;
  return kinds[random_() % kinds.size()];
}

bool Faults::is_carried_out(Fault fault) {
  switch (fault) {
    case Fault::kShort:
    case Fault::kLost:
    case Fault::kMute:
    case Fault::kLate: return true;
    case Fault::kInternalError: return ++internal_errors_ % 2 == 0;
    default: return false;
  }
}

void Faults::spoil(Fault fault, const RequestHead& asked, Answer& answer) {
  if (fault == Fault::kShort && asked.writes()) return cut_short(answer);
  apply(fault, answer, random_);
}

}  // namespace stoker
