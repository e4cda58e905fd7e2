// An adapter for the streams of github.com/ollama/ollama. Its tokenizers are a package, and what it knows of stops is a
// file, which build.sh takes out of its module. How its runner uses them is in functions of the runner alone, and stands
// here as it stands there: runner/ollamarunner/runner.go, computeBatch, flushPending and removeSequence.
package main

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/ollama/ollama/tokenizer"

	"tokspec.example/adapters/ollama/common"
	"tokspec.example/adapters/protocol"
)

// model is what the adapter knows of a model: the values of its vocabulary, their types, and how they are decoded.
type model struct {
	values []string
	types  []int32
	bytes  bool
}

// tokenizer makes the library's tokenizer, whose vocabulary knows the ids that end a text.
func (m model) tokenizer(ends []int) tokenizer.Tokenizer {
	vocabulary := tokenizer.Vocabulary{Values: m.values, Types: m.types, Scores: make([]float32, len(m.values))}
	for _, id := range ends {
		vocabulary.EOS = append(vocabulary.EOS, int32(id))
	}
	if m.bytes {
		return tokenizer.NewBytePairEncoding(&vocabulary)
	}
	return tokenizer.NewSentencePiece(&vocabulary)
}

func load(_ string, content json.RawMessage) (model, error) {
	var told struct {
		Type       string   `json:"type"`
		Vocabulary []string `json:"vocabulary"`
		Special    []string `json:"special_tokens"`
		Decoder    struct {
			Type string `json:"type"`
		} `json:"decoder"`
	}
	if err := json.Unmarshal(content, &told); err != nil {
		return model{}, protocol.Unsupported("%v", err)
	}
	if told.Type != "bpe" {
		return model{}, protocol.Unsupported("is given models of BPE")
	}
	made := model{values: told.Vocabulary, bytes: told.Decoder.Type == "byte_level"}
	if !made.bytes && told.Decoder.Type != "fuse" {
		return model{}, protocol.Unsupported("decodes as BytePairEncoding and SentencePiece do, and not as %s", told.Decoder.Type)
	}
	special := map[string]bool{}
	for _, token := range told.Special {
		special[token] = true
	}
	for _, token := range told.Vocabulary {
		if !made.bytes && (strings.Contains(token, "▁") || strings.HasPrefix(token, "<0x")) {
			return model{}, protocol.Unsupported("decodes %s by SentencePiece as another text than fuse does", token)
		}
		kind := int32(tokenizer.TOKEN_TYPE_NORMAL)
		if special[token] {
			kind = tokenizer.TOKEN_TYPE_CONTROL
		}
		made.types = append(made.types, kind)
	}
	return made, nil
}

// sequence is what the runner keeps of a text that it makes.
type sequence struct {
	pendingResponses []string
	stop             []string
	responses        []string
	stopped          any // the stop or the token, where it was removed for one
	removed          bool
}

func (seq *sequence) flushPending() {
	joined := strings.Join(seq.pendingResponses, "")
	seq.pendingResponses = []string{}
	for !utf8.ValidString(joined) {
		joined = joined[:len(joined)-1]
	}
	if len(joined) == 0 {
		return
	}
	seq.responses = append(seq.responses, joined)
}

func (seq *sequence) remove(stopped any) {
	seq.flushPending()
	seq.stopped, seq.removed = stopped, true
}

// add does what the runner does with a token that was sampled.
func (seq *sequence) add(processor tokenizer.Tokenizer, token int32) error {
	if processor.Is(token, tokenizer.SpecialEOS) {
		seq.remove(token)
		return nil
	}
	piece, err := processor.Decode([]int32{token})
	if err != nil {
		return err
	}
	seq.pendingResponses = append(seq.pendingResponses, piece)
	text := strings.Join(seq.pendingResponses, "")
	if ok, stop := common.FindStop(text, seq.stop); ok {
		seq.pendingResponses, _ = common.TruncateStop(seq.pendingResponses, stop)
		seq.remove(stop)
		return nil
	}
	if common.ContainsStopSuffix(text, seq.stop) {
		return nil
	}
	if common.IncompleteUnicode(text) {
		return nil
	}
	seq.flushPending()
	return nil
}

// taken gives the text of the responses that came since it was asked last.
func (seq *sequence) taken() string {
	text := strings.Join(seq.responses, "")
	seq.responses = nil
	return text
}

func run(m model, input protocol.Input) (protocol.Result, error) {
	steps := input.IDSteps
	for _, id := range input.IDs {
		steps = append(steps, []int{id})
	}
	for _, step := range append(steps, input.Beside, input.StopIDs) {
		for _, id := range step {
			if int(int32(id)) != id {
				return nil, protocol.Unsupported("has ids of 32 bits")
			}
		}
	}
	processor := m.tokenizer(input.StopIDs)
	seq, other := &sequence{stop: input.Stops}, &sequence{}
	parts := []string{}
	for place, step := range steps {
		if place < len(input.Beside) {
			if err := other.add(processor, int32(input.Beside[place])); err != nil {
				return nil, err
			}
		}
		for _, id := range step {
			if seq.removed {
				break
			}
			if err := seq.add(processor, int32(id)); err != nil {
				return nil, err
			}
		}
		parts = append(parts, seq.taken())
	}
	if !seq.removed {
		seq.remove(nil)
	}
	return protocol.Result{"parts": parts, "end": seq.taken(), "stopped": seq.stopped}, nil
}

func decodeStream(m model, input protocol.Input) (protocol.Result, error) {
	if !input.End {
		return nil, protocol.Unsupported("has streams that are ended, and holds text back until then")
	}
	result, err := run(m, input)
	delete(result, "stopped")
	return result, err
}

func main() {
	protocol.Serve(protocol.Adapter[model]{
		Hello: protocol.Result{
			"name":           "ollama",
			"version":        protocol.Version("github.com/ollama/ollama"),
			"formats":        []string{"tokspec"},
			"components":     []string{"decoder/fuse"},
			"decode_options": []string{"id_steps", "end", "beside", "stop_ids"},
		},
		Load: load,
		Operations: map[string]func(model, protocol.Input) (protocol.Result, error){
			"decode_stream": decodeStream,
			"decode_until":  run,
		},
	})
}
