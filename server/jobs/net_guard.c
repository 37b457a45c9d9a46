#include "server/jobs/net_guard.h"

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct range {
    uint8_t prefix[16];
    unsigned bits;
};

/* IANA's registries of special-purpose addresses, and multicast. */
static const struct range RANGES4[] = {
    {{0}, 8},
    {{10}, 8},
    {{100, 64}, 10},
    {{127}, 8},
    {{169, 254}, 16},
    {{172, 16}, 12},
    {{192, 0, 0}, 24},
    {{192, 0, 2}, 24},
    {{192, 31, 196}, 24},
    {{192, 52, 193}, 24},
    {{192, 88, 99}, 24},
    {{192, 168}, 16},
    {{192, 175, 48}, 24},
    {{198, 18}, 15},
    {{198, 51, 100}, 24},
    {{203, 0, 113}, 24},
    {{224}, 4},
    {{240}, 4},
};

static const struct range RANGES6[] = {
    {{0x20, 0x01, 0x00, 0x00}, 23}, /* protocols, Teredo, ORCHID */
    {{0x20, 0x01, 0x0d, 0xb8}, 32},
    {{0x3f, 0xff}, 20},
    {{0x26, 0x20, 0x00, 0x4f, 0x80}, 48},
};

/* Where an IPv4 address lies inside an IPv6 one. */
static const struct {
    struct range range;
    size_t at;
} CARRIERS[] = {
    {{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96}, 12}, /* mapped */
    {{{0x00, 0x64, 0xff, 0x9b}, 96}, 12},                   /* NAT64 */
    {{{0x20, 0x02}, 16}, 2},                                /* 6to4 */
};

static bool inside(const uint8_t *address, const struct range *r)
{
    size_t whole = r->bits / 8;
    unsigned rest = r->bits % 8;
    if (memcmp(address, r->prefix, whole) != 0)
        return false;
    return rest == 0 || ((address[whole] ^ r->prefix[whole]) & (0xffu << (8 - rest)) & 0xffu) == 0;
}

static bool public4(const uint8_t *address)
{
    for (size_t i = 0; i < sizeof(RANGES4) / sizeof(RANGES4[0]); i++) {
        if (inside(address, &RANGES4[i]))
            return false;
    }
    return true;
}

static bool public6(const uint8_t *address)
{
    static const struct range unicast = {{0x20}, 3};
    for (size_t i = 0; i < sizeof(CARRIERS) / sizeof(CARRIERS[0]); i++) {
        if (inside(address, &CARRIERS[i].range))
            return public4(address + CARRIERS[i].at);
    }
    for (size_t i = 0; i < sizeof(RANGES6) / sizeof(RANGES6[0]); i++) {
        if (inside(address, &RANGES6[i]))
            return false;
    }
    return inside(address, &unicast);
}

bool net_guard_public(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, address, sizeof(in));
        return public4((const uint8_t *)&in.sin_addr.s_addr);
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 in;
        memcpy(&in, address, sizeof(in));
        return public6(in.sin6_addr.s6_addr);
    }
    return false;
}
