// An adapter for github.com/sugarme/tokenizer, a port of Hugging Face tokenizers to Go. It translates and computes
// nothing.
package main

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/sugarme/tokenizer"
	"github.com/sugarme/tokenizer/normalizer"
	"github.com/sugarme/tokenizer/pretrained"

	"tokspec.example/adapters/protocol"
)

var adapter = protocol.Adapter[*tokenizer.Tokenizer]{
	Hello: protocol.Result{
		"name":          "sugarme/tokenizer",
		"version":       "0.3.0",
		"formats":       []string{"tokenizer.json"},
		"encode_fields": []string{"tokens", "ids", "spans"},
		"choices": map[string]string{
			"bpe_merge_order": "lowest_rank",
			"final_sigma":     "plain",
			"offset_unit":     "byte",
			"unigram_tie":     "earliest_start",
			"unigram_unknown": "run",
			"unknown_id":      "skipped",
		},
	},
	Load: func(_ string, content json.RawMessage) (*tokenizer.Tokenizer, error) {
		model, err := pretrained.FromReader(bytes.NewReader(content))
		return model, reasoned(err)
	},
	Operations: map[string]func(*tokenizer.Tokenizer, protocol.Input) (protocol.Result, error){
		"normalize":    normalize,
		"pre_tokenize": preTokenize,
		"encode":       encode,
		"decode":       decode,
	},
}

// reasons tells what the library's errors, which have no type of their own, are refusals for.
var reasons = map[string]string{
	"Read merges error":   "invalid_model",
	"Unsupported ":        "unsupported",
	"NotImplementedError": "unsupported",
	"unknown prepend":     "unsupported",
	"Missing [UNK] token": "unknown_symbol",
	"could not tokenize":  "unknown_symbol",
}

func reasoned(err error) error {
	for part, reason := range reasons {
		if err != nil && strings.Contains(err.Error(), part) {
			return protocol.Refusal{Reason: reason, Message: err.Error()}
		}
	}
	return err
}

func normalize(model *tokenizer.Tokenizer, input protocol.Input) (protocol.Result, error) {
	if input.Text == nil || model.GetNormalizer() == nil {
		return nil, protocol.Unsupported("normalizes a text, by the model's normalizer alone")
	}
	normalized, err := model.GetNormalizer().Normalize(normalizer.NewNormalizedFrom(*input.Text))
	if err != nil {
		return nil, err
	}
	return protocol.Text(normalized.GetNormalized())
}

func preTokenize(model *tokenizer.Tokenizer, input protocol.Input) (protocol.Result, error) {
	if input.Text == nil || model.GetPreTokenizer() == nil {
		return nil, protocol.Unsupported("pre-tokenizes a text, by the model's pre-tokenizer alone")
	}
	cut, err := model.GetPreTokenizer().PreTokenize(tokenizer.NewPreTokenizedString(*input.Text))
	if err != nil {
		return nil, err
	}
	pieces := [][]any{}
	for _, piece := range cut.GetSplits(normalizer.OriginalTarget, tokenizer.Byte) {
		pieces = append(pieces, []any{piece.Value, piece.Offsets[0], piece.Offsets[1]})
	}
	return protocol.Result{"pieces": pieces}, nil
}

func encode(model *tokenizer.Tokenizer, input protocol.Input) (protocol.Result, error) {
	if input.Text == nil {
		return nil, protocol.Unsupported("encodes a text")
	}
	encoding, err := model.EncodeSingle(*input.Text)
	if err != nil {
		return nil, reasoned(err)
	}
	// For an unknown the library may give the characters; the token is the entry of the vocabulary that the id names.
	tokens := []string{}
	for _, id := range encoding.Ids {
		token, _ := model.IdToToken(id)
		tokens = append(tokens, token)
	}
	// An empty slice may be nil, which JSON would have as null.
	ids, spans := append([]int{}, encoding.Ids...), append([][]int{}, encoding.Offsets...)
	return protocol.Result{"tokens": tokens, "ids": ids, "spans": spans}, nil
}

func decode(model *tokenizer.Tokenizer, input protocol.Input) (protocol.Result, error) {
	switch {
	case input.IDs != nil:
		return protocol.Text(model.Decode(input.IDs, false))
	case input.Tokens != nil && model.GetDecoder() != nil:
		return protocol.Text(model.GetDecoder().Decode(input.Tokens))
	}
	return nil, protocol.Unsupported("decodes ids, and tokens by the model's decoder alone")
}

func main() { protocol.Serve(adapter) }
