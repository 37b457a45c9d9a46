/*
 * fuzz_histogram - any bytes are a stored histogram.
 *
 * What must hold: buckets ascend, no count is 0, the total is their sum, equal contents encode to
 * equal bytes, taking away what was added leaves nothing, quantiles ascend.
 */
#include "base/buf.h"
#include "base/histogram.h"
#include "tests/fuzz/fuzz.h"

static void check_shape(const struct histogram *h)
{
    uint64_t total = 0;
    int64_t last = -1;
    for (size_t i = 0; i < h->count; i++) {
        REQUIRE(h->entries[i].bucket < HISTOGRAM_BUCKETS && h->entries[i].count > 0);
        REQUIRE(i == 0 || h->entries[i - 1].bucket < h->entries[i].bucket);
        total += h->entries[i].count;
        REQUIRE(total >= h->entries[i].count);
    }
    REQUIRE(total == h->total && (h->count == 0) == (total == 0));
    for (double q = 0; q <= 1; q += 0.125) {
        int64_t v = histogram_quantile(h, q);
        REQUIRE(v >= last && v <= HISTOGRAM_MAX_MS * 2 && (v == -1) == (h->count == 0));
        last = v;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct histogram h, other;
    struct buf out, again;
    histogram_init(&h);
    histogram_init(&other);
    buf_init(&out, 65536);
    buf_init(&again, 65536);
    if (histogram_add_encoded(&h, data, size)) {
        check_shape(&h);
        REQUIRE(histogram_encode(&h, &out));
        REQUIRE(histogram_add_encoded(&other, out.data, out.len));
        REQUIRE(histogram_encode(&other, &again));
        REQUIRE(out.len == again.len && (!out.len || !memcmp(out.data, again.data, out.len)));
        histogram_subtract(&h, &other);
        REQUIRE(h.count == 0 && h.total == 0);
    } else {
        REQUIRE(h.failed);
    }
    buf_done(&out);
    buf_done(&again);
    histogram_done(&h);
    histogram_done(&other);
    return 0;
}
