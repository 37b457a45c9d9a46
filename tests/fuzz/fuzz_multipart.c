/*
 * fuzz_multipart - any bytes are a form.
 *
 * The first byte is the size of the pieces. What must hold: a body in pieces gives what it gives as
 * a whole - parts, their names, their bytes, and the same refusal - also when a reader hands back
 * what it cannot take yet.
 */
#include "base/buf.h"
#include "server/http/multipart.h"
#include "tests/fuzz/fuzz.h"

struct outcome {
    struct buf told; /* parts and their data, in an unambiguous form */
    enum err rc;
    bool over;
};

static void tell(struct outcome *o, const struct multipart_item *item, size_t *data_at)
{
    switch (item->kind) {
    case MULTIPART_NONE:
        break;
    case MULTIPART_PART:
        REQUIRE(item->name && strlen(item->name) < MULTIPART_NAME_MAX);
        buf_printf(&o->told, "\n[part %s|%s]\n", item->name,
                   item->filename ? item->filename : "(none)");
        *data_at = o->told.len;
        break;
    case MULTIPART_DATA:
        buf_put(&o->told, item->data, item->len);
        break;
    case MULTIPART_PART_END:
        buf_printf(&o->told, "\n[end %zu]\n", o->told.len - *data_at);
        break;
    }
}

static void parse(const uint8_t *data, size_t size, size_t piece, bool untake, struct outcome *o)
{
    struct multipart *m = NULL;
    struct multipart_item item;
    struct error err = {.code = ERR_OK};
    size_t at = 0, end = 0, steps = 0, idle = 0, data_at = 0;
    REQUIRE(multipart_new("b-1", &m, NULL) == ERR_OK);
    buf_init(&o->told, (size_t)1 << 24);
    o->rc = ERR_OK;
    while (o->rc == ERR_OK && (at < size || end < size)) {
        size_t used = 0;
        if (at == end)
            end = size - end < piece ? size : end + piece;
        o->rc = multipart_step(m, data + at, end - at, &used, &item, &err);
        REQUIRE(used <= end - at);
        if (o->rc != ERR_OK)
            break;
        at += used;
        if (untake && item.kind == MULTIPART_DATA && item.len > 1 && ++steps % 2) {
            at -= multipart_untake(m, &item, item.len / 2);
            item.len -= item.len / 2;
        }
        idle = used > 0 || item.kind != MULTIPART_NONE ? 0 : idle + 1;
        REQUIRE(idle <= 1); /* what looked like a delimiter waits to be handed out */
        tell(o, &item, &data_at);
    }
    do { /* what waits in the parser */
        size_t used = 0;
        item.kind = MULTIPART_NONE;
        if (o->rc == ERR_OK)
            o->rc = multipart_step(m, data, 0, &used, &item, &err);
        tell(o, &item, &data_at);
    } while (o->rc == ERR_OK && item.kind != MULTIPART_NONE);
    REQUIRE(o->rc == ERR_OK || (err.code == o->rc && err.text[0]));
    o->over = multipart_is_over(m);
    multipart_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct outcome whole, pieces;
    if (size < 1)
        return 0;
    size_t piece = (size_t)(data[0] & 0x7f) + 1;
    bool untake = data[0] & 0x80;
    data++;
    size--;
    parse(data, size, size + 1, false, &whole);
    parse(data, size, piece, untake, &pieces);
    REQUIRE(whole.rc == pieces.rc && whole.over == pieces.over);
    if (whole.rc == ERR_OK) {
        REQUIRE(whole.told.len == pieces.told.len);
        REQUIRE(!whole.told.len || !memcmp(whole.told.data, pieces.told.data, whole.told.len));
    }
    buf_done(&whole.told);
    buf_done(&pieces.told);
    return 0;
}
