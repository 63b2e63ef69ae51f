/* Adds the parameter, and how often this thunk has been called. */
#section support_code_struct
long APPLY_SPECIFIC(calls);
void *APPLY_SPECIFIC(memory);

#section init_code_struct
APPLY_SPECIFIC(calls) = 0;
APPLY_SPECIFIC(memory) = malloc(8);
if (!APPLY_SPECIFIC(memory) || PARAMS->start < 0) {
    PyErr_SetString(PyExc_ValueError, "start is negative");
    FAIL;
}

#section cleanup_code_struct
free(APPLY_SPECIFIC(memory));

#section code
void *scratch = malloc(8);
if (INPUT_0 < 0) {
    PyErr_SetString(PyExc_ValueError, "a negative number");
    FAIL
}
OUTPUT_0 = INPUT_0 + PARAMS->start + ++APPLY_SPECIFIC(calls);

#section code_cleanup
free(scratch);
