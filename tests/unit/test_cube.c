/* Cubes: adding and taking away, the floor, the caps, filters, damaged bytes. */
#include "storage/cube.h"

#include <string.h>

#include "tests/support/unit.h"

static const struct cube_filter all = {.begin = INT64_MIN, .end = INT64_MAX, .kind = -1};

static struct cube_row row(int64_t build, int32_t day, int32_t kind, int64_t count)
{
    return (struct cube_row){.build_id = build,
                             .day = day,
                             .kind = kind,
                             .count = count,
                             .weighted = count * 1000000,
                             .stall_ms = count * 900};
}

static void add(struct cube *c, int64_t build, int32_t day, int32_t kind, int64_t count)
{
    const struct cube_row r = row(build, day, kind, count);
    ck_assert(cube_add(c, &r));
}

static void take(struct cube *c, int64_t build, int32_t day, int32_t kind, int64_t count)
{
    struct cube_row r = row(build, day, kind, count);
    cube_negate(&r);
    ck_assert(cube_add(c, &r));
}

static void encode(const struct cube *c, struct buf *out)
{
    buf_init(out, CUBE_BYTES);
    ck_assert(cube_encode(c, out));
}

/* The count of what a filter leaves; -1: nobody knows. */
static int64_t count_of(const struct cube *c, const struct cube_filter *f)
{
    struct cube_reader r;
    struct cube_row got;
    struct buf out;
    int64_t n = 0;
    encode(c, &out);
    cube_read(&r, out.data, out.len, f);
    while (cube_next(&r, &got))
        n += got.count;
    ck_assert(!r.damaged);
    buf_done(&out);
    return r.unknown ? -1 : n;
}

static int64_t count_between(const struct cube *c, int64_t begin, int64_t end)
{
    const struct cube_filter f = {.begin = begin, .end = end, .kind = -1};
    return count_of(c, &f);
}

START_TEST(what_is_encoded_comes_back)
{
    struct cube c = {0}, back = {0};
    struct buf out;
    struct cube_row weighted = row(7, 21, 1, 2);
    weighted.weighted = 10500000;
    weighted.above_ms = 7650;
    add(&c, 300000, 20, 0, 5);
    add(&c, 7, 22, 2, 1);
    add(&c, 7, 22, 0, 3);
    add(&c, 7, 22, 0, 1);
    ck_assert(cube_add(&c, &weighted));
    encode(&c, &out);
    ck_assert(cube_add_encoded(&back, out.data, out.len));
    ck_assert_uint_eq(back.count, 4);
    ck_assert_mem_eq(&back.rows[0], &weighted, sizeof(weighted));
    const struct cube_row second = row(7, 22, 0, 4);
    ck_assert_mem_eq(&back.rows[1], &second, sizeof(second));
    const struct cube_row last = row(300000, 20, 0, 5);
    ck_assert_mem_eq(&back.rows[3], &last, sizeof(last));
    ck_assert_int_eq(back.floor, c.floor);
    /* Twice the same is twice as much. */
    ck_assert(cube_add_encoded(&back, out.data, out.len));
    ck_assert_int_eq(back.rows[3].count, 10);
    ck_assert_int_eq(back.rows[0].above_ms, 15300);
    buf_done(&out);
    cube_done(&c);
    cube_done(&back);
}
END_TEST

START_TEST(nothing_is_no_bytes)
{
    struct cube c = {0}, back = {0};
    struct buf out;
    encode(&c, &out);
    ck_assert_uint_eq(out.len, 0);
    ck_assert(cube_add_encoded(&back, NULL, 0));
    ck_assert(!back.any && back.count == 0);
    ck_assert_int_eq(count_of(&c, &all), 0);
    buf_done(&out);
}
END_TEST

START_TEST(what_was_added_can_be_taken_away)
{
    struct cube c = {0}, back = {0};
    struct buf out;
    add(&c, 1, 100, 0, 3);
    add(&c, 2, 100, 0, 4);
    take(&c, 1, 100, 0, 1);
    ck_assert_int_eq(count_of(&c, &all), 6);
    take(&c, 1, 100, 0, 2);
    encode(&c, &out);
    ck_assert(cube_add_encoded(&back, out.data, out.len));
    ck_assert_uint_eq(back.count, 1); /* what counts nothing is not kept */
    ck_assert_int_eq(back.rows[0].build_id, 2);
    /* A day that has become an older one leaves from there. */
    add(&c, 2, 100 + CUBE_DAYS, 0, 1);
    take(&c, 2, 100, 0, 4);
    ck_assert_int_eq(count_of(&c, &all), 1);
    buf_done(&out);
    cube_done(&c);
    cube_done(&back);
}
END_TEST

START_TEST(old_days_become_one)
{
    struct cube c = {0};
    for (int32_t day = 0; day < 3 * CUBE_DAYS; day++) {
        add(&c, 5, day, 0, 1);
        add(&c, 5, day, 1, 1);
        add(&c, 6, day, 0, 2);
    }
    const int32_t floor = 2 * CUBE_DAYS;
    ck_assert_int_eq(c.floor, floor);
    ck_assert_uint_eq(c.count, (size_t)3 * (CUBE_DAYS + 1));
    ck_assert_int_eq(c.rows[0].day, CUBE_OLDER);
    ck_assert_int_eq(c.rows[0].count, floor);
    ck_assert_int_eq(c.rows[1].day, CUBE_OLDER);
    ck_assert_int_eq(c.rows[1].kind, 1);
    ck_assert_int_eq(count_of(&c, &all), (int64_t)12 * CUBE_DAYS);
    /* From the floor on all is known, and up to a day behind it; a border before it is not. */
    ck_assert_int_eq(count_between(&c, floor, INT64_MAX), (int64_t)4 * CUBE_DAYS);
    ck_assert_int_eq(count_between(&c, INT64_MIN, floor), (int64_t)8 * CUBE_DAYS);
    ck_assert_int_eq(count_between(&c, floor + 1, floor + 3), 8);
    ck_assert_int_eq(count_between(&c, floor - 1, INT64_MAX), -1);
    ck_assert_int_eq(count_between(&c, INT64_MIN, floor - 1), -1);
    struct cube_filter by_day = all;
    by_day.days = true;
    ck_assert_int_eq(count_of(&c, &by_day), -1);
    by_day.begin = floor;
    ck_assert_int_eq(count_of(&c, &by_day), (int64_t)4 * CUBE_DAYS);
    /* A late report of a day that is no longer kept. */
    add(&c, 6, 3, 0, 1);
    ck_assert_int_eq(count_between(&c, INT64_MIN, floor), (int64_t)8 * CUBE_DAYS + 1);
    cube_done(&c);
}
END_TEST

START_TEST(any_order_gives_the_same)
{
    struct cube a = {0}, b = {0}, sum = {0};
    struct buf x, y;
    for (int32_t i = 0; i < 500; i++) {
        add(&a, i % 7, i, i % 3, 1 + i % 5);
        const int32_t j = 499 - i;
        add(&b, j % 7, j, j % 3, 1 + j % 5);
    }
    ck_assert(cube_merge(&sum, &a));
    encode(&a, &x);
    encode(&b, &y);
    ck_assert_uint_eq(x.len, y.len);
    ck_assert_mem_eq(x.data, y.data, x.len);
    buf_done(&y);
    encode(&sum, &y);
    ck_assert_mem_eq(x.data, y.data, x.len);
    buf_done(&x);
    buf_done(&y);
    cube_done(&a);
    cube_done(&b);
    cube_done(&sum);
}
END_TEST

/* A stack's cube may have lost days that its cluster's still has: they shrink by what is in them. */
START_TEST(a_part_with_a_higher_floor_can_go_and_come)
{
    struct cube stack = {0}, from = {0}, to = {0};
    struct buf out;
    for (int32_t day = 1000; day < 1200; day++) {
        for (int64_t build = 1; build <= 60; build++)
            add(&stack, build, day, 0, 1);
    }
    for (int64_t build = 1; build <= 60; build++) {
        for (int32_t day = 1000; day < 1200; day++) {
            add(&from, build, day, 0, 1);
            if (day < 1040)
                add(&from, build, day, 1, 3);
        }
    }
    add(&to, 1, 1199, 2, 5);
    add(&to, 1, 1110, 2, 7);
    ck_assert_int_gt(stack.floor, to.floor);
    ck_assert_int_gt(stack.floor, from.floor);
    ck_assert(cube_take(&from, &stack));
    ck_assert(cube_merge(&to, &stack));
    for (size_t i = 0; i < from.count; i++)
        ck_assert_int_ge(from.rows[i].count, 0);
    ck_assert_int_eq(count_of(&from, &all), (int64_t)60 * 40 * 3);
    ck_assert_int_eq(count_of(&to, &all), (int64_t)60 * 200 + 12);
    /* Nothing is missed in silence. */
    ck_assert_int_eq(count_between(&to, 1110, INT64_MAX), -1);
    ck_assert_int_ge(to.floor, stack.floor);
    encode(&from, &out);
    ck_assert(!cube_is_damaged(out.data, out.len));
    ck_assert(cube_is_damaged(out.data, out.len - 1));
    buf_done(&out);
    cube_done(&stack);
    cube_done(&from);
    cube_done(&to);
}
END_TEST

START_TEST(filters_leave_what_they_say)
{
    static const int64_t builds[] = {2, 9};
    struct cube c = {0};
    for (int64_t build = 1; build <= 9; build++) {
        for (int32_t day = 10; day < 20; day++)
            add(&c, build, day, (int32_t)(build % 2), build);
    }
    struct cube_filter f = all;
    f.builds = builds;
    f.build_count = 2;
    ck_assert_int_eq(count_of(&c, &f), 110);
    f.kind = 1;
    ck_assert_int_eq(count_of(&c, &f), 90);
    f.begin = 12;
    f.end = 13;
    ck_assert_int_eq(count_of(&c, &f), 9);
    cube_done(&c);
}
END_TEST

/* Days go first, one after the other half; builds alone that are too many fill it for ever. */
START_TEST(there_is_a_cap)
{
    struct cube c = {0}, back = {0};
    struct buf out;
    for (int64_t build = 0; build < 100; build++) {
        for (int32_t day = 0; day < CUBE_DAYS; day++)
            add(&c, build, day, 0, 1);
    }
    ck_assert_uint_le(c.count, CUBE_ROWS);
    ck_assert_int_gt(c.floor, 0);
    ck_assert_int_lt(c.floor, CUBE_DAYS);
    ck_assert_int_eq(count_of(&c, &all), (int64_t)100 * CUBE_DAYS);
    encode(&c, &out);
    ck_assert_uint_le(out.len, CUBE_BYTES);
    buf_done(&out);
    for (int64_t build = 0; build <= CUBE_ROWS; build++)
        add(&c, build, 5, 0, 1);
    ck_assert(c.full);
    ck_assert_int_eq(count_of(&c, &all), -1);
    add(&c, 1, 1, 0, 1);
    encode(&c, &out);
    ck_assert(cube_add_encoded(&back, out.data, out.len));
    ck_assert(back.full);
    buf_done(&out);
    cube_done(&c);
    cube_done(&back);
}
END_TEST

START_TEST(damaged_bytes_are_refused)
{
    struct cube c = {0};
    struct buf out;
    for (int32_t i = 0; i < 40; i++)
        add(&c, i % 3, i, i % 2, 1 + 1000 * i);
    encode(&c, &out);
    for (size_t len = 1; len < out.len; len++) {
        struct cube back = {0};
        const bool ok = cube_add_encoded(&back, out.data, len);
        /* Whole builds may be missing; a piece of one is damage. */
        ck_assert(!ok || back.count < c.count);
        cube_done(&back);
    }
    for (size_t i = 0; i < out.len; i++) {
        for (int bit = 0; bit < 8; bit++) {
            struct cube back = {0};
            out.data[i] ^= (uint8_t)(1 << bit);
            (void)cube_add_encoded(&back, out.data, out.len);
            out.data[i] ^= (uint8_t)(1 << bit);
            cube_done(&back);
        }
    }
    struct cube back = {0};
    ck_assert(!cube_add_encoded(&back, "\x01\x00", 2));
    cube_done(&back);
    buf_done(&out);
    cube_done(&c);
}
END_TEST

UNIT_MAIN("cube", what_is_encoded_comes_back, nothing_is_no_bytes, what_was_added_can_be_taken_away,
          old_days_become_one, any_order_gives_the_same, a_part_with_a_higher_floor_can_go_and_come,
          filters_leave_what_they_say, there_is_a_cap, damaged_bytes_are_refused)
