import com.google.gson.Gson;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import tokspec.Adapter;
import tokspec.Tokspec;

/** Judges replies that were recorded, one a question, in the order of cases or of a pack: a check of the runner. */
final class Recorded {
  record Recording(Map<String, Object> hello, List<JsonObject> replies, String pack, String model) {}

  @TestFactory
  Stream<DynamicTest> recorded() throws IOException {
    String recorded = Files.readString(Path.of(System.getenv("RECORDING")));
    Recording recording = new Gson().fromJson(recorded, Recording.class);
    String file = System.getenv("KNOWN_FAILURES");
    Path[] known = file == null ? new Path[0] : new Path[] {Path.of(file)};
    Adapter<String> adapter = new Replies(recording.hello, recording.replies.iterator());
    if (recording.pack == null) {
      return Tokspec.cases(adapter, known);
    }
    return recording.model == null
        ? Tokspec.packLoaded(adapter, recording.pack, "a model", known)
        : Tokspec.pack(adapter, recording.pack, Path.of(recording.model), known);
  }

  private record Replies(Map<String, Object> hello, Iterator<JsonObject> replies) implements Adapter<String> {
    @Override
    public String load(String format, JsonObject content) {
      return "a model";
    }

    @Override
    public Object run(String operation, String model, JsonObject input) {
      JsonObject reply = replies.next();
      if (reply.has("exits")) {
        System.exit(0);
      }
      String message = reply.has("message") ? reply.get("message").getAsString() : "as recorded";
      if (reply.has("refused")) {
        throw new Refusal(reply.get("refused").getAsString(), message);
      }
      if (reply.has("crashed")) {
        throw new IllegalStateException(message);
      }
      if (reply.has("asked") && !reply.get("asked").equals(input)) {
        throw new IllegalStateException("was asked " + input + " and not " + reply.get("asked"));
      }
      return reply.get("ok");
    }
  }
}
