// Jobs shared among threads. What one of them throws is thrown again behind the last: no exception leaves a thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>

namespace cb {

// Each thread takes a fourth of its share at once, so that one that is held up does not hold up the others.
template <typename F>
void each_job(int64_t jobs, int threads, F job) {
  const int64_t chunk = std::max<int64_t>(1, jobs / (int64_t(threads) * 4));
  std::exception_ptr failed;
  (void)chunk;
#pragma omp parallel for num_threads(threads) schedule(dynamic, chunk)
  for (int64_t index = 0; index < jobs; index++) {
    try {
      job(index);
    } catch (...) {
#pragma omp critical(cb_failed)
      failed = std::current_exception();
    }
  }
  if (failed) std::rethrow_exception(failed);
}

}  // namespace cb
