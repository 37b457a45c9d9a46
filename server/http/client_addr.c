#include "server/http/client_addr.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t MAPPED[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

struct proxy {
    struct client_addr addr;
    unsigned bits; /* of the IPv6 (mapped) form */
};

struct proxy_list {
    struct proxy items[PROXIES_MAX];
    size_t count;
};

static bool is_mapped(const struct client_addr *a)
{
    return memcmp(a->bytes, MAPPED, sizeof(MAPPED)) == 0;
}

static bool parse_plain(const char *text, struct client_addr *ret)
{
    struct client_addr a;
    if (inet_pton(AF_INET6, text, a.bytes) == 1) {
        *ret = a;
        return true;
    }
    memcpy(a.bytes, MAPPED, sizeof(MAPPED));
    if (inet_pton(AF_INET, text, a.bytes + sizeof(MAPPED)) != 1)
        return false;
    *ret = a;
    return true;
}

bool client_addr_parse(const char *text, size_t len, struct client_addr *ret)
{
    char copy[64];
    while (len > 0 && (*text == ' ' || *text == '\t')) {
        text++;
        len--;
    }
    while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t'))
        len--;
    if (len == 0 || len >= sizeof(copy))
        return false;
    memcpy(copy, text, len);
    copy[len] = 0;
    if (copy[0] == '[') { /* "[2001:db8::1]:443" */
        char *end = strchr(copy, ']');
        if (!end || (end[1] != 0 && end[1] != ':'))
            return false;
        *end = 0;
        return parse_plain(copy + 1, ret);
    }
    char *colon = strchr(copy, ':');
    if (colon && !strchr(colon + 1, ':'))
        *colon = 0; /* "192.0.2.7:4711" */
    return parse_plain(copy, ret);
}

static bool parse_network(const char *text, size_t len, struct proxy *ret)
{
    const char *slash = memchr(text, '/', len);
    size_t addr_len = slash ? (size_t)(slash - text) : len;
    struct proxy p = {.bits = 128};
    if (!client_addr_parse(text, addr_len, &p.addr))
        return false;
    if (slash) {
        size_t digits = len - addr_len - 1;
        unsigned bits = 0, most = is_mapped(&p.addr) && memchr(text, '.', addr_len) ? 32 : 128;
        if (digits == 0 || digits > 3)
            return false;
        for (size_t i = 0; i < digits; i++) {
            if (slash[1 + i] < '0' || slash[1 + i] > '9')
                return false;
            bits = bits * 10 + (unsigned)(slash[1 + i] - '0');
        }
        if (bits > most)
            return false;
        p.bits = most == 32 ? bits + 96 : bits;
    }
    *ret = p;
    return true;
}

enum err proxy_list_new(const char *text, struct proxy_list **ret, struct error *err)
{
    struct proxy_list *l = calloc(1, sizeof(*l));
    enum err rc = ERR_OK;
    if (!l)
        return error_set(err, ERR_NO_MEMORY, "no memory for the trusted proxies");
    for (const char *p = text ? text : ""; *(p += strspn(p, " \t,")) && rc == ERR_OK;) {
        size_t len = strcspn(p, " \t,");
        if (l->count == PROXIES_MAX)
            rc = error_set(err, ERR_LIMIT, "more than %d trusted proxies", PROXIES_MAX);
        else if (!parse_network(p, len, &l->items[l->count]))
            rc = error_set(err, ERR_INVALID, "trusted proxy \"%.*s\" is no address or network",
                           (int)(len > 64 ? 64 : len), p);
        l->count++;
        p += len;
    }
    if (rc == ERR_OK)
        *ret = l;
    else
        free(l);
    return rc;
}

void proxy_list_free(struct proxy_list *l)
{
    free(l);
}

static bool same_network(const struct proxy *p, const struct client_addr *a)
{
    size_t whole = p->bits / 8;
    unsigned rest = p->bits % 8;
    if (memcmp(p->addr.bytes, a->bytes, whole) != 0)
        return false;
    return rest == 0 || (p->addr.bytes[whole] ^ a->bytes[whole]) >> (8 - rest) == 0;
}

bool proxy_list_has(const struct proxy_list *l, const struct client_addr *addr)
{
    for (size_t i = 0; i < l->count; i++) {
        if (same_network(&l->items[i], addr))
            return true;
    }
    return false;
}

struct client_addr client_addr_of_peer(const struct sockaddr *peer)
{
    struct client_addr a = {{0}};
    if (peer && peer->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)peer;
        memcpy(a.bytes, MAPPED, sizeof(MAPPED));
        memcpy(a.bytes + sizeof(MAPPED), &in->sin_addr, 4);
    } else if (peer && peer->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)peer;
        memcpy(a.bytes, &in6->sin6_addr, 16);
    }
    return a;
}

struct client_addr client_addr_find(const struct proxy_list *l, const struct client_addr *peer,
                                    const char *forwarded_for)
{
    struct client_addr found = *peer;
    size_t end = forwarded_for ? strlen(forwarded_for) : 0;
    /* From the right: each entry was added by the hop after it, so the first one that no proxy of
     * ours could have been is the client; further left anybody may have written anything. */
    while (end > 0 && proxy_list_has(l, &found)) {
        size_t start = end;
        while (start > 0 && forwarded_for[start - 1] != ',')
            start--;
        if (!client_addr_parse(forwarded_for + start, end - start, &found))
            break;
        end = start > 0 ? start - 1 : 0;
    }
    return found;
}

struct client_addr client_addr_group(const struct client_addr *addr)
{
    struct client_addr a = *addr;
    if (!is_mapped(&a))
        memset(a.bytes + 8, 0, 8);
    return a;
}
