// The threads that help. They sleep until there are jobs, and never spin: torch's own threads need the processors.
#include "jobs.h"

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace cb {

namespace {

struct Batch {
  const int64_t jobs, chunk;
  const Job job;
  void* const context;
  int places;       // for how many helpers there is room
  int helpers = 0;  // at work on it
  std::atomic<int64_t> next{0};
  std::exception_ptr failed{};
};

class Pool {
 public:
  void run(Batch& batch) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      while (threads_ < batch.places && start()) threads_++;
      open_.push_back(&batch);
    }
    for (int i = 0; i < batch.places; i++) wake_.notify_one();
    work(batch);
    std::unique_lock<std::mutex> lock(mutex_);
    close(batch);
    done_.wait(lock, [&] { return batch.helpers == 0; });
  }

  const pid_t process = getpid();

 private:
  // Whether there is one more thread; a process may have as many as it is allowed.
  bool start() {
    try {
      std::thread([this] { help(); }).detach();
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }

  void help() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return !open_.empty(); });
      Batch& batch = *open_.back();
      batch.helpers++;
      if (--batch.places == 0) close(batch);
      lock.unlock();
      work(batch);
      lock.lock();
      if (--batch.helpers == 0) done_.notify_all();
    }
  }

  // Ranges of jobs until none is left. After a failure the others are left out.
  void work(Batch& batch) {
    for (int64_t from; (from = batch.next.fetch_add(batch.chunk)) < batch.jobs;) {
      try {
        batch.job(batch.context, from, std::min(from + batch.chunk, batch.jobs));
      } catch (...) {
        std::lock_guard<std::mutex> lock(mutex_);
        batch.failed = std::current_exception();
        batch.next = batch.jobs;
      }
    }
  }

  void close(const Batch& batch) { open_.erase(std::remove(open_.begin(), open_.end(), &batch), open_.end()); }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<Batch*> open_;
  int threads_ = 0;
};

// Never destroyed, since its threads outlive `main`. A forked child has none of them, and gets a pool of its own.
Pool& pool() {
  static std::atomic<Pool*> current{nullptr};
  Pool* known = current.load();
  if (known && known->process == getpid()) return *known;
  auto* fresh = new Pool;
  if (current.compare_exchange_strong(known, fresh)) return *fresh;
  delete fresh;
  return *known;
}

int most_threads() {
  static const int found = std::max(2, int(std::thread::hardware_concurrency()));
  return found;
}

}  // namespace

void share(int64_t jobs, int threads, Job job, void* context) {
  const int used = int(std::min<int64_t>(std::min(threads, most_threads()), jobs));
  // A fourth of a share at once, so that a thread that is held up does not hold up the others.
  Batch batch{jobs, std::max<int64_t>(1, jobs / (int64_t(used) * 4)), job, context, used - 1};
  pool().run(batch);
  if (batch.failed) std::rethrow_exception(batch.failed);
}

}  // namespace cb
