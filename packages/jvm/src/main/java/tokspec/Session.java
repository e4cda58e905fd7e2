package tokspec;

import static tokspec.Json.orNone;

import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tokspec.Bundle.Case;
import tokspec.Bundle.Hello;
import tokspec.Bundle.Written;

/** A tokenizer being asked: what it does not offer is never asked, and its models are loaded once. */
final class Session<M> {
  private static final Set<String> TRAINING =
      Set.of("train", "training_trace", "training_state", "best_pair", "prune_step");

  /** What came of asking: an answer, or a failure, which is the reason of a refusal or "crash". */
  record Reply<T>(T answer, String failure, String message) {}

  final Hello hello;
  final Map<String, Reply<M>> models = new HashMap<>();
  private final Map<String, String> formats = new HashMap<>();
  private final Adapter<M> adapter;
  private final Map<String, Map<String, Written>> written;

  /** Takes the models as files, by format and name. */
  Session(Adapter<M> adapter, Map<String, Map<String, Written>> written) {
    this.adapter = adapter;
    this.written = written;
    this.hello = Json.GSON.fromJson(Json.GSON.toJsonTree(adapter.hello()), Hello.class);
  }

  boolean declares(String option) {
    return orNone(hello.encode_options()).contains(option) || orNone(hello.decode_options()).contains(option);
  }

  Reply<JsonObject> ask(Case one) {
    String unoffered = findUnoffered(one);
    if (!unoffered.isEmpty()) {
      return unsupported(unoffered);
    }
    Reply<M> model = models.computeIfAbsent(one.model_name(), name -> load(one));
    if (model.failure != null) {
      return new Reply<>(null, model.failure, model.message);
    }
    // Where the file of a model says something else about the input than the model, it is not asked.
    String limit = one.limits() == null ? null : one.limits().get(formats.get(one.model_name()));
    if (limit != null) {
      return unsupported(limit);
    }
    JsonObject input = one.input().deepCopy();
    return attempt(
        () -> Json.GSON.toJsonTree(adapter.run(one.operation(), model.answer, input)).getAsJsonObject());
  }

  private String findUnoffered(Case one) {
    if (!hello.operations().contains(one.operation())) {
      return "does not offer " + one.operation();
    }
    String type = one.model().get("type") instanceof JsonPrimitive primitive ? primitive.getAsString() : "";
    Map<String, String> others = hello.other_trainers();
    if (TRAINING.contains(one.operation()) && others != null && others.containsKey(type)) {
      return "trains " + type + " by another algorithm: " + others.get(type);
    }
    List<String> unknown = new ArrayList<>(orNone(one.options()).stream().filter(name -> !declares(name)).toList());
    unknown.addAll(hello.reads_file() ? List.of() : findUndeclared(one));
    return unknown.isEmpty() ? "" : "does not know " + String.join(", ", unknown);
  }

  private List<String> findUndeclared(Case one) {
    return orNone(one.components()).stream()
        .filter(name -> orNone(hello.components()).stream().noneMatch(each -> (name + "/").startsWith(each + "/")))
        .toList();
  }

  /** Says whether a library that reads files refused a model of which it declares every component. */
  boolean refusesDeclared(Case one) {
    Reply<M> model = models.get(one.model_name());
    boolean isRefused = model != null && model.failure != null && !model.failure.equals("crash");
    boolean isDeclared = !orNone(one.components()).isEmpty() && findUndeclared(one).isEmpty();
    return hello.reads_file() && isRefused && isDeclared && findUnoffered(one).isEmpty();
  }

  /**
   * Loads a model in the first of the formats that can express it. A library that reads files gets what it does not
   * declare too, but for the form that is not a library's file. If it refuses that, it is unsupported.
   */
  private Reply<M> load(Case one) {
    List<String> undeclared = findUndeclared(one);
    List<String> reasons = new ArrayList<>();
    for (String format : hello.formats()) {
      Written model = written.getOrDefault(format, Map.of()).get(one.model_name());
      if (format.equals("tokspec") && !undeclared.isEmpty()) {
        reasons.add("does not know " + String.join(", ", undeclared));
      } else if (model != null && model.content() != null) {
        formats.put(one.model_name(), format);
        Reply<M> reply = attempt(() -> adapter.load(format, model.content().deepCopy()));
        boolean isRefused = reply.failure() != null && !reply.failure().equals("crash");
        return isRefused && !undeclared.isEmpty() ? unsupported(reply.message()) : reply;
      } else {
        reasons.add(model == null ? "no models in this format are here" : model.unsupported());
      }
    }
    return unsupported(String.join("; ", reasons));
  }

  private static <T> Reply<T> unsupported(String message) {
    return new Reply<>(null, "unsupported", message);
  }

  private static <T> Reply<T> attempt(Callable<T> call) {
    try {
      return new Reply<>(call.call(), null, "");
    } catch (Adapter.Refusal refusal) {
      return new Reply<>(null, refusal.reason, refusal.getMessage());
    } catch (Throwable failure) {
      Stream<String> frames = Arrays.stream(failure.getStackTrace()).limit(10).map(frame -> " | at " + frame);
      return new Reply<>(null, "crash", failure + frames.collect(Collectors.joining()));
    }
  }
}
