#include "server/jobs/index_child.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "server/jobs/slice_line.h"

/* How often to look whether the child is gone: it may leave its pipes open, or close them early. */
#define LOOK_MS       50
#define DRAIN_BLOCKS  64 /* more than a pipe holds */
#define ERROR_TAIL    2048
#define MESSAGE_START "stallsymd index: "

struct run {
    const struct index_child *child;
    struct arena *arena;
    struct index_child_result *result;
    size_t slice_room;
    pid_t pid;
    int out_fd; /* the child's standard output, -1 after its end */
    int err_fd;
    char line[INDEX_LINE_MAX + 1]; /* the unfinished line */
    size_t line_len;
    char tail[ERROR_TAIL]; /* the last of what it wrote to standard error */
    size_t tail_len;
};

/* --- starting --------------------------------------------------------------------------------- */

struct pipes {
    int out[2];
    int err[2];
};

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int spawn(const struct index_child *c, const struct pipes *p, char *const argv[], pid_t *ret)
{
    char *const no_environment[] = {NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                        POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    int rc = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&files, p->out[1], STDOUT_FILENO);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&files, p->err[1], STDERR_FILENO);
    if (rc == 0)
        rc = posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    if (rc == 0)
        rc = posix_spawn(ret, c->program, &files, &attr, argv, no_environment);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

static int start(struct run *r, struct pipes *p)
{
    const struct index_child *c = r->child;
    char jobs[32], limits[160], digest[SHA256_TEXT_SIZE];
    snprintf(jobs, sizeof(jobs), "%zu", c->jobs);
    snprintf(limits, sizeof(limits), "data=%" PRIu64 ",file=%" PRIu64 ",cpu=%" PRIu32,
             c->data_bytes, c->file_bytes, c->cpu_s);
    const char *argv[24];
    size_t n = 0;
    argv[n++] = "stallsymd";
    argv[n++] = "index";
    argv[n++] = c->upload;
    argv[n++] = "-o";
    argv[n++] = c->out_dir;
    argv[n++] = "--jobs";
    argv[n++] = jobs;
    argv[n++] = "--limits";
    argv[n++] = limits;
    /* A bare upload is named by itself or not at all: its file here is a number. */
    argv[n++] = "--name";
    argv[n++] = "";
    argv[n++] = "--sha256";
    argv[n++] = sha256_format(c->sha256, digest);
    argv[n++] = "--keep-maps";
    if (c->keep_objects)
        argv[n++] = "--objects";
    if (c->nameless)
        argv[n++] = "--nameless";
    if (c->maps_dir && *c->maps_dir) {
        argv[n++] = "--symbol-map";
        argv[n++] = c->maps_dir;
    }
    if (c->own_maps_dir) { /* of two maps of a UUID the later one counts */
        argv[n++] = "--symbol-map";
        argv[n++] = c->own_maps_dir;
    }
    if (c->known) {
        argv[n++] = "--known";
        argv[n++] = c->known;
    }
    argv[n] = NULL;
    return spawn(c, p, (char *const *)(uintptr_t)argv, &r->pid);
}

static enum err open_pipes(struct pipes *p, struct error *err)
{
    if (pipe2(p->out, O_CLOEXEC) != 0 || pipe2(p->err, O_CLOEXEC) != 0)
        return error_errno(err, errno, "cannot make a pipe");
    /* Read ends only: the child's ends block, as any program's output does. */
    if (fcntl(p->out[0], F_SETFL, O_NONBLOCK) != 0 || fcntl(p->err[0], F_SETFL, O_NONBLOCK) != 0)
        return error_errno(err, errno, "cannot set up a pipe");
    return ERR_OK;
}

/* --- what it prints --------------------------------------------------------------------------- */

/* The cap on what one upload may tell, or this machine at this moment? */
static enum err no_room(const struct run *r, struct error *err)
{
    return r->arena->capped ? error_set(err, ERR_LIMIT, "the upload's slices take too much memory")
                            : error_set(err, ERR_NO_MEMORY, "no memory for an upload's slices");
}

static enum err add_slice(struct run *r, const struct slice_report *slice, struct error *err)
{
    struct index_child_result *result = r->result;
    if (result->slice_count == INDEX_SLICES_MAX)
        return error_set(err, ERR_LIMIT, "more than %d slices in one upload", INDEX_SLICES_MAX);
    if (!arena_room(r->arena, (void **)&result->slices, result->slice_count, &r->slice_room,
                    sizeof(*result->slices)))
        return no_room(r, err);
    result->slices[result->slice_count++] = *slice;
    return ERR_OK;
}

static enum err take_line(struct run *r, struct error *err)
{
    struct slice_report slice;
    if (slice_line_totals(r->line, r->line_len, &r->result->totals)) {
        r->line_len = 0;
        return ERR_OK;
    }
    enum err rc = slice_line_parse(r->line, r->line_len, r->arena, &slice, err);
    if (rc == ERR_NO_MEMORY)
        return no_room(r, err);
    if (rc != ERR_OK)
        return error_prefix(err, "the indexing process printed an odd line");
    r->line_len = 0;
    return add_slice(r, &slice, err);
}

static enum err take_output(struct run *r, const char *data, size_t len, struct error *err)
{
    for (size_t i = 0; i < len; i++) {
        enum err rc = ERR_OK;
        if (data[i] == '\n')
            rc = take_line(r, err);
        else if (r->line_len == INDEX_LINE_MAX)
            rc = error_set(err, ERR_LIMIT,
                           "the indexing process printed a line of more than %d "
                           "bytes",
                           INDEX_LINE_MAX);
        else
            r->line[r->line_len++] = data[i];
        if (rc != ERR_OK)
            return rc;
    }
    return ERR_OK;
}

static void take_error_text(struct run *r, const char *data, size_t len)
{
    if (len > sizeof(r->tail)) {
        data += len - sizeof(r->tail);
        len = sizeof(r->tail);
    }
    size_t keep = r->tail_len + len > sizeof(r->tail) ? sizeof(r->tail) - len : r->tail_len;
    memmove(r->tail, r->tail + r->tail_len - keep, keep);
    memcpy(r->tail + keep, data, len);
    r->tail_len = keep + len;
}

/* Reads what is there now, though no more than DRAIN_BLOCKS (a child may write faster than it is
 * read, and the clock has to be looked at); closes at the end of the stream. */
static enum err drain(struct run *r, int *fd, struct error *err)
{
    char block[8192];
    for (int i = 0; i < DRAIN_BLOCKS && *fd >= 0; i++) {
        ssize_t n = read(*fd, block, sizeof(block));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return ERR_OK;
        if (n <= 0) {
            close_fd(fd);
            return ERR_OK;
        }
        if (fd == &r->err_fd) {
            take_error_text(r, block, (size_t)n);
            continue;
        }
        enum err rc = take_output(r, block, (size_t)n, err);
        if (rc != ERR_OK)
            return rc;
    }
    return ERR_OK;
}

/* --- how it ended ----------------------------------------------------------------------------- */

/* The last line of standard error without the program's name, control characters blanked. */
static const char *last_words(struct run *r, char *out, size_t size)
{
    size_t end = r->tail_len;
    while (end > 0 && (r->tail[end - 1] == '\n' || r->tail[end - 1] == ' '))
        end--;
    size_t begin = end;
    while (begin > 0 && r->tail[begin - 1] != '\n')
        begin--;
    size_t prefix = sizeof(MESSAGE_START) - 1;
    if (end - begin >= prefix && memcmp(r->tail + begin, MESSAGE_START, prefix) == 0)
        begin += prefix;
    size_t n = 0;
    for (size_t i = begin; i < end && n + 1 < size; i++) {
        unsigned char c = (unsigned char)r->tail[i];
        out[n++] = (char)(c < 0x20 || c == 0x7f ? ' ' : c);
    }
    out[n] = 0;
    return out;
}

static enum err died_by_signal(struct run *r, int sig, struct error *err)
{
    const struct index_child *c = r->child;
    char words[256];
    if (sig == SIGXCPU)
        return error_set(err, ERR_LIMIT, "indexing took more than %" PRIu32 " s of CPU time",
                         c->cpu_s);
    if (sig == SIGXFSZ)
        return error_set(err, ERR_LIMIT,
                         "indexing would write a file of more than %" PRIu64 " bytes",
                         c->file_bytes);
    if (sig == SIGKILL) {
        bool often = c->kills && child_kills_note(c->kills, c->sha256);
        return error_set(err, often ? ERR_LIMIT : ERR_NO_MEMORY,
                         "the indexing process was killed; the machine may be short of memory");
    }
    const char *name = sigdescr_np(sig);
    last_words(r, words, sizeof(words));
    return error_set(err, ERR_INTERNAL, "the indexing process was killed by signal %d (%s)%s%s",
                     sig, name ? name : "unknown", *words ? ": " : "", words);
}

static enum err explain_end(struct run *r, int status, struct error *err)
{
    char words[384];
    if (WIFSIGNALED(status))
        return died_by_signal(r, WTERMSIG(status), err);
    int code = WEXITSTATUS(status);
    last_words(r, words, sizeof(words));
    if (code != 0 && !*words)
        snprintf(words, sizeof(words), "the indexing process ended with status %d and no word",
                 code);
    if (code == 3)
        return error_set(err, ERR_NOT_FOUND, "%s", words);
    if (code == 4)
        return error_set(err, ERR_IO, "%s", words);
    if (code == 2 || code == 127) /* its command line is ours; 127: it could not be started */
        return error_set(err, ERR_IO, "the indexing process does not start: %s", words);
    if (code != 0)
        return error_set(err, ERR_FORMAT, "%s", words);
    if (r->line_len > 0)
        return error_set(err, ERR_FORMAT, "the indexing process stopped in the middle of a line");
    if (r->result->slice_count == 0 && r->result->totals.maps == 0)
        return error_set(err, ERR_NOT_FOUND, "the indexing process found nothing and said no word");
    return ERR_OK;
}

/* --- watching --------------------------------------------------------------------------------- */

/* Has it ended? It stays a zombie, so that its group's number is still its own. */
static bool has_ended(const struct run *r)
{
    siginfo_t info;
    memset(&info, 0, sizeof(info));
    return waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == r->pid;
}

/* One look: waits for output or a while. ERR_OK goes on. */
static enum err watch(struct run *r, int64_t deadline_ms, struct error *err)
{
    bool silent = r->out_fd < 0 && r->err_fd < 0;
    struct pollfd fds[] = {{.fd = r->out_fd, .events = POLLIN},
                           {.fd = r->err_fd, .events = POLLIN},
                           {.fd = r->child->stop_fd, .events = POLLIN}};
    /* Both streams at their end: it is about to go. */
    if (poll(fds, 3, silent ? 1 : LOOK_MS) < 0 && errno != EINTR)
        return error_errno(err, errno, "cannot watch the indexing process");
    if (fds[2].revents)
        return error_set(err, ERR_BUSY, "the daemon is stopping");
    enum err rc = drain(r, &r->out_fd, err);
    if (rc == ERR_OK)
        rc = drain(r, &r->err_fd, err);
    if (rc == ERR_OK && clock_mono_ms() >= deadline_ms)
        rc = error_set(err, ERR_LIMIT, "indexing took longer than %" PRIu32 " s", r->child->wall_s);
    return rc;
}

/* Ends whatever is left of the group, takes the status. */
static int reap(struct run *r)
{
    int status = 0;
    kill(-r->pid, SIGKILL);
    while (waitpid(r->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

static enum err attend(struct run *r, struct error *err)
{
    int64_t deadline_ms = clock_mono_ms() + (int64_t)r->child->wall_s * 1000;
    enum err rc = ERR_OK;
    bool ended = false;
    while (rc == ERR_OK && !ended) {
        ended = has_ended(r); /* before the last drain: all it wrote is in the pipes by then */
        rc = watch(r, deadline_ms, err);
    }
    int status = reap(r);
    return rc == ERR_OK ? explain_end(r, status, err) : rc;
}

enum err index_child_run(const struct index_child *child, struct arena *arena,
                         struct index_child_result *ret, struct error *err)
{
    struct pipes pipes = {{-1, -1}, {-1, -1}};
    struct run *r = calloc(1, sizeof(*r));
    memset(ret, 0, sizeof(*ret));
    if (!r)
        return error_set(err, ERR_NO_MEMORY, "no memory to run the indexing process");
    r->child = child;
    r->arena = arena;
    r->result = ret;
    enum err rc = open_pipes(&pipes, err);
    r->out_fd = pipes.out[0];
    r->err_fd = pipes.err[0];
    if (rc != ERR_OK)
        goto out;
    int problem = start(r, &pipes);
    if (problem != 0) {
        rc = error_errno(err, problem, "cannot start the indexing process");
        goto out;
    }
    close_fd(&pipes.out[1]);
    close_fd(&pipes.err[1]);
    rc = attend(r, err);
    if (rc == ERR_OK && child->kills)
        child_kills_forget(child->kills, child->sha256);
out:
    close_fd(&pipes.out[1]);
    close_fd(&pipes.err[1]);
    close_fd(&r->out_fd);
    close_fd(&r->err_fd);
    free(r);
    return rc;
}

enum err index_child_note(const struct index_child_result *told, const char *maps,
                          struct arena *arena, const char **ret, struct error *err)
{
    size_t known = 0;
    char counts[160] = "";
    for (size_t i = 0; i < told->slice_count; i++)
        known += told->slices[i].state == SLICE_KNOWN;
    if (known > 0)
        snprintf(counts, sizeof(counts), "%zu of %zu symbol files were known already", known,
                 told->slice_count);
    size_t n = strlen(counts);
    if (told->totals.others > 0)
        snprintf(counts + n, sizeof(counts) - n, "%s%" PRIu64 " %s", n ? "; " : "",
                 told->totals.others,
                 told->totals.others == 1 ? "file is no symbol file" : "files are no symbol files");
    const char *note = maps;
    if (*counts)
        note = arena_printf(arena, "%s%s%s", maps ? maps : "", maps ? "; " : "", counts);
    if (*counts && !note)
        return error_set(err, ERR_NO_MEMORY, "no memory for what is to be said of an upload");
    *ret = note;
    return ERR_OK;
}
