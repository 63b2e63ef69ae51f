/* Python bindings of the loader: the only pybind11 unit, for what is not performance-critical.
 *
 * Opening libraries, settings and the module itself go through pybind11, where 20 ns more per call do not
 * matter. The type `Function` is a raw CPython type (function.cpp), because there they do.
 */
#define THEANO_LOADER_IMPORTS_NUMPY
#include "core.h"
#include "platform.h"

#include <pybind11/pybind11.h>

#include <cstring>
#include <string>

namespace py = pybind11;

namespace {

[[noreturn]] void raise(PyObject *type, const std::string &text) {
    PyErr_SetString(type, text.c_str());
    throw py::error_already_set();
}

/* A loaded shared object; closed with its last reference (a Function's `keepalive`). */
class Library {
  public:
    Library(const py::object &path, const std::string &key) {
        PyObject *bytes = nullptr;
        if (!PyUnicode_FSConverter(path.ptr(), &bytes)) throw py::error_already_set();
        path_ = PyBytes_AS_STRING(bytes);
        Py_DECREF(bytes);
        {
            py::gil_scoped_release release; /* reading from disk */
            handle_ = theano::library_open(path_);
        }
        if (!handle_) raise(PyExc_OSError, theano::library_error());
        if (key.empty()) return;
        auto *found = static_cast<const char *>(theano::library_symbol(handle_, "theano_unit_key"));
        if (found && key == found) return;
        std::string text = path_ + (found ? " was built for the key " + std::string(found) : std::string(" exports no theano_unit_key")) +
                           ", wanted " + key + ": remove the file, it will be built again";
        theano::library_close(handle_);
        handle_ = nullptr;
        raise(PyExc_ValueError, text);
    }
    ~Library() {
        if (handle_) theano::library_close(handle_);
    }
    Library(const Library &) = delete;
    Library &operator=(const Library &) = delete;

    size_t symbol(const std::string &name) const {
        void *address = theano::library_symbol(handle_, name);
        if (!address) raise(PyExc_LookupError, path_ + " has no symbol " + name + " (" + theano::library_error() + ")");
        return reinterpret_cast<size_t>(address);
    }
    const std::string &path() const { return path_; }

  private:
    std::string path_;
    void *handle_ = nullptr;
};

} // namespace

PYBIND11_MODULE(_loader, m) {
    /* Not declared safe without the GIL: frames and recycling rely on it, so a free-threaded Python turns it on. */
    m.doc() = "The compiled half of theano.loader; import it through theano.loader.module.";
    if (PyArray_ImportNumPyAPI() < 0) throw py::error_already_set();
    theano::boundary_setup();
    theano::shape_error = PyErr_NewExceptionWithDoc("theano.loader.module.KernelShapeError",
                                                    "A compiled kernel was given arrays whose shapes do not go together.", PyExc_ValueError, nullptr);
    if (!theano::shape_error) throw py::error_already_set();
    m.attr("KernelShapeError") = py::reinterpret_borrow<py::object>(theano::shape_error);
    py::object type = py::reinterpret_steal<py::object>(theano::function_type());
    if (!type) throw py::error_already_set();
    m.attr("Function") = type;
    py::object thunk = py::reinterpret_steal<py::object>(theano::thunk_type());
    if (!thunk) throw py::error_already_set();
    m.attr("NativeThunk") = thunk;
    m.def("run_cthunk", [](const py::object &capsule) {
        const int status = theano::run_cthunk(capsule.ptr());
        if (status < 0) throw py::error_already_set();
        return status;
    });
    m.attr("ABI_VERSION") = TH_ABI_VERSION;

    py::class_<Library>(m, "Library")
        .def(py::init<const py::object &, const std::string &>(), py::arg("path"), py::arg("key") = "")
        .def("symbol", &Library::symbol, py::arg("name"))
        .def_property_readonly("path", &Library::path);
    m.def("enable_vectorcall", [](const py::object &cls) {
        PyObject *result = theano::enable_vectorcall(cls.ptr());
        if (!result) throw py::error_already_set();
        return py::reinterpret_steal<py::object>(result);
    });
    m.def("set_threads", &theano::pool_set_threads, py::arg("n"));
    m.def("get_threads", &theano::pool_get_threads);
    m.def("cpu_level", &theano::cpu_level);
    m.def("numpy_sort", &theano::numpy_sort, py::arg("dtype"), py::arg("kind"), py::arg("places"));
    m.def("set_threads_least", &theano::pool_set_least, py::arg("elements"));
    m.def("store", [](const py::list &cell, const py::object &value) {
        if (theano::store_locked(cell.ptr(), value.ptr()) < 0) throw py::error_already_set();
    }, py::arg("cell"), py::arg("value"));
    m.def("locks_after_fork", &theano::locks_after_fork);
    py::object device_array = py::reinterpret_steal<py::object>(theano::device_array_type());
    if (!device_array) throw py::error_already_set();
    m.attr("DeviceArray") = device_array;
    m.def("add_device", [device_array](const std::string &name, size_t address, const py::object &array_class) {
        const bool plain = array_class.is_none();
        if (!plain && (!PyType_Check(array_class.ptr()) || PyObject_IsSubclass(array_class.ptr(), device_array.ptr()) != 1))
            raise(PyExc_TypeError, "the arrays of a device are of a subclass of DeviceArray");
        theano::device_add(name.c_str(), reinterpret_cast<const th_device *>(address), plain ? nullptr : py::object(array_class).release().ptr());
    }, py::arg("name"), py::arg("address"), py::arg("array_class") = py::none());
    m.def("device_array_class", [device_array](const std::string &name) -> py::object {
        const theano::DeviceEntry *entry = theano::device_entry(name.c_str());
        if (!entry) raise(PyExc_ValueError, "unknown device '" + name + "'");
        return entry->array_class ? py::reinterpret_borrow<py::object>(entry->array_class) : device_array;
    }, py::arg("name"));
    m.def("read_capsule", [](const py::object &capsule) {
        py::object found = py::reinterpret_steal<py::object>(theano::dlpack_read(capsule.ptr()));
        if (!found) throw py::error_already_set();
        return found;
    }, py::arg("capsule"));
    m.def("has_device", [](const std::string &name) { return theano::device_named(name.c_str()) != nullptr; }, py::arg("name"));
    m.def(
        "empty",
        [](const py::object &shape, const py::object &dtype) {
            PyObject *array = theano::empty_array(shape.ptr(), dtype.ptr());
            if (!array) throw py::error_already_set();
            return py::reinterpret_steal<py::object>(array);
        },
        py::arg("shape"), py::arg("dtype"));
    m.def("direct_message", [](const py::object &capsule) {
        py::object said = py::reinterpret_steal<py::object>(theano::direct_message(capsule.ptr()));
        if (!said) throw py::error_already_set();
        return said;
    }, py::arg("capsule"));
    m.def("memory_cached", &theano::memory_cached);
    m.def("memory_trim", &theano::memory_trim, py::arg("keep") = 0);
    m.def("memory_set_limit", &theano::memory_set_limit, py::arg("n"));
    m.def("memory_get_limit", &theano::memory_get_limit);
    m.def("profile_clock", &theano::choose_clock, py::arg("counter") = true);
    m.def("runtime_address", [] { return reinterpret_cast<size_t>(&theano::runtime_table); });
}
