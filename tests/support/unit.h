/*
 * unit - the frame of every Check program under tests/unit.
 *
 * A test file includes this, writes START_TEST functions and ends with
 *     UNIT_MAIN("name", test_a, test_b)
 * so that a file is one program, one suite and one case. Each test runs in its own process
 * (CK_FORK=no in gdb).
 */
#ifndef STALLSYM_TESTS_UNIT_H
#define STALLSYM_TESTS_UNIT_H

#include <check.h>
#include <stdlib.h>

#define UNIT_MAIN(name, ...)                                                                       \
    int main(void)                                                                                 \
    {                                                                                              \
        const TTest *const tests[] = {__VA_ARGS__};                                                \
        Suite *suite = suite_create(name);                                                         \
        TCase *tcase = tcase_create(name);                                                         \
        tcase_set_timeout(tcase, 60);                                                              \
        for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)                              \
            tcase_add_test(tcase, tests[i]);                                                       \
        suite_add_tcase(suite, tcase);                                                             \
        SRunner *runner = srunner_create(suite);                                                   \
        srunner_run_all(runner, CK_ENV);                                                           \
        int failed = srunner_ntests_failed(runner);                                                \
        srunner_free(runner);                                                                      \
        return failed ? EXIT_FAILURE : EXIT_SUCCESS;                                               \
    }

#endif
