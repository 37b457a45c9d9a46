#include "server/preflight.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "server/http/client_addr.h"
#include "server/http/listen_socket.h"
#include "server/http/tls.h"
#include "server/rules_file.h"

typedef enum err check(const struct config *config, struct error *err);

static enum err check_address(const struct config *config, struct error *err)
{
    return listen_socket_check(config->http.address, err);
}

/* Its folder is there, or is the one that the start makes. */
static enum err check_port_file(const struct config *config, struct error *err)
{
    const char *path = config->http.port_file;
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX] = ".";
    if (slash)
        snprintf(folder, sizeof(folder), "%.*s", slash == path ? 1 : (int)(slash - path), path);
    if (!*path || faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0 ||
        (errno == ENOENT && strcmp(folder, config->storage.dir) == 0))
        return ERR_OK;
    return error_errno(err, errno, "no file can be made in %s", folder);
}

static enum err check_proxies(const struct config *config, struct error *err)
{
    struct proxy_list *proxies = NULL;
    enum err rc = proxy_list_new(config->http.trusted_proxies, &proxies, err);
    proxy_list_free(proxies);
    return rc;
}

static enum err check_rules(const struct config *config, struct error *err)
{
    struct rules *rules = NULL;
    enum err rc = rules_file_read(config->clusters.rules, &rules, err);
    rules_free(rules);
    return rc;
}

static enum err check_tls(const struct config *config, struct error *err)
{
    const struct config_tls *t = &config->tls;
    bool on = false;
    enum err rc = tls_start(t->certificate, t->key, t->priorities, clock_wall_ms(), &on, err);
    if (on)
        tls_stop();
    return rc;
}

bool preflight(const struct config *config, struct buf *problems)
{
    static const struct {
        const char *what;
        check *check;
    } checks[] = {{"[clusters] rules: ", check_rules},
                  {"[http] address: ", check_address},
                  {"[http] port_file: ", check_port_file},
                  {"[http] trusted_proxies: ", check_proxies},
                  {"", check_tls}};
    bool good = true;
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        struct error err;
        if (checks[i].check(config, &err) == ERR_OK)
            continue;
        buf_printf(problems, "%s%s\n", checks[i].what, err.text);
        good = false;
    }
    return good;
}
