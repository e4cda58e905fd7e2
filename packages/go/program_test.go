package tokspec

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// TestProgram judges the program that PROGRAM names, an adapter of the suite that speaks the protocol of
// spec/10-protocol.md, as tokspec run does.
func TestProgram(t *testing.T) {
	if os.Getenv("PROGRAM") == "" {
		t.Skip("PROGRAM names no program")
	}
	command := exec.Command(os.Getenv("PROGRAM"))
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer command.Wait()
	defer input.Close()
	ask := asker(input, output)

	var hello struct {
		Hello
		Operations []string
	}
	answer, err := ask(object{"op": "hello", "protocol": 1})
	if err == nil {
		err = json.Unmarshal(answer, &hello)
	}
	if err != nil {
		t.Fatal(err)
	}
	models := 0
	adapter := Adapter[string]{
		Hello: hello.Hello,
		Load: func(format string, content json.RawMessage) (string, error) {
			models++
			name := fmt.Sprint("model ", models)
			_, err := ask(object{"op": "load", "model": name, "format": format, "content": content})
			return name, err
		},
		Operations: map[string]func(string, json.RawMessage) (any, error){},
	}
	for _, name := range hello.Operations {
		adapter.Operations[name] = func(model string, input json.RawMessage) (any, error) {
			return ask(object{"op": name, "model": model, "input": input})
		}
	}
	runAsTold(t, adapter, "")
}

// asker returns a function that sends a request and waits for the reply.
func asker(input io.Writer, output io.Reader) func(object) (json.RawMessage, error) {
	requests, replies, id := json.NewEncoder(input), json.NewDecoder(output), 0
	return func(request object) (json.RawMessage, error) {
		id++
		request["id"] = id
		if err := requests.Encode(request); err != nil {
			return nil, err
		}
		var reply struct {
			OK      json.RawMessage
			Refused *Refusal
			Crashed *struct{ Message string }
		}
		if err := replies.Decode(&reply); err != nil {
			return nil, err
		}
		if reply.Refused != nil {
			return nil, *reply.Refused
		}
		if reply.Crashed != nil {
			return nil, errors.New(reply.Crashed.Message)
		}
		return reply.OK, nil
	}
}
