// An adapter for github.com/pkoukk/tiktoken-go, a port of OpenAI's tiktoken to Go. It translates and computes nothing.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/pkoukk/tiktoken-go"

	"tokspec.example/adapters/protocol"
)

// gpt2 cuts as the byte-level pre-tokenizer does (PRE-BYTE-1); it is the library's own pattern for r50k_base.
const gpt2 = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

// whole leaves a text whole.
const whole = `(?s:.+)`

// tokenizer is the library's, and its special tokens. Where there are none, its Encode never returns. The library
// always decodes bytes; decodes says whether the model does.
type tokenizer struct {
	*tiktoken.Tiktoken
	special map[string]any
	decodes bool
}

var adapter = protocol.Adapter[tokenizer]{
	Hello: protocol.Result{
		"name":           "pkoukk/tiktoken-go",
		"version":        protocol.Version("github.com/pkoukk/tiktoken-go"),
		"formats":        []string{"vocab.tiktoken"},
		"encode_fields":  []string{"ids"},
		"encode_options": []string{"allowed_special", "disallowed_special"},
		"components":     []string{"vocabulary_ids", "added_tokens/content", "added_tokens/id", "model/bpe/ignore_merges"},
		"choices": map[string]string{
			"bpe_pairs":               "in_vocabulary",
			"byte_level_added_tokens": "utf_8",
			"unknown_id":              "skipped",
		},
	},
	Load: load,
	Operations: map[string]func(tokenizer, protocol.Input) (protocol.Result, error){
		"encode":       encode,
		"decode":       decode,
		"decode_bytes": decodeBytes,
	},
}

// content is the file of ranks, and what is told beside it.
type content struct {
	Files  map[string]string `json:"files"`
	Beside struct {
		Normalizer   any    `json:"normalizer"`
		Pattern      string `json:"pattern"`
		PreTokenizer struct {
			AddPrefixSpace bool `json:"add_prefix_space"`
			UseRegex       bool `json:"use_regex"`
		} `json:"pre_tokenizer"`
		Decoder struct {
			Type string `json:"type"`
		} `json:"decoder"`
		SpecialTokens map[string]int `json:"special_tokens"`
		AddedTokens   []struct {
			Content string `json:"content"`
			ID      *int   `json:"id"`
		} `json:"added_tokens"`
	} `json:"beside"`
}

func load(format string, raw json.RawMessage) (tokenizer, error) {
	var given content
	if err := json.Unmarshal(raw, &given); err != nil {
		return tokenizer{}, err
	}
	stages, pattern := given.Beside.PreTokenizer, given.Beside.Pattern
	if given.Beside.Normalizer != nil || stages.AddPrefixSpace {
		return tokenizer{}, protocol.Unsupported("cuts a text by one pattern, and has no normalizer and no prefix space")
	}
	ranks, err := ranksOf(given.Files[format])
	if err != nil {
		return tokenizer{}, err
	}
	tokens := specialTokens(given, ranks)
	special := map[string]any{}
	for token := range tokens {
		special[token] = true
		for other := range tokens {
			if token != other && strings.HasPrefix(token, other) {
				message := "tries special tokens in the order of a map, which is another each time (ADDED-2)"
				return tokenizer{}, protocol.Unsupported(message)
			}
		}
	}
	if pattern == "" && stages.UseRegex {
		pattern = gpt2
	} else if pattern == "" {
		pattern = whole
	}
	core, err := tiktoken.NewCoreBPE(ranks, tokens, pattern)
	if err != nil {
		return tokenizer{}, err
	}
	decodes := given.Beside.Pattern != "" || given.Beside.Decoder.Type == "byte_level"
	return tokenizer{tiktoken.NewTiktoken(core, nil, special), special, decodes}, nil
}

// specialTokens are those of a model and its added ones, which are special too. One without an id is in the vocabulary.
func specialTokens(given content, ranks map[string]int) map[string]int {
	tokens := map[string]int{}
	maps.Copy(tokens, given.Beside.SpecialTokens)
	for _, token := range given.Beside.AddedTokens {
		if token.ID != nil {
			tokens[token.Content] = *token.ID
		} else if rank, is := ranks[bytesOf(token.Content)]; is {
			tokens[token.Content] = rank
		}
	}
	return tokens
}

// bytesOf gives the bytes that a token of the vocabulary stands for (PRE-BYTE-3).
func bytesOf(token string) string {
	stands, others := map[rune]byte{}, rune(0x100)
	for value := range rune(0x100) {
		if value >= 0x21 && value <= 0x7e || value >= 0xa1 && value != 0xad {
			stands[value] = byte(value)
		} else {
			stands[others] = byte(value)
			others++
		}
	}
	found := []byte{}
	for _, character := range token {
		found = append(found, stands[character])
	}
	return string(found)
}

// ranksOf reads the lines of the file: the library reads them from a path or a server only.
func ranksOf(file string) (map[string]int, error) {
	ranks := map[string]int{}
	for lines := bufio.NewScanner(strings.NewReader(file)); lines.Scan(); {
		var encoded string
		var rank int
		if _, err := fmt.Sscan(lines.Text(), &encoded, &rank); err != nil {
			return nil, err
		}
		if encoded == "=" { // an empty token
			encoded = ""
		}
		token, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return nil, err
		}
		ranks[string(token)] = rank
	}
	return ranks, nil
}

func encode(model tokenizer, input protocol.Input) (result protocol.Result, err error) {
	if input.Text == nil {
		return nil, protocol.Unsupported("encodes a text")
	}
	allowed, disallowed := protocol.Special{"all"}, protocol.Special{}
	if input.AllowedSpecial != nil {
		allowed = *input.AllowedSpecial
	}
	if input.DisallowedSpecial != nil {
		disallowed = *input.DisallowedSpecial
	}
	if len(model.special) == 0 || len(allowed) == 0 && input.DisallowedSpecial == nil {
		return protocol.Result{"ids": model.EncodeOrdinary(*input.Text)}, nil
	}
	defer func() { // the library panics at a special token that is disallowed
		failure := recover()
		message, _ := failure.(string)
		if strings.Contains(message, "disallowed special token") {
			result, err = nil, protocol.Refusal{Reason: "invalid_input", Message: message}
		} else if failure != nil {
			panic(failure)
		}
	}()
	return protocol.Result{"ids": model.Encode(*input.Text, allowed, disallowed)}, nil
}

func decode(model tokenizer, input protocol.Input) (protocol.Result, error) {
	bytes, err := decoded(model, input)
	if err != nil {
		return nil, err
	}
	return protocol.Text(bytes)
}

func decodeBytes(model tokenizer, input protocol.Input) (protocol.Result, error) {
	bytes, err := decoded(model, input)
	return protocol.Result{"bytes": hex.EncodeToString([]byte(bytes))}, err
}

// decoded gives a string of the bytes, be they UTF-8 or not.
func decoded(model tokenizer, input protocol.Input) (string, error) {
	if !model.decodes {
		return "", protocol.Unsupported("decodes bytes, and puts no spaces between tokens")
	}
	if input.IDs == nil {
		return "", protocol.Unsupported("decodes ids")
	}
	return model.Decode(input.IDs), nil
}

func main() { protocol.Serve(adapter) }
