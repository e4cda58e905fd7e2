package tokspec;

import static tokspec.Json.orNone;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import tokspec.Bundle.Case;
import tokspec.Judge.Judged;
import tokspec.Session.Reply;

/** Every entry of a vocabulary is asked, and the answers of each 64 are compared by a digest (docs/packs.md). */
final class Sweep {
  private static final int BLOCK = 64;
  private static final List<String> PARTS = List.of("texts", "ids", "pairs");
  private static final Map<String, String> WHYS = Map.of(
      "texts", "each of the ids %d to %d, decoded alone",
      "ids", "the texts of the ids %d to %d; most come back as one id",
      "pairs", "the texts of the ids %d to %d, each with another after it; most come back as two ids");
  private static final String NOTHING = digest(new byte[0]);

  /** That of a header: four digits for each part of each block, "...." where the makers of the pack do not agree. */
  record Digests(int size, int step, Boolean add_special_tokens, String texts, String ids, String pairs) {
    String digits(String part) {
      String digits = part.equals("texts") ? texts : part.equals("ids") ? ids : pairs;
      return digits == null ? "" : digits;
    }

    String due(String part, int block) {
      return digits(part).substring(4 * block, 4 * block + 4);
    }

    /** Says whether a block has texts: the digest of one part may be that of nothing by chance. */
    boolean hasTexts(int block) {
      return PARTS.stream().anyMatch(part -> !due(part, block).equals(NOTHING));
    }

    int end(int block) {
      return Math.min(size, (block + 1) * BLOCK);
    }
  }

  /** The part and the block that a case is about. */
  record Swept(Digests digests, String part, int block) {
    Judged compare(byte[] found, List<String> shown) {
      String due = digests.due(part, block);
      String digest = digest(found);
      String detail = "the digest " + digest + " of these is not " + due + ": " + String.join(", ", shown);
      return digest.equals(due) ? Judge.verdict("pass", "") : Judge.verdict("fail", detail);
    }
  }

  /** What each id of a block alone is decoded to, "" where that is not a text of the sweep; the first id's reply. */
  private record Block(List<String> texts, boolean isRight, Reply<JsonObject> first) {}

  private final Session<?> session;
  private final Map<Integer, Block> blocks = new HashMap<>();

  Sweep(Session<?> session) {
    this.session = session;
  }

  static List<Case> cases(Digests digests, String name, String file) {
    int digits = 4 * ((digests.size + BLOCK - 1) / BLOCK);
    for (String part : PARTS) {
      int there = digests.digits(part).length();
      if (there != digits) {
        throw new IllegalArgumentException(
            file + ":1: sweep." + part + " has " + there + " digits; " + digests.size + " ids need " + digits);
      }
    }
    List<Case> cases = new ArrayList<>();
    for (String part : PARTS) {
      for (int block = 0; block * BLOCK < digests.size; block++) {
        if (!digests.due(part, block).equals("....") && digests.hasTexts(block)) {
          String id = String.format(Locale.ROOT, "%s-%s-%04d", name, part, block);
          String why = String.format(Locale.ROOT, WHYS.get(part), block * BLOCK, digests.end(block) - 1);
          boolean isText = part.equals("texts");
          cases.add(new Case(
              id, List.of(isText ? "DEC-7" : "ENC-1"), why, name, new JsonObject(), null, null,
              isText ? "decode" : "encode", new JsonObject(), null, null, null, null, null, file, 1,
              new Swept(digests, part, block)));
        }
      }
    }
    return cases;
  }

  /** Judges a block by its digest; ids only where the texts that they are of are right. */
  Judged judge(Case one) {
    Swept swept = one.swept();
    if (swept.part.equals("texts")) {
      Block own = block(one, swept.block);
      List<String> texts = own.texts.stream().filter(text -> !text.isEmpty()).toList();
      return texts.isEmpty() && own.first.failure() != null
          ? Judge.judgeFailure(null, own.first)
          : swept.compare(bytes(texts), IntStream.range(0, own.texts.size()).filter(i -> !own.texts.get(i).isEmpty())
              .mapToObj(i -> swept.block * BLOCK + i + " " + Json.GSON.toJson(own.texts.get(i))).toList());
    }
    if (!orNone(session.hello.encode_fields()).contains("ids")) {
      return Judge.verdict("unsupported", "gives no ids");
    }
    List<String> texts = new ArrayList<>();
    int wrong = addTexts(one, texts);
    if (wrong >= 0) {
      return Judge.verdict("unsupported", "the texts of block " + wrong + " are wrong or not decoded, so these ids cannot be judged");
    }
    ByteArrayOutputStream found = new ByteArrayOutputStream();
    List<String> shown = new ArrayList<>();
    Boolean option = swept.digests.add_special_tokens;
    boolean takesOption = option != null && orNone(session.hello.encode_options()).contains("add_special_tokens");
    for (String text : texts) {
      JsonObject input = new JsonObject();
      input.addProperty("text", text);
      if (takesOption) {
        input.addProperty("add_special_tokens", option);
      }
      Reply<JsonObject> reply = session.ask(one.asking("encode", input));
      if (reply.failure() != null) {
        Judged judged = Judge.judgeFailure(null, reply);
        return Judge.verdict(judged.verdict(), Json.GSON.toJson(text) + ": " + judged.detail());
      }
      JsonElement ids = reply.answer().get("ids");
      for (JsonElement id : ids instanceof JsonArray list ? list : new JsonArray()) {
        add(found, Json.isNumber(id) ? (int) (long) id.getAsDouble() : -1);
      }
      add(found, -1);
      shown.add(Json.GSON.toJson(text) + " " + ids);
    }
    return swept.compare(found.toByteArray(), shown);
  }

  /** Adds the texts that a case encodes; returns a block that they are of and whose texts are wrong, or else -1. */
  private int addTexts(Case one, List<String> texts) {
    Swept swept = one.swept();
    Block own = block(one, swept.block);
    if (!own.isRight) {
      return swept.block;
    }
    for (int index = 0; index < own.texts.size(); index++) {
      String text = own.texts.get(index);
      if (swept.part.equals("pairs") && !text.isEmpty()) {
        int partner = (int) ((long) (swept.block * BLOCK + index) * swept.digests.step % swept.digests.size);
        Block other = block(one, partner / BLOCK);
        if (!other.isRight) {
          return partner / BLOCK;
        }
        String second = other.texts.get(partner % BLOCK);
        text = second.isEmpty() ? "" : text + second;
      }
      if (!text.isEmpty()) {
        texts.add(text);
      }
    }
    return -1;
  }

  /** Decodes the ids of a block, once. */
  private Block block(Case one, int number) {
    return blocks.computeIfAbsent(number, block -> {
      Digests digests = one.swept().digests;
      List<Reply<JsonObject>> replies = new ArrayList<>();
      for (int id = block * BLOCK; id < digests.end(block); id++) {
        JsonObject input = new JsonObject();
        input.add("ids", Json.array(id));
        replies.add(session.ask(one.asking("decode", input)));
      }
      List<String> texts = replies.stream().map(Sweep::textOf).toList();
      return new Block(texts, digest(bytes(texts)).equals(digests.due("texts", block)), replies.get(0));
    });
  }

  private static String textOf(Reply<JsonObject> reply) {
    JsonElement text = reply.failure() == null ? reply.answer().get("text") : null;
    boolean isText = text instanceof JsonPrimitive primitive && primitive.isString();
    return isText && text.getAsString().codePoints().noneMatch(Sweep::isUnusable) ? text.getAsString() : "";
  }

  private static boolean isUnusable(int point) {
    return point == 0xfffd || 0xd800 <= point && point <= 0xdfff;
  }

  private static byte[] bytes(List<String> texts) {
    return texts.stream().filter(text -> !text.isEmpty()).map(text -> text + "\0").collect(Collectors.joining())
        .getBytes(StandardCharsets.UTF_8);
  }

  private static void add(ByteArrayOutputStream bytes, int id) {
    for (int shift = 0; shift < 32; shift += 8) {
      bytes.write(id >>> shift);
    }
  }

  /** Returns 16 bits of FNV-1a in 32 bits: the upper half xor the lower one. */
  private static String digest(byte[] bytes) {
    int hash = 0x811c9dc5;
    for (byte each : bytes) {
      hash = (hash ^ each & 0xff) * 0x01000193;
    }
    return String.format("%04x", (hash >>> 16 ^ hash) & 0xffff);
  }
}
