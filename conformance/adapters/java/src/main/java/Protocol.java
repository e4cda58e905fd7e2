import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** The protocol of spec/10-protocol.md: one JSON object a line in, one a line out. */
final class Protocol {
  private static final Gson GSON =
      new GsonBuilder().disableHtmlEscaping().serializeNulls().create();

  private Protocol() {}

  /** A library as the protocol sees it; {@code M} is what it loads. */
  interface Adapter<M> {
    Map<String, ?> hello();

    M load(String format, JsonElement content);

    Map<String, Operation<M>> operations();
  }

  interface Operation<M> {
    Map<String, ?> perform(M model, JsonElement input);
  }

  /** An answer that is no result. */
  static final class Refusal extends RuntimeException {
    final String reason;

    Refusal(String reason, String message) {
      super(message);
      this.reason = reason;
    }
  }

  static Refusal unsupported(String message) {
    return new Refusal("unsupported", message);
  }

  /** A string; what JSON cannot carry, such as a lone surrogate, comes as an object. */
  static String text(JsonElement value) {
    if (value == null || !value.isJsonPrimitive()) {
      throw unsupported("takes text, and no " + value);
    }
    return value.getAsString();
  }

  /** A number for a library that has them in 32 bits; Gson would drop the others. */
  static int number(long value) {
    if (value != (int) value) {
      throw unsupported("has numbers of 32 bits, and no " + value);
    }
    return (int) value;
  }

  /** Reads content, or an input, into a class of its shape. */
  static <T> T read(JsonElement value, Class<T> shape) {
    if (value == null || !value.isJsonObject()) {
      throw unsupported("takes an object, and no " + value);
    }
    try {
      return GSON.fromJson(value, shape);
    } catch (JsonParseException failure) {
      throw unsupported("not understood: " + failure.getMessage());
    }
  }

  /** The text of the one file of a content. */
  static String file(JsonElement content, String format) {
    return text(read(read(content, JsonObject.class).get("files"), JsonObject.class).get(format));
  }

  /** What is told beside the file. */
  static <T> T beside(JsonElement content, Class<T> shape) {
    return read(read(content, JsonObject.class).get("beside"), shape);
  }

  /** Answers until it is told {@code bye}, or the input ends. */
  static <M> void serve(Adapter<M> adapter) throws IOException {
    PrintStream replies = new PrintStream(System.out, true, UTF_8);
    System.setOut(System.err); // standard output belongs to the protocol
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    Map<String, M> models = new HashMap<>();
    for (String line; (line = lines.readLine()) != null; ) {
      JsonObject request = parsed(line);
      JsonObject reply = answer(adapter, models, request);
      reply.add("id", request.get("id"));
      replies.print(GSON.toJson(reply) + "\n");
      replies.flush();
      if (new JsonPrimitive("bye").equals(request.get("op"))) {
        return;
      }
    }
  }

  /** The request of a line; a line that is none asks for nothing. */
  private static JsonObject parsed(String line) {
    try {
      JsonElement value = JsonParser.parseString(line);
      return value.isJsonObject() ? value.getAsJsonObject() : new JsonObject();
    } catch (JsonParseException failure) {
      return new JsonObject();
    }
  }

  /** A reply without its id. An exception in the library is the crash of one request (PROTO-5). */
  private static <M> JsonObject answer(
      Adapter<M> adapter, Map<String, M> models, JsonObject request) {
    try {
      return object("ok", perform(adapter, models, request));
    } catch (Refusal refusal) {
      return object("refused", Map.of("reason", refusal.reason, "message", refusal.getMessage()));
    } catch (RuntimeException | AssertionError | StackOverflowError failure) {
      return object("crashed", Map.of("message", failure.toString()));
    }
  }

  private static JsonObject object(String key, Map<String, ?> value) {
    JsonObject made = new JsonObject();
    made.add(key, GSON.toJsonTree(value));
    return made;
  }

  private static <M> Map<String, ?> perform(
      Adapter<M> adapter, Map<String, M> models, JsonObject request) {
    String op = text(request.get("op"));
    switch (op) {
      case "hello":
        Map<String, Object> hello = new TreeMap<>(adapter.hello());
        hello.putAll(Map.of("protocol", 1, "language", "Java"));
        hello.put("operations", new TreeSet<>(adapter.operations().keySet()));
        return hello;
      case "load":
        M loaded = adapter.load(text(request.get("format")), request.get("content"));
        models.put(text(request.get("model")), loaded);
        return Map.of();
      case "bye":
        return Map.of();
      default:
        Operation<M> operation = adapter.operations().get(op);
        M model = operation == null ? null : models.get(text(request.get("model")));
        if (model == null) {
          throw unsupported("there is no operation " + op + ", or no such model is loaded");
        }
        return operation.perform(model, request.get("input"));
    }
  }
}
