#include <string.h>

#include "symbolizer/demangle.h"
#include "tests/support/unit.h"

/* B16: methods as they are, blocks of each kind, with and without Mach-O's underscore. */
START_TEST(methods_and_blocks)
{
    static const char *const cases[][2] = {
        {"-[Feed reload:]", "-[Feed reload:]"},
        {"-[Feed .cxx_destruct]", "-[Feed .cxx_destruct]"},
        {"-[Feed reload:].cold.1", "-[Feed reload:].cold.1"},
        {"__15-[Feed reload:]_block_invoke", "-[Feed reload:] block"},
        {"___15-[Feed reload:]_block_invoke", "-[Feed reload:] block"},
        {"__41-[Feed reload:]_block_invoke_2", "-[Feed reload:] block"},
        {"__15-[Feed reload:]_block_invoke.44", "-[Feed reload:] block"},
        {"__15-[Feed reload:]_block_invoke_3.68", "-[Feed reload:] block"},
        {"__15-[Feed reload:]_block_invoke.cold.1", "-[Feed reload:] block [clone .cold.1]"},
        {"__33+[Feed(Cache) sharedInstance:with:]_block_invoke",
         "+[Feed(Cache) sharedInstance:with:] block"},
        {"___ZN3net6Client4pollEi_block_invoke", "net::Client::poll(int) block"},
        {"____ZN3net6Client4pollEi_block_invoke_2", "net::Client::poll(int) block"},
        {"___Z3foov_block_invoke_2.12", "foo() block"},
        {"__foo_block_invoke", "foo block"},
        {"__foo_block_invoke_12", "foo block"},
        {"___main_block_invoke", "_main block"},
        {"__foo_block_invoke_block_invoke", "foo block"},
        /* No blocks, or none that is understood. */
        {"foo_block_invoke", "foo_block_invoke"},
        {"__foo_block_invoked", "__foo_block_invoked"},
        {"___block_invoke", "___block_invoke"},
        {"___ZN3net6Client4poll_block_invoke", "___ZN3net6Client4poll_block_invoke"},
        {"__15_block_invoke", "__15_block_invoke"},
        {"__15-[_block_invoke", "__15-[_block_invoke"},
        {"__block_literal_global", "__block_literal_global"},
        {"__copy_helper_block_e8_32s", "__copy_helper_block_e8_32s"},
        {"__destroy_helper_block_e8_32s", "__destroy_helper_block_e8_32s"},
    };
    char out[256];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        demangle(cases[i][0], out, sizeof(out));
        ck_assert_str_eq(out, cases[i][1]);
    }
}
END_TEST

UNIT_MAIN("demangle_objc", methods_and_blocks)
