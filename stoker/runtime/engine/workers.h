// The loader's workers, some threads: they take tickets that were read and write into their slots, make memory ready
// for batches, and hand complete batches over to the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "stoker/plan/cpu_executor.h"
#include "stoker/runtime/engine/engine_core.h"
#include "stoker/runtime/engine/reader.h"

namespace stoker {

class Workers {
 public:
  Workers(EngineCore& core, Reader& reader, std::uint64_t seed);

  /// Starts or ends threads. One call at a time; throws kMemory, and then there are as many as before.
  void resize(int threads);
  /// Once the core is closing.
  void join();

 private:
  void work_loop(int worker, WorkerBed& bed);
  void work_until_stopped(int worker, WorkerBed& bed, std::unique_lock<std::mutex>& lock);
  void work_on(Ticket& ticket, CpuExecutor& executor) const;
  void make(Ticket& ticket, CpuExecutor& executor) const;
  bool must_leave(int worker) const;
  std::size_t await_work(int worker, WorkerBed& bed, std::span<Ticket*> room, WorkerCounters& counters,
                         std::unique_lock<std::mutex>& lock);
  void unlock_and_wake(std::unique_lock<std::mutex>& lock);
  void finish(std::span<Ticket* const> tickets, int worker, CpuExecutor& executor, WorkerCounters& counters,
              std::unique_lock<std::mutex>& lock);
  bool finish(Ticket& ticket, int worker, CpuExecutor& executor, WorkerCounters& counters,
              std::unique_lock<std::mutex>& lock);
  std::exception_ptr call_functions(const BatchWork& work, CpuExecutor& executor) const;
  void run_steps(int worker, std::unique_lock<std::mutex>& lock);
  void grant_memory(int worker, WorkerCounters& counters, std::unique_lock<std::mutex>& lock);
  void trace(int worker, TraceEvent event) const;

  EngineCore& core_;
  Reader& reader_;
  const std::uint64_t seed_;
  const bool wants_label_;
  std::deque<WorkerBed> beds_;  // of threads that there are or were: others may still notify them
  std::vector<std::thread> threads_;
};

}  // namespace stoker
