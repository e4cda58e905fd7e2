import ai.djl.huggingface.tokenizers.Encoding;
import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import ai.djl.huggingface.tokenizers.jni.CharSpan;
import ai.djl.util.PairList;
import com.google.gson.JsonElement;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** An adapter for ai.djl.huggingface:tokenizers, which calls Hugging Face tokenizers from Java. It translates. */
final class Djl implements Protocol.Adapter<HuggingFaceTokenizer> {
  /** The options of Hugging Face tokenizers 0.21.0, which the library is built with. */
  private static final Map<String, String> CHOICES =
      Map.ofEntries(
          Map.entry("bpe_merge_order", "lowest_rank"),
          Map.entry("bpe_pairs", "listed"),
          Map.entry("bpe_unknown_run", "each"),
          Map.entry("bpe_unknown_without_token", "dropped_before_merging"),
          Map.entry("duplicate_token", "last_place"),
          Map.entry("unigram_tie", "earliest_start"),
          Map.entry("unigram_unknown", "run"),
          Map.entry("metaspace_leading_space", "removed_from_first_token"),
          Map.entry("unknown_id", "skipped"),
          Map.entry("unknown_token_text", "surface_in_unigram"),
          Map.entry("truncation_odd", "longer"),
          Map.entry("final_sigma", "plain"),
          Map.entry("pattern_interval_plus", "repeated"),
          Map.entry("trim_offsets", "as_counted"),
          Map.entry("offset_unit", "code_point"));

  private static final List<String> COMPONENTS =
      List.of(
          "vocabulary_ids", "added_tokens", "normalizer", "pre_tokenizer", "model", "post_processor", "truncation",
          "padding", "decoder");

  /** What the library's exceptions, which have no type of their own, say when they are refusals. */
  private static final Map<String, String> REASONS =
      Map.of(
          "out of vocabulary", "invalid_model",
          "expected u32", "invalid_model",
          "Dropout should be", "invalid_model",
          "not found in the vocabulary", "unknown_symbol",
          "Missing [UNK] token", "unknown_symbol",
          "`unk_id` is missing", "unknown_symbol",
          "Truncation error", "invalid_input");

  private record Input(
      String text,
      String pair,
      List<Input> inputs,
      List<Long> ids,
      Boolean add_special_tokens,
      boolean skip_special_tokens) {
    boolean adds() {
      return add_special_tokens == null || add_special_tokens;
    }
  }

  @Override
  public Map<String, ?> hello() {
    return Map.of(
        "name", "DJL",
        "version", "0.38.0",
        "like", "tokenizers",
        "formats", List.of("tokenizer.json"),
        "reads_file", true,
        "components", COMPONENTS,
        "encode_fields",
            List.of(
                "tokens", "ids", "spans", "type_ids", "special_tokens_mask", "attention_mask", "word_ids",
                "sequence_ids", "overflowing"),
        "encode_options", List.of("pair", "add_special_tokens"),
        "decode_options", List.of("skip_special_tokens"),
        "choices", CHOICES);
  }

  @Override
  public HuggingFaceTokenizer load(String format, JsonElement content) {
    byte[] file = content.toString().getBytes(StandardCharsets.UTF_8);
    return translated(
        () -> {
          try {
            return HuggingFaceTokenizer.newInstance(new ByteArrayInputStream(file), Map.of());
          } catch (IOException failure) {
            throw new UncheckedIOException(failure);
          }
        });
  }

  @Override
  public Map<String, Protocol.Operation<HuggingFaceTokenizer>> operations() {
    return Map.of(
        "encode", (model, input) -> translated(() -> encode(model, input)),
        "encode_batch", (model, input) -> translated(() -> encodeBatch(model, input)),
        "decode", (model, input) -> translated(() -> decode(model, input)));
  }

  /** Calls the library, and turns the exceptions that are refusals into refusals; others are crashes. */
  private static <T> T translated(Supplier<T> call) {
    try {
      return call.get();
    } catch (RuntimeException failure) {
      for (Map.Entry<String, String> reason : REASONS.entrySet()) {
        if (String.valueOf(failure.getMessage()).contains(reason.getKey())) {
          throw new Protocol.Refusal(reason.getValue(), failure.getMessage());
        }
      }
      throw failure;
    }
  }

  private static Map<String, ?> encode(HuggingFaceTokenizer model, JsonElement raw) {
    Input input = Protocol.read(raw, Input.class);
    if (input.pair == null) {
      return whole(model.encode(input.text, input.adds(), true));
    }
    return whole(model.encode(input.text, input.pair, input.adds(), true));
  }

  private static Map<String, ?> encodeBatch(HuggingFaceTokenizer model, JsonElement raw) {
    Input input = Protocol.read(raw, Input.class);
    boolean isOfPairs = input.inputs.stream().anyMatch(each -> each.pair != null);
    if (isOfPairs && input.inputs.stream().anyMatch(each -> each.pair == null)) {
      throw Protocol.unsupported("encodes a batch of texts, or one of pairs");
    }
    List<String> texts = input.inputs.stream().map(Input::text).toList();
    Encoding[] encodings =
        isOfPairs
            ? model.batchEncode(
                new PairList<>(texts, input.inputs.stream().map(Input::pair).toList()), input.adds(), true)
            : model.batchEncode(texts, input.adds(), true);
    return Map.of("encodings", Arrays.stream(encodings).map(Djl::whole).toList());
  }

  private static Map<String, ?> whole(Encoding encoding) {
    Map<String, Object> found = new HashMap<>();
    found.put("tokens", encoding.getTokens());
    found.put("ids", encoding.getIds());
    found.put("type_ids", encoding.getTypeIds());
    found.put("special_tokens_mask", encoding.getSpecialTokenMask());
    found.put("attention_mask", encoding.getAttentionMask());
    found.put("word_ids", orNull(encoding.getWordIds()));
    found.put("sequence_ids", orNull(encoding.getSequenceIds()));
    List<List<Integer>> spans = new ArrayList<>();
    for (CharSpan span : encoding.getCharTokenSpans()) {
      // it has none for a token that was added, whose span is [0, 0] in the protocol
      spans.add(span == null ? List.of(0, 0) : List.of(span.getStart(), span.getEnd()));
    }
    found.put("spans", spans);
    found.put("overflowing", Arrays.stream(encoding.getOverflowing()).map(Djl::whole).toList());
    return found;
  }

  /** The library writes -1 where there is no word and no sequence. */
  private static List<Long> orNull(long[] places) {
    return Arrays.stream(places).mapToObj(place -> place < 0 ? null : place).toList();
  }

  private static Map<String, ?> decode(HuggingFaceTokenizer model, JsonElement raw) {
    Input input = Protocol.read(raw, Input.class);
    if (input.ids == null) {
      throw Protocol.unsupported("decodes ids");
    }
    long[] ids = input.ids.stream().mapToLong(id -> id).toArray();
    return Map.of("text", model.decode(ids, input.skip_special_tokens));
  }

  public static void main(String[] arguments) throws IOException {
    Protocol.serve(new Djl());
  }
}
