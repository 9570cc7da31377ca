#include "stoker/pack/token_pack.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"
#include "stoker/base/words.h"
#include "stoker/format/open/path_pattern.h"
#include "stoker/format/sequential_reader.h"
#include "stoker/format/tokens/megatron_index.h"
#include "stoker/pack/pack_folder.h"
#include "stoker/pack/source_state.h"
#include "stoker/tensor/token_type.h"

namespace stoker {
namespace {

constexpr Word<TokenUnit> kTokenUnits[] = {{TokenUnit::kWords, "words"}, {TokenUnit::kBytes, "bytes"}};
constexpr std::size_t kTextBlock = std::size_t{256} << 10, kWordMost = std::size_t{64} << 10;
constexpr std::size_t kDistinctMost = std::size_t{1} << 26;  // words, while they are counted

constexpr bool is_space(std::uint8_t byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

// The words of texts, one after another.
class WordReader {
 public:
  WordReader(std::vector<std::shared_ptr<Source>> texts, const TokenPackOptions& options)
      : texts_(std::move(texts)), options_(options) {
    for (const auto& text : texts_) total_ += static_cast<std::int64_t>(text->size());
  }

  /// Calls see(word) for each word and each end of a line, and ended() after each text.
  template <typename See, typename Ended>
  void read(int pass, int passes, const See& see, const Ended& ended) {
    std::int64_t done = pass * total_;
    std::string word;
    for (const auto& text : texts_) {
      SequentialReader reader(*text);
      bool in_line = false;
      while (reader.left() > 0) {
        if (options_.stop.stop_requested()) fail(ErrorKind::kClosed, "stopped while words were read");
        const Bytes block = reader.take(static_cast<std::size_t>(std::min<std::uint64_t>(reader.left(), kTextBlock)));
        for (const std::uint8_t byte : block) {
          if (!is_space(byte)) {
            in_line = true;
            if (word.size() == kWordMost) {
              fail(ErrorKind::kData, "'{}' has a word of more than {}: it is no text of words", text->name(),
                   byte_count(kWordMost));
            }
            word += static_cast<char>(byte);
            continue;
          }
          if (!word.empty()) see(word);
          word.clear();
          if (byte != '\n') continue;
          see(std::string(kEndOfLine));
          in_line = false;
        }
        done += static_cast<std::int64_t>(block.size());
        if (options_.progress) options_.progress(done, passes * total_);
      }
      if (!word.empty()) see(word);
      word.clear();
      if (in_line) see(std::string(kEndOfLine));
      ended();
    }
  }

 private:
  std::vector<std::shared_ptr<Source>> texts_;
  const TokenPackOptions& options_;
  std::int64_t total_ = 0;
};

class Vocabulary {
 public:
  /// The most frequent words; of equally frequent ones the first in the order of their bytes.
  static Vocabulary of(WordReader& texts, std::int64_t most) {
    std::unordered_map<std::string, std::int64_t> counts;
    texts.read(
        0, 2,
        [&](const std::string& word) {
          ++counts[word];
          if (counts.size() > kDistinctMost) {
            fail(ErrorKind::kLimit, "the text has more than {} different words; write its tokens by a tokeniser's own",
                 kDistinctMost);
          }
        },
        [] {});
    // What is limited is for other texts, too, whose words may all be others.
    const bool is_limited = most > 0;
    const auto room = static_cast<std::size_t>(is_limited ? most : std::int64_t{1} << 31);
    if (is_limited) {
      counts.emplace(kEndOfLine, 0);
      counts.emplace(kUnknownWord, 0);
    }
    std::vector<std::pair<std::string, std::int64_t>> ranked(counts.begin(), counts.end());
    const auto must_stay = [&](const std::string& word) {
      return is_limited && (word == kEndOfLine || word == kUnknownWord);
    };
    std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    std::size_t fixed = 0;
    for (const auto& [word, count] : ranked) fixed += must_stay(word) ? 1 : 0;
    Vocabulary made;
    for (auto& [word, count] : ranked) {
      const bool stays = must_stay(word);
      if (!stays && made.words_.size() + fixed >= room) continue;
      fixed -= stays ? 1 : 0;
      made.add(std::move(word));
    }
    return made;
  }

  static Vocabulary from(Source& list) {
    Vocabulary made;
    const std::string text = read_whole(list);
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      made.add(text.substr(begin, end - begin));
      begin = end + 1;
    }
    if (made.words_.empty()) fail(ErrorKind::kData, "'{}' has no words", list.name());
    if (made.numbers_.size() != made.words_.size()) fail(ErrorKind::kData, "'{}' has a word twice", list.name());
    return made;
  }

  /// Nothing for a word that is neither known nor may be unknown.
  std::optional<std::int64_t> number_of(const std::string& word) const {
    const auto found = numbers_.find(word);
    if (found != numbers_.end()) return found->second;
    return unknown();
  }
  std::optional<std::int64_t> unknown() const {
    const auto found = numbers_.find(std::string(kUnknownWord));
    return found == numbers_.end() ? std::nullopt : std::optional(found->second);
  }
  bool knows(const std::string& word) const { return numbers_.contains(word); }
  std::size_t size() const { return words_.size(); }
  std::string text() const {
    std::string lines;
    for (const std::string& word : words_) lines += word + '\n';
    return lines;
  }

 private:
  void add(std::string word) {
    numbers_.emplace(word, static_cast<std::int64_t>(words_.size()));
    words_.push_back(std::move(word));
  }

  std::vector<std::string> words_;
  std::unordered_map<std::string, std::int64_t> numbers_;
};

constexpr std::string_view kBinName = "tokens.bin", kIndexName = "tokens.idx", kVocabName = "vocab.txt";

// The two files of tokens.
class TokenWriter {
 public:
  TokenWriter(const Stores& stores, const Location& folder, TokenType type)
      : bin_(stores.put(folder / kBinName)), idx_(stores.put(folder / kIndexName)), index_(type), type_(type) {}

  void add(std::int64_t token) {
    for (std::size_t i = 0; i < size_of(type_); ++i) waiting_.push_back(static_cast<std::uint8_t>(token >> 8 * i));
    if (waiting_.size() >= kTextBlock) flush();
    index_.add_token();
  }
  void add_bytes(Bytes bytes) {
    flush();
    write(bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) index_.add_token();
  }
  void end_document() { index_.end_document(); }

  /// The index last: without it the tokens are none.
  Manifest commit() {
    flush();
    const std::vector<std::uint8_t> index = index_.bytes();
    bin_->commit();
    idx_->write(index);
    idx_->commit();
    Manifest made;
    made.fields = {fmt::format("tokens.{}", to_string(type_))};
    made.files = {{.name = std::string(kBinName), .hash = hasher_.digest()},
                  {.name = std::string(kIndexName), .hash = hash64(index)}};
    made.tokens = {.documents = index_.documents(), .tokens = static_cast<std::int64_t>(bytes_ / size_of(type_))};
    return made;
  }

 private:
  void write(Bytes bytes) {
    bin_->write(bytes);
    hasher_.update(bytes);
    bytes_ += bytes.size();
  }
  void flush() {
    write(waiting_);
    waiting_.clear();
  }

  std::unique_ptr<ObjectWriter> bin_, idx_;
  MegatronIndexWriter index_;
  TokenType type_;
  Hasher64 hasher_;
  std::vector<std::uint8_t> waiting_;
  std::uint64_t bytes_ = 0;
};

constexpr int kTokenPackVersion = 1;

// What decides the bytes of the pack.
std::string job_of(const std::vector<FileState>& files, const TokenPackOptions& options) {
  Hasher64 versions;
  for (const FileState& file : files) versions.update(as_bytes(file.version() + '\n'));
  return fmt::format(
      "pack tokens {}, {}, vocabulary {}, files {}", kTokenPackVersion, word_of(kTokenUnits, options.unit),
      options.vocab_file.empty() ? fmt::format("{}", options.vocab) : "of a list", to_hex(versions.digest()));
}

// `all_read`: to be called before the first whole file appears.
Manifest pack_words(const std::vector<std::shared_ptr<Source>>& texts, const Location& folder,
                    const TokenPackOptions& options, const std::function<void()>& all_read) {
  WordReader reader(texts, options);
  const bool is_given = !options.vocab_file.empty();
  const Vocabulary vocabulary = is_given ? Vocabulary::from(*options.stores.open(Location(options.vocab_file)))
                                         : Vocabulary::of(reader, options.vocab);
  constexpr std::size_t kMostOf16Bits = std::size_t{1} << 16;
  TokenWriter writer(options.stores, folder, vocabulary.size() <= kMostOf16Bits ? TokenType::kU16 : TokenType::kI32);
  std::int64_t unknown = 0;
  reader.read(
      is_given ? 0 : 1, is_given ? 1 : 2,
      [&](const std::string& word) {
        const std::optional<std::int64_t> number = vocabulary.number_of(word);
        if (!number) {
          fail(ErrorKind::kData,
               "the word '{}' is not in '{}', which has no '{}' for unknown words; make the list again by packing its "
               "text with --vocab N, which adds that word",
               word, Location(options.vocab_file), kUnknownWord);
        }
        if (!vocabulary.knows(word)) ++unknown;
        writer.add(*number);
      },
      [&] { writer.end_document(); });
  const std::string words = vocabulary.text();
  all_read();
  put_whole(options.stores, folder / kVocabName, as_bytes(words));
  Manifest made = writer.commit();
  made.files.push_back({.name = std::string(kVocabName), .hash = hash64(words)});
  made.tokens->unknown = unknown;
  made.tokens->words = static_cast<std::int64_t>(vocabulary.size());
  return made;
}

Manifest pack_bytes(const std::vector<std::shared_ptr<Source>>& texts, const Location& folder,
                    const TokenPackOptions& options, const std::function<void()>& all_read) {
  TokenWriter writer(options.stores, folder, TokenType::kU8);
  std::int64_t done = 0, total = 0;
  for (const auto& text : texts) total += static_cast<std::int64_t>(text->size());
  for (const auto& text : texts) {
    SequentialReader reader(*text);
    while (reader.left() > 0) {
      if (options.stop.stop_requested()) fail(ErrorKind::kClosed, "stopped while bytes were read");
      const Bytes block = reader.take(static_cast<std::size_t>(std::min<std::uint64_t>(reader.left(), kTextBlock)));
      writer.add_bytes(block);
      done += static_cast<std::int64_t>(block.size());
      if (options.progress) options.progress(done, total);
    }
    writer.end_document();
  }
  all_read();
  return writer.commit();
}

TokenPackResult result_of(const Manifest& made, const PackFolder& folder, const Stores& stores) {
  return {.documents = made.tokens->documents,
          .tokens = made.tokens->tokens,
          .unknown = made.tokens->unknown,
          .words = made.tokens->words,
          .bytes = stores.stat(folder.location() / kBinName, "look at").size};
}

}  // namespace

TokenUnit parse_token_unit(std::string_view name) { return value_of(kTokenUnits, name, "not what tokens are made of"); }

TokenPackResult pack_tokens(const std::vector<std::string>& files, const std::string& to,
                            const TokenPackOptions& options) {
  if (options.vocab > 0 && !options.vocab_file.empty()) {
    fail(ErrorKind::kUsage, "a vocabulary is either a number of words, or a list of them");
  }
  if (options.unit == TokenUnit::kBytes && (options.vocab > 0 || !options.vocab_file.empty())) {
    fail(ErrorKind::kUsage, "bytes need no vocabulary");
  }
  if (options.vocab == 1)
    fail(ErrorKind::kUsage, "a vocabulary of 1 word has no room for '{}' and '{}'", kEndOfLine, kUnknownWord);
  std::vector<std::shared_ptr<Source>> texts;
  std::vector<FileState> states;
  std::uint64_t bytes = 0;
  for (const std::string& pattern : files) {
    for (const Location& at : expand_pattern(Location(pattern), options.stores)) {
      states.emplace_back(options.stores, at);
      texts.push_back(options.stores.open(at));
      bytes += texts.back()->size();
    }
  }
  if (bytes == 0) fail(ErrorKind::kData, "'{}' has no text", files.empty() ? Location() : Location(files.front()));
  if (!options.vocab_file.empty()) states.emplace_back(options.stores, Location(options.vocab_file));
  const std::string job = job_of(states, options);
  const PackFolder folder(options.stores, Location(to), job);
  if (!folder.has_work_left()) {
    return result_of(*Manifest::read(options.stores, folder.location()), folder, options.stores);
  }
  options.stores.create_folder(folder.location());
  const auto all_read = [&] {
    for (const FileState& state : states) state.require_unchanged();
    folder.mark();
  };
  const auto pack = options.unit == TokenUnit::kWords ? pack_words : pack_bytes;
  Manifest made = pack(texts, folder.location(), options, all_read);
  made.job = job;
  folder.finish(made);
  folder.unmark();
  return result_of(made, folder, options.stores);
}

}  // namespace stoker
