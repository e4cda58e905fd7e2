import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import opennlp.tools.tokenize.WordpieceTokenizer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The cases of tokspec as tests of JUnit, without Python: cases.json is all that they need. Copy this file, put your
 * tokenizer into the adapter at its end, and write the models in the format that it loads:
 *
 * <p>tokspec cases --bundle cases.json --format vocab.txt
 */
final class TokspecTest {
  /** A verdict with a detail, and what was seen: of a known failure the digest is made of it. */
  private record Judged(String verdict, String detail, JsonArray seen) {}

  /** A refusal with a reason of spec/09-errors.md; any other exception is a crash. */
  private static final class Refusal extends RuntimeException {
    final String reason;

    Refusal(String reason, String message) {
      super(message);
      this.reason = reason;
    }
  }

  private static final List<String> SEVERITY = List.of("crash", "error", "fail", "unsupported", "pass");
  private static JsonObject bundle;
  private static int passed;

  @TestFactory
  Stream<DynamicTest> cases() throws IOException {
    Path cases = Path.of("cases.json");
    assertTrue(Files.exists(cases), "make it: tokspec cases --bundle cases.json --format vocab.txt");
    bundle = JsonParser.parseString(Files.readString(cases)).getAsJsonObject();
    Map<String, Map<String, String>> known = readKnownFailures(System.getenv("KNOWN_FAILURES"));
    return bundle.getAsJsonArray("cases").asList().stream()
        .map(JsonElement::getAsJsonObject)
        .map(one -> DynamicTest.dynamicTest(text(one, "id"), () -> hold(one, known.get(text(one, "id")))));
  }

  @AfterAll
  static void somethingPassed() {
    assertTrue(passed > 0, "no case passed, and a run that shows nothing is not a pass");
  }

  private static void hold(JsonObject one, Map<String, String> entry) {
    Judged judged = judge(one);
    if (entry != null && judged.verdict.equals("pass")) {
      fail("unexpected pass: it is listed as failing");
    }
    if (entry != null && entry.get("verdict").equals(judged.verdict) && entry.get("digest").equals(digest(judged.seen))) {
      abort("known failure: " + entry.get("reason"));
    }
    switch (judged.verdict) {
      case "pass" -> passed++;
      case "unsupported" -> abort("unsupported: " + judged.detail);
      default -> fail(judged.verdict + ": " + judged.detail + "\n" + text(one, "why") + "\n" + one);
    }
  }

  /** Judges a case; a table comes to the worst of its rows, and is listed by all that fail. */
  private static Judged judge(JsonObject one) {
    if (!one.has("inputs")) {
      return judgeQuestion(one, one);
    }
    Judged worst = new Judged("pass", "", null);
    JsonArray failing = new JsonArray();
    int number = 0;
    for (JsonElement row : one.getAsJsonArray("inputs")) {
      number++;
      Judged judged = judgeQuestion(one, row.getAsJsonObject());
      if (judged.seen != null) {
        JsonArray listed = new JsonArray();
        listed.add(number);
        listed.addAll(judged.seen);
        failing.add(listed);
      }
      if (SEVERITY.indexOf(judged.verdict) < SEVERITY.indexOf(worst.verdict)) {
        worst = new Judged(judged.verdict, "row " + number + ": " + judged.detail, null);
      }
    }
    return new Judged(worst.verdict, worst.detail, failing);
  }

  private static Judged judgeQuestion(JsonObject one, JsonObject asked) {
    JsonObject outcome = asked.getAsJsonObject("outcome");
    while (outcome.has("by_choice")) {
      JsonObject choices = outcome.getAsJsonObject("by_choice");
      String name = choices.keySet().iterator().next();
      outcome = choices.getAsJsonObject(name).getAsJsonObject(option(name));
    }
    JsonObject result;
    try {
      result = ask(one, asked);
    } catch (Refusal refusal) {
      if (refusal.reason.equals("unsupported")) {
        return new Judged("unsupported", refusal.getMessage(), null);
      }
      boolean isDue = outcome.has("error") && text(outcome, "error").equals(refusal.reason);
      String detail = "refused as " + refusal.reason;
      return isDue ? new Judged("pass", "", null) : new Judged("error", detail, array("error", refusal.reason));
    } catch (RuntimeException crash) {
      return new Judged("crash", crash.toString(), array("crash", "crash"));
    }
    JsonArray wanted = new JsonArray();
    if (outcome.has("one_of")) {
      wanted = outcome.getAsJsonArray("one_of");
    } else if (outcome.has("expect")) {
      wanted.add(outcome.get("expect"));
    }
    for (JsonElement right : wanted) {
      // All that this adapter gives of an encoding are tokens. Real numbers would need TERM-5.
      if (!right.getAsJsonObject().has("tokens")) {
        return new Judged("unsupported", "the case checks no tokens", null);
      }
      if (right.getAsJsonObject().get("tokens").equals(result.get("tokens"))) {
        return one.has("fields")
            ? new Judged("unsupported", "gives only tokens, and the case is about " + one.get("fields"), null)
            : new Judged("pass", "", null);
      }
    }
    JsonArray seen = array("fail", "");
    seen.set(1, result);
    return new Judged("fail", "expected " + outcome + ", got " + result, seen);
  }

  private static String option(String name) {
    for (JsonElement choice : bundle.getAsJsonArray("choices")) {
      if (text(choice.getAsJsonObject(), "name").equals(name)) {
        return CHOICES.getOrDefault(name, text(choice.getAsJsonObject(), "default"));
      }
    }
    throw new IllegalArgumentException(name + " is no choice");
  }

  private static JsonObject ask(JsonObject one, JsonObject asked) {
    boolean isPlain = !one.has("components") && !asked.has("options");
    if (!text(one, "operation").equals("encode") || !isPlain) {
      throw new Refusal("unsupported", "does not offer that");
    }
    JsonObject models = bundle.getAsJsonObject("models").getAsJsonObject(FORMAT);
    JsonObject model = models.getAsJsonObject(text(one, "model_name"));
    if (model.has("unsupported")) {
      throw new Refusal("unsupported", text(model, "unsupported"));
    }
    return encode(load(model.getAsJsonObject("content")), asked.getAsJsonObject("input"));
  }

  private static String text(JsonObject object, String key) {
    return object.get(key).getAsString();
  }

  private static JsonArray array(String first, String second) {
    JsonArray array = new JsonArray();
    array.add(first);
    array.add(second);
    return array;
  }

  /** Returns the digest of a known failure: of what was seen, as JSON in ASCII. Results here have one key, no order. */
  private static String digest(JsonArray seen) {
    StringBuilder ascii = new StringBuilder();
    for (char unit : new Gson().newBuilder().disableHtmlEscaping().create().toJson(seen).toCharArray()) {
      ascii.append(unit < 0x7f ? String.valueOf(unit) : String.format("\\u%04x", (int) unit));
    }
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(ascii.toString().getBytes(StandardCharsets.US_ASCII));
      return HexFormat.of().formatHex(hash, 0, 8);
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** Reads the file that tokspec run --update-known-failures writes. */
  private static Map<String, Map<String, String>> readKnownFailures(String file) throws IOException {
    Map<String, Map<String, String>> known = new HashMap<>();
    Map<String, String> entry = new HashMap<>();
    Pattern pattern = Pattern.compile("(?m)^  ([- ]) (\\w+): (.+)$");
    Pattern inOneLine = Pattern.compile("(?m)^  - \\{(.+)\\}$");
    String text = file == null ? "" : Files.readString(Path.of(file));
    text = inOneLine.matcher(text).replaceAll(found -> Matcher.quoteReplacement("  - " + found.group(1)
        .replaceAll("(\"(?:[^\"\\\\]|\\\\.)*\"), (\\w+: )", "$1\n    $2")));
    Matcher lines = pattern.matcher(text);
    while (lines.find()) {
      String value = lines.group(3);
      if (lines.group(1).equals("-")) {
        entry = new HashMap<>();
      }
      entry.put(lines.group(2), value.startsWith("\"") ? JsonParser.parseString(value).getAsString() : value);
      known.put(entry.get("case"), entry);
    }
    return known;
  }

  // The adapter: the WordPiece of Apache OpenNLP.

  private static final String FORMAT = "vocab.txt";
  private static final Map<String, String> CHOICES = Map.of("wordpiece_length_unit", "utf16");

  private static WordpieceTokenizer load(JsonObject content) {
    JsonObject beside = content.getAsJsonObject("beside");
    JsonObject cuts = beside.getAsJsonObject("pre_tokenizer");
    if (beside.has("normalizer") || (cuts != null && !Set.of("bert", "whitespace_split").contains(text(cuts, "type")))) {
      throw new Refusal("unsupported", "has no normalizer, and cuts at white space and punctuation alone");
    }
    if (!text(beside, "unknown_token").equals("[UNK]") || !text(beside, "continuing_prefix").equals("##")) {
      throw new Refusal("unsupported", "always has [UNK] and ##");
    }
    Set<String> vocabulary = Set.of(text(content.getAsJsonObject("files"), FORMAT).split("\n"));
    long limit = beside.get("max_word_length").getAsLong();
    if (limit != (int) limit) {
      throw new Refusal("unsupported", "has lengths of 32 bits");
    }
    return new WordpieceTokenizer(vocabulary, (int) limit);
  }

  private static JsonObject encode(WordpieceTokenizer model, JsonObject input) {
    if (!(input.get("text") instanceof JsonPrimitive text)) {
      throw new Refusal("unsupported", "takes no lone surrogates");
    }
    String[] tokens = model.tokenize(text.getAsString());
    JsonObject result = new JsonObject(); // the library puts [CLS] before them and [SEP] behind
    result.add("tokens", new Gson().toJsonTree(Arrays.copyOfRange(tokens, 1, tokens.length - 1)));
    return result;
  }
}
