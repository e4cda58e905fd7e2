package tokspec;

import com.google.gson.JsonObject;
import java.util.Map;
import java.util.Set;

/** A tokenizer; {@code M} is what it loads. Whatever is thrown but a {@link Refusal} is a crash. */
public interface Adapter<M> {
  /** Returns what it offers, as spec/10-protocol.md describes it; it is asked for nothing else. */
  Map<String, ?> hello();

  /** Loads the content of a model in one of the formats that {@code hello} lists. */
  M load(String format, JsonObject content) throws Exception;

  /** Returns the result of an operation: a JsonObject, or a map that Gson writes as one. */
  Object run(String operation, M model, JsonObject input) throws Exception;

  /** Thrown by an adapter that cannot answer. */
  final class Refusal extends RuntimeException {
    private static final long serialVersionUID = 1;
    private static final Set<String> REASONS =
        Set.of("unknown_symbol", "no_segmentation", "unknown_id", "invalid_model", "invalid_input", "unsupported");

    final String reason;

    /** Takes a reason of spec/09-errors.md, and a message for people. */
    public Refusal(String reason, String message) {
      super(message);
      if (!REASONS.contains(reason)) {
        throw new IllegalArgumentException(reason + " is not a reason of spec/09-errors.md");
      }
      this.reason = reason;
    }
  }
}
