#section support_code_apply
/* The macros tell the types of parameters, as of inputs and outputs. */
static_assert(sizeof(DTYPE_PARAM_a) == ITEMSIZE_PARAM_a && TYPENUM_PARAM_a == NPY_FLOAT32, "a is an array");
static_assert(sizeof(DTYPE_PARAM_b) == ITEMSIZE_PARAM_b && TYPENUM_PARAM_b == NPY_INT16, "b is a number");

int APPLY_SPECIFIC(quadratic)(PyArrayObject* x, PyArrayObject** y, PARAMS_TYPE* parameters) {
    DTYPE_PARAM_a a = *(DTYPE_PARAM_a*)PyArray_DATA(parameters->a);
    DTYPE_PARAM_b b = parameters->b;
    Py_XDECREF(*y);
    *y = (PyArrayObject*)PyArray_EMPTY(1, PyArray_DIMS(x), TYPENUM_OUTPUT_0, 0);
    if (!*y) return 1;
    for (npy_intp i = 0; i < PyArray_DIM(x, 0); i++) {
        DTYPE_INPUT_0 element = *(DTYPE_INPUT_0*)PyArray_GETPTR1(x, i);
        *(DTYPE_OUTPUT_0*)PyArray_GETPTR1(*y, i) = a * element * element + b * element;
    }
    return 0;
}
