// What of two results is compared, and where they first differ (fixtures/README.md, "How to judge").

// Keep of an encoding what is declared and wanted, spans only where they are given; parts of encodings likewise.
export function comparable(right, given, fields, seen) {
  const names = fields.filter((name) => name in right && (name !== "spans" || name in given));
  seen.lacksSpans ||= fields.includes("spans") && "spans" in right && !("spans" in given);
  names.forEach((name) => seen.add(name));
  const keep = (from) => Object.fromEntries(names.filter((name) => name in from).map((name) => [name, from[name]]));
  const [ours, theirs] = [keep(right), keep(given)];
  for (const key of ["encodings", ...names.filter((name) => name === "overflowing")])
    if (key in right && key in given) {
      if (key === "encodings" && !right[key].length) seen.add(key); // that there are none is the answer
      const others = given[key];
      const pairs = right[key].map((each, i) => (i in others ? comparable(each, others[i], fields, seen) : [each]));
      ours[key] = pairs.map((pair) => pair[0]);
      theirs[key] = others.map((each, i) => pairs[i]?.[1] ?? each);
    }
  return [ours, theirs];
}

// Keep of pieces their texts alone, where they are given without spans.
export function comparablePieces(right, given) {
  if (!given.pieces?.some?.((piece) => piece.length === 1)) return [right, given];
  return [right, given].map(({ pieces }) => ({ pieces: pieces.map((piece) => piece.slice(0, 1)) }));
}

// Say where two values first differ. JSON.parse does not tell 1.0 from 1: integers are compared exactly.
export function difference(expected, actual, tolerance, path = "") {
  if (expected && actual && typeof expected === "object" && Array.isArray(expected) === Array.isArray(actual)) {
    const keys = [...new Set([...Object.keys(expected), ...Object.keys(actual)])];
    const inner = keys.map((key) => difference(expected[key], actual[key], tolerance, `${path}/${key}`));
    return inner.find((found) => found) ?? "";
  }
  const room = Math.max(tolerance.absolute ?? 0, (tolerance.relative ?? 0) * Math.abs(expected));
  const areNumbers = typeof expected === "number" && typeof actual === "number";
  const isReal = areNumbers && !(Number.isSafeInteger(expected) && Number.isSafeInteger(actual));
  if (expected === actual || (isReal && Math.abs(expected - actual) <= room)) return "";
  return `${path}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`;
}

// Expected spans are in code points; convert them to the unit of the implementation (TERM-3).
export function convertSpans(result, input, unit) {
  if (unit === "code_point") return result;
  if (result.encodings)
    return { encodings: result.encodings.map((each, i) => convertSpans(each, input.inputs[i], unit)) };
  const tables = [input.text, input.pair].map((text = "") => {
    const starts = [0];
    for (const byte of Buffer.from(text.hex ?? text, text.hex ? "hex" : "utf8"))
      if ((byte & 0xc0) !== 0x80) starts.push(starts.at(-1) + (unit === "utf16" && byte >= 0xf0 ? 2 : 1));
      else if (unit === "byte") starts.push(starts.pop() + 1);
    return starts;
  });
  const move = (place, sequence) => tables[sequence ?? 0][place] ?? place;
  const convert = (part) => ({
    ...part,
    ...(part.spans && { spans: part.spans.map((span, i) => span.map((place) => move(place, part.sequence_ids?.[i]))) }),
    ...(part.pieces && { pieces: part.pieces.map(([piece, start, end]) => [piece, move(start), move(end)]) }),
    ...(part.overflowing && { overflowing: part.overflowing.map(convert) }),
  });
  return convert(result);
}
