// An adapter for github.com/sugarme/tokenizer, a port of Hugging Face tokenizers to Go. It translates and computes
// nothing.
package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sugarme/tokenizer"
	"github.com/sugarme/tokenizer/normalizer"
	"github.com/sugarme/tokenizer/pretrained"

	"tokspec.example/adapters/protocol"
)

var adapter = protocol.Adapter[*tokenizer.Tokenizer]{
	Hello: protocol.Result{
		"name":           "sugarme/tokenizer",
		"version":        protocol.Version("github.com/sugarme/tokenizer"),
		"formats":        []string{"tokenizer.json"},
		"reads_file":     true,
		"encode_fields":  []string{"tokens", "ids", "spans", "type_ids", "special_tokens_mask", "attention_mask", "word_ids", "overflowing"},
		"encode_options": []string{"pair", "add_special_tokens"},
		"decode_options": []string{"skip_special_tokens"},
		// What is not among them it has no parameter for; CharDelimiterSplit and BPEDecoder it reads by other names.
		"components": []string{
			"vocabulary_ids", "added_tokens", "normalizer/replace", "normalizer/prepend", "normalizer/strip",
			"normalizer/precompiled", "pre_tokenizer/split", "pre_tokenizer/digits", "pre_tokenizer/punctuation", "pre_tokenizer/whitespace", "pre_tokenizer/unicode_scripts", "model/wordlevel", "model/bpe/continuing_prefix", "model/bpe/dropout",
			"model/bpe/end_of_word_suffix", "post_processor", "truncation", "padding", "decoder/byte_fallback",
			"decoder/fuse", "decoder/strip", "decoder/replace", "decoder/sequence", "decoder/wordpiece/cleanup",
		},
		"choices": map[string]string{
			"bpe_merge_order":    "lowest_rank",
			"duplicate_token":    "last_place",
			"final_sigma":        "plain",
			"offset_unit":        "byte",
			"unigram_tie":        "earliest_start",
			"unigram_unknown":    "run",
			"unknown_token_text": "surface_in_unigram",
			"unknown_id":         "skipped",
		},
	},
	Load: func(_ string, content json.RawMessage) (*tokenizer.Tokenizer, error) {
		folder, err := os.MkdirTemp("", "")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(folder)
		file := filepath.Join(folder, "tokenizer.json") // versions before 0.3 read nothing else
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return nil, err
		}
		model, err := pretrained.FromFile(file)
		return model, reasoned(err)
	},
	Operations: map[string]func(*tokenizer.Tokenizer, protocol.Input) (protocol.Result, error){
		"normalize":    normalize,
		"pre_tokenize": preTokenize,
		"encode":       encode,
		"encode_batch": encodeBatch,
		"decode":       decode,
	},
}

// reasons tells what the library's errors, which have no type of their own, are refusals for.
var reasons = map[string]string{
	"Read merges error":                "invalid_model",
	"precompiled_charsmap from base64": "invalid_model",
	"Invalid dropout":                  "invalid_model",
	"Could not create Normalizer":      "unsupported",
	"Could not create PreTokenizer":    "unsupported",
	"Unsupported ":                     "unsupported",
	"NotImplementedError":              "unsupported",
	"unknown prepend":                  "unsupported",
	"Missing [UNK] token":              "unknown_symbol",
	"Missing 'unk' token":              "unknown_symbol",
	"could not tokenize":               "unknown_symbol",
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
	asked, err := single(input)
	if err != nil {
		return nil, err
	}
	encoding, err := model.Encode(asked, adds(input))
	if err != nil {
		return nil, reasoned(err)
	}
	return whole(*encoding), nil
}

func encodeBatch(model *tokenizer.Tokenizer, input protocol.Input) (protocol.Result, error) {
	inputs := []tokenizer.EncodeInput{}
	for _, each := range input.Inputs {
		asked, err := single(each)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, asked)
	}
	encodings, err := model.EncodeBatch(inputs, adds(input))
	// A panic in one of the library's goroutines ends the program, but only after it has told that it is done.
	time.Sleep(20 * time.Millisecond)
	if err != nil {
		return nil, reasoned(err)
	}
	found := []protocol.Result{}
	for _, encoding := range encodings {
		found = append(found, whole(encoding))
	}
	return protocol.Result{"encodings": found}, nil
}

func single(input protocol.Input) (tokenizer.EncodeInput, error) {
	if input.Text == nil {
		return nil, protocol.Unsupported("encodes a text")
	}
	text := tokenizer.NewInputSequence(*input.Text)
	if input.Pair == nil {
		return tokenizer.NewSingleEncodeInput(text), nil
	}
	return tokenizer.NewDualEncodeInput(text, tokenizer.NewInputSequence(*input.Pair)), nil
}

func adds(input protocol.Input) bool { return input.AddSpecialTokens == nil || *input.AddSpecialTokens }

// whole is an encoding as the protocol has it. An empty slice may be nil, which JSON would have as null.
func whole(encoding tokenizer.Encoding) protocol.Result {
	words := []any{}
	for _, word := range encoding.Words {
		if word < 0 {
			words = append(words, nil)
		} else {
			words = append(words, word)
		}
	}
	overflowing := []protocol.Result{}
	for _, part := range encoding.Overflowing {
		overflowing = append(overflowing, whole(part))
	}
	return protocol.Result{
		"tokens":              append([]string{}, encoding.Tokens...),
		"ids":                 append([]int{}, encoding.Ids...),
		"spans":               append([][]int{}, encoding.Offsets...),
		"type_ids":            append([]int{}, encoding.TypeIds...),
		"special_tokens_mask": append([]int{}, encoding.SpecialTokenMask...),
		"attention_mask":      append([]int{}, encoding.AttentionMask...),
		"word_ids":            words,
		"overflowing":         overflowing,
	}
}

func decode(model *tokenizer.Tokenizer, input protocol.Input) (protocol.Result, error) {
	switch {
	case input.IDs != nil:
		return protocol.Text(model.Decode(input.IDs, input.SkipSpecialTokens))
	case input.Tokens != nil && model.GetDecoder() != nil:
		return protocol.Text(model.GetDecoder().Decode(input.Tokens))
	}
	return nil, protocol.Unsupported("decodes ids, and tokens by the model's decoder alone")
}

func main() { protocol.Serve(adapter) }
