// Jobs shared among threads. What one of them throws is thrown again behind the last: no exception leaves a thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace cb {

// Below so many multiplications, or as long a time of other work, waking a thread costs more than it saves.
constexpr double SHARED_WORK = 4e6;

using Job = void (*)(void* context, int64_t from, int64_t to);
// Calls `job` for ranges that cover all jobs. Other threads help if they are awake in time: nobody waits for one that
// has not begun, so that a busy machine makes a call no slower than one thread is.
void share(int64_t jobs, int threads, Job job, void* context);

template <typename F>
void each_job(int64_t jobs, int threads, F&& job) {
  if (threads <= 1 || jobs <= 1) {
    for (int64_t index = 0; index < jobs; index++) job(index);
    return;
  }
  auto range = [](void* context, int64_t from, int64_t to) {
    for (int64_t index = from; index < to; index++) (*static_cast<std::remove_reference_t<F>*>(context))(index);
  };
  share(jobs, threads, range, &job);
}

}  // namespace cb
