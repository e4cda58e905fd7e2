// Package tokspec judges a tokenizer by the cases of the tokspec suite, or by a pack, each as a test of go test.
// docs/cases.md of the suite describes the cases, docs/packs.md the packs.
package tokspec

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
)

// Version is that of the suite.
const Version = "0.3.0"

//go:embed cases.json packs/*.pack.jsonl
var files embed.FS

// Hello is what a tokenizer offers, as spec/10-protocol.md describes it; what it does not declare is not asked.
type Hello struct {
	Formats       []string          `json:"formats"`
	EncodeFields  []string          `json:"encode_fields"` // tokens alone unless given
	EncodeOptions []string          `json:"encode_options"`
	DecodeOptions []string          `json:"decode_options"`
	Components    []string          `json:"components"`
	Choices       map[string]string `json:"choices"`
	ReadsFile     bool              `json:"reads_file"`
	OtherTrainers map[string]string `json:"other_trainers"`
	Like          string            `json:"like"` // the origin whose answers count as well
}

// Adapter translates between the suite and a tokenizer; Model is what the tokenizer loads. An error that is no Refusal
// is a crash, and so is a panic.
type Adapter[Model any] struct {
	Hello Hello
	Load  func(format string, content json.RawMessage) (Model, error)
	// Operations take the input, and return the result as encoding/json writes it, of spec/10-protocol.md.
	Operations map[string]func(model Model, input json.RawMessage) (any, error)
}

// Refusal is an error with a reason of spec/09-errors.md.
type Refusal struct{ Reason, Message string }

func (r Refusal) Error() string { return r.Reason + ": " + r.Message }

// Unsupported refuses what the tokenizer does not offer.
func Unsupported(message string) error { return Refusal{"unsupported", message} }

// Run makes a test of each case. knownFailures is a file that tokspec run wrote, or "".
func Run[Model any](t *testing.T, adapter Adapter[Model], knownFailures string) {
	judgeAll(t, adapter, readBundle(), map[string]loaded[Model]{}, knownFailures)
}

// RunPack makes tests of each line of a pack, which is a name or a file, for the tokenizer of a tokenizer.json.
func RunPack[Model any](t *testing.T, adapter Adapter[Model], pack, tokenizer, knownFailures string) {
	cases, err := readPack(pack, adapter.Hello)
	if err == nil {
		err = cases.setModel(tokenizer)
	}
	if err != nil {
		t.Fatal(err)
	}
	judgeAll(t, adapter, cases.bundle, map[string]loaded[Model]{}, knownFailures)
}

// RunPackLoaded is RunPack for a tokenizer that is loaded.
func RunPackLoaded[Model any](t *testing.T, adapter Adapter[Model], pack string, model Model, knownFailures string) {
	cases, err := readPack(pack, adapter.Hello)
	if err != nil {
		t.Fatal(err)
	}
	judgeAll(t, adapter, cases.bundle, map[string]loaded[Model]{cases.Name: {model: model}}, knownFailures)
}

type bundle struct {
	Cases   []testCase
	Models  map[string]map[string]writtenModel // by format and name
	Choices []struct {
		Name, Default string
		Options       map[string]any
	}
	Reasons, Operations []string
	Origins             []origin
	Sweep               *sweep `json:"-"` // of a pack
}

type writtenModel struct {
	Content     json.RawMessage
	Unsupported string
}

type testCase struct {
	question
	ID, Why, Operation string
	Clauses            []string
	ModelName          string          `json:"model_name"`
	Model              json.RawMessage `json:",omitempty"`
	Components, Fields []string
	Rows               []question `json:"inputs"`
	Tolerance          *tolerance
	File               string
	Line               int
	swept              *swept // of a case of a sweep
}

type question struct {
	Input   json.RawMessage
	Options []string
	Limits  map[string]string // why the file in a format says something else about the input than the model
	Outcome outcome
}

type outcome struct {
	Expect   any
	OneOf    []any                         `json:"one_of"`
	ByChoice map[string]map[string]outcome `json:"by_choice"`
	Error    string
}

var readBundle = sync.OnceValue(func() *bundle {
	var all bundle
	text, err := files.ReadFile("cases.json")
	if err == nil {
		err = decode(text, &all)
	}
	if err != nil {
		panic(err)
	}
	return &all
})

func judgeAll[Model any](t *testing.T, adapter Adapter[Model], all *bundle, models map[string]loaded[Model], file string) {
	known, err := readKnownFailures(file)
	if err != nil {
		t.Fatal(err)
	}
	origin, err := all.findOrigin(adapter.Hello.Like)
	if err != nil {
		t.Fatal(err)
	}
	choices, err := chosen(all, adapter.Hello, origin)
	if err != nil {
		t.Fatal(err)
	}
	judge := judge[Model]{adapter, all, models, choices, origin, known}
	passed, alike, failed, skipped, problems, stale := 0, 0, 0, 0, []string{}, maps.Clone(known.entries)
	for _, one := range all.Cases {
		delete(stale, one.ID)
		t.Run(one.ID, func(t *testing.T) {
			verdict, detail := judge.judge(one)
			entry, isListed := known.entries[one.ID]
			if verdict == "unsupported" && isListed && entry["verdict"] != verdict {
				problems = append(problems, one.ID+" is unsupported now")
			} else if verdict == "unsupported" && known.listsUnsupported && !isListed {
				problems = append(problems, one.ID+" is unsupported, and not listed as such")
			}
			switch verdict {
			case "pass":
				passed++
			case asOrigin:
				passed, alike = passed+1, alike+1
				t.Log(visible(detail))
			case "unsupported", "known failure":
				skipped++
				t.Skipf("%s: %s", verdict, visible(detail))
			default:
				failed++
				t.Fatal(one.describe(verdict, visible(detail)))
			}
		})
	}
	ofOrigin := ""
	if alike > 0 {
		ofOrigin = fmt.Sprintf(", %d of them as %s", alike, origin)
	}
	fmt.Printf("tokspec: %d of %d cases pass%s, %d fail, %d are skipped\n", passed, len(all.Cases), ofOrigin, failed, skipped)
	if passed == 0 {
		problems = append(problems, "no case passed, and a run that shows nothing is not a pass")
	}
	for id := range stale {
		problems = append(problems, id+" is listed, and is no case")
	}
	for name := range adapter.Operations {
		if !slices.Contains(all.Operations, name) {
			problems = append(problems, name+" is not an operation")
		}
	}
	report := func(t *testing.T) {
		for _, problem := range problems {
			t.Error(problem)
		}
	}
	isReported := false
	t.Run("the run", func(t *testing.T) {
		isReported = true
		report(t)
	})
	if !isReported { // -run has left it out
		report(t)
	}
}

func (one testCase) describe(verdict, detail string) string {
	if one.swept != nil {
		return fmt.Sprintf("%s: %s\n  %s: %s", verdict, detail, one.Clauses[0], one.Why)
	}
	inputs := []string{string(one.Input)}
	for _, row := range one.Rows {
		inputs = append(inputs, string(row.Input))
	}
	asked := fmt.Sprintf("%s %s of %s", one.Operation, strings.TrimSpace(strings.Join(inputs, " ")), one.Model)
	if len(asked) > 2000 {
		asked = asked[:2000]
	}
	return fmt.Sprintf("%s: %s\n  %s: %s\n  asked %s\n  from %s:%d",
		verdict, detail, one.Clauses[0], one.Why, visible(asked), one.File, one.Line)
}

// visible writes a text on one line of a terminal or a log, in which nothing can move a cursor, hide or give a command.
func visible(text string) string {
	var shown strings.Builder
	for _, each := range text {
		if unicode.IsPrint(each) {
			shown.WriteRune(each)
		} else {
			fmt.Fprintf(&shown, "\\u%04x", each)
		}
	}
	return shown.String()
}

// chosen returns the option of every choice: what hello declares, else that of the origin, else the default.
func chosen(all *bundle, hello Hello, like origin) (map[string]string, error) {
	choices, options := map[string]string{}, map[string]bool{}
	for _, choice := range all.Choices {
		choices[choice.Name] = choice.Default
		for option := range choice.Options {
			options[choice.Name+"="+option] = true
		}
	}
	unit := choices["offset_unit"]
	maps.Copy(choices, like.Choices)
	choices["offset_unit"] = unit // that of an origin is not how a tokenizer in another language counts
	for name, option := range hello.Choices {
		if !options[name+"="+option] {
			return nil, fmt.Errorf("hello declares %s=%s, which is no choice", name, option)
		}
		choices[name] = option
	}
	return choices, nil
}
