// An adapter between tokspec and a tokenizer; protocol.go speaks with the suite. README.md says what to do next.
// Standard output belongs to the protocol: print to os.Stderr. A panic counts as a crash.
package main

import "encoding/json"

// model is your tokenizer. This template keeps the model as the suite wrote it.
type model = json.RawMessage

// input has what the operations take that you offer; add to it.
type input struct {
	Text string `json:"text"`
}

// operations are those that you offer; spec/10-protocol.md lists what each takes and gives.
// What is absent is unsupported.
var operations = map[string]func(model, input) (any, error){
	// "encode": encode,
}

// encode gives characters as tokens. Put your tokenizer's answer here; "ids" and "spans" may stand beside "tokens".
func encode(_ model, in input) (any, error) {
	tokens := []string{}
	for _, character := range in.Text {
		tokens = append(tokens, string(character))
	}
	return map[string]any{"tokens": tokens}, nil
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
	"name":          "mine",
	"version":       "0.1",
	"language":      "Go",
	"formats":       []string{"tokspec"}, // or "tokenizer.json", which Hugging Face tokenizers save; the preferred first
	"encode_fields": []string{"tokens"},  // add "ids" and "spans" as soon as encode gives them
	"choices":       map[string]string{}, // such as "bpe_merge_order": "lowest_rank"; spec/08-choices.md has them all
}
