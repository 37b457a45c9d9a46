#include "server/http/listen_socket.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG      1024
#define UNSENT_BYTES (128 << 10) /* of answers, that the kernel holds for one connection */

static enum err resolve(const char *address, uint16_t port, struct addrinfo **ret,
                        struct error *err)
{
    char text[8];
    const struct addrinfo hints = {.ai_family = AF_UNSPEC,
                                   .ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    snprintf(text, sizeof(text), "%u", port);
    int rc = getaddrinfo(address, text, &hints, ret);
    return rc ? error_set(err, ERR_INVALID, "address %.256s: %s", address, gai_strerror(rc))
              : ERR_OK;
}

static int share(int fd, int yes)
{
    return setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
}

/* Bound alone it could be bound by others, too, as long as nobody listens. Linux keeps it for one
 * that listened and does not share any more; shut down, it refuses clients again. */
static int keep(int fd)
{
    return listen(fd, 1) == 0 && shutdown(fd, SHUT_RD) == 0 ? share(fd, 0) : -1;
}

static int bound_socket(const struct addrinfo *ai, uint16_t port)
{
    int unsent = UNSENT_BYTES;
    int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    share(fd, 1);
    /* The accepted sockets inherit it. Without, the kernel keeps megabytes for each client that asks
     * and does not read. */
    setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof(unsent));
    /* A free port would be free again. */
    if (bind(fd, ai->ai_addr, ai->ai_addrlen) == 0 && (port == 0 || keep(fd) == 0))
        return fd;
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

static const char *or_all(const char *address)
{
    return address && *address ? address : "0.0.0.0";
}

enum err listen_socket_bind(const char *address, uint16_t port, int *ret, struct error *err)
{
    struct addrinfo *list = NULL;
    enum err rc = resolve(or_all(address), port, &list, err);
    if (rc != ERR_OK)
        return rc;
    int fd = bound_socket(list, port);
    int failed = errno;
    freeaddrinfo(list);
    if (fd < 0)
        return error_errno(err, failed, "cannot listen on %.256s port %u", or_all(address), port);
    *ret = fd;
    return ERR_OK;
}

enum err listen_socket_open(int fd, uint16_t *ret_port, struct error *err)
{
    struct sockaddr_storage bound;
    socklen_t len = sizeof(bound);
    if (getsockname(fd, (struct sockaddr *)&bound, &len) < 0)
        return error_errno(err, errno, "cannot find out the port");
    *ret_port = ntohs(bound.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&bound)->sin6_port
                                                  : ((struct sockaddr_in *)&bound)->sin_port);
    return share(fd, 1) == 0 && listen(fd, BACKLOG) == 0
               ? ERR_OK
               : error_errno(err, errno, "cannot listen on port %u", (unsigned)*ret_port);
}

enum err listen_socket_check(const char *address, struct error *err)
{
    struct addrinfo *list = NULL;
    enum err rc = resolve(or_all(address), 0, &list, err);
    if (rc == ERR_OK)
        freeaddrinfo(list);
    return rc;
}
