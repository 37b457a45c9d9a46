/*
 * `stallsymd run`: the daemon until a signal ends it.
 *
 * Signals are blocked before the first thread starts and taken one by one here: TERM and INT stop,
 * HUP reloads. While it stops a second TERM or INT ends the process at once, which is safe at any
 * instant: what was answered is on disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/version.h"
#include "server/cmd.h"
#include "server/config.h"
#include "server/daemon.h"
#include "server/preflight.h"

#define PROBLEMS_MAX 65536

static void warn_of_variables(void)
{
    struct buf lines;
    buf_init(&lines, PROBLEMS_MAX);
    config_unknown_environment(environ, &lines);
    for (char *line = lines.data; line && *line;) {
        char *end = strchr(line, '\n');
        *end = 0;
        char quoted[256];
        log_warn("environment variable not used", "what=%s",
                 log_quote(line, quoted, sizeof(quoted)));
        line = end + 1;
    }
    buf_done(&lines);
}

/* Descriptors 0 to 2 must be taken, or a database file would get the log. */
static enum err open_standard_files(struct error *err)
{
    int fd = 0;
    while (fd >= 0 && fd <= STDERR_FILENO)
        fd = open("/dev/null", O_RDWR);
    if (fd < 0)
        return error_errno(err, errno, "cannot open /dev/null");
    close(fd);
    return ERR_OK;
}

static void block_signals(sigset_t *ret)
{
    sigemptyset(ret);
    sigaddset(ret, SIGTERM);
    sigaddset(ret, SIGINT);
    sigaddset(ret, SIGHUP);
    sigprocmask(SIG_BLOCK, ret, NULL);
    signal(SIGPIPE, SIG_IGN);
    /* A file that grows too large is an error to report, not an end. */
    signal(SIGXFSZ, SIG_IGN);
}

static void on_second_signal(int sig)
{
    _exit(128 + sig);
}

static void let_second_signal_end_it(void)
{
    struct sigaction action = {.sa_handler = on_second_signal};
    sigset_t stops;
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigemptyset(&stops);
    sigaddset(&stops, SIGTERM);
    sigaddset(&stops, SIGINT);
    sigprocmask(SIG_UNBLOCK, &stops, NULL);
}

/* Tells what a reload cannot change. */
static void compare_configs(const struct config *now, const struct config *next)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        if (!keys[i].reloadable && !config_equal(now, next, &keys[i]))
            log_warn("setting needs a restart", "key=%s.%s", keys[i].section, keys[i].name);
    }
}

static void reload(struct daemon *d, const char *path, const struct config *now)
{
    struct config next;
    struct error err;
    char quoted[sizeof(err.text) + 64];
    if (config_load(path, environ, &next, NULL, &err) != ERR_OK) {
        log_error("configuration not reloaded", "error=%s",
                  log_quote(err.text, quoted, sizeof(quoted)));
        return;
    }
    compare_configs(now, &next);
    if (daemon_reload(d, &next, &err) != ERR_OK)
        log_error("reload failed", "error=%s", log_quote(err.text, quoted, sizeof(quoted)));
    else
        log_info("configuration reloaded", "level=%s", next.log.level);
    config_done(&next);
}

/* Returns with the signal that asks for a stop. */
static int serve(struct daemon *d, const char *path, const struct config *config,
                 const sigset_t *signals)
{
    for (;;) {
        int sig = 0;
        if (sigwait(signals, &sig) != 0)
            continue;
        if (sig != SIGHUP)
            return sig;
        reload(d, path, config);
    }
}

static int run_daemon(const char *path, const struct config *config)
{
    struct daemon *d = NULL;
    struct error err;
    sigset_t signals;
    umask(0027); /* reports are nobody else's on this machine */
    block_signals(&signals);
    if (open_standard_files(&err) != ERR_OK || daemon_start(config, &d, &err) != ERR_OK)
        return cmd_failed(&cmd_run, &err);
    char quoted[1024];
    log_info("listening", "version=%s address=%s port=%u dir=%s", STALLSYM_VERSION,
             config->http.address, (unsigned)daemon_port(d),
             log_quote(config->storage.dir, quoted, sizeof(quoted)));
    int sig = serve(d, path, config, &signals);
    log_info("stopping", "signal=%d", sig);
    let_second_signal_end_it();
    daemon_stop(d);
    log_info("stopped", "signal=%d", sig);
    return CMD_OK;
}

static int run(int argc, char **argv)
{
    const char *path = NULL;
    int status = cmd_config_path(&cmd_run, argc, argv, &path);
    if (status != CMD_OK)
        return status;
    struct config config;
    struct error err;
    struct buf problems;
    buf_init(&problems, PROBLEMS_MAX);
    if (config_load(path, environ, &config, &problems, &err) != ERR_OK) {
        status = problems.len > 0 ? CMD_FAILED : cmd_failed(&cmd_run, &err);
        fputs(problems.data ? problems.data : "", stderr);
        buf_done(&problems);
        return status;
    }
    warn_of_variables();
    if (preflight(&config, &problems)) {
        status = run_daemon(path, &config);
    } else {
        fputs(problems.data ? problems.data : "", stderr);
        status = CMD_FAILED;
    }
    buf_done(&problems);
    config_done(&config);
    return status;
}

const struct cmd cmd_run = {
    .name = "run",
    .help = "the daemon: takes reports and symbol files, serves the API",
    .synopsis = "[-c FILE]",
    .details = "  -c FILE   configuration; without it the defaults hold\n"
               "\n"
               "Environment variables STALLSYM_SECTION_NAME override the file, for instance\n"
               "STALLSYM_HTTP_PORT and STALLSYM_STORAGE_DIR. The first admin token is taken from\n"
               "STALLSYM_ADMIN_TOKEN or the file that STALLSYM_ADMIN_TOKEN_FILE names, or made\n"
               "and written to DIR/admin-token.\n"
               "\n"
               "TERM and INT stop it (a second one at once), HUP reads log.level, the tokens,\n"
               "the cluster rules and the files of [tls] anew. The log goes to standard error.",
    .run = run,
};
