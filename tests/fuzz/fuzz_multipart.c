/*
 * fuzz_multipart - any bytes are a form. Parsed twice, in pieces of one size and in pieces of
 * another with data taken little by little: both have to see the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "server/http/multipart.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum err parse(const uint8_t *data, size_t size, size_t piece, size_t most, struct buf *seen)
{
    struct multipart *m = NULL;
    struct error err;
    enum err rc = multipart_new("AaB", &m, &err);
    size_t at = 0, steps = 0;
    while (rc == ERR_OK && at < size) {
        struct multipart_item item;
        size_t used = 0, n = size - at < piece ? size - at : piece;
        if (steps++ > 4 * size + 100)
            abort(); /* no progress */
        rc = multipart_step(m, data + at, n, &used, &item, &err);
        if (rc != ERR_OK)
            break;
        if (used > n)
            abort();
        at += used;
        if (item.kind == MULTIPART_DATA) {
            size_t take = item.len < most ? item.len : most;
            buf_put(seen, item.data, take);
            at -= multipart_untake(m, &item, item.len - take);
        } else if (item.kind == MULTIPART_PART) {
            buf_printf(seen, "\x01%s\x02%s\x03", item.name, item.filename ? item.filename : "");
        } else if (item.kind == MULTIPART_PART_END) {
            buf_putc(seen, 4);
        }
    }
    if (rc == ERR_OK && multipart_is_over(m))
        buf_putc(seen, 5);
    multipart_free(m);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf one, two;
    buf_init(&one, 1 << 24);
    buf_init(&two, 1 << 24);
    enum err a = parse(data, size, size ? size : 1, SIZE_MAX, &one);
    enum err b = parse(data, size, 3, 2, &two);
    if (a != b)
        abort();
    if (a == ERR_OK && (one.len != two.len || (one.len && memcmp(one.data, two.data, one.len))))
        abort();
    buf_done(&one);
    buf_done(&two);
    return 0;
}
