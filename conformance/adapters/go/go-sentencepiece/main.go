// An adapter for github.com/eliben/go-sentencepiece, a port of SentencePiece's BPE to Go. It translates and computes
// nothing.
package main

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/eliben/go-sentencepiece"

	"tokspec.example/adapters/protocol"
)

// tokenizer is the library's. It decodes in one way only; decodes says whether that is the decoder of the model.
type tokenizer struct {
	*sentencepiece.Processor
	decodes bool
}

var adapter = protocol.Adapter[tokenizer]{
	Hello: protocol.Result{
		"name":          "eliben/go-sentencepiece",
		"version":       protocol.Version("github.com/eliben/go-sentencepiece"),
		"formats":       []string{"sentencepiece.model"},
		"reads_file":    true,
		"encode_fields": []string{"tokens", "ids"},
		// Not among them: it joins no unknown tokens, and of the normalizer sentencepiece it has one setting alone.
		"components": []string{"model/bpe/byte_fallback", "model/bpe/piece_types", "model/bpe/scores", "decoder/sentencepiece"},
		"like":       "sentencepiece",
		"choices":    map[string]string{"bpe_unknown_run": "each", "unknown_token_text": "surface"},
	},
	Load: load,
	Operations: map[string]func(tokenizer, protocol.Input) (protocol.Result, error){
		"encode": encode,
		"decode": decode,
	},
}

// content is the file, and what is told beside it. All of that but the decoder is in the file too.
type content struct {
	Files  map[string]struct{ Base64 []byte } `json:"files"`
	Beside *struct {
		Decoder struct {
			Type          string `json:"type"`
			Replacement   string `json:"replacement"`
			PrependScheme string `json:"prepend_scheme"`
		} `json:"decoder"`
	} `json:"beside"`
}

func load(format string, raw json.RawMessage) (tokenizer, error) {
	var given content
	if err := json.Unmarshal(raw, &given); err != nil {
		return tokenizer{}, err
	}
	processor, err := sentencepiece.NewProcessor(bytes.NewReader(given.Files[format].Base64))
	if err != nil {
		return tokenizer{}, reasoned(err)
	}
	decodes := true
	if given.Beside != nil {
		decoder := given.Beside.Decoder
		marks := decoder.Type == "metaspace" && decoder.Replacement == "▁" && decoder.PrependScheme == ""
		decodes = marks || decoder.Type == "sentencepiece"
	}
	return tokenizer{processor, decodes}, nil
}

// reasoned tells what an error of loading is a refusal for. Behind "not supported" the library quotes the part of the
// file, character map and all, in a form that changes from build to build.
func reasoned(err error) error {
	if before, _, is := strings.Cut(err.Error(), "not supported"); is {
		return protocol.Unsupported("%snot supported", before)
	}
	return protocol.Refusal{Reason: "invalid_model", Message: err.Error()}
}

func encode(model tokenizer, input protocol.Input) (protocol.Result, error) {
	if input.Text == nil {
		return nil, protocol.Unsupported("encodes a text")
	}
	tokens, ids := []string{}, []int{}
	for _, token := range model.Encode(*input.Text) {
		tokens, ids = append(tokens, token.Text), append(ids, token.ID)
	}
	return protocol.Result{"tokens": tokens, "ids": ids}, nil
}

func decode(model tokenizer, input protocol.Input) (protocol.Result, error) {
	if !model.decodes {
		return nil, protocol.Unsupported("decodes ▁ as a space, whatever the model")
	}
	if input.IDs == nil {
		return nil, protocol.Unsupported("decodes ids")
	}
	return protocol.Text(model.Decode(input.IDs))
}

func main() { protocol.Serve(adapter) }
