/* An adapter between tokspec and a tokenizer, in C99; protocol.c speaks with the suite. README.md says what to do next.
   Standard output belongs to the protocol: print to stderr. A signal, such as that of abort(), counts as a crash. */
#include "protocol.h"

#include <stdio.h>
#include <stdlib.h>

/* Characters as tokens. Put your tokenizer's answer here; "ids" and "spans" may stand beside "tokens". */
void encode(void *model, const char *input) {
    size_t length, from = 0;
    char *text = json_text(json_get(input, "text"), &length);
    (void)model;
    if (!text) {
        refuse("unsupported", "this adapter takes strings that JSON can carry");
        return;
    }
    accept_request();
    printf("{\"tokens\": [");
    for (size_t to = 1; from < length; to++) {
        if (to < length && (text[to] & 0xC0) == 0x80) continue; /* within a character */
        if (from) printf(", ");
        json_put(text + from, to - from);
        from = to;
    }
    printf("]}");
    free(text);
}

/* The operations that you offer; spec/10-protocol.md lists what each takes and gives. What is absent is unsupported. */
const struct operation operations[] = {
    // {"encode", encode},
    {NULL, NULL},
};

/* Gives what the operations get as their model: your tokenizer. This template keeps the model as the suite wrote it. */
void *load(const char *format, const char *content) {
    /* Make your tokenizer here. A recipe, with yours in place of mine:
           if (!json_is(json_get(content, "type"), "bpe") || json_get(content, "normalizer")) {
               refuse("unsupported", "has BPE alone, and no normalizers");  what it does not have
               return NULL;
           }
           struct mine *made = mine_new(json_get(content, "vocabulary"), json_get(content, "merges"));
           if (!made) refuse("invalid_model", mine_error());  what it rejects; a signal is a crash
           return made; */
    (void)format;
    return json_copy(content);
}

/* formats: or "tokenizer.json", which Hugging Face tokenizers save; the preferred first.
   encode_fields: add "ids" and "spans" as soon as encode gives them.
   choices: such as {"bpe_merge_order": "lowest_rank"}; spec/08-choices.md has them all. */
const char hello[] = "\"name\": \"mine\", \"version\": \"0.1\", \"language\": \"C\", \"formats\": [\"tokspec\"], "
                     "\"encode_fields\": [\"tokens\"], \"choices\": {}";
