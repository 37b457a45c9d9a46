/*
 * main - finds the subcommand in a table and runs it.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/version.h"
#include "server/cmd.h"

static const struct cmd *const COMMANDS[] = {
    &cmd_run,         &cmd_check_config, &cmd_migrate, &cmd_index,  &cmd_lookup,
    &cmd_symbolicate, &cmd_demangle,     &cmd_cluster, &cmd_health, &cmd_version,
};

#define COMMAND_COUNT (sizeof(COMMANDS) / sizeof(COMMANDS[0]))

static const struct cmd *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(COMMANDS[i]->name, name) == 0)
            return COMMANDS[i];
    }
    return NULL;
}

static void print_commands(FILE *out)
{
    fprintf(out,
            "stallsymd %s - ranked causes from the stalls of iOS apps\n\n"
            "Usage: stallsymd COMMAND [ARGUMENTS]\n\nCommands:\n",
            STALLSYM_VERSION);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-13s %s\n", COMMANDS[i]->name, COMMANDS[i]->help);
    fprintf(out, "  %-13s %s\n\n", "help", "this list, or `help COMMAND`");
    fprintf(out,
            "`stallsymd COMMAND --help` describes one.\n"
            "Exit status: 0 done, 1 failed, 2 wrong command line, 3 nothing found, 4 the disk or\n"
            "the system failed.\n");
}

static void print_command(const struct cmd *cmd)
{
    printf("stallsymd %s - %s\n\nUsage: stallsymd %s%s%s\n", cmd->name, cmd->help, cmd->name,
           *cmd->synopsis ? " " : "", cmd->synopsis);
    if (cmd->details && *cmd->details)
        printf("\n%s\n", cmd->details);
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0)
            return true;
    }
    return false;
}

static int unknown_command(const char *name)
{
    fprintf(stderr, "stallsymd: no command \"%s\"; `stallsymd help` lists them\n", name);
    return CMD_USAGE;
}

static int help(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0) {
        print_commands(stdout);
        return CMD_OK;
    }
    const struct cmd *cmd = find_command(argv[1]);
    if (!cmd)
        return unknown_command(argv[1]);
    print_command(cmd);
    return CMD_OK;
}

/* Standard output may be a full disk or a closed pipe: what was not written was not done. */
static int flushed(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fprintf(stderr, "stallsymd: cannot write to standard output\n");
    return status == CMD_OK ? CMD_FAILED : status;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_commands(stderr);
        return CMD_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return flushed(help(argc - 1, argv + 1));
    if (strcmp(name, "--version") == 0)
        name = "version";
    const struct cmd *cmd = find_command(name);
    if (!cmd)
        return unknown_command(name);
    if (asks_for_help(argc - 1, argv + 1)) {
        print_command(cmd);
        return flushed(CMD_OK);
    }
    return flushed(cmd->run(argc - 1, argv + 1));
}
