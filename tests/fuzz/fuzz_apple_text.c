/*
 * fuzz_apple_text - any bytes are a crash text, and may be an .ips file. Lines are the text, nothing
 * more and nothing less; what they say lies inside them; without symbols the text comes back as it
 * was.
 */
#include "server/http/fill_text.h"
#include "server/ingest/apple_text.h"
#include "server/ingest/format_ips.h"
#include "tests/fuzz/fuzz.h"

static bool locate(void *ctx, const struct uuid *uuid, char *path, size_t size)
{
    (void)ctx;
    (void)uuid;
    (void)path;
    (void)size;
    return false;
}

static bool inside(struct text_span outer, struct text_span inner)
{
    return inner.len == 0 || (inner.s >= outer.s && inner.s + inner.len <= outer.s + outer.len);
}

static bool walk(const struct apple_text *text, enum text_callers callers)
{
    struct apple_lines lines;
    struct text_line l;
    size_t at = 0;
    bool lists = false;
    apple_lines_begin(&lines, text, callers);
    while (apple_lines_next(&lines, &l)) {
        REQUIRE(l.text.s == text->text.s + at && l.eol.s == l.text.s + l.text.len);
        REQUIRE(lines.process < text->process_count);
        REQUIRE(text->processes[lines.process].start <= at);
        at += l.text.len + l.eol.len;
        REQUIRE(l.form == TEXT_OTHER ||
                (inside(l.text, l.cut) && inside(l.text, l.image) && inside(l.text, l.function) &&
                 l.cut.s >= l.text.s && l.cut.s <= l.text.s + l.text.len));
        lists = lists || l.form == TEXT_LIST;
    }
    REQUIRE(at == text->text.len);
    return lists;
}

static void fill(const struct apple_text *text, bool lists)
{
    static struct symbolizer *symbolizer;
    struct fill_stats stats;
    struct error err;
    struct buf out;
    if (!symbolizer)
        symbolizer = symbolizer_new(
            index_cache_new((struct index_locator){.locate = locate}, 16, 1024), 1024);
    buf_init(&out, (size_t)64 << 20);
    REQUIRE(fill_text(text, CALLERS_BY_FORM, symbolizer, NULL, &out, &stats, &err) == ERR_OK);
    REQUIRE(stats.filled == 0);
    REQUIRE(lists || (out.len == text->text.len &&
                      (out.len == 0 || memcmp(out.data, text->text.s, out.len) == 0)));
    buf_done(&out);
}

static void exercise(const char *s, size_t len)
{
    struct apple_text text;
    struct error err;
    struct arena arena;
    arena_init(&arena, (size_t)64 << 20);
    if (apple_text_read(s, len, &arena, &text, &err) == ERR_OK) {
        REQUIRE(text.process_count > 0 && text.processes[0].start == 0);
        (void)walk(&text, CALLERS_RETURN);
        fill(&text, walk(&text, CALLERS_BY_FORM));
    }
    arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf translated;
    struct error err;
    exercise((const char *)data, size);
    buf_init(&translated, (size_t)16 << 20);
    if (ips_is((const char *)data, size) &&
        ips_to_text((const char *)data, size, &translated, &err) == ERR_OK)
        exercise(translated.data, translated.len);
    buf_done(&translated);
    return 0;
}
