/* Covers: server/http/listen_socket.c */
#include "server/http/listen_socket.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/unit.h"

static struct error err;

static int connect_to(uint16_t port)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int rc = connect(fd, (struct sockaddr *)&to, sizeof(to));
    close(fd);
    return rc;
}

/* The side that closes first waits for what may still come. */
static void leave_a_connection(int fd, uint16_t port)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int client = socket(AF_INET, SOCK_STREAM, 0);
    char byte;
    ck_assert_int_eq(connect(client, (struct sockaddr *)&to, sizeof(to)), 0);
    int served = accept(fd, NULL, NULL);
    ck_assert_int_ge(served, 0);
    close(served);
    ck_assert_int_eq(read(client, &byte, 1), 0);
    close(client);
}

START_TEST(nobody_is_let_in_before_it_is_open)
{
    int fd = -1, again = -1;
    uint16_t port = 0;
    struct sockaddr_in at;
    socklen_t len = sizeof(at);
    ck_assert_int_eq(listen_socket_bind("127.0.0.1", 0, &fd, &err), ERR_OK);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    ck_assert_int_eq(connect_to(ntohs(at.sin_port)), -1);
    ck_assert_int_eq(listen_socket_open(fd, &port, &err), ERR_OK);
    ck_assert_uint_eq(port, ntohs(at.sin_port));
    ck_assert_int_eq(connect_to(port), 0);

    char wanted[64];
    snprintf(wanted, sizeof(wanted), "cannot listen on 127.0.0.1 port %u", (unsigned)port);
    ck_assert_int_eq(listen_socket_bind("127.0.0.1", port, &again, &err), ERR_IO);
    ck_assert_msg(strstr(err.text, wanted) != NULL, "%s", err.text);
    ck_assert_int_eq(again, -1);
    close(fd);
}
END_TEST

/* With connections of an earlier start that are not gone yet. */
START_TEST(a_named_port_is_taken_before_it_is_open)
{
    int fd = -1, again = -1;
    uint16_t port = 0;
    ck_assert_int_eq(listen_socket_bind("127.0.0.1", 0, &fd, &err), ERR_OK);
    ck_assert_int_eq(listen_socket_open(fd, &port, &err), ERR_OK);
    close(fd);
    for (int i = 0; i < 2; i++) {
        uint16_t same = 0;
        ck_assert_int_eq(listen_socket_bind("127.0.0.1", port, &fd, &err), ERR_OK);
        ck_assert_int_eq(connect_to(port), -1);
        ck_assert_int_eq(listen_socket_bind("127.0.0.1", port, &again, &err), ERR_IO);
        ck_assert_int_eq(listen_socket_bind("", port, &again, &err), ERR_IO);
        ck_assert_int_eq(listen_socket_open(fd, &same, &err), ERR_OK);
        ck_assert_uint_eq(same, port);
        leave_a_connection(fd, port);
        close(fd);
    }
}
END_TEST

START_TEST(addresses)
{
    int fd = -1;
    ck_assert_int_eq(listen_socket_check("", &err), ERR_OK);
    ck_assert_int_eq(listen_socket_check(NULL, &err), ERR_OK);
    ck_assert_int_eq(listen_socket_check("127.0.0.1", &err), ERR_OK);
    ck_assert_int_eq(listen_socket_check("not an address", &err), ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "not an address"));
    ck_assert_int_eq(listen_socket_bind("not an address", 0, &fd, &err), ERR_INVALID);
    ck_assert_int_eq(fd, -1);
}
END_TEST

UNIT_MAIN("listen_socket", nobody_is_let_in_before_it_is_open,
          a_named_port_is_taken_before_it_is_open, addresses)
