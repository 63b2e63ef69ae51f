/* Counts and times of a program: which calls are timed, and what they stand for. */
#include "core.h"

#include <algorithm>
#include <cmath>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace theano {

Pace pace;

namespace {

constexpr int64_t kAllTimed = 64;           /* the first calls */
constexpr int64_t kSparsest = 64;           /* at least one call in this many is timed, on average */
constexpr double kOverhead = 0.01;          /* of a call may be looks at the time; what they bring with them costs as much again */
constexpr int64_t kCalibration = 2'000'000; /* nanoseconds */

bool is_steady() {
#if defined(__x86_64__)
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1); /* "invariant TSC" */
#elif defined(__aarch64__)
    return true;
#else
    return false;
#endif
}

/* What one look adds to a call. No single difference of two tells: a counter that moves in steps, as on virtual AMD
 * processors, shows 1 tick or a whole step, and an interrupt shows thousands. A run of looks is as long as all of them
 * together, steps or not, and of some runs the median is one that nothing interrupted. */
double cost_of_a_look() {
    constexpr int kLooks = 64, kRuns = 31;
    double each[kRuns];
    for (double &mean : each) {
        const int64_t first = now_ticks();
        int64_t last = first;
        for (int i = 0; i < kLooks; ++i) last = now_ticks();
        mean = double(last - first) / kLooks;
    }
    std::nth_element(each, each + kRuns / 2, each + kRuns);
    return std::max(each[kRuns / 2], 0.0);
}

struct Moment {
    int64_t ns, ticks;
};

/* Both clocks at one time: of some tries the one in which nothing came between. */
Moment both_clocks() {
    Moment best{};
    int64_t least = INT64_MAX;
    for (int i = 0; i < 8; ++i) {
        const int64_t before = now_ticks(), ns = now_ns(), after = now_ticks();
        if (after - before >= least) continue;
        least = after - before;
        best = {ns, before + least / 2};
    }
    return best;
}

} // namespace

bool choose_clock(bool counter) {
    pace.counter = counter && is_steady();
    const Moment first = both_clocks();
    while (now_ns() - first.ns < kCalibration) {
    }
    const Moment last = both_clocks();
    pace.counter &= last.ticks > first.ticks;
    pace.nanoseconds = pace.counter ? double(last.ns - first.ns) / double(last.ticks - first.ticks) : 1.0;
    pace.cost = cost_of_a_look();
    return pace.counter;
}

void measure_pace() {
    if (pace.nanoseconds == 0) choose_clock(true);
}

void Profile::prepare(size_t instructions, size_t slots) {
    runs.resize(instructions);
    ticks.resize(instructions);
    latest.resize(instructions);
    noted.resize(slots);
    if (on) measure_pace();
}

void Profile::forget() {
    std::fill(runs.begin(), runs.end(), 0);
    std::fill(ticks.begin(), ticks.end(), 0.0);
    std::fill(latest.begin(), latest.end(), 0.0);
    calls = timed = accounted = until = 0;
    call_ticks = last_call = mean = spare = 0;
}

/* What `others` calls took within `elapsed` ticks if each took as long as one that was timed, which took `took`; as a
 * multiple of that. They cannot have taken longer than there was, unless several ran at one time: so the first call
 * that is slow does not make all slow before it. */
double Profile::share(double took, int64_t others, double elapsed) const {
    if (overlap || took <= 0) return double(others);
    return std::min(double(others), std::max(elapsed, 0.0) / took);
}

double Profile::pending() const { return calls > accounted ? share(last_call, calls - accounted, double(now_ticks() - last_end)) : 0.0; }

/* The number of calls until the next timed one. Calls that are far apart are all timed, at no noticeable cost. The number
 * varies at random around its target, so that it does not match a rhythm in the calls. */
int64_t Profile::next(double from_call_to_call, int64_t looks) {
    mean += timed == 1 ? from_call_to_call : (from_call_to_call - mean) / 8;
    if (calls < kAllTimed) return 1;
    const double wanted = double(looks) * pace.cost / (kOverhead * std::max(mean, 1.0));
    int64_t period = 1;
    while (period < kSparsest && double(period) < wanted) period *= 2;
    if (period == 1) return 1;
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return period / 2 + int64_t(random % uint64_t(period + 1));
}

void Profile::end_timed(int64_t start, std::vector<int64_t> &spent, int64_t &looks) {
    const int64_t now = now_ticks();
    running--;
    calls++;
    timed++;
    int64_t inside = 0;
    for (int64_t each : spent) inside += each;
    /* each look but one is within the interval; time went backwards only where a processor's counter is not in step */
    const double took = double(std::max(now - start - int64_t(double(looks + 1) * pace.cost), inside));
    const int64_t stretch = calls - accounted;
    /* What earlier stretches did not take is there for this one: slow calls that were missed come in with one that is met. */
    const double between = timed > 1 ? double(start - last_end) : 0.0;
    const double others = share(took, stretch - 1, between + spare);
    const double stands_for = 1.0 + others;
    spare = overlap ? 0.0 : std::max(spare + between - others * took, 0.0);
    call_ticks += took * stands_for;
    for (size_t i = 0; i < spent.size(); ++i) {
        latest[i] = double(spent[i]);
        ticks[i] += latest[i] * stands_for;
        spent[i] = 0;
    }
    until = next((took + between) / double(stretch), looks + 2);
    accounted = calls;
    last_end = now;
    last_call = took;
    overlap = running > 0;
    looks = 0;
    if (skip_first) leave_out();
}

void Profile::leave_out() {
    skip_first = false;
    forget();
}

/* --------------------------------------------------------------- as Python sees it */

PyObject *profile_counts(PyObject *object, PyObject *) {
    Program *program = function_program(object);
    if (!program || !program->profile.on) Py_RETURN_NONE;
    const Profile &profile = program->profile;
    const double rate = pace.nanoseconds, pending = profile.pending();
    PyObject *list = PyList_New(Py_ssize_t(profile.runs.size()));
    for (size_t i = 0; list && i < profile.runs.size(); ++i) {
        const double ticks = profile.ticks[i] + pending * profile.latest[i];
        PyObject *pair = Py_BuildValue("(LL)", static_cast<long long>(profile.runs[i]), static_cast<long long>(ticks * rate));
        if (!pair) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, Py_ssize_t(i), pair);
    }
    if (!list) return nullptr;
    const double ticks = profile.call_ticks + pending * profile.last_call;
    return Py_BuildValue("(LLN)", static_cast<long long>(profile.calls), static_cast<long long>(std::ceil(ticks * rate)), list);
}

PyObject *profile_timed(PyObject *object, PyObject *) {
    Program *program = function_program(object);
    if (!program || !program->profile.on) Py_RETURN_NONE;
    return PyLong_FromLongLong(program->profile.timed);
}

PyObject *profile_reset(PyObject *object, PyObject *) {
    if (Program *program = function_program(object)) program->profile.forget();
    Py_RETURN_NONE;
}

static PyObject *noted_numbers(const int64_t *begin, const int64_t *end) {
    PyObject *tuple = PyTuple_New(end - begin);
    for (Py_ssize_t i = 0; tuple && i < end - begin; ++i) PyTuple_SET_ITEM(tuple, i, PyLong_FromLongLong(begin[i]));
    return tuple;
}

PyObject *profile_shapes(PyObject *object, PyObject *) {
    Program *program = function_program(object);
    if (!program || !program->profile.shapes) Py_RETURN_NONE;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < program->code.size(); ++i) {
        PyObject *outs = PyList_New(0);
        for (size_t j = 0; outs && j < program->code[i].out.size(); ++j) {
            const std::vector<int64_t> &noted = program->profile.noted[size_t(program->code[i].out[j])];
            PyObject *item = nullptr;
            if (noted.empty()) {
                item = Py_NewRef(Py_None);
            } else {
                const int64_t *begin = noted.data() + 1, *middle = begin + noted.size() / 2, *end = noted.data() + noted.size();
                item = Py_BuildValue("(LNN)", static_cast<long long>(noted[0]), noted_numbers(begin, middle), noted_numbers(middle, end));
            }
            if (!item || PyList_Append(outs, item) < 0) Py_CLEAR(outs);
            Py_XDECREF(item);
        }
        if (!outs || PyList_Append(list, outs) < 0) Py_CLEAR(list);
        Py_XDECREF(outs);
    }
    return list;
}

} // namespace theano
