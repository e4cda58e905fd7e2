// Where @huggingface/tokenizers 0.2.0 is known to dissent from the specification (spec/08-choices.md, "Dissents"): what
// tells such a request, and what the library does. These requests are refused as unsupported; no answer is mended.

export class Refusal extends Error {
  constructor(reason, message) {
    super(message);
    this.reason = reason;
  }
}

// Refuse unless a condition holds.
export function need(condition, message, reason = "unsupported") {
  if (!condition) throw new Refusal(reason, message);
}

// Refuse what is among the dissents of a kind, given the model's tokenizer.json and whatever that kind looks at.
export function refuseDissents(kind, content, ...seen) {
  for (const [tells, what] of DISSENTS[kind]) need(!tells(content, ...seen), what);
}

// The stages of one type in a part of tokenizer.json, those in sequences included.
function stages(part, type) {
  if (!part) return [];
  if (part.type === type) return [part];
  return (part.normalizers ?? part.pretokenizers ?? []).flatMap((member) => stages(member, type));
}

const normalized = (tokenizer, text) => tokenizer.normalizer?.normalize(text) ?? text;

const times = (part, text) => text.split(part).length - 1;

// What the model is given of a stretch without special tokens.
function pieces(tokenizer, text) {
  const given = normalized(tokenizer, text);
  return given === "" ? [] : (tokenizer.pre_tokenizer?.(given) ?? [given]);
}

// A text cut at its special tokens, of which the longest counts; every second part is one.
function cut(text, added_tokens) {
  const contents = added_tokens.map(({ content }) => content.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  if (contents.length === 0) return [text];
  return text.split(new RegExp(`(${contents.sort((a, b) => b.length - a.length).join("|")})`, "u"));
}

const BYTE_ALPHABET = /^[!-~\u00a1-\u00ac\u00ae-\u0143]*$/;

const DISSENTS = {
  load: [
    [
      ({ model: { type, merges, vocab } }) =>
        type === "BPE" && merges.some(([a, b]) => [a, b, a + b].some((token) => !Object.hasOwn(vocab, token))),
      "loads a model whose merges are not in its vocabulary (BPE-MODEL-1)",
    ],
    [
      ({ model }) => Array.isArray(model.vocab) && tokens(model).size < model.vocab.length,
      "loads a model that lists a token twice (TERM-4)",
    ],
  ],
  normalize: [
    [
      ({ normalizer }, text) =>
        /[\u{20000}-\u{2fa1f}]/u.test(text) &&
        stages(normalizer, "BertNormalizer").some((stage) => stage.handle_chinese_chars),
      "sets no ideograph apart above U+FFFF (NORM-BERT-3)",
    ],
  ],
  encode: [
    [
      ({ pre_tokenizer }, text) => pre_tokenizer && /[\u0085\ufeff]/.test(text),
      "takes U+FEFF for white space, and U+0085 for none (PRE-SPACE-1)",
    ],
    [
      ({ pre_tokenizer }) => stages(pre_tokenizer, "Metaspace").some((stage) => stage.prepend_scheme === "first"),
      "puts the replacement before every stretch, also with the scheme first (PRE-META-2)",
    ],
    [
      ({ pre_tokenizer, model }) =>
        stages(pre_tokenizer, "Metaspace").some(
          ({ split, replacement }, _, all) =>
            split &&
            (all.length > 1 ||
              model.type === "WordPiece" ||
              (model.type === "Unigram" && !tokens(model).has(replacement)) ||
              [...tokens(model)].some((token) => token.lastIndexOf(replacement) > 0)),
        ),
      "does not split at the replacement (PRE-META-3)",
    ],
    [
      ({ added_tokens }, text, tokenizer) =>
        added_tokens.some(
          ({ content }) =>
            Math.max(
              times(content, normalized(tokenizer, text)),
              ...pieces(tokenizer, text).map((piece) => times(content, piece)),
            ) > times(content, text),
        ),
      "makes special tokens of what normalization and pre-tokenization write (SPECIAL-1)",
    ],
  ],
  answer: [
    [
      (content, ids) => ids.some((id) => id === undefined || id === null),
      "gives a token without an id where it should refuse (BPE-MODEL-2, WP-MODEL-1, UNI-UNK-1)",
    ],
    [
      ({ model, pre_tokenizer, added_tokens }, ids, text, tokenizer) =>
        model.type === "Unigram" &&
        pre_tokenizer &&
        cut(text, added_tokens)
          .flatMap((part, place) =>
            place % 2 ? [part] : pieces(tokenizer, part).flatMap((piece) => tokenizer.model([piece])),
          ).length !== ids.length,
      "makes one unknown token of unknown characters in adjacent pieces (UNI-ENC-1)",
    ],
  ],
  decode: [
    [(content, found) => found.length === 0, "throws on decoding nothing (DEC-2)"],
    [
      ({ decoder }, found) => decoder?.type === "Metaspace" && found[0]?.startsWith(" "),
      "drops a space at the start of the text as it drops the replacement (DEC-META-2)",
    ],
    [
      ({ model }, found, needsIds) => needsIds && found.some((token) => token === undefined || !tokens(model).has(token)),
      "puts the unknown token, or a hole, for what has no entry in the vocabulary (DEC-3)",
    ],
    [
      ({ decoder }, found) => decoder?.type === "ByteLevel" && !found.every((token) => BYTE_ALPHABET.test(token)),
      "makes U+0000 of a character outside the byte alphabet (DEC-BYTE-3)",
    ],
    [
      ({ decoder, added_tokens }, found) =>
        decoder?.type === "ByteLevel" &&
        added_tokens.some(({ content }) => found.includes(content) && !/^[!-~]*$/.test(content)),
      "gives a special token as it is written, not its bytes (DEC-BYTE-1)",
    ],
  ],
};

// The vocabulary of a model, made once: a real one has a hundred thousand tokens.
const vocabularies = new WeakMap();
function tokens({ vocab }) {
  if (!vocabularies.has(vocab)) {
    vocabularies.set(vocab, new Set(Array.isArray(vocab) ? vocab.map(([token]) => token) : Object.keys(vocab)));
  }
  return vocabularies.get(vocab);
}
