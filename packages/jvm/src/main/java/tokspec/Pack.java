package tokspec;

import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import tokspec.Bundle.Case;
import tokspec.Bundle.Outcome;

/** What a tokenizer made of texts (docs/packs.md). */
final class Pack {
  private record Model(String sha256) {}

  private record Header(
      int tokspec_recording, int tokspec_pack, String name, Model model, Map<String, String> files, Sweep.Digests sweep) {}

  private static final List<String> OPTIONS = List.of("pair", "add_special_tokens", "allowed_special");

  private final String file;
  private final List<String> lines;
  private final Header header;

  /** Reads a pack: a file, or one that comes with the suite, by its name. */
  Pack(String pack) throws IOException {
    boolean isFile = Files.isRegularFile(Path.of(pack));
    file = isFile ? pack : pack + ".pack.jsonl";
    lines = (isFile ? Files.readString(Path.of(pack)) : Bundle.resource("packs/" + file)).lines().toList();
    header = Json.GSON.fromJson(lines.get(0), Header.class);
    if (header.tokspec_recording != 2 && header.tokspec_pack != 1) {
      throw new IllegalArgumentException(file + ":1: is not the header of a pack");
    }
  }

  String name() {
    return header.name != null ? header.name : Path.of(file).getFileName().toString().replaceFirst("\\..*", "");
  }

  /** Says whether it was made from a file with these bytes. */
  boolean isOf(byte[] bytes) {
    String digest = Json.sha256(bytes);
    return header.model != null && digest.equals(header.model.sha256)
        || header.files != null && header.files.containsValue(digest);
  }

  boolean hasSweep() {
    return header.sweep != null;
  }

  /** Returns the cases of its sweep, which are for the file that it was made from. */
  List<Case> sweepCases() {
    return hasSweep() ? Sweep.cases(header.sweep, name(), file) : List.of();
  }

  /** Returns two cases of each line. What has no option for the tokens that are added is taken to add nothing. */
  List<Case> cases(boolean hasOption) {
    List<Case> cases = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    for (int number = 2; number <= lines.size(); number++) {
      JsonObject line = Json.GSON.fromJson(lines.get(number - 1), JsonObject.class);
      if (!line.has("ids") || line.getAsJsonArray("ids").contains(JsonNull.INSTANCE)) {
        continue; // the footer, or what was refused
      }
      JsonObject input = Json.pick(line, OPTIONS);
      input.add("text", line.get("text"));
      if (!seen.add(input.toString())) {
        continue; // a line that asks what an earlier one asked counts once
      }
      if (!hasOption && new JsonPrimitive(false).equals(input.get("add_special_tokens"))) {
        input.remove("add_special_tokens");
      }
      cases.add(make("encode", number, line, input, Json.pick(line, List.of("ids", "type_ids"))));
      JsonElement decoded = line.get(line.has("decoded") ? "decoded" : "text");
      if (!decoded.isJsonNull()) {
        JsonObject expected = new JsonObject();
        expected.add("text", decoded);
        cases.add(make("decode", number, line, Json.pick(line, List.of("ids")), expected));
      }
    }
    return cases;
  }

  private Case make(String operation, int number, JsonObject line, JsonObject input, JsonObject expected) {
    String id = String.format(Locale.ROOT, "%s-%04d-%s", name(), number, operation);
    String clause = operation.equals("encode") ? "ENC-1" : "DEC-7";
    String key = line.has("why") ? "why" : "from";
    String why = line.has(key) ? line.get(key).getAsString() : "";
    List<String> options = OPTIONS.stream().filter(input::has).toList();
    return new Case(
        id, List.of(clause), why, name(), new JsonObject(), null, null, operation, input, options,
        null, new Outcome(expected, null, null, null), null, null, file, number, null);
  }
}
