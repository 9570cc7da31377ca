#include <stoker.h>

const char* consumer_error() { return stoker_error(); }
