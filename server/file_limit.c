#include "server/file_limit.h"

#include <stdint.h>
#include <sys/resource.h>

#include "base/log.h"

static size_t raise_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 1024;
    struct rlimit raised = {limit.rlim_max, limit.rlim_max};
    if (limit.rlim_cur != limit.rlim_max && setrlimit(RLIMIT_NOFILE, &raised) == 0)
        limit.rlim_cur = limit.rlim_max;
    return limit.rlim_cur == RLIM_INFINITY ? SIZE_MAX : (size_t)limit.rlim_cur;
}

size_t file_limit_connections(size_t connections, size_t others)
{
    size_t files = raise_limit();
    size_t own = FILE_LIMIT_OWN + others;
    if (files >= own && files - own >= connections)
        return connections;
    size_t left = files > 2 * own ? files - own : files / 2;
    left = left < connections ? left : connections;
    left = left > 0 ? left : 1;
    if (left < connections)
        log_warn("fewer connections than configured: the limit of open files is low",
                 "files=%zu wanted=%zu connections=%zu", files, connections, left);
    return left;
}
