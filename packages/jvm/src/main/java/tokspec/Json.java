package tokspec;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** What is done with JSON: strings that it cannot carry (PROTO-2), and the form that digests are made of. */
final class Json {
  static final Gson GSON = new GsonBuilder().disableHtmlEscaping().serializeNulls().create();

  private Json() {}

  static <T> List<T> orNone(List<T> list) {
    return list == null ? List.of() : list;
  }

  static boolean isNumber(JsonElement value) {
    return value instanceof JsonPrimitive primitive && primitive.isNumber();
  }

  static boolean isInteger(JsonElement number) {
    return number.getAsString().matches("-?[0-9]+");
  }

  static JsonArray array(Object... items) {
    return GSON.toJsonTree(items).getAsJsonArray();
  }

  static JsonObject pick(JsonObject object, List<String> keys) {
    JsonObject picked = new JsonObject();
    keys.stream().filter(object::has).forEach(key -> picked.add(key, object.get(key)));
    return picked;
  }

  /** Returns a string as an object with its bytes, each surrogate encoded like any other code point (PROTO-2). */
  static JsonElement hex(JsonElement string) {
    if (!(string instanceof JsonPrimitive primitive && primitive.isString())) {
      return JsonNull.INSTANCE;
    }
    String hex = primitive.getAsString().codePoints()
        .mapToObj(point -> 0xd800 <= point && point <= 0xdfff
            ? String.format("ed%02x%02x", 0x80 | point >> 6 & 0x3f, 0x80 | point & 0x3f)
            : HexFormat.of().formatHex(Character.toString(point).getBytes(StandardCharsets.UTF_8)))
        .collect(Collectors.joining());
    return GSON.toJsonTree(Map.of("hex", hex));
  }

  /** Returns the UTF-8 of a text, which may be {"hex": …}. */
  static byte[] bytes(JsonElement text) {
    return text instanceof JsonObject object
        ? HexFormat.of().parseHex(object.get("hex").getAsString())
        : text.getAsString().getBytes(StandardCharsets.UTF_8);
  }

  /** Writes a value as Python's json does with sorted keys, without spaces, and in ASCII. */
  static String canonical(JsonElement value) {
    if (value instanceof JsonArray items) {
      return items.asList().stream().map(Json::canonical).collect(Collectors.joining(",", "[", "]"));
    }
    if (value instanceof JsonObject object) {
      return object.keySet().stream()
          .sorted((one, other) -> Arrays.compare(one.codePoints().toArray(), other.codePoints().toArray()))
          .map(key -> canonical(new JsonPrimitive(key)) + ":" + canonical(object.get(key)))
          .collect(Collectors.joining(",", "{", "}"));
    }
    if (isNumber(value)) {
      return isInteger(value) ? new BigInteger(value.getAsString()).toString() : real(value.getAsDouble());
    }
    return GSON.toJson(value).chars()
        .mapToObj(unit -> unit < 0x7f ? Character.toString(unit) : String.format("\\u%04x", unit))
        .collect(Collectors.joining());
  }

  static String sha256(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** Writes a number by the fewest digits that give it back, with an exponent where Python has one. */
  private static String real(double value) {
    if (value == 0) {
      return Double.toString(value);
    }
    BigDecimal exact = new BigDecimal(value);
    BigDecimal shortest = IntStream.rangeClosed(1, 17).boxed()
        .flatMap(digits -> Stream.of(RoundingMode.HALF_EVEN, RoundingMode.UP) // the latter for some powers of two
            .map(mode -> exact.round(new MathContext(digits, mode))))
        .filter(rounded -> rounded.doubleValue() == value).findFirst().orElse(exact).stripTrailingZeros();
    int power = shortest.precision() - shortest.scale() - 1;
    if (-4 <= power && power < 16) {
      return shortest.toPlainString() + (shortest.scale() > 0 ? "" : ".0");
    }
    String digits = shortest.scaleByPowerOfTen(-power).toPlainString();
    return digits + String.format(Locale.ROOT, "e%s%02d", power < 0 ? "-" : "+", Math.abs(power));
  }
}
