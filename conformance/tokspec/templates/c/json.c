/* JSON as the protocol needs it, without a library; protocol.h says what is here. It can stay as it is. */
#include "protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JSON_DEEPEST = 256 };

static const char *json_space(const char *at) {
    return at + strspn(at, " \t\r\n");
}

static const char *json_string_end(const char *at) {
    for (at++; *at != '"'; at++) {
        if ((unsigned char)*at < ' ') return NULL; /* a control character, or the end of the line */
        if (*at != '\\') continue;
        at++;
        if (*at == 'u') {
            if (strspn(at + 1, "0123456789abcdefABCDEF") < 4) return NULL;
            at += 4;
        } else if (!*at || !strchr("\"\\/bfnrt", *at)) {
            return NULL;
        }
    }
    return at + 1;
}

static const char *json_number_end(const char *at) {
    static const char digits[] = "0123456789";
    at += *at == '-';
    if (!strspn(at, digits)) return NULL;
    at += *at == '0' ? 1 : strspn(at, digits);
    if (*at == '.') {
        if (!strspn(++at, digits)) return NULL;
        at += strspn(at, digits);
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        at += *at == '+' || *at == '-';
        if (!strspn(at, digits)) return NULL;
        at += strspn(at, digits);
    }
    return at;
}

static const char *json_end_within(const char *at, int depth) {
    static const char *const words[] = {"true", "false", "null"};
    if (*at == '"') return json_string_end(at);
    if (*at == '{' || *at == '[') {
        char close = *at == '{' ? '}' : ']';
        if (depth == JSON_DEEPEST) return NULL;
        at = json_space(at + 1);
        if (*at == close) return at + 1;
        for (;; at = json_space(at + 1)) {
            if (close == '}') {
                if (*at != '"' || !(at = json_string_end(at)) || *(at = json_space(at)) != ':') return NULL;
                at = json_space(at + 1);
            }
            if (!(at = json_end_within(at, depth + 1))) return NULL;
            at = json_space(at);
            if (*at == close) return at + 1;
            if (*at != ',') return NULL;
        }
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!strncmp(at, words[i], strlen(words[i]))) return at + strlen(words[i]);
    }
    return json_number_end(at);
}

const char *json_end(const char *value) {
    return json_end_within(value, 0);
}

const char *json_first(const char *value) {
    if (!value || (*value != '[' && *value != '{')) return NULL;
    value = json_space(value + 1);
    return *value == ']' || *value == '}' ? NULL : value;
}

const char *json_next(const char *item) {
    item = json_space(json_end(item));
    return *item == ',' || *item == ':' ? json_space(item + 1) : NULL;
}

char *json_copy(const char *value) {
    size_t length = (size_t)(json_end(value) - value);
    char *copy = malloc(length + 1);
    if (!copy) abort();
    memcpy(copy, value, length);
    copy[length] = 0;
    return copy;
}

static unsigned long json_unit(const char *at) {
    char digits[5] = {at[0], at[1], at[2], at[3], 0};
    return strtoul(digits, NULL, 16);
}

static char *json_utf8(char *to, unsigned long character) {
    int more = character < 0x80 ? 0 : character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xC0, 0xE0, 0xF0};
    *to++ = (char)(lead[more] | character >> 6 * more);
    while (more--) *to++ = (char)(0x80 | (character >> 6 * more & 0x3F));
    return to;
}

char *json_text(const char *value, size_t *length) {
    static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
    if (!value || *value != '"') return NULL;
    char *text = malloc((size_t)(json_end(value) - value)), *to = text;
    if (!text) abort();
    for (value++; *value != '"'; value++) {
        if (*value != '\\') {
            *to++ = *value;
        } else if (*++value == 'u') {
            unsigned long unit = json_unit(value + 1);
            value += 4;
            if (unit >= 0xD800 && unit < 0xE000) {
                unsigned long low = value[1] == '\\' && value[2] == 'u' ? json_unit(value + 3) : 0;
                if (unit >= 0xDC00 || low < 0xDC00 || low >= 0xE000) return free(text), NULL;
                unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                value += 6;
            }
            to = json_utf8(to, unit);
        } else {
            const char *letter = strchr(letters, *value);
            *to++ = letter ? meant[letter - letters] : *value;
        }
    }
    *to = 0;
    if (length) *length = (size_t)(to - text);
    return text;
}

int json_is(const char *value, const char *string) {
    size_t length;
    char *text = json_text(value, &length);
    int same = text && length == strlen(string) && !memcmp(text, string, length);
    free(text);
    return same;
}

const char *json_get(const char *object, const char *key) {
    if (!object || *object != '{') return NULL;
    for (const char *at = json_first(object); at; at = json_next(json_next(at))) {
        if (json_is(at, key)) return json_next(at);
    }
    return NULL;
}

void json_put(const char *text, size_t length) {
    putchar('"');
    for (; length--; text++) {
        if ((unsigned char)*text < ' ') {
            printf("\\u%04x", (unsigned)*text);
        } else {
            if (*text == '"' || *text == '\\') putchar('\\');
            putchar(*text);
        }
    }
    putchar('"');
}
