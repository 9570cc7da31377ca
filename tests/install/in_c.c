#include <stoker.h>
#include <stoker_function.h>

const char* consumer_version(void) { return stoker_version(); }
