#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/cmd.h"
#include "server/config.h"

#define WAIT_S 3

/* An address that is listened on everywhere is asked on this machine. */
static const char *reachable(const char *address)
{
    if (!*address || strcmp(address, "0.0.0.0") == 0)
        return "127.0.0.1";
    return strcmp(address, "::") == 0 ? "::1" : address;
}

static enum err dial(const char *address, uint64_t port, int *ret_fd, struct error *err)
{
    char service[16];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
    struct addrinfo *to = NULL;
    struct timeval wait = {.tv_sec = WAIT_S};
    enum err rc = ERR_OK;
    snprintf(service, sizeof(service), "%llu", (unsigned long long)port);
    int why = getaddrinfo(reachable(address), service, &hints, &to);
    if (why != 0)
        return error_set(err, ERR_INVALID, "address \"%s\": %s", address, gai_strerror(why));
    int fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        rc = error_errno(err, errno, "socket");
        goto out;
    }
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
    if (connect(fd, to->ai_addr, to->ai_addrlen) != 0) {
        rc = error_errno(err, errno, "nothing answers on %s port %s", reachable(address), service);
        close(fd);
        goto out;
    }
    *ret_fd = fd;
out:
    freeaddrinfo(to);
    return rc;
}

static const char REQUEST[] =
    "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
static const char GOOD[] = "HTTP/1.1 200 ";

static enum err judge(const char *answer, struct error *err)
{
    if (strncmp(answer, GOOD, sizeof(GOOD) - 1) != 0)
        return error_set(err, ERR_BUSY, "the answer is %.12s", answer);
    return ERR_OK;
}

static enum err ask(int fd, struct error *err)
{
    char answer[64] = "";
    size_t have = 0;
    if (send(fd, REQUEST, sizeof(REQUEST) - 1, MSG_NOSIGNAL) != (ssize_t)sizeof(REQUEST) - 1)
        return error_errno(err, errno, "cannot send");
    while (have < sizeof(GOOD) - 1) {
        ssize_t n = recv(fd, answer + have, sizeof(answer) - 1 - have, 0);
        if (n <= 0)
            return error_errno(err, n < 0 ? errno : ECONNRESET, "no answer");
        have += (size_t)n;
    }
    return judge(answer, err);
}

/* The same over TLS. Whose certificate it is does not matter: this is one machine, nothing secret is
 * sent, and the name it is asked by is none of the certificate's. */
static enum err ask_tls(int fd, struct error *err)
{
    gnutls_session_t session = NULL;
    gnutls_certificate_credentials_t nobody = NULL;
    char answer[64] = "";
    size_t have = 0;
    ssize_t n = gnutls_certificate_allocate_credentials(&nobody);
    if (n == 0)
        n = gnutls_init(&session, GNUTLS_CLIENT);
    if (n == 0)
        n = gnutls_set_default_priority(session);
    if (n == 0)
        n = gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, nobody);
    if (n == 0) {
        gnutls_transport_set_int(session, fd);
        gnutls_handshake_set_timeout(session, WAIT_S * 1000);
        do
            n = gnutls_handshake(session);
        while (n < 0 && !gnutls_error_is_fatal((int)n) && n != GNUTLS_E_AGAIN);
    }
    if (n == 0)
        n = gnutls_record_send(session, REQUEST, sizeof(REQUEST) - 1);
    while (n > 0 && have < sizeof(GOOD) - 1) {
        n = gnutls_record_recv(session, answer + have, sizeof(answer) - 1 - have);
        have += n > 0 ? (size_t)n : 0;
    }
    if (session)
        gnutls_deinit(session);
    if (nobody)
        gnutls_certificate_free_credentials(nobody);
    if (n < 0)
        return error_set(err, ERR_IO, "no answer over TLS: %s", gnutls_strerror((int)n));
    return judge(answer, err);
}

static int run(int argc, char **argv)
{
    const char *path = NULL;
    struct config config;
    struct error err;
    int fd = -1;
    int status = cmd_config_path(&cmd_health, argc, argv, &path);
    if (status != CMD_OK)
        return status;
    if (config_load(path, environ, &config, NULL, &err) != ERR_OK)
        return cmd_failed(&cmd_health, &err);
    enum err rc = dial(config.http.address, config.http.port, &fd, &err);
    bool tls = *config.tls.certificate;
    config_done(&config);
    if (rc == ERR_OK) {
        rc = tls ? ask_tls(fd, &err) : ask(fd, &err);
        close(fd);
    }
    if (rc != ERR_OK)
        return cmd_failed(&cmd_health, &err);
    puts("ok");
    return CMD_OK;
}

const struct cmd cmd_health = {
    .name = "health",
    .help = "asks a running daemon whether it lives",
    .synopsis = "[-c FILE]",
    .details =
        "GET /healthz at the address and port of the configuration (and environment), over TLS\n"
        "if that is configured; for HEALTHCHECK in containers. Prints \"ok\", or the reason on "
        "standard error.",
    .run = run,
};
