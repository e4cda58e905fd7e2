import com.google.gson.JsonElement;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import opennlp.tools.tokenize.WordpieceTokenizer;

/** An adapter for the WordPiece of Apache OpenNLP. It translates and computes nothing. */
final class OpenNlp implements Protocol.Adapter<WordpieceTokenizer> {
  /** Pre-tokenizers that cut at white space, as the library always does, and perhaps at punctuation. */
  private static final Set<String> CUTS = Set.of("bert", "whitespace_split");

  /** What is told beside the file. */
  record Beside(
      JsonElement normalizer,
      PreTokenizer pre_tokenizer,
      String unknown_token,
      String continuing_prefix,
      long max_word_length) {}

  record PreTokenizer(String type) {}

  private record Input(String text) {}

  @Override
  public Map<String, ?> hello() {
    return Map.of(
        "name", "opennlp-tools WordpieceTokenizer",
        "version", "2.5.7",
        "formats", List.of("vocab.txt"),
        "choices", Map.of("wordpiece_length_unit", "utf16"));
  }

  @Override
  public WordpieceTokenizer load(String format, JsonElement content) {
    Beside beside = Protocol.beside(content, Beside.class);
    if (beside.normalizer != null) {
      throw Protocol.unsupported("has no normalizer");
    }
    if (beside.pre_tokenizer != null && !CUTS.contains(beside.pre_tokenizer.type)) {
      throw Protocol.unsupported("cuts at white space and punctuation alone");
    }
    if (!beside.unknown_token.equals("[UNK]") || !beside.continuing_prefix.equals("##")) {
      throw Protocol.unsupported("always has [UNK] and ##");
    }
    Set<String> vocabulary = Set.of(Protocol.file(content, format).split("\n"));
    return new WordpieceTokenizer(vocabulary, Protocol.number(beside.max_word_length));
  }

  @Override
  public Map<String, Protocol.Operation<WordpieceTokenizer>> operations() {
    return Map.of("encode", OpenNlp::encode);
  }

  private static Map<String, ?> encode(WordpieceTokenizer model, JsonElement raw) {
    String text = Protocol.read(raw, Input.class).text;
    if (text == null) {
      throw Protocol.unsupported("encodes a text");
    }
    String[] tokens = model.tokenize(text);
    // It puts [CLS] before them and [SEP] behind.
    return Map.of("tokens", Arrays.copyOfRange(tokens, 1, tokens.length - 1));
  }

  public static void main(String[] arguments) throws IOException {
    Protocol.serve(new OpenNlp());
  }
}
