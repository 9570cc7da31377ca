// An interface that runs small tasks. Only runtime/ and pack/ start threads; they give layers below an Executor.
#pragma once

namespace stoker {

/// A function and what it works on; the context must outlive the run. Tasks must not throw.
struct Task {
  void (*run)(void* context) noexcept;
  void* context;
};

class Executor {
 public:
  virtual ~Executor() = default;

  /// Runs the task once, now or later, on some thread. Any thread may call this. It may block while the queue is full.
  virtual void submit(Task task) = 0;
};

/// Runs each task at once on the caller's thread: for tools that need no overlap, and for tests.
class InlineExecutor final : public Executor {
 public:
  void submit(Task task) override { task.run(task.context); }
};

}  // namespace stoker
