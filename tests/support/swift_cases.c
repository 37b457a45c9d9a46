#include "tests/support/swift_cases.h"

#include <check.h>
#include <stdbool.h>
#include <string.h>

#include "symbolizer/demangle_swift.h"

static void check_form(const char *name, enum swift_form form, const char *want)
{
    char out[16 * 1024];
    bool ok = demangle_swift(name, form, out, sizeof(out));
    ck_assert_msg(!strcmp(out, want ? want : name), "%s (form %d)\n  want %s\n  got  %s", name,
                  (int)form, want ? want : name, out);
    ck_assert_msg(ok == (want != NULL), "%s (form %d) answered %d", name, (int)form, (int)ok);
}

void swift_check(const struct swift_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct swift_case *c = &cases[i];
        check_form(c->name, SWIFT_FULL, c->full);
        check_form(c->name, SWIFT_SIMPLIFIED, c->simplified ? c->simplified : c->full);
    }
}
