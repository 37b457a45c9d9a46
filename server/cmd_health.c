#include <arpa/inet.h>
#include <errno.h>
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

static enum err ask(int fd, struct error *err)
{
    static const char request[] =
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    static const char good[] = "HTTP/1.1 200 ";
    char answer[64] = "";
    size_t have = 0;
    if (send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) != (ssize_t)sizeof(request) - 1)
        return error_errno(err, errno, "cannot send");
    while (have < sizeof(good) - 1) {
        ssize_t n = recv(fd, answer + have, sizeof(answer) - 1 - have, 0);
        if (n <= 0)
            return error_errno(err, n < 0 ? errno : ECONNRESET, "no answer");
        have += (size_t)n;
    }
    if (strncmp(answer, good, sizeof(good) - 1) != 0)
        return error_set(err, ERR_BUSY, "the answer is %.12s", answer);
    return ERR_OK;
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
    config_done(&config);
    if (rc == ERR_OK) {
        rc = ask(fd, &err);
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
    .details = "GET /healthz at the address and port of the configuration (and environment); for\n"
               "HEALTHCHECK in containers. Prints \"ok\", or the reason on standard error.",
    .run = run,
};
