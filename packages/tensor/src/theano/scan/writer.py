"""The text of loops as one C function: over numbers, and over the elements of vectors.

States and carried values of loops over numbers are local variables. A step over vectors reads and writes rows where
they are, some elements at once; those that are left over at the end of rows are local arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from theano.codegen.text import CText
from theano.records import NamedTuple
from theano.scalar.ctypes import c_type, compute_type, load, store
from theano.scan.run import NEGATIVE, first_rows, too_few_for_taps, too_short
from theano.scan.spec import InnerInputs, InnerOutputs, LoopSpec
from theano.tensor.kernels.body import Body


class Value(NamedTuple):
    """A number that a step reads or makes."""

    name: str
    dtype: str

    def declared(self, at: str) -> str:
        """Return the declaration of a local variable, in the dtype of stored elements, with its initial value."""
        return f"{c_type(self.dtype)} {self.name} = {at};"


class NumbersWriter:
    """Writes a loop over numbers."""

    def __init__(self, spec: LoopSpec, own: InnerInputs, made: InnerOutputs, body: Body):
        self.spec, self.own, self.made, self.body, self.c = spec, own, made, body, CText()
        given = 1 + len(spec.sequences) + len(spec.states) + spec.carried + spec.fixed
        self.given = spec.outer_inputs([f"ctx->in[{k}]" for k in range(given)])
        self.results = spec.outer_outputs([f"ctx->out[{k}]" for k in range(spec.stacked + spec.carried)])
        #: For each state, the local variables of its last rows, the oldest first: those that are seen or kept.
        self.past = [
            [Value(f"h{i}_{back}", group[0].dtype) for back in range(max(depth, keep or 0), 0, -1)]
            for i, (depth, keep, group) in enumerate(zip(spec.depths, spec.keep, own.states, strict=False))
        ]

    def write(self) -> CText:
        """Return the text."""
        c = self.c
        c("int KERNEL(th_ctx *ctx)")
        with c.block():
            self._checks()
            c.extend(self.body.declarations("(const char *)ctx->params"))
            self._before()
            c("int64_t t = 0;")
            with c.block("for (; t < n; ++t)"):
                self._step()
            self._after()
            c("return 0;")
        return c

    def _checks(self) -> None:
        c, spec = self.c, self.spec
        c(f"const int64_t n = *(const int64_t *){self.given.n_steps}->data;")
        for i, (place, reach) in enumerate(zip(self.given.sequences, spec.reach, strict=True)):
            if reach > 1:
                c(f"if (n < 0 && {place}->shape[0] < {reach - 1})",
                  f'    return ctx->rt->fail(ctx, TH_ERR_INDEX, "{too_few_for_taps(i, "%lld", reach - 1)}", '
                  f"(long long){place}->shape[0]);")  # fmt: skip
        c(f'if (n < 0) return ctx->rt->fail(ctx, TH_ERR_INDEX, "{NEGATIVE.format("%lld")}", (long long)n);')
        for i, (place, reach, taps) in enumerate(zip(self.given.sequences, spec.reach, spec.sequences, strict=True)):
            if taps:
                text = too_short(i, "%lld", "%lld", reach, "%lld")
                needed = f"n + {reach - 1}" if reach > 1 else "n"
                c(f"if (n && {place}->shape[0] < {needed})",
                  f'    return ctx->rt->fail(ctx, TH_ERR_VALUE, "{text}", (long long){place}->shape[0], (long long)n, '
                  f"(long long)({needed}));")  # fmt: skip
        for i, (place, depth) in enumerate(zip(self.given.states, spec.depths, strict=True)):
            text = first_rows(i, 1 + len(spec.sequences) + i, "%lld", depth)
            c(f"if ({place}->shape[0] != {depth})",
              f'    return ctx->rt->fail(ctx, TH_ERR_VALUE, "{text}", (long long){place}->shape[0]);')  # fmt: skip

    def _stacks(self) -> Iterator[tuple[str, Value, int, int | None]]:
        """Yield for each stacked result its place, what a step makes, the rows before, and how many are kept."""
        places = (*self.results.states, *self.results.mapped)
        before = (*self.spec.depths, *(0 for _ in self.results.mapped))
        yield from zip(places, (*self.made.states, *self.made.mapped), before, self.spec.keep, strict=True)

    def _before(self) -> None:
        """Write the values that are read once, and memory for results."""
        c, spec = self.c, self.spec
        for i, (place, taps) in enumerate(zip(self.given.sequences, self.own.sequences, strict=True)):
            if taps:
                c(f"const char *const s{i} = {place}->data;", f"const int64_t step{i} = {place}->strides[0];")
        for place, past, depth in zip(self.given.states, self.past, spec.depths, strict=True):
            for k, value in enumerate(past, depth - len(past)):
                at = f"*(const {c_type(value.dtype)} *)({place}->data + {k} * {place}->strides[0])"
                c(value.declared(at if k >= 0 else "0"))
        given, own = (*self.given.carried, *self.given.fixed), (*self.own.carried, *self.own.fixed)
        for place, value in zip(given, own, strict=True):
            c(value.declared(f"*(const {c_type(value.dtype)} *){place}->data"))
        for k, (place, value, before, keep) in enumerate(self._stacks()):
            kind = c_type(value.dtype)
            if keep is not None:
                if not before:  # the last one is a local variable
                    c(f"{kind} r{k} = 0;")
                continue
            rows = f"n + {before}" if before else "n"
            if spec.until:
                c(f"{kind} *const r{k} = ctx->rt->scratch(ctx, (size_t)({rows}) * sizeof({kind}) + 1);")
                c(f"if (!r{k}) return -1;")
            else:
                self._ensure(k, place, rows)
                c(f"{kind} *const r{k} = ({kind} *){place}->data;")
            for j in range(before):
                c(f"r{k}[{j}] = {self.past[k][j].name};")

    @staticmethod
    def _rows_kept(before: int, keep: int) -> str:
        """Return how many of the last ``keep`` rows there are, of a result with some rows before the first step."""
        first = f"n + {before}" if before else "n"
        return str(keep) if keep <= before else f"n < {keep - before} ? {first} : {keep}"

    def _last_rows(self, k: int, before: int, keep: int) -> Iterator[tuple[str, str, Value]]:
        """Yield for the local variables of a state that are kept under which condition they are rows, and which."""
        for j, value in enumerate(self.past[k][-keep:]):
            row = f"rows{k}[0] - {keep - j}"
            yield ("", str(j), value) if keep <= before else (f"if ({row} >= 0)", row, value)

    def _ensure(self, k: int, place: str, rows: str) -> None:
        self.c(f"const int64_t rows{k}[1] = {{{rows}}};", f"if (ctx->rt->ensure(ctx, {place}, rows{k})) return -1;")

    def _step(self) -> None:
        c, spec, words = self.c, self.spec, self.body.words
        for i, (group, taps) in enumerate(zip(self.own.sequences, spec.sequences, strict=True)):
            for value, k in zip(group, taps, strict=True):
                at = f"*(const {c_type(value.dtype)} *)(s{i} + (t + {k}) * step{i})"
                self._local(value, at, words)
        for past, group, taps in zip(self.past, self.own.states, spec.states, strict=True):
            for value, k in zip(group, taps, strict=True):
                self._local(value, past[k].name, words)
        for value in (*self.own.carried, *self.own.fixed):
            self._local(value, value.name, words)
        for value in self.made.flat():
            c(f"{compute_type(value.dtype)} {value.name}_i;")
        c.extend(self.body.lines)
        for value in self.made.flat():
            c(f"{c_type(value.dtype)} {value.name};", store(value.dtype, value.name, f"{value.name}_i"))
        for k, (_, value, before, keep) in enumerate(self._stacks()):
            if keep is None:
                c(f"r{k}[t + {before}] = {value.name};" if before else f"r{k}[t] = {value.name};")
            elif not before:
                c(f"r{k} = {value.name};")
        for past, value in zip(self.past, self.made.states, strict=True):
            for older, newer in pairwise(past):
                c(f"{older.name} = {newer.name};")
            c(f"{past[-1].name} = {value.name};")
        for value, new in zip(self.own.carried, self.made.carried, strict=True):
            c(f"{value.name} = {new.name};")
        if self.made.until is not None:
            with c.block(f"if ({self.made.until.name})"):
                c("++t;", "break;")

    def _local(self, value: Value, at: str, words: frozenset[str]) -> None:
        if f"{value.name}_i" in words:
            self.c(f"const {compute_type(value.dtype)} {value.name}_i = {load(value.dtype, at)};")

    def _after(self) -> None:
        """Write the values that are known only now."""
        c, spec = self.c, self.spec
        for k, (place, value, before, keep) in enumerate(self._stacks()):
            kind = c_type(value.dtype)
            if keep is None and spec.until:
                self._ensure(k, place, f"t + {before}")
                c(f"memcpy({place}->data, r{k}, (size_t)(t + {before}) * sizeof({kind}));")
            elif keep is not None:
                self._ensure(k, place, self._rows_kept(before, keep))
                if before:
                    for condition, row, last in self._last_rows(k, before, keep):
                        c(f"{condition} (({kind} *){place}->data)[{row}] = {last.name};".lstrip())
                else:
                    c(f"if (t) *({kind} *){place}->data = r{k};")
        for place, value in zip(self.results.carried, self.own.carried, strict=True):
            c(f"if (ctx->rt->ensure(ctx, {place}, NULL)) return -1;")
            c(f"*({c_type(value.dtype)} *){place}->data = {value.name};")


# Elements that are computed at once: two vectors of most CPUs, so that one works while the other waits.
_BYTES_TOGETHER = 128

_ROWS = """\
/* A loop over some elements. Without this, GCC unrolls it first and then finds no vectors in functions such as exp. */
#if defined(__GNUC__) || defined(__clang__)
#define TH_TOGETHER _Pragma("omp simd")
#else
#define TH_TOGETHER
#endif
#define TH_COPY_ROW(T, to, from, step) \\
    do { \\
        if ((step) == (int64_t)sizeof(T)) \\
            memcpy((to), (from), (size_t)d * sizeof(T)); \\
        else \\
            for (int64_t l = 0; l < d; ++l) \\
                (to)[l] = *(const T *)((from) + l * (step)); \\
    } while (0)
/* A row of an operand: where it is, or a copy if its elements are apart. */
#define TH_READ_ROW(T, name, from, step) \\
    do { \\
        if ((step) == (int64_t)sizeof(T)) \\
            name##_row = (const T *)(from); \\
        else { \\
            if (!name##_own && !(name##_own = ctx->rt->scratch(ctx, (size_t)d * sizeof(T) + 1))) return -1; \\
            TH_COPY_ROW(T, name##_own, from, step); \\
            name##_row = name##_own; \\
        } \\
        memcpy(name##_rest, name##_row + full, (size_t)(d - full) * sizeof(T)); \\
    } while (0)
"""


class VectorsWriter(NumbersWriter):
    """Writes a loop over vectors of one length, each element of which knows of no other.

    Parameters
    ----------
    single : set of str
        The inner inputs that are numbers, for all elements: of fixed ones and rows of sequences.
    """

    def __init__(self, spec: LoopSpec, own: InnerInputs, made: InnerOutputs, body: Body, single: set[str]):
        super().__init__(spec, own, made, body)
        self.single = single
        sizes = {8 if value.dtype[-2:] == "64" else 4 for value in (*own.flat(), *made.flat())}
        self.width = _BYTES_TOGETHER // max(sizes)
        #: The inner inputs that are rows of operands.
        self.read = [v for v in (*(v for taps in own.sequences for v in taps), *own.fixed) if v.name not in single]
        #: What a step makes with what it replaces, the oldest first: their rows take turns.
        self.turns = [[*past, value] for past, value in zip(self.past, made.states, strict=True)]
        self.turns += [[old, new] for old, new in zip(own.carried, made.carried, strict=True)]

    support = (_ROWS,)

    def write(self) -> CText:
        """Return the text."""
        c = self.c
        c("int KERNEL(th_ctx *ctx)")
        with c.block():
            self._checks()
            self._lengths()
            for k, (place, _, before, keep) in enumerate(self._stacks()):
                self._ensure(k, place, f"n + {before}" if keep is None else self._rows_kept(before, keep))
            c.extend(f"if (ctx->rt->ensure(ctx, {place}, &d)) return -1;" for place in self.results.carried)
            c.extend(self.body.declarations("(const char *)ctx->params"))
            c(f"enum {{ width = {self.width} }};", "const int64_t full = d / width * width;")
            self._before()
            with c.block("for (int64_t t = 0; t < n; ++t)"):
                self._step()
            self._after()
            c("return 0;")
        return c

    def _lengths(self) -> None:
        """Write that all vectors must have one length, ``d``."""
        given, own = self.given, self.own
        kinds = [*(1 if taps and taps[0].name not in self.single else None for taps in own.sequences),
                 *(1 for _ in given.states),
                 *(0 for _ in given.carried), *(None if v.name in self.single else 0 for v in own.fixed)]  # fmt: skip
        places = [*given.sequences, *given.states, *given.carried, *given.fixed]
        numbered = ((k, *pair) for k, pair in enumerate(zip(places, kinds, strict=True), 1))
        (one, first, axis), *others = [(k, place, axis) for k, place, axis in numbered if axis is not None]
        self.c(f"const int64_t d = {first}->shape[{axis}];")
        for k, place, other in others:
            text = f'"the vectors of a step have %lld and %lld elements, in step 0 of <input {one}> and <input {k}>"'
            self.c(f"if ({place}->shape[{other}] != d)",
                   f"    return ctx->rt->fail(ctx, TH_ERR_SHAPE, {text}, (long long)d, "
                   f"(long long){place}->shape[{other}]);")  # fmt: skip

    def _ensure(self, k: int, place: str, rows: str) -> None:
        self.c(f"const int64_t rows{k}[2] = {{{rows}, d}};", f"if (ctx->rt->ensure(ctx, {place}, rows{k})) return -1;")

    def _before(self) -> None:
        """Write which memory rows are in, and those before the first step."""
        c = self.c
        for value in self.read:
            kind = c_type(value.dtype)
            c(f"const {kind} *{value.name}_row;", f"{kind} *{value.name}_own = NULL, {value.name}_rest[width] = {{0}};")
        for place, value in zip(self.given.fixed, self.own.fixed, strict=True):
            if value.name in self.single:
                c(value.declared(f"*(const {c_type(value.dtype)} *){place}->data"))
            else:
                c(f"TH_READ_ROW({c_type(value.dtype)}, {value.name}, {place}->data, {place}->strides[0]);")
        for k, (place, value, before, keep) in enumerate(self._stacks()):
            for j, each in enumerate((*self.past[k], value) if before else (value,)):
                self._row(each, self._kept(place, each, str(j)) if keep is None or not before else "")
        for old, new in zip(self.own.carried, self.made.carried, strict=True):
            self._row(old)
            self._row(new)
        for place, past, depth in zip(self.given.states, self.past, self.spec.depths, strict=True):
            for j, value in enumerate(past, depth - len(past)):
                if j >= 0:
                    self._begin(value, f"{place}->data + {j} * {place}->strides[0]", f"{place}->strides[1]")
        for place, value in zip(self.given.carried, self.own.carried, strict=True):
            self._begin(value, f"{place}->data", f"{place}->strides[0]")

    def _row(self, value: Value, at: str = "") -> None:
        """Write the declaration of a row that steps make, at a place of the result or in memory of its own."""
        kind = c_type(value.dtype)
        memory = at or f"ctx->rt->scratch(ctx, (size_t)d * sizeof({kind}) + 1)"
        self.c(f"{kind} {value.name}_at[width] = {{0}}, *{value.name}_rest = {value.name}_at;",
               f"{kind} *{value.name}_row = {memory};")  # fmt: skip
        if not at:
            self.c(f"if (!{value.name}_row) return -1;")

    def _begin(self, value: Value, at: str, step: str) -> None:
        kind = c_type(value.dtype)
        self.c(f"TH_COPY_ROW({kind}, {value.name}_row, {at}, {step});",
               f"memcpy({value.name}_rest, {value.name}_row + full, (size_t)(d - full) * sizeof({kind}));")  # fmt: skip

    @staticmethod
    def _kept(place: str, value: Value, row: str) -> str:
        """Return where a row of a stacked result is."""
        return f"({c_type(value.dtype)} *){place}->data + ({row}) * d"

    def _step(self) -> None:
        c = self.c
        for place, group, taps in zip(self.given.sequences, self.own.sequences, self.spec.sequences, strict=True):
            for value, k in zip(group, taps, strict=True):
                at, kind = f"{place}->data + (t + {k}) * {place}->strides[0]", c_type(value.dtype)
                if value.name in self.single:
                    c(value.declared(f"*(const {kind} *)({at})"))
                else:
                    c(f"TH_READ_ROW({kind}, {value.name}, {at}, {place}->strides[1]);")
        for place, value, before, keep in self._stacks():
            if keep is None:
                c(f"{value.name}_row = {self._kept(place, value, f't + {before}')};")
        with c.block("for (int64_t from = 0, count; from < d; from += count)"):
            self._elements()
        for value in self.made.flat():
            size = f"(size_t)(d - full) * sizeof({c_type(value.dtype)})"
            c(f"memcpy({value.name}_row + full, {value.name}_rest, {size});")
        for values in self.turns:
            for part in ("row", "rest"):
                with c.block():
                    c(f"{c_type(values[0].dtype)} *const oldest = {values[0].name}_{part};")
                    c.extend(f"{older}_{part} = {newer}_{part};" for older, newer in pairwise(v.name for v in values))
                    c(f"{values[-1].name}_{part} = oldest;")

    def _elements(self) -> None:
        """Write a step of those elements that fill vectors, then of the rest."""
        c, made, words = self.c, self.made.flat(), self.body.words
        changed = [v for values in self.turns for v in values[:-1]]
        past = {
            value.name: rows[k].name
            for rows, group, taps in zip(self.past, self.own.states, self.spec.states, strict=True)
            for value, k in zip(group, taps, strict=True)
        }
        c("const int rest = from == full;", "count = rest ? width : full;")
        for value in (*self.read, *changed, *made):
            const = "" if value in made else "const "
            c(f"{const}{c_type(value.dtype)} *const {value.name} = rest ? {value.name}_rest : {value.name}_row;")
        c("for (int64_t g = 0; g < count; g += width)", "TH_TOGETHER")
        with c.block("for (int64_t l = g; l < g + width; ++l)"):
            for value in self.own.flat():
                name = past.get(value.name, value.name)
                self._local(value, name if name in self.single else f"{name}[l]", words)
            c.extend(f"{compute_type(value.dtype)} {value.name}_i;" for value in made)
            c.extend(self.body.lines)
            c.extend(store(value.dtype, f"{value.name}[l]", f"{value.name}_i") for value in made)

    def _after(self) -> None:
        c = self.c
        for k, (place, _, before, keep) in enumerate(self._stacks()):
            if keep is not None and before:
                for condition, row, last in self._last_rows(k, before, keep):
                    size = f"(size_t)d * sizeof *{last.name}_row"
                    c(f"{condition} memcpy({self._kept(place, last, row)}, {last.name}_row, {size});".lstrip())
        for place, value in zip(self.results.carried, self.own.carried, strict=True):
            c(f"memcpy({place}->data, {value.name}_row, (size_t)d * sizeof *{value.name}_row);")
