package tokspec

// Packs: texts, and what a tokenizer made of them, read as cases whose model is the user's file (docs/packs.md).

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// pack is its header, and its lines as cases.
type pack struct {
	Form    int `json:"tokspec_recording"`
	Old     int `json:"tokspec_pack"`
	Name    string
	Model   struct{ SHA256 string }
	Files   map[string]string
	Sweep   *sweep
	file    string
	seen    map[string]bool
	*bundle `json:"-"`
}

const ending = ".pack.jsonl"

// readPack reads the pack that is a file or has a name, as cases for a tokenizer that offers hello.
func readPack(word string, hello Hello) (pack, error) {
	text, err := os.ReadFile(word)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = files.ReadFile("packs/" + word + ending)
	}
	if err != nil {
		names, _ := fs.Glob(files, "packs/*")
		there := strings.NewReplacer("packs/", "", ending, "").Replace(strings.Join(names, ", "))
		return pack{}, fmt.Errorf("%s is neither a file nor a pack; there are %s", word, there)
	}
	all, made := readBundle(), pack{file: word, seen: map[string]bool{}}
	made.bundle = &bundle{Choices: all.Choices, Reasons: all.Reasons, Operations: all.Operations, Origins: all.Origins}
	for index, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		err = made.addLine(word, line, index+1, hello)
		if err != nil {
			return pack{}, fmt.Errorf("%s:%d: %w", word, index+1, err)
		}
	}
	for index := range made.Cases {
		made.Cases[index].File = word
	}
	return made, nil
}

// addLine reads the header, or adds what is asked of a line: to encode its text, and to decode its ids unless it says
// otherwise. A tokenizer without the option add_special_tokens is taken to add nothing.
func (p *pack) addLine(file string, text []byte, number int, hello Hello) error {
	if number == 1 {
		if err := json.Unmarshal(text, p); err != nil || (p.Form != 2 && p.Old != 1) {
			return errors.New("is not the header of a pack")
		}
		if p.Name == "" {
			p.Name, _, _ = strings.Cut(filepath.Base(file), ".")
		}
		return nil
	}
	var line map[string]json.RawMessage
	var why string
	if err := json.Unmarshal(text, &line); err != nil {
		return err
	}
	if ids, is := line["ids"]; !is || bytes.Contains(ids, []byte("null")) { // the footer, or what was refused
		return nil
	}
	_ = json.Unmarshal([]byte(cmp.Or(string(line["why"]), string(line["from"]))), &why) // it may have neither
	asked, _ := json.Marshal(pick(line, "text", "pair", "add_special_tokens", "allowed_special"))
	if p.seen[string(asked)] { // a line that asks what an earlier one asked counts once
		return nil
	}
	p.seen[string(asked)] = true
	if !slices.Contains(hello.EncodeOptions, "add_special_tokens") && string(line["add_special_tokens"]) == "false" {
		delete(line, "add_special_tokens")
	}
	ask := func(operation, clause string, input, right map[string]json.RawMessage) error {
		one := testCase{Operation: operation, Clauses: []string{clause}, Why: why, ModelName: p.Name, Line: number}
		one.ID = fmt.Sprintf("%s-%04d-%s", p.Name, number, operation)
		one.Input, _ = json.Marshal(input)
		one.Options = slices.DeleteFunc(slices.Sorted(maps.Keys(input)), func(name string) bool {
			return name == "text" || name == "ids"
		})
		written, _ := json.Marshal(right)
		p.Cases = append(p.Cases, one)
		return decode(written, &p.Cases[len(p.Cases)-1].Outcome.Expect)
	}
	right := pick(line, "ids", "type_ids")
	err := ask("encode", "ENC-1", pick(line, "text", "pair", "add_special_tokens", "allowed_special"), right)
	decoded, is := line["decoded"]
	if !is {
		decoded = line["text"]
	}
	if string(decoded) != "null" {
		err = errors.Join(err, ask("decode", "DEC-7", pick(line, "ids"), map[string]json.RawMessage{"text": decoded}))
	}
	return err
}

func pick(from map[string]json.RawMessage, names ...string) map[string]json.RawMessage {
	picked := maps.Clone(from)
	maps.DeleteFunc(picked, func(name string, _ json.RawMessage) bool { return !slices.Contains(names, name) })
	return picked
}

// setModel makes a tokenizer.json the model, and says where it is not the one that the pack was made from. If it is,
// the cases of the sweep are added.
func (p *pack) setModel(file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !json.Valid(content) {
		return fmt.Errorf("%s is not a tokenizer.json: it is not JSON", file)
	}
	digest := fmt.Sprintf("%x", sha256.Sum256(content))
	isOf := digest == p.Model.SHA256 || slices.Contains(slices.Collect(maps.Values(p.Files)), digest)
	switch {
	case isOf && p.Sweep != nil:
		p.bundle.Sweep = p.Sweep
		cases, err := p.Sweep.cases(p.Name, p.file)
		if err != nil {
			return err
		}
		p.Cases = append(p.Cases, cases...)
	case !isOf && p.Sweep != nil:
		fmt.Fprintf(os.Stderr, "%s is not the file that the pack %s was made from, so its sweep is left out\n", file, p.Name)
	case !isOf:
		fmt.Fprintf(os.Stderr, "%s is not the file that the pack %s was made from\n", file, p.Name)
	}
	p.Models = map[string]map[string]writtenModel{"tokenizer.json": {p.Name: {Content: content}}}
	return nil
}
