/* The protocol of spec/10-protocol.md: one JSON object a line in, one a line out. It can stay as it is. */
#include "protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct model {
    char *name;
    void *loaded;
    struct model *next;
} *models;

void accept_request(void) {
    printf(", \"ok\": ");
}

void refuse(const char *reason, const char *message) {
    printf(", \"refused\": {\"reason\": \"%s\", \"message\": ", reason);
    json_put(message, strlen(message));
    putchar('}');
}

static void answer_hello(void) {
    accept_request();
    printf("{\"protocol\": 1, %s, \"operations\": [", hello);
    for (const struct operation *each = operations; each->name; each++) {
        printf("%s\"%s\"", each == operations ? "" : ", ", each->name);
    }
    printf("]}");
}

static void answer_load(const char *request) {
    const char *content = json_get(request, "content");
    char *name = json_text(json_get(request, "model"), NULL), *format = json_text(json_get(request, "format"), NULL);
    struct model *made = malloc(sizeof *made);
    if (!made) abort();
    if (!name || !format || !content) {
        refuse("unsupported", "load takes a model, a format and content");
    } else if ((made->loaded = load(format, content))) {
        made->name = name;
        made->next = models;
        models = made;
        accept_request();
        printf("{}");
        name = NULL, made = NULL;
    }
    free(made);
    free(name);
    free(format);
}

static void perform(const char *request, const char *op) {
    const struct operation *operation = operations;
    struct model *model = models;
    while (operation->name && !json_is(op, operation->name)) operation++;
    while (model && !json_is(json_get(request, "model"), model->name)) model = model->next;
    if (operation->name && model) {
        operation->run(model->loaded, json_get(request, "input"));
    } else {
        refuse("unsupported", operation->name ? "no such model is loaded" : "there is no such operation");
    }
}

static void answer(const char *request, const char *op) {
    if (json_is(op, "hello")) {
        answer_hello();
    } else if (json_is(op, "load")) {
        answer_load(request);
    } else if (json_is(op, "bye")) {
        accept_request();
        printf("{}");
    } else {
        perform(request, op);
    }
}

/* The next line, however long, without its end; NULL at the end of the input. */
static char *read_line(size_t *length) {
    static char *line;
    static size_t room;
    int character;
    for (*length = 0; (character = getchar()) != '\n'; line[(*length)++] = (char)character) {
        if (character == EOF) return NULL;
        if (*length + 1 >= room && !(line = realloc(line, room = 2 * room + 256))) abort();
    }
    if (!line && !(line = malloc(room = 256))) abort();
    line[*length] = 0;
    return line;
}

/* The object that the line is, or NULL. */
static const char *parse(const char *line, size_t length) {
    const char *request = line + strspn(line, " \t\r"), *end = json_end(request);
    return end && *request == '{' && end + strspn(end, " \t\r") == line + length ? request : NULL;
}

int main(void) {
    size_t length;
    for (char *line; (line = read_line(&length));) {
        const char *request = parse(line, length), *id = json_get(request, "id"), *op = json_get(request, "op");
        printf("{\"id\": %.*s", id ? (int)(json_end(id) - id) : 4, id ? id : "null");
        answer(request, op);
        printf("}\n");
        fflush(stdout);
        if (json_is(op, "bye")) break;
    }
    return 0;
}
