package tokspec;

import static tokspec.Json.orNone;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tokspec.Bundle.Case;
import tokspec.Bundle.Choice;
import tokspec.Bundle.Outcome;
import tokspec.Bundle.Row;
import tokspec.Session.Reply;

/** Judges cases: by what is expected under the choices of the implementation, and by what is known to fail. */
final class Judge<M> {
  /** The verdicts of rows, the worst first. */
  private static final List<String> SEVERITY = List.of("crash", "error", "fail", "unsupported", "pass");

  /** A verdict with a detail, and what was seen: of a known failure the digest is made of it. */
  record Judged(String verdict, String detail, JsonArray seen) {
    boolean isWorse(String than) {
      return SEVERITY.indexOf(verdict) < SEVERITY.indexOf(than);
    }
  }

  private final Session<M> session;
  private final KnownFailures known;
  private final Map<String, String> choices = new HashMap<>();

  Judge(Session<M> session, List<Choice> all, KnownFailures known) {
    this.session = session;
    this.known = known;
    Map<String, String> declared = session.hello.choices() == null ? Map.of() : session.hello.choices();
    all.forEach(choice -> choices.put(choice.name(), choice.preset()));
    declared.forEach((name, option) -> {
      if (all.stream().noneMatch(choice -> choice.name().equals(name) && choice.options().containsKey(option))) {
        throw new IllegalArgumentException("hello declares " + name + "=" + option + ", which is not a choice");
      }
    });
    choices.putAll(declared);
  }

  Judged judge(Case one) {
    Map<String, String> entry = known.entries.get(one.id());
    boolean isError = entry != null && "error".equals(entry.get("verdict"));
    Judged judged = one.inputs() != null ? judgeTable(one, isError) : judgeQuestion(one, isError);
    boolean isUnsupported = known.unsupported != null && known.unsupported.contains(one.id());
    if (judged.verdict.equals("pass") && (entry != null || isUnsupported)) {
      return verdict("unexpected pass", "passes, and is listed as if it did not");
    }
    if (entry == null || judged.verdict.equals("unsupported")) {
      return judged;
    }
    return known.isAsListed(one.id(), judged.verdict, judged.seen)
        ? verdict("known failure", entry.get("reason"))
        : verdict(judged.verdict, judged.detail + " (and not as it is listed)");
  }

  /** Judges each row; the table comes to the worst of them, and is listed by all that fail. */
  private Judged judgeTable(Case one, boolean isError) {
    Judged worst = null;
    JsonArray failing = new JsonArray();
    int number = 0;
    for (Row row : one.inputs()) {
      Judged judged = judgeQuestion(one.with(row), isError);
      number++;
      if (judged.isWorse("unsupported")) {
        failing.add(Json.array(number, judged.seen.get(0), judged.seen.get(1)));
      }
      if (worst == null || judged.isWorse(worst.verdict)) {
        worst = new Judged(judged.verdict, "row " + number + ": " + judged.detail, judged.seen);
      }
    }
    return new Judged(worst.verdict, worst.detail, failing.isEmpty() ? worst.seen : failing);
  }

  /**
   * Judges one question. A model refused though all its components are declared is unsupported, or an error. tokspec
   * run tells which by asking without them; here it is an error where the known failures list one ({@code isError}).
   */
  private Judged judgeQuestion(Case question, boolean isError) {
    Reply<JsonObject> reply = session.ask(question);
    Judged judged = judgeReply(question, reply);
    boolean isRefused = isError && judged.verdict.equals("unsupported") && session.refusesDeclared(question);
    String verdict = isRefused ? "error" : judged.verdict;
    Object seen = reply.failure() == null ? reply.answer() : reply.failure();
    return new Judged(verdict, judged.detail, Json.array(verdict, seen));
  }

  private Judged judgeReply(Case one, Reply<JsonObject> reply) {
    Outcome outcome = one.outcome();
    while (outcome.by_choice() != null) {
      String name = outcome.by_choice().keySet().iterator().next();
      outcome = outcome.by_choice().get(name).get(choices.get(name));
    }
    String due = outcome.error() == null ? "a result is due" : "a refusal as " + outcome.error() + " is due";
    if (reply.failure() == null) {
      return outcome.error() == null ? judgeAnswer(one, outcome, reply.answer())
          : verdict("fail", "answers where " + due + ": " + reply.answer());
    }
    if (reply.failure().equals("crash") || reply.failure().equals("unsupported")) {
      return verdict(reply.failure(), reply.message());
    }
    return reply.failure().equals(outcome.error()) ? verdict("pass", "")
        : verdict("error", "refused as " + reply.failure() + " where " + due + ": " + reply.message());
  }

  private Judged judgeAnswer(Case one, Outcome outcome, JsonObject answer) {
    List<JsonObject> wanted = outcome.one_of() != null ? outcome.one_of() : List.of(outcome.expect());
    List<String> fields = session.hello.encode_fields() != null ? session.hello.encode_fields() : List.of("tokens");
    List<String> about = orNone(one.fields());
    Comparison comparison = new Comparison(fields, one.tolerance());
    List<String> differences = wanted.stream()
        .map(right -> Comparison.convertSpans(right, one.input(), choices.get("offset_unit")))
        .map(right -> comparison.compare(one.operation(), right, answer))
        .toList();
    if (!differences.contains("")) {
      return verdict("fail", "wrong answer: " + differences.get(0));
    }
    if (!comparison.hasField()) {
      return verdict("unsupported", "gives of " + String.join(", ", fields) + " nothing that the case checks");
    }
    List<String> given = comparison.given();
    if (!about.isEmpty() && about.stream().noneMatch(given::contains)) {
      return verdict("unsupported",
          "gives only " + String.join(", ", given) + ", and the case is about " + String.join(" or ", about));
    }
    return verdict("pass", "");
  }

  private static Judged verdict(String verdict, String detail) {
    return new Judged(verdict, detail, null);
  }
}
