/*
 * embed - a build tool: files in, C arrays out.
 *
 * Purpose: `embed NAME=FILE …` prints, for each, `static const unsigned char asset_NAME[]` with the
 * bytes of FILE. Portable where `ld -r -b binary`, xxd and #embed are not.
 */
#include <stdio.h>
#include <string.h>

static int embed(const char *arg)
{
    const char *equals = strchr(arg, '=');
    FILE *in = equals ? fopen(equals + 1, "rb") : NULL;
    int c;
    long n = 0;
    if (!in) {
        fprintf(stderr, "embed: cannot read %s\n", arg);
        return 1;
    }
    printf("static const unsigned char asset_%.*s[] = {", (int)(equals - arg), arg);
    while ((c = getc(in)) != EOF)
        printf("%s%d,", n++ % 24 == 0 ? "\n" : "", c);
    printf("\n};\n");
    int failed = ferror(in);
    fclose(in);
    if (n == 0)
        fprintf(stderr, "embed: %s is empty\n", equals + 1);
    return failed || n == 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (embed(argv[i]) != 0)
            return 1;
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
