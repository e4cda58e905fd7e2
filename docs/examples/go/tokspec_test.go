// The cases of tokspec as tests of go test, without Python: cases.json is all that they need. Copy this file, put your
// tokenizer into the adapter at its end, and write the models in the format that it loads:
//
//	tokspec cases --bundle cases.json --format vocab.tiktoken
package cases

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/pkoukk/tiktoken-go"
)

type question struct {
	Input   map[string]any `json:"input"`
	Outcome map[string]any `json:"outcome"`
	Options []string       `json:"options"`
}

type testCase struct {
	question
	ID         string     `json:"id"`
	Why        string     `json:"why"`
	Operation  string     `json:"operation"`
	Model      string     `json:"model_name"`
	Components []string   `json:"components"`
	Fields     []string   `json:"fields"`
	Rows       []question `json:"inputs"`
}

type bundle struct {
	Choices []struct{ Name, Default string } `json:"choices"`
	Cases   []testCase                       `json:"cases"`
	Models  map[string]map[string]struct {
		Content     json.RawMessage `json:"content"`
		Unsupported string          `json:"unsupported"`
	} `json:"models"`
}

// refusal is an error with a reason of spec/09-errors.md; any other error, and a panic, is a crash.
type refusal struct{ reason, message string }

func (r refusal) Error() string { return r.message }

func TestTokspec(t *testing.T) {
	text, err := os.ReadFile("cases.json")
	if err != nil {
		t.Fatal(err, "; make it: tokspec cases --bundle cases.json --format vocab.tiktoken")
	}
	var all bundle
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	known := readKnownFailures(t, os.Getenv("KNOWN_FAILURES"))
	passed := 0
	for _, one := range all.Cases {
		t.Run(one.ID, func(t *testing.T) {
			verdict, detail, seen := all.judge(one)
			if entry, listed := known[one.ID]; listed && verdict != "unsupported" {
				if verdict == "pass" {
					t.Fatalf("unexpected pass: it is listed as failing")
				}
				if entry["verdict"] == verdict && entry["digest"] == digest(seen) {
					t.Skipf("known failure: %s", entry["reason"])
				}
			}
			switch verdict {
			case "pass":
				passed++
			case "unsupported":
				t.Skipf("unsupported: %s", detail)
			default:
				t.Fatalf("%s: %s\n%s\nasked %s %v %v", verdict, detail, one.Why, one.Operation, one.Input, one.Rows)
			}
		})
	}
	if passed == 0 {
		t.Error("no case passed, and a run that shows nothing is not a pass")
	}
}

// judge returns the verdict on a case; a table comes to the worst of its rows, and is listed by all that fail.
func (b *bundle) judge(one testCase) (verdict, detail string, seen any) {
	if one.Rows == nil {
		return b.judgeQuestion(one, one.question)
	}
	severity := map[string]int{"pass": 0, "unsupported": 1, "fail": 2, "error": 3, "crash": 4}
	verdict = "pass"
	failing := []any{}
	for index, row := range one.Rows {
		what, why, manner := b.judgeQuestion(one, row)
		if severity[what] > severity[verdict] {
			verdict, detail = what, fmt.Sprintf("row %d: %s", index+1, why)
		}
		if severity[what] > 1 {
			failing = append(failing, append([]any{index + 1}, manner.([]any)...))
		}
	}
	return verdict, detail, failing
}

func (b *bundle) judgeQuestion(one testCase, asked question) (verdict, detail string, seen any) {
	outcome := asked.Outcome
	for outcome["by_choice"] != nil {
		for name, options := range outcome["by_choice"].(map[string]any) {
			outcome = options.(map[string]any)[b.option(name)].(map[string]any)
		}
	}
	result, err := b.ask(one, asked)
	if refused, is := err.(refusal); is {
		switch {
		case refused.reason == "unsupported":
			return "unsupported", refused.message, nil
		case refused.reason == outcome["error"]:
			return "pass", "", nil
		}
		return "error", "refused as " + refused.reason, []any{"error", refused.reason}
	}
	if err != nil {
		return "crash", err.Error(), []any{"crash", "crash"}
	}
	wanted, several := outcome["one_of"].([]any)
	if !several {
		wanted = []any{outcome["expect"]}
	}
	for _, each := range wanted {
		right, isResult := each.(map[string]any)
		if isResult && one.Operation == "encode" {
			if right["ids"] == nil { // all that this adapter gives
				return "unsupported", "the case checks no ids", nil
			}
			right = map[string]any{"ids": right["ids"]}
		}
		if isResult && reflect.DeepEqual(right, result) { // integers and strings; real numbers need TERM-5
			if len(one.Fields) > 0 {
				return "unsupported", "gives only ids, and the case is about " + strings.Join(one.Fields, " or "), nil
			}
			return "pass", "", nil
		}
	}
	return "fail", fmt.Sprintf("expected %v, got %v", outcome, result), []any{"fail", result}
}

func (b *bundle) option(name string) string {
	if option, declared := choices[name]; declared {
		return option
	}
	for _, choice := range b.Choices {
		if choice.Name == name {
			return choice.Default
		}
	}
	panic(name + " is no choice")
}

// ask returns the result as JSON carries it.
func (b *bundle) ask(one testCase, asked question) (result map[string]any, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("%v", panicked)
		}
	}()
	operation, offered := operations[one.Operation]
	if !offered || len(one.Components)+len(asked.Options) > 0 {
		return nil, refusal{"unsupported", "does not offer that"}
	}
	model := b.Models[format][one.Model]
	if model.Content == nil {
		return nil, refusal{"unsupported", model.Unsupported}
	}
	loaded, err := load(model.Content)
	if err != nil {
		return nil, err
	}
	answer, err := operation(loaded, asked.Input)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	return result, json.Unmarshal(text, &result)
}

// digest is that of a known failure: of what was seen, as JSON with sorted keys, in ASCII.
func digest(seen any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(seen); err != nil {
		panic(err)
	}
	ascii := ""
	for _, character := range strings.TrimSpace(text.String()) {
		if character < 0x7f {
			ascii += string(character)
		} else if character > 0xffff {
			ascii += fmt.Sprintf(`\u%04x\u%04x`, 0xd800+(character-0x10000)>>10, 0xdc00+(character-0x10000)&0x3ff)
		} else {
			ascii += fmt.Sprintf(`\u%04x`, character)
		}
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(ascii)))[:16]
}

// readKnownFailures reads the file that tokspec run --update-known-failures writes.
func readKnownFailures(t *testing.T, file string) map[string]map[string]string {
	known := map[string]map[string]string{}
	if file == "" {
		return known
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`(?m)^  - \{(.+)\}$`).ReplaceAllFunc(text, func(line []byte) []byte { // an entry in one line
		inner := regexp.MustCompile(`("(?:[^"\\]|\\.)*"), (\w+: )`).ReplaceAll(line[5:len(line)-1], []byte("$1\n    $2"))
		return append([]byte("  - "), inner...)
	})
	var entry map[string]string
	for _, line := range regexp.MustCompile(`(?m)^  ([- ]) (\w+): (.+)$`).FindAllStringSubmatch(string(text), -1) {
		value := line[3]
		if strings.HasPrefix(value, `"`) {
			if err := json.Unmarshal([]byte(value), &value); err != nil {
				t.Fatal(err)
			}
		}
		if line[1] == "-" {
			entry = map[string]string{}
		}
		entry[line[2]] = value
		known[entry["case"]] = entry
	}
	return known
}

// The adapter: tiktoken-go, which gives ids alone.

type tokenizer struct {
	*tiktoken.Tiktoken
	special int
}

const format = "vocab.tiktoken"

var choices = map[string]string{"bpe_pairs": "in_vocabulary", "unknown_id": "skipped"}

var operations = map[string]func(tokenizer, map[string]any) (any, error){
	"encode": func(model tokenizer, input map[string]any) (any, error) {
		text, is := input["text"].(string)
		if !is {
			return nil, refusal{"unsupported", "takes no lone surrogates"}
		}
		if model.special == 0 { // Encode never returns then
			return map[string]any{"ids": model.EncodeOrdinary(text)}, nil
		}
		return map[string]any{"ids": model.Encode(text, []string{"all"}, nil)}, nil
	},
}

// gpt2 cuts as the byte-level pre-tokenizer does.
const gpt2 = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

func load(content json.RawMessage) (tokenizer, error) {
	var file struct {
		Files  map[string]string `json:"files"`
		Beside struct {
			Normalizer    any            `json:"normalizer"`
			PreTokenizer  map[string]any `json:"pre_tokenizer"`
			SpecialTokens map[string]int `json:"special_tokens"`
		} `json:"beside"`
	}
	if err := json.Unmarshal(content, &file); err != nil {
		return tokenizer{}, err
	}
	cuts, special := file.Beside.PreTokenizer, file.Beside.SpecialTokens
	if file.Beside.Normalizer != nil || cuts["add_prefix_space"] == true || cuts["use_regex"] != true {
		return tokenizer{}, refusal{"unsupported", "has no normalizer, no prefix space, and always a pattern"}
	}
	names := map[string]any{}
	for token := range special {
		names[token] = true
		for other := range special {
			if token != other && strings.HasPrefix(token, other) {
				return tokenizer{}, refusal{"unsupported", "tries special tokens in another order each time"}
			}
		}
	}
	ranks := map[string]int{}
	for lines := bufio.NewScanner(strings.NewReader(file.Files[format])); lines.Scan(); {
		var encoded string
		var rank int
		if _, err := fmt.Sscan(lines.Text(), &encoded, &rank); err != nil {
			return tokenizer{}, err
		}
		token, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return tokenizer{}, err
		}
		ranks[string(token)] = rank
	}
	core, err := tiktoken.NewCoreBPE(ranks, special, gpt2)
	if err != nil {
		return tokenizer{}, err
	}
	return tokenizer{tiktoken.NewTiktoken(core, nil, names), len(special)}, nil
}
