package tokspec;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What of two results is compared, and where they first differ (fixtures/README.md, "How to judge"). */
final class Comparison {
  private final List<String> fields;
  private final Map<String, Double> tolerance;

  private boolean hasOtherThanSpans;
  private boolean hasSpans;
  private boolean lacksSpans;

  /** Compares the fields of an encoding that an implementation gives, by the tolerance of a case or else of TERM-5. */
  Comparison(List<String> fields, Map<String, Double> tolerance) {
    this.fields = fields;
    this.tolerance = tolerance != null ? tolerance : Map.of("relative", 1e-9, "absolute", 1e-9);
  }

  /** Whether anything was compared; spans that some encodings have and others lack are not. */
  boolean hasField() {
    return hasOtherThanSpans || hasSpans && !lacksSpans;
  }

  /** The fields that every compared encoding gives: those declared, without spans if one lacks them. */
  List<String> given() {
    return fields.stream().filter(name -> !name.equals("spans") || !lacksSpans).toList();
  }

  /** Says where two results of an operation first differ; nothing if they agree. */
  String compare(String operation, JsonObject right, JsonObject given) {
    if (operation.equals("encode") || operation.equals("encode_batch")) {
      return difference("", keep(right, right, given), keep(given, right, given));
    }
    hasOtherThanSpans = true;
    boolean hasNoSpans = operation.equals("pre_tokenize") && list(given, "pieces").stream()
        .anyMatch(piece -> piece instanceof JsonArray items && items.size() == 1);
    return hasNoSpans ? difference("", piecesAlone(right), piecesAlone(given)) : difference("", right, given);
  }

  /** Says whether two results of an operation agree in what both give; one that gives nothing of it does not. */
  boolean isSame(String operation, JsonObject right, JsonObject given) {
    boolean isEncoding = operation.equals("encode") || operation.equals("encode_batch");
    JsonObject kept = isEncoding ? keep(given, right, given) : given;
    return kept.size() > 0 && compare(operation, right, given).isEmpty();
  }

  private static JsonArray piecesAlone(JsonObject result) {
    return Json.array(list(result, "pieces").stream().map(piece -> piece.getAsJsonArray().get(0)).toArray());
  }

  private static List<JsonElement> list(JsonObject object, String key) {
    return object.get(key) instanceof JsonArray items ? items.asList() : List.of();
  }

  /**
   * Keeps of one of two encodings what is declared and wanted, spans only where they are given; of those within them
   * likewise.
   */
  private JsonObject keep(JsonObject one, JsonObject right, JsonObject given) {
    List<String> names = fields.stream()
        .filter(name -> right.has(name) && (!name.equals("spans") || given.has(name))).toList();
    hasOtherThanSpans |= names.stream().anyMatch(name -> !name.equals("spans"));
    hasSpans |= names.contains("spans");
    lacksSpans |= fields.contains("spans") && right.has("spans") && !given.has("spans");
    JsonObject kept = Json.pick(one, names);
    for (String key : fields.contains("overflowing") ? List.of("encodings", "overflowing") : List.of("encodings")) {
      if (right.has(key) && given.get(key) instanceof JsonArray others) {
        JsonArray wanted = right.getAsJsonArray(key);
        hasOtherThanSpans |= key.equals("encodings") && wanted.isEmpty(); // that there are none is the answer
        JsonArray parts = one.getAsJsonArray(key).deepCopy();
        for (int i = 0; i < Math.min(wanted.size(), others.size()); i++) {
          if (others.get(i) instanceof JsonObject other) {
            parts.set(i, keep(parts.get(i).getAsJsonObject(), wanted.get(i).getAsJsonObject(), other));
          }
        }
        kept.add(key, parts);
      }
    }
    return kept;
  }

  private String difference(String path, JsonElement expected, JsonElement actual) {
    Map<String, JsonElement> one = parts(expected);
    Map<String, JsonElement> other = parts(actual);
    if (one != null && other != null && expected.getClass() == actual.getClass()) {
      Set<String> keys = new LinkedHashSet<>(one.keySet());
      keys.addAll(other.keySet());
      return keys.stream().map(key -> difference(path + "/" + key, one.get(key), other.get(key)))
          .filter(found -> !found.isEmpty()).findFirst().orElse("");
    }
    boolean isSame = Json.isNumber(expected) && Json.isNumber(actual)
        ? isSameNumber(expected, actual)
        : expected != null && (expected.equals(actual) || expected.equals(Json.hex(actual)));
    return isSame ? "" : path + ": expected " + orNothing(expected) + ", got " + orNothing(actual);
  }

  /** Returns the members of an object, or the items of a list by their places; null of anything else. */
  private static Map<String, JsonElement> parts(JsonElement value) {
    if (value instanceof JsonArray items) {
      Map<String, JsonElement> parts = new LinkedHashMap<>();
      items.forEach(item -> parts.put(String.valueOf(parts.size()), item));
      return parts;
    }
    return value instanceof JsonObject object ? object.asMap() : null;
  }

  private static String orNothing(JsonElement value) {
    return value == null ? "nothing" : value.toString();
  }

  /** Compares an expected integer exactly, however the other is written, and a real number by the tolerance. */
  private boolean isSameNumber(JsonElement expected, JsonElement actual) {
    if (Json.isInteger(expected)) {
      return new BigDecimal(expected.getAsString()).compareTo(new BigDecimal(actual.getAsString())) == 0;
    }
    double wanted = expected.getAsDouble();
    double room = tolerance.getOrDefault("relative", 0.0) * Math.abs(wanted);
    return Math.abs(wanted - actual.getAsDouble()) <= Math.max(tolerance.getOrDefault("absolute", 0.0), room);
  }

  /** Converts expected spans from code points to the unit of the implementation (TERM-3). */
  static JsonObject convertSpans(JsonObject result, JsonObject input, String unit) {
    JsonObject converted = result.deepCopy();
    List<JsonElement> encodings = list(converted, "encodings");
    for (int i = 0; i < encodings.size(); i++) {
      JsonObject asked = input.getAsJsonArray("inputs").get(i).getAsJsonObject();
      encodings.set(i, convertSpans(encodings.get(i).getAsJsonObject(), asked, unit));
    }
    if (encodings.isEmpty() && !unit.equals("code_point")) {
      convert(converted, List.of(places(input.get("text"), unit), places(input.get("pair"), unit)));
    }
    return converted;
  }

  private static void convert(JsonObject part, List<List<Integer>> places) {
    List<JsonElement> sequences = list(part, "sequence_ids");
    List<JsonElement> spans = list(part, "spans");
    for (int i = 0; i < spans.size(); i++) {
      boolean isOfPair = i < sequences.size() && sequences.get(i).toString().equals("1");
      move(spans.get(i), 0, places.get(isOfPair ? 1 : 0));
    }
    list(part, "pieces").forEach(piece -> move(piece, 1, places.get(0)));
    list(part, "overflowing").forEach(inner -> convert(inner.getAsJsonObject(), places));
  }

  private static void move(JsonElement span, int first, List<Integer> places) {
    List<JsonElement> ends = span.getAsJsonArray().asList();
    for (int i = first; i < ends.size(); i++) {
      int place = ends.get(i).getAsInt();
      ends.set(i, new JsonPrimitive(place < places.size() ? places.get(place) : place));
    }
  }

  /** Returns where each character of a text begins in the unit, and where the text ends. */
  private static List<Integer> places(JsonElement text, String unit) {
    List<Integer> places = new ArrayList<>(List.of(0));
    for (byte each : text == null ? new byte[0] : Json.bytes(text)) {
      int last = places.size() - 1;
      if ((each & 0xc0) != 0x80) {
        places.add(places.get(last) + (unit.equals("utf16") && (each & 0xff) >= 0xf0 ? 2 : 1));
      } else if (unit.equals("byte")) {
        places.set(last, places.get(last) + 1);
      }
    }
    return places;
  }
}
