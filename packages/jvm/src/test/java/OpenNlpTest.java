import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import opennlp.tools.tokenize.WordpieceTokenizer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import tokspec.Adapter;
import tokspec.Tokspec;

/** The cases without Python: the WordPiece of Apache OpenNLP, against the known failures of the harness. */
final class OpenNlpTest implements Adapter<WordpieceTokenizer> {
  /** Pre-tokenizers that cut at white space, as the library always does, and perhaps at punctuation. */
  private static final Set<String> CUTS = Set.of("bert", "whitespace_split");

  @TestFactory
  Stream<DynamicTest> tokspec() throws IOException {
    return Tokspec.cases(this, Path.of("../../conformance/adapters/java/opennlp/known-failures.yaml"));
  }

  @Override
  public Map<String, ?> hello() {
    return Map.of(
        "operations", List.of("encode"),
        "formats", List.of("vocab.txt"),
        "choices", Map.of("wordpiece_length_unit", "utf16"));
  }

  @Override
  public WordpieceTokenizer load(String format, JsonObject content) {
    JsonObject beside = content.getAsJsonObject("beside");
    JsonElement cuts = beside.get("pre_tokenizer");
    if (beside.has("normalizer")) {
      throw new Refusal("unsupported", "has no normalizer");
    }
    if (cuts != null && !CUTS.contains(cuts.getAsJsonObject().get("type").getAsString())) {
      throw new Refusal("unsupported", "cuts at white space and punctuation alone");
    }
    String unknown = beside.get("unknown_token").getAsString();
    if (!unknown.equals("[UNK]") || !beside.get("continuing_prefix").getAsString().equals("##")) {
      throw new Refusal("unsupported", "always has [UNK] and ##");
    }
    long limit = beside.get("max_word_length").getAsLong();
    if (limit != (int) limit) {
      throw new Refusal("unsupported", "has lengths of 32 bits");
    }
    String file = content.getAsJsonObject("files").get(format).getAsString();
    return new WordpieceTokenizer(Set.of(file.split("\n")), (int) limit);
  }

  @Override
  public Object run(String operation, WordpieceTokenizer model, JsonObject input) {
    if (!(input.get("text") instanceof JsonPrimitive text)) {
      throw new Refusal("unsupported", "takes no lone surrogates");
    }
    String[] tokens = model.tokenize(text.getAsString());
    // The library puts [CLS] before them and [SEP] behind.
    return Map.of("tokens", Arrays.copyOfRange(tokens, 1, tokens.length - 1));
  }
}
