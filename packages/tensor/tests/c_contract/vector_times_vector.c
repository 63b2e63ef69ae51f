// The product of two vectors, element by element.

#section support_code

static bool vector_same_shape(PyArrayObject* arr1, PyArrayObject* arr2)
{
    return PyArray_DIMS(arr1)[0] == PyArray_DIMS(arr2)[0];
}

#section support_code_apply

static void APPLY_SPECIFIC(multiply)(PyArrayObject* x, PyArrayObject* y, PyArrayObject* z)
{
    for (npy_intp i = 0; i < PyArray_DIMS(x)[0]; i++) {
        *(DTYPE_OUTPUT_0*)PyArray_GETPTR1(z, i) =
            *(DTYPE_INPUT_0*)PyArray_GETPTR1(x, i) * *(DTYPE_INPUT_1*)PyArray_GETPTR1(y, i);
    }
}

int APPLY_SPECIFIC(vector_times_vector)(PyArrayObject* input0, PyArrayObject* input1, PyArrayObject** output0)
{
    if (!vector_same_shape(input0, input1)) {
        PyErr_Format(PyExc_ValueError, "Shape mismatch : x.shape[0] == %d and y.shape[0] == %d",
                     (int)PyArray_DIMS(input0)[0], (int)PyArray_DIMS(input1)[0]);
        return 1;
    }
    if (NULL == *output0 || !vector_same_shape(input0, *output0)) {
        Py_XDECREF(*output0);
        *output0 = (PyArrayObject*)PyArray_EMPTY(1, PyArray_DIMS(input0), TYPENUM_OUTPUT_0, 0);
        if (!*output0) return 1;
    }
    APPLY_SPECIFIC(multiply)(input0, input1, *output0);
    return ITEMSIZE_INPUT_0 > 0 ? 0 : 1;
}
