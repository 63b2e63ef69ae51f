/* Counting and timing the calls of one program.
 *
 * Time is read from the counter of cycles where the processor has one that never changes its pace, else from the
 * system's clock; what reading costs is measured and taken off. All of the first calls are timed. Where calls are so
 * short, and follow each other so fast, that reading the time would be felt, only one in some is timed after that: it
 * stands for those since the last one that was, too. Runs are always counted.
 */
#ifndef THEANO_LOADER_PROFILE_H
#define THEANO_LOADER_PROFILE_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include <time.h>

namespace theano {

inline int64_t now_ns() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return int64_t(t.tv_sec) * 1000000000 + t.tv_nsec;
}

/* The calibration of the counter of cycles. */
struct Pace {
    bool counter = false;     /* whether there is a steady one; if not, ticks are nanoseconds */
    double cost = 0.0;        /* ticks that a look takes */
    double nanoseconds = 0.0; /* in a tick; 0: not measured yet */
};
extern Pace pace;
void measure_pace();             /* the first time, takes 2 ms */
bool choose_clock(bool counter); /* for functions made from now on; returns whether the counter is read */

inline int64_t now_ticks() {
#if defined(__x86_64__)
    if (__builtin_expect(pace.counter, 1)) return int64_t(__builtin_ia32_rdtsc());
#elif defined(__aarch64__)
    if (__builtin_expect(pace.counter, 1)) {
        int64_t ticks;
        asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        return ticks;
    }
#endif
    return now_ns();
}

struct Profile {
    bool on = false;         /* count calls, and time them */
    bool nodes = false;      /* each instruction as well */
    bool shapes = false;     /* what its outputs were like */
    bool skip_first = false; /* leave the first call out */

    std::vector<int64_t> runs;               /* of each instruction */
    std::vector<double> ticks;               /* in each instruction, estimated where calls were left out */
    std::vector<double> latest;              /* the same in the last call that was timed */
    std::vector<std::vector<int64_t>> noted; /* by slot: bytes, shape, strides of the largest value so far */
    int64_t calls = 0, timed = 0;
    double call_ticks = 0; /* in calls, estimated likewise */
    double last_call = 0;  /* ticks in the last one that was timed */

    void prepare(size_t instructions, size_t slots);
    void forget(); /* all counts */

    /* A call begins; tells whether it is to be timed. With the GIL held, like all of these. */
    bool begin() {
        overlap |= running++ > 0;
        return --until <= 0;
    }
    /* It was never made. */
    void abandon() { running--; }
    /* It is over. */
    void end() {
        running--;
        calls++;
        if (__builtin_expect(skip_first, 0)) leave_out();
    }
    /* It is over, and took from `start` until now, its instructions what `spent` says, which is set to 0. */
    void end_timed(int64_t start, std::vector<int64_t> &spent, int64_t &looks);
    /* Ticks in the calls since the last one that was timed, as a multiple of what that took. */
    double pending() const;

  private:
    int64_t until = 0;     /* calls until one is timed */
    int64_t accounted = 0; /* calls that `call_ticks` stands for */
    int64_t last_end = 0;  /* of the last call that was timed */
    double mean = 0;       /* from the end of a call to the end of the next, lately */
    double spare = 0;      /* ticks that went by between calls that were timed and were put to none */
    int64_t running = 0;   /* calls in flight */
    bool overlap = false;  /* whether two were at one time since the last that was timed */
    uint64_t random = 0x9E3779B97F4A7C15u;

    void leave_out();
    double share(double took, int64_t others, double elapsed) const;
    int64_t next(double from_call_to_call, int64_t looks);
};

} // namespace theano
#endif
