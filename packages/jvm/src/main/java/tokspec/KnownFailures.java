package tokspec;

import com.google.gson.JsonArray;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What the files list that {@code tokspec run --update-known-failures} writes. */
final class KnownFailures {
  private static final Pattern SECTION = Pattern.compile("(known_failures|unsupported|faults):( \\[])?");
  private static final Pattern IN_ONE_LINE = Pattern.compile("  - \\{(.+)\\}");
  private static final Pattern NEXT = Pattern.compile("(\"(?:[^\"\\\\]|\\\\.)*\"), (?=\\w+: )");
  private static final Pattern LINE = Pattern.compile("  ([- ]) (?:(\\w+): )?(.+)");

  /** What is listed of each case. */
  final Map<String, Map<String, String>> entries = new HashMap<>();

  /** The cases that are listed as unsupported; null where no file lists them. */
  Set<String> unsupported;

  private String section = "";
  private Map<String, String> entry;

  KnownFailures(Path... files) throws IOException {
    for (Path file : files) {
      for (String line : Files.readAllLines(file)) {
        Matcher inner = IN_ONE_LINE.matcher(line);
        String lines = inner.matches() ? "  - " + NEXT.matcher(inner.group(1)).replaceAll("$1\n    ") : line;
        lines.lines().filter(each -> !each.matches(" *(#.*)?")).forEach(each -> take(each, file));
      }
    }
  }

  private void take(String line, Path file) {
    Matcher start = SECTION.matcher(line);
    Matcher found = LINE.matcher(line);
    if (start.matches()) {
      section = start.group(1);
      unsupported = section.equals("unsupported") ? new HashSet<>() : unsupported;
    } else if (!found.matches() || section.isEmpty()) {
      throw new IllegalArgumentException(
          file + ": tokspec run --update-known-failures does not write such a line: " + line);
    } else if (section.equals("unsupported")) {
      unsupported.add(value(found.group(3)));
    } else if (section.equals("known_failures")) {
      entry = found.group(1).equals("-") ? new HashMap<>() : entry;
      entry.put(found.group(2), value(found.group(3)));
      entries.put(entry.get("case"), entry);
    }
  }

  private static String value(String written) {
    return written.startsWith("\"") ? Json.GSON.fromJson(written, String.class) : written;
  }

  /** Says whether a case is not among those that are listed as unsupported, if any are. */
  boolean omits(String id) {
    return unsupported != null && !unsupported.contains(id);
  }

  /**
   * Says whether a case is listed as failing in this way, and not past its date. Nothing is seen of the case of a sweep
   * but digests: it is listed by its verdict.
   */
  boolean isAsListed(String id, String verdict, JsonArray seen) {
    Map<String, String> listed = entries.get(id);
    boolean isPast = listed.containsKey("expires") && LocalDate.parse(listed.get("expires")).isBefore(LocalDate.now());
    return verdict.equals(listed.get("verdict"))
        && (seen == null || digest(seen).equals(listed.get("digest"))) && !isPast;
  }

  private static String digest(JsonArray seen) {
    return Json.sha256(Json.canonical(seen).getBytes(StandardCharsets.US_ASCII)).substring(0, 16);
  }
}
