// Stretches of an object in another order, as if they were an object: the documents of a corpus, shuffled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "stoker/storage/kept_reads.h"
#include "stoker/storage/source.h"

namespace stoker {

/// Which stretches, and in which order. Takes 16 bytes for each.
class StretchOrder {
 public:
  struct Place {
    std::size_t stretch = 0;
    std::uint64_t offset = 0;  // in the object
    std::uint64_t left = 0;    // bytes from there to the end of the stretch
  };

  void reserve(std::size_t stretches);
  /// Puts bytes of the object after those that were added before. Nothing may be empty.
  void add(std::uint64_t offset, std::uint64_t length);

  std::uint64_t length() const { return ends_.empty() ? 0 : ends_.back(); }
  /// Of a byte that is inside.
  Place find(std::uint64_t at) const;
  /// The beginning of a stretch that there is.
  Place begin_of(std::size_t stretch) const;

 private:
  std::vector<std::uint64_t> offsets_;  // in the object
  std::vector<std::uint64_t> ends_;     // as they appear
};

/// Threads: any.
class ArrangedSource final : public Source {
 public:
  /// All stretches lie in the object.
  ArrangedSource(std::shared_ptr<Source> object, std::shared_ptr<const StretchOrder> order);
  ~ArrangedSource() override;

  const std::string& name() const override { return object_->name(); }
  std::uint64_t size(std::string_view part = {}) const override;
  // No identity: what caches of objects keep by offset is of objects alone, and over() puts them in front of this
  // one's.
  std::unique_ptr<Source> over(const std::function<Source&(Source& object)>& replace) const override;
  void start(ReadRequest& request) override;
  void will_need(std::uint64_t offset, std::uint64_t length, std::string_view part = {}) override;
  std::uint64_t gap_worth_reading() const override { return object_->gap_worth_reading(); }
  std::uint64_t gap_in_turn() const override { return object_->gap_in_turn(); }
  bool is_remote() const override { return object_->is_remote(); }
  std::string_view io_name() const override { return object_->io_name(); }

 private:
  struct Read;

  void divide(const ReadRequest& request, Read& read) const;
  static void part_ended(Read& read) noexcept;

  std::shared_ptr<Source> object_;
  std::shared_ptr<const StretchOrder> order_;
  KeptReads<Read> reads_;
};

}  // namespace stoker
