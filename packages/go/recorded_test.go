package tokspec

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"testing"
)

type recordedReply struct {
	OK      json.RawMessage
	Refused string
	Crashed bool
	Message string // of the refusal or the crash
	Exits   bool
	Asked   any // the input, if it is to be looked at
}

// TestRecorded judges replies that were recorded, one a question in the order of the cases or of the pack that PACK
// names: a check of the runner itself.
func TestRecorded(t *testing.T) {
	text, err := os.ReadFile(os.Getenv("RECORDING"))
	if err != nil {
		t.Skip("RECORDING names no file of hello and replies")
	}
	var recording struct {
		Hello struct {
			Hello
			Operations []string
		}
		Replies []recordedReply
	}
	if err := json.Unmarshal(text, &recording); err != nil {
		t.Fatal(err)
	}
	next := func(_ struct{}, input json.RawMessage) (any, error) {
		reply := recording.Replies[0]
		recording.Replies = recording.Replies[1:]
		var asked any
		if err := json.Unmarshal(input, &asked); err != nil {
			return nil, err
		}
		switch {
		case reply.Asked != nil && !reflect.DeepEqual(reply.Asked, asked):
			return nil, fmt.Errorf("was asked %v and not %v", asked, reply.Asked)
		case reply.Exits:
			os.Exit(0)
		case reply.Refused != "":
			return nil, Refusal{reply.Refused, cmp.Or(reply.Message, "as recorded")}
		case reply.Crashed:
			return nil, errors.New(cmp.Or(reply.Message, "as recorded"))
		}
		return reply.OK, nil
	}
	adapter := Adapter[struct{}]{
		Hello:      recording.Hello.Hello,
		Load:       func(string, json.RawMessage) (struct{}, error) { return struct{}{}, nil },
		Operations: map[string]func(struct{}, json.RawMessage) (any, error){},
	}
	for _, name := range recording.Hello.Operations {
		adapter.Operations[name] = next
	}
	runAsTold(t, adapter, struct{}{})
}

// runAsTold judges by the cases, or by the pack that PACK names: for the tokenizer that MODEL names, or one that is loaded.
func runAsTold[Model any](t *testing.T, adapter Adapter[Model], loaded Model) {
	known := os.Getenv("KNOWN_FAILURES")
	switch pack, tokenizer := os.Getenv("PACK"), os.Getenv("MODEL"); {
	case pack != "" && tokenizer != "":
		RunPack(t, adapter, pack, tokenizer, known)
	case pack != "":
		RunPackLoaded(t, adapter, pack, loaded, known)
	default:
		Run(t, adapter, known)
	}
}
