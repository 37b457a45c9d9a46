#include "server/child_limits.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sanitizer.h"

struct key_row {
    const char *name;
    size_t offset;
};

static const struct key_row KEYS[] = {
    {"data=", offsetof(struct child_limits, data_bytes)},
    {"file=", offsetof(struct child_limits, file_bytes)},
    {"cpu=", offsetof(struct child_limits, cpu_s)},
};

static const struct key_row *find_key(const char *text)
{
    for (size_t i = 0; i < sizeof(KEYS) / sizeof(KEYS[0]); i++) {
        if (strncmp(text, KEYS[i].name, strlen(KEYS[i].name)) == 0)
            return &KEYS[i];
    }
    return NULL;
}

enum err child_limits_parse(const char *text, struct child_limits *ret, struct error *err)
{
    struct child_limits limits = {0};
    unsigned seen = 0;
    const char *p = text;
    for (;;) {
        const struct key_row *key = find_key(p);
        if (!key)
            return error_set(err, ERR_INVALID, "limits are data=BYTES,cpu=SECONDS,file=BYTES");
        p += strlen(key->name);
        uint64_t *value = (uint64_t *)(void *)((char *)&limits + key->offset);
        char *end = NULL;
        errno = 0;
        unsigned long long number = *p >= '0' && *p <= '9' ? strtoull(p, &end, 10) : 0;
        if (!end || errno || (*end && *end != ','))
            return error_set(err, ERR_INVALID, "limit %s needs a number", key->name);
        if (seen & 1u << (key - KEYS))
            return error_set(err, ERR_INVALID, "limit %s stands twice", key->name);
        seen |= 1u << (key - KEYS);
        *value = number;
        if (!*end)
            break;
        p = end + 1;
    }
    *ret = limits;
    return ERR_OK;
}

/* Never above what is there already. */
static int lower(int resource, rlim_t soft, rlim_t hard)
{
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)resource, &now) != 0)
        return -1;
    struct rlimit limit = {soft, hard};
    if (limit.rlim_max > now.rlim_max)
        limit.rlim_max = now.rlim_max;
    if (limit.rlim_cur > limit.rlim_max)
        limit.rlim_cur = limit.rlim_max;
    return setrlimit((__rlimit_resource_t)resource, &limit);
}

static enum err set_limits(const struct child_limits *l, struct error *err)
{
    if (l->data_bytes && !SANITIZED && lower(RLIMIT_DATA, l->data_bytes, l->data_bytes) != 0)
        return error_errno(err, errno, "cannot limit memory");
    if (l->file_bytes && lower(RLIMIT_FSIZE, l->file_bytes, l->file_bytes) != 0)
        return error_errno(err, errno, "cannot limit the size of files");
    /* SIGXCPU at the soft limit, SIGKILL a second later for who would catch it. */
    if (l->cpu_s && lower(RLIMIT_CPU, l->cpu_s, l->cpu_s + 1) != 0)
        return error_errno(err, errno, "cannot limit processor time");
    if (lower(RLIMIT_NOFILE, CHILD_LIMITS_FILES, CHILD_LIMITS_FILES) != 0)
        return error_errno(err, errno, "cannot limit open files");
    if (lower(RLIMIT_CORE, 0, 0) != 0)
        return error_errno(err, errno, "cannot switch core files off");
    signal(SIGXFSZ, SIG_IGN);
    return ERR_OK;
}

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef THIS_ARCH

/* AddressSanitizer looks for leaks from a process of its own, which stops this one by ptrace. */
#define LEAK_SEARCH (SANITIZER_ADDRESS ? CLONE_UNTRACED : 0)

#define X32_BIT 0x40000000u /* x86_64: the other table, behind the same architecture value */

/* Not all of them exist on every machine and with every kernel's headers. */
static const unsigned DENIED[] = {
    __NR_socket,
    __NR_socketpair,
    __NR_connect,
    __NR_bind,
    __NR_listen,
    __NR_accept,
    __NR_accept4,
    __NR_sendto,
    __NR_sendmsg,
    __NR_sendmmsg,
    __NR_execve,
    __NR_execveat,
#if !SANITIZER_ADDRESS
    __NR_ptrace,
#endif
    __NR_process_vm_readv,
    __NR_process_vm_writev,
    __NR_kill,
    __NR_tkill,
    __NR_rt_sigqueueinfo,
    __NR_rt_tgsigqueueinfo,
    __NR_setns,
    __NR_unshare,
    __NR_mount,
    __NR_umount2,
    __NR_pivot_root,
    __NR_chroot,
    __NR_bpf,
    __NR_perf_event_open,
    __NR_keyctl,
    __NR_add_key,
    __NR_request_key,
    __NR_userfaultfd,
    __NR_open_by_handle_at,
    __NR_init_module,
    __NR_finit_module,
    __NR_delete_module,
    __NR_kexec_load,
    __NR_reboot,
    __NR_swapon,
    __NR_swapoff,
    __NR_personality,
    __NR_setuid,
    __NR_setgid,
    __NR_setreuid,
    __NR_setregid,
    __NR_setresuid,
    __NR_setresgid,
    __NR_setgroups,
    __NR_shmget,
    __NR_msgget,
    __NR_semget,
    __NR_mq_open,
#ifdef __NR_chown
    __NR_chown,
    __NR_lchown,
#endif
#ifdef __NR_fork
    __NR_fork,
    __NR_vfork,
#endif
#ifdef __NR_pidfd_send_signal
    __NR_pidfd_send_signal,
#endif
#ifdef __NR_pidfd_getfd
    __NR_pidfd_getfd,
#endif
#ifdef __NR_io_uring_setup
    __NR_io_uring_setup,
#endif
};

#define DENIED_COUNT (sizeof(DENIED) / sizeof(DENIED[0]))
#define PROGRAM_MAX  (2 * DENIED_COUNT + 16)

struct program {
    struct sock_filter code[PROGRAM_MAX];
    unsigned short len;
};

static void emit(struct program *p, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
    p->code[p->len++] = (struct sock_filter){code, yes, no, k};
}

static void load(struct program *p, size_t offset)
{
    emit(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* "if the loaded word compares so with `k`, end with `action`" */
static void end_if(struct program *p, uint16_t compare, uint32_t k, uint32_t action)
{
    emit(p, BPF_JMP | compare | BPF_K, k, 0, 1);
    emit(p, BPF_RET | BPF_K, action, 0, 0);
}

static void build_filter(struct program *p)
{
    const uint32_t deny = SECCOMP_RET_ERRNO | (EPERM & SECCOMP_RET_DATA);
    const uint32_t unknown = SECCOMP_RET_ERRNO | (ENOSYS & SECCOMP_RET_DATA);
    p->len = 0;
    load(p, offsetof(struct seccomp_data, arch));
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCH, 1, 0);
    emit(p, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
    load(p, offsetof(struct seccomp_data, nr));
    end_if(p, BPF_JGE, X32_BIT, SECCOMP_RET_KILL_PROCESS);
    for (size_t i = 0; i < DENIED_COUNT; i++)
        end_if(p, BPF_JEQ, DENIED[i], deny);
#ifdef __NR_clone3
    /* Its flags are behind a pointer, which a filter cannot follow; the C library then uses clone. */
    end_if(p, BPF_JEQ, __NR_clone3, unknown);
#endif
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, __NR_clone, 1, 0);
    emit(p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    load(p, offsetof(struct seccomp_data, args[0])); /* the low half: both machines are LE */
    end_if(p, BPF_JSET, CLONE_THREAD | LEAK_SEARCH, SECCOMP_RET_ALLOW);
    emit(p, BPF_RET | BPF_K, deny, 0, 0);
}

static void set_filter(struct error *ret_missing)
{
    struct program p;
    build_filter(&p);
    struct sock_fprog program = {p.len, p.code};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        error_errno(ret_missing, errno, "no system call filter");
        ret_missing->code = ERR_UNSUPPORTED;
    }
}

#else

static void set_filter(struct error *ret_missing)
{
    error_set(ret_missing, ERR_UNSUPPORTED, "no system call filter for this machine");
}

#endif

/* Who started it may have died before it was bound to its death: nobody reads what it prints then. */
static bool is_orphan(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

enum err child_limits_apply(const struct child_limits *limits, struct error *ret_missing,
                            struct error *err)
{
    struct error missing = {.code = ERR_OK};
    enum err e = set_limits(limits, err);
    if (e != ERR_OK)
        return e;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || prctl(PR_SET_DUMPABLE, SANITIZER_ADDRESS) != 0)
        return error_errno(err, errno, "cannot bind to the parent");
    if (is_orphan())
        return error_set(err, ERR_IO, "nobody reads the results any more");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return error_errno(err, errno, "cannot give up privileges");
    set_filter(&missing);
    *ret_missing = missing;
    return ERR_OK;
}
