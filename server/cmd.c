#include "server/cmd.h"

#include <stdarg.h>
#include <stdio.h>

int cmd_usage(const struct cmd *cmd, const char *fmt, ...)
{
    va_list args;
    fprintf(stderr, "stallsymd %s: ", cmd->name);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fprintf(stderr, "\nUsage: stallsymd %s %s\nMore: stallsymd %s --help\n", cmd->name,
            cmd->synopsis, cmd->name);
    return CMD_USAGE;
}

int cmd_failed(const struct cmd *cmd, const struct error *err)
{
    fprintf(stderr, "stallsymd %s: %s\n", cmd->name, err->text);
    return CMD_FAILED;
}
