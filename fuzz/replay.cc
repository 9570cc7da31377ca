// Runs every target on the inputs kept for it, and on what they become when a little is damaged: all that fuzzing once
// found stays found, with any compiler. Usage: fuzz_replay CORPUS [TARGET|PART/PARTS]; PART is 0, 1 ... PARTS - 1
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "fuzz/fuzz_target.h"
#include "stoker/base/parse_number.h"
#include "stoker/base/sanitizers.h"

#if STOKER_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDamagedBytesMax = 4096;  // larger inputs are run as they are
constexpr const char* kCrashPath = "fuzz_replay-crash";

// What is being run, for a handler that may do little.
Bytes at_hand;
std::string what_is_at_hand;

/// Keeps the input that ended the program.
void keep_input() {
  const auto say = [](const std::string& text) { return ::write(STDERR_FILENO, text.data(), text.size()); };
  const int file = ::open(kCrashPath, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  const bool kept = file >= 0 && ::write(file, at_hand.data(), at_hand.size()) >= 0;
  if (say(what_is_at_hand) < 0 || !kept || say("The input is kept as 'fuzz_replay-crash' in this folder.\n") < 0)
    return;
}

void on_crash(int signal) {
  keep_input();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

class Replay {
 public:
  explicit Replay(const FuzzTarget& target) : target_(target), thorough_(std::getenv("STOKER_TEST_FULL") != nullptr) {}

  void run_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<std::uint8_t> input{std::istreambuf_iterator<char>(file), {}};
    require_that(!file.bad(), "an input can be read");
    what_is_at_hand = fmt::format("fuzz_replay: this was target {} with {}, or with what it became by damage\n",
                                  target_.name, path.string());
    run(input);
    ++files_;
    if (input.size() > kDamagedBytesMax) return;
    // An odd distance, so that the places do not fall into the same column of every record.
    const std::size_t step = thorough_ ? 1 : input.size() / target_.places_max | 1;
    for (std::size_t size = 0; size < input.size(); size += step) {
      run_both({input.begin(), input.begin() + static_cast<std::ptrdiff_t>(size)});
    }
    for (std::size_t i = 0; i < input.size(); i += step) {
      for (int change = 1; change < 256; change += thorough_ || input.size() <= 64 ? 1 : 127) {
        std::vector<std::uint8_t> damaged = input;
        damaged[i] = static_cast<std::uint8_t>(damaged[i] ^ change);  // 1, 128 and 255 at the least
        run_both(std::move(damaged));
      }
    }
  }

  std::size_t files() const { return files_; }
  std::size_t runs() const { return runs_; }

 private:
  void run(const std::vector<std::uint8_t>& input) {
    at_hand = input;
    target_.run(input);
    ++runs_;
  }

  /// As it is, and with right checksums.
  void run_both(std::vector<std::uint8_t> input) {
    input.shrink_to_fit();  // so that AddressSanitizer sees every byte read past it
    run(input);
    if (target_.repair == nullptr) return;
    std::vector<std::uint8_t> repaired = input;
    target_.repair(repaired);
    if (repaired != input) run(repaired);
  }

  const FuzzTarget& target_;
  const bool thorough_;
  std::size_t files_ = 0, runs_ = 0;
};

/// What is replayed: one target, or of all inputs every so many, so that several cores may share them.
struct Choice {
  std::string target{};
  std::size_t part = 0, parts = 1;
};

Choice parse_choice(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return {.target = text};
  const std::optional<std::size_t> part = parse_number<std::size_t>(text.substr(0, slash)),
                                   parts = parse_number<std::size_t>(text.substr(slash + 1));
  return part && parts && *part < *parts ? Choice{.part = *part, .parts = *parts} : Choice{.target = text};
}

int replay(const fs::path& corpus, const Choice& choice) {
  bool any = false;
  std::size_t seen = 0;
  for (const FuzzTarget& target : fuzz_targets()) {
    if (!choice.target.empty() && choice.target != target.name) continue;
    any = true;
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(corpus / target.name)) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    Replay inputs(target);
    for (const fs::path& path : paths) {
      if (seen++ % choice.parts == choice.part) inputs.run_file(path);
    }
    fmt::print("{}: {} of {} inputs kept, {} run\n", target.name, inputs.files(), paths.size(), inputs.runs());
    if (paths.empty()) {
      fmt::print(stderr, "fuzz_replay: {} has no inputs in '{}'\n", target.name, corpus.string());
      return 1;
    }
  }
  if (!any) fmt::print(stderr, "fuzz_replay: there is no target '{}'\n", choice.target);
  return any ? 0 : 1;
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fmt::print(stderr, "usage: fuzz_replay CORPUS [TARGET|PART/PARTS]\n");
    return 2;
  }
#if STOKER_ADDRESS_SANITIZER
  __sanitizer_set_death_callback(stoker::keep_input);
#endif
  std::signal(SIGABRT, stoker::on_crash);
#if !STOKER_ADDRESS_SANITIZER
  std::signal(SIGSEGV, stoker::on_crash);
#endif
  return stoker::replay(argv[1], argc > 2 ? stoker::parse_choice(argv[2]) : stoker::Choice());
}
