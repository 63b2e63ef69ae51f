/* The threads behind parallel_for.
 *
 * A job is cut into chunks; each idle thread, the caller included, claims the next chunk. The
 * caller waits only for chunks that are already claimed, so a machine whose other cores are
 * busy costs nothing: the caller then does all of it. Libraries that hand each thread a fixed share wait for
 * the slowest one, and libgomp moreover hangs in a forked child.
 *
 * One 64-bit word says everything a claimer needs: (generation << 32) | chunks not yet claimed. A claim
 * is a compare-and-swap of that word, so a late worker can never take a chunk of a job that is over. The
 * job's other fields are read after a successful claim: the caller cannot leave before that chunk is done.
 *
 * An idle thread stays awake while a job runs, since jobs seldom come alone, and then for as long as it has lately
 * taken to wake a thread: waiting costs at most twice as much as the better of the two choices. That is microseconds, but
 * milliseconds where the host of a virtual machine gives the processor of a thread that sleeps to another tenant.
 *
 * The caller's processor is excluded for workers, as long as they are few: Linux may wake a thread where the one runs that woke
 * it, and move it to an idle processor only milliseconds later. Where there are many processors it finds one at once.
 *
 * Threads start at the first job that has use for them. A forked child has none of them; the child
 * handler forgets them and the next job starts new ones. Two jobs at once, or a job inside a job: the second
 * runs on its own thread alone.
 */
#include "core.h"
#include "platform.h"

#include <pthread.h>

#include <algorithm>
#include <new>
#include <thread>
#include <vector>

namespace theano {
namespace {

constexpr int kMaxThreads = 256;
constexpr int kFewWorkers = 8;
constexpr int64_t kLeastAwakeNs = 50000, kMostAwakeNs = 5000000;

struct Pool {
    std::atomic<uint64_t> word{0};
    std::atomic<int64_t> done{0};
    std::atomic<int> sleepers{0};
    std::atomic<bool> caller_sleeps{false};
    std::atomic<int64_t> called{0};             /* when sleepers were called, until the first of them answers */
    std::atomic<int64_t> waking{kLeastAwakeNs}; /* how long that takes */
    std::atomic<bool> busy{false};
    th_body body = nullptr;
    void *arg = nullptr;
    int64_t n = 0, chunk = 0, chunks = 0;
    int workers = 0;
    std::vector<pthread_t> handles; /* of the workers that are there, under `mutex` */
    int excluded = -1; /* the processor on which they do not run; -1: none */
    std::atomic<int> wanted{0}; /* 0: automatic */
    std::atomic<int> automatic{0};
    std::atomic<int64_t> least{0}; /* arrays of fewer elements stay on one thread */
    std::atomic<int> surplus{0}; /* workers asked to leave */
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t work = PTHREAD_COND_INITIALIZER;
    pthread_cond_t finished = PTHREAD_COND_INITIALIZER;
};

Pool *const pool = new Pool(); /* leaked on purpose: workers outlive static destructors */
thread_local bool inside = false;

inline void pause_cpu() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/* Claims one chunk and runs it. */
bool work_once() {
    uint64_t word = pool->word.load(std::memory_order_acquire);
    do {
        if (uint32_t(word) == 0) return false;
    } while (!pool->word.compare_exchange_weak(word, word - 1, std::memory_order_acq_rel));
    int64_t chunks = pool->chunks;
    int64_t index = chunks - int64_t(uint32_t(word));
    int64_t lo = index * pool->chunk;
    int64_t hi = std::min(lo + pool->chunk, pool->n);
    pool->body(pool->arg, lo, hi);
    if (pool->done.fetch_add(1, std::memory_order_seq_cst) + 1 == chunks &&
        pool->caller_sleeps.load(std::memory_order_seq_cst)) {
        pthread_mutex_lock(&pool->mutex);
        pthread_cond_signal(&pool->finished);
        pthread_mutex_unlock(&pool->mutex);
    }
    return true;
}

bool nothing_to_do() { return uint32_t(pool->word.load(std::memory_order_seq_cst)) == 0; }

/* Whether there was news before it was time to sleep. After a while others that wait for this processor come first. */
template <typename News> bool stays_awake(News news) {
    const int64_t begin = now_ns(), most = pool->waking.load(std::memory_order_relaxed);
    int64_t now = begin, last = begin; /* when a job was last seen */
    while (now - last < most && now - begin < kMostAwakeNs) {
        for (int k = 0; k < 32; ++k) {
            if (news()) return true;
            pause_cpu();
        }
        if (now - begin > kLeastAwakeNs) std::this_thread::yield();
        now = now_ns();
        if (pool->busy.load(std::memory_order_relaxed)) last = now;
    }
    return false;
}

void call_sleepers() {
    int64_t nobody = 0;
    pool->called.compare_exchange_strong(nobody, now_ns(), std::memory_order_relaxed);
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->mutex);
}

/* A sleeper is awake. A long way counts at once, and is forgotten slowly. */
void answer_call() {
    const int64_t called = pool->called.exchange(0, std::memory_order_relaxed);
    if (!called) return;
    const int64_t took = std::clamp(now_ns() - called, kLeastAwakeNs, kMostAwakeNs);
    const int64_t before = pool->waking.load(std::memory_order_relaxed);
    pool->waking.store(std::max(took, before - before / 16), std::memory_order_relaxed);
}

/* Let workers run where the caller does not. */
void exclude(int processor) {
    if (processor == pool->excluded || pool->workers > kFewWorkers) return;
    pthread_mutex_lock(&pool->mutex);
    for (pthread_t thread : pool->handles) exclude_processor(thread, processor);
    pthread_mutex_unlock(&pool->mutex);
    pool->excluded = processor;
}

void forget_handle(pthread_t thread) {
    pthread_mutex_lock(&pool->mutex);
    auto &handles = pool->handles;
    handles.erase(std::find_if(handles.begin(), handles.end(), [thread](pthread_t each) { return pthread_equal(each, thread); }));
    pthread_mutex_unlock(&pool->mutex);
}

/* A worker leaves when there are more of them than set_threads now allows. */
bool should_leave() {
    int left = pool->surplus.load(std::memory_order_relaxed);
    while (left > 0) {
        if (pool->surplus.compare_exchange_weak(left, left - 1)) return true;
    }
    return false;
}

void *worker(void *) {
    inside = true;
    for (;;) {
        if (work_once()) continue;
        if (stays_awake([] { return !nothing_to_do(); })) continue;
        pthread_mutex_lock(&pool->mutex);
        pool->sleepers.fetch_add(1, std::memory_order_seq_cst);
        while (nothing_to_do() && pool->surplus.load() == 0) pthread_cond_wait(&pool->work, &pool->mutex);
        pool->sleepers.fetch_sub(1, std::memory_order_seq_cst);
        pthread_mutex_unlock(&pool->mutex);
        answer_call();
        if (should_leave()) break;
    }
    forget_handle(pthread_self());
    return nullptr;
}

void child_after_fork() { /* only the forking thread is here; the others' state means nothing */
    int wanted = pool->wanted.load();
    int64_t least = pool->least.load();
    new (pool) Pool();
    pool->wanted.store(wanted);
    pool->least.store(least);
    inside = false;
}

void start_workers(int count) { /* `busy` is ours */
    static bool registered = false;
    if (!registered) {
        at_fork(nullptr, nullptr, child_after_fork);
        registered = true;
    }
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_mutex_lock(&pool->mutex); /* a worker that leaves at once finds its handle there */
    while (pool->workers < count) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, worker, nullptr) != 0) break; /* fewer will do */
        pool->workers++;
        pool->handles.push_back(thread);
    }
    pthread_mutex_unlock(&pool->mutex);
    pool->excluded = -1;
    pthread_attr_destroy(&attributes);
}

int usable_cpus() {
    int known = pool->automatic.load(std::memory_order_relaxed);
    if (known) return known;
    const int cpus = std::max(1, std::min(process_processors(), kMaxThreads));
    pool->automatic.store(cpus);
    return cpus;
}

void wait_for_others(int64_t chunks) {
    if (stays_awake([chunks] { return pool->done.load(std::memory_order_acquire) >= chunks; })) return;
    pthread_mutex_lock(&pool->mutex);
    pool->caller_sleeps.store(true, std::memory_order_seq_cst);
    while (pool->done.load(std::memory_order_seq_cst) < chunks) pthread_cond_wait(&pool->finished, &pool->mutex);
    pool->caller_sleeps.store(false);
    pthread_mutex_unlock(&pool->mutex);
}

} // namespace

int pool_get_threads() {
    int wanted = pool->wanted.load(std::memory_order_relaxed);
    int usable = usable_cpus();
    return wanted > 0 ? std::min(wanted, usable) : usable;
}

void pool_set_threads(int n) {
    pool->wanted.store(std::max(0, std::min(n, kMaxThreads)));
    pool->automatic.store(0); /* look again: affinity may have changed */
}

void pool_set_least(int64_t elements) { pool->least.store(elements); }

bool pool_worth(int64_t elements) { return elements >= pool->least.load(std::memory_order_relaxed); }

void pool_run(int64_t n, int64_t grain, th_body body, void *arg) {
    if (n <= 0) return;
    if (grain < 1) grain = 1;
    int threads = inside || n <= grain ? 1 : pool_get_threads();
    bool expected = false;
    if (threads == 1 || !pool->busy.compare_exchange_strong(expected, true, std::memory_order_acquire)) {
        body(arg, 0, n);
        return;
    }
    /* About four chunks a thread level out unequal speeds; never below the grain. */
    int64_t chunk = std::max(grain, (n + 4 * threads - 1) / (4 * threads));
    int64_t chunks = (n + chunk - 1) / chunk;
    int helpers = int(std::min<int64_t>(threads, chunks)) - 1;
    if (pool->workers > threads - 1) {
        pthread_mutex_lock(&pool->mutex);
        pool->surplus.fetch_add(pool->workers - (threads - 1));
        pool->workers = threads - 1;
        pthread_cond_broadcast(&pool->work);
        pthread_mutex_unlock(&pool->mutex);
    }
    if (pool->workers < helpers) start_workers(helpers);
    exclude(current_processor());
    pool->body = body;
    pool->arg = arg;
    pool->n = n;
    pool->chunk = chunk;
    pool->chunks = chunks;
    pool->done.store(0, std::memory_order_relaxed);
    uint64_t generation = (pool->word.load(std::memory_order_relaxed) >> 32) + 1;
    pool->word.store((generation << 32) | uint64_t(chunks), std::memory_order_seq_cst);
    if (pool->sleepers.load(std::memory_order_seq_cst) > 0) call_sleepers();
    inside = true;
    while (work_once()) {
    }
    inside = false;
    wait_for_others(chunks);
    pool->busy.store(false, std::memory_order_release);
}

} // namespace theano
