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
  /** The verdict on a reply that is not as specified, and is that of the origin that {@code hello} names. */
  static final String AS_ORIGIN = "as the origin";

  /** The verdicts of rows, the worst first. */
  private static final List<String> SEVERITY = List.of("crash", "error", "fail", AS_ORIGIN, "unsupported", "pass");

  /** A verdict with a detail, and what was seen: of a known failure the digest is made of it. */
  record Judged(String verdict, String detail, JsonArray seen) {
    boolean isWorse(String than) {
      return SEVERITY.indexOf(verdict) < SEVERITY.indexOf(than);
    }
  }

  private final Session<M> session;
  private final KnownFailures known;
  private final Map<String, String> choices = new HashMap<>();
  private final List<Origin> origins;
  private final Sweep sweep;
  final Origin origin;

  Judge(Session<M> session, Bundle bundle, KnownFailures known) {
    this.session = session;
    this.known = known;
    this.sweep = new Sweep(session);
    this.origins = bundle.origins();
    this.origin = Origin.find(session.hello.like(), origins);
    List<Choice> all = bundle.choices();
    Map<String, String> declared = session.hello.choices() == null ? Map.of() : session.hello.choices();
    all.forEach(choice -> choices.put(choice.name(), choice.preset()));
    choices.putAll(origin.options());
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
    Judged judged = one.swept() != null ? sweep.judge(one)
        : one.inputs() != null ? judgeTable(one, isError) : judgeQuestion(one, one.id(), isError);
    boolean isUnsupported = known.unsupported != null && known.unsupported.contains(one.id());
    if (List.of("pass", AS_ORIGIN).contains(judged.verdict) && (entry != null || isUnsupported)) {
      return verdict("unexpected pass", "passes, and is listed as if it did not");
    }
    if (entry == null || judged.verdict.equals("unsupported")) {
      return judged;
    }
    return known.isAsListed(one.id(), judged.verdict, judged.seen)
        ? verdict("known failure", reasonOf(entry))
        : verdict(judged.verdict, judged.detail + " (and not as it is listed)");
  }

  /** Returns the reason of a known failure, which may be that of an origin. */
  private String reasonOf(Map<String, String> entry) {
    String like = entry.get("like");
    return like == null ? entry.get("reason") : Origin.find(like, origins).reasonOf(entry.get("case"));
  }

  /** Judges each row; the table comes to the worst of them, and is listed by all that fail. */
  private Judged judgeTable(Case one, boolean isError) {
    Judged worst = null;
    JsonArray failing = new JsonArray();
    int number = 0;
    for (Row row : one.inputs()) {
      number++;
      Judged judged = judgeQuestion(one.with(row), one.id() + "#" + number, isError);
      if (judged.isWorse(AS_ORIGIN)) {
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
  private Judged judgeQuestion(Case question, String id, boolean isError) {
    Reply<JsonObject> reply = session.ask(question);
    Outcome outcome = resolve(question.outcome());
    Judged judged = judgeReply(question, outcome, reply);
    if (judged.isWorse(AS_ORIGIN)) {
      judged = orAsOrigin(judged, question, id, outcome, reply);
    }
    boolean isRefused = isError && judged.verdict.equals("unsupported") && session.refusesDeclared(question);
    String verdict = isRefused ? "error" : judged.verdict;
    Object seen = reply.failure() == null ? reply.answer() : reply.failure();
    return new Judged(verdict, judged.detail, Json.array(verdict, seen));
  }

  private Judged orAsOrigin(Judged judged, Case one, String id, Outcome outcome, Reply<JsonObject> reply) {
    for (Origin.Group group : origin.answers()) {
      Origin.Answer known = group.cases().get(id);
      Comparison comparison = new Comparison(fields(), one.tolerance());
      if (known != null
          && known.isOf(reply, outcome, one.input(), choices.get("offset_unit"), comparison, one.operation())) {
        return verdict(AS_ORIGIN, origin.said(group));
      }
    }
    return judged;
  }

  private List<String> fields() {
    return session.hello.encode_fields() != null ? session.hello.encode_fields() : List.of("tokens");
  }

  /** Returns what is right under the choices. */
  private Outcome resolve(Outcome outcome) {
    if (outcome.by_choice() == null) {
      return outcome;
    }
    String name = outcome.by_choice().keySet().iterator().next();
    return resolve(outcome.by_choice().get(name).get(choices.get(name)));
  }

  private Judged judgeReply(Case one, Outcome outcome, Reply<JsonObject> reply) {
    if (reply.failure() != null) {
      return judgeFailure(outcome.error(), reply);
    }
    return outcome.error() == null ? judgeAnswer(one, outcome, reply.answer())
        : verdict("fail", "answers where a refusal as " + outcome.error() + " is due: " + reply.answer());
  }

  /** Judges a refusal or a crash where a refusal is due with the reason {@code error}, or a result if that is null. */
  static Judged judgeFailure(String error, Reply<JsonObject> reply) {
    String due = error == null ? "a result is due" : "a refusal as " + error + " is due";
    if (reply.failure().equals("crash") || reply.failure().equals("unsupported")) {
      return verdict(reply.failure(), reply.message());
    }
    return reply.failure().equals(error) ? verdict("pass", "")
        : verdict("error", "refused as " + reply.failure() + " where " + due + ": " + reply.message());
  }

  private Judged judgeAnswer(Case one, Outcome outcome, JsonObject answer) {
    List<JsonObject> wanted = outcome.one_of() != null ? outcome.one_of() : List.of(outcome.expect());
    List<String> fields = fields();
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

  static Judged verdict(String verdict, String detail) {
    return new Judged(verdict, detail, null);
  }
}
