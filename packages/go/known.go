package tokspec

// Known failures: the file that tokspec run --update-known-failures writes, and the digest of what was seen.

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// entry is what is known of a case: its verdict and, of a failure, its digest and reason, and perhaps the last day on
// which it is accepted.
type entry map[string]string

// knownFailures has an entry for each case that is listed.
type knownFailures struct {
	entries          map[string]entry
	listsUnsupported bool
}

var (
	heading   = regexp.MustCompile(`^(known_failures|unsupported|faults):(?: \[\])?$`)
	ownLine   = regexp.MustCompile(`^  [- ] (\w+): (.+)$`)
	entryLine = regexp.MustCompile(`^  - \{(.+)\}$`)
	pairs     = regexp.MustCompile(`(\w+): ("(?:[^"\\]|\\.)*"|[^",]+)`)
	tokens    = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?\d[-+.\deE]*`)
)

func readKnownFailures(file string) (knownFailures, error) {
	known := knownFailures{entries: map[string]entry{}}
	if file == "" {
		return known, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return known, err
	}
	section, current := "", entry{}
	for index, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSuffix(line, "\r")
		title, found := heading.FindStringSubmatch(line), ownLine.FindAllStringSubmatch(line, 1)
		if inner := entryLine.FindStringSubmatch(line); inner != nil {
			found = pairs.FindAllStringSubmatch(inner[1], -1)
		}
		name, isItem := strings.CutPrefix(line, "  - ")
		switch {
		case line == "" || strings.HasPrefix(strings.TrimSpace(line), "#"):
		case title != nil:
			section = title[1]
			known.listsUnsupported = known.listsUnsupported || section == "unsupported"
		case section == "faults" && isItem:
		case section == "unsupported" && isItem && found == nil:
			known.entries[unquote(name)] = entry{"verdict": "unsupported"}
		case section == "known_failures" && found != nil:
			if isItem {
				current = entry{}
			}
			for _, pair := range found {
				current[pair[1]] = unquote(pair[2])
			}
			if current["case"] != "" {
				known.entries[current["case"]] = current
			}
		default:
			what := "tokspec run --update-known-failures does not write such a line"
			return known, fmt.Errorf("%s:%d: %s: %s", file, index+1, what, line)
		}
	}
	return known, nil
}

func unquote(written string) string {
	var value string
	if json.Unmarshal([]byte(written), &value) != nil {
		return written
	}
	return value
}

// lists is whether a failure is listed; one of a sweep, of which nothing is seen but digests, by its verdict.
func (e entry) lists(found judged) bool {
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte(canonical(found.seen))))[:16]
	isPast := e["expires"] != "" && e["expires"] < time.Now().Format(time.DateOnly)
	return e["verdict"] == found.verdict && (found.seen == nil || e["digest"] == digest) && !isPast
}

// canonical writes a value as Python's json does with sorted keys, without spaces, and in ASCII.
func canonical(value any) string {
	written := ""
	for _, unit := range utf16.Encode([]rune(tokens.ReplaceAllStringFunc(inJSON(value), canonicalNumber))) {
		if unit < 0x7f {
			written += string(rune(unit))
		} else {
			written += fmt.Sprintf(`\u%04x`, unit)
		}
	}
	return written
}

// canonicalNumber writes a real number; any other token is as it is to be.
func canonicalNumber(token string) string {
	number, err := strconv.ParseFloat(token, 64)
	if err != nil || !strings.ContainsAny(token, ".eE") { // a string, or an integer
		return token
	}
	if size := math.Abs(number); size != 0 && (size < 1e-4 || size >= 1e16) {
		return strconv.FormatFloat(number, 'e', -1, 64)
	}
	plain := strconv.FormatFloat(number, 'f', -1, 64)
	if !strings.Contains(plain, ".") {
		plain += ".0"
	}
	return plain
}
