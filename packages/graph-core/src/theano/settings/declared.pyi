"""Flags, and of what they are."""
# Written by tools/stubs.py; do not edit.
# mypy: ignore-errors
# ruff: noqa

from typing import Any
from theano.settings.config import Config, Section

class _warn(Section):
    argmax_pushdown_bug: bool
    """Warn where argmax_pushdown_bug once gave wrong results."""
    gpu_set_subtensor1: bool
    """Warn where gpu_set_subtensor1 once gave wrong results."""
    gpusum_01_011_0111_bug: bool
    """Warn where gpusum_01_011_0111_bug once gave wrong results."""
    identify_1pexp_bug: bool
    """Warn where identify_1pexp_bug once gave wrong results."""
    ignore_bug_before: str
    """Up to which version bugs are forgiven."""
    inc_set_subtensor1: bool
    """Warn where inc_set_subtensor1 once gave wrong results."""
    inc_subtensor1_opt: bool
    """Warn where inc_subtensor1_opt once gave wrong results."""
    reduce_join: bool
    """Warn where reduce_join once gave wrong results."""
    round: bool
    """Warn where round once gave wrong results."""
    signal_conv2d_interface: bool
    """Warn where signal_conv2d_interface once gave wrong results."""
    subtensor_merge_bug: bool
    """Warn where subtensor_merge_bug once gave wrong results."""
    sum_div_dimshuffle_bug: bool
    """Warn where sum_div_dimshuffle_bug once gave wrong results."""
    sum_sum_bug: bool
    """Warn where sum_sum_bug once gave wrong results."""
    vm_gc_bug: bool
    """Warn where vm_gc_bug once gave wrong results."""

class _vm(Section):
    lazy: Any
    """Compute only the requested outputs: True, False, or None (only where a graph has an op such as ifelse)."""

class _unittests(Section):
    rseed: Any
    """Seed of tests with random values; random: another one each time."""

class _traceback(Section):
    compile_limit: int
    """As traceback.limit, for variables made while compiling."""
    limit: int
    """How many frames of the program to remember for each expression; -1: all."""

class _tensor(Section):
    cmp_sloppy: int
    """How far apart two floats may be and still count as equal in the checks of values: 0 close, 1 looser, 2 loose."""
    insert_inplace_optimizer_validate_nb: int
    """After how many in-place changes the graph is checked."""
    local_elemwise_fusion: bool
    """Join element-wise ops into one kernel, with each other and with the reductions of their results."""

class _scan(Section):
    allow_gc: bool
    """As allow_gc, inside loops."""
    allow_output_prealloc: bool
    """Let a loop write its results into the output directly."""
    debug: bool
    """Print what loops do."""

class _profiling(Section):
    debugprint: bool
    """Print the profiled graphs too."""
    destination: str
    """Where profiles go: stderr, stdout, or the name of a file."""
    ignore_first_call: bool
    """Leave the first call out."""
    min_memory_size: int
    """Bytes below which an output is not listed."""
    min_peak_memory: bool
    """Also compute the order of ops with the lowest peak."""
    n_apply: int
    """How many single applications of ops to list."""
    n_ops: int
    """How many ops to list."""
    output_line_width: int
    """Widest line of a profile."""
    time_thunks: bool
    """Time each op."""

class _optdb(Section):
    max_use_ratio: float
    """A fixpoint stops when one rule fired more often than this many times the number of nodes."""
    position_cutoff: float
    """Passes at this position or after it are not run."""

class _numpy(Section):
    seterr_all: str
    """What ops that run through NumPy do about floating-point errors (numpy.seterr); None leaves NumPy as it is."""
    seterr_divide: str
    """As numpy.seterr_all, for the errors that NumPy calls divide; None: as numpy.seterr_all says."""
    seterr_invalid: str
    """As numpy.seterr_all, for the errors that NumPy calls invalid; None: as numpy.seterr_all says."""
    seterr_over: str
    """As numpy.seterr_all, for the errors that NumPy calls over; None: as numpy.seterr_all says."""
    seterr_under: str
    """As numpy.seterr_all, for the errors that NumPy calls under; None: as numpy.seterr_all says."""

class _metaopt(Section):
    optimizer_excluding: str
    """Tags of rules used in that choice (excluding)."""
    optimizer_including: str
    """Tags of rules used in that choice (including)."""
    verbose: int
    """How much the choice among several implementations says."""

class _memory(Section):
    keep: int
    """How many bytes of big arrays (above 1 MiB) stay with the process for the next ones when they are dropped; -1: 256 MiB, or an eighth of the memory there is if that is less. theano.loader.module.memory_trim() gives them back. Read as threads is."""

class _magma(Section):
    enabled: bool
    """Whether to use MAGMA."""
    include_path: str
    """Where MAGMA's headers are."""
    library_path: str
    """Where MAGMA's library is."""

class _lib(Section):
    amdlibm: bool
    """Use AMD's mathematical functions."""

class _gpuelemwise(Section):
    sync: bool
    """Wait for each element-wise kernel."""

class _gpuarray(Section):
    blas: str
    """What multiplies and factorises matrices on a device of CUDA: cuBLAS and cuSOLVER if they are found, or kernels of this project."""
    cache_path: str
    """Where kernels of devices are kept, if not with all compiled code."""
    capture: bool
    """Let a device of CUDA do launches that come again in one call of the driver (CUDA graphs)."""
    preallocate: float
    """Memory of a device to take at the start: below 1 a share, else megabytes; negative: memory that is given back is not kept."""
    sched: str
    """How threads wait for a device of CUDA: multi gives the core away, single does not."""
    single_stream: bool
    """Use one stream."""
    sync: Any
    """Wait for each call."""
    tf32: bool
    """Let cuBLAS and cuDNN leave out digits of float32 in products."""

class _gpu(Section):
    local_elemwise_fusion: bool
    """As tensor.local_elemwise_fusion, on the GPU."""

class _gcc(Section):
    cxxflags: str
    """Options for the compiler, after those chosen here."""

class _experimental(Section):
    local_alloc_elemwise: Any
    """Lift allocations through element-wise ops."""
    local_alloc_elemwise_assert: bool
    """Let that rewrite keep the check that shapes agree: without it, an allocation is dropped wherever another operand has the same dimensions."""
    unpickle_gpu_on_cpu: bool
    """Unpickle values of a GPU as NumPy arrays."""

class _dnn_conv(Section):
    algo_bwd: Any
    """Was a choice of algorithm."""
    algo_bwd_data: str
    """The same for the gradient of the images."""
    algo_bwd_filter: str
    """The same for the gradient of the filters."""
    algo_fwd: str
    """Which algorithm cuDNN takes for convolution."""
    precision: str
    """In which dtype cuDNN computes a convolution."""
    workmem: Any
    """Was a choice of algorithm."""
    workmem_bwd: Any
    """Was a choice of algorithm."""

class _dnn(Section):
    base_path: str
    """Where cuDNN's base directory is."""
    bin_path: str
    """Where cuDNN's bin directory is."""
    conv: _dnn_conv
    enabled: str
    """Whether a device of CUDA convolves and pools by cuDNN: if it is found, or never (False)."""
    include_path: str
    """Where cuDNN's include directory is."""
    library_path: str
    """Where cuDNN's library directory is."""

class _cuda(Section):
    include_path: str
    """Where CUDA's headers are."""
    root: str
    """Where CUDA is installed."""

class _ctc(Section):
    root: str
    """Where Baidu's CTC library is."""

class _conv(Section):
    assert_shape: bool
    """Compare the shapes given to a convolution with the real ones."""
    winograd: bool
    """Convolve 3 x 3 filters with fewer multiplications. Results are then rounded as sums of a neighbourhood's pixels are, not of those alone that a filter meets."""

class _compile(Section):
    jobs: int
    """How many compilers run side by side; 0: one per core."""
    progress: str
    """Show a line on the standard error while compilers work for more than a second; auto: where that is no terminal, for more than five."""
    question_timeout: float
    """Seconds for all that is asked of the compilers here until one has compiled something. One that hangs is then not asked again for ten minutes, unless it has changed."""
    timeout: int
    """Seconds before a lock is broken."""
    unit_timeout: float
    """Seconds that the compiler may take for one unit of kernels."""
    wait: int
    """Seconds between two looks at a lock."""

class _cmodule(Section):
    age_thresh_use: int
    """Seconds after which compiled code is not used again."""
    compilation_warning: bool
    """Show the compiler's warnings."""
    debug: bool
    """Define the macro DEBUG in compiled code."""
    preload_cache: bool
    """Read the cache at import."""
    remove_gxx_opt: bool
    """Compile without -O options, for a debugger."""
    warn_no_version: bool
    """Warn about an op whose C code cannot be cached because it has no c_code_cache_version."""

class _cache(Section):
    plans: bool
    """Keep what a whole function compiles to, so that the next process need not rewrite its graph."""
    readonly: str
    """More directories of compiled code, filled by others and only read; separated as in PATH."""
    size_cap: int
    """Bytes that the cache may hold; the code unused for longest goes first."""

class _blas(Section):
    check_openmp: bool
    """Check that a BLAS and its OpenMP fit together."""
    gemm: str
    """Whose products of float32 and float64 matrices and vectors to use: ours, those of the BLAS library, or whichever is faster on this CPU."""
    ldflags: str
    """A BLAS library to load, as linker options (-L/folder -lname) or the path of a file; empty: the one that NumPy or SciPy brought along."""

class _NanGuardMode(Section):
    action: str
    """What NanGuardMode does when it finds one."""
    big_is_error: bool
    """Whether NanGuardMode minds a value beyond 1e10."""
    inf_is_error: bool
    """Whether NanGuardMode minds an infinity."""
    nan_is_error: bool
    """Whether NanGuardMode minds a NaN."""

class _DebugMode(Section):
    check_c: bool
    """Run the compiled form of each op."""
    check_finite: bool
    """Mind values that are not finite."""
    check_preallocated_output: str
    """Memory to offer to ops as output, ':' between: initial, previous, c_contiguous, f_contiguous, strided, wrong_size, ALL."""
    check_preallocated_output_ndim: int
    """On how many dimensions strided tries its strides."""
    check_py: bool
    """Run the Python form of each op."""
    check_strides: int
    """When the two forms differ in memory layout: 0 nothing, 1 warn, 2 raise."""
    patience: int
    """How often to rewrite, to see that it comes out the same."""
    warn_input_not_reused: bool
    """Warn when an op that may work in place did not."""

class Flags(Config):
    DebugMode: _DebugMode
    NanGuardMode: _NanGuardMode
    allow_gc: bool
    """Give intermediate memory back during a call; False keeps it for the next call."""
    assert_no_cpu_op: str
    """What to do about an op on the CPU in a function for the GPU."""
    base_compiledir: str
    """Where compiled code is kept. Several, separated as in PATH: the first is written to, the others are read as those of cache.readonly are."""
    blas: _blas
    cache: _cache
    cache_optimizations: bool
    """Keep rewritten graphs on disk."""
    calibration: str
    """Where kernels learn what is fastest on this machine: from what python -m theano.doctor --calibrate measured on it, if it did; or, so that machines of a kind compute the same bits, from what the layers bring along."""
    cast_policy: str
    """How dtypes combine. custom: numbers written in Python adapt to the arrays they meet; numpy+floatX: as in NumPy, but a float64 made from smaller types becomes floatX."""
    check_input: bool
    """Let types check their values in the C code of ops that users write."""
    check_stack_trace: str
    """What to do when a rewrite loses the line of the program that an expression came from."""
    cmodule: _cmodule
    compile: _compile
    compiledir: str
    """The directory of compiled code itself, instead of one chosen below base_compiledir."""
    compiledir_format: str
    """Name of a directory below base_compiledir. Used only if it is set: the cache here can serve many machines from one directory. Keys: device, gxx_version, hostname, numpy_version, platform, processor, python_bitwidth, python_int_bitwidth, python_version, short_platform, theano_version."""
    compute_test_value: str
    """Compute each expression on example values (x.tag.test_value) while it is built, so that a wrong shape shows at its own line."""
    compute_test_value_opt: str
    """As compute_test_value, for what rewriting puts into a graph."""
    contexts: Any
    """Names for several devices: name->device;..."""
    conv: _conv
    cpu_level: str
    """The highest x86-64 level that kernels built ahead may use: v3 has AVX2, v4 AVX-512, baseline neither; auto: all that this CPU has. Kernels compiled here follow gcc.cxxflags instead."""
    ctc: _ctc
    cuda: _cuda
    cxx: str
    """The C compiler, with its arguments; empty: use none. Also found through CC."""
    cycle_detection: str
    """With fast, find fewer places for in-place work, sooner."""
    deterministic: str
    """With more, prefer algorithms whose result does not depend on timing."""
    device: Any
    """Where to compute: cpu, cuda, cudaN or openclN:M."""
    dnn: _dnn
    exception_verbosity: str
    """With high, errors also print the expression as a tree and the values that were being computed with."""
    experimental: _experimental
    floatX: str
    """The dtype that 'floatX' stands for: of T.matrix() and the like, and of Python floats in expressions. float16 is stored small and computed in float32."""
    force_device: bool
    """Stop if the device cannot be used."""
    fused_multiply_add: bool
    """In element-wise loops, round a product and the sum that it goes into once, together, where the CPU has an instruction for it: x * y + z. Such sums are more exact and take one step instead of two, but differ in the last digit from the same expression on a CPU without it, or in Python."""
    gcc: _gcc
    gpu: _gpu
    gpuarray: _gpuarray
    gpuelemwise: _gpuelemwise
    init_gpu_device: Any
    """Start this device, but compute on the CPU."""
    int_division: str
    """What x / y gives for two integers: whole numbers, an error, or floatX."""
    lib: _lib
    linker: str
    """How a function runs: cvm and c with compiled kernels, py and vm in Python; _nogc keeps intermediate memory."""
    magma: _magma
    memory: _memory
    metaopt: _metaopt
    mode: str
    """How functions are compiled: Mode follows the flags linker and optimizer; the others are ready-made."""
    nocleanup: bool
    """Keep the files of a compilation that failed."""
    numpy: _numpy
    on_opt_error: str
    """What to do when a rewrite rule fails: go on without it (warn, ignore), stop, or open the debugger."""
    on_shape_error: str
    """What to do when the shape of an expression cannot be inferred because its op's infer_shape failed."""
    on_unused_input: str
    """What theano.function does with an input that no output needs."""
    openmp: bool
    """Set to False, one thread does everything, unless threads says otherwise. Set to True, or left alone: work that is worth it is split among threads (which need no OpenMP)."""
    openmp_elemwise_minsize: int
    """If it is set: ops whose arrays have fewer elements stay on one thread. If not, the estimated time of an op decides. Read as threads is."""
    optdb: _optdb
    optimizer: str
    """How much to rewrite: o4 (also called fast_run) does most; unsafe also drops checks that programs may rely on."""
    optimizer_excluding: str
    """Rules and passes with these names or tags, separated by ':', are left out in the default mode."""
    optimizer_including: str
    """Rules and passes with these names or tags, separated by ':', are added in the default mode."""
    optimizer_requiring: str
    """Rules and passes with these names or tags, separated by ':', are kept only if so tagged in the default mode."""
    optimizer_verbose: bool
    """Print each rewrite as it happens."""
    pickle_test_value: bool
    """Keep example values in pickled graphs."""
    print_active_device: bool
    """Say which device was started."""
    print_global_stats: bool
    """Print at exit how long compiling and running took in all."""
    print_test_value: bool
    """Show the example value too when an expression is printed."""
    profile: bool
    """Measure where functions spend their time, and print it at exit."""
    profile_memory: bool
    """Measure memory too."""
    profile_optimizer: bool
    """Measure the rewrites too."""
    profiling: _profiling
    reoptimize_unpickled_function: bool
    """Rewrite the graph of a function again when it is unpickled."""
    scan: _scan
    tensor: _tensor
    threads: int
    """How many threads one call may use; 0: the cores this process may run on, within its control group's quota, or OMP_NUM_THREADS. It is read whenever a function is compiled, for all functions."""
    traceback: _traceback
    unittests: _unittests
    unpickle_function: bool
    """With False, unpickle functions as None, to read old files that hold them."""
    vm: _vm
    warn: _warn
    warn_float64: str
    """What to do when an expression with dtype float64 is made."""
