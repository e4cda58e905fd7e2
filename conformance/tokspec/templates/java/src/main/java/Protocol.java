import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonPrimitive;
import com.google.gson.Strictness;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** The protocol of spec/10-protocol.md: one JSON object a line in, one a line out. It can stay as it is. */
final class Protocol {
    /** An answer that is no result. */
    static final class Refusal extends RuntimeException {
        final String reason;

        Refusal(String reason, String message) {
            super(message);
            this.reason = reason;
        }
    }

    interface Operation {
        Object run(Object model, JsonObject input);
    }

    interface Load {
        Object load(String format, JsonElement content);
    }

    private static final Gson GSON = new GsonBuilder().setStrictness(Strictness.STRICT).serializeNulls().create();

    private final Map<String, Object> models = new HashMap<>();
    private final Map<String, Object> hello;
    private final Load load;
    private final Map<String, Operation> operations;

    private Protocol(Map<String, Object> hello, Load load, Map<String, Operation> operations) {
        this.hello = hello;
        this.load = load;
        this.operations = operations;
    }

    /** Answers until it is told bye, or the input ends. */
    static void serve(Map<String, Object> hello, Load load, Map<String, Operation> operations) throws IOException {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        System.setOut(System.err); // what a library prints goes elsewhere
        Protocol protocol = new Protocol(hello, load, operations);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonObject request = parse(line);
            out.print(GSON.toJson(protocol.answer(request)) + "\n");
            out.flush();
            if (new JsonPrimitive("bye").equals(request.get("op"))) return;
        }
    }

    /** A string. What JSON cannot carry, such as a lone surrogate, comes as {"hex": "…"}. */
    static String text(JsonElement value) {
        if (value instanceof JsonPrimitive primitive && primitive.isString()) return primitive.getAsString();
        throw new Refusal("unsupported", "a string is expected, not " + value);
    }

    private static JsonObject parse(String line) {
        try {
            if (GSON.fromJson(line, JsonElement.class) instanceof JsonObject request) return request;
        } catch (JsonParseException notJson) {
            // answered like a request without an op
        }
        return new JsonObject();
    }

    private JsonObject answer(JsonObject request) {
        JsonObject reply = new JsonObject();
        reply.add("id", request.get("id"));
        try {
            reply.add("ok", GSON.toJsonTree(perform(request)));
        } catch (Refusal refusal) {
            reply.add("refused", GSON.toJsonTree(Map.of("reason", refusal.reason, "message", refusal.getMessage())));
        } catch (RuntimeException | StackOverflowError failure) {
            failure.printStackTrace();
            reply.add("crashed", GSON.toJsonTree(Map.of("message", failure.toString())));
        }
        return reply;
    }

    private Object perform(JsonObject request) {
        String op = text(request.get("op"));
        switch (op) {
            case "hello":
                return hello;
            case "load":
                models.put(text(request.get("model")), load.load(text(request.get("format")), request.get("content")));
                return Map.of();
            case "bye":
                return Map.of();
            default:
                if (!operations.containsKey(op)) throw new Refusal("unsupported", "there is no operation " + op);
        }
        String model = text(request.get("model"));
        if (!models.containsKey(model)) throw new Refusal("unsupported", "no model " + model + " is loaded");
        return operations.get(op).run(models.get(model), request.getAsJsonObject("input"));
    }
}
