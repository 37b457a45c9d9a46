#include "server/jobs/net_guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

#include "tests/support/unit.h"

static bool is_public(const char *text)
{
    struct sockaddr_storage a;
    memset(&a, 0, sizeof(a));
    if (strchr(text, ':')) {
        struct sockaddr_in6 *in = (struct sockaddr_in6 *)&a;
        in->sin6_family = AF_INET6;
        ck_assert_msg(inet_pton(AF_INET6, text, &in->sin6_addr) == 1, "%s", text);
    } else {
        struct sockaddr_in *in = (struct sockaddr_in *)&a;
        in->sin_family = AF_INET;
        ck_assert_msg(inet_pton(AF_INET, text, &in->sin_addr) == 1, "%s", text);
    }
    return net_guard_public((const struct sockaddr *)&a);
}

START_TEST(refused)
{
    static const char *const list[] = {
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "10.255.255.255",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.255",
        "169.254.169.254",
        "169.254.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.8",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.7",
        "203.0.113.9",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::10.0.0.1",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2002:a9fe:a9fe::1",
        "2001::1",
        "2001:db8::1",
        "3fff::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "100::1",
        "4000::1",
    };
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        ck_assert_msg(!is_public(list[i]), "%s", list[i]);
    struct sockaddr_un local = {.sun_family = AF_UNIX, .sun_path = "/tmp/x"};
    ck_assert(!net_guard_public((const struct sockaddr *)&local));
}
END_TEST

START_TEST(allowed)
{
    static const char *const list[] = {
        "1.1.1.1",         "8.8.8.8",          "9.255.255.255",        "11.0.0.1",
        "100.63.255.255",  "100.128.0.1",      "126.255.255.255",      "128.0.0.1",
        "169.253.255.255", "169.255.0.1",      "172.15.255.255",       "172.32.0.1",
        "192.167.255.255", "192.169.0.1",      "198.17.255.255",       "198.20.0.1",
        "223.255.255.255", "2606:4700::1111",  "2001:4860:4860::8888", "2a00:1450::1",
        "::ffff:8.8.8.8",  "64:ff9b::8.8.8.8", "2002:808:808::1",
    };
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        ck_assert_msg(is_public(list[i]), "%s", list[i]);
}
END_TEST

UNIT_MAIN("net_guard", refused, allowed)
