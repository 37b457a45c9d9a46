#include "server/http/tls.h"

#include <errno.h>
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"

struct pair {
    gnutls_pcert_st chain[TLS_CHAIN_MAX];
    unsigned count;
    gnutls_privkey_t key;
    int64_t retired_mono_ms;
    struct pair *next; /* retired before */
};

static struct {
    pthread_mutex_t lock;
    char *certificate, *key_file;
    struct pair *now;
    struct pair *retired;
} tls = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void pair_free(struct pair *p)
{
    if (!p)
        return;
    for (unsigned i = 0; i < p->count; i++)
        gnutls_pcert_deinit(&p->chain[i]);
    if (p->key)
        gnutls_privkey_deinit(p->key);
    free(p);
}

/* --- reading ---------------------------------------------------------------------------------- */

static enum err check_mode(const char *path, struct error *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return error_errno(err, errno, "TLS key %s", path);
    if (st.st_mode & (S_IROTH | S_IWOTH))
        return error_set(err, ERR_DENIED,
                         "TLS key %s can be read by everybody (mode %03o); chmod o-rwx it", path,
                         (unsigned)st.st_mode & 0777u);
    return ERR_OK;
}

static enum err read_pem(const char *what, const char *path, struct buf *out, struct error *err)
{
    enum err rc = file_read(path, out, err);
    if (rc != ERR_OK)
        return error_prefix(err, "TLS %s", what);
    if (out->len == 0)
        return error_set(err, ERR_FORMAT, "TLS %s %s is empty", what, path);
    return ERR_OK;
}

static gnutls_datum_t datum_of(const struct buf *b)
{
    return (gnutls_datum_t){.data = (unsigned char *)b->data, .size = (unsigned)b->len};
}

static enum err load_key(struct pair *p, const char *path, struct error *err)
{
    struct buf pem;
    buf_init(&pem, TLS_FILE_MAX);
    enum err rc = check_mode(path, err);
    if (rc == ERR_OK)
        rc = read_pem("key", path, &pem, err);
    if (rc == ERR_OK && gnutls_privkey_init(&p->key) != 0)
        rc = error_set(err, ERR_NO_MEMORY, "no memory for a TLS key");
    if (rc == ERR_OK) {
        gnutls_datum_t data = datum_of(&pem);
        int n = gnutls_privkey_import_x509_raw(p->key, &data, GNUTLS_X509_FMT_PEM, NULL, 0);
        if (n != 0)
            rc = error_set(err, ERR_FORMAT, "TLS key %s cannot be used: %s", path,
                           gnutls_strerror(n));
    }
    if (pem.data)
        explicit_bzero(pem.data, pem.len);
    buf_done(&pem);
    return rc;
}

static enum err check_dates(gnutls_x509_crt_t leaf, const char *path, int64_t wall_ms,
                            struct error *err)
{
    if ((int64_t)gnutls_x509_crt_get_expiration_time(leaf) * 1000 <= wall_ms)
        return error_set(err, ERR_INVALID, "TLS certificate %s has expired", path);
    if ((int64_t)gnutls_x509_crt_get_activation_time(leaf) * 1000 > wall_ms)
        return error_set(err, ERR_INVALID, "TLS certificate %s is not valid yet", path);
    return ERR_OK;
}

static enum err check_fit(const struct pair *p, gnutls_x509_crt_t leaf, const char *path,
                          struct error *err)
{
    unsigned char ids[2][64];
    size_t sizes[2] = {sizeof(ids[0]), sizeof(ids[1])};
    gnutls_pubkey_t of_key = NULL;
    bool fits = gnutls_pubkey_init(&of_key) == 0 &&
                gnutls_pubkey_import_privkey(of_key, p->key, 0, 0) == 0 &&
                gnutls_pubkey_get_key_id(of_key, GNUTLS_KEYID_USE_SHA256, ids[0], &sizes[0]) == 0 &&
                gnutls_x509_crt_get_key_id(leaf, GNUTLS_KEYID_USE_SHA256, ids[1], &sizes[1]) == 0 &&
                sizes[0] == sizes[1] && memcmp(ids[0], ids[1], sizes[0]) == 0;
    if (of_key)
        gnutls_pubkey_deinit(of_key);
    return fits ? ERR_OK
                : error_set(err, ERR_INVALID, "TLS key is not that of the certificate %s", path);
}

static enum err take_chain(struct pair *p, gnutls_x509_crt_t *certs, unsigned count,
                           const char *path, int64_t wall_ms, struct error *err)
{
    enum err rc = check_dates(certs[0], path, wall_ms, err);
    if (rc == ERR_OK)
        rc = check_fit(p, certs[0], path, err);
    for (unsigned i = 0; i < count && rc == ERR_OK; i++) {
        int n = gnutls_pcert_import_x509(&p->chain[i], certs[i], 0);
        if (n != 0)
            rc = error_set(err, ERR_FORMAT, "TLS certificate %s cannot be used: %s", path,
                           gnutls_strerror(n));
        else
            p->count++;
    }
    return rc;
}

static enum err load_chain(struct pair *p, const char *path, int64_t wall_ms, struct error *err)
{
    gnutls_x509_crt_t certs[TLS_CHAIN_MAX];
    unsigned count = TLS_CHAIN_MAX;
    struct buf pem;
    buf_init(&pem, TLS_FILE_MAX);
    enum err rc = read_pem("certificate", path, &pem, err);
    if (rc == ERR_OK) {
        gnutls_datum_t data = datum_of(&pem);
        int n = gnutls_x509_crt_list_import(certs, &count, &data, GNUTLS_X509_FMT_PEM,
                                            GNUTLS_X509_CRT_LIST_IMPORT_FAIL_IF_EXCEED);
        if (n < 1)
            rc = error_set(err, ERR_FORMAT, "TLS certificate %s cannot be used: %s", path,
                           n < 0 ? gnutls_strerror(n) : "there is none in it");
    }
    if (rc == ERR_OK) {
        rc = take_chain(p, certs, count, path, wall_ms, err);
        for (unsigned i = 0; i < count; i++)
            gnutls_x509_crt_deinit(certs[i]);
    }
    buf_done(&pem);
    return rc;
}

static enum err load(int64_t wall_ms, struct pair **ret, struct error *err)
{
    struct pair *p = calloc(1, sizeof(*p));
    if (!p)
        return error_set(err, ERR_NO_MEMORY, "no memory for a TLS certificate");
    enum err rc = load_key(p, tls.key_file, err);
    if (rc == ERR_OK)
        rc = load_chain(p, tls.certificate, wall_ms, err);
    if (rc != ERR_OK)
        pair_free(p);
    else
        *ret = p;
    return rc;
}

/* --- in force --------------------------------------------------------------------------------- */

static void drop_retired(int64_t before_mono_ms)
{
    for (struct pair **at = &tls.retired; *at;) {
        struct pair *p = *at;
        if (p->retired_mono_ms < before_mono_ms) {
            *at = p->next;
            pair_free(p);
        } else {
            at = &p->next;
        }
    }
}

static enum err check_priorities(const char *priorities, struct error *err)
{
    gnutls_priority_t parsed = NULL;
    const char *at = NULL;
    int n = gnutls_priority_init(&parsed, priorities, &at);
    if (n != 0)
        return error_set(err, ERR_INVALID, "[tls] priorities: %s, at \"%.60s\"", gnutls_strerror(n),
                         at ? at : "");
    gnutls_priority_deinit(parsed);
    return ERR_OK;
}

enum err tls_start(const char *certificate, const char *key, const char *priorities,
                   int64_t wall_ms, bool *ret_on, struct error *err)
{
    struct pair *p = NULL;
    *ret_on = false;
    if ((certificate && *certificate) != (key && *key))
        return error_set(err, ERR_INVALID,
                         "[tls] certificate and key are given together or not at all");
    if (!certificate || !*certificate)
        return ERR_OK;
    if (priorities && *priorities && check_priorities(priorities, err) != ERR_OK)
        return ERR_INVALID;
    tls.certificate = strdup(certificate);
    tls.key_file = strdup(key);
    enum err rc = tls.certificate && tls.key_file
                      ? load(wall_ms, &p, err)
                      : error_set(err, ERR_NO_MEMORY, "no memory for a TLS certificate");
    if (rc != ERR_OK) {
        tls_stop();
        return rc;
    }
    pthread_mutex_lock(&tls.lock);
    tls.now = p;
    pthread_mutex_unlock(&tls.lock);
    *ret_on = true;
    return ERR_OK;
}

enum err tls_reload(int64_t wall_ms, int64_t mono_ms, struct error *err)
{
    struct pair *p = NULL;
    if (!tls.now)
        return ERR_OK;
    enum err rc = load(wall_ms, &p, err);
    if (rc != ERR_OK)
        return rc;
    pthread_mutex_lock(&tls.lock);
    tls.now->retired_mono_ms = mono_ms;
    tls.now->next = tls.retired;
    tls.retired = tls.now;
    tls.now = p;
    drop_retired(mono_ms - TLS_RETIRED_MS);
    pthread_mutex_unlock(&tls.lock);
    return ERR_OK;
}

void tls_stop(void)
{
    pthread_mutex_lock(&tls.lock);
    drop_retired(INT64_MAX);
    pair_free(tls.now);
    tls.now = NULL;
    free(tls.certificate);
    free(tls.key_file);
    tls.certificate = tls.key_file = NULL;
    pthread_mutex_unlock(&tls.lock);
}

static int retrieve(gnutls_session_t session, const gnutls_datum_t *req_ca_rdn, int nreqs,
                    const gnutls_pk_algorithm_t *pk_algos, int pk_algos_length,
                    gnutls_pcert_st **pcert, unsigned *pcert_length, gnutls_privkey_t *privkey)
{
    (void)session;
    (void)req_ca_rdn;
    (void)nreqs;
    (void)pk_algos;
    (void)pk_algos_length;
    pthread_mutex_lock(&tls.lock);
    struct pair *p = tls.now;
    if (p) {
        *pcert = p->chain;
        *pcert_length = p->count;
        *privkey = p->key;
    }
    pthread_mutex_unlock(&tls.lock);
    return p ? 0 : -1;
}

void *tls_callback(void)
{
    gnutls_certificate_retrieve_function2 *f = retrieve;
    void *data;
    memcpy(&data, &f, sizeof(data));
    return data;
}

/* --- clients without TLS ---------------------------------------------------------------------- */

#define RECORD_HEADER 5 /* bytes GnuTLS asks for first; a record's first is never a letter */
#define DRAINED_BYTES (64 << 10)

static bool begins_http(const char *bytes)
{
    static const char *const methods[] = {"GET /", "POST ", "PUT /", "HEAD ",
                                          "PATCH", "DELET", "OPTIO", "PRI *"};
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (memcmp(bytes, methods[i], RECORD_HEADER) == 0)
            return true;
    }
    return false;
}

/* What was sent has to be read, or the close resets the connection and the answer is lost. Who sends
 * more than fits at once may get no answer, as before. */
static void tell_to_use_tls(int fd)
{
    static const char answer[] =
        "HTTP/1.1 400 Bad Request\r\n"
        "Content-Type: application/problem+json\r\n"
        "Content-Length: 103\r\n"
        "Connection: close\r\n\r\n"
        "{\"type\":\"about:blank\",\"title\":\"Bad Request\",\"status\":400,"
        "\"detail\":\"this port speaks TLS: use https://\"}";
    char rest[4096];
    size_t drained = 0;
    for (ssize_t n; drained < DRAINED_BYTES; drained += (size_t)n) {
        n = recv(fd, rest, sizeof(rest), MSG_DONTWAIT);
        if (n <= 0)
            break;
    }
    (void)send(fd, answer, sizeof(answer) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* As GnuTLS reads by itself, but for one look at the head of a record. */
static ssize_t pull(gnutls_transport_ptr_t transport, void *data, size_t size)
{
    const int fd = (int)(intptr_t)transport;
    ssize_t n = recv(fd, data, size, 0);
    if (n != RECORD_HEADER || size != RECORD_HEADER || !begins_http(data))
        return n;
    tell_to_use_tls(fd);
    return 0; /* as if it had gone */
}

void tls_watch(void *session)
{
    gnutls_transport_set_pull_function(session, pull);
}
