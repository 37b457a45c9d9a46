#include "server/http/client_addr.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "tests/support/unit.h"

static struct client_addr addr(const char *text)
{
    struct client_addr a;
    ck_assert_msg(client_addr_parse(text, strlen(text), &a), "%s", text);
    return a;
}

static bool same(struct client_addr a, struct client_addr b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

static struct proxy_list *list(const char *text)
{
    struct proxy_list *l = NULL;
    struct error err;
    ck_assert_msg(proxy_list_new(text, &l, &err) == ERR_OK, "%s", err.text);
    return l;
}

START_TEST(forms_of_an_address)
{
    struct client_addr a;
    ck_assert(same(addr("192.0.2.7"), addr("::ffff:192.0.2.7")));
    ck_assert(same(addr(" 192.0.2.7:4711 "), addr("192.0.2.7")));
    ck_assert(same(addr("[2001:db8::1]:443"), addr("2001:db8:0::1")));
    ck_assert(!client_addr_parse("", 0, &a));
    ck_assert(!client_addr_parse("unknown", 7, &a));
    ck_assert(!client_addr_parse("[::1", 4, &a));
    ck_assert(!client_addr_parse("192.0.2.256", 11, &a));
}
END_TEST

START_TEST(networks)
{
    struct proxy_list *l = list("10.0.0.0/8 192.0.2.7, fd00::/9 ::1");
    struct client_addr a;
    a = addr("10.255.1.2");
    ck_assert(proxy_list_has(l, &a));
    a = addr("11.0.0.1");
    ck_assert(!proxy_list_has(l, &a));
    a = addr("192.0.2.7");
    ck_assert(proxy_list_has(l, &a));
    a = addr("192.0.2.8");
    ck_assert(!proxy_list_has(l, &a));
    a = addr("fd7f::1");
    ck_assert(proxy_list_has(l, &a));
    a = addr("fd80::1");
    ck_assert(!proxy_list_has(l, &a));
    proxy_list_free(l);
}
END_TEST

START_TEST(bad_lists_name_the_entry)
{
    struct proxy_list *l = NULL;
    struct error err;
    const char *bad[] = {"10.0.0.0/33", "10.0.0.0/", "::/129", "proxy.local", "10.0.0.0/8x"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_int_eq(proxy_list_new(bad[i], &l, &err), ERR_INVALID);
        ck_assert_ptr_nonnull(strstr(err.text, bad[i]));
    }
    ck_assert_ptr_null(l);
}
END_TEST

START_TEST(forwarded_for_is_believed_from_proxies_only)
{
    struct proxy_list *none = list(""), *l = list("10.0.0.0/8");
    struct client_addr stranger = addr("198.51.100.9"), proxy = addr("10.0.0.1");
    struct client_addr a = client_addr_find(none, &proxy, "192.0.2.1");
    ck_assert(same(a, proxy));
    a = client_addr_find(l, &stranger, "192.0.2.1");
    ck_assert(same(a, stranger));
    a = client_addr_find(l, &proxy, "192.0.2.1");
    ck_assert(same(a, addr("192.0.2.1")));
    /* What the client itself put in front is worth nothing. */
    a = client_addr_find(l, &proxy, "1.1.1.1, 192.0.2.1, 10.9.9.9");
    ck_assert(same(a, addr("192.0.2.1")));
    a = client_addr_find(l, &proxy, NULL);
    ck_assert(same(a, proxy));
    a = client_addr_find(l, &proxy, "rubbish");
    ck_assert(same(a, proxy));
    proxy_list_free(none);
    proxy_list_free(l);
}
END_TEST

START_TEST(peers_and_groups)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    inet_pton(AF_INET, "192.0.2.7", &in.sin_addr);
    ck_assert(same(client_addr_of_peer((struct sockaddr *)&in), addr("192.0.2.7")));
    struct client_addr a = addr("2001:db8:1:2:3:4:5:6"), b = addr("2001:db8:1:2:ffff::1");
    ck_assert(same(client_addr_group(&a), client_addr_group(&b)));
    a = addr("192.0.2.7");
    b = addr("192.0.2.8");
    ck_assert(!same(client_addr_group(&a), client_addr_group(&b)));
}
END_TEST

UNIT_MAIN("client_addr", forms_of_an_address, networks, bad_lists_name_the_entry,
          forwarded_for_is_believed_from_proxies_only, peers_and_groups)
