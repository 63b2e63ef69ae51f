/* Marks for compilers: where their time goes, and what they may assume. */
#ifndef THEANO_TENSOR_MARKS_H
#define THEANO_TENSOR_MARKS_H

#if defined(__clang__)
/* The iterations are independent: what is written is read again only in its own iteration. */
#define TH_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define TH_HELPER static inline __attribute__((unused))
#define TH_LOOP __attribute__((noinline, hot))
#define TH_GLUE __attribute__((cold))
#define TH_ONCE static __attribute__((unused, noinline))
#define TH_ERROR static __attribute__((unused, noinline, cold))
#elif defined(__GNUC__)
#define TH_INDEPENDENT _Pragma("GCC ivdep")
#define TH_HELPER static inline __attribute__((unused))
#define TH_LOOP __attribute__((noinline, hot))
#define TH_GLUE __attribute__((cold))
#define TH_ONCE static __attribute__((unused, noinline))
#define TH_ERROR static __attribute__((unused, noinline, cold))
#else
#define TH_INDEPENDENT
#define TH_HELPER static inline
#define TH_LOOP
#define TH_GLUE
#define TH_ONCE static
#define TH_ERROR static
#endif

/* Before a loop as long as a vector, which is taken apart into scalars before anybody thinks of vectors. */
#if defined(__GNUC__) && !defined(__clang__)
#define TH_INTO_ONE_VECTOR _Pragma("GCC unroll 1")
#else
#define TH_INTO_ONE_VECTOR
#endif

/* In the body of a loop that is short or rare: vectorising it would only cost the compiler time. */
#if defined(__GNUC__)
#define TH_PLAIN_LOOP __asm__ volatile("")
#else
#define TH_PLAIN_LOOP (void)0
#endif

/* The compiler's time goes where the run's time goes. TH_LOOP: the innermost loops, each compiled once and as
 * well as can be. TH_GLUE: what leads to them, compiled for size ("cold"; whatever surely leads to cold code counts as
 * cold itself, which is why the loops are declared hot). TH_ONCE: helpers called once per loop nest, not copied
 * into each kernel. */

#endif
