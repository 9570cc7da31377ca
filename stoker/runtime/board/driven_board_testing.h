// A board driven by hand: no threads, so every order of events can be had.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "stoker/plan/plan.h"
#include "stoker/runtime/board/board.h"
#include "stoker/runtime/loader_testing.h"

namespace stoker {

constexpr int kBatch = 4, kSamples = 20;

inline BoardOptions options_with(int prefetch) {
  BoardOptions options;
  options.order = {.samples = kSamples, .global_batch = kBatch, .kind = OrderKind::kNone};
  options.slice = {.batch = kBatch};
  options.batches.outputs = Plan(small_recipe()).outputs();
  options.locator.fields = {"image"};
  options.tickets.prefetch = prefetch;
  options.batches.memory_max.host = 10 * batch_bytes(options.batches.outputs, kBatch);
  options.read_ahead.bytes = 1 << 20;
  options.tickets.bad_sample = BadSlotPolicy::kFail;
  return options;
}

/// A board with the engine's reader, which takes one ticket at a time, and a worker that makes memory ready.
class DrivenBoard : public Board {
 public:
  using Board::Board;

  /// The next ticket with its bytes granted; null while there is none or no room for it.
  Ticket* draw() {
    while (waiting_ && waiting_->work->discarded) tickets.read_done(*std::exchange(waiting_, nullptr));
    if (Ticket* ticket = read_ahead.again(clock_ns_)) return ticket;
    if (Ticket* ticket = read_ahead.again(clock_ns_ += 1'000'000'000)) return ticket;  // longer than any has to wait
    if (!waiting_) {
      waiting_ = tickets.draw();
      if (waiting_) locator.locate(*waiting_);
    }
    if (!waiting_ || !read_ahead.grant(*waiting_)) return nullptr;
    return std::exchange(waiting_, nullptr);
  }
  void grant_memory() {
    for (BatchGrant grant; tickets.take_grant(grant); grant = {}) {
      batches.prepare(grant, grant.work->slots);
      tickets.granted(grant);
    }
  }
  std::size_t take(std::span<Ticket*> into) {
    grant_memory();
    return tickets.take(into);
  }
  std::unique_ptr<LoaderBatch> pop() { return tickets.pop(bad); }
  void release(std::unique_ptr<LoaderBatch> batch) {
    batches.release(std::move(batch));
    grant_memory();
    while (batches.take_surplus(tickets.prefetch(), tickets.lacking())) continue;
  }

  std::vector<BadSlot> bad;  // of the batch that was popped last

 private:
  std::int64_t clock_ns_ = 1;
  Ticket* waiting_ = nullptr;
};

class ABoard : public testing::Test {
 protected:
  // Draws as many tickets as it may, and says they were read.
  std::vector<Ticket*> draw_all(DrivenBoard& board) {
    std::vector<Ticket*> drawn;
    while (Ticket* ticket = board.draw()) {
      drawn.push_back(ticket);
      board.tickets.read_done(*ticket);
    }
    board.grant_memory();
    return drawn;
  }

  static std::vector<std::int64_t> take_all(DrivenBoard& board, std::vector<Ticket*>* taken = nullptr) {
    std::vector<std::int64_t> samples;
    Ticket* tickets[3];
    while (const std::size_t count = board.take(tickets)) {
      for (std::size_t i = 0; i < count; ++i) {
        samples.push_back(tickets[i]->sample);
        if (taken) taken->push_back(tickets[i]);
      }
    }
    return samples;
  }

  // Draws and takes the tickets from an epoch's beginning on.
  std::vector<Ticket*> take_epoch(DrivenBoard& board, std::int64_t epoch) {
    board.tickets.start_epoch(epoch);
    draw_all(board);
    std::vector<Ticket*> taken;
    take_all(board, &taken);
    return taken;
  }

  static void finish_all(DrivenBoard& board) {
    std::vector<Ticket*> taken;
    take_all(board, &taken);
    for (Ticket* ticket : taken) board.tickets.finish(*ticket);
  }

  static void finish_all_mixed(DrivenBoard& board) {
    std::vector<Ticket*> taken;
    take_all(board, &taken);
    for (Ticket* ticket : taken) {
      BatchTask task;
      board.tickets.finish(*ticket, &task);
      while (task.work) board.tickets.done(task);
    }
  }

  MemoryDataset data_ = memory_dataset({.samples = kSamples, .tiny = true});
};

}  // namespace stoker
