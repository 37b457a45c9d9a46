#include "tests/support/fake_child.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *fake_child_new(const char *folder)
{
    static const char text[] =
        "#!/bin/sh\nshift\nupload=$1\nout=$3\narguments=\"$*\"\n. \"$upload\"\n";
    char path[512];
    snprintf(path, sizeof(path), "%s/fake-child", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    if (fd < 0 || write(fd, text, sizeof(text) - 1) != (ssize_t)(sizeof(text) - 1))
        abort();
    close(fd);
    return strdup(path);
}
