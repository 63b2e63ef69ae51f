/* Reads the Python description of a program: a mapping, whose entries and records schema.py declares. The structs of
 * `schema` are written from there.
 *
 * All checking happens here, once: slot numbers in range, addresses not null, cells that are one-element
 * lists. What runs later trusts the tables. Derived facts are worked out here too: who produces and reads a
 * slot, which slots Python will see (those get NumPy arrays to compute into), above how many elements an instruction
 * gives the GIL away.
 */
#include "core.h"
#include "program_schema.h"

#include <algorithm>
#include <cstring>

namespace theano {
namespace {

constexpr double kGilWorkNs = 20000.0; /* giving the GIL away and taking it back costs 40-75 ns, and a switch more */

/* A borrowed-reference walk over any sequence; owns the fast form. */
class Items {
  public:
    Items(PyObject *object, const char *what) {
        if (object && object != Py_None) {
            fast_ = PySequence_Fast(object, what);
            failed_ = fast_ == nullptr;
        }
    }
    ~Items() { Py_XDECREF(fast_); }
    Items(const Items &) = delete;
    Items &operator=(const Items &) = delete;
    bool ok() const { return !failed_; }
    Py_ssize_t size() const { return fast_ ? PySequence_Fast_GET_SIZE(fast_) : 0; }
    PyObject *operator[](Py_ssize_t k) const { return PySequence_Fast_GET_ITEM(fast_, k); }

  private:
    PyObject *fast_ = nullptr;
    bool failed_ = false;
};

bool complain(const char *text) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, text);
    return false;
}

bool read_slot_number(const Program &program, PyObject *object, int32_t *out) {
    Py_ssize_t k = PyLong_AsSsize_t(object);
    if (k < 0 || size_t(k) >= program.slots.size()) return complain("program: a slot number is out of range");
    *out = int32_t(k);
    return true;
}

bool read_slot_numbers(const Program &program, PyObject *object, std::vector<int32_t> &out) {
    Items items(object, "program: expected a sequence of slot numbers");
    if (!items.ok()) return false;
    for (Py_ssize_t k = 0; k < items.size(); ++k) {
        int32_t number;
        if (!read_slot_number(program, items[k], &number)) return false;
        out.push_back(number);
    }
    return true;
}

bool is_cell(PyObject *object) { return object && PyList_Check(object) && PyList_GET_SIZE(object) == 1; }

PyObject *new_or_null(PyObject *object) { return object && object != Py_None ? Py_NewRef(object) : nullptr; }

/* ------------------------------------------------------------------- slots */

bool read_spec(SlotInfo &info, PyObject *spec) {
    if (spec == Py_None) return true;
    schema::BufferSpec given;
    if (!given.read(spec)) return false;
    info.dtype = dtype_code(given.dtype);
    if (info.dtype < 0) {
        PyErr_Format(PyExc_ValueError, "program: no compiled code handles dtype '%s'", given.dtype);
        return false;
    }
    const int ndim = given.ndim;
    if (ndim < 0 || ndim > TH_MAX_NDIM) return complain("program: the number of dimensions is out of range");
    info.ndim = ndim;
    Items ones(given.broadcastable, "program: broadcastable is a tuple of bool");
    if (!ones.ok() || ones.size() != ndim) return complain("program: broadcastable has another length than ndim");
    for (Py_ssize_t d = 0; d < ndim; ++d) {
        if (PyObject_IsTrue(ones[d])) info.ones |= uint64_t(1) << d;
    }
    info.scalar = given.scalar;
    if (info.scalar && ndim != 0) return complain("program: a scalar has no dimensions");
    if (std::strcmp(given.device, "cpu") != 0) {
        info.device = device_named(given.device);
        if (!info.device) {
            PyErr_Format(PyExc_ValueError, "program: unknown device '%s'", given.device);
            return false;
        }
    }
    info.has_spec = true;
    info.itemsize = dtype_itemsize[info.dtype];
    info.descr = PyArray_DescrFromType(dtype_npy[info.dtype]);
    if (!info.descr) return false;
    info.scalar_type = info.descr->typeobj;
    return true;
}

bool read_slots(Program &program, PyObject *object) {
    Items items(object, "program: 'slots' is a sequence");
    if (!items.ok()) return false;
    program.slots.resize(size_t(items.size()));
    for (Py_ssize_t k = 0; k < items.size(); ++k) {
        SlotInfo &info = program.slots[size_t(k)];
        schema::Slot given;
        if (!given.read(items[k]) || !read_spec(info, given.spec)) return false;
        const char *kind = given.kind;
        PyObject *value = given.value;
        program.ndims += info.ndim;
        if (std::strcmp(kind, "input") == 0) {
            info.kind = SLOT_INPUT;
        } else if (std::strcmp(kind, "constant") == 0) {
            info.kind = SLOT_CONSTANT;
            info.value = Py_NewRef(value);
            program.constants.push_back(int32_t(k));
        } else if (std::strcmp(kind, "shared") == 0) {
            info.kind = SLOT_SHARED;
            if (!is_cell(value)) return complain("program: a shared slot needs its storage, a one-element list");
            info.value = Py_NewRef(value);
            program.shared.push_back(int32_t(k));
        } else if (std::strcmp(kind, "temp") != 0) {
            return complain("program: a slot's kind is input, constant, shared or temp");
        }
    }
    return true;
}

/* ------------------------------------------------------------ instructions */

bool read_params(Instr &instr, PyObject *params) {
    if (params == Py_None) return true;
    Py_buffer view;
    if (PyObject_GetBuffer(params, &view, PyBUF_SIMPLE) < 0) return false;
    instr.params.resize((size_t(view.len) + 7) / 8);
    if (view.len > 0) std::memcpy(instr.params.data(), view.buf, size_t(view.len));
    PyBuffer_Release(&view);
    return true;
}

bool read_slots_of(const Program &program, Instr &instr, PyObject *inputs, PyObject *outputs) {
    return read_slot_numbers(program, inputs, instr.in) && read_slot_numbers(program, outputs, instr.out);
}

bool read_kernel(Program &program, Instr &instr, PyObject *item) {
    schema::KernelInstruction given;
    if (!given.read(item)) return false;
    void *pointer = PyLong_AsVoidPtr(given.address);
    if (!pointer) return complain("program: a kernel's address is null");
    instr.kind = INSTR_NATIVE;
    std::memcpy(&instr.run, &pointer, sizeof pointer);
    instr.lazy = given.lazy;
    if (given.work > 0 && kGilWorkNs / given.work < 9e18) instr.gil_limit = int64_t(kGilWorkNs / given.work);
    if (!read_params(instr, given.params) || !read_slots_of(program, instr, given.inputs, given.outputs)) return false;
    for (int32_t k : instr.in) program.slots[k].native_use = true;
    return true;
}

bool read_perform(const Program &program, Instr &instr, PyObject *item) {
    schema::PerformInstruction given;
    if (!given.read(item)) return false;
    instr.kind = INSTR_PERFORM;
    instr.callable = Py_NewRef(given.perform);
    instr.node = Py_NewRef(given.node);
    return read_slots_of(program, instr, given.inputs, given.outputs);
}

bool read_thunk(Program &program, Instr &instr, PyObject *item) {
    schema::ThunkInstruction given;
    if (!given.read(item)) return false;
    instr.kind = INSTR_THUNK;
    instr.lazy = given.lazy;
    instr.callable = Py_NewRef(given.factory);
    if (!read_slots_of(program, instr, given.inputs, given.outputs)) return false;
    for (int32_t k : instr.in) program.slots[k].in_thunk = true;
    for (int32_t k : instr.out) program.slots[k].in_thunk = true;
    return true;
}

bool read_instruction(Program &program, Instr &instr, PyObject *item) {
    if (!PyTuple_Check(item) || PyTuple_GET_SIZE(item) < 1 || !PyUnicode_Check(PyTuple_GET_ITEM(item, 0)))
        return complain("program: an instruction is a tuple that starts with its kind");
    PyObject *kind = PyTuple_GET_ITEM(item, 0);
    auto is = [&](const char *name) { return PyUnicode_CompareWithASCIIString(kind, name) == 0; };
    if (is(schema::KernelInstruction::kind_is)) return read_kernel(program, instr, item);
    if (is(schema::PerformInstruction::kind_is)) return read_perform(program, instr, item);
    if (is(schema::ThunkInstruction::kind_is)) return read_thunk(program, instr, item);
    return complain("program: an instruction's kind is c, perform or thunk");
}

bool check_native_specs(const Program &program, const Instr &instr) {
    if (instr.kind != INSTR_NATIVE) return true;
    for (const auto *list : {&instr.in, &instr.out}) {
        for (int32_t k : *list) {
            /* A constant that is no array (None, a slice) is known to who wrote the kernel: it comes without data. */
            if (program.slots[k].kind == SLOT_CONSTANT) continue;
            if (!program.slots[k].has_spec) return complain("program: a compiled kernel is given a slot without a buffer specification");
        }
    }
    return true;
}

bool read_code(Program &program, PyObject *object) {
    Items items(object, "program: 'instructions' is a sequence");
    if (!items.ok()) return false;
    program.code.resize(size_t(items.size()));
    for (Py_ssize_t i = 0; i < items.size(); ++i) {
        Instr &instr = program.code[size_t(i)];
        if (!read_instruction(program, instr, items[i]) || !check_native_specs(program, instr)) return false;
        program.nargs += int64_t(instr.in.size() + instr.out.size());
        program.lazy |= instr.lazy;
        for (int32_t k : instr.in) {
            program.slots[k].readers.push_back(int32_t(i));
            if (instr.kind != INSTR_NATIVE) program.slots[k].python_use = true;
        }
        for (int32_t k : instr.out) {
            SlotInfo &info = program.slots[k];
            if (info.kind != SLOT_TEMP || info.producer >= 0) return complain("program: each temp slot is written by one instruction, no other slot by any");
            info.producer = int32_t(i);
        }
    }
    return true;
}

/* ----------------------------------------------------- inputs and results */

bool read_inputs(Program &program, PyObject *object) {
    Items items(object, "program: 'inputs' is a sequence");
    if (!items.ok()) return false;
    for (Py_ssize_t k = 0; k < items.size(); ++k) {
        schema::Input given;
        if (!given.read(items[k])) return false;
        PyObject *name = given.name, *cell = given.default_cell, *filter = given.filter;
        Input input{};
        if (!read_slot_number(program, given.slot, &input.slot)) return false;
        if (program.slots[input.slot].kind != SLOT_INPUT) return complain("program: an input's slot is of another kind");
        if (cell != Py_None && !is_cell(cell)) return complain("program: an input's default is a one-element list");
        if (!given.required && cell == Py_None) return complain("program: an input that may be left out needs a default");
        if (name != Py_None && !PyUnicode_Check(name)) return complain("program: an input's name is a string or None");
        input.required = given.required;
        input.writable = given.writable;
        input.name = Py_NewRef(name);
        if (name != Py_None) PyUnicode_InternInPlace(&input.name);
        input.default_cell = new_or_null(cell);
        input.filter = new_or_null(filter);
        program.inputs.push_back(input);
        if (!input.filter || !PyObject_HasAttrString(filter, "casts_safely")) continue;
        PyObject *casts = PyObject_GetAttrString(filter, "casts_safely");
        const int is_true = casts ? PyObject_IsTrue(casts) : -1;
        Py_XDECREF(casts);
        if (is_true < 0) return false;
        program.inputs.back().casts = is_true;
    }
    return true;
}

bool read_updates(Program &program, PyObject *object) {
    Items items(object, "program: 'updates' is a sequence");
    if (!items.ok()) return false;
    for (Py_ssize_t k = 0; k < items.size(); ++k) {
        schema::Update given;
        Update update{};
        if (!given.read(items[k])) return false;
        if (!is_cell(given.cell)) return complain("program: an update's target is a one-element list");
        if (!read_slot_number(program, given.slot, &update.slot)) return false;
        update.cell = Py_NewRef(given.cell);
        program.updates.push_back(update);
        program.slots[update.slot].updates = program.slots[update.slot].result = true;
    }
    return true;
}

/* One for each cell, which several updates may have in common. */
bool find_locks(Program &program) {
    for (const Update &update : program.updates) {
        ValueLock *lock = lock_of(update.cell);
        if (!lock) return false;
        if (std::find(program.locks.begin(), program.locks.end(), lock) != program.locks.end()) {
            lock_drop(lock);
        } else {
            program.locks.push_back(lock);
        }
    }
    std::sort(program.locks.begin(), program.locks.end(), [](const ValueLock *one, const ValueLock *other) { return one->number < other->number; });
    return true;
}

/* What an input that is overwritten may share memory with. */
void find_rivals(Program &program) {
    for (const Input &input : program.inputs) {
        if (input.writable == 1) program.destroyed.push_back(input.slot);
    }
    /* Afterwards: a copy of what is stored would not keep the caller's own array from being overwritten as another input. */
    for (const Input &input : program.inputs) {
        if (input.writable > 1) program.destroyed.push_back(input.slot);
        if (input.default_cell) program.stored.push_back(input.default_cell);
    }
    for (const Update &update : program.updates) program.stored.push_back(update.cell);
    for (size_t k = 0; k < program.slots.size(); ++k) {
        if (program.slots[k].kind != SLOT_TEMP) program.fixed.push_back(int32_t(k));
    }
}

bool read_returns(Program &program, PyObject *returns, PyObject *keys) {
    const char *text = returns && returns != Py_None ? PyUnicode_AsUTF8(returns) : "list";
    if (!text) return false;
    if (std::strcmp(text, "one") == 0) {
        program.returns = RETURN_ONE;
        if (program.outputs.size() != 1) return complain("program: returns 'one' with another number of outputs");
    } else if (std::strcmp(text, "list") == 0) {
        program.returns = RETURN_LIST;
    } else if (std::strcmp(text, "none") == 0) {
        program.returns = RETURN_NONE;
    } else if (std::strcmp(text, "dict") == 0) {
        program.returns = RETURN_DICT;
        program.keys = keys && keys != Py_None ? PySequence_List(keys) : nullptr;
        if (!program.keys || size_t(PyList_GET_SIZE(program.keys)) != program.outputs.size())
            return complain("program: returns 'dict' needs one key per output");
    } else {
        return complain("program: 'returns' is one, list, none or dict");
    }
    return true;
}

/* ------------------------------------------------------------ memory, order */

bool read_frees(Program &program, PyObject *object) {
    Items items(object, "program: 'frees' is a sequence");
    if (!items.ok()) return false;
    if (items.size() != 0 && size_t(items.size()) != program.code.size()) return complain("program: 'frees' has one entry per instruction");
    for (Py_ssize_t i = 0; i < items.size(); ++i) {
        std::vector<int32_t> slots;
        if (!read_slot_numbers(program, items[i], slots)) return false;
        Instr &instr = program.code[size_t(i)];
        for (int32_t k : slots) {
            SlotInfo &info = program.slots[k];
            if (info.kind == SLOT_CONSTANT || info.result) continue;
            info.freeable = true;
            instr.frees_list.push_back(k);
        }
        instr.frees = instr.frees_list.data();
        instr.nfrees = int32_t(instr.frees_list.size());
    }
    return true;
}

bool read_reuse(Program &program, PyObject *object) {
    Items items(object, "program: 'reuse' is a sequence");
    if (!items.ok()) return false;
    if (items.size() != 0 && size_t(items.size()) != program.slots.size()) return complain("program: 'reuse' has one entry per slot");
    for (Py_ssize_t k = 0; k < items.size(); ++k) {
        SlotInfo &info = program.slots[size_t(k)];
        long pool = PyLong_AsLong(items[k]);
        if (PyErr_Occurred()) return false;
        if (pool < 0 || info.array_backed || !info.has_spec || info.kind != SLOT_TEMP) continue;
        if (pool > 1000000) return complain("program: a buffer number of the memory plan is out of range");
        info.pool = int32_t(pool);
        program.npools = program.npools > pool ? program.npools : int32_t(pool) + 1;
        program.pooled.push_back(int32_t(k));
    }
    return true;
}

/* What the last instructions write over, or what is copied for others to write over; and where those begin. */
bool read_overwritten(Program &program, PyObject *object, PyObject *start) {
    program.commit_start = program.code.size();
    if (start && start != Py_None) {
        Py_ssize_t first = PyLong_AsSsize_t(start);
        if (first < 0 || size_t(first) > program.code.size()) return complain("program: 'commit_start' is the number of an instruction");
        program.commit_start = size_t(first);
    }
    for (size_t i = program.commit_start; i < program.code.size(); ++i) {
        if (program.code[i].kind != INSTR_NATIVE || program.lazy) return complain("program: the last instructions are compiled kernels, in no lazy program");
    }
    Items items(object, "program: 'overwritten' is a sequence");
    if (!items.ok()) return false;
    for (Py_ssize_t k = 0; k < items.size(); ++k) {
        schema::Overwritten given;
        int32_t number;
        if (!given.read(items[k]) || !read_slot_number(program, given.slot, &number)) return false;
        const int how = given.how;
        SlotInfo &info = program.slots[number];
        if (info.kind != SLOT_SHARED || !info.has_spec || how < OVERWRITE_LAST || how > OVERWRITE_COPY)
            return complain("program: only shared slots with a buffer specification are overwritten");
        info.overwritten = Overwritten(how);
        if (how == OVERWRITE_LAST) program.overwritten.push_back(number);
    }
    return true;
}

bool read_result_bases(Program &program, PyObject *object) {
    Items items(object, "program: 'result_bases' is a sequence");
    if (!items.ok()) return false;
    for (Py_ssize_t k = 0; k < items.size(); ++k) {
        schema::ResultBase given;
        int32_t from, to;
        if (!given.read(items[k])) return false;
        if (!read_slot_number(program, given.slot, &from) || !read_slot_number(program, given.result, &to)) return false;
        SlotInfo &info = program.slots[from];
        if (info.kind != SLOT_TEMP || !info.has_spec || info.scalar || !program.slots[to].result)
            return complain("program: a base of a result is a temp slot with a buffer specification, for a result");
        info.array_backed = info.device == nullptr;
        info.result = true;
        info.updates |= program.slots[to].updates;
        program.slots[to].base = from;
    }
    return true;
}

bool read_control_dependencies(Program &program, PyObject *object) {
    Items items(object, "program: 'control_dependencies' is a sequence");
    if (!items.ok()) return false;
    if (items.size() != 0 && size_t(items.size()) != program.code.size()) return complain("program: 'control_dependencies' has one entry per instruction");
    for (Py_ssize_t i = 0; i < items.size(); ++i) {
        if (!read_slot_numbers(program, items[i], program.code[size_t(i)].control_dependencies)) return false;
    }
    return true;
}

/* Values in a device's memory are not overwritten in shared variables, and buffers that slots share are in one memory. */
bool read_devices(Program &program) {
    std::vector<int32_t> first(size_t(program.npools), -1);
    for (size_t k = 0; k < program.slots.size(); ++k) {
        const SlotInfo &info = program.slots[k];
        if (info.device && (info.scalar || info.overwritten != OVERWRITE_NOTHING))
            return complain("program: what is in a device's memory is no NumPy scalar, and is not overwritten in a shared variable");
        if (info.device && info.device->begin && std::find(program.devices.begin(), program.devices.end(), info.device) == program.devices.end())
            program.devices.push_back(info.device);
        if (info.pool < 0) continue;
        int32_t &other = first[size_t(info.pool)];
        if (other < 0) other = int32_t(k);
        if (program.slots[size_t(other)].device != info.device) return complain("program: slots that share a buffer are in one memory");
    }
    return true;
}

void derive(Program &program) {
    for (SlotInfo &info : program.slots) {
        info.array_backed = info.has_spec && !info.scalar && !info.device && (info.result || info.python_use);
    }
    std::vector<bool> seen(program.code.size());
    auto want = [&](int32_t slot) {
        int32_t producer = program.slots[slot].producer;
        if (producer < 0 || seen[producer]) return;
        seen[producer] = true;
        program.wanted.push_back(producer);
    };
    for (int32_t slot : program.outputs) want(slot);
    for (const Update &update : program.updates) want(update.slot);
    program.profile.prepare(program.code.size(), program.slots.size());
}

/* Every value that is read must come from somewhere, and in a straight line from before. */
bool check_order(const Program &program) {
    auto known = [&](int32_t slot, int64_t before) {
        const SlotInfo &info = program.slots[slot];
        return info.kind != SLOT_TEMP || (info.producer >= 0 && info.producer < before);
    };
    for (size_t i = 0; i < program.code.size(); ++i) {
        for (int32_t slot : program.code[i].in) {
            if (!known(slot, int64_t(i))) return complain("program: an instruction reads a slot that none before it computes");
        }
    }
    for (int32_t slot : program.outputs) {
        if (!known(slot, INT64_MAX)) return complain("program: an output is never computed");
    }
    for (const Update &update : program.updates) {
        if (!known(update.slot, INT64_MAX)) return complain("program: an update is never computed");
    }
    std::vector<bool> given(program.slots.size());
    for (const Input &input : program.inputs) given[input.slot] = true;
    for (size_t k = 0; k < program.slots.size(); ++k) {
        if (program.slots[k].kind == SLOT_INPUT && !given[k]) return complain("program: an input slot is not among 'inputs'");
    }
    return true;
}

bool read_entries(PyObject *description, schema::Entries &found) {
    PyObject *key, *value;
    Py_ssize_t position = 0;
    while (PyDict_Next(description, &position, &key, &value)) {
        PyObject **place = nullptr;
        for (const auto &each : schema::entries) {
            if (PyUnicode_Check(key) && PyUnicode_CompareWithASCIIString(key, each.name) == 0) place = &(found.*each.entry);
        }
        if (!place) {
            PyErr_Format(PyExc_TypeError, "program: unknown entry %R", key);
            return false;
        }
        *place = value;
    }
    return true;
}

/* True, or the names of what to record besides the calls: "nodes", "shapes", "skip_first". */
bool read_profile(Program &program, PyObject *profile) {
    if (!profile || profile == Py_None || profile == Py_False) return true;
    program.profile.on = true;
    if (profile == Py_True) return program.profile.nodes = true;
    const struct { const char *name; bool *flag; } known[] = {
        {"nodes", &program.profile.nodes}, {"shapes", &program.profile.shapes}, {"skip_first", &program.profile.skip_first}};
    for (const auto &each : known) {
        PyObject *name = PyUnicode_FromString(each.name);
        int found = name ? PySequence_Contains(profile, name) : -1;
        Py_XDECREF(name);
        if (found < 0) return false;
        *each.flag = found == 1;
    }
    program.profile.nodes |= program.profile.shapes; /* noted where time is taken */
    return true;
}

} // namespace

bool program_read(Program &program, PyObject *description) {
    schema::Entries given;
    if (!read_entries(description, given)) return false;
    program.on_error = new_or_null(given.on_error);
    program.on_bad_call = new_or_null(given.on_bad_call);
    program.separate = new_or_null(given.separate);
    program.options = new_or_null(given.options);
    if (program.options && !PyDict_Check(program.options)) return complain("program: 'options' is a dict from keyword to callable");
    program.keepalive = new_or_null(given.keepalive);
    program.name = new_or_null(given.name);
    program.lazy = given.lazy && PyObject_IsTrue(given.lazy) == 1; /* or an instruction is */
    if (!read_profile(program, given.profile)) return false;
    if (!read_slots(program, given.slots) || !read_code(program, given.instructions)) return false;
    if (!read_inputs(program, given.inputs) || !read_slot_numbers(program, given.outputs, program.outputs)) return false;
    for (int32_t k : program.outputs) program.slots[k].result = true;
    if (!read_updates(program, given.updates) || !read_returns(program, given.returns, given.keys)) return false;
    derive(program);
    if (!read_overwritten(program, given.overwritten, given.commit_start) || !read_result_bases(program, given.result_bases)) return false;
    const bool good = read_frees(program, given.frees) && read_reuse(program, given.reuse) && read_control_dependencies(program, given.control_dependencies) &&
           read_devices(program) && check_order(program) && find_locks(program);
    if (!good) return false;
    find_rivals(program);
    for (Update &update : program.updates) update.committed = program.slots[update.slot].producer >= int64_t(program.commit_start);
    program.careful = !program.locks.empty() || !program.destroyed.empty();
    return true;
}

int program_traverse(const Program &program, visitproc visit, void *arg) {
    for (const SlotInfo &info : program.slots) Py_VISIT(info.value);
    for (const Instr &instr : program.code) {
        Py_VISIT(instr.callable);
        Py_VISIT(instr.node);
    }
    for (const Input &input : program.inputs) {
        Py_VISIT(input.default_cell);
        Py_VISIT(input.filter);
    }
    for (const Update &update : program.updates) Py_VISIT(update.cell);
    Py_VISIT(program.keys);
    Py_VISIT(program.on_error);
    Py_VISIT(program.on_bad_call);
    Py_VISIT(program.separate);
    Py_VISIT(program.options);
    Py_VISIT(program.keepalive);
    return 0;
}

void program_clear(Program &program) {
    for (ValueLock *lock : program.locks) lock_drop(lock); /* while the cells are held */
    program.locks.clear();
    for (SlotInfo &info : program.slots) {
        Py_CLEAR(info.value);
        Py_CLEAR(info.descr);
    }
    for (Instr &instr : program.code) {
        Py_CLEAR(instr.callable);
        Py_CLEAR(instr.node);
    }
    for (Input &input : program.inputs) {
        Py_CLEAR(input.name);
        Py_CLEAR(input.default_cell);
        Py_CLEAR(input.filter);
    }
    for (Update &update : program.updates) Py_CLEAR(update.cell);
    Py_CLEAR(program.keys);
    Py_CLEAR(program.on_error);
    Py_CLEAR(program.on_bad_call);
    Py_CLEAR(program.separate);
    Py_CLEAR(program.options);
    Py_CLEAR(program.keepalive);
    Py_CLEAR(program.name);
}

} // namespace theano
