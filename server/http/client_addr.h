/*
 * client_addr - who is asking, as an address to count failures by.
 *
 * Purpose: the peer's address, or what a trusted proxy says in X-Forwarded-For.
 *
 * Invariants: IPv4 is kept in its IPv6-mapped form. The header is only believed when the peer is a
 * trusted proxy, and then only its last entry that is not a trusted proxy itself.
 *
 * Threads: the list is read-only. Memory: proxy_list_new/proxy_list_free; addresses are values.
 */
#ifndef STALLSYM_HTTP_CLIENT_ADDR_H
#define STALLSYM_HTTP_CLIENT_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define PROXIES_MAX 64

struct sockaddr;
struct client_addr {
    uint8_t bytes[16];
};

struct proxy_list;

/* Blank-separated addresses and networks ("10.0.0.0/8 fd00::/8 192.0.2.7"). ERR_INVALID names the
 * one that is none. */
enum err proxy_list_new(const char *text, struct proxy_list **ret, struct error *err);
void proxy_list_free(struct proxy_list *l);
bool proxy_list_has(const struct proxy_list *l, const struct client_addr *addr);

/* False for anything but an IPv4 or IPv6 address; brackets and a port are allowed. */
bool client_addr_parse(const char *text, size_t len, struct client_addr *ret);
/* NULL or another family: all zeros. */
struct client_addr client_addr_of_peer(const struct sockaddr *peer);
/* `forwarded_for` may be NULL. */
struct client_addr client_addr_find(const struct proxy_list *l, const struct client_addr *peer,
                                    const char *forwarded_for);
/* What failures are counted by: the address, of IPv6 its /64 network. */
struct client_addr client_addr_group(const struct client_addr *addr);

#endif
