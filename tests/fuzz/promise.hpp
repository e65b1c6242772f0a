// What a fuzz target says of every input; where it does not hold, the driver shows the input.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace undust {

inline void promise(bool is_kept, const char* what) {
  if (is_kept) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

}  // namespace undust
