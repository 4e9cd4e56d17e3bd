/* Looks at what enters the matrix products of NumPy and SciPy, and counts the denormal numbers among it.
   Loaded before all other libraries (LD_PRELOAD), it stands between them and their BLAS. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <float.h>
#include <link.h>
#include <stdint.h>

static int64_t denormals = 0, entries = 0;

int64_t watched_denormals(void) { return denormals; }
int64_t watched_entries(void) { return entries; }
void watch_anew(void) { denormals = entries = 0; }

#define LOOK(T, LEAST) \
    static void look_##T(const T *a, int64_t outer, int64_t inner, int64_t stride) { \
        int64_t found = 0; \
        for (int64_t i = 0; i < outer; i++) \
            for (int64_t j = 0; j < inner; j++) { \
                T value = a[i * stride + j]; \
                found += value != 0 && value < LEAST && value > -LEAST; \
            } \
        __atomic_add_fetch(&denormals, found, __ATOMIC_RELAXED); \
        __atomic_add_fetch(&entries, outer * inner, __ATOMIC_RELAXED); \
    }
LOOK(float, FLT_MIN)
LOOK(double, DBL_MIN)

/* The function of that name in a library that was loaded privately, as the extensions of Python are. */
struct wanted {
    const char *name;
    void *mine, *found;
};

static int search(struct dl_phdr_info *library, size_t size, void *data) {
    struct wanted *wanted = data;
    void *handle = dlopen(library->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    void *found = handle ? dlsym(handle, wanted->name) : 0;
    if (handle)
        dlclose(handle);
    if (found && found != wanted->mine)
        wanted->found = found;
    return wanted->found != 0;
}

static void *original(const char *name, void *mine) {
    struct wanted wanted = {name, mine, 0};
    dl_iterate_phdr(search, &wanted);
    return wanted.found;
}

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) \
        real = (__typeof__(&name))original(#name, (void *)&name);
enum { ROWS = 101, PLAIN = 111 };

/* cblas, with 64-bit integers: what NumPy calls */
#define GEMM(T, name) \
    void name(int order, int ta, int tb, int64_t m, int64_t n, int64_t k, T alpha, const T *a, int64_t lda, \
              const T *b, int64_t ldb, T beta, T *c, int64_t ldc) { \
        int a_rows = (order == ROWS) == (ta == PLAIN), b_rows = (order == ROWS) == (tb == PLAIN); \
        look_##T(a, a_rows ? m : k, a_rows ? k : m, lda); \
        look_##T(b, b_rows ? k : n, b_rows ? n : k, ldb); \
        REAL(name) \
        real(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); \
    }
GEMM(float, scipy_cblas_sgemm64_)
GEMM(double, scipy_cblas_dgemm64_)

#define SYRK(T, name) \
    void name(int order, int uplo, int t, int64_t n, int64_t k, T alpha, const T *a, int64_t lda, T beta, \
              T *c, int64_t ldc) { \
        int rows = (order == ROWS) == (t == PLAIN); \
        look_##T(a, rows ? n : k, rows ? k : n, lda); \
        REAL(name) \
        real(order, uplo, t, n, k, alpha, a, lda, beta, c, ldc); \
    }
SYRK(float, scipy_cblas_ssyrk64_)
SYRK(double, scipy_cblas_dsyrk64_)

#define GEMV(T, name) \
    void name(int order, int t, int64_t m, int64_t n, T alpha, const T *a, int64_t lda, const T *x, \
              int64_t incx, T beta, T *y, int64_t incy) { \
        look_##T(a, order == ROWS ? m : n, order == ROWS ? n : m, lda); \
        look_##T(x, t == PLAIN ? n : m, 1, incx); \
        REAL(name) \
        real(order, t, m, n, alpha, a, lda, x, incx, beta, y, incy); \
    }
GEMV(float, scipy_cblas_sgemv64_)
GEMV(double, scipy_cblas_dgemv64_)

/* Fortran, with 32-bit integers: what SciPy calls, and compiled functions with np.dot */
#define FGEMM(T, name) \
    void name(const char *ta, const char *tb, const int *m, const int *n, const int *k, const T *alpha, \
              const T *a, const int *lda, const T *b, const int *ldb, const T *beta, T *c, const int *ldc) { \
        int a_plain = *ta == 'N' || *ta == 'n', b_plain = *tb == 'N' || *tb == 'n'; \
        look_##T(a, a_plain ? *k : *m, a_plain ? *m : *k, *lda); \
        look_##T(b, b_plain ? *n : *k, b_plain ? *k : *n, *ldb); \
        REAL(name) \
        real(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); \
    }
FGEMM(float, scipy_sgemm_)
FGEMM(double, scipy_dgemm_)
