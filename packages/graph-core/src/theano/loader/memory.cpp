/* Blocks of numbers.
 *
 * A Block is reference-counted memory, 64-byte aligned. Frames keep small blocks from one call to the next, which makes
 * most calls free of allocation. Big ones are not hoarded by a function that may never be called again: they go to one
 * free list for the whole process, sorted by size class, where the next call of any function finds them. The memory of
 * big results comes from there too and returns when their NumPy array is dropped (boundary.cpp hands it over).
 *
 * Fresh memory of many megabytes costs more in page faults than the arithmetic done on it, and small pages cost more
 * each time they are touched. So big memory uses huge pages where the system has them, and is used again.
 *
 * The free list holds at most `limit` bytes. Its next use frees blocks that have been idle for kIdleNs.
 *
 * Nothing here knows Python; every function may be called without the GIL.
 */
#include "core.h"
#include "platform.h"

#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <unordered_map>
#include <utility>

namespace theano {
namespace {

constexpr int kSteps = 8;              /* classes per doubling: at most 1/8 is wasted */
constexpr int kClasses = 44 * kSteps;  /* up to 2^64 */
constexpr size_t kDefaultLimit = size_t(256) << 20; /* or an eighth of the machine's memory, if that is less */
constexpr int64_t kIdleNs = int64_t(10) * 1000000000;

struct Region {
    char *data;
    size_t capacity;
    int64_t since; /* when it was given back */
};

struct State {
    std::vector<Region> free[kClasses];
    std::unordered_map<void *, size_t> lent; /* what NumPy arrays own: capacity */
    std::vector<DeviceEntry *> devices;
    size_t cached = 0, limit = kDefaultLimit;
    int64_t swept = 0;
};

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
State *state = nullptr; /* leaked on purpose: blocks may outlive static destructors */

/* A fork must not leave the lock held by a thread that does not exist in the child. */
void before_fork() { pthread_mutex_lock(&lock); }
void after_fork() { pthread_mutex_unlock(&lock); }

void setup_once() {
    state = new State();
    if (const size_t memory = machine_memory()) state->limit = std::min(kDefaultLimit, memory / 8);
    at_fork(before_fork, after_fork, after_fork);
}

class Locked {
  public:
    Locked() {
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        pthread_once(&once, setup_once);
        pthread_mutex_lock(&lock);
    }
    ~Locked() { pthread_mutex_unlock(&lock); }
    Locked(const Locked &) = delete;
    Locked &operator=(const Locked &) = delete;
};

/* The class of a size above kBigBlock, and that class's size. */
int size_class(size_t bytes, size_t *rounded) {
    int top = 63 - __builtin_clzll(bytes | 1);
    size_t step = (size_t(1) << top) / kSteps;
    size_t up = (bytes + step - 1) / step * step;
    *rounded = up;
    int base = 63 - __builtin_clzll(up);
    int sub = int((up - (size_t(1) << base)) / ((size_t(1) << base) / kSteps));
    return (base - 20) * kSteps + sub;
}

/* The bytes to map for a capacity: the remainder by whole huge pages becomes one more if it fills half of it. */
size_t mapped(size_t capacity) {
    const size_t rest = capacity % kHugePage;
    return rest >= kHugePage / 2 ? capacity - rest + kHugePage : capacity;
}

char *map(size_t capacity) { return pages_map(mapped(capacity)); }

void unmap(char *data, size_t capacity) { pages_unmap(data, mapped(capacity)); }

/* Gives back to the system: all but `keep` bytes, and what has been idle since before `until`. Locked. */
void trim(size_t keep, int64_t until) {
    for (int cls = kClasses - 1; cls >= 0; --cls) {
        auto &list = state->free[cls]; /* the oldest first */
        size_t drop = 0;
        while (drop < list.size() && (state->cached > keep || list[drop].since < until)) {
            state->cached -= list[drop].capacity;
            unmap(list[drop].data, list[drop].capacity);
            ++drop;
        }
        list.erase(list.begin(), list.begin() + std::ptrdiff_t(drop));
    }
}

/* Memory of at least `bytes` > kBigBlock. */
char *take(size_t bytes, size_t *capacity) {
    if (bytes > (size_t(1) << 62)) return nullptr;
    const int cls = size_class(bytes, capacity);
    {
        Locked locked;
        auto &list = state->free[cls];
        if (!list.empty()) {
            char *data = list.back().data;
            list.pop_back();
            state->cached -= *capacity;
            return data;
        }
    }
    char *data = map(*capacity);
    if (data) return data;
    memory_trim(0); /* idle blocks may be the memory that is missing */
    return map(*capacity);
}

void give(char *data, size_t capacity) {
    size_t rounded;
    const int cls = size_class(capacity, &rounded);
    const int64_t now = now_ns();
    bool kept = false;
    {
        Locked locked;
        if (now - state->swept > kIdleNs / 10) {
            state->swept = now;
            trim(SIZE_MAX, now - kIdleNs);
        }
        if (state->cached + capacity <= state->limit) {
            try {
                state->free[cls].push_back({data, capacity, now});
                state->cached += capacity;
                kept = true;
            } catch (const std::bad_alloc &) {
            }
        }
    }
    if (!kept) unmap(data, capacity);
}

void drop(char *data, size_t capacity, const th_device *device) {
    if (device) return device->release(device, data, capacity);
    capacity > kBigBlock ? give(data, capacity) : aligned_free(data);
}

} // namespace

/* ------------------------------------------------------------------ blocks */

Block *block_new(size_t bytes, const th_device *device) {
    size_t capacity;
    char *data;
    if (device) {
        capacity = bytes ? bytes : 1;
        data = device->allocate(device, capacity);
    } else if (bytes > kBigBlock) {
        data = take(bytes, &capacity);
    } else {
        capacity = bytes < 64 ? 64 : (bytes + 63) & ~size_t(63);
        void *got = aligned_new(capacity);
        if (!got) {
            memory_trim(0);
            got = aligned_new(capacity);
        }
        data = static_cast<char *>(got);
    }
    if (!data) return nullptr;
    Block *block = new (std::nothrow) Block{{1}, data, capacity, device, nullptr};
    if (!block) drop(data, capacity, device);
    return block;
}

void block_release(Block *block) {
    if (block->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (!block->owner) {
        drop(block->data, block->capacity, block->device);
    } else if (Py_IsInitialized()) { /* else the interpreter is gone, and its objects with it */
        const PyGILState_STATE state = PyGILState_Ensure();
        Py_DECREF(block->owner);
        PyGILState_Release(state);
    }
    delete block;
}

/* ----------------------------------------------------------------- devices */

void device_add(const char *name, const th_device *device, PyObject *array_class) {
    Locked locked;
    for (DeviceEntry *known : state->devices) {
        if (std::strcmp(known->name, name) == 0) {
            known->device = device;
            known->array_class = array_class;
            return;
        }
    }
    state->devices.push_back(new DeviceEntry{strdup(name), device, array_class}); /* for good: slots point to it */
}

const DeviceEntry *device_entry(const char *name) {
    Locked locked;
    for (const DeviceEntry *known : state->devices) {
        if (std::strcmp(known->name, name) == 0) return known;
    }
    return nullptr;
}

const DeviceEntry *device_entry_of(const th_device *device) {
    Locked locked;
    for (const DeviceEntry *known : state->devices) {
        if (known->device == device) return known;
    }
    return nullptr;
}

PyObject *device_error(const char *name, PyObject *otherwise) {
    PyObject *module = PyImport_ImportModule("theano.errors");
    PyObject *type = module ? PyObject_GetAttrString(module, name) : nullptr;
    Py_XDECREF(module);
    if (type) return type;
    PyErr_Clear();
    return Py_NewRef(otherwise);
}

int device_pack(Block *to, const th_buffer *from) {
    if (!to->device->gather) return -1;
    int64_t strides[TH_MAX_NDIM], step = from->itemsize;
    for (int d = from->ndim - 1; d >= 0; step *= from->shape[d], --d) strides[d] = step;
    th_buffer whole = *from;
    whole.data = to->data;
    whole.strides = strides;
    return to->device->gather(to->device, &whole, from, -1, nullptr);
}

/* ---------------------------------------------------- memory that NumPy owns */

void *lent_new(size_t bytes) {
    if (bytes <= kBigBlock) return std::malloc(bytes);
    size_t capacity;
    char *data = take(bytes, &capacity);
    if (!data) return nullptr;
    try {
        Locked locked;
        state->lent[data] = capacity;
    } catch (const std::bad_alloc &) {
        give(data, capacity);
        return nullptr;
    }
    return data;
}

/* The capacity of lent memory, which is forgotten if `forget`; 0: it came from malloc. */
static size_t lent_capacity(void *data, bool forget) {
    Locked locked;
    auto found = state->lent.find(data);
    if (found == state->lent.end()) return 0;
    const size_t capacity = found->second;
    if (forget) state->lent.erase(found);
    return capacity;
}

void lent_free(void *data) {
    if (!data) return;
    const size_t capacity = lent_capacity(data, true);
    capacity ? give(static_cast<char *>(data), capacity) : std::free(data);
}

void *lent_resize(void *data, size_t bytes) {
    const size_t capacity = data ? lent_capacity(data, false) : 0;
    if (!capacity && bytes <= kBigBlock) return std::realloc(data, bytes);
    void *fresh = lent_new(bytes);
    if (!fresh) return nullptr;
    if (data && capacity) {
        std::memcpy(fresh, data, std::min(bytes, capacity));
        lent_free(data);
        return fresh;
    }
    /* from malloc, where only malloc knows how much there is */
    void *whole = std::realloc(data, bytes);
    if (!whole) {
        lent_free(fresh);
        return nullptr;
    }
    std::memcpy(fresh, whole, bytes);
    std::free(whole);
    return fresh;
}

/* ------------------------------------------------------------- the free list */

size_t memory_cached() {
    Locked locked;
    return state->cached;
}

void memory_trim(size_t keep) {
    Locked locked;
    trim(keep, 0);
}

void memory_set_limit(size_t bytes) {
    Locked locked;
    state->limit = bytes;
    trim(bytes, 0);
}

size_t memory_get_limit() {
    Locked locked;
    return state->limit;
}

} // namespace theano
