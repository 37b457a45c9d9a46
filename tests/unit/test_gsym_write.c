/* Covers: symbolizer/gsym_encode.c symbolizer/gsym_sink.c */
#include "symbolizer/gsym_write.h"

#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "symbolizer/gsym_format.h"
#include "symbolizer/gsym_sink.h"
#include "tests/support/dwarf_bytes.h"
#include "tests/support/index_of.h"
#include "tests/support/unit.h"

#define GLOBAL ((STB_GLOBAL << 4) | STT_FUNC)
#define LOCAL  ((STB_LOCAL << 4) | STT_FUNC)

static uint64_t number(const struct mapped *m, size_t at, unsigned size)
{
    uint64_t v = 0;
    ck_assert_uint_le(at + size, m->size);
    memcpy(&v, m->data + at, size);
    return v;
}

static void make(struct dwarf_bytes *b, const struct elf_builder_symbol *symbols, uint32_t count,
                 struct index_of *ret)
{
    dwarf_bytes_init(b);
    dwarf_bytes_open(b, symbols, count);
    ck_assert_msg(index_object(b->object, NULL, ret), "%s", ret->error.text);
}

START_TEST(header_blocks_and_footer)
{
    static const struct elf_builder_symbol symbols[] = {
        {"_ZN3net4pollEi", GLOBAL, 0, CODE, 0x10},
        {"plain", GLOBAL, 0, CODE + 0x10, 0x10},
        {"tick", LOCAL, 0, CODE + 0x20, 0x10},
    };
    struct dwarf_bytes b;
    struct index_of i;
    struct mapped m;
    make(&b, symbols, 3, &i);
    ck_assert(index_bytes(&i, &m));
    ck_assert_uint_eq(number(&m, 0, 4), GSYM_MAGIC);
    ck_assert_uint_eq(number(&m, 4, 2), GSYM_VERSION);
    ck_assert_uint_eq(number(&m, 6, 1), 2);  /* offsets up to 0x1020 take two bytes */
    ck_assert_uint_eq(number(&m, 7, 1), 20); /* the whole build-id */
    ck_assert_uint_eq(number(&m, 8, 8), 0x400000);
    ck_assert_uint_eq(number(&m, 16, 4), 3);
    ck_assert_int_eq(memcmp(m.data + 28, "\1\2\3\4\5\6\7\10", 8), 0);
    ck_assert_uint_eq(number(&m, 48, 2), 0x1000);
    ck_assert_uint_eq(number(&m, 52, 2), 0x1020);
    uint64_t strings = number(&m, 20, 4), size = number(&m, 24, 4);
    ck_assert_uint_eq(m.data[strings], 0);
    ck_assert_uint_eq(m.data[strings + size - 1], 0);
    size_t footer = m.size - GSYM_FOOTER_SIZE;
    ck_assert_uint_eq(number(&m, footer, 4), GSYM_FOOTER_MAGIC);
    ck_assert_uint_eq(number(&m, footer + 4, 2), GSYM_FOOTER_VERSION);
    ck_assert_uint_eq(number(&m, footer + 6, 2), 0);
    ck_assert_uint_eq(number(&m, footer + 12, 8), 0x400000);
    ck_assert_uint_eq(number(&m, footer + 28, 4), crc32(0, m.data, (uInt)(m.size - 4)));
    uint64_t blocks = number(&m, footer + 8, 4);
    ck_assert_uint_eq(blocks % 4, 0);
    ck_assert_uint_ge(blocks, strings + size);
    ck_assert_uint_eq(number(&m, blocks, 4), size - sizeof("tick")); /* local ones come last */
    ck_assert_uint_eq(footer, blocks + 4);
    struct gsym_frame f;
    char display[GSYM_DISPLAY_MAX];
    ck_assert_uint_eq(gsym_lookup(i.gsym, CODE, &f, 1), 1);
    ck_assert_str_eq(f.name, "_ZN3net4pollEi");
    ck_assert_str_eq(gsym_frame_display(&f, display), "net::poll(int)");
    ck_assert(!f.local);
    ck_assert_uint_eq(gsym_lookup(i.gsym, CODE + 0x2f, &f, 1), 1);
    ck_assert_ptr_eq(gsym_frame_display(&f, display), f.name);
    ck_assert_str_eq(f.name, "tick");
    ck_assert(f.local);
    unmap_file(&m);
    index_of_done(&i);
    dwarf_bytes_done(&b);
}
END_TEST

START_TEST(nothing_is_left_of_a_failure)
{
    struct dwarf_bytes b;
    struct debug_info *d = NULL;
    struct error error;
    uint64_t size = 77;
    char folder[64], path[128];
    dwarf_bytes_init(&b);
    dwarf_bytes_open(&b, NULL, 0);
    scratch_make(folder, sizeof(folder));
    snprintf(path, sizeof(path), "%s/x.gsym", folder);
    ck_assert_int_eq(debug_info_build(b.object, NULL, &d, &error), ERR_OK);
    /* Without functions it is an index that answers nothing. */
    struct gsym *g = NULL;
    struct gsym_frame frame;
    ck_assert_int_eq(gsym_write(d, object_info(b.object), path, &size, &error), ERR_OK);
    ck_assert_int_eq(gsym_open(path, &g, &error), ERR_OK);
    ck_assert_int_eq(gsym_check(g, &error), ERR_OK);
    ck_assert_uint_eq(gsym_info(g)->functions, 0);
    ck_assert_uint_eq(gsym_lookup(g, gsym_info(g)->text_vmaddr, &frame, 1), 0);
    gsym_close(g);
    remove(path);
    size = 77;
    debug_info_free(d);
    dwarf_bytes_done(&b);

    static const struct elf_builder_symbol symbols[] = {{"f", GLOBAL, 0, CODE, 0x10}};
    dwarf_bytes_init(&b);
    dwarf_bytes_open(&b, symbols, 1);
    ck_assert_int_eq(debug_info_build(b.object, NULL, &d, &error), ERR_OK);
    snprintf(path, sizeof(path), "%s/no/such/folder.gsym", folder);
    ck_assert_int_eq(gsym_write(d, object_info(b.object), path, &size, &error), ERR_IO);
    /* A file that may not grow says so when it is written to. */
    const struct rlimit limit = {64, 64};
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    snprintf(path, sizeof(path), "%s/x.gsym", folder);
    ck_assert_int_eq(gsym_write(d, object_info(b.object), path, &size, &error), ERR_LIMIT);
    ck_assert_ptr_null(strstr(error.text, folder)); /* it is told to who uploaded */
    ck_assert_uint_eq(size, 77);
    ck_assert_uint_eq(count_files(folder), 0);
    debug_info_free(d);
    dwarf_bytes_done(&b);
    scratch_remove(folder);
}
END_TEST

START_TEST(a_sink_counts_what_it_writes)
{
    struct gsym_sink s;
    struct buf head;
    struct mapped m;
    struct error error;
    char folder[64], path[128];
    uint64_t size = 0;
    static char many[700000];
    memset(many, 'x', sizeof(many));
    scratch_make(folder, sizeof(folder));
    snprintf(path, sizeof(path), "%s/sink", folder);
    buf_init(&head, 100);
    buf_put(&head, "12345", 5);
    ck_assert(!gsym_sink_open(&s, path, 5, &error));
    buf_put(&s.piece, "ab", 2);
    ck_assert_uint_eq(gsym_sink_at(&s), 7);
    gsym_sink_align(&s, 4);
    gsym_sink_put(&s, many, sizeof(many));
    gsym_sink_put(&s, "end", 3);
    uint32_t crc = gsym_sink_crc(&s, &head);
    ck_assert(!gsym_sink_finish(&s, &head, &size, &error));
    ck_assert_uint_eq(size, 5 + 3 + sizeof(many) + 3);
    ck_assert(map_file(path, &m));
    ck_assert_uint_eq(m.size, size);
    ck_assert_int_eq(memcmp(m.data, "12345ab\0xx", 10), 0);
    ck_assert_uint_eq(crc, crc32(0, m.data, (uInt)m.size));
    unmap_file(&m);
    ck_assert(!gsym_sink_open(&s, path, 5, &error));
    gsym_sink_abort(&s);
    gsym_sink_abort(&s);
    ck_assert_uint_eq(count_files(folder), 0);
    /* A name that is no regular file is refused and stays. */
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(gsym_sink_open(&s, path, 5, &error), ERR_INVALID);
    ck_assert_int_eq(access(path, F_OK), 0);
    buf_done(&head);
    scratch_remove(folder);
}
END_TEST

/* What LLVM's reader says of an address: the answer of index_answer, taken from its text. */
static void llvm_answer(const char *tool, const char *path, uint64_t address, char out[CHAIN_SIZE])
{
    char command[512], line[4096];
    size_t used = 0;
    snprintf(command, sizeof(command), "%s '%s' --address=0x%lx 2>/dev/null", tool, path,
             (unsigned long)address);
    FILE *f = popen(command, "r");
    ck_assert_ptr_nonnull(f);
    out[0] = 0;
    while (fgets(line, sizeof(line), f)) {
        char *name = line + (strncmp(line, "0x", 2) == 0 ? 20 : strspn(line, " "));
        char *place = strstr(name, " @ ");
        if (strncmp(line, "Looking", 7) == 0 || strstr(line, "error:") || strlen(name) < 3)
            continue;
        unsigned number_of_line = 0;
        name[strcspn(name, "\n")] = 0;
        const char *base = "";
        if (place) {
            char *colon = strrchr(place, ':');
            const char *slash = strrchr(place, '/');
            ck_assert_ptr_nonnull(colon);
            number_of_line = (unsigned)strtoul(colon + 1, NULL, 10);
            *colon = 0;
            base = slash ? slash + 1 : place + 3;
            *place = 0;
        }
        char *plus = strstr(name, " + ");
        if (plus)
            *plus = 0;
        used += (size_t)snprintf(out + used, CHAIN_SIZE - used, "%s%s %s:%u", used ? " <- " : "",
                                 name, base, number_of_line);
    }
    pclose(f);
}

START_TEST(llvm_reads_what_we_write)
{
    static const char *const tools[] = {"llvm-gsymutil", "llvm-gsymutil-19", "llvm-gsymutil-14"};
    const char *tool = NULL;
    char command[128], path[1024], ours[CHAIN_SIZE], theirs[CHAIN_SIZE];
    struct index_of i;
    for (size_t k = 0; k < 3; k++) {
        snprintf(command, sizeof(command), "command -v %s >/dev/null", tools[k]);
        FILE *f = popen(command, "r");
        if (f && pclose(f) == 0)
            tool = tools[k];
    }
    if (!tool) {
        printf("skipped: no llvm-gsymutil\n");
        return;
    }
    if (!shared_data("symbols/macsymbolicator/CrashingTest.dSYM/Contents/Resources/DWARF/"
                     "CrashingTest",
                     path, sizeof(path)) ||
        !index_file(path, 0, NULL, &i))
        return;
    uint64_t base = gsym_info(i.gsym)->text_vmaddr;
    size_t compared = 0;
    for (uint64_t a = base; a < base + gsym_info(i.gsym)->text_size && compared < 150; a += 13) {
        if (!*index_answer(&i, a, ours))
            continue;
        llvm_answer(tool, i.path, a, theirs);
        ck_assert_str_eq(ours, theirs);
        compared++;
    }
    ck_assert_uint_gt(compared, 0);
    index_of_done(&i);
}
END_TEST

UNIT_MAIN("gsym_write", header_blocks_and_footer, nothing_is_left_of_a_failure,
          a_sink_counts_what_it_writes, llvm_reads_what_we_write)
