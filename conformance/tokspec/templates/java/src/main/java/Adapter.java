import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * An adapter between tokspec and a tokenizer; Protocol.java speaks with the suite. README.md says what to do next.
 *
 * What a library prints is kept away from the protocol. An exception that is no Refusal counts as a crash.
 */
public final class Adapter {
    /** The operations that you offer; spec/10-protocol.md lists what each takes and gives. What is absent is unsupported. */
    static final Map<String, Protocol.Operation> OPERATIONS = new TreeMap<>();

    static {
        // OPERATIONS.put("encode", Adapter::encode);
    }

    /** Characters as tokens. Put your tokenizer's answer here; "ids" and "spans" may stand beside "tokens". */
    static Object encode(Object model, JsonObject input) {
        String text = Protocol.text(input.get("text"));
        return Map.of("tokens", text.codePoints().mapToObj(Character::toString).toList());
    }

    /** Gives what the operations get as their model: your tokenizer. This template keeps the model as the suite wrote it. */
    static Object load(String format, JsonElement content) {
        // Make your tokenizer here. A recipe, with yours in place of Mine and of its exception:
        //     JsonObject model = content.getAsJsonObject();
        //     if (!new JsonPrimitive("bpe").equals(model.get("type")) || model.has("normalizer"))
        //         throw new Protocol.Refusal("unsupported", "has BPE alone, and no normalizers"); // what it does not have
        //     try {
        //         return new Mine(model.getAsJsonArray("vocabulary"), model.getAsJsonArray("merges"));
        //     } catch (IllegalArgumentException error) { // what it rejects; any other exception is a crash
        //         throw new Protocol.Refusal("invalid_model", error.getMessage());
        //     }
        return content;
    }

    static final Map<String, Object> HELLO = Map.of(
        "protocol", 1,
        "name", "mine",
        "version", "0.1",
        "language", "Java",
        "operations", OPERATIONS.keySet(),
        "formats", List.of("tokspec"), // or "tokenizer.json", which Hugging Face tokenizers save; the preferred first
        "encode_fields", List.of("tokens"), // add "ids" and "spans" as soon as encode gives them
        "choices", Map.of()); // such as "bpe_merge_order", "lowest_rank"; spec/08-choices.md has them all

    public static void main(String[] arguments) throws IOException {
        Protocol.serve(HELLO, Adapter::load, OPERATIONS);
    }
}
