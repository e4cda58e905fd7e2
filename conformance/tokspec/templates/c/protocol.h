/* What adapter.c defines, and what protocol.c and json.c do for it. It can stay as it is. */
#ifndef PROTOCOL_H
#define PROTOCOL_H

#include <stddef.h>

/* In adapter.c: the answer to `hello` but for protocol and operations, the operations up to one without a name, and load(). */
struct operation {
    const char *name;
    void (*run)(void *model, const char *input);
};
extern const char hello[];
extern const struct operation operations[];
void *load(const char *format, const char *content);

/* Every operation answers once: it calls accept_request() and prints its result, or it refuses, with a reason of
   spec/09-errors.md. load() gives a model, or refuses and gives NULL. */
void accept_request(void);
void refuse(const char *reason, const char *message);

/* JSON: a value is a pointer into the line of the request, which is gone after the answer, or into a copy.
   If this is not enough, add the JSON library that you like, and give it json_copy(value). */

/* The place after a value, or NULL if it is no JSON. What operations and load() get is. */
const char *json_end(const char *value);

/* The value of a key; NULL if there is none, or no object. */
const char *json_get(const char *object, const char *key);

/* The first item of an array, or key of an object, and the one after; NULL if there is none. After a key comes its value. */
const char *json_first(const char *value);
const char *json_next(const char *item);

/* A string as UTF-8 that ends with 0, for you to free; *length, unless NULL, counts bytes, as U+0000 may be among them.
   NULL if the value is no string or has a lone surrogate: what JSON cannot carry comes as {"hex": "…"}. */
char *json_text(const char *value, size_t *length);

/* Whether a value is this string. */
int json_is(const char *value, const char *string);

/* A value by itself, as JSON that ends with 0, for you to free. */
char *json_copy(const char *value);

/* Print UTF-8 as a string. */
void json_put(const char *text, size_t length);

#endif
