#include "tests/support/descriptors.h"

#include <check.h>
#include <unistd.h>

void descriptors_take(struct rlimit *before)
{
    int next = dup(0);
    ck_assert_int_ge(next, 0);
    close(next);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, before), 0);
    struct rlimit none = {(rlim_t)next, before->rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
}

void descriptors_give(const struct rlimit *before)
{
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, before), 0);
}
