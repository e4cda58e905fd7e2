// Command raw asks published tokenizer libraries for Go by their public interface; a second way beside the adapters.
//
// It reads JSON lines {library, operation, model, written: {FORMAT: content}, input} and answers each with one line:
// {answer}, {error: "Type: message"} where the library refuses or panics, or {not_offered: why}.
// A library that ends the process, or does not end itself in five seconds, ends this program too.
// Spans are as the library gives them: bytes.
package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/eliben/go-sentencepiece"
	"github.com/pkoukk/tiktoken-go"
	"github.com/sugarme/tokenizer"
	"github.com/sugarme/tokenizer/normalizer"
	"github.com/sugarme/tokenizer/pretrained"
)

const (
	gpt2      = `'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
	patience  = 60 * time.Second
	remembers = 32
)

type object = map[string]any

type request struct {
	Library, Operation string
	Model              json.RawMessage
	Written            map[string]json.RawMessage
	Input              json.RawMessage
}

type text struct {
	Text string
	Pair *string
}

type input struct {
	text
	Inputs            []text
	Ids               []int
	Tokens            *[]string
	AddSpecialTokens  *bool `json:"add_special_tokens"`
	SkipSpecialTokens *bool `json:"skip_special_tokens"`
	AllowedSpecial    any   `json:"allowed_special"`
	DisallowedSpecial any   `json:"disallowed_special"`
}

// A notOffered says why the library has nothing for the request; a refused is an error that the library returns.
type notOffered string
type refused struct{ error }

func need(condition bool, why string) {
	if !condition {
		panic(notOffered(why))
	}
}

func check(err error) {
	if err != nil {
		panic(refused{err})
	}
}

func read(data []byte, into any) {
	if err := json.Unmarshal(data, into); err != nil {
		panic(err)
	}
}

// A library reads a model, and answers an operation with it.
type library struct {
	load func(written map[string]json.RawMessage) any
	ask  func(made any, operation string, given input) object
}

var libraries = map[string]library{
	"sugarme/tokenizer":       {loadSugarme, askSugarme},
	"pkoukk/tiktoken-go":      {loadTiktoken, askTiktoken},
	"eliben/go-sentencepiece": {loadSentencePiece, askSentencePiece},
}

// sugarme/tokenizer

func loadSugarme(written map[string]json.RawMessage) any {
	file, ok := written["tokenizer.json"]
	need(ok, "the model is not written as tokenizer.json")
	made, err := pretrained.FromReader(bytes.NewReader(file))
	check(err)
	return made
}

func askSugarme(tokenizing any, operation string, given input) object {
	made := tokenizing.(*tokenizer.Tokenizer)
	need(given.AllowedSpecial == nil && given.DisallowedSpecial == nil, "chooses no special tokens")
	add := given.AddSpecialTokens == nil || *given.AddSpecialTokens
	switch operation {
	case "encode":
		encoding, err := made.Encode(sequences(given.text), add)
		check(err)
		return fields(*encoding)
	case "encode_batch":
		var inputs []tokenizer.EncodeInput
		for _, one := range given.Inputs {
			inputs = append(inputs, sequences(one))
		}
		encodings, err := made.EncodeBatch(inputs, add)
		check(err)
		return object{"encodings": each(encodings, fields)}
	case "decode":
		if given.Tokens == nil {
			return object{"text": made.Decode(given.Ids, given.SkipSpecialTokens != nil && *given.SkipSpecialTokens)}
		}
		need(given.SkipSpecialTokens == nil, "its decoder skips no special tokens")
		need(made.GetDecoder() != nil, "decodes tokens by a decoder alone")
		return object{"text": made.GetDecoder().Decode(*given.Tokens)}
	case "normalize":
		need(made.GetNormalizer() != nil, "the tokenizer has no normalizer")
		normalized, err := made.GetNormalizer().Normalize(normalizer.NewNormalizedFrom(given.Text))
		check(err)
		return object{"text": normalized.GetNormalized()}
	case "pre_tokenize":
		need(made.GetPreTokenizer() != nil, "the tokenizer has no pre-tokenizer")
		split, err := made.GetPreTokenizer().PreTokenize(tokenizer.NewPreTokenizedString(given.Text))
		check(err)
		pieces := split.GetSplits(normalizer.OriginalTarget, tokenizer.Byte)
		return object{"pieces": each(pieces, func(piece tokenizer.PreToken) []any {
			return []any{piece.Value, piece.Offsets[0], piece.Offsets[1]}
		})}
	}
	panic(notOffered("no operation " + operation))
}

func sequences(given text) tokenizer.EncodeInput {
	sequence := tokenizer.NewInputSequence(given.Text)
	if given.Pair == nil {
		return tokenizer.NewSingleEncodeInput(sequence)
	}
	return tokenizer.NewDualEncodeInput(sequence, tokenizer.NewInputSequence(*given.Pair))
}

func fields(encoding tokenizer.Encoding) object {
	return object{
		"tokens":              list(encoding.Tokens),
		"ids":                 list(encoding.Ids),
		"spans":               list(encoding.Offsets),
		"type_ids":            list(encoding.TypeIds),
		"special_tokens_mask": list(encoding.SpecialTokenMask),
		"attention_mask":      list(encoding.AttentionMask),
		"word_ids": each(encoding.Words, func(word int) *int {
			if word == -1 { // how the library writes that there is none
				return nil
			}
			return &word
		}),
		"overflowing": each(encoding.Overflowing, fields),
	}
}

// list makes JSON's [] of nil, which is Go's empty slice.
func list[T any](items []T) []T {
	return append([]T{}, items...)
}

func each[T, R any](items []T, make func(T) R) []R {
	made := []R{}
	for _, item := range items {
		made = append(made, make(item))
	}
	return made
}

// pkoukk/tiktoken-go

type ranked struct {
	*tiktoken.Tiktoken
	hasSpecial bool
}

func loadTiktoken(written map[string]json.RawMessage) any {
	content, ok := written["vocab.tiktoken"]
	need(ok, "the model is not written as vocab.tiktoken")
	var model struct {
		Files  map[string]string
		Beside map[string]json.RawMessage
	}
	read(content, &model)
	var beside struct {
		Pattern      *string
		PreTokenizer struct {
			Type           string
			UseRegex       *bool `json:"use_regex"`
			AddPrefixSpace bool  `json:"add_prefix_space"`
		} `json:"pre_tokenizer"`
		PostProcessor struct{ Type string } `json:"post_processor"`
		SpecialTokens map[string]int        `json:"special_tokens"`
		AddedTokens   []struct {
			Content                    string
			Id                         int
			Special                    *bool
			Normalized, Lstrip, Rstrip bool
			SingleWord                 bool `json:"single_word"`
		} `json:"added_tokens"`
	}
	for key, value := range model.Beside {
		switch key {
		case "type", "pre_tokenizer", "decoder", "special_tokens", "added_tokens", "post_processor", "pattern":
		default:
			need(string(value) == "null" || string(value) == "false", "no place for "+key)
		}
	}
	rest, err := json.Marshal(model.Beside)
	check(err)
	read(rest, &beside)
	post, stage := beside.PostProcessor.Type, beside.PreTokenizer
	need(post == "" || post == "byte_level", "no post-processor") // that of bytes changes spans alone
	special, set := beside.SpecialTokens, map[string]any{}
	if special == nil {
		special = map[string]int{}
	}
	for _, token := range beside.AddedTokens {
		need(token.Special == nil || *token.Special, "no added tokens that are not special")
		need(!(token.Normalized || token.Lstrip || token.Rstrip || token.SingleWord), "no flags of added tokens")
		special[token.Content] = token.Id
	}
	for token := range special {
		set[token] = true
	}
	pattern := gpt2
	if beside.Pattern != nil {
		pattern = *beside.Pattern
	} else {
		need(stage.Type == "byte_level" && !stage.AddPrefixSpace, "no such pre-tokenizer")
		if stage.UseRegex != nil && !*stage.UseRegex {
			pattern = `[\s\S]+`
		}
	}
	made, err := tiktoken.NewCoreBPE(ranksOf(model.Files["vocab.tiktoken"]), special, pattern)
	check(err)
	return ranked{tiktoken.NewTiktoken(made, nil, set), len(special) > 0}
}

// ranksOf reads a file of ranks by the library's loader, which keeps copies: those go with the folder.
func ranksOf(file string) map[string]int {
	folder, err := os.MkdirTemp("", "raw")
	check(err)
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "vocab.tiktoken")
	check(os.WriteFile(path, []byte(file), 0o600))
	check(os.Setenv("TIKTOKEN_CACHE_DIR", folder))
	ranks, err := tiktoken.NewDefaultBpeLoader().LoadTiktokenBpe(path)
	check(err)
	return ranks
}

func askTiktoken(tokenizing any, operation string, given input) object {
	made := tokenizing.(ranked)
	need(given.Pair == nil && given.AddSpecialTokens == nil && given.SkipSpecialTokens == nil, "no such option")
	switch operation {
	case "encode":
		disallowed := contents(given.DisallowedSpecial)
		if !made.hasSpecial && len(disallowed) == 0 { // its search for special tokens would not end
			return object{"ids": list(made.EncodeOrdinary(given.Text))}
		}
		allowed := []string{"all"}
		if given.AllowedSpecial != nil {
			allowed = contents(given.AllowedSpecial)
		}
		return object{"ids": list(made.Encode(given.Text, allowed, disallowed))}
	case "decode":
		need(given.Tokens == nil, "decodes ids alone")
		return object{"text": made.Decode(given.Ids)}
	case "decode_bytes":
		return object{"bytes": hex.EncodeToString([]byte(made.Decode(given.Ids)))}
	}
	panic(notOffered("no operation " + operation))
}

// contents makes a list of "all" or the contents of special tokens, as the library takes them.
func contents(choice any) []string {
	var found []string
	if all, ok := choice.(string); ok {
		return []string{all}
	}
	listed, _ := choice.([]any)
	for _, token := range listed {
		found = append(found, token.(string))
	}
	return found
}

// eliben/go-sentencepiece

type pieces struct {
	*sentencepiece.Processor
	decoder string
}

func loadSentencePiece(written map[string]json.RawMessage) any {
	content, ok := written["sentencepiece.model"]
	need(ok, "the model is not written as sentencepiece.model")
	var model struct {
		Files  map[string]map[string][]byte
		Beside struct{ Decoder struct{ Type string } }
	}
	read(content, &model)
	folder, err := os.MkdirTemp("", "raw")
	check(err)
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "tokenizer.model")
	check(os.WriteFile(path, model.Files["sentencepiece.model"]["base64"], 0o600))
	made, err := sentencepiece.NewProcessorFromPath(path)
	check(err)
	return pieces{made, model.Beside.Decoder.Type}
}

func askSentencePiece(tokenizing any, operation string, given input) object {
	made := tokenizing.(pieces)
	need(given.Pair == nil && given.AddSpecialTokens == nil && given.SkipSpecialTokens == nil, "no such option")
	need(given.AllowedSpecial == nil && given.DisallowedSpecial == nil, "chooses no special tokens")
	switch operation {
	case "encode":
		tokens := made.Encode(given.Text)
		return object{
			"tokens": each(tokens, func(token sentencepiece.Token) string { return token.Text }),
			"ids":    each(tokens, func(token sentencepiece.Token) int { return token.ID }),
		}
	case "decode":
		need(given.Tokens == nil, "decodes ids alone")
		need(made.decoder == "" || made.decoder == "metaspace" || made.decoder == "sentencepiece", "no such decoder")
		tokens := each(given.Ids, func(id int) sentencepiece.Token { return sentencepiece.Token{ID: id} })
		return object{"text": made.DecodeTokens(tokens)}
	}
	panic(notOffered("no operation " + operation))
}

// The program

var made = map[string]any{}

func answer(line []byte, asked request) object {
	need(!bytes.Contains(line, []byte(`{"hex": "`)), "strings are of UTF-8")
	var given input
	read(asked.Input, &given)
	key := asked.Library + " " + string(asked.Model)
	if _, ok := made[key]; !ok {
		loaded := libraries[asked.Library].load(asked.Written)
		if len(made) >= remembers {
			clear(made)
		}
		made[key] = loaded
	}
	return libraries[asked.Library].ask(made[key], asked.Operation, given)
}

func reply(line []byte, asked request) (said object) {
	defer func() {
		switch caught := recover().(type) {
		case nil:
		case notOffered:
			said = object{"not_offered": string(caught)}
		case refused:
			said = object{"error": "error: " + caught.Error()}
		default:
			said = object{"error": fmt.Sprintf("PanicException: %v", caught)}
			if _, ok := caught.(string); ok && asked.Library == "pkoukk/tiktoken-go" { // so it refuses a special token
				said = object{"error": fmt.Sprintf("panic: %v", caught)}
			}
		}
	}()
	return object{"answer": answer(line, asked)}
}

func main() {
	out := json.NewEncoder(os.Stdout)
	os.Stdout = nil // the libraries write there
	log.SetOutput(io.Discard)
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked request
		read(line, &asked)
		done := make(chan object, 1)
		go func() { done <- reply(line, asked) }()
		select {
		case said := <-done:
			if out.Encode(said) != nil {
				return
			}
		case <-time.After(patience):
			os.Exit(1)
		}
	}
}
