"""What a saved graph may name: closed lists of functions and attributes, so that a file can do nothing but compute.

Left out is what reaches files, addresses, code, the interpreter's insides, or attributes by a name that is made when
the program runs (those go through `gjit.ops.guarded`).
"""

from __future__ import annotations

import collections
import functools
import itertools
import types

import numpy as np

_FUNCTIONS = {
    "numpy": """
    abs absolute acos acosh add all allclose amax amin angle any append apply_along_axis apply_over_axes arange
    arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argpartition argsort argwhere around array
    array2string array_equal array_equiv array_repr array_split array_str asanyarray asarray asarray_chkfinite
    ascontiguousarray asfortranarray asin asinh asmatrix astype atan atan2 atanh atleast_1d atleast_2d atleast_3d
    average bartlett base_repr binary_repr bincount bitwise_and bitwise_count bitwise_invert bitwise_left_shift
    bitwise_not bitwise_or bitwise_right_shift bitwise_xor blackman block bool bool_ broadcast broadcast_arrays
    broadcast_shapes broadcast_to busday_count busday_offset busdaycalendar byte bytes_ can_cast cbrt cdouble ceil
    character choose clip clongdouble column_stack common_type complex128 complex256 complex64 complexfloating
    compress concat concatenate conj conjugate convolve copy copysign copyto corrcoef correlate cos cosh
    count_nonzero cov cross csingle cumprod cumsum cumulative_prod cumulative_sum datetime64 datetime_as_string
    datetime_data deg2rad degrees delete diag diag_indices diag_indices_from diagflat diagonal diff digitize
    divide divmod dot double dsplit dstack dtype ediff1d einsum einsum_path empty empty_like equal errstate exp
    exp2 expand_dims expm1 extract eye fabs fill_diagonal finfo fix flatiter flatnonzero flexible flip fliplr
    flipud float128 float16 float32 float64 float_power floating floor floor_divide fmax fmin fmod
    format_float_positional format_float_scientific frexp frombuffer fromfunction fromiter frompyfunc fromstring
    full full_like gcd generic geomspace get_printoptions geterr gradient greater greater_equal half hamming
    hanning heaviside histogram histogram2d histogram_bin_edges histogramdd hsplit hstack hypot i0 identity iinfo
    imag in1d indices inexact inner insert int16 int32 int64 int8 int_ intc integer interp intersect1d intp invert
    is_busday isclose iscomplex iscomplexobj isdtype isfinite isfortran isin isinf isnan isnat isneginf isposinf
    isreal isrealobj isscalar issubdtype iterable ix_ kaiser kron lcm ldexp left_shift less less_equal lexsort
    linspace log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor logspace
    long longdouble longlong mask_indices matmul matrix matrix_transpose matvec max maximum may_share_memory mean
    median meshgrid min min_scalar_type minimum mintypecode mod modf moveaxis multiply nan_to_num nanargmax
    nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum
    nanvar ndarray ndenumerate ndim ndindex nditer negative nextafter nonzero not_equal number object_ ones
    ones_like outer packbits pad partition percentile permute_dims piecewise place poly poly1d polyadd polyder
    polydiv polyfit polyint polymul polysub polyval positive pow power printoptions prod promote_types ptp put
    put_along_axis putmask quantile rad2deg radians ravel ravel_multi_index real real_if_close recarray reciprocal
    record remainder repeat require reshape resize result_type right_shift rint roll rollaxis roots rot90 round
    row_stack searchsorted select set_printoptions setdiff1d seterr setxor1d shape shares_memory short sign
    signbit signedinteger sin sinc single sinh size sort sort_complex spacing split sqrt square squeeze stack std
    str_ subtract sum swapaxes take take_along_axis tan tanh tensordot tile timedelta64 trace transpose trapezoid
    trapz tri tril tril_indices tril_indices_from trim_zeros triu triu_indices triu_indices_from true_divide trunc
    typename ubyte ufunc uint uint16 uint32 uint64 uint8 uintc uintp ulong ulonglong unicode_ union1d unique
    unique_all unique_counts unique_inverse unique_values unpackbits unravel_index unsignedinteger unstack unwrap
    ushort vander var vdot vecdot vecmat vectorize void vsplit vstack where zeros zeros_like
    """,
    "numpy.linalg": """
    LinAlgError cholesky cond cross det diagonal eig eigh eigvals eigvalsh inv lstsq matmul matrix_norm
    matrix_power matrix_rank matrix_transpose multi_dot norm outer pinv qr slogdet solve svd svdvals tensordot
    tensorinv tensorsolve trace vecdot vector_norm
    """,
    "numpy.fft": """
    fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft rfft2 rfftfreq
    rfftn
    """,
    "numpy.random": """
    Generator MT19937 PCG64 PCG64DXSM Philox RandomState SFC64 SeedSequence beta binomial bytes chisquare choice
    default_rng dirichlet exponential f gamma geometric gumbel hypergeometric laplace logistic lognormal logseries
    multinomial multivariate_normal negative_binomial noncentral_chisquare noncentral_f normal pareto permutation
    poisson power rand randint randn random random_integers random_sample ranf rayleigh sample seed shuffle
    standard_cauchy standard_exponential standard_gamma standard_normal standard_t triangular uniform vonmises
    wald weibull zipf
    """,
    "numpy.lib.stride_tricks": "sliding_window_view",
    "builtin": """
    ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError BrokenPipeError
    BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError ConnectionRefusedError
    ConnectionResetError DeprecationWarning EOFError EncodingWarning Exception ExceptionGroup FileExistsError
    FileNotFoundError FloatingPointError FutureWarning GeneratorExit ImportError ImportWarning IndentationError
    IndexError InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError
    ModuleNotFoundError NameError NotADirectoryError NotImplementedError OSError OverflowError
    PendingDeprecationWarning PermissionError ProcessLookupError RecursionError ReferenceError ResourceWarning
    RuntimeError RuntimeWarning StopAsyncIteration StopIteration SyntaxError SyntaxWarning SystemError SystemExit
    TabError TimeoutError TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError
    UnicodeTranslateError UnicodeWarning UserWarning ValueError Warning ZeroDivisionError abs all any ascii bin
    bool bytearray bytes callable chr classmethod complex delattr dict divmod enumerate filter float format
    frozenset getattr hasattr hash hex id int isinstance issubclass iter len list map max memoryview min next
    object oct ord pow print property range repr reversed round set setattr slice sorted staticmethod str sum
    super tuple type zip
    """,
    "operator": """
    abs add and_ call concat contains countOf delitem eq floordiv ge getitem gt iadd iand iconcat ifloordiv
    ilshift imatmul imod imul index indexOf inv invert ior ipow irshift is_ is_not isub itemgetter itruediv ixor
    le length_hint lshift lt matmul mod mul ne neg not_ or_ pos pow rshift setitem sub truediv truth xor
    """,
    "itertools": """
    accumulate chain combinations combinations_with_replacement compress count cycle dropwhile filterfalse groupby
    islice pairwise permutations product repeat starmap takewhile tee zip_longest
    """,
    "functools": "partial reduce",
    "copy": "copy deepcopy",
}
_WHOLE = frozenset(
    {
        *("math", "cmath", "numpy.char", "numpy.strings"),
        *("scipy.special", "scipy.linalg", "scipy.linalg.lapack", "scipy.linalg.blas"),
    }
)
"""Modules that hold nothing but functions of numbers and arrays."""
_SAME_NAME = (
    "math cmath operator itertools functools copy "
    "numpy numpy.linalg numpy.fft numpy.random numpy.char numpy.strings "
    "scipy.special scipy.linalg scipy.linalg.lapack scipy.linalg.blas"
)
MODULES = {"builtin": "builtins", **{name: name for name in _SAME_NAME.split()}}
"""Modules that a saved graph may hold or import, and may read allowed functions of, by the prefix of their names."""

_ATTRIBUTES = """
    A A1 H I T _align _all _call _coeffs _divide _init _invalid _over _seed_seq _under accumulate add add_note
    advance aligned alignment all any append appendleft argmax argmin argpartition args argsort as_integer_ratio
    astype at base behaved beta binomial bit_count bit_length bits byteorder bytes byteswap c c_contiguous
    capitalize carray casefold cast center char characters_written chisquare choice choose clear clip close code
    coef coefficients coeffs compile compress conj conjugate contiguous coords copy count cumprod cumsum data
    decode default_factory deleter denominator deriv derive descr device diagonal difference difference_update
    dirichlet discard dot dtype dtypes elements encode encoding end end_lineno end_offset endswith entropy eps
    epsneg errno exceptions expandtabs exponential extend extendleft f f_contiguous farray fdel fget field fields
    filename filename2 fill find finished flags flat flatten flush fnc forc fortran from_bytes from_iterable
    fromhex fromkeys fset func gamma generate_state geometric get getA getA1 getH getI getT getfield getter gumbel
    hasobject hex hypergeometric identity iexp imag index indices insert integ integers intersection
    intersection_update is_integer isalignedstruct isalnum isalpha isascii isbuiltin isdecimal isdigit isdisjoint
    isidentifier islower isnative isnumeric isprintable isspace issubset issuperset istitle isupper item items
    itemsize iterindex iternext iters itersize join jumped key keys keywords kind laplace lineno ljust lock
    logistic lognormal logseries lower lstrip mT machep maketrans max maxexp maxlen mean message metadata min
    minexp most_common move_to_end msg multi_index multinomial multivariate_hypergeometric multivariate_normal
    n_children_spawned name names nargs nbytes nd ndim negative_binomial negep newbyteorder nexp nin nmant
    noncentral_chisquare noncentral_f nonzero nop normal nout ntypes num numerator numiter o obj object offset
    operands order outer owndata pareto partition path permutation permuted poisson pool pool_size pop popitem
    popleft position power precision prod put r rand randint randn random random_integers random_raw random_sample
    ravel rayleigh readonly real reason reduce reduceat release remove removeprefix removesuffix repeat replace
    reset reshape resolution resolve_dtypes reverse rfind rindex rjust roots rotate round rpartition rsplit rstrip
    searchsorted seed seed_seq send setdefault setfield setflags setter shape shuffle signature signatures size
    smallest_normal smallest_subnormal sort spawn spawn_key split splitlines squeeze standard_cauchy
    standard_exponential standard_gamma standard_normal standard_t start startswith state statistics std step stop
    str strerror strides strip subdtype suboffsets subtract sum swapaxes swapcase symmetric_difference
    symmetric_difference_update take text throw tiny title to_bytes tobytes tolist tomaxint toreadonly total trace
    translate transpose triangular type types uniform union update upper value values var variable view vonmises
    wald weibull writeable writebackifcopy zfill zipf
"""
_SPECIAL = """
    __abs__ __add__ __and__ __bool__ __bytes__ __call__ __ceil__ __class__ __class_getitem__ __complex__ __contains__
    __copy__ __delattr__ __delitem__ __divmod__ __doc__ __enter__ __eq__ __exit__ __float__ __floor__ __floordiv__
    __format__ __ge__ __getattr__ __getitem__ __gt__ __hash__ __iadd__ __iand__ __ifloordiv__ __ilshift__ __imatmul__
    __imod__ __imul__ __index__ __init__ __int__ __invert__ __ior__ __ipow__ __irshift__ __isub__ __iter__ __itruediv__
    __ixor__ __le__ __len__ __length_hint__ __lshift__ __lt__ __match_args__ __matmul__ __missing__ __mod__ __mul__
    __name__ __ne__ __neg__ __next__ __or__ __pos__ __post_init__ __pow__ __qualname__ __radd__ __rand__ __rdivmod__
    __repr__ __reversed__ __rfloordiv__ __rlshift__ __rmatmul__ __rmod__ __rmul__ __ror__ __round__ __rpow__
    __rrshift__ __rshift__ __rsub__ __rtruediv__ __rxor__ __setattr__ __setitem__ __str__ __sub__ __truediv__
    __trunc__ __xor__ __array__ __array_function__ __array_priority__ __array_ufunc__
"""
_IN_CLASSES = """
    __annotations__ __delete__ __doc__ __get__ __getattribute__ __init_subclass__ __match_args__ __mro_entries__ __new__
    __set__ __set_name__ __slots__
"""
_OF_TUPLES = "_asdict _fields _field_defaults _make _replace"
_OF_COMPILED = "captures code explain graph graph_for kernels_for plan_for profile save"
"""What compiled functions have besides: it shows or writes what a program has no business with."""

SPECIAL_METHODS = frozenset(_SPECIAL.split())
"""The names with underscores on both sides that a saved class may define, and a saved graph may read."""
_READ_ONLY = frozenset({"__class__", "__name__", "__qualname__", "__doc__"})
_ALLOWED_FUNCTIONS = frozenset(f"{prefix}.{name}" for prefix, names in _FUNCTIONS.items() for name in names.split())
_ALLOWED_ATTRIBUTES = frozenset(_ATTRIBUTES.split())


def is_allowed_function(name: str) -> bool:
    """Whether a saved graph may call or hold the function or class of this full name.

    >>> is_allowed_function("numpy.sqrt"), is_allowed_function("numpy.fromfile"), is_allowed_function("builtin.open")
    (True, False, False)
    """
    prefix, _, last = name.rpartition(".")
    if prefix in _WHOLE:
        return not last.startswith("_")
    return name in _ALLOWED_FUNCTIONS or (prefix == "ndarray" and last in _ALLOWED_ATTRIBUTES)


def is_allowed_attribute(name: str, *, written: bool = False) -> bool:
    """Whether a saved graph may read (or write) an attribute of this name, whatever object has it.

    What no class of Python, NumPy or gjit has is the user's own, and free.

    >>> [is_allowed_attribute(name) for name in ("shape", "weights", "_cache", "tofile", "__globals__", "gi_frame")]
    [True, True, True, False, False, False]
    """
    if name.startswith("__"):
        return name in SPECIAL_METHODS and not (written and name in _READ_ONLY)
    return name in _ALLOWED_ATTRIBUTES or name not in _known_attributes()


def is_allowed_member(name: str) -> bool:
    """Whether a class in a saved graph may bind a name.

    >>> is_allowed_member("__add__"), is_allowed_member("_weights"), is_allowed_member("__reduce__")
    (True, True, False)
    """
    is_special = name.startswith("__") and name.endswith("__")
    return not is_special or name in SPECIAL_METHODS or name in _IN_CLASSES.split()


@functools.cache
def _known_attributes() -> frozenset[str]:
    """The attributes of everything that a program can meet without its caller's doing."""
    known = {name for kind in _reachable() for name in dir(kind)}
    return frozenset(known | set(_OF_COMPILED.split())) - frozenset(_OF_TUPLES.split())


def _reachable() -> list[type]:
    basic = [object, type, str, bytes, bytearray, memoryview, int, float, complex, list, tuple, dict, set, frozenset]
    basic += [range, slice, property, staticmethod, classmethod, super, functools.partial, functools.cached_property]
    basic += [collections.deque, collections.Counter, collections.OrderedDict, collections.defaultdict]
    basic += [kind for kind in vars(types).values() if isinstance(kind, type)]
    basic += [kind for kind in vars(itertools).values() if isinstance(kind, type)]
    basic += [BaseException, OSError, ImportError, SyntaxError, StopIteration, UnicodeDecodeError, SystemExit]
    arrays = [np.ndarray, np.dtype, np.ufunc, np.flatiter, np.nditer, np.broadcast, np.poly1d, np.vectorize, np.matrix]
    arrays += [np.recarray, np.memmap, np.finfo, np.iinfo, np.errstate, type(np.ones(1).flags), *np.sctypeDict.values()]
    draws = [np.random.Generator, np.random.RandomState, np.random.PCG64, np.random.MT19937, np.random.SeedSequence]
    return [*basic, *arrays, *draws]
