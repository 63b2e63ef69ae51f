"""C that is written once for floats of N bits, and written out for 64 and for 32.

A block with ``_fN`` or ``_c2N`` at the end of its name is C as for ``double``, but for these words:

- ``floatN`` is ``double`` or ``float``, ``uintN_t`` is ``uint64_t`` or ``uint32_t``, ``N`` alone is the number.
- ``th_exp_fN`` is ``th_exp_f64`` or ``th_exp_f32``, ``th_add_c2N`` is ``th_add_c128`` or ``th_add_c64``.
- ``th_fNxL`` is the vector ``th_f64x8`` or ``th_f32x16``, and so is ``TH_FMA_fNxL``.
- A name in capitals may stand in a table of the same file, ``/* @where N is 64 32``, with its two values: numbers,
  functions, or blocks that are needed.
- ``#if N == 64``, ``#else`` and ``#endif`` choose lines.

For ``float``, numbers and C's functions get their ``f``, so the compiler rounds a number that both have in common.

This module needs nothing but the standard library: ``setup.py`` of other layers loads it where nothing is installed.

Examples
--------
>>> print(written_out('''/* @where N is    64        32
...  * SHIFT         0x1.8p52  0x1.8p23
...  */
... /* @snippet nearest_fN */
... floatN th_nearest_fN(floatN x) { return fabs(x) + SHIFT - SHIFT; }
... '''))
/* @snippet nearest_f64 */
double th_nearest_f64(double x) { return fabs(x) + 0x1.8p52 - 0x1.8p52; }
/* @snippet nearest_f32 */
float th_nearest_f32(float x) { return fabsf(x) + 0x1.8p23f - 0x1.8p23f; }
<BLANKLINE>
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

_BLOCK = re.compile(r"^(?=/\* @snippet )", re.MULTILINE)
_OF_N = re.compile(r"/\* @snippet \w+_(?:fN|c2N)\b")
_TABLE = re.compile(r"^/\* @where N is .*\n((?: \*  *\w.*\n)+) \*/\n\n?", re.MULTILINE)
_ROW = re.compile(r"^ \* (\w+) +(\S+) +(\S+)", re.MULTILINE)
_CHOICE = re.compile(r"^#if N == 64\n(.*?)(?:^#else\n(.*?))?^#endif\n", re.MULTILINE | re.DOTALL)
_WORD = re.compile(r"floatN|NxL|2N|(?<![A-Z_])N(?![A-Za-z])|\b[A-Z][A-Z\d_]+\b")
_WORDS = (
    {"floatN": "double", "NxL": "64x8", "2N": "128", "N": "64"},
    {"floatN": "float", "NxL": "32x16", "2N": "64", "N": "32"},
)
_COMMENT = r"/\*.*?\*/"
_NUMBER = r"(?<![\w.])(?:0x[\da-f]+(?:\.[\da-f]*)?p[+-]?\d+|\d+\.\d*(?:e[+-]?\d+)?)(?![\w.])"
_FUNCTION = (
    r"\b(?:TH_FMA|CMPLX|(?:__builtin_)?(?:inf|nan|fabs|floor|copysign|sqrt)|fma|fmod|hypot|expm1|log1p|atan2"
    r"|creal|cimag|cabs|carg|conj|c?(?:exp|log|pow|sqrt|a?(?:sin|cos|tan)h?))(?=\()"
)
_OF_DOUBLE = re.compile(f"{_COMMENT}|{_NUMBER}|{_FUNCTION}", re.DOTALL)


def written_out(header: str) -> str:
    r"""Return a header with each block for N twice, for 64 bits and for 32, and all else as it is.

    Examples
    --------
    >>> written_out("/* @snippet one_f64 */\ndouble th_one_f64(void) { return 1.0; }\n").splitlines()[1]
    'double th_one_f64(void) { return 1.0; }'
    """
    return "".join(text() for _, text in blocks(header))


def blocks(header: str) -> Iterator[tuple[str, Callable[[], str]]]:
    r"""Yield the first line of each block, and what writes the block out: a kernel needs few of them.

    Examples
    --------
    >>> [first for first, text in blocks("/* @snippet one_fN */\nfloatN th_one_fN(void) { return 1.0; }\n")]
    ['/* @snippet one_f64 */', '/* @snippet one_f32 */']
    """
    rows = [row for table in _TABLE.findall(header) for row in _ROW.findall(table)]
    words = [{**_WORDS[k], **{row[0]: row[1 + k] for row in rows}} for k in (0, 1)]
    for block in filter(None, _BLOCK.split(_TABLE.sub("", header))):
        first = block.partition("\n")[0]
        if _OF_N.match(first):
            yield _with_words(first, words[0]), partial(_of_double, block, words[0])
            yield _with_words(first, words[1]), partial(_of_float, block, words[1])
        else:
            yield first, partial(str, block)


def _with_words(text: str, words: dict[str, str]) -> str:
    return _WORD.sub(lambda found: words.get(found[0], found[0]), text)


def _of_double(block: str, words: dict[str, str]) -> str:
    return _with_words(_CHOICE.sub(r"\1", block), words)


def _of_float(block: str, words: dict[str, str]) -> str:
    return _OF_DOUBLE.sub(_as_float, _with_words(_CHOICE.sub(r"\2", block), words))


def _as_float(found: re.Match[str]) -> str:
    """Return a number or a function of ``double`` as C spells it for ``float``."""
    text = found[0]
    return text if text.startswith("/*") else text + ("F" if text.isupper() else "f")
