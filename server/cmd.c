#include "server/cmd.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int cmd_usage(const struct cmd *cmd, const char *fmt, ...)
{
    va_list args;
    fprintf(stderr, "stallsymd %s: ", cmd->name);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fprintf(stderr, "\nUsage: stallsymd %s%s%s\nMore: stallsymd %s --help\n", cmd->name,
            *cmd->synopsis ? " " : "", cmd->synopsis, cmd->name);
    return CMD_USAGE;
}

int cmd_failed(const struct cmd *cmd, const struct error *err)
{
    fprintf(stderr, "stallsymd %s: %s\n", cmd->name, err->text);
    return CMD_FAILED;
}

int cmd_config_path(const struct cmd *cmd, int argc, char **argv, const char **ret_path)
{
    const char *path = NULL;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "-c", 2) != 0)
            return cmd_usage(cmd, "%s \"%s\"", *argv[i] == '-' ? "unknown option" : "unexpected",
                             argv[i]);
        if (argv[i][2])
            path = argv[i] + 2;
        else if (i + 1 < argc)
            path = argv[++i];
        else
            return cmd_usage(cmd, "-c needs a file");
    }
    *ret_path = path;
    return CMD_OK;
}
