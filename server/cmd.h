/*
 * cmd - the subcommands of stallsymd: one row and one small file each.
 *
 * Purpose: to add a command write server/cmd_NAME.c with a `const struct cmd cmd_NAME`, declare it
 * below and put its address into the table of main.c. `stallsymd help NAME` and `stallsymd NAME
 * --help` print its row; run() never sees them.
 *
 * Invariants: results go to standard output, errors to standard error, each beginning with
 * "stallsymd NAME: ". The exit status is one of enum cmd_exit.
 *
 * Threads: run() is called once, from the main thread. Memory: static.
 */
#ifndef STALLSYM_SERVER_CMD_H
#define STALLSYM_SERVER_CMD_H

#include "base/error.h"

enum cmd_exit {
    CMD_OK = 0,
    CMD_FAILED = 1,  /* the reason is on standard error */
    CMD_USAGE = 2,   /* the command line is wrong */
    CMD_NOTHING = 3, /* read well, but nothing of what was asked for is in it */
    CMD_SYSTEM = 4,  /* not the input's fault: the disk or the system failed; the reason as for 1 */
};

struct cmd {
    const char *name;
    const char *help;     /* one line, for the list */
    const char *synopsis; /* what stands after the name: "FILE -o DIR [--jobs N]" */
    const char *details;  /* options and what is printed, lines of at most 78 characters */
    int (*run)(int argc, char **argv); /* argv[0] is the command's name */
};

extern const struct cmd cmd_check_config;
extern const struct cmd cmd_cluster;
extern const struct cmd cmd_demangle;
extern const struct cmd cmd_health;
extern const struct cmd cmd_index;
extern const struct cmd cmd_lookup;
extern const struct cmd cmd_migrate;
extern const struct cmd cmd_run;
extern const struct cmd cmd_symbolicate;
extern const struct cmd cmd_version;

/* "stallsymd NAME: text" and how to get help, on standard error; returns CMD_USAGE. */
int cmd_usage(const struct cmd *cmd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "stallsymd NAME: text" on standard error; returns CMD_FAILED. */
int cmd_failed(const struct cmd *cmd, const struct error *err);
/* The command line of a command that takes [-c FILE] alone; NULL without it. CMD_OK or CMD_USAGE. */
int cmd_config_path(const struct cmd *cmd, int argc, char **argv, const char **ret_path);

#endif
