/* The type names that C written for Theano's scalar operations counts on; the compiled units do not
 * include NumPy's own headers. */

/* @snippet npy_types */
typedef uint8_t npy_bool;
typedef int8_t npy_int8;
typedef int16_t npy_int16;
typedef int32_t npy_int32;
typedef int64_t npy_int64;
typedef uint8_t npy_uint8;
typedef uint16_t npy_uint16;
typedef uint32_t npy_uint32;
typedef uint64_t npy_uint64;
typedef float npy_float32;
typedef double npy_float64;
