#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/cmd.h"
#include "server/config.h"
#include "server/data_dir.h"
#include "storage/storage.h"

static void tell(const struct storage_upgrade *u)
{
    if (u->from == 0)
        printf("a new database, schema %d\n", u->to);
    else if (u->from == u->to)
        printf("schema %d, nothing to do\n", u->to);
    else
        printf("schema %d -> %d, the database as it was is kept as %s\n", u->from, u->to, u->copy);
}

static enum err open_database(const struct config *config, const struct data_dir *dir,
                              struct error *err)
{
    struct storage *storage = NULL;
    struct storage_options options = {.backend = config->storage.backend,
                                      .path = data_dir_database(dir),
                                      .synchronous_full = true,
                                      .busy_ms = (uint32_t)config->storage.busy_ms,
                                      .retry_days = (uint32_t)config->retention.retry_days,
                                      .daily_values = (uint32_t)config->storage.daily_values,
                                      .daily_stacks = (uint32_t)config->storage.daily_stacks,
                                      .migrate = true};
    enum err rc = storage_open(&options, &storage, err);
    if (rc != ERR_OK)
        return rc;
    tell(storage_upgrade(storage));
    storage_close(storage);
    return ERR_OK;
}

static int migrate(const struct config *config)
{
    struct data_dir *dir = NULL;
    struct error err;
    umask(0027); /* as `run` */
    enum err rc = data_dir_open(config->storage.dir, &dir, &err);
    if (rc == ERR_OK)
        rc = open_database(config, dir, &err);
    data_dir_close(dir);
    return rc == ERR_OK ? CMD_OK : cmd_failed(&cmd_migrate, &err);
}

static int run(int argc, char **argv)
{
    const char *path = NULL;
    int status = cmd_config_path(&cmd_migrate, argc, argv, &path);
    if (status != CMD_OK)
        return status;
    struct config config;
    struct error err;
    if (config_load(path, environ, &config, NULL, &err) != ERR_OK)
        return cmd_failed(&cmd_migrate, &err);
    status = migrate(&config);
    config_done(&config);
    return status;
}

const struct cmd cmd_migrate = {
    .name = "migrate",
    .help = "brings the database to this program's schema",
    .synopsis = "[-c FILE]",
    .details =
        "`run` does the same when it starts; this is for a maintenance window, with the\n"
        "daemon stopped. One copy of the database as it was is kept beside it, as large as it is\n"
        "(stallsym.db.before-N, N the first schema it was brought to): there must be room for it,\n"
        "and it may be deleted once the new program is found good.",
    .run = run,
};
