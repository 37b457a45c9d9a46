#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/cmd.h"
#include "server/config.h"
#include "server/preflight.h"

#define TEXT_MAX ((size_t)1024 * 1024)

static int report(const char *path, bool print)
{
    struct config config;
    struct error err;
    struct buf text;
    int status = CMD_OK;
    buf_init(&text, TEXT_MAX);
    if (config_load(path, environ, &config, &text, &err) != ERR_OK) {
        status = text.len > 0 ? CMD_FAILED : cmd_failed(&cmd_check_config, &err);
        fputs(text.data ? text.data : "", stderr);
        buf_done(&text);
        return status;
    }
    config_unknown_environment(environ, &text);
    if (text.len > 0)
        fputs(text.data, stderr);
    buf_clear(&text);
    if (!preflight(&config, &text)) {
        fputs(text.data ? text.data : "", stderr);
        status = CMD_FAILED;
    } else if (print && !config_print(&config, &text)) {
        status = CMD_FAILED;
    } else {
        fputs(print ? text.data : "OK\n", stdout);
    }
    config_done(&config);
    buf_done(&text);
    return status;
}

static int run(int argc, char **argv)
{
    static const struct option options[] = {{"print", no_argument, NULL, 'p'}, {NULL, 0, NULL, 0}};
    const char *path = NULL;
    bool print = false;
    int opt;
    opterr = 0;
    while ((opt = getopt_long(argc, argv, "c:", options, NULL)) != -1) {
        if (opt == 'c')
            path = optarg;
        else if (opt == 'p')
            print = true;
        else
            return optopt == 'c'
                       ? cmd_usage(&cmd_check_config, "-c needs a file")
                       : cmd_usage(&cmd_check_config, "unknown option \"%s\"", argv[optind - 1]);
    }
    if (optind < argc)
        return cmd_usage(&cmd_check_config, "unexpected \"%s\"", argv[optind]);
    return report(path, print);
}

const struct cmd cmd_check_config = {
    .name = "check-config",
    .help = "says what is wrong with a configuration",
    .synopsis = "[-c FILE] [--print]",
    .details =
        "Reads FILE (without it: the defaults), the environment, the cluster rules and the\n"
        "files of [tls] as `run` does. Prints OK, or each mistake with its file and line on\n"
        "standard error; there, too, variables STALLSYM_… that name no key, which are no mistake.\n"
        "\n"
        "  --print   instead of OK every key with the value in force",
    .run = run,
};
