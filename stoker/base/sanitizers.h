// Which sanitizer a file is compiled with: STOKER_ADDRESS_SANITIZER and STOKER_THREAD_SANITIZER are 0 or 1. g++ says it
// by macros, clang by features.
#pragma once

#if defined(__has_feature)
#define STOKER_HAS_FEATURE(feature) __has_feature(feature)
#else
#define STOKER_HAS_FEATURE(feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || STOKER_HAS_FEATURE(address_sanitizer)
#define STOKER_ADDRESS_SANITIZER 1
#else
#define STOKER_ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__) || STOKER_HAS_FEATURE(thread_sanitizer)
#define STOKER_THREAD_SANITIZER 1
#else
#define STOKER_THREAD_SANITIZER 0
#endif
