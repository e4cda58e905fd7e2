// The protocol of spec/10-protocol.md: one JSON object a line in, one a line out. It can stay as it is.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"sort"
)

type request struct {
	ID      json.RawMessage `json:"id"`
	Op      string          `json:"op"`
	Model   string          `json:"model"`
	Format  string          `json:"format"`
	Content json.RawMessage `json:"content"`
	Input   input           `json:"input"`
}

type refusal struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

func (r refusal) Error() string { return r.Reason + ": " + r.Message }

// refuse makes an answer that is no result; any other error is answered as a crash.
func refuse(reason, message string) error { return refusal{reason, message} }

var models = map[string]model{}

func greet() any {
	names := []string{}
	for name := range operations {
		names = append(names, name)
	}
	sort.Strings(names) // the same after every start (PROTO-6)
	hello["protocol"], hello["operations"] = 1, names
	return hello
}

func perform(r request) (any, error) {
	switch r.Op {
	case "hello":
		return greet(), nil
	case "load":
		made, err := load(r.Format, r.Content)
		if err == nil {
			models[r.Model] = made
		}
		return struct{}{}, err
	case "bye":
		return struct{}{}, nil
	}
	operation, offered := operations[r.Op]
	if !offered {
		return nil, refuse("unsupported", "there is no operation "+r.Op)
	}
	loaded, known := models[r.Model]
	if !known {
		return nil, refuse("unsupported", "no model "+r.Model+" is loaded")
	}
	return operation(loaded, r.Input)
}

// answer gives the request of a line and the reply to it.
func answer(line []byte) (r request, reply map[string]any) {
	// An error is of a line that is not JSON, or of a text that is {"hex": …}, which stands for what JSON cannot carry.
	if err := json.Unmarshal(line, &r); err != nil {
		return r, map[string]any{"id": r.ID, "refused": refusal{"unsupported", err.Error()}}
	}
	result, err := perform(r)
	var refused refusal
	switch {
	case err == nil:
		return r, map[string]any{"id": r.ID, "ok": result}
	case errors.As(err, &refused):
		return r, map[string]any{"id": r.ID, "refused": refused}
	}
	return r, map[string]any{"id": r.ID, "crashed": map[string]any{"message": err.Error()}}
}

func main() {
	lines := bufio.NewReader(os.Stdin) // not a Scanner, which ends at long lines
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		r, reply := answer(line)
		written, err := json.Marshal(reply)
		if err != nil {
			panic(err)
		}
		os.Stdout.Write(append(written, '\n'))
		if r.Op == "bye" {
			return
		}
	}
}
