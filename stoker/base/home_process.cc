#include "stoker/base/home_process.h"

#include <pthread.h>

#include <new>

namespace stoker {
namespace {

int forks = 0;  // changed only where there is one thread: in a new child

int count_forks() {
  static const int error = ::pthread_atfork(nullptr, nullptr, [] { ++forks; });
  if (error != 0) throw std::bad_alloc();  // ENOMEM is all it knows
  return forks;
}

}  // namespace

HomeProcess::HomeProcess() : forks_(count_forks()) {}

bool HomeProcess::here() const { return forks == forks_; }

}  // namespace stoker
