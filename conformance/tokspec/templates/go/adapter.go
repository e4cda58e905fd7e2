// An adapter between tokspec and a tokenizer; protocol.go speaks with the suite. README.md says what to do next.
// Standard output belongs to the protocol: print to os.Stderr. A panic counts as a crash.
package main

import (
	"encoding/json"
	"fmt"
)

// model is your tokenizer. This template keeps the model as the suite wrote it.
type model = json.RawMessage

// input has what the operations take that you offer; add to it.
type input struct {
	Text    string  `json:"text"`
	IDs     []int   `json:"ids"`
	IDSteps [][]int `json:"id_steps"`
	Prompt  []int   `json:"prompt"`
	Beside  []int   `json:"beside"`
	End     bool    `json:"end"`
}

// operations are those that you offer; spec/10-protocol.md lists what each takes and gives.
// What is absent is unsupported.
var operations = map[string]func(model, input) (any, error){
	// "encode": encode,
	// "decode_stream": decodeStream,
}

// encode gives characters as tokens. Put your tokenizer's answer here; "ids" and "spans" may stand beside "tokens".
func encode(_ model, in input) (any, error) {
	tokens := []string{}
	for _, character := range in.Text {
		tokens = append(tokens, string(character))
	}
	return map[string]any{"tokens": tokens}, nil
}

// stream is a detokenizer of a server, to which ids are added as they come. Put yours here; this one gives their numbers.
type stream struct{}

func newStream(_ model) *stream { return &stream{} }

func (s *stream) add(ids []int) string {
	text := ""
	for _, id := range ids {
		text += fmt.Sprint(id, " ")
	}
	return text
}

func (s *stream) end() string { return "" }

// decodeStream gives the text of ids as it becomes known with each step, and what the end of the stream gives.
func decodeStream(m model, in input) (any, error) {
	one, other := newStream(m), newStream(m)
	one.add(in.Prompt) // its text is not shown
	steps := in.IDSteps
	for _, id := range in.IDs {
		steps = append(steps, []int{id})
	}
	parts := []string{}
	for number, step := range steps {
		if number < len(in.Beside) { // another stream, which has to share nothing with this one
			other.add(in.Beside[number : number+1])
		}
		parts = append(parts, one.add(step))
	}
	if !in.End {
		return map[string]any{"parts": parts}, nil
	}
	return map[string]any{"parts": parts, "end": one.end()}, nil
}

func load(format string, content json.RawMessage) (model, error) {
	// Make your tokenizer here. A recipe, with yours in place of mine:
	//	var parts struct {
	//		Type       string
	//		Vocabulary []string
	//		Merges     [][2]string
	//		Normalizer json.RawMessage
	//	}
	//	if err := json.Unmarshal(content, &parts); err != nil || parts.Type != "bpe" || parts.Normalizer != nil {
	//		return nil, refuse("unsupported", "has BPE alone, and no normalizers") // what it does not have
	//	}
	//	made, err := mine.New(parts.Vocabulary, parts.Merges)
	//	if err != nil { // what it rejects; a panic is a crash, and let through
	//		return nil, refuse("invalid_model", err.Error())
	//	}
	//	return made, nil
	return content, nil
}

var hello = map[string]any{
	"name":           "mine",
	"version":        "0.1",
	"language":       "Go",
	"formats":        []string{"tokspec"},                             // or "tokenizer.json", which Hugging Face tokenizers save; the preferred first
	"encode_fields":  []string{"tokens"},                              // add "ids" and "spans" as soon as encode gives them
	"decode_options": []string{"end", "id_steps", "prompt", "beside"}, // "skip_special_tokens" too, if it knows that
	"choices":        map[string]string{},                             // such as "bpe_merge_order": "lowest_rank"; spec/08-choices.md has them all
}
