/* A BLAS with an arithmetic of its own: matrix products whose sums are taken in another order in every element.
 *
 * Preloaded (LD_PRELOAD), it stands in for the products of the OpenBLAS that NumPy's and SciPy's wheels bring. Each
 * element is the sum over 1, 4 or 8 lanes, rounded once or twice a term. Which of these depends on its place in the
 * result, as it does in kernels that treat the edges of a matrix differently from its middle, and in large products on
 * the number of threads that OpenBLAS may use. Every result is a correctly computed one: code or tests that take two of
 * them for equal to the last bit, or let rounding decide a tie, do not survive it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_MAJOR = 101, NO_TRANS = 111, UPPER = 121 };

static int is_trans(const char *flag) { return *flag != 'N' && *flag != 'n'; }
static int is_upper(const char *flag) { return *flag == 'U' || *flag == 'u'; }

static int (*get_num_threads)(void);

static int find_openblas(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size, (void)data;
    if (!strstr(info->dlpi_name, "libscipy_openblas")) return 0;
    void *library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    get_num_threads = (int (*)(void))dlsym(library, "scipy_openblas_get_num_threads64_");
    if (!get_num_threads) get_num_threads = (int (*)(void))dlsym(library, "scipy_openblas_get_num_threads");
    return get_num_threads != NULL;
}

/* The threads that OpenBLAS would use for m x n sums over k: one unless the product is large. */
static int n_threads(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k) {
    if (m * n * k <= (m == 1 || n == 1 ? 9216 : 262144)) return 1;
    if (!get_num_threads) dl_iterate_phdr(find_openblas, NULL);
    return get_num_threads ? get_num_threads() : 1;
}

static inline float s_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline double d_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
static inline float s_add(float a, float b, float c) { return a * b + c; }
static inline double d_add(double a, double b, double c) { return a * b + c; }

/* An inner product over n lanes, which are added up from the last to the first. */
#define LANES(T, n, step, a, b, k, sum)                                                                                \
    do {                                                                                                               \
        T lane[n] = {0};                                                                                               \
        ptrdiff_t t = 0;                                                                                               \
        for (; t + (n) <= (k); t += (n))                                                                               \
            for (int l = 0; l < (n); l++) lane[l] = step((a)[t + l], (b)[t + l], lane[l]);                             \
        for (; t < (k); t++) lane[t % (n)] = step((a)[t], (b)[t], lane[t % (n)]);                                      \
        for (int l = (n) - 1; l; l--) lane[l - 1] += lane[l];                                                          \
        sum = lane[0];                                                                                                 \
    } while (0)

/* Products of a type T, with matrices as pointers and two strides: element (i, j) of A is a[i * ai + j * aj]. */
#define PRODUCTS(T, p)                                                                                                 \
    static T p##_inner(const T *a, const T *b, ptrdiff_t k, ptrdiff_t place) {                                         \
        T sum;                                                                                                         \
        if (place % 3 == 0) LANES(T, 1, p##_fma, a, b, k, sum);                                                        \
        else if (place % 3 == 1) LANES(T, 4, p##_add, a, b, k, sum);                                                   \
        else LANES(T, 8, p##_fma, a, b, k, sum);                                                                       \
        return sum;                                                                                                    \
    }                                                                                                                  \
    static T *p##_packed(const T *a, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t ai, ptrdiff_t aj) {                        \
        T *copy = malloc((rows * k + 1) * sizeof(T));                                                                  \
        for (ptrdiff_t i = 0; i < rows; i++)                                                                           \
            for (ptrdiff_t t = 0; t < k; t++) copy[i * k + t] = a[i * ai + t * aj];                                    \
        return copy;                                                                                                   \
    }                                                                                                                  \
    /* C = alpha A B + beta C; of symmetric products only the upper (1) or lower (-1) part */                          \
    static void p##_product(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, T alpha, const T *a, ptrdiff_t ai, ptrdiff_t aj,    \
                            const T *b, ptrdiff_t bi, ptrdiff_t bj, T beta, T *c, ptrdiff_t ci, ptrdiff_t cj,          \
                            int part) {                                                                                \
        T *rows = p##_packed(a, m, k, ai, aj), *columns = p##_packed(b, n, k, bj, bi);                                 \
        ptrdiff_t shift = n_threads(m, n, k) - 1;                                                                      \
        for (ptrdiff_t i = 0; i < m; i++)                                                                              \
            for (ptrdiff_t j = part == 1 ? i : 0; j < (part == -1 ? i + 1 : n); j++) {                                 \
                T value = alpha * p##_inner(rows + i * k, columns + j * k, k, i + j + shift);                          \
                c[i * ci + j * cj] = beta == 0 ? value : value + beta * c[i * ci + j * cj];                            \
            }                                                                                                          \
        free(rows);                                                                                                    \
        free(columns);                                                                                                 \
    }                                                                                                                  \
    static void p##_gemv(int trans, ptrdiff_t m, ptrdiff_t n, T alpha, const T *a, ptrdiff_t ai, ptrdiff_t aj,         \
                         const T *x, ptrdiff_t incx, T beta, T *y, ptrdiff_t incy) {                                   \
        ptrdiff_t rows = trans ? n : m, k = trans ? m : n;                                                             \
        if (incx < 0) x -= (k - 1) * incx;                                                                             \
        if (incy < 0) y -= (rows - 1) * incy;                                                                          \
        p##_product(rows, 1, k, alpha, a, trans ? aj : ai, trans ? ai : aj, x, incx, 0, beta, y, incy, 0, 0);          \
    }                                                                                                                  \
    static T p##_dot(ptrdiff_t n, const T *x, ptrdiff_t incx, const T *y, ptrdiff_t incy) {                            \
        T result = 0;                                                                                                  \
        if (n <= 0) return result;                                                                                     \
        if (incx < 0) x -= (n - 1) * incx;                                                                             \
        if (incy < 0) y -= (n - 1) * incy;                                                                             \
        p##_product(1, 1, n, 1, x, 0, incx, y, incy, 0, 0, &result, 0, 0, 0);                                          \
        return result;                                                                                                 \
    }

PRODUCTS(float, s)
PRODUCTS(double, d)

/* The names of NumPy's OpenBLAS: C, with integers of 64 bits. */
#define CBLAS(T, p)                                                                                                    \
    void scipy_cblas_##p##gemm64_(int order, int ta, int tb, int64_t m, int64_t n, int64_t k, T alpha, const T *a,     \
                                  int64_t lda, const T *b, int64_t ldb, T beta, T *c, int64_t ldc) {                   \
        int ra = (order == ROW_MAJOR) == (ta == NO_TRANS), rb = (order == ROW_MAJOR) == (tb == NO_TRANS);              \
        int rc = order == ROW_MAJOR;                                                                                   \
        p##_product(m, n, k, alpha, a, ra ? lda : 1, ra ? 1 : lda, b, rb ? ldb : 1, rb ? 1 : ldb, beta, c,             \
                    rc ? ldc : 1, rc ? 1 : ldc, 0);                                                                    \
    }                                                                                                                  \
    void scipy_cblas_##p##syrk64_(int order, int uplo, int trans, int64_t n, int64_t k, T alpha, const T *a,           \
                                  int64_t lda, T beta, T *c, int64_t ldc) {                                            \
        int ra = (order == ROW_MAJOR) == (trans == NO_TRANS), rc = order == ROW_MAJOR;                                 \
        p##_product(n, n, k, alpha, a, ra ? lda : 1, ra ? 1 : lda, a, ra ? 1 : lda, ra ? lda : 1, beta, c,             \
                    rc ? ldc : 1, rc ? 1 : ldc, uplo == UPPER ? 1 : -1);                                               \
    }                                                                                                                  \
    void scipy_cblas_##p##gemv64_(int order, int trans, int64_t m, int64_t n, T alpha, const T *a, int64_t lda,        \
                                  const T *x, int64_t incx, T beta, T *y, int64_t incy) {                              \
        int r = order == ROW_MAJOR;                                                                                    \
        p##_gemv(trans != NO_TRANS, m, n, alpha, a, r ? lda : 1, r ? 1 : lda, x, incx, beta, y, incy);                 \
    }                                                                                                                  \
    T scipy_cblas_##p##dot64_(int64_t n, const T *x, int64_t incx, const T *y, int64_t incy) {                         \
        return p##_dot(n, x, incx, y, incy);                                                                           \
    }

CBLAS(float, s)
CBLAS(double, d)

/* The names of SciPy's OpenBLAS and of the LAPACK of both: Fortran, with integers of 32 bits, or of 64 in NumPy's. */
#define FORTRAN(T, p, I, suffix)                                                                                       \
    void scipy_##p##gemm_##suffix(const char *ta, const char *tb, const I *m, const I *n, const I *k, const T *alpha,  \
                                  const T *a, const I *lda, const T *b, const I *ldb, const T *beta, T *c,             \
                                  const I *ldc) {                                                                      \
        int fa = is_trans(ta), fb = is_trans(tb);                                                                      \
        p##_product(*m, *n, *k, *alpha, a, fa ? *lda : 1, fa ? 1 : *lda, b, fb ? *ldb : 1, fb ? 1 : *ldb, *beta, c, 1, \
                    *ldc, 0);                                                                                          \
    }                                                                                                                  \
    void scipy_##p##syrk_##suffix(const char *uplo, const char *trans, const I *n, const I *k, const T *alpha,         \
                                  const T *a, const I *lda, const T *beta, T *c, const I *ldc) {                       \
        int f = is_trans(trans);                                                                                       \
        p##_product(*n, *n, *k, *alpha, a, f ? *lda : 1, f ? 1 : *lda, a, f ? 1 : *lda, f ? *lda : 1, *beta, c, 1,     \
                    *ldc, is_upper(uplo) ? 1 : -1);                                                                    \
    }                                                                                                                  \
    void scipy_##p##gemv_##suffix(const char *trans, const I *m, const I *n, const T *alpha, const T *a, const I *lda, \
                                  const T *x, const I *incx, const T *beta, T *y, const I *incy) {                     \
        p##_gemv(is_trans(trans), *m, *n, *alpha, a, 1, *lda, x, *incx, *beta, y, *incy);                              \
    }                                                                                                                  \
    T scipy_##p##dot_##suffix(const I *n, const T *x, const I *incx, const T *y, const I *incy) {                      \
        return p##_dot(*n, x, *incx, y, *incy);                                                                        \
    }

FORTRAN(float, s, int32_t, )
FORTRAN(double, d, int32_t, )
FORTRAN(float, s, int64_t, 64_)
FORTRAN(double, d, int64_t, 64_)
