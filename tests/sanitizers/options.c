/*
 * options - what a stallsymd that was built with a sanitizer tells it at start.
 *
 * Purpose: indexing processes get an empty environment, so ASAN_OPTIONS and the like do not reach
 * them; these functions are asked by the runtimes of AddressSanitizer, LeakSanitizer, UBSan and
 * ThreadSanitizer instead. Whatever they have to say goes to a file of its own in REPORTS, one for
 * each process, where run-e2e and run-units look for it: nothing that is found can go unseen.
 *
 * Invariants: linked into sanitizer builds alone. The variables of the environment still override.
 *
 * Threads: called before any is started. Memory: none.
 */
#include <dlfcn.h>
#include <stddef.h>

#define FOUND "exitcode=99:log_path=" REPORTS "/report:"

const char *__asan_default_options(void);
const char *__lsan_default_options(void);
const char *__ubsan_default_options(void);
const char *__tsan_default_options(void);

/* A libc that says no to a malloc of any size is what the program is written for. The fault shim of
 * some tests is loaded before the runtime. */
const char *__asan_default_options(void)
{
    return FOUND "detect_stack_use_after_return=1:strict_string_checks=1:detect_leaks=1:"
                 "allocator_may_return_null=1:verify_asan_link_order=0";
}

const char *__lsan_default_options(void)
{
    return FOUND "print_suppressions=0:suppressions=" SUPPRESSIONS "/lsan.supp";
}

const char *__ubsan_default_options(void)
{
    return FOUND "print_stacktrace=1";
}

const char *__tsan_default_options(void)
{
    return FOUND "second_deadlock_stack=1:history_size=4:allocator_may_return_null=1:"
                 "print_suppressions=0:suppressions=" SUPPRESSIONS "/tsan.supp";
}

/* gcc's UBSan is a library beside AddressSanitizer's, and what it calls to open its log is the
 * function of that name in the other. */
__attribute__((constructor)) static void name_log(void)
{
    void *ubsan = dlopen("libubsan.so.1", RTLD_NOLOAD | RTLD_LAZY);
    void (*set_path)(const char *path) = NULL;
    if (ubsan)
        *(void **)(void *)&set_path = dlsym(ubsan, "__sanitizer_set_report_path");
    if (set_path)
        set_path(REPORTS "/report");
}
