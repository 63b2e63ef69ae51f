"""Every flag: name, kind with its default, and what it means here.

The table is data; `theano.settings.config` reads it. A flag with ``inert`` is accepted, so that programs and
rc files written for other versions run, but changes nothing, and its help says why.
"""

from __future__ import annotations

from typing import Any

from theano.settings import defaults
from theano.settings.kinds import (
    BoolParam,
    ConfigParam,
    EnumStr,
    FloatParam,
    IntParam,
    OpenEnum,
    StrParam,
    TypedParam,
)

TABLE: list[ConfigParam] = []

GPU = "it was for the CUDA back-end of Theano before 2.0"
ONE_STREAM = "a device has one stream, launches return at once, and what reads a value waits for it"
OLD_BUG = "it warned about a bug of versions that are long gone"
NO_LOCK = "the cache of compiled modules needs no lock, so processes do not wait"
OWN_THREADS = "the pool of threads here needs no OpenMP; see the flag threads"

ACTIONS = ("ignore", "warn", "raise", "pdb")
NUMPY_ACTIONS = ("ignore", "warn", "raise", "call", "print", "log")
VERSIONS = ("0.9 None all 0.3 0.4 0.4.1 0.5 0.6 0.7 0.8 0.8.1 0.8.2 0.10 1.0 1.0.1 1.0.2 1.0.3 1.0.4 1.0.5").split()


def _flag(name: str, param: ConfigParam, doc: str, inert: str = "") -> None:
    param.name, param.doc, param.inert = name, doc, inert
    TABLE.append(param)


def _replaced(default: object, by: str, allow_override: bool = False) -> ConfigParam:
    """Make a flag that may only be left as it is, because others took its place."""

    def refuse(value: object) -> object:
        if str(value) not in (str(default), ""):
            raise ValueError(f"Use {by} instead.")
        return default

    return ConfigParam(default, filter=refuse, allow_override=allow_override)


def _device(value: object) -> str:
    text = str(value)
    if text.startswith("gpu"):
        raise ValueError("device=gpu* names the removed CUDA back-end. Use cuda or opencl, or cpu if you have no GPU.")
    if text and not text.startswith(("cpu", "cuda", "opencl")):
        raise ValueError("A device is cpu, cuda, cudaN, opencl or openclN:M.")
    return text


def _contexts(value: object) -> str:
    for part in filter(None, str(value).split(";")):
        if part.count("->") != 1:
            raise ValueError(f"{part!r} is not of the form name->device.")
    return str(value)


def _lazy(value: object) -> bool | None:
    if value in (None, "None"):
        return None
    return bool(BoolParam(False).convert(value))


def _seed(value: Any) -> object:
    return value if value in ("random", None) else int(value)


# Types and values
_flag("floatX", EnumStr("float64", "float32", "float16"), "The dtype that 'floatX' stands for: of T.matrix() and the "
      "like, and of Python floats in expressions. float16 is stored small and computed in float32.")
_flag("warn_float64", EnumStr(*ACTIONS), "What to do when an expression with dtype float64 is made.")
_flag("cast_policy", EnumStr("custom", "numpy+floatX"), "How dtypes combine. custom: numbers written in Python adapt "
      "to the arrays they meet; numpy+floatX: as in NumPy, but a float64 made from smaller types becomes floatX.")
_flag("int_division", EnumStr("int", "raise", "floatX"), "What x / y gives for two integers: whole numbers, an error, "
      "or floatX.")
_flag("deterministic", EnumStr("default", "more"), "With more, prefer algorithms whose result does not depend on "
      "timing.",
      inert="every algorithm on the CPU is deterministic already")
_flag("tensor.cmp_sloppy", IntParam(0, lambda level: level in (0, 1, 2), allow_override=False),
      "How far apart two floats may be and still count as equal in the checks of values: 0 close, 1 looser, 2 loose.")
_flag("numpy.seterr_all", EnumStr(*NUMPY_ACTIONS, "None", allow_override=False),
      "What ops that run through NumPy do about floating-point errors (numpy.seterr); None leaves NumPy as it is.")
for _kind in ("divide", "over", "under", "invalid"):
    _flag(f"numpy.seterr_{_kind}", EnumStr("None", *NUMPY_ACTIONS, allow_override=False),
          f"As numpy.seterr_all, for the errors that NumPy calls {_kind}; None: as numpy.seterr_all says.")

# Building a graph
_flag("compute_test_value", EnumStr("off", "ignore", "warn", "raise", "pdb"), "Compute each expression on example "
      "values (x.tag.test_value) while it is built, so that a wrong shape shows at its own line.")
_flag("compute_test_value_opt", EnumStr("off", "ignore", "warn", "raise", "pdb"),
      "As compute_test_value, for what rewriting puts into a graph.")
_flag("print_test_value", BoolParam(False), "Show the example value too when an expression is printed.")
_flag("pickle_test_value", BoolParam(True), "Keep example values in pickled graphs.")
_flag("traceback.limit", IntParam(8), "How many frames of the program to remember for each expression; -1: all.")
_flag("traceback.compile_limit", IntParam(0), "As traceback.limit, for variables made while compiling.")
_flag("exception_verbosity", EnumStr("low", "high"), "With high, errors also print the expression as a tree and the "
      "values that were being computed with.")
_flag("on_unused_input", EnumStr("raise", "warn", "ignore"), "What theano.function does with an input that no output "
      "needs.")
_flag("on_shape_error", EnumStr("warn", "raise"), "What to do when the shape of an expression cannot be inferred "
      "because its op's infer_shape failed.")

# Rewriting
_flag("mode", OpenEnum("Mode", "DebugMode", "FAST_RUN", "NanGuardMode", "FAST_COMPILE", "DEBUG_MODE",
                       attributes=("linker", "optimizer")),
      "How functions are compiled: Mode follows the flags linker and optimizer; the others are ready-made.")
_flag("optimizer", OpenEnum("o4", "o3", "o2", "o1", "unsafe", "fast_run", "fast_compile", "merge", "None"),
      "How much to rewrite: o4 (also called fast_run) does most; unsafe also drops checks that programs may rely on.")
for _verb, _effect in (("excluding", "left out"), ("including", "added"), ("requiring", "kept only if so tagged")):
    _flag(f"optimizer_{_verb}", StrParam("", allow_override=False),
          f"Rules and passes with these names or tags, separated by ':', are {_effect} in the default mode.")
_flag("optimizer_verbose", BoolParam(False), "Print each rewrite as it happens.")
_flag("on_opt_error", EnumStr("warn", "raise", "pdb", "ignore"), "What to do when a rewrite rule fails: go on without "
      "it (warn, ignore), stop, or open the debugger.")
_flag("check_stack_trace", EnumStr("off", "log", "warn", "raise"), "What to do when a rewrite loses the line of the "
      "program that an expression came from.")
_flag("cycle_detection", EnumStr("regular", "fast"), "With fast, find fewer places for in-place work, sooner.",
      inert="the exact search is fast enough to be the only one")
_flag("optdb.position_cutoff", FloatParam(float("inf")), "Passes at this position or after it are not run.")
_flag("optdb.max_use_ratio", FloatParam(8.0), "A fixpoint stops when one rule fired more often than this many times "
      "the number of nodes.")
_flag("tensor.local_elemwise_fusion", BoolParam(True), "Join element-wise ops into one kernel, with each other and "
      "with the reductions of their results.")
_flag("tensor.insert_inplace_optimizer_validate_nb", IntParam(-1), "After how many in-place changes the graph is "
      "checked.", inert="each change is checked as it is made, and that is fast")
_flag("experimental.local_alloc_elemwise",
      _replaced(True, "optimizer_excluding=local_alloc_elemwise", allow_override=True),
      "Lift allocations through element-wise ops.", inert="optimizer_excluding does this")
_flag("experimental.local_alloc_elemwise_assert", BoolParam(True), "Let that rewrite keep the check that shapes "
      "agree: without it, an allocation is dropped wherever another operand has the same dimensions.")
_flag("conv.assert_shape", BoolParam(False), "Compare the shapes given to a convolution with the real ones.")
_flag("conv.winograd", BoolParam(True), "Convolve 3 x 3 filters with fewer multiplications. Results are then "
      "rounded as sums of a neighbourhood's pixels are, not of those alone that a filter meets.")
_flag("cache_optimizations", BoolParam(False), "Keep rewritten graphs on disk.",
      inert="only compiled kernels are kept on disk")
_flag("reoptimize_unpickled_function", BoolParam(False), "Rewrite the graph of a function again when it is unpickled.")
_flag("unpickle_function", BoolParam(True), "With False, unpickle functions as None, to read old files that hold them.")
_flag("metaopt.verbose", IntParam(0), "How much the choice among several implementations says.")
for _verb in ("excluding", "including"):
    _flag(f"metaopt.optimizer_{_verb}", StrParam(""), f"Tags of rules used in that choice ({_verb}).",
          inert="one implementation is chosen by rule, not by trial")

# Running
_flag("linker", OpenEnum("cvm", "c|py", "py", "c", "c|py_nogc", "vm", "vm_nogc", "cvm_nogc"),
      "How a function runs: cvm and c with compiled kernels, py and vm in Python; _nogc keeps intermediate memory.")
_flag("allow_gc", BoolParam(True), "Give intermediate memory back during a call; False keeps it for the next call.")
_flag("vm.lazy", ConfigParam(None, filter=_lazy), "Compute only the requested outputs: True, False, or None (only "
      "where a graph has an op such as ifelse).")
_flag("threads", IntParam(0, lambda count: count >= 0), "How many threads one call may use; 0: the cores this "
      "process may run on, within its control group's quota, or OMP_NUM_THREADS. It is read whenever a function is "
      "compiled, for all functions.")
_flag("cpu_level", EnumStr("auto", "baseline", "v3", "v4"), "The highest x86-64 level that kernels built ahead may "
      "use: v3 has AVX2, v4 AVX-512, baseline neither; auto: all that this CPU has. Kernels compiled here follow "
      "gcc.cxxflags instead.")
_flag("calibration", EnumStr("measured", "stored"), "Where kernels learn what is fastest on this machine: from what "
      "python -m theano.doctor --calibrate measured on it, if it did; or, so that machines of a kind compute the same "
      "bits, from what the layers bring along.")
_flag("fused_multiply_add", BoolParam(False), "In element-wise loops, round a product and the sum that it goes into "
      "once, together, where the CPU has an instruction for it: x * y + z. Such sums are more exact and take one step "
      "instead of two, but differ in the last digit from the same expression on a CPU without it, or in Python.")
_flag("openmp", BoolParam(False), "Set to False, one thread does everything, unless threads says otherwise. Set to "
      "True, or left alone: work that is worth it is split among threads (which need no OpenMP).")
_flag("openmp_elemwise_minsize", IntParam(200000), "If it is set: ops whose arrays have fewer elements stay on one "
      "thread. If not, the estimated time of an op decides. Read as threads is.")
_flag("memory.keep", IntParam(-1), "How many bytes of big arrays (above 1 MiB) stay with the process for the next ones "
      "when they are dropped; -1: 256 MiB, or an eighth of the memory there is if that is less. "
      "theano.loader.module.memory_trim() gives them back. Read as threads is.")
_flag("check_input", BoolParam(True), "Let types check their values in the C code of ops that users write.")
_flag("assert_no_cpu_op", EnumStr(*ACTIONS), "What to do about an op on the CPU in a function for the GPU.", inert=GPU)
_flag("scan.allow_gc", BoolParam(False), "As allow_gc, inside loops.")
_flag("scan.allow_output_prealloc", BoolParam(True), "Let a loop write its results into the output directly.")
_flag("scan.debug", BoolParam(False), "Print what loops do.")
_flag("blas.ldflags", StrParam(""), "A BLAS library to load, as linker options (-L/folder -lname) or the path of a "
      "file; empty: the one that NumPy or SciPy brought along.")
_flag("blas.gemm", EnumStr("auto", "own", "library"), "Whose products of float32 and float64 matrices and vectors to "
      "use: ours, those of the BLAS library, or whichever is faster on this CPU.")
_flag("blas.check_openmp", BoolParam(True), "Check that a BLAS and its OpenMP fit together.", inert=OWN_THREADS)
_flag("lib.amdlibm", BoolParam(False), "Use AMD's mathematical functions.",
      inert="the functions here are compiled into each kernel")

# Compiling
_flag("cxx", StrParam(defaults.compiler), "The C compiler, with its arguments; empty: use none. Also found through CC.")
_flag("gcc.cxxflags", StrParam(""), "Options for the compiler, after those chosen here.")
_flag("compile.jobs", IntParam(0, lambda count: count >= 0), "How many compilers run side by side; 0: one per core.")
_flag("compile.progress", EnumStr("auto", "always", "never"), "Show a line on the standard error while compilers work "
      "for more than a second; auto: where that is no terminal, for more than five.")
_flag("compile.unit_timeout", FloatParam(600.0, lambda seconds: seconds > 0), "Seconds that the compiler may take for "
      "one unit of kernels.")
_flag("compile.question_timeout", FloatParam(60.0, lambda seconds: seconds > 0), "Seconds for all that is asked of the "
      "compilers here until one has compiled something. One that hangs is then not asked again for ten minutes, unless "
      "it has changed.")
_flag("base_compiledir", StrParam(defaults.base_compiledir, allow_override=False), "Where compiled code is kept. "
      "Several, separated as in PATH: the first is written to, the others are read as those of cache.readonly are.")
_flag("compiledir_format",
      StrParam("compiledir_%(short_platform)s-%(processor)s-%(python_version)s-%(python_bitwidth)s",
               allow_override=False),
      "Name of a directory below base_compiledir. Used only if it is set: the cache here can serve many machines "
      "from one directory. Keys: " + ", ".join(defaults.FORMAT_KEYS) + ".")
_flag("compiledir", StrParam(defaults.compiledir, allow_override=False),
      "The directory of compiled code itself, instead of one chosen below base_compiledir.")
_flag("cache.readonly", StrParam("", allow_override=False), "More directories of compiled code, filled by others and "
      "only read; separated as in PATH.")
_flag("cache.size_cap", IntParam(1 << 30, lambda size: size >= 0, allow_override=False),
      "Bytes that the cache may hold; the code unused for longest goes first.")
_flag("cache.plans", BoolParam(True), "Keep what a whole function compiles to, so that the next process need not "
      "rewrite its graph.")
_flag("nocleanup", BoolParam(False), "Keep the files of a compilation that failed.")
_flag("cmodule.warn_no_version", BoolParam(False), "Warn about an op whose C code cannot be cached because it has no "
      "c_code_cache_version.")
_flag("cmodule.remove_gxx_opt", BoolParam(False), "Compile without -O options, for a debugger.")
_flag("cmodule.compilation_warning", BoolParam(False), "Show the compiler's warnings.")
_flag("cmodule.debug", BoolParam(False), "Define the macro DEBUG in compiled code.")
_flag("cmodule.preload_cache", BoolParam(False, allow_override=False), "Read the cache at import.",
      inert="a kernel is looked up when it is needed, which is fast")
_flag("cmodule.age_thresh_use", IntParam(60 * 60 * 24 * 24, allow_override=False),
      "Seconds after which compiled code is not used again.", inert="its name tells all that it depends on")
_flag("compile.wait", IntParam(5, lambda seconds: seconds > 0, allow_override=False),
      "Seconds between two looks at a lock.", inert=NO_LOCK)
_flag("compile.timeout", IntParam(120, lambda seconds: seconds >= 0, allow_override=False),
      "Seconds before a lock is broken.", inert=NO_LOCK)

# Looking
_flag("profile", BoolParam(False), "Measure where functions spend their time, and print it at exit.")
_flag("profile_optimizer", BoolParam(False), "Measure the rewrites too.")
_flag("profile_memory", BoolParam(False), "Measure memory too.")
_flag("print_global_stats", BoolParam(False), "Print at exit how long compiling and running took in all.")
_flag("profiling.time_thunks", BoolParam(True), "Time each op.")
_flag("profiling.n_apply", IntParam(20), "How many single applications of ops to list.")
_flag("profiling.n_ops", IntParam(20), "How many ops to list.")
_flag("profiling.output_line_width", IntParam(512), "Widest line of a profile.")
_flag("profiling.min_memory_size", IntParam(1024), "Bytes below which an output is not listed.")
_flag("profiling.min_peak_memory", BoolParam(False), "Also compute the order of ops with the lowest peak.")
_flag("profiling.destination", StrParam("stderr"), "Where profiles go: stderr, stdout, or the name of a file.")
_flag("profiling.debugprint", BoolParam(False), "Print the profiled graphs too.")
_flag("profiling.ignore_first_call", BoolParam(False), "Leave the first call out.")
_flag("NanGuardMode.nan_is_error", BoolParam(True), "Whether NanGuardMode minds a NaN.")
_flag("NanGuardMode.inf_is_error", BoolParam(True), "Whether NanGuardMode minds an infinity.")
_flag("NanGuardMode.big_is_error", BoolParam(True), "Whether NanGuardMode minds a value beyond 1e10.")
_flag("NanGuardMode.action", EnumStr("raise", "warn", "pdb"), "What NanGuardMode does when it finds one.")
_flag("DebugMode.patience", IntParam(10, lambda times: times > 0), "How often to rewrite, to see that it comes out "
      "the same.")
_flag("DebugMode.check_c", BoolParam(True), "Run the compiled form of each op.")
_flag("DebugMode.check_py", BoolParam(True), "Run the Python form of each op.")
_flag("DebugMode.check_finite", BoolParam(True), "Mind values that are not finite.")
_flag("DebugMode.check_strides", IntParam(0, lambda level: level in (0, 1, 2)), "When the two forms differ in memory "
      "layout: 0 nothing, 1 warn, 2 raise.")
_flag("DebugMode.warn_input_not_reused", BoolParam(True), "Warn when an op that may work in place did not.")
_flag("DebugMode.check_preallocated_output",
      StrParam("", lambda text: not set(text.split(":")) - {"", "initial", "previous", "c_contiguous", "f_contiguous",
                                                            "strided", "wrong_size", "ALL"}),
      "Memory to offer to ops as output, ':' between: initial, previous, c_contiguous, f_contiguous, strided, "
      "wrong_size, ALL.")
_flag("DebugMode.check_preallocated_output_ndim", IntParam(4, lambda count: count > 0), "On how many dimensions "
      "strided tries its strides.")
_flag("unittests.rseed", TypedParam(666, _seed), "Seed of tests with random values; random: another one each time.")

# Devices
_flag("device", ConfigParam("cpu", _device, allow_override=False), "Where to compute: cpu, cuda, cudaN or openclN:M.")
_flag("force_device", BoolParam(False, allow_override=False), "Stop if the device cannot be used.")
_flag("init_gpu_device", ConfigParam("", _device, allow_override=False), "Start this device, but compute on the CPU.")
_flag("contexts", ConfigParam("", _contexts, allow_override=False), "Names for several devices: name->device;...")
_flag("print_active_device", BoolParam(True, allow_override=False), "Say which device was started.")
_flag("gpu.local_elemwise_fusion", BoolParam(True), "As tensor.local_elemwise_fusion, on the GPU.", inert=GPU)
_flag("gpuelemwise.sync", BoolParam(True), "Wait for each element-wise kernel.", inert=ONE_STREAM)
_flag("gpuarray.sync", _replaced(False, "nothing (what reads a value waits for it)"), "Wait for each call.",
      inert=ONE_STREAM)
_flag("gpuarray.preallocate", FloatParam(0.0, allow_override=False), "Memory of a device to take at the start: below 1 "
      "a share, else megabytes; negative: memory that is given back is not kept.")
_flag("gpuarray.sched", EnumStr("default", "multi", "single"), "How threads wait for a device of CUDA: "
      "multi gives the core away, single does not.")
_flag("gpuarray.single_stream", BoolParam(True), "Use one stream.", inert=ONE_STREAM)
_flag("gpuarray.cache_path", StrParam(defaults.gpu_kernels, allow_override=False), "Where kernels of devices are "
      "kept, if not with all compiled code.")
_flag("gpuarray.blas", EnumStr("auto", "own", allow_override=False), "What multiplies and factorises matrices on a "
      "device of CUDA: cuBLAS and cuSOLVER if they are found, or kernels of this project.")
_flag("gpuarray.capture", BoolParam(True, allow_override=False), "Let a device of CUDA do launches that come again in "
      "one call of the driver (CUDA graphs).")
_flag("gpuarray.tf32", BoolParam(False, allow_override=False), "Let cuBLAS and cuDNN leave out digits of "
      "float32 in products.")
_flag("cuda.root", StrParam(defaults.cuda_root), "Where CUDA is installed.", inert=GPU)
_flag("cuda.include_path", StrParam(defaults.cuda_include), "Where CUDA's headers are.", inert=GPU)
_ALGORITHMS = ("guess_once", "guess_on_shape_change", "time_once", "time_on_shape_change")
_flag("dnn.conv.workmem", _replaced("", "dnn.conv.algo_fwd"), "Was a choice of algorithm.", inert=GPU)
_flag("dnn.conv.workmem_bwd", _replaced("", "dnn.conv.algo_bwd_filter and dnn.conv.algo_bwd_data"),
      "Was a choice of algorithm.", inert=GPU)
_flag("dnn.conv.algo_bwd", _replaced("", "dnn.conv.algo_bwd_filter and dnn.conv.algo_bwd_data"),
      "Was a choice of algorithm.", inert=GPU)
_flag("dnn.conv.algo_fwd", EnumStr("small", "none", "large", "fft", "fft_tiling", "winograd", "winograd_non_fused",
                                   *_ALGORITHMS), "Which algorithm cuDNN takes for convolution.", inert=GPU)
_flag("dnn.conv.algo_bwd_data", EnumStr("none", "deterministic", "fft", "fft_tiling", "winograd", "winograd_non_fused",
                                        *_ALGORITHMS), "The same for the gradient of the images.", inert=GPU)
_flag("dnn.conv.algo_bwd_filter", EnumStr("none", "deterministic", "fft", "small", "winograd_non_fused", "fft_tiling",
                                          *_ALGORITHMS), "The same for the gradient of the filters.", inert=GPU)
_flag("dnn.conv.precision", EnumStr("as_input_f32", "as_input", "float16", "float32", "float64"),
      "In which dtype cuDNN computes a convolution.", inert=GPU)
for _part in ("base", "include", "library", "bin"):
    _flag(f"dnn.{_part}_path", StrParam(""), f"Where cuDNN's {_part} directory is.", inert=GPU)
_flag("dnn.enabled", EnumStr("auto", "True", "False", "no_check"), "Whether a device of CUDA convolves and pools "
      "by cuDNN: if it is found, or never (False).")
_flag("magma.enabled", BoolParam(False), "Whether to use MAGMA.", inert=GPU)
_flag("magma.include_path", StrParam(""), "Where MAGMA's headers are.", inert=GPU)
_flag("magma.library_path", StrParam(""), "Where MAGMA's library is.", inert=GPU)
_flag("ctc.root", StrParam("", allow_override=False), "Where Baidu's CTC library is.", inert=GPU)
_flag("experimental.unpickle_gpu_on_cpu", BoolParam(False), "Unpickle values of a GPU as NumPy arrays.")

# Warnings about old bugs
_flag("warn.ignore_bug_before", EnumStr(*VERSIONS, allow_override=False), "Up to which version bugs are forgiven.")
for _bug in (
    "argmax_pushdown_bug gpusum_01_011_0111_bug sum_sum_bug sum_div_dimshuffle_bug subtensor_merge_bug "
    "gpu_set_subtensor1 vm_gc_bug signal_conv2d_interface reduce_join inc_set_subtensor1 round inc_subtensor1_opt "
    "identify_1pexp_bug"
).split():
    _flag(f"warn.{_bug}", BoolParam(_bug == "inc_subtensor1_opt"), f"Warn where {_bug} once gave wrong results.",
          inert=OLD_BUG)

ALIASES = {"lib.amblibm": "lib.amdlibm", "gpuarray.cache_dir": "gpuarray.cache_path"}

RETIRED = {
    "home": "the environment's HOME is used",
    "nvcc.fastmath": GPU,
    "nvcc.flags": GPU,
    "nvcc.compiler_bindir": GPU,
    "nvcc.cudafe": GPU,
    "cuda.enabled": GPU,
    "cuda.disable_gcc_cudnn_check": GPU,
    "lib.cnmem": GPU,
    "enable_initial_driver_test": GPU,
    "gpu.cache_path": GPU,
    "pycuda.init": GPU,
    "cublas.lib": GPU,
    "scan.allow_gc_optimization": "see scan.allow_gc",
    "ProfileMode.n_apply_to_print": "see profiling.n_apply",
    "ProfileMode.n_ops_to_print": "see profiling.n_ops",
    "ProfileMode.min_memory_size": "see profiling.min_memory_size",
    "ProfileMode.profile_memory": "see profile_memory",
}

# Whose readers are still to be built. A name leaves this list with the change that reads it; a test sees to that.
WAITING = """
    scan.allow_gc scan.allow_output_prealloc scan.debug
""".split()

for _param in TABLE:
    if _param.name in WAITING:
        _param.inert = "nothing reads it yet"
