#include "symbolizer/demangle_swift_node.h"

#include <string.h>

#include "tests/support/unit.h"

START_TEST(the_arena_has_a_cap)
{
    struct swift_arena a;
    swift_arena_init(&a);
    size_t got = 0;
    while (swift_arena_alloc(&a, 1000))
        got += 1000;
    ck_assert(a.full);
    ck_assert_uint_le(a.total, SWIFT_ARENA_LIMIT);
    ck_assert_uint_gt(got, SWIFT_ARENA_LIMIT * 3 / 4);
    ck_assert_ptr_null(swift_arena_alloc(&a, 1));
    swift_arena_done(&a);
}
END_TEST

START_TEST(sizes_that_cannot_be_are_refused)
{
    static const size_t sizes[] = {SWIFT_ARENA_LIMIT + 1, SIZE_MAX, SIZE_MAX - 3};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct swift_arena a;
        swift_arena_init(&a);
        ck_assert_ptr_null(swift_arena_alloc(&a, sizes[i]));
        ck_assert(a.full);
        swift_arena_done(&a);
    }
}
END_TEST

START_TEST(allocations_do_not_overlap)
{
    struct swift_arena a;
    unsigned char *p[300];
    swift_arena_init(&a);
    for (size_t i = 0; i < 300; i++) {
        p[i] = swift_arena_alloc(&a, i);
        ck_assert_ptr_nonnull(p[i]);
        ck_assert_uint_eq((uintptr_t)p[i] % 8, 0);
        memset(p[i], (int)(i & 0xFF), i);
    }
    for (size_t i = 0; i < 300; i++) {
        for (size_t k = 0; k < i; k++)
            ck_assert_uint_eq(p[i][k], i & 0xFF);
    }
    swift_arena_done(&a);
}
END_TEST

START_TEST(children_keep_their_order)
{
    struct swift_arena a;
    swift_arena_init(&a);
    for (int64_t count = 0; count < 20; count++) {
        struct swift_node *n = swift_node(&a, SK_TypeList);
        for (int64_t i = 0; i < count; i++)
            ck_assert_ptr_eq(swift_node_add(&a, n, swift_node_index(&a, SK_Index, i)), n);
        ck_assert_uint_eq(swift_node_count(n), (size_t)count);
        for (int64_t i = 0; i < count; i++)
            ck_assert_int_eq(swift_node_get_index(swift_node_child(n, (size_t)i)), i);
        ck_assert_ptr_null(swift_node_child(n, (size_t)count));
        ck_assert_int_eq(swift_node_get_index(swift_node_last(n)), count ? count - 1 : 0);
        swift_node_reverse(n, 1);
        if (count > 2) {
            ck_assert_int_eq(swift_node_get_index(swift_node_child(n, 0)), 0);
            ck_assert_int_eq(swift_node_get_index(swift_node_child(n, 1)), count - 1);
        }
        swift_node_remove(n, 0);
        ck_assert_uint_eq(swift_node_count(n), count ? (size_t)count - 1 : 0);
    }
    swift_arena_done(&a);
}
END_TEST

START_TEST(a_missing_child_is_a_missing_node)
{
    struct swift_arena a;
    swift_arena_init(&a);
    struct swift_node *leaf = swift_node_str(&a, SK_Identifier, "x");
    ck_assert_ptr_null(swift_node1(&a, SK_Type, NULL));
    ck_assert_ptr_null(swift_node2(&a, SK_Type, leaf, NULL));
    ck_assert_ptr_null(swift_node2(&a, SK_Type, NULL, leaf));
    ck_assert_ptr_null(swift_node3(&a, SK_Type, leaf, NULL, leaf));
    ck_assert_ptr_null(swift_node4(&a, SK_Type, leaf, leaf, leaf, NULL));
    ck_assert_ptr_null(swift_node_add(&a, NULL, leaf));
    ck_assert_ptr_null(swift_node_add(&a, leaf, leaf)); /* a text has no children */
    ck_assert_ptr_null(swift_node_as(&a, NULL, SK_Module));
    ck_assert_uint_eq(swift_node_count(NULL), 0);
    ck_assert_ptr_null(swift_node_child(NULL, 0));
    ck_assert_ptr_null(swift_node_last(leaf));
    swift_node_reverse(NULL, 0);
    swift_node_remove(NULL, 0);
    swift_arena_done(&a);
}
END_TEST

START_TEST(a_copy_has_the_same_payload)
{
    struct swift_arena a;
    swift_arena_init(&a);
    struct swift_node *text = swift_node_as(&a, swift_node_str(&a, SK_Identifier, "x"), SK_Module);
    ck_assert(swift_node_says(text, SK_Module, "x"));
    ck_assert(!swift_node_says(text, SK_Module, "xy"));
    ck_assert(!swift_node_says(text, SK_Identifier, "x"));
    struct swift_node *index = swift_node_as(&a, swift_node_index(&a, SK_Index, -7), SK_Number);
    ck_assert_int_eq(swift_node_get_index(index), -7);
    struct swift_node *list = swift_node3(&a, SK_TypeList, text, index, text);
    struct swift_node *copy = swift_node_as(&a, list, SK_Tuple);
    ck_assert_uint_eq(swift_node_count(copy), 3);
    ck_assert_ptr_eq(swift_node_child(copy, 1), index);
    ck_assert_ptr_eq(swift_node_find(copy, SK_Number), index);
    ck_assert_ptr_null(swift_node_find(copy, SK_Class));
    swift_arena_done(&a);
}
END_TEST

/* The mark of a child must be one that exists in the node kinds that use it. */
START_TEST(texts_have_known_marks)
{
    for (int k = 0; k < SK_COUNT; k++) {
        for (const char *s = swift_kind_text[k]; s && (s = strchr(s, '%')); s += 2)
            ck_assert_msg(strchr("0123*,&.tiu", s[1]) && s[1], "%s", swift_kind_text[k]);
    }
}
END_TEST

UNIT_MAIN("demangle_swift_node", the_arena_has_a_cap, sizes_that_cannot_be_are_refused,
          allocations_do_not_overlap, children_keep_their_order, a_missing_child_is_a_missing_node,
          a_copy_has_the_same_payload, texts_have_known_marks)
