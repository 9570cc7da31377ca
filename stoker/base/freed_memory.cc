#include "stoker/base/freed_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "stoker/base/sanitizers.h"

namespace stoker {
namespace {

constexpr std::size_t kPage = 4096;
// A size that malloc takes from memory that it keeps; from 128 KiB on it may map separately.
constexpr std::size_t kPiece = std::size_t{120} << 10;

struct Piece {
  Piece* next;
};

}  // namespace

// malloc_trim() leaves the end of every heap but the first thread's as it is, and free() what is below a threshold that
// rises to 64 MiB. So the pages are taken from malloc once more, and freed without what is in them.
void release_freed([[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__GLIBC__) && !STOKER_ADDRESS_SANITIZER && !STOKER_THREAD_SANITIZER
  Piece* pieces = nullptr;
  for (std::size_t taken = 0; taken < bytes; taken += kPiece) {
    void* const memory = std::malloc(kPiece);
    if (!memory) break;
    pieces = new (memory) Piece{pieces};
    void* pages = pieces + 1;
    std::size_t room = kPiece - sizeof(Piece);
    if (std::align(kPage, kPage, pages, room)) ::madvise(pages, room / kPage * kPage, MADV_DONTNEED);
  }
  while (pieces) {
    Piece* const next = pieces->next;
    std::free(pieces);
    pieces = next;
  }
#endif
}

}  // namespace stoker
