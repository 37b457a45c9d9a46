#include "storage/storage_health.h"

#include <stdio.h>

void storage_health_init(struct storage_health *h)
{
    pthread_mutex_init(&h->lock, NULL);
    h->trouble = STORAGE_SOUND;
    h->noted = 0;
    h->text[0] = 0;
    h->checkpoint = (struct error){.code = ERR_OK};
}

void storage_health_done(struct storage_health *h)
{
    pthread_mutex_destroy(&h->lock);
}

void storage_health_note(struct storage_health *h, enum storage_trouble trouble, const char *text)
{
    pthread_mutex_lock(&h->lock);
    if (trouble > h->trouble) {
        h->trouble = trouble;
        snprintf(h->text, sizeof(h->text), "%s", text);
    }
    h->noted++;
    pthread_mutex_unlock(&h->lock);
}

enum storage_trouble storage_health_get(struct storage_health *h, char *text, size_t size)
{
    pthread_mutex_lock(&h->lock);
    enum storage_trouble trouble = h->trouble;
    if (text)
        snprintf(text, size, "%s", h->text);
    pthread_mutex_unlock(&h->lock);
    return trouble;
}

uint64_t storage_health_mark(struct storage_health *h)
{
    pthread_mutex_lock(&h->lock);
    uint64_t mark = h->noted;
    pthread_mutex_unlock(&h->lock);
    return mark;
}

void storage_health_clear(struct storage_health *h, uint64_t mark)
{
    pthread_mutex_lock(&h->lock);
    if (h->noted == mark) {
        h->trouble = STORAGE_SOUND;
        h->text[0] = 0;
    }
    pthread_mutex_unlock(&h->lock);
}

void storage_health_checkpoint(struct storage_health *h, const struct error *failed)
{
    pthread_mutex_lock(&h->lock);
    h->checkpoint = failed ? *failed : (struct error){.code = ERR_OK};
    pthread_mutex_unlock(&h->lock);
}

enum err storage_health_last_checkpoint(struct storage_health *h, struct error *err)
{
    pthread_mutex_lock(&h->lock);
    *err = h->checkpoint;
    pthread_mutex_unlock(&h->lock);
    return err->code;
}
