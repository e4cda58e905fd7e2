import com.google.gson.JsonElement;
import com.knuddels.jtokkit.Encodings;
import com.knuddels.jtokkit.api.Encoding;
import com.knuddels.jtokkit.api.EncodingRegistry;
import com.knuddels.jtokkit.api.GptBytePairEncodingParams;
import com.knuddels.jtokkit.api.IntArrayList;
import java.io.IOException;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
      PreTokenizer pre_tokenizer,
      Decoder decoder,
      Map<String, Integer> special_tokens) {}

  private record Decoder(String type) {}

  private record PreTokenizer(boolean add_prefix_space, boolean use_regex) {}

  private record Input(String text, List<Long> ids) {}

  @Override
  public Map<String, ?> hello() {
    return Map.of(
        "name", "jtokkit",
        "version", "1.1.0",
        "formats", List.of("vocab.tiktoken"),
        "encode_fields", List.of("ids"),
        "components", List.of("vocabulary_ids", "model/bpe/ignore_merges"),
        "choices", Map.of("bpe_pairs", "in_vocabulary"));
  }

  @Override
  public Model load(String format, JsonElement content) {
    Beside beside = Protocol.beside(content, Beside.class);
    PreTokenizer cut = beside.pre_tokenizer;
    if (beside.normalizer != null || cut.add_prefix_space || !cut.use_regex) {
      throw Protocol.unsupported("has no normalizer, no prefix space, and always a pattern");
    }
    Map<byte[], Integer> ranks = new HashMap<>();
    for (String line : Protocol.file(content, format).split("\n")) {
      String[] entry = line.split(" ");
      ranks.put(Base64.getDecoder().decode(entry[0]), Integer.valueOf(entry[1]));
    }
    Map<String, Integer> special = beside.special_tokens;
    EncodingRegistry registry = Encodings.newLazyEncodingRegistry();
    registry.registerGptBytePairEncoding(
        new GptBytePairEncodingParams("model", GPT2, ranks, special == null ? Map.of() : special));
    boolean decodes = beside.decoder != null && beside.decoder.type.equals("byte_level");
    return new Model(registry.getEncoding("model").orElseThrow(), decodes);
  }

  @Override
  public Map<String, Protocol.Operation<Model>> operations() {
    return Map.of("encode", Jtokkit::encode, "decode", Jtokkit::decode);
  }

  private static Map<String, ?> encode(Model model, JsonElement raw) {
    Input input = Protocol.read(raw, Input.class);
    if (input.text == null) {
      throw Protocol.unsupported("encodes a text");
    }
    try {
      return Map.of("ids", model.encoding.encode(input.text).boxed());
    } catch (UnsupportedOperationException refusal) { // it encodes no special tokens
      throw new Protocol.Refusal("invalid_input", refusal.getMessage());
    }
  }

  private static Map<String, ?> decode(Model model, JsonElement raw) {
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
      return Map.of("text", model.encoding.decode(ids));
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
