/* Covers: storage/frame_kinds.c */
#include "storage/frame_kinds.h"

#include "tests/support/unit.h"

static struct frame_kinds kinds;

/* Its number; `ret_is_new`: it had none. */
static uint32_t number_of(const struct blob_frame *f, bool *ret_is_new)
{
    const struct weighed_frame frame = {.function = "f", .in_app = f->in_app};
    uint32_t number = UINT32_MAX;
    *ret_is_new = !frame_kinds_find(&kinds, f, &number);
    if (*ret_is_new)
        ck_assert(frame_kinds_add(&kinds, f, &frame, &number));
    return number;
}

START_TEST(equal_frames_have_one_number)
{
    /* The last one is beyond the functions that have a place of their own. */
    static const struct {
        struct blob_frame frame; /* function, file, image */
        uint32_t number;
        bool is_new;
    } cases[] = {{{7, 1, 2, true}, 1, true},          {{7, 1, 2, false}, 0, false},
                 {{7, 3, 2, true}, 3, true},          {{7, 1, 4, false}, 4, true},
                 {{8, 1, 2, true}, 7, true},          {{900, 0, 0, false}, 8, true},
                 {{900, 2, 0, false}, 10, true},      {{900, 0, 2, false}, 12, true},
                 {{UINT32_MAX, 1, 2, true}, 15, true}};
    bool is_new;
    for (int turn = 0; turn < 3; turn++) {
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            const uint32_t number = number_of(&cases[i].frame, &is_new);
            ck_assert_uint_eq(number, cases[i].number);
            ck_assert_int_eq(is_new, turn == 0 && cases[i].is_new);
            ck_assert_int_eq(kinds.frames[number].in_app, cases[i].frame.in_app);
        }
    }
    ck_assert_uint_eq(kinds.count, 16);
    frame_kinds_done(&kinds);
}
END_TEST

START_TEST(many_frames_and_a_new_beginning)
{
    bool is_new;
    for (int turn = 0; turn < 2; turn++) {
        for (uint32_t i = 0; i < 5000; i++) {
            const struct blob_frame f = {1 + i % 1000, i / 1000, i % 3, i % 2};
            ck_assert_uint_eq(number_of(&f, &is_new), 2 * i + i % 2);
            ck_assert(is_new);
            ck_assert_uint_eq(number_of(&f, &is_new), 2 * i + i % 2);
            ck_assert(!is_new);
        }
        frame_kinds_reset(&kinds);
        ck_assert_uint_eq(kinds.count, 0);
    }
    frame_kinds_done(&kinds);
}
END_TEST

UNIT_MAIN("frame_kinds", equal_frames_have_one_number, many_frames_and_a_new_beginning)
