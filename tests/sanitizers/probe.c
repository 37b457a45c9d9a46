/* probe - a fault on purpose, so that a run of tests knows that its sanitizer would tell: probe leak,
 * overflow, shift or race. Linked with options.c, as the daemon is. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int shared;

static void *add(void *arg)
{
    shared += *(int *)arg;
    return NULL;
}

static int leak(int n)
{
    void *volatile p = malloc((size_t)n * 1000);
    p = NULL;
    return p != NULL;
}

static int overflow(int n)
{
    char *volatile p = calloc(1, (size_t)n);
    int c = p[n];
    free((void *)p);
    return c;
}

static int shift(int n)
{
    return 1 << (31 + n);
}

static int race(int n)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, add, &n) != 0)
        return 1;
    shared++;
    pthread_join(thread, NULL);
    return 0;
}

static const struct {
    const char *name;
    int (*run)(int n);
} FAULTS[] = {{"leak", leak}, {"overflow", overflow}, {"shift", shift}, {"race", race}};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof(FAULTS) / sizeof(FAULTS[0]); i++) {
        if (strcmp(argv[1], FAULTS[i].name) == 0)
            return FAULTS[i].run(argc) & 0;
    }
    fprintf(stderr, "probe: leak, overflow, shift or race\n");
    return 2;
}
