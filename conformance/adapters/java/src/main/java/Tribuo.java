import com.google.gson.JsonElement;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.tribuo.util.tokens.impl.NonTokenizer;
import org.tribuo.util.tokens.impl.wordpiece.Wordpiece;
import org.tribuo.util.tokens.impl.wordpiece.WordpieceBasicTokenizer;
import org.tribuo.util.tokens.impl.wordpiece.WordpieceTokenizer;

/** An adapter for the WordPiece of Tribuo. It translates and computes nothing. */
final class Tribuo implements Protocol.Adapter<Function<String, List<String>>> {
  /** What is told beside the file. */
  private record Beside(
      Normalizer normalizer,
      PreTokenizer pre_tokenizer,
      Set<String> special_tokens,
      String unknown_token,
      String continuing_prefix,
      long max_word_length) {}

  private record Normalizer(
      String type,
      boolean clean_text,
      boolean handle_chinese_chars,
      Boolean strip_accents,
      boolean lowercase) {}

  private record PreTokenizer(String type) {}

  private record Input(String text) {}

  @Override
  public Map<String, ?> hello() {
    return Map.of(
        "name", "tribuo-util-tokenization Wordpiece",
        "version", "4.3.2",
        "formats", List.of("vocab.txt"),
        "choices", Map.of("wordpiece_length_unit", "utf16"));
  }

  @Override
  public Function<String, List<String>> load(String format, JsonElement content) {
    Beside beside = Protocol.beside(content, Beside.class);
    if (!beside.continuing_prefix.equals("##")) {
      throw Protocol.unsupported("always has ##");
    }
    Wordpiece model =
        new Wordpiece(
            Set.of(Protocol.file(content, format).split("\n")),
            beside.unknown_token,
            Protocol.number(beside.max_word_length));
    Normalizer normalizer = beside.normalizer;
    if (beside.pre_tokenizer == null && normalizer == null && beside.special_tokens == null) {
      return model::wordpiece;
    }
    String cuts = beside.pre_tokenizer == null ? "nowhere" : beside.pre_tokenizer.type;
    Set<String> special = beside.special_tokens == null ? Set.of() : beside.special_tokens;
    if (normalizer == null && cuts.equals("whitespace_split")) {
      return new WordpieceTokenizer(model, new NonTokenizer(), false, false, special)::split;
    }
    if (!cuts.equals("bert")) {
      throw Protocol.unsupported("takes pieces, or texts that it cuts as BERT does or at white space");
    }
    if (normalizer == null) {
      normalizer = new Normalizer("bert", true, false, false, false);
    }
    if (!normalizer.type.equals("bert") || !normalizer.clean_text) {
      throw Protocol.unsupported("normalizes as BERT does, and always cleans");
    }
    Boolean strips = normalizer.strip_accents;
    return new WordpieceTokenizer(
            model,
            new WordpieceBasicTokenizer(normalizer.handle_chinese_chars),
            normalizer.lowercase,
            strips == null ? normalizer.lowercase : strips,
            special)
        ::split;
  }

  @Override
  public Map<String, Protocol.Operation<Function<String, List<String>>>> operations() {
    return Map.of("encode", Tribuo::encode);
  }

  private static Map<String, ?> encode(Function<String, List<String>> model, JsonElement raw) {
    String text = Protocol.read(raw, Input.class).text;
    if (text == null) {
      throw Protocol.unsupported("encodes a text");
    }
    return Map.of("tokens", model.apply(text));
  }

  public static void main(String[] arguments) throws IOException {
    Protocol.serve(new Tribuo());
  }
}
