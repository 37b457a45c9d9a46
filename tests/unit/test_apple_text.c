/* Covers: server/ingest/apple_line.c */
#include "server/ingest/apple_text.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/unit.h"

static struct arena arena;
static struct apple_text text;
static struct apple_lines lines;

static void read_text(const char *s, size_t len, enum text_callers callers)
{
    struct error err = {0};
    arena_init(&arena, (size_t)64 << 20);
    ck_assert_msg(apple_text_read(s, len, &arena, &text, &err) == ERR_OK, "%s", err.text);
    apple_lines_begin(&lines, &text, callers);
}

/* "form kind address|image|function|cut" of each frame, one a line. */
static const char *describe(const char *s, enum text_callers callers)
{
    static char out[8192];
    static const char *const forms[] = {"other", "crash", "list", "sample", "spindump"};
    struct text_line l;
    size_t n = 0;
    out[0] = 0;
    read_text(s, strlen(s), callers);
    while (apple_lines_next(&lines, &l)) {
        if (l.form == TEXT_OTHER)
            continue;
        n += (size_t)snprintf(out + n, sizeof(out) - n, "%s %s 0x%llx|%.*s|%.*s|%.*s%s\n",
                              forms[l.form], frame_kind_name(l.kind), (unsigned long long)l.address,
                              (int)l.image.len, l.image.s, (int)l.function.len, l.function.s,
                              (int)l.cut.len, l.cut.s, l.has_source ? "|source" : "");
    }
    arena_done(&arena);
    return out;
}

static void expect(const char *s, const char *want)
{
    ck_assert_str_eq(describe(s, CALLERS_BY_FORM), want);
}

START_TEST(crash_lines)
{
    expect("Thread 0 Crashed:\n"
           "0   Shop    \t 0x10e311e45 0x10e30e000 + 15941\n"
           "1   Shop    \t 0x10e311e80 0x10e30e000 + 16000  \n"
           "2   dyld    \t 0x11beb451e start + 462\n",
           "crash leaf 0x10e311e45|Shop||0x10e30e000 + 15941\n"
           "crash return 0x10e311e80|Shop||0x10e30e000 + 16000\n"
           "crash return 0x11beb451e|dyld|start|start + 462\n");
    /* Blanks in names, nothing after the address, unknown places, what was filled in before. */
    expect("13 Electron Framework 0x000000010cfa931d node::binding::get(char const*) + 3549\n"
           "14  Mein Lädchen  0x0000000108b702a6\n"
           "2   ???                                 0x0000000054485244 0x0 + 0\n"
           "16 ??? 0x0000004c000b23b8 0 + 326418244536\n"
           "13  Shop                       0x00000000000ea004 main (main.m:16)\n"
           "1   Shop   0x10e311e80 main (in Shop) (main.m:28)\n"
           "1   Shop   0x10e311e80 inner (Feed.swift:7) [inlined]\n"
           "1   Shop   0x10e311e80 -[Feed reload:] (in Shop) + 24\n"
           "1   Shop   0x10e311e80 ???\n",
           "crash return 0x10cfa931d|Electron Framework|node::binding::get(char const*)|"
           "node::binding::get(char const*) + 3549\n"
           "crash return 0x108b702a6|Mein Lädchen||\n"
           "crash return 0x54485244|???||0x0 + 0\n"
           "crash return 0x4c000b23b8|???||0 + 326418244536\n"
           "crash return 0xea004|Shop|main|main (main.m:16)|source\n"
           "crash return 0x10e311e80|Shop|main|main (in Shop) (main.m:28)|source\n"
           "crash return 0x10e311e80|Shop|inner (Feed.swift:7) [inlined]|inner (Feed.swift:7) "
           "[inlined]|source\n"
           "crash return 0x10e311e80|Shop|-[Feed reload:]|-[Feed reload:] (in Shop) + 24\n"
           "crash return 0x10e311e80|Shop||???\n");
}
END_TEST

START_TEST(kinds_of_crash_frames)
{
    static const char crash[] = "Last Exception Backtrace:\n"
                                "0   CoreFoundation 0x1 a + 1\n"
                                "1   Shop 0x2 0x0 + 1\n"
                                "\n"
                                "Thread 0 Crashed:\n"
                                "0   libsystem_c.dylib 0x3 abort + 1\n"
                                "1   libsystem_platform.dylib 0x4 _sigtramp + 56\n"
                                "2   Shop 0x5 0x0 + 1\n"
                                "3   Shop 0x6 0x0 + 1\n";
    expect(crash, "crash return 0x1|CoreFoundation|a|a + 1\n"
                  "crash return 0x2|Shop||0x0 + 1\n"
                  "crash leaf 0x3|libsystem_c.dylib|abort|abort + 1\n"
                  "crash return 0x4|libsystem_platform.dylib|_sigtramp|_sigtramp + 56\n"
                  "crash exact 0x5|Shop||0x0 + 1\n"
                  "crash return 0x6|Shop||0x0 + 1\n");
    ck_assert_ptr_nonnull(strstr(describe(crash, CALLERS_EXACT), "crash exact 0x6"));
}
END_TEST

START_TEST(lists)
{
    expect("Last Exception Backtrace:\n(0x18a98520c 0x1022364bc\t0x5)\n",
           "list return 0x0|||0x18a98520c 0x1022364bc\t0x5\n");
    expect("(0x18a98520c sp)\n(0x1\n(0xg)\n()\n", "");
    struct text_span list = text_span_of("0x18a98520c 0x10 ", 17);
    uint64_t a;
    ck_assert(apple_list_next(&list, &a) && a == 0x18a98520c);
    ck_assert(apple_list_next(&list, &a) && a == 0x10);
    ck_assert(!apple_list_next(&list, &a));
}
END_TEST

static const char SAMPLE[] =
    "Call graph:\n"
    "    2397 Thread_16614365   DispatchQueue_1: com.apple.main-thread  (serial)\n"
    "    + 2397 start  (in dyld) + 462  [0x111e8b51e]\n"
    "    +   2390 ???  (in Shop)  load address 0x10cd17000 + 0x3e30  [0x10cd1ae30]\n"
    "    +   ! 2390 -[Feed(Cache) reload:]  (in Shop Helper (Renderer)) + 3  [0x10cd1ae31,0x5]\n"
    "    +   7 main  (in Shop) + 294  [0x10e3817e6]  main.cc:276\n"
    "    +   7 main (in Shop) (main.m:39) [0x10cd1ae30]\n"
    "    +     7 ???  [0x4800047383]\n"
    "Sort by top of stack:\n"
    "        __psynch_mutexwait  (in libsystem_kernel.dylib)        2397\n"
    "        ???  (in Shop)  load address 0x10cd17000 + 0x3def  [0x10cd1adef]        12\n";

START_TEST(samples)
{
    expect(SAMPLE,
           "sample exact 0x111e8b51e|dyld|start|start  (in dyld) + 462  \n"
           "sample exact 0x10cd1ae30|Shop||???  (in Shop)  load address 0x10cd17000 + 0x3e30  \n"
           "sample exact 0x10cd1ae31|Shop Helper (Renderer)|-[Feed(Cache) reload:]|-[Feed(Cache) "
           "reload:]  (in Shop Helper (Renderer)) + 3  \n"
           "sample exact 0x10e3817e6|Shop|main|main  (in Shop) + 294  |source\n"
           "sample exact 0x10cd1ae30|Shop|main|main (in Shop) (main.m:39) |source\n"
           "spindump leaf 0x4800047383|||???\n"
           "sample exact 0x10cd1adef|Shop||???  (in Shop)  load address 0x10cd17000 + 0x3def  \n");
    ck_assert_ptr_nonnull(strstr(describe(SAMPLE, CALLERS_RETURN), "sample return 0x111e8b51e"));
    ck_assert_ptr_nonnull(strstr(describe(SAMPLE, CALLERS_RETURN), "sample leaf 0x10cd1ae31"));
}
END_TEST

static const char SPINDUMP[] =
    "PID:              7\n"
    "Heaviest stack for the main thread of the target process:\n"
    "  49  start + 462 (dyld + 21806) [0x115b4652e]\n"
    "  49  Shop_main + 9 (Shop.swift:31,1 in Shop + 17460153) [0x10772dbb9]\n"
    " *1   ??? (kernel + 1113914) [0xffffff800031ff3a]\n"
    "\n"
    "Process:          other [6]\n"
    "  Thread 0x1    DispatchQueue \"com.apple.main-thread\"(1)    49 samples (1-49)\n"
    "  49  start + 462 (dyld + 21806) [0x115b4652e] 1-49\n"
    "    48  ??? (Shop Helper (GPU) + 1234) [0x10772dbb9] 1-48 (running)\n"
    "    1   ??? (<9D233F9C-ABAB-3B54-B675-07FAF65FBFB9> + 16) [0x109853c2c]\n"
    "     *1   ??? (<84FA5857-FE25-36F6-ACB0-828CE29EC10F> + 4970440) [0xfffffff0081f57c8] "
    "(blocked by turnstile waiting for NNIM [3715] thread 0xf1aeb)\n"
    "      1  <patched truncated backtrace>\n"
    "  Binary Images:\n"
    "       0x107000000 -                ???  other       <70CFDCC9-8CE5-37C8-B428-9C01403E01D8>  "
    "/bin/other\n"
    "Process:          Shop [7]\n"
    "  9  a (Shop + 1) [0x107000001]\n"
    "  Binary Images:\n"
    "       0x108000000 -        0x108ffffff  com.example.Shop 1.0 (7) "
    "<9D233F9C-ABAB-3B54-B675-07FAF65FBFB9>  /Applications/Shop.app/Shop\n"
    "   *0xffffff8000210000 - 0xffffff8000c0ffff  kernel (8020.121.3) "
    "<3C587984-4004-3C76-8ADF-997822977184>  /System/Library/Kernels/kernel\n"
    "Process:          late [8]\n"
    "  9  a (Shop + 1) [0x107000001]\n";

START_TEST(spindumps)
{
    expect(SPINDUMP,
           "spindump return 0x115b4652e|dyld|start|start + 462 (dyld + 21806)\n"
           "spindump return 0x10772dbb9|Shop|Shop_main|Shop_main + 9 (Shop.swift:31,1 in Shop + "
           "17460153)|source\n"
           "spindump leaf 0xffffff800031ff3a|kernel||??? (kernel + 1113914)\n"
           "spindump return 0x115b4652e|dyld|start|start + 462 (dyld + 21806)\n"
           "spindump leaf 0x10772dbb9|Shop Helper (GPU)||??? (Shop Helper (GPU) + 1234)\n"
           "spindump return 0x109853c2c|<9D233F9C-ABAB-3B54-B675-07FAF65FBFB9>||??? "
           "(<9D233F9C-ABAB-3B54-B675-07FAF65FBFB9> + 16)\n"
           "spindump leaf 0xfffffff0081f57c8|<84FA5857-FE25-36F6-ACB0-828CE29EC10F>||??? "
           "(<84FA5857-FE25-36F6-ACB0-828CE29EC10F> + 4970440)\n"
           "spindump leaf 0x107000001|Shop|a|a (Shop + 1)\n"
           "spindump leaf 0x107000001|Shop|a|a (Shop + 1)\n");
}
END_TEST

START_TEST(processes_have_their_images)
{
    read_text(SPINDUMP, sizeof(SPINDUMP) - 1, CALLERS_BY_FORM);
    ck_assert_uint_eq(text.process_count, 4);
    ck_assert_uint_eq(text.processes[1].image_count, 1);
    ck_assert_uint_eq(text.processes[1].images[0].load_address, 0x107000000);
    ck_assert_uint_eq(text.processes[1].images[0].size, 0);
    ck_assert_str_eq(text.processes[1].images[0].name, "other");
    ck_assert_uint_eq(text.processes[2].image_count, 2);
    ck_assert_str_eq(text.processes[2].images[0].name, "Shop");
    ck_assert_uint_eq(text.processes[2].images[0].size, 0x1000000);
    /* The preamble's are the target's, the last one has the list before it. */
    ck_assert_ptr_eq(text.processes[0].images, text.processes[2].images);
    ck_assert_ptr_eq(text.processes[3].images, text.processes[2].images);
    arena_done(&arena);
}
END_TEST

START_TEST(images)
{
    static const char crash[] =
        "Process:  Shop [1]\r\n0 Shop 0x1 0x0 + 1\r\n\r\nBinary Images:\r\n"
        "       0x10864e000 -        0x10ee0ffff +Shop x86_64 (400.9.4 - 1.0.0) "
        "<2d903291397d3d14bfca52c7fb8c5e00> /Users/b/Unreal Projects/Shop.app/Shop\r\n"
        "0x1000 - 0x2fff Old armv7  /var/x/Old\r\n"
        "\r\n"
        "               0x0 - 0xffffffffffffffff ??? (*) <00000000-0000-0000-0000-000000000000> "
        "???\r\n"
        "0x3000 - 0x3fff No Path arm64e  <0285884d3de93051b23a63b48bf99f35>\r\n"
        "0x5000 - 0x4fff Upside (1) <0285884d3de93051b23a63b48bf99f35> /x/Down\r\n"
        "External Modification Summary:\r\n"
        "0x7000 - 0x7fff After arm64  <0285884d3de93051b23a63b48bf99f35> /x/After\r\n";
    read_text(crash, sizeof(crash) - 1, CALLERS_BY_FORM);
    static const struct {
        const char *name;
        uint64_t start, size;
        bool uuid;
    } want[] = {{"Shop", 0x10864e000, 0x67c2000, true},
                {"Old", 0x1000, 0x2000, false},
                {"No Path", 0x3000, 0x1000, true},
                {"Down", 0x5000, 0, true}};
    ck_assert_uint_eq(text.process_count, 1);
    ck_assert_uint_eq(text.processes[0].pid, 1);
    ck_assert_uint_eq(text.processes[0].image_count, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct image_entry *e = &text.processes[0].images[i];
        ck_assert_str_eq(e->name, want[i].name);
        ck_assert_uint_eq(e->load_address, want[i].start);
        ck_assert_uint_eq(e->size, want[i].size);
        ck_assert_int_eq(!uuid_is_nil(&e->uuid), want[i].uuid);
    }
    arena_done(&arena);
}
END_TEST

/* Two crash texts in one file: each has the images that follow it. */
START_TEST(texts_one_after_the_other)
{
    static const char two[] = "0 a 0x1 0x0 + 1\nBinary Images:\n0x0 - 0xfff a <"
                              "0285884d3de93051b23a63b48bf99f35> /a\n"
                              "0 b 0x1 0x0 + 1\nBinary Images:\n0x0 - 0xfff b <"
                              "0285884d3de93051b23a63b48bf99f36> /b\n";
    struct text_line l;
    read_text(two, sizeof(two) - 1, CALLERS_BY_FORM);
    ck_assert_uint_eq(text.process_count, 2);
    ck_assert(apple_lines_next(&lines, &l));
    ck_assert_str_eq(text.processes[lines.process].images[0].name, "a");
    while (!text_starts(l.text, "0 b"))
        ck_assert(apple_lines_next(&lines, &l));
    ck_assert_str_eq(text.processes[lines.process].images[0].name, "b");
    arena_done(&arena);
}
END_TEST

/* Every byte of a text is in exactly one line, whatever the text. */
START_TEST(lines_are_the_text)
{
    static const char *const texts[] = {"",    "\n",           "\r\n", "a",
                                        "a\r", "a\r\nb\n\n\r", SAMPLE, SPINDUMP};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct text_line l;
        size_t at = 0, len = strlen(texts[i]);
        read_text(texts[i], len, CALLERS_BY_FORM);
        while (apple_lines_next(&lines, &l)) {
            ck_assert_ptr_eq(l.text.s, texts[i] + at);
            ck_assert_ptr_eq(l.eol.s, l.text.s + l.text.len);
            at += l.text.len + l.eol.len;
        }
        ck_assert_uint_eq(at, len);
        ck_assert_int_eq(text.has_frames, len > 20);
        arena_done(&arena);
    }
}
END_TEST

static char *repeat(const char *head, const char *one, size_t times, size_t *ret_len)
{
    size_t head_len = strlen(head), len = strlen(one);
    char *s = malloc(head_len + len * times + 1);
    ck_assert_ptr_nonnull(s);
    memcpy(s, head, head_len + 1);
    for (size_t i = 0; i < times; i++)
        memcpy(s + head_len + i * len, one, len + 1);
    *ret_len = head_len + len * times;
    return s;
}

START_TEST(caps)
{
    struct error err;
    size_t len;
    char *s = repeat("Binary Images:\n", "0x1 - 0x2 a <0285884d3de93051b23a63b48bf99f35> /a\n",
                     APPLE_TEXT_IMAGES_MAX + 1, &len);
    arena_init(&arena, (size_t)64 << 20);
    ck_assert_int_eq(apple_text_read(s, len, &arena, &text, &err), ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.text, "65536 images"));
    len -= strlen("0x1 - 0x2 a <0285884d3de93051b23a63b48bf99f35> /a\n");
    arena_reset(&arena);
    ck_assert_int_eq(apple_text_read(s, len, &arena, &text, &err), ERR_OK);
    free(s);
    s = repeat("", "Process: a [1]\n0 a 0x1 b\n", APPLE_TEXT_PROCESSES_MAX + 1, &len);
    arena_reset(&arena);
    ck_assert_int_eq(apple_text_read(s, len, &arena, &text, &err), ERR_LIMIT);
    free(s);
    /* A line too long is none of ours. */
    s = repeat("0 a 0x1 b", "b", APPLE_TEXT_LINE_MAX, &len);
    arena_reset(&arena);
    ck_assert_int_eq(apple_text_read(s, len, &arena, &text, &err), ERR_OK);
    ck_assert(!text.has_frames);
    s[APPLE_TEXT_LINE_MAX] = '\n';
    ck_assert_int_eq(apple_text_read(s, len, &arena, &text, &err), ERR_OK);
    ck_assert(text.has_frames);
    free(s);
    arena_done(&arena);
}
END_TEST

UNIT_MAIN("apple_text", crash_lines, kinds_of_crash_frames, lists, samples, spindumps,
          processes_have_their_images, images, texts_one_after_the_other, lines_are_the_text, caps)
