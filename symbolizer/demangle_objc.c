#include <string.h>

#include "symbolizer/demangle.h"
#include "symbolizer/demangle_parts.h"

#define BLOCK     "_block_invoke"
#define BLOCK_LEN (sizeof(BLOCK) - 1)

static size_t digits(const char *s)
{
    return strspn(s, "0123456789");
}

/* What may follow the word: "_2", then ".44" (a number the compiler added) or ".cold.1". */
static bool is_block_end(const char *s)
{
    if (s[0] == '_' && digits(s + 1) > 0)
        s += 1 + digits(s + 1);
    return s[0] == 0 || s[0] == '.';
}

/* The first "_block_invoke" that is followed by nothing but its number; blocks in blocks have the
 * name of the function all of them are in, once. */
static const char *find_block(const char *s)
{
    for (const char *at = s; (at = strstr(at, BLOCK)) != NULL; at += BLOCK_LEN) {
        const char *rest = at + BLOCK_LEN;
        while (strncmp(rest, BLOCK, BLOCK_LEN) == 0)
            rest += BLOCK_LEN;
        if (is_block_end(rest))
            return at;
    }
    return NULL;
}

/* ".cold.1" and the like are worth a word, mere numbers are not. */
static void put_clone(struct demangle_out *o, const char *end)
{
    const char *dot = strchr(end, '.');
    if (!dot || dot[1 + digits(dot + 1)] == 0)
        return;
    demangle_puts(o, " [clone ");
    demangle_puts(o, dot);
    demangle_puts(o, "]");
}

static bool is_identifier(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool letter = (s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') || s[i] == '_' ||
                      s[i] == '$' || (unsigned char)s[i] >= 0x80;
        bool digit = s[i] >= '0' && s[i] <= '9';
        if (!letter && !(digit && i > 0))
            return false;
    }
    return len > 0;
}

/* The function a block is in; false when the text before the block's end is none. */
static bool put_function(struct demangle_out *o, const char *s, size_t len)
{
    char name[DEMANGLE_INPUT_MAX + 1];
    char shown[DEMANGLE_OUTPUT_MAX];
    size_t number = digits(s);
    if (number > 0 && number + 2 < len && (s[number] == '-' || s[number] == '+') &&
        s[number + 1] == '[' && s[len - 1] == ']') {
        demangle_put(o, s + number, len - number);
        return true;
    }
    if (len >= sizeof(name))
        return false;
    memcpy(name, s, len);
    name[len] = 0;
    const char *cxx = strncmp(name, "__Z", 3) == 0 ? name + 1 : name;
    if (strncmp(cxx, "_Z", 2) == 0) {
        if (!demangle_cxx(cxx, shown, sizeof(shown)))
            return false;
        demangle_puts(o, shown);
        return true;
    }
    if (!is_identifier(name, len) || strspn(name, "_") == len)
        return false;
    demangle_puts(o, name);
    return true;
}

bool demangle_objc(const char *name, char *out, size_t size)
{
    struct demangle_out o;
    if (strncmp(name, "__", 2) != 0)
        return false;
    const char *function = name + 2;
    /* A Mach-O symbol's own underscore; of C functions it cannot be told from a part of the name. */
    if (function[0] == '_' && digits(function + 1) > 0)
        function++;
    const char *block = find_block(function);
    if (!block)
        return false;
    demangle_out_init(&o, out, size);
    if (!put_function(&o, function, (size_t)(block - function)))
        return false;
    demangle_puts(&o, " block");
    put_clone(&o, block + BLOCK_LEN);
    demangle_out_end(&o);
    return true;
}
