import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
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
      Map.of("DJL tokenizers", Raw::djl, "jtokkit", Raw::jtokkit, "OpenNLP", Raw::openNlp, "Tribuo", Raw::tribuo);

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
    return content.getAsJsonObject("files").get(name).getAsString();
  }

  private static JsonObject content(JsonObject written, String format) {
    need(written.has(format), "the model is not written as " + format);
    return written.getAsJsonObject(format);
  }

  private static int number(JsonElement value) {
    need(value.getAsLong() == value.getAsInt(), "numbers are of 32 bits");
    return value.getAsInt();
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
      beside.getAsJsonObject("special_tokens").asMap().forEach((token, id) -> special.put(token, number(id)));
    }
    if (beside.has("added_tokens")) {
      for (JsonElement element : beside.getAsJsonArray("added_tokens")) {
        JsonObject token = element.getAsJsonObject();
        need(flag(token, "special", true), "no added tokens that are not special");
        for (String name : List.of("normalized", "lstrip", "rstrip", "single_word")) {
          need(!flag(token, name, false), "no flags of added tokens");
        }
        special.put(token.get("content").getAsString(), number(token.get("id")));
      }
    }
    String pattern = GPT2;
    if (beside.has("pattern")) {
      pattern = beside.get("pattern").getAsString();
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
        yield answer("text", new JsonPrimitive(made.decode(ids(input))));
      }
      case "decode_bytes" ->
          answer("bytes", new JsonPrimitive(HexFormat.of().formatHex(made.decodeBytes(ids(input)))));
      default -> throw new NotOffered("no operation " + operation);
    };
  }

  private static IntArrayList jtokkitEncode(Encoding made, Set<String> special, JsonObject input) {
    takes(input, "allowed_special", "disallowed_special");
    String text = input.get("text").getAsString();
    List<String> allowed = input.has("allowed_special") ? contents(input.get("allowed_special")) : List.of("all");
    List<String> disallowed = input.has("disallowed_special") ? contents(input.get("disallowed_special")) : List.of();
    if (!input.has("allowed_special") && disallowed.isEmpty()) return made.encode(text);
    need(allowed.isEmpty(), "allows no special token");
    if (disallowed.isEmpty()) return made.encodeOrdinary(text);
    need(disallowed.contains("all") || disallowed.containsAll(special), "disallows every special token or none");
    return made.encode(text);
  }

  private static List<String> contents(JsonElement choice) {
    if (!choice.isJsonArray()) return List.of(choice.getAsString());
    return choice.getAsJsonArray().asList().stream().map(JsonElement::getAsString).toList();
  }

  private static IntArrayList ids(JsonObject input) {
    need(input.has("ids"), "decodes ids alone");
    IntArrayList found = new IntArrayList();
    for (JsonElement id : input.getAsJsonArray("ids")) found.add(number(id));
    return found;
  }

  // DJL calls Hugging Face tokenizers

  private static Made djl(JsonObject written) {
    need(written.has("tokenizer.json"), "the model is not written as tokenizer.json");
    HuggingFaceTokenizer made;
    try {
      Path file = Files.createTempFile("raw", ".json");
      Files.writeString(file, written.get("tokenizer.json").toString());
      made = HuggingFaceTokenizer.builder().optTokenizerPath(file).build();
      Files.delete(file);
    } catch (java.io.IOException failure) {
      throw new RuntimeException(failure);
    }
    return (operation, input) -> switch (operation) {
      case "encode" -> {
        takes(input, "pair", "add_special_tokens");
        String text = input.get("text").getAsString();
        boolean adds = flag(input, "add_special_tokens", true);
        yield djlEncoding(
            input.has("pair")
                ? made.encode(text, input.get("pair").getAsString(), adds, true)
                : made.encode(text, adds, true));
      }
      case "encode_batch" -> {
        takes(input, "add_special_tokens");
        List<String> texts = new ArrayList<>();
        for (JsonElement each : input.getAsJsonArray("inputs")) {
          need(!each.getAsJsonObject().has("pair"), "pairs have a method of their own");
          texts.add(each.getAsJsonObject().get("text").getAsString());
        }
        JsonArray found = new JsonArray();
        for (var each : made.batchEncode(texts.toArray(new String[0]), flag(input, "add_special_tokens", true), true)) {
          found.add(djlEncoding(each));
        }
        yield answer("encodings", found);
      }
      case "decode" -> {
        takes(input, "skip_special_tokens");
        need(input.has("ids"), "decodes ids alone");
        long[] ids = input.getAsJsonArray("ids").asList().stream().mapToLong(JsonElement::getAsLong).toArray();
        yield answer("text", new JsonPrimitive(made.decode(ids, flag(input, "skip_special_tokens", false))));
      }
      default -> throw new NotOffered("no operation " + operation);
    };
  }

  private static JsonObject djlEncoding(ai.djl.huggingface.tokenizers.Encoding encoding) {
    JsonObject found = new JsonObject();
    JsonArray tokens = new JsonArray();
    for (String token : encoding.getTokens()) tokens.add(token);
    found.add("tokens", tokens);
    found.add("ids", djlNumbers(encoding.getIds()));
    found.add("type_ids", djlNumbers(encoding.getTypeIds()));
    found.add("special_tokens_mask", djlNumbers(encoding.getSpecialTokenMask()));
    found.add("attention_mask", djlNumbers(encoding.getAttentionMask()));
    found.add("word_ids", djlNumbers(encoding.getWordIds()));
    found.add("sequence_ids", djlNumbers(encoding.getSequenceIds()));
    JsonArray spans = new JsonArray();
    for (var span : encoding.getCharTokenSpans()) {
      JsonArray pair = new JsonArray();
      pair.add(span == null ? 0 : span.getStart());
      pair.add(span == null ? 0 : span.getEnd());
      spans.add(pair);
    }
    found.add("spans", spans);
    JsonArray parts = new JsonArray();
    for (var part : encoding.getOverflowing()) parts.add(djlEncoding(part));
    found.add("overflowing", parts);
    return found;
  }

  /** A word or a sequence that is none is -1. */
  private static JsonArray djlNumbers(long[] numbers) {
    JsonArray found = new JsonArray();
    for (long number : numbers) found.add(number < 0 ? JsonNull.INSTANCE : new JsonPrimitive(number));
    return found;
  }

  // OpenNLP and Tribuo have WordPiece, with the prefix ##, and give texts of tokens

  /** A model in vocab.txt, and the types of its stages. */
  private record WordPiece(
      Set<String> vocabulary, String unknown, int longest, String normalizer, String stage, Set<String> special) {
    static WordPiece of(JsonObject written) {
      JsonObject content = content(written, "vocab.txt");
      JsonObject beside = beside(
          content, "unknown_token", "continuing_prefix", "max_word_length", "decoder", "special_tokens", "normalizer",
          "pre_tokenizer");
      need(beside.get("continuing_prefix").getAsString().equals("##"), "the prefix is ##");
      return new WordPiece(
          new HashSet<>(Arrays.asList(file(content, "vocab.txt").split("\n"))),
          beside.get("unknown_token").getAsString(),
          number(beside.get("max_word_length")),
          type(beside, "normalizer"),
          type(beside, "pre_tokenizer"),
          beside.has("special_tokens") ? Set.copyOf(contents(beside.get("special_tokens"))) : Set.of());
    }
  }

  private static Made tokens(Function<String, List<String>> tokenize) {
    return (operation, input) -> {
      need(operation.equals("encode"), "no operation " + operation);
      takes(input);
      JsonArray found = new JsonArray();
      for (String token : tokenize.apply(input.get("text").getAsString())) found.add(token);
      return answer("tokens", found);
    };
  }

  /** It splits at spaces and at ASCII punctuation, and puts [CLS] and [SEP] around the tokens of every text. */
  private static Made openNlp(JsonObject written) {
    WordPiece model = WordPiece.of(written);
    need(model.unknown.equals("[UNK]"), "the unknown token is [UNK]");
    need(model.normalizer.isEmpty(), "no normalizer");
    need(Set.of("", "whitespace_split", "whitespace", "bert").contains(model.stage), "no such pre-tokenizer");
    var made = new opennlp.tools.tokenize.WordpieceTokenizer(model.vocabulary, model.longest);
    return tokens(text -> {
      need(model.special.stream().noneMatch(text::contains), "looks for no special tokens in a text");
      List<String> found = List.of(made.tokenize(text));
      return found.subList(1, found.size() - 1);
    });
  }

  /** Wordpiece takes a word; WordpieceTokenizer splits at spaces, and between them as another tokenizer does. */
  private static Made tribuo(JsonObject written) {
    WordPiece model = WordPiece.of(written);
    Wordpiece pieces = new Wordpiece(model.vocabulary, model.unknown, model.longest);
    if (model.stage.isEmpty()) {
      need(model.normalizer.isEmpty(), "no normalizer");
      return tokens(pieces::wordpiece);
    }
    boolean isBert = model.normalizer.equals("bert");
    need(isBert && model.stage.equals("bert") || model.normalizer.isEmpty(), "no such normalizer");
    JsonObject beside = content(written, "vocab.txt").getAsJsonObject("beside");
    JsonObject normalizer = isBert ? beside.getAsJsonObject("normalizer") : new JsonObject();
    boolean lowercase = isBert && flag(normalizer, "lowercase", true);
    boolean strips = isBert && flag(normalizer, "strip_accents", lowercase);
    Tokenizer between = switch (model.stage) {
      case "whitespace_split" -> new NonTokenizer();
      case "bert" -> new WordpieceBasicTokenizer(isBert && flag(normalizer, "handle_chinese_chars", true));
      default -> throw new NotOffered("no such pre-tokenizer");
    };
    return tokens(new WordpieceTokenizer(pieces, between, lowercase, strips, model.special)::split);
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

  private static final Map<String, Made> MADE = new LinkedHashMap<>();

  private static JsonObject ask(String line) {
    need(!line.contains("{\"hex\": \""), "strings are of UTF-8");
    JsonObject request = JsonParser.parseString(line).getAsJsonObject();
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

  private static JsonObject reply(String line) {
    try {
      return answer("answer", ask(line));
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
      out.print(reply(line) + "\n");
      out.flush();
    }
  }
}
