/* Locks of stored values: calls that update the same one run one after the other.
 *
 * A stored value is a cell, a list of one element, and its lock is found by it. A lock lives as long as a program that updates
 * the cell; a store from outside (`store_locked`) waits for the same one. All of this is read and written with the
 * GIL held, so that a store suffices to take a free lock; only a thread that waits releases the GIL.
 *
 * A program takes its locks in the order in which they were made, which no two programs see differently: so no two calls
 * wait for each other. Calls inside of calls (an op in Python calls another function) keep no order; a thread that would close a
 * circle of waiting threads (a deadlock) gets an error instead. Locks are recursive.
 *
 * A released lock goes to the thread that has waited longest: otherwise the thread that just had it, which runs on with the
 * GIL, would take it again before another thread is awake. Waiting is in slices, after each of which signals are looked at:
 * the system may have given a signal to another thread than the one that has to act on it.
 */
#include "core.h"

#include <new>
#include <unordered_map>

namespace theano {

struct Waiter {
    ValueLock *lock;
    uintptr_t thread;
    PyThread_type_lock wake; /* held until the lock is ours */
    bool granted;
    Waiter *next;   /* in the lock's queue */
    Waiter *before; /* among all that wait, the latest first */
};

namespace {

constexpr PY_TIMEOUT_T kSliceUs = 50000;

std::unordered_map<PyObject *, ValueLock *> *const locks = new std::unordered_map<PyObject *, ValueLock *>(); /* leaked on purpose */
uint64_t made = 0;
Waiter *waiting = nullptr;

bool interpreter_ends() {
#if PY_VERSION_HEX >= 0x030d0000
    return Py_IsFinalizing();
#else
    return _Py_IsFinalizing();
#endif
}

template <typename Link> void unlink(Waiter **head, Waiter *waiter, Link next) {
    for (Waiter **at = head; *at; at = &((*at)->*next)) {
        if (*at != waiter) continue;
        *at = waiter->*next;
        return;
    }
}

void enqueue(ValueLock *lock, Waiter *waiter) {
    Waiter **end = &lock->queue;
    while (*end) end = &(*end)->next;
    *end = waiter;
    waiter->before = waiting;
    waiting = waiter;
}

void leave(ValueLock *lock, Waiter *waiter) {
    unlink(&lock->queue, waiter, &Waiter::next);
    unlink(&waiting, waiter, &Waiter::before);
}

/* Gives a lock without an owner to the first thread in its queue. */
void hand_on(ValueLock *lock) {
    lock->owner = 0;
    lock->again = 0;
    if (interpreter_ends()) lock->queue = waiting = nullptr; /* threads that have ended without leaving */
    Waiter *first = lock->queue;
    if (!first) return;
    leave(lock, first);
    lock->owner = first->thread;
    first->granted = true;
    PyThread_release_lock(first->wake);
}

/* Does the owner of `lock` wait for this thread, directly or through other threads? */
bool closes_circle(const ValueLock *lock, uintptr_t me) {
    for (size_t steps = 0; steps <= locks->size(); ++steps) {
        const Waiter *waiter = waiting;
        while (waiter && waiter->thread != lock->owner) waiter = waiter->before;
        if (!waiter) return false;
        lock = waiter->lock;
        if (lock->owner == me) return true;
    }
    return false;
}

/* 0: it is ours; -1: Python error set. */
int wait_for(ValueLock *lock, Waiter *waiter) {
    for (;;) {
        if (closes_circle(lock, waiter->thread)) {
            PyErr_SetString(PyExc_RuntimeError, "this would wait for ever: it is to change a shared variable that a call in another thread is updating, and "
                                                "that call waits, in an op that runs Python, for one that a call in this thread is updating.\n"
                                                "Ops that call functions with updates, or set_value, may do so only in one order in all threads.");
            return -1;
        }
        PyThreadState *state = PyEval_SaveThread();
        PyThread_acquire_lock_timed(waiter->wake, kSliceUs, 1);
        PyEval_RestoreThread(state);
        if (waiter->granted) return 0;
        if (PyErr_CheckSignals() < 0) return -1;
        if (waiter->granted) return 0; /* while a signal's handler ran */
    }
}

} // namespace

int lock_slowly(ValueLock *lock, uintptr_t me) {
    if (lock->owner == me) {
        lock->again++;
        return 0;
    }
    if (interpreter_ends()) { /* its owner will never run again */
        lock->owner = me;
        lock->again = 0;
        return 0;
    }
    Waiter waiter{lock, me, PyThread_allocate_lock(), false, nullptr, nullptr};
    if (!waiter.wake) {
        PyErr_NoMemory();
        return -1;
    }
    PyThread_acquire_lock(waiter.wake, WAIT_LOCK);
    enqueue(lock, &waiter);
    const int status = wait_for(lock, &waiter);
    if (status < 0) {
        if (waiter.granted) {
            unlock(lock);
        } else {
            leave(lock, &waiter);
        }
    }
    if (!waiter.granted) PyThread_release_lock(waiter.wake);
    PyThread_free_lock(waiter.wake);
    return status;
}

void unlock_slowly(ValueLock *lock) {
    if (lock->again) {
        lock->again--;
    } else {
        hand_on(lock);
    }
}

ValueLock *lock_of(PyObject *cell) {
    try {
        ValueLock *&lock = (*locks)[cell];
        if (!lock) lock = new ValueLock{0, 0, nullptr, cell, ++made, 0};
        lock->users++;
        return lock;
    } catch (const std::bad_alloc &) {
        PyErr_NoMemory();
        return nullptr;
    }
}

void lock_drop(ValueLock *lock) {
    if (--lock->users > 0) return;
    locks->erase(lock->cell);
    delete lock;
}

int store_locked(PyObject *cell, PyObject *value) {
    auto found = locks->find(cell);
    if (found == locks->end()) return PyList_SetItem(cell, 0, Py_NewRef(value));
    ValueLock *const taken = found->second;
    taken->users++;
    int status = lock(taken, this_thread());
    PyObject *old = nullptr;
    if (status == 0) {
        if (PyList_GET_SIZE(cell) > 0) {
            old = PyList_GET_ITEM(cell, 0);
            PyList_SET_ITEM(cell, 0, Py_NewRef(value));
        } else {
            PyErr_SetString(PyExc_IndexError, "the storage has been emptied");
            status = -1;
        }
        unlock(taken);
    }
    lock_drop(taken);
    Py_XDECREF(old); /* may run Python code */
    return status;
}

/* In a child process only the thread that forked is left: locks of others are free, and no other thread can wait. */
void locks_after_fork() {
    const uintptr_t me = this_thread();
    const auto others_leave = [me](Waiter **head, Waiter *Waiter::*next) {
        while (*head) {
            if ((*head)->thread == me) {
                head = &((*head)->*next);
            } else {
                *head = (*head)->*next;
            }
        }
    };
    others_leave(&waiting, &Waiter::before);
    for (auto &[cell, lock] : *locks) {
        others_leave(&lock->queue, &Waiter::next);
        if (lock->owner != 0 && lock->owner != me) hand_on(lock);
    }
}

} // namespace theano
