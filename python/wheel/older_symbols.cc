// The linker binds a function to its newest version, which older systems lack, though an older version does the same.
// Without these two (found by `auditwheel show`) a wheel needs glibc 2.35 and GCC 12's libstdc++; with them it runs on
// RHEL 9, too. The linker's --wrap (cmake/wheel.cmake) sends calls of NAME to __wrap_NAME.
#include <condition_variable>
#include <mutex>

extern "C" {

double older_hypot(double x, double y);
__asm__(".symver older_hypot, hypot@GLIBC_2.2.5");

double __wrap_hypot(double x, double y);
double __wrap_hypot(double x, double y) { return older_hypot(x, y); }

// GCC 12 changed only its exception specification.
void older_wait(std::condition_variable* self, std::unique_lock<std::mutex>& lock);
__asm__(
    ".symver older_wait, "
    "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE@GLIBCXX_3.4.11");

void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(std::condition_variable* self,
                                                                      std::unique_lock<std::mutex>& lock);
void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(std::condition_variable* self,
                                                                      std::unique_lock<std::mutex>& lock) {
  older_wait(self, lock);
}

}  // extern "C"
