package tokspec;

import com.google.gson.JsonObject;
import com.google.gson.annotations.SerializedName;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** The cases with their choices and models, as cases.json has them (docs/cases.md). */
record Bundle(
    List<Choice> choices, List<String> operations, Map<String, Map<String, Written>> models, List<Origin> origins,
    List<Case> cases) {
  record Choice(String name, Map<String, String> options, @SerializedName("default") String preset) {}

  /** A model in a format, or why the format cannot express it. */
  record Written(JsonObject content, String unsupported) {}

  /** What is right; one of its parts is not null. */
  record Outcome(
      JsonObject expect, List<JsonObject> one_of, String error, Map<String, Map<String, Outcome>> by_choice) {}

  record Row(JsonObject input, List<String> options, Map<String, String> limits, Outcome outcome) {}

  /** A case; what it does not have is null. Its limits say why files say something else than its model, by format. */
  record Case(
      String id, List<String> clauses, String why, String model_name, JsonObject model, List<String> components,
      List<String> fields, String operation, JsonObject input, List<String> options, Map<String, String> limits,
      Outcome outcome, List<Row> inputs, Map<String, Double> tolerance, String file, int line, Sweep.Swept swept) {

    /** Returns the question of a row. */
    Case with(Row row) {
      return new Case(
          id, clauses, why, model_name, model, components, fields, operation, row.input, row.options, row.limits,
          row.outcome, null, tolerance, file, line, swept);
    }

    /** Returns a question of the case of a sweep. */
    Case asking(String operation, JsonObject input) {
      return new Case(
          id, clauses, why, model_name, model, components, fields, operation, input, options, limits,
          outcome, null, tolerance, file, line, swept);
    }
  }

  /** What an adapter says of itself, as far as it matters here; what it does not say is null. */
  record Hello(
      List<String> operations, List<String> formats, Map<String, String> choices, List<String> encode_fields,
      List<String> encode_options, List<String> decode_options, List<String> components, boolean reads_file,
      Map<String, String> other_trainers, String like) {}

  static Bundle read() throws IOException {
    return Json.GSON.fromJson(resource("cases.json"), Bundle.class);
  }

  /** Returns the text of a file that comes with this class. */
  static String resource(String name) throws IOException {
    try (InputStream file = Bundle.class.getResourceAsStream(name)) {
      if (file == null) {
        throw new IllegalArgumentException(name + " does not come with tokspec");
      }
      return new String(file.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
