package tokspec

// What of two results is compared, and where they first differ (fixtures/README.md, "How to judge").

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

type object = map[string]any

func judgeAnswer(one testCase, wanted []any, result any, hello Hello, unit string) (verdict, detail string) {
	answer, isObject := result.(object)
	if !isObject {
		return "fail", "the result is no object: " + inJSON(result)
	}
	compared := newComparison(one, hello, unit)
	differences := []string{}
	for _, each := range wanted {
		ours, theirs := compared.both(each.(object), answer)
		differences = append(differences, difference(ours, theirs, compared.allowed, ""))
	}
	given := compared.fields
	if compared.lacksSpans { // not all encodings have them
		delete(compared.seen, "spans")
		given = slices.DeleteFunc(slices.Clone(given), func(name string) bool { return name == "spans" })
	}
	isAbout := func(field string) bool { return slices.Contains(one.Fields, field) }
	switch {
	case !slices.Contains(differences, ""):
		return "fail", "wrong answer: " + differences[0]
	case len(compared.seen) == 0:
		return "unsupported", fmt.Sprintf("gives of %s nothing that the case checks", strings.Join(compared.fields, ", "))
	case len(one.Fields) > 0 && !slices.ContainsFunc(given, isAbout):
		about := strings.Join(one.Fields, " or ")
		return "unsupported", fmt.Sprintf("gives only %s, and the case is about %s", strings.Join(given, ", "), about)
	}
	return "pass", ""
}

// comparison is of what is expected of a question and given: the fields of encodings that are declared, those that were
// seen, and whether spans were wanted in vain.
type comparison struct {
	one        testCase
	input      texts
	unit       string
	allowed    tolerance
	fields     []string
	seen       map[string]bool
	lacksSpans bool
}

func newComparison(one testCase, hello Hello, unit string) *comparison {
	made := comparison{one: one, unit: unit, fields: hello.EncodeFields, seen: map[string]bool{}}
	if made.fields == nil {
		made.fields = []string{"tokens"}
	}
	made.allowed = tolerance{1e-9, 1e-9}
	if one.Tolerance != nil {
		made.allowed = *one.Tolerance
	}
	_ = json.Unmarshal(one.Input, &made.input) // what has no texts has no spans
	return &made
}

// both keeps of an expected result, whose spans are in code points, and of a given one what is compared.
func (c *comparison) both(right, given object) (ours, theirs object) {
	right = convertSpans(right, c.input, c.unit)
	if c.one.Operation == "encode" || c.one.Operation == "encode_batch" {
		return c.keep(right, given)
	}
	c.seen["all"] = true
	if c.one.Operation == "pre_tokenize" && hasNoSpans(given) {
		return withoutSpans(right), withoutSpans(given)
	}
	return right, given
}

// keep keeps what is declared and wanted, spans only where they are given; parts of encodings likewise.
func (c *comparison) keep(right, given object) (ours, theirs object) {
	ours, theirs = object{}, object{}
	for _, name := range append([]string{"encodings"}, c.fields...) {
		wanted, isWanted := right[name]
		value, isGiven := given[name]
		if !isWanted || name == "spans" && !isGiven {
			c.lacksSpans = c.lacksSpans || isWanted
			continue
		}
		list, others := slices.Clone(asList(wanted)), slices.Clone(asList(value))
		if name != "encodings" || len(list) == 0 { // that there are none is the answer
			c.seen[name] = true
		}
		if name == "encodings" || name == "overflowing" {
			for index := range min(len(list), len(others)) {
				if other, isObject := others[index].(object); isObject {
					list[index], others[index] = c.keep(list[index].(object), other)
				}
			}
			wanted, value = list, others
		}
		ours[name] = wanted
		if isGiven {
			theirs[name] = value
		}
	}
	return ours, theirs
}

func hasNoSpans(result object) bool {
	return slices.ContainsFunc(asList(result["pieces"]), func(piece any) bool { return len(asList(piece)) == 1 })
}

func withoutSpans(result object) object {
	pieces := mapped(result["pieces"], func(_ int, piece any) any { return asList(piece)[:min(1, len(asList(piece)))] })
	return object{"pieces": pieces}
}

// tolerance is that of a case in place of TERM-5.
type tolerance struct{ Relative, Absolute float64 }

// difference says where two values first differ; integers are compared exactly, real numbers within the tolerance.
func difference(expected, actual any, allowed tolerance, path string) string {
	ours, isList := parts(expected)
	theirs, areList := parts(actual)
	if ours != nil && theirs != nil && isList == areList {
		both := maps.Clone(ours)
		maps.Copy(both, theirs)
		inOrder := func(one, two string) int { return cmp.Or(len(one)-len(two), strings.Compare(one, two)) }
		for _, key := range slices.SortedFunc(maps.Keys(both), inOrder) {
			wanted, isWanted := ours[key]
			given, isGiven := theirs[key]
			if !isWanted {
				return fmt.Sprintf("%s/%s: expected nothing, got %s", path, key, inJSON(given))
			} else if !isGiven {
				return fmt.Sprintf("%s/%s: expected %s, got nothing", path, key, inJSON(wanted))
			} else if found := difference(wanted, given, allowed, path+"/"+key); found != "" {
				return found
			}
		}
		return ""
	}
	isSame := ours == nil && theirs == nil && expected == actual
	if wanted, isNumber := expected.(json.Number); isNumber {
		given, _ := actual.(json.Number)
		one, _ := wanted.Float64()
		two, err := given.Float64() // an integer that is expected is exact in it (PROTO-7)
		isReal := strings.ContainsAny(string(wanted), ".eE")
		isNear := isReal && math.Abs(one-two) <= max(allowed.Absolute, allowed.Relative*math.Abs(one))
		isSame = err == nil && (one == two || isNear)
	}
	if isSame {
		return ""
	}
	return fmt.Sprintf("%s: expected %s, got %s", path, inJSON(expected), inJSON(actual))
}

// parts returns the members of an object, or the items of a list by their numbers; nil of anything else.
func parts(value any) (found object, isList bool) {
	list, isList := value.([]any)
	if !isList {
		found, _ = value.(object)
		return found, false
	}
	found = object{}
	for index, item := range list {
		found[strconv.Itoa(index)] = item
	}
	return found, true
}

// texts are those of an input.
type texts struct {
	Text, Pair text
	Inputs     []texts
}

// text is a string, or the bytes of one that JSON cannot carry (PROTO-2).
type text string

func (t *text) UnmarshalJSON(raw []byte) error {
	var form struct{ Hex string }
	if json.Unmarshal(raw, &form) != nil {
		return json.Unmarshal(raw, (*string)(t))
	}
	decoded, err := hex.DecodeString(form.Hex)
	*t = text(decoded)
	return err
}

// places returns the place of each character, and of the end, in bytes or in units of UTF-16.
func (t text) places(unit string) []int {
	places := []int{0}
	for _, each := range []byte(t) {
		last := len(places) - 1
		if isFirst := each&0xc0 != 0x80; isFirst && unit == "utf16" && each >= 0xf0 {
			places = append(places, places[last]+2)
		} else if isFirst {
			places = append(places, places[last]+1)
		} else if unit == "byte" {
			places[last]++
		}
	}
	return places
}

// convertSpans converts expected spans from code points to the unit of the implementation (TERM-3).
func convertSpans(result object, input texts, unit string) object {
	if unit == "code_point" {
		return result
	}
	converted, sequences := maps.Clone(result), asList(result["sequence_ids"])
	ofText, ofPair := input.Text.places(unit), input.Pair.places(unit)
	for key, value := range result {
		switch key {
		case "encodings":
			converted[key] = mapped(value, func(index int, part any) any {
				return convertSpans(part.(object), input.Inputs[index], unit)
			})
		case "overflowing":
			converted[key] = mapped(value, func(_ int, part any) any { return convertSpans(part.(object), input, unit) })
		case "spans", "pieces":
			converted[key] = mapped(value, func(index int, span any) any {
				places := ofText
				if index < len(sequences) && sequences[index] == json.Number("1") {
					places = ofPair
				}
				return mapped(span, func(_ int, place any) any {
					number, _ := place.(json.Number)
					if at, err := strconv.Atoi(string(number)); err == nil && at < len(places) {
						return json.Number(strconv.Itoa(places[at]))
					}
					return place
				})
			})
		}
	}
	return converted
}

func asList(value any) []any {
	list, _ := value.([]any)
	return list
}

// mapped returns a list with each item changed.
func mapped(value any, change func(index int, item any) any) []any {
	changed := slices.Clone(asList(value))
	for index, item := range changed {
		changed[index] = change(index, item)
	}
	return changed
}

// decode reads JSON, and keeps numbers as they are written: 1.0 is real, and 1 an integer.
func decode(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into)
}

func inJSON(value any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value)
	return strings.TrimSuffix(text.String(), "\n")
}
