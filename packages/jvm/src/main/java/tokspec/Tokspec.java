package tokspec;

import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import com.google.gson.JsonObject;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import tokspec.Bundle.Case;
import tokspec.Bundle.Written;

/** Judges a tokenizer by the cases of tokspec, or by a pack, each case as a test of JUnit (docs/cases.md). */
public final class Tokspec {
  /** The runs of which not all is judged. */
  private static final Set<Object> OPEN = ConcurrentHashMap.newKeySet();

  static {
    Runtime.getRuntime().addShutdownHook(new Thread(Tokspec::refuseEarlyExit));
  }

  private Tokspec() {}

  /** Makes a test of each case. {@code knownFailures} are files that {@code tokspec run} wrote, if there are any. */
  public static <M> Stream<DynamicTest> cases(Adapter<M> adapter, Path... knownFailures) throws IOException {
    Bundle bundle = Bundle.read();
    return tests(new Session<>(adapter, bundle.models()), bundle, bundle.cases(), knownFailures);
  }

  /** Makes two tests of each line of a pack: a file, or a name. {@code model} is the tokenizer's tokenizer.json. */
  public static <M> Stream<DynamicTest> pack(Adapter<M> adapter, String pack, Path model, Path... knownFailures)
      throws IOException {
    Pack read = new Pack(pack);
    byte[] bytes = Files.readAllBytes(model);
    boolean isOf = read.isOf(bytes);
    if (!isOf) {
      String without = read.hasSweep() ? ", so its sweep is left out" : "";
      System.err.println(model + " is not the file that the pack " + read.name() + " was made from" + without);
    }
    JsonObject content = Json.GSON.fromJson(new String(bytes, StandardCharsets.UTF_8), JsonObject.class);
    Map<String, Written> models = Map.of(read.name(), new Written(content, null));
    return tests(new Session<>(adapter, Map.of("tokenizer.json", models)), read, isOf, knownFailures);
  }

  /** Makes two tests of each line of a pack for a tokenizer that is loaded. */
  public static <M> Stream<DynamicTest> packLoaded(Adapter<M> adapter, String pack, M tokenizer, Path... knownFailures)
      throws IOException {
    Pack read = new Pack(pack);
    Session<M> session = new Session<>(adapter, Map.of());
    session.models.put(read.name(), new Session.Reply<>(tokenizer, null, ""));
    return tests(session, read, false, knownFailures);
  }

  private static <M> Stream<DynamicTest> tests(
      Session<M> session, Pack pack, boolean hasFile, Path... knownFailures) throws IOException {
    List<Case> cases = new ArrayList<>(pack.cases(session.declares("add_special_tokens")));
    cases.addAll(hasFile ? pack.sweepCases() : List.of());
    return tests(session, Bundle.read(), cases, knownFailures);
  }

  /** A case is judged when its test is made: one after the other, even where JUnit runs tests side by side. */
  private static <M> Stream<DynamicTest> tests(
      Session<M> session, Bundle bundle, List<Case> cases, Path... knownFailures) throws IOException {
    Run<M> run = new Run<>(session, bundle, cases, new KnownFailures(knownFailures));
    OPEN.add(run);
    Stream<DynamicTest> last = Stream.of("the run").map(run::end);
    return Stream.concat(cases.stream().map(run::judge), last).onClose(() -> OPEN.remove(run));
  }

  /** The tests of one stream. */
  private static final class Run<M> {
    private static final Pattern UNPRINTABLE = Pattern.compile("[^ \\p{L}\\p{N}\\p{P}\\p{S}]");

    private final Judge<M> judge;
    private final KnownFailures known;
    private final List<String> problems = new ArrayList<>();
    private boolean hasPassed;
    private int alike;

    Run(Session<M> session, Bundle bundle, List<Case> cases, KnownFailures known) {
      this.known = known;
      this.judge = new Judge<>(session, bundle, known);
      Set<String> stale = new HashSet<>(known.entries.keySet());
      stale.addAll(known.unsupported == null ? Set.of() : known.unsupported);
      cases.forEach(one -> stale.remove(one.id()));
      stale.forEach(id -> problems.add(id + " is listed, and is not a case"));
      Set<String> unknown = new HashSet<>(session.hello.operations());
      unknown.removeAll(bundle.operations());
      unknown.forEach(name -> problems.add(name + " is not an operation"));
    }

    DynamicTest judge(Case one) {
      Judge.Judged judged = judge.judge(one);
      String verdict = judged.verdict();
      String said = printable(verdict + ": " + judged.detail());
      hasPassed |= verdict.equals("pass") || verdict.equals(Judge.AS_ORIGIN);
      alike += verdict.equals(Judge.AS_ORIGIN) ? 1 : 0;
      if (verdict.equals("unsupported") && known.entries.containsKey(one.id())) {
        problems.add(one.id() + " is unsupported now");
      } else if (verdict.equals("unsupported") && known.omits(one.id())) {
        problems.add(one.id() + " is unsupported, and not listed as such");
      }
      return DynamicTest.dynamicTest(one.id(), switch (verdict) {
        case "pass" -> () -> { };
        case Judge.AS_ORIGIN -> () -> System.out.println(printable(judged.detail())); // goes to the test's report
        case "unsupported", "known failure" -> () -> abort(said);
        default -> () -> fail(said + describe(one));
      });
    }

    private static String describe(Case one) {
      if (one.swept() != null) {
        return "\n  " + one.clauses().get(0) + ": " + one.why();
      }
      Object input = one.inputs() == null ? one.input() : one.inputs();
      String asked = Json.array(one.operation(), one.model(), input).toString();
      return "\n  " + one.clauses().get(0) + ": " + printable(one.why())
          + "\n  asked " + printable(asked.substring(0, Math.min(asked.length(), 2000)))
          + "\n  from " + one.file() + ":" + one.line();
    }

    /**
     * Writes a text on one line of a terminal or a log, in which nothing can move a cursor, hide or give a command. XML,
     * of which the reports of test runners are, can carry it too.
     */
    private static String printable(String text) {
      return UNPRINTABLE.matcher(text)
          .replaceAll(found -> String.format("\\\\u%04x", found.group().codePointAt(0)));
    }

    DynamicTest end(String name) {
      OPEN.remove(this);
      if (!hasPassed) {
        problems.add("no case passed, and a run that shows nothing is not a pass");
      }
      return DynamicTest.dynamicTest(name, () -> {
        if (alike > 0) {
          System.out.println("tokspec: " + alike + " as " + judge.origin);
        }
        if (!problems.isEmpty()) {
          fail(String.join("\n", problems));
        }
      });
    }
  }

  /** To some runners an exit with status 0 is a pass: an implementation that exits fails the tests. */
  private static void refuseEarlyExit() {
    if (!OPEN.isEmpty()) {
      PrintStream console = new PrintStream(new FileOutputStream(FileDescriptor.err), true); // runners take System.err
      console.println("tokspec: the process was ended before all cases were judged; nothing judged is not a pass");
      Runtime.getRuntime().halt(1);
    }
  }
}
