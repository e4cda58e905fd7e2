// Package protocol speaks the protocol of spec/10-protocol.md: one JSON object a line in, one a line out.
package protocol

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

// Input has what the operations take that these adapters offer.
type Input struct {
	Text   *string  `json:"text"`
	Tokens []string `json:"tokens"`
	IDs    []int    `json:"ids"`

	Pair              *string `json:"pair"`
	Inputs            []Input `json:"inputs"`
	AddSpecialTokens  *bool   `json:"add_special_tokens"`
	SkipSpecialTokens bool    `json:"skip_special_tokens"`

	IDSteps [][]int  `json:"id_steps"`
	Beside  []int    `json:"beside"`
	End     bool     `json:"end"`
	Stops   []string `json:"stops"`
	StopIDs []int    `json:"stop_ids"`

	AllowedSpecial    *Special `json:"allowed_special"`
	DisallowedSpecial *Special `json:"disallowed_special"`
}

// Special is a choice among special tokens: {"all"}, or the contents of some.
type Special []string

func (s *Special) UnmarshalJSON(raw []byte) error {
	if string(raw) == `"all"` {
		*s = Special{"all"}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(s))
}

// Version is that of a module which is part of this program.
func Version(module string) string {
	if built, ok := debug.ReadBuildInfo(); ok {
		for _, each := range built.Deps {
			if each.Path == module {
				return strings.TrimPrefix(each.Version, "v")
			}
		}
	}
	return ""
}

// Result is what an operation, or hello, answers.
type Result map[string]any

// Refusal is an answer that is no result; every other error is answered as unsupported.
type Refusal struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

func (r Refusal) Error() string { return r.Reason + ": " + r.Message }

// Unsupported refuses what the library does not offer.
func Unsupported(format string, values ...any) error {
	return Refusal{"unsupported", fmt.Sprintf(format, values...)}
}

// Text is the result of an operation that makes text. A string of Go may hold bytes that are not UTF-8; JSON has U+FFFD for
// each of them.
func Text(made string) (Result, error) {
	return Result{"text": made}, nil
}

// Adapter is a library as the protocol sees it; Model is what the library loads.
type Adapter[Model any] struct {
	Hello      Result
	Load       func(format string, content json.RawMessage) (Model, error)
	Operations map[string]func(Model, Input) (Result, error)
}

type request struct {
	ID      json.RawMessage `json:"id"`
	Op      string          `json:"op"`
	Model   string          `json:"model"`
	Format  string          `json:"format"`
	Content json.RawMessage `json:"content"`
	Input   Input           `json:"input"`
}

// Serve answers until it is told bye, or the input ends.
func Serve[Model any](adapter Adapter[Model]) {
	replies := json.NewEncoder(os.Stdout)
	os.Stdout = os.Stderr // Standard output belongs to the protocol; whatever a library prints has to go elsewhere.
	log.SetOutput(os.Stderr)
	lines, models := bufio.NewReader(os.Stdin), map[string]Model{}
	for op := ""; op != "bye"; {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return
		}
		var asked request
		reply := Result{}
		if err := json.Unmarshal(line, &asked); err != nil {
			reply["refused"] = Refusal{"unsupported", err.Error()}
		} else {
			reply = adapter.answer(asked, models)
		}
		reply["id"], op = asked.ID, asked.Op
		if err := replies.Encode(reply); err != nil {
			log.Fatal(err)
		}
	}
}

// answer gives a reply without its id. A panic in the library, or an error that is no Refusal, is the crash of one
// request (PROTO-5).
func (adapter Adapter[Model]) answer(asked request, models map[string]Model) (reply Result) {
	defer func() {
		if failure := recover(); failure != nil {
			reply = Result{"crashed": Result{"message": fmt.Sprint(failure)}}
		}
	}()
	result, err := adapter.perform(asked, models)
	if refusal, is := err.(Refusal); is {
		return Result{"refused": refusal}
	}
	if err != nil {
		return Result{"crashed": Result{"message": err.Error()}}
	}
	return Result{"ok": result}
}

func (adapter Adapter[Model]) perform(asked request, models map[string]Model) (Result, error) {
	switch asked.Op {
	case "hello":
		adapter.Hello["protocol"], adapter.Hello["language"] = 1, "Go"
		adapter.Hello["operations"] = slices.Sorted(maps.Keys(adapter.Operations)) // the same after every start (PROTO-6)
		return adapter.Hello, nil
	case "load":
		if asked.Content == nil {
			return nil, Unsupported("load needs a content")
		}
		model, err := adapter.Load(asked.Format, asked.Content)
		if err == nil {
			models[asked.Model] = model
		}
		return Result{}, err
	case "bye":
		return Result{}, nil
	}
	operation, offered := adapter.Operations[asked.Op]
	if !offered {
		return nil, Unsupported("there is no operation %s", asked.Op)
	}
	model, loaded := models[asked.Model]
	if !loaded {
		return nil, Unsupported("no model %s is loaded", asked.Model)
	}
	return operation(model, asked.Input)
}
