import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import com.knuddels.jtokkit.Encodings;
import com.knuddels.jtokkit.api.Encoding;
import com.knuddels.jtokkit.api.GptBytePairEncodingParams;
import com.knuddels.jtokkit.api.IntArrayList;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.tribuo.util.tokens.Tokenizer;
import org.tribuo.util.tokens.impl.NonTokenizer;
import org.tribuo.util.tokens.impl.wordpiece.Wordpiece;
import org.tribuo.util.tokens.impl.wordpiece.WordpieceBasicTokenizer;
import org.tribuo.util.tokens.impl.wordpiece.WordpieceTokenizer;

/**
 * Asks published tokenizer libraries for Java by their public interface; a second way beside the adapters.
 *
 * <p>Reads JSON lines {library, operation, model, written: {FORMAT: content}, input} and answers each with one line:
 * {answer}, {error: "Type: message"} where the library throws, or {not_offered: why}.
 */
public final class Raw {
  private static final String GPT2 =
      "'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
  private static final int CACHED = 32;

  /** The library has nothing for the request. */
  private static final class NotOffered extends RuntimeException {
    NotOffered(String why) {
      super(why);
    }
  }

  private static void need(boolean condition, String why) {
    if (!condition) throw new NotOffered(why);
  }

  /** Answers an operation with a model that it has read. */
  private interface Made {
    JsonObject ask(String operation, JsonObject input);
  }

  private interface Library {
    Made make(JsonObject written);
  }

  private static final Map<String, Library> LIBRARIES =
      Map.of("jtokkit", Raw::jtokkit, "OpenNLP", Raw::openNlp, "Tribuo", Raw::tribuo);

  /** Refuses an input with an option that is not one of these. */
  private static void takes(JsonObject input, String... options) {
    for (String option :
        List.of("pair", "add_special_tokens", "allowed_special", "disallowed_special", "skip_special_tokens")) {
      need(Arrays.asList(options).contains(option) || !input.has(option), "no option " + option);
    }
  }

  /** What stands beside a model's file; its keys are to be among these. */
  private static JsonObject beside(JsonObject content, String... keys) {
    JsonObject found = new JsonObject();
    if (content.has("beside")) found = content.getAsJsonObject("beside");
    for (String key : found.keySet()) {
      need(key.equals("type") || Arrays.asList(keys).contains(key), "no place for " + key);
    }
    return found;
  }

  private static String file(JsonObject content, String name) {
    return string(content.getAsJsonObject("files").get(name));
  }

  private static JsonObject content(JsonObject written, String format) {
    need(written.has(format), "the model is not written as " + format);
    return written.getAsJsonObject(format);
  }

  /** The type of a normalizer or another stage, or "" where there is none. */
  private static String type(JsonObject beside, String stage) {
    return beside.has(stage) ? beside.getAsJsonObject(stage).get("type").getAsString() : "";
  }

  private static boolean flag(JsonObject stage, String name, boolean otherwise) {
    return stage.has(name) && !stage.get(name).isJsonNull() ? stage.get(name).getAsBoolean() : otherwise;
  }

  // jtokkit: encode() throws for a text with a special token, encodeOrdinary() takes it as text

  private static Made jtokkit(JsonObject written) {
    JsonObject content = content(written, "vocab.tiktoken");
    JsonObject beside = beside(
        content, "pre_tokenizer", "decoder", "special_tokens", "added_tokens", "post_processor", "pattern");
    need(Set.of("", "byte_level").contains(type(beside, "post_processor")), "no post-processor"); // it changes spans
    Map<byte[], Integer> ranks = new LinkedHashMap<>();
    for (String line : file(content, "vocab.tiktoken").split("\n")) {
      if (line.isEmpty()) continue;
      String[] parts = line.split(" ");
      byte[] token = parts[0].equals("=") ? new byte[0] : Base64.getDecoder().decode(parts[0]);
      ranks.put(token, Integer.valueOf(parts[1]));
    }
    Map<String, Integer> special = new HashMap<>();
    if (beside.has("special_tokens")) {
      beside.getAsJsonObject("special_tokens").asMap().forEach((token, id) -> special.put(token, id.getAsInt()));
    }
    if (beside.has("added_tokens")) {
      for (JsonElement element : beside.getAsJsonArray("added_tokens")) {
        JsonObject token = element.getAsJsonObject();
        need(flag(token, "special", true), "no added tokens that are not special");
        for (String name : List.of("normalized", "lstrip", "rstrip", "single_word")) {
          need(!flag(token, name, false), "no flags of added tokens");
        }
        special.put(string(token.get("content")), token.get("id").getAsInt());
      }
    }
    String pattern = GPT2;
    if (beside.has("pattern")) {
      pattern = string(beside.get("pattern"));
    } else {
      need(type(beside, "pre_tokenizer").equals("byte_level"), "no such pre-tokenizer");
      JsonObject stage = beside.getAsJsonObject("pre_tokenizer");
      need(!flag(stage, "add_prefix_space", false), "no prefix space");
      if (!flag(stage, "use_regex", true)) pattern = "[\\s\\S]+";
    }
    // The flag is that of the library's own encodings.
    Pattern compiled = Pattern.compile(pattern, Pattern.UNICODE_CHARACTER_CLASS);
    Encoding made = Encodings.newLazyEncodingRegistry()
        .registerGptBytePairEncoding(new GptBytePairEncodingParams("raw", compiled, ranks, special))
        .getEncoding("raw")
        .orElseThrow();
    return (operation, input) -> switch (operation) {
      case "encode" -> answer("ids", numbers(jtokkitEncode(made, special.keySet(), input)));
      case "decode" -> {
        takes(input);
        yield answer("text", safe(made.decode(ids(input))));
      }
      case "decode_bytes" ->
          answer("bytes", new JsonPrimitive(HexFormat.of().formatHex(made.decodeBytes(ids(input)))));
      default -> throw new NotOffered("no operation " + operation);
    };
  }

  private static IntArrayList jtokkitEncode(Encoding made, Set<String> special, JsonObject input) {
    takes(input, "allowed_special", "disallowed_special");
    String text = string(input.get("text"));
    List<String> allowed = input.has("allowed_special") ? contents(input.get("allowed_special")) : List.of("all");
    List<String> disallowed = input.has("disallowed_special") ? contents(input.get("disallowed_special")) : List.of();
    for (String token : special) {
      boolean isAllowed = allowed.contains(token) || allowed.contains("all");
      need(!isAllowed || !text.contains(token), "encodes no special token");
    }
    if (disallowed.isEmpty()) return made.encodeOrdinary(text);
    need(disallowed.contains("all") || disallowed.containsAll(special), "disallows every special token or none");
    return made.encode(text);
  }

  private static List<String> contents(JsonElement choice) {
    if (!choice.isJsonArray()) return List.of(string(choice));
    return choice.getAsJsonArray().asList().stream().map(Raw::string).toList();
  }

  private static IntArrayList ids(JsonObject input) {
    need(input.has("ids"), "decodes ids alone");
    IntArrayList found = new IntArrayList();
    for (JsonElement id : input.getAsJsonArray("ids")) {
      need(id.getAsLong() <= Integer.MAX_VALUE, "ids are of 32 bits");
      found.add(id.getAsInt());
    }
    return found;
  }

  // OpenNLP and Tribuo have WordPiece, with the prefix ##, and give texts of tokens

  private static final String[] WORDPIECE = {
    "unknown_token", "continuing_prefix", "max_word_length", "decoder", "special_tokens", "normalizer", "pre_tokenizer",
    "post_processor"
  };

  private static JsonObject wordpiece(JsonObject content) {
    JsonObject beside = beside(content, WORDPIECE);
    boolean isPrefix = !beside.has("continuing_prefix") || string(beside.get("continuing_prefix")).equals("##");
    need(isPrefix, "the prefix is ##");
    return beside;
  }

  private static Set<String> vocabulary(JsonObject content) {
    String lines = file(content, "vocab.txt");
    return lines.isEmpty() ? Set.of() : new LinkedHashSet<>(Arrays.asList(lines.split("\n")));
  }

  private static String word(JsonObject beside, JsonObject input) {
    takes(input);
    String text = string(input.get("text"));
    if (beside.has("special_tokens")) {
      for (String token : contents(beside.get("special_tokens"))) {
        need(!text.contains(token), "looks for no special tokens in a text");
      }
    }
    return text;
  }

  /** It splits at spaces and at ASCII punctuation, and puts [CLS] and [SEP] around the tokens of every text. */
  private static Made openNlp(JsonObject written) {
    JsonObject content = content(written, "vocab.txt");
    JsonObject beside = wordpiece(content);
    String unknown = beside.has("unknown_token") ? string(beside.get("unknown_token")) : "[UNK]";
    need(unknown.equals("[UNK]"), "the unknown token is [UNK]");
    need(!beside.has("normalizer"), "no normalizer");
    need(!beside.has("post_processor"), "no post-processor");
    String stage = type(beside, "pre_tokenizer");
    need(Set.of("", "whitespace_split", "whitespace", "bert").contains(stage), "no such pre-tokenizer");
    int longest = beside.has("max_word_length") ? beside.get("max_word_length").getAsInt() : 100;
    var made = new opennlp.tools.tokenize.WordpieceTokenizer(vocabulary(content), longest);
    return (operation, input) -> {
      need(operation.equals("encode"), "no operation " + operation);
      List<String> tokens = Arrays.asList(made.tokenize(word(beside, input)));
      return answer("tokens", strings(tokens.subList(1, tokens.size() - 1)));
    };
  }

  private static Made tribuo(JsonObject written) {
    JsonObject content = content(written, "vocab.txt");
    JsonObject beside = wordpiece(content);
    need(!beside.has("post_processor"), "no post-processor");
    String unknown = beside.has("unknown_token") ? string(beside.get("unknown_token")) : "[UNK]";
    int longest = beside.has("max_word_length") ? beside.get("max_word_length").getAsInt() : 100;
    Wordpiece pieces = new Wordpiece(vocabulary(content), unknown, longest);
    String stage = type(beside, "pre_tokenizer");
    String kind = type(beside, "normalizer");
    JsonObject normalizer = kind.isEmpty() ? new JsonObject() : beside.getAsJsonObject("normalizer");
    boolean isBert = kind.equals("bert");
    need(isBert || kind.isEmpty(), "no such normalizer");
    boolean lowercase = isBert && flag(normalizer, "lowercase", true);
    boolean strips = isBert && flag(normalizer, "strip_accents", lowercase);
    boolean chinese = isBert && flag(normalizer, "handle_chinese_chars", true);
    need(stage.equals("bert") || kind.isEmpty(), "no normalizer without the pre-tokenizer of BERT");
    Tokenizer splitting = switch (stage) {
      case "" -> null;
      case "whitespace_split" -> new NonTokenizer();
      case "bert" -> new WordpieceBasicTokenizer(chinese);
      default -> throw new NotOffered("no such pre-tokenizer");
    };
    WordpieceTokenizer made = new WordpieceTokenizer(pieces, splitting, lowercase, strips, Set.of());
    return (operation, input) -> {
      need(operation.equals("encode"), "no operation " + operation);
      String text = word(beside, input);
      return answer("tokens", strings(splitting == null ? pieces.wordpiece(text) : made.split(text)));
    };
  }

  // The program

  private static JsonObject answer(String key, JsonElement value) {
    JsonObject found = new JsonObject();
    found.add(key, value);
    return found;
  }

  private static JsonArray numbers(IntArrayList ids) {
    JsonArray found = new JsonArray();
    for (int id : ids.toArray()) found.add(id);
    return found;
  }

  private static JsonArray strings(List<String> texts) {
    JsonArray found = new JsonArray();
    for (String text : texts) found.add(safe(text));
    return found;
  }

  /** A string of JSON, or of {"hex": …}: UTF-8 in which surrogates are encoded like any other code point. */
  private static String string(JsonElement value) {
    if (!value.isJsonObject()) return value.getAsString();
    byte[] bytes = HexFormat.of().parseHex(value.getAsJsonObject().get("hex").getAsString());
    StringBuilder text = new StringBuilder();
    for (int at = 0; at < bytes.length; ) {
      int first = bytes[at++] & 0xff;
      int more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
      int point = more == 0 ? first : first & (0x3f >> more);
      for (; more > 0; more--) point = point << 6 | bytes[at++] & 0x3f;
      text.appendCodePoint(point);
    }
    return text.toString();
  }

  private static JsonElement safe(String text) {
    if (StandardCharsets.UTF_16.newEncoder().canEncode(text)) return new JsonPrimitive(text);
    StringBuilder hex = new StringBuilder();
    text.codePoints().forEach(point -> {
      if (point < 0xd800 || point > 0xdfff) {
        hex.append(HexFormat.of().formatHex(Character.toString(point).getBytes(StandardCharsets.UTF_8)));
      } else {
        hex.append(String.format("%02x%02x%02x", 0xe0 | point >> 12, 0x80 | point >> 6 & 0x3f, 0x80 | point & 0x3f));
      }
    });
    return answer("hex", new JsonPrimitive(hex.toString()));
  }

  private static final Map<String, Made> MADE = new LinkedHashMap<>();

  private static JsonObject ask(JsonObject request) {
    String name = request.get("library").getAsString();
    String key = name + " " + request.get("model");
    Made made = MADE.remove(key);
    if (made == null) made = LIBRARIES.get(name).make(request.getAsJsonObject("written"));
    MADE.put(key, made);
    if (MADE.size() > CACHED) MADE.remove(MADE.keySet().iterator().next());
    return made.ask(request.get("operation").getAsString(), request.getAsJsonObject("input"));
  }

  /** Whether an exception is a fault of the library rather than how it refuses. */
  private static boolean isPanic(Throwable error) {
    return error instanceof Error
        || error instanceof IndexOutOfBoundsException
        || error instanceof ClassCastException
        || error instanceof NullPointerException && String.valueOf(error.getMessage()).startsWith("Cannot ");
  }

  private static JsonObject reply(JsonObject request) {
    try {
      return answer("answer", ask(request));
    } catch (NotOffered why) {
      return answer("not_offered", new JsonPrimitive(why.getMessage()));
    } catch (Exception | StackOverflowError | AssertionError error) {
      String said = error.getClass().getSimpleName() + ": " + error.getMessage();
      return answer("error", new JsonPrimitive(isPanic(error) ? "PanicException: " + said : said));
    }
  }

  public static void main(String[] arguments) throws Exception {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    System.setOut(System.err);
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      out.print(reply(JsonParser.parseString(line).getAsJsonObject()) + "\n");
      out.flush();
    }
  }
}
