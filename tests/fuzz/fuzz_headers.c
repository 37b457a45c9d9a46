/*
 * fuzz_headers - any bytes are the value of a request header.
 *
 * Content-Type, Content-Encoding, Accept-Encoding and X-Forwarded-For in turn, and the list of
 * trusted proxies. What must hold: parameters fit their buffer, an address that is believed stands
 * in the header or is the peer's.
 */
#include "server/http/client_addr.h"
#include "server/http/inflate.h"
#include "server/http/media_type.h"
#include "tests/fuzz/fuzz.h"

static void check_media_type(const char *text)
{
    char value[16], longer[4096];
    memset(value, 'x', sizeof(value));
    (void)media_type_is(text, "application/json");
    bool fits = media_type_param(text, "boundary", value, sizeof(value));
    bool fits_longer = media_type_param(text, "boundary", longer, sizeof(longer));
    REQUIRE(!fits || (fits_longer && strcmp(value, longer) == 0));
    REQUIRE(!fits_longer || strlen(longer) < sizeof(longer));
}

static void check_forwarded(const char *text)
{
    struct proxy_list *l = NULL;
    struct client_addr peer, found;
    REQUIRE(proxy_list_new("10.0.0.0/8 ::1", &l, NULL) == ERR_OK);
    REQUIRE(client_addr_parse("10.1.2.3", 8, &peer));
    found = client_addr_find(l, &peer, text);
    REQUIRE(!proxy_list_has(l, &found) || memcmp(&found, &peer, sizeof(peer)) == 0 ||
            strchr(text, '.') || strchr(text, ':'));
    REQUIRE(client_addr_parse("192.0.2.1", 9, &peer));
    found = client_addr_find(l, &peer, text);
    REQUIRE(memcmp(&found, &peer, sizeof(peer)) == 0);
    proxy_list_free(l);
}

static void check_proxies(const char *text)
{
    struct proxy_list *l = NULL;
    struct client_addr addr;
    struct error err = {.code = ERR_OK};
    if (proxy_list_new(text, &l, &err) != ERR_OK) {
        REQUIRE(err.code != ERR_OK && err.text[0]);
        return;
    }
    if (client_addr_parse(text, strlen(text), &addr))
        REQUIRE(proxy_list_has(l, &addr));
    proxy_list_free(l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum coding coding = CODING_NONE;
    char *text = malloc(size + 1);
    REQUIRE(text);
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    check_media_type(text);
    check_forwarded(text);
    check_proxies(text);
    (void)coding_accepts_gzip(text);
    if (coding_parse(text, &coding))
        REQUIRE(coding <= CODING_ZSTD);
    free(text);
    return 0;
}
