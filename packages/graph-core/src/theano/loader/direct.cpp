/* Functions as C functions for other libraries: callbacks of integrators and filters.
 *
 * A callback is called a million times, with a number or two, perhaps without the GIL. So it neither makes Python objects nor
 * waits for Python: its program runs on the machine of exported models (loader/model), by the kernels of this process. Values
 * of shared variables are copied when it is made. One call at a time runs; others wait.
 */
#include "core.h"
#include "model.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <string>

namespace theano {
namespace {

constexpr const char *kData = "theano.direct";

struct Direct {
    PyObject *function = nullptr; /* strong: its program has the parameters and lists of numbers */
    std::vector<th_model_slot> slots;
    std::vector<th_model_instruction> code;
    std::vector<th_model_input> inputs;
    std::vector<std::string> texts; /* names, of inputs and of places in messages */
    std::vector<const char *> places;
    std::vector<th_model_cell> cells;
    std::vector<PyObject *> values; /* borrowed from the program */
    th_model_program program{};
    th_model_tables tables{};
    theano_model *model = nullptr;
    std::vector<theano_array> given;
    std::string failure;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

    ~Direct() {
        th_model_close(model);
        Py_XDECREF(function);
    }
};

class Alone {
  public:
    explicit Alone(Direct *direct) : direct_(direct) { pthread_mutex_lock(&direct_->mutex); }
    ~Alone() { pthread_mutex_unlock(&direct_->mutex); }
    Alone(const Alone &) = delete;
    Alone &operator=(const Alone &) = delete;

  private:
    Direct *direct_;
};

/* ------------------------------------------------------------------ its tables */

bool refuse(const char *why) {
    PyErr_SetString(PyExc_TypeError, why);
    return false;
}

bool add_slots(Direct &direct, const Program &program) {
    static const uint8_t kinds[] = {MODEL_INPUT, MODEL_CONSTANT, MODEL_STATE, MODEL_TEMP}; /* in the order of SlotKind */
    for (const SlotInfo &info : program.slots) {
        const bool stored = info.kind == SLOT_CONSTANT || info.kind == SLOT_SHARED;
        if ((!info.has_spec && info.kind != SLOT_CONSTANT) || info.device) return refuse("not all of its values are arrays of numbers in the host's memory");
        int32_t cell = -1;
        if (stored && info.has_spec) {
            cell = int32_t(direct.cells.size());
            direct.cells.push_back({nullptr, nullptr, info.dtype, info.ndim, info.ones});
            direct.values.push_back(info.kind == SLOT_SHARED ? PyList_GetItem(info.value, 0) : info.value);
        }
        direct.slots.push_back({kinds[info.kind], info.has_spec ? info.dtype : -1, info.ndim, cell, info.pool, info.producer,
                                info.overwritten != OVERWRITE_NOTHING, info.ones});
    }
    return true;
}

bool add_code(Direct &direct, const Program &program) {
    size_t most = 1;
    for (const Instr &instr : program.code) most = instr.in.size() > most ? instr.in.size() : most;
    for (size_t k = 0; k < most; ++k) direct.texts.push_back("input " + std::to_string(k));
    for (const Input &input : program.inputs) {
        const char *name = input.name && input.name != Py_None ? PyUnicode_AsUTF8(input.name) : "";
        if (!name) return false;
        direct.texts.emplace_back(name);
    }
    for (const std::string &text : direct.texts) direct.places.push_back(text.c_str());
    for (const Instr &instr : program.code) {
        if (instr.kind != INSTR_NATIVE) return refuse("not all of it is compiled: some op is computed by Python");
        direct.code.push_back({instr.run, nullptr, -1, instr.lazy, instr.params.data(), instr.in.data(), instr.out.data(),
                               program.lazy ? nullptr : instr.frees, instr.control_dependencies.data(), int32_t(instr.in.size()),
                               int32_t(instr.out.size()), program.lazy ? 0 : instr.nfrees,
                               int32_t(instr.control_dependencies.size()), nullptr, direct.places.data()});
    }
    for (size_t k = 0; k < program.inputs.size(); ++k)
        direct.inputs.push_back({program.inputs[k].slot, -1, program.inputs[k].writable, direct.places[most + k]});
    return true;
}

theano_array array_of(PyArrayObject *array, int32_t dtype) {
    return {PyArray_DATA(array), dtype, PyArray_NDIM(array), reinterpret_cast<const int64_t *>(PyArray_DIMS(array)),
            reinterpret_cast<const int64_t *>(PyArray_STRIDES(array))};
}

bool put_values(Direct &direct) {
    for (size_t k = 0; k < direct.cells.size(); ++k) {
        if (!direct.values[k]) return refuse("a shared variable has no value");
        PyObject *array = PyArray_FROM_OTF(direct.values[k], dtype_npy[direct.cells[k].dtype], NPY_ARRAY_ALIGNED | NPY_ARRAY_NOTSWAPPED);
        if (!array) return false;
        const theano_array value = array_of(reinterpret_cast<PyArrayObject *>(array), direct.cells[k].dtype);
        const bool fits = value.ndim == direct.cells[k].ndim;
        const int status = fits ? th_model_put(direct.model, int32_t(k), &value) : -1;
        Py_DECREF(array);
        if (!fits) return refuse("a stored value is of another number of dimensions than its type says");
        if (status < 0) return PyErr_NoMemory() != nullptr;
    }
    return true;
}

bool fill(Direct &direct, const Program &program) {
    if (!program.updates.empty()) return refuse("it updates shared variables, and a callback has no memory of its own");
    if (program.outputs.size() != 1) return refuse("a callback computes one value");
    if (!add_slots(direct, program) || !add_code(direct, program)) return false;
    direct.program = {"callback",          direct.slots.data(), direct.code.data(), direct.inputs.data(), program.outputs.data(),
                      program.wanted.data(), nullptr,           int32_t(direct.slots.size()), int32_t(direct.code.size()),
                      int32_t(direct.inputs.size()), 1, int32_t(program.wanted.size()), 0, program.npools, program.lazy};
    direct.tables = {&direct.program, direct.cells.data(), 1, int32_t(direct.cells.size())};
    direct.given.resize(direct.inputs.size());
    direct.model = th_model_new(&direct.tables);
    if (!direct.model) return PyErr_NoMemory() != nullptr;
    return put_values(direct);
}

/* --------------------------------------------------------------- what others call */

/* 0, or -1 with the failure noted. */
int run(Direct *direct, theano_array *made) {
    if (th_model_call(direct->model, 0, direct->given.data(), made) == THEANO_OK) return 0;
    if (direct->failure.empty()) direct->failure = th_model_message(direct->model);
    return -1;
}

double number_of(Direct *direct) {
    theano_array made;
    double value;
    if (run(direct, &made) < 0) return std::nan("");
    std::memcpy(&value, made.data, sizeof value);
    return value;
}

double of_number(double x, void *data) {
    auto *direct = static_cast<Direct *>(data);
    Alone alone(direct);
    direct->given[0] = {&x, TH_FLOAT64, 0, nullptr, nullptr};
    return number_of(direct);
}

double of_numbers(int n, double *x, void *data) {
    auto *direct = static_cast<Direct *>(data);
    Alone alone(direct);
    if (size_t(n) != direct->given.size()) {
        direct->failure = "it takes " + std::to_string(direct->given.size()) + " numbers, and is given " + std::to_string(n);
        return std::nan("");
    }
    for (int k = 0; k < n; ++k) direct->given[size_t(k)] = {x + k, TH_FLOAT64, 0, nullptr, nullptr};
    return number_of(direct);
}

double of_vector(int n, double *x, void *data) {
    auto *direct = static_cast<Direct *>(data);
    const int64_t length = n;
    Alone alone(direct);
    direct->given[0] = {x, TH_FLOAT64, 1, &length, nullptr};
    return number_of(direct);
}

/* Callers expect 0 after an error, and take the exception that is set. The lock is released before the GIL is
 * acquired: the thread with the GIL may be waiting for the lock. */
int failed(Direct *direct) {
    std::string said;
    {
        Alone alone(direct);
        said.swap(direct->failure);
    }
    const PyGILState_STATE state = PyGILState_Ensure();
    PyErr_SetString(PyExc_ValueError, said.empty() ? "another call of this callback has failed" : said.c_str());
    PyGILState_Release(state);
    return 0;
}

bool filters(Direct *direct, double *window, int64_t length, double *result) {
    theano_array made;
    Alone alone(direct);
    direct->given[0] = {window, TH_FLOAT64, 1, &length, nullptr};
    if (run(direct, &made) < 0) return false;
    std::memcpy(result, made.data, sizeof *result);
    return true;
}

int of_window(double *window, intptr_t size, double *result, void *data) {
    auto *direct = static_cast<Direct *>(data);
    return filters(direct, window, size, result) ? 1 : failed(direct);
}

bool maps(Direct *direct, intptr_t *place, double *from, int64_t length, int input_rank) {
    theano_array made;
    Alone alone(direct);
    static_assert(sizeof(intptr_t) == sizeof(int64_t), "places are numbers of 64 bits");
    direct->given[0] = {place, TH_INT64, 1, &length, nullptr};
    if (run(direct, &made) < 0) return false;
    if (made.shape[0] != input_rank) {
        direct->failure = "it gives a place of " + std::to_string(made.shape[0]) + " numbers, where " + std::to_string(input_rank) + " are wanted";
        return false;
    }
    th_model_copy_array(&made, from);
    return true;
}

int of_place(intptr_t *place, double *from, int output_rank, int input_rank, void *data) {
    auto *direct = static_cast<Direct *>(data);
    return maps(direct, place, from, output_rank, input_rank) ? 1 : failed(direct);
}

/* ------------------------------------------------------------------------ making */

struct Kind {
    const char *name, *signature;
    void *function;
    int inputs; /* -1: any number */
    int32_t in_dtype, in_ndim, out_ndim;
};

const Kind kinds[] = {
    {"number", "double (double, void *)", reinterpret_cast<void *>(of_number), 1, TH_FLOAT64, 0, 0},
    {"numbers", "double (int, double *, void *)", reinterpret_cast<void *>(of_numbers), -1, TH_FLOAT64, 0, 0},
    {"vector", "double (int, double *, void *)", reinterpret_cast<void *>(of_vector), 1, TH_FLOAT64, 1, 0},
    {"window", "int (double *, intptr_t, double *, void *)", reinterpret_cast<void *>(of_window), 1, TH_FLOAT64, 1, 0},
    {"place", "int (intptr_t *, double *, int, int, void *)", reinterpret_cast<void *>(of_place), 1, TH_INT64, 1, 1},
};

bool suits(const Program &program, const Kind &kind) {
    auto is = [&](int32_t slot, int32_t dtype, int32_t ndim) {
        const SlotInfo &info = program.slots[slot];
        return info.has_spec && info.dtype == dtype && info.ndim == ndim;
    };
    if (kind.inputs >= 0 && program.inputs.size() != size_t(kind.inputs)) return false;
    for (const Input &input : program.inputs) {
        if (!is(input.slot, kind.in_dtype, kind.in_ndim)) return false;
    }
    return program.outputs.size() == 1 && is(program.outputs[0], TH_FLOAT64, kind.out_ndim);
}

void drop(PyObject *capsule) { delete static_cast<Direct *>(PyCapsule_GetPointer(capsule, kData)); }

} // namespace

PyObject *function_direct(PyObject *function, PyObject *wanted) {
    Program *program = function_program(function);
    const char *name = PyUnicode_AsUTF8(wanted);
    if (!name) return nullptr;
    const Kind *kind = nullptr;
    for (const Kind &each : kinds) kind = std::strcmp(each.name, name) == 0 ? &each : kind;
    if (!program || !kind) return PyErr_Format(PyExc_ValueError, "direct: unknown kind %R of callbacks", wanted);
    if (!suits(*program, *kind)) return PyErr_Format(PyExc_TypeError, "its inputs and outputs are not those of %s", kind->signature);
    std::unique_ptr<Direct> direct;
    try {
        direct.reset(new Direct());
        if (!fill(*direct, *program)) return nullptr;
    } catch (const std::bad_alloc &) {
        return PyErr_NoMemory();
    }
    direct->function = Py_NewRef(function);
    PyObject *data = PyCapsule_New(direct.get(), kData, drop);
    if (!data) return nullptr;
    direct.release();
    PyObject *code = PyCapsule_New(kind->function, kind->signature, nullptr);
    if (code) return Py_BuildValue("(NN)", code, data);
    Py_DECREF(data);
    return nullptr;
}

PyObject *direct_message(PyObject *capsule) {
    auto *direct = static_cast<Direct *>(PyCapsule_GetPointer(capsule, kData));
    if (!direct) return nullptr;
    Alone alone(direct);
    if (direct->failure.empty()) return Py_NewRef(Py_None);
    PyObject *said = PyUnicode_DecodeUTF8(direct->failure.data(), Py_ssize_t(direct->failure.size()), "replace");
    direct->failure.clear();
    return said;
}

} // namespace theano
