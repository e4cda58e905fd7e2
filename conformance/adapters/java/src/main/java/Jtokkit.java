import com.google.gson.JsonElement;
import com.knuddels.jtokkit.Encodings;
import com.knuddels.jtokkit.api.Encoding;
import com.knuddels.jtokkit.api.EncodingRegistry;
import com.knuddels.jtokkit.api.GptBytePairEncodingParams;
import com.knuddels.jtokkit.api.IntArrayList;
import java.io.IOException;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.regex.Pattern;

/** An adapter for com.knuddels:jtokkit, tiktoken in Java. It translates and computes nothing. */
final class Jtokkit implements Protocol.Adapter<Jtokkit.Model> {
  /** Cuts as the byte-level pre-tokenizer does; the library's own pattern for r50k_base. */
  private static final Pattern GPT2 =
      Pattern.compile(
          "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
          Pattern.UNICODE_CHARACTER_CLASS);

  /** The library's encoding, and whether the model decodes bytes, as the library always does. */
  record Model(Encoding encoding, boolean decodes) {}

  /** What is told beside the file. */
  private record Beside(
      JsonElement normalizer,
      String pattern,
      PreTokenizer pre_tokenizer,
      Decoder decoder,
      Map<String, Integer> special_tokens) {}

  private record Decoder(String type) {}

  private record PreTokenizer(boolean add_prefix_space, boolean use_regex) {}

  private record Input(
      String text, List<Long> ids, JsonElement allowed_special, JsonElement disallowed_special) {}

  @Override
  public Map<String, ?> hello() {
    return Map.of(
        "name", "jtokkit",
        "version", "1.1.0",
        "formats", List.of("vocab.tiktoken"),
        "encode_fields", List.of("ids"),
        "encode_options", List.of("allowed_special", "disallowed_special"),
        "components", List.of("vocabulary_ids", "model/bpe/ignore_merges"),
        "choices", Map.of("bpe_pairs", "in_vocabulary", "byte_level_added_tokens", "utf_8"));
  }

  @Override
  public Model load(String format, JsonElement content) {
    Beside beside = Protocol.beside(content, Beside.class);
    PreTokenizer cut = beside.pre_tokenizer;
    boolean isOwn = beside.pattern != null; // a user's own file
    if (beside.normalizer != null || !isOwn && (cut.add_prefix_space || !cut.use_regex)) {
      throw Protocol.unsupported("has no normalizer, no prefix space, and always a pattern");
    }
    Map<byte[], Integer> ranks = new HashMap<>();
    for (String line : Protocol.file(content, format).split("\n")) {
      String[] entry = line.split(" ");
      String token = entry[0].equals("=") ? "" : entry[0]; // an empty token
      ranks.put(Base64.getDecoder().decode(token), Integer.valueOf(entry[1]));
    }
    Map<String, Integer> special = beside.special_tokens;
    EncodingRegistry registry = Encodings.newLazyEncodingRegistry();
    registry.registerGptBytePairEncoding(
        new GptBytePairEncodingParams(
            "model",
            isOwn ? Pattern.compile(beside.pattern, Pattern.UNICODE_CHARACTER_CLASS) : GPT2,
            ranks,
            special == null ? Map.of() : special));
    boolean decodes = isOwn || beside.decoder != null && beside.decoder.type.equals("byte_level");
    return new Model(registry.getEncoding("model").orElseThrow(), decodes);
  }

  @Override
  public Map<String, Protocol.Operation<Model>> operations() {
    return Map.of(
        "encode", Jtokkit::encode, "decode", Jtokkit::decode, "decode_bytes", Jtokkit::decodeBytes);
  }

  private static Map<String, ?> encode(Model model, JsonElement raw) {
    Input input = Protocol.read(raw, Input.class);
    if (input.text == null) {
      throw Protocol.unsupported("encodes a text");
    }
    if (isEmpty(input.allowed_special) && (input.disallowed_special == null || isEmpty(input.disallowed_special))) {
      return Map.of("ids", model.encoding.encodeOrdinary(input.text).boxed());
    }
    boolean isRefusing = isEmpty(input.allowed_special) && isAll(input.disallowed_special);
    if (!isRefusing && (input.allowed_special != null || input.disallowed_special != null)) {
      throw Protocol.unsupported("allows no special token, and disallows all or none");
    }
    try {
      return Map.of("ids", model.encoding.encode(input.text).boxed());
    } catch (UnsupportedOperationException refusal) { // it encodes no special tokens
      throw new Protocol.Refusal("invalid_input", refusal.getMessage());
    }
  }

  private static boolean isEmpty(JsonElement special) {
    return special != null && special.isJsonArray() && special.getAsJsonArray().isEmpty();
  }

  private static boolean isAll(JsonElement special) {
    return special != null && special.isJsonPrimitive();
  }

  private static Map<String, ?> decode(Model model, JsonElement raw) {
    return Map.of("text", decoded(model, raw, Encoding::decode));
  }

  private static Map<String, ?> decodeBytes(Model model, JsonElement raw) {
    return Map.of("bytes", HexFormat.of().formatHex(decoded(model, raw, Encoding::decodeBytes)));
  }

  private static <T> T decoded(
      Model model, JsonElement raw, BiFunction<Encoding, IntArrayList, T> decode) {
    Input input = Protocol.read(raw, Input.class);
    if (!model.decodes) {
      throw Protocol.unsupported("decodes bytes, and puts no spaces between tokens");
    }
    if (input.ids == null) {
      throw Protocol.unsupported("decodes ids");
    }
    IntArrayList ids = new IntArrayList();
    for (long id : input.ids) {
      if (id != (int) id) {
        throw Protocol.unsupported("takes ids of 32 bits");
      }
      ids.add((int) id);
    }
    try {
      return decode.apply(model.encoding, ids);
    } catch (NullPointerException unknown) {
      if (!String.valueOf(unknown.getMessage()).contains("Unknown token for decoding")) {
        throw unknown;
      }
      throw new Protocol.Refusal("unknown_id", unknown.getMessage());
    }
  }

  public static void main(String[] arguments) throws IOException {
    Protocol.serve(new Jtokkit());
  }
}
