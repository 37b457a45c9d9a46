#include <archive.h>
#include <jansson.h>
#include <libdwarf.h>
#include <microhttpd.h>
#include <sqlite3.h>
#include <stdio.h>
#include <zlib.h>
#include <zstd.h>

#include "base/version.h"
#include "server/cmd.h"
#include "server/jobs/notifier.h"

static int run(int argc, char **argv)
{
    if (argc > 1)
        return cmd_usage(&cmd_version, "unexpected argument \"%s\"", argv[1]);
    printf("stallsymd %s\n", STALLSYM_VERSION);
    printf("libdwarf %s\n", dwarf_package_version());
    printf("libmicrohttpd %s\n", MHD_get_version());
    printf("sqlite %s\n", sqlite3_libversion());
    printf("libarchive %s\n", archive_version_string() + sizeof("libarchive ") - 1);
    printf("jansson %s\n", jansson_version_str());
    printf("libcurl %s\n", notifier_library());
    printf("zlib %s\n", zlibVersion());
    printf("zstd %s\n", ZSTD_versionString());
    return CMD_OK;
}

const struct cmd cmd_version = {
    .name = "version",
    .help = "the version of this program and of its libraries",
    .synopsis = "",
    .details = "The first line is \"stallsymd VERSION\"; then one line a library, as it is loaded.",
    .run = run,
};
