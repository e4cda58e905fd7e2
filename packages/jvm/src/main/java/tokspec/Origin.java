package tokspec;

import com.google.gson.JsonObject;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import tokspec.Bundle.Outcome;
import tokspec.Session.Reply;

/**
 * One release of a library that a format comes from, with its answers that are not as specified. A tokenizer that wants
 * to equal it may answer in the same way (docs/cases.md).
 */
record Origin(String origin, String version, Map<String, String> choices, List<Group> answers) {
  /** Answers of one reason, by the id of a case or of a row. */
  record Group(String reason, Map<String, Answer> cases) {}

  /** The fields of a result that differ, the reason of a refusal, or the kind of a fault; the others are null. */
  record Answer(JsonObject result, String refused, String fault) {
    /** Says whether a reply that is not as specified is this one. A refusal is as good as a crash. */
    boolean isOf(Reply<JsonObject> reply, Outcome outcome, JsonObject input, String unit, Comparison comparison,
        String operation) {
      if (fault != null) {
        return reply.failure() != null && (!reply.failure().equals("crash") || fault.equals("crash"));
      }
      if (refused != null || reply.failure() != null) {
        return refused != null && refused.equals(reply.failure());
      }
      JsonObject right = outcome.error() != null ? new JsonObject()
          : (outcome.one_of() != null ? outcome.one_of().get(0) : outcome.expect()).deepCopy();
      result.entrySet().forEach(field -> right.add(field.getKey(), field.getValue()));
      JsonObject given = outcome.error() == null ? reply.answer()
          : Json.pick(reply.answer(), List.copyOf(right.keySet()));
      return comparison.isSame(operation, Comparison.convertSpans(right, input, unit), given);
    }
  }

  /** Finds an origin by its name; without a name it has no answers. */
  static Origin find(String name, List<Origin> all) {
    if (name == null || name.isEmpty()) {
      return new Origin("", "", Map.of(), List.of());
    }
    return all.stream().filter(each -> each.origin.equals(name)).findFirst()
        .orElseThrow(() -> new IllegalArgumentException("like: " + name + " is not an origin; there are "
            + all.stream().map(Origin::origin).collect(Collectors.joining(", "))));
  }

  /** Returns its options of choices; how it counts spans does not matter to a port in another language. */
  Map<String, String> options() {
    Map<String, String> options = new HashMap<>(choices);
    options.remove("offset_unit");
    return options;
  }

  /** Returns the reason for which it answers a case otherwise than it is specified. */
  String reasonOf(String id) {
    return answers.stream()
        .filter(group -> group.cases.keySet().stream().anyMatch(each -> each.split("#")[0].equals(id)))
        .map(this::said).findFirst()
        .orElseThrow(() -> new IllegalArgumentException(
            this + " answers " + id + " as specified; give the reason instead"));
  }

  String said(Group group) {
    return "as " + this + ": " + group.reason;
  }

  @Override
  public String toString() {
    return origin + " " + version;
  }
}
