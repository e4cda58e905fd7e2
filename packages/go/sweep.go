package tokspec

// Sweeps: every entry of a vocabulary is asked, and the answers of each 64 are compared by a digest (docs/packs.md).

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

const blockSize = 64

var sweepParts = []string{"texts", "ids", "pairs"}

var sweepWhys = map[string]string{
	"texts": "each of the ids %d to %d, decoded alone",
	"ids":   "the texts of the ids %d to %d; most come back as one id",
	"pairs": "the texts of the ids %d to %d, each with another after it; most come back as two ids",
}

// sweep is that of a pack: four digits for each part of each block, "...." where the makers of the pack do not agree.
type sweep struct {
	Size, Step        int
	AddSpecialTokens  *bool `json:"add_special_tokens"`
	Texts, IDs, Pairs string
	blocks            map[int]block
}

// swept is the part and the block that a case is about.
type swept struct {
	part   string
	number int
}

// block has what each of its ids alone is decoded to, "" where that is not a text of the sweep.
type block struct {
	texts   []string
	isRight bool
	err     error // why the first id has no text
}

func (s *sweep) cases(name, file string) (made []testCase, err error) {
	s.blocks = map[int]block{}
	digits := 4 * ((s.Size + blockSize - 1) / blockSize)
	for part, due := range map[string]string{"texts": s.Texts, "ids": s.IDs, "pairs": s.Pairs} {
		if len(due) != digits {
			return nil, fmt.Errorf("%s:1: sweep.%s has %d digits; %d ids need %d", file, part, len(due), s.Size, digits)
		}
	}
	for _, part := range sweepParts {
		for number := 0; number*blockSize < s.Size; number++ {
			// the digest of one part may be that of nothing by chance
			hasTexts := func(part string) bool { return s.due(swept{part, number}) != digest(nil) }
			if s.due(swept{part, number}) == "...." || !slices.ContainsFunc(sweepParts, hasTexts) {
				continue
			}
			one := testCase{Operation: "encode", Clauses: []string{"ENC-1"}, ModelName: name, File: file, Line: 1}
			if part == "texts" {
				one.Operation, one.Clauses = "decode", []string{"DEC-7"}
			}
			one.ID = fmt.Sprintf("%s-%s-%04d", name, part, number)
			one.Why = fmt.Sprintf(sweepWhys[part], number*blockSize, min(s.Size, (number+1)*blockSize)-1)
			one.swept = &swept{part, number}
			made = append(made, one)
		}
	}
	return made, nil
}

func (s *sweep) due(of swept) string {
	digits := map[string]string{"texts": s.Texts, "ids": s.IDs, "pairs": s.Pairs}[of.part]
	return digits[4*of.number : 4*of.number+4]
}

func (j judge[Model]) judgeSweep(one testCase) (verdict, detail string) {
	of, found, shown := *one.swept, []byte{}, []string{}
	if own := j.block(one, of.number); of.part == "texts" {
		if own.err != nil && strings.Join(own.texts, "") == "" {
			return j.judgeReply(one, nil, own.err)
		}
		for index, text := range own.texts {
			if text != "" {
				found = append(append(found, text...), 0)
				shown = append(shown, fmt.Sprintf("%d %s", of.number*blockSize+index, inJSON(text)))
			}
		}
		return j.compareDigest(of, found, shown)
	}
	if !slices.Contains(j.adapter.Hello.EncodeFields, "ids") {
		return "unsupported", "gives no ids"
	}
	texts, wrong := j.textsOf(one)
	if wrong >= 0 {
		return "unsupported", fmt.Sprintf("the texts of block %d are wrong or not decoded, so these ids cannot be judged", wrong)
	}
	for _, text := range texts {
		input := object{"text": text}
		if slices.Contains(j.adapter.Hello.EncodeOptions, "add_special_tokens") && j.Sweep.AddSpecialTokens != nil {
			input["add_special_tokens"] = *j.Sweep.AddSpecialTokens
		}
		one.Input, _ = json.Marshal(input)
		result, err := j.ask(one)
		if err != nil {
			verdict, detail = j.judgeReply(one, nil, err)
			return verdict, inJSON(text) + ": " + detail
		}
		answer, _ := result.(object)
		for _, id := range asList(answer["ids"]) {
			found = binary.LittleEndian.AppendUint32(found, asID(id))
		}
		found, shown = append(found, 0xff, 0xff, 0xff, 0xff), append(shown, inJSON(text)+" "+inJSON(answer["ids"]))
	}
	return j.compareDigest(of, found, shown)
}

// textsOf returns the texts that a case encodes, or a block of which they are and whose texts are wrong, else -1.
func (j judge[Model]) textsOf(one testCase) (texts []string, wrong int) {
	first := one.swept.number * blockSize
	own := j.block(one, one.swept.number)
	if !own.isRight {
		return nil, one.swept.number
	}
	for index, text := range own.texts {
		if one.swept.part == "pairs" && text != "" {
			partner := int(int64(first+index) * int64(j.Sweep.Step) % int64(j.Sweep.Size))
			other := j.block(one, partner/blockSize)
			if !other.isRight {
				return nil, partner / blockSize
			}
			second := other.texts[partner%blockSize]
			if text += second; second == "" {
				text = ""
			}
		}
		if text != "" {
			texts = append(texts, text)
		}
	}
	return texts, -1
}

// block decodes the ids of a block, once.
func (j judge[Model]) block(one testCase, number int) block {
	if made, is := j.Sweep.blocks[number]; is {
		return made
	}
	made, found := block{}, []byte{}
	one.Operation = "decode"
	for id := number * blockSize; id < min(j.Sweep.Size, (number+1)*blockSize); id++ {
		one.Input, _ = json.Marshal(object{"ids": []int{id}})
		result, err := j.ask(one)
		if id == number*blockSize {
			made.err = err
		}
		answer, _ := result.(object)
		text, _ := answer["text"].(string)
		if strings.Contains(text, "\ufffd") { // which encoding/json reads instead of a lone surrogate, too
			text = ""
		}
		if made.texts = append(made.texts, text); text != "" {
			found = append(append(found, text...), 0)
		}
	}
	made.isRight = digest(found) == j.Sweep.due(swept{"texts", number})
	j.Sweep.blocks[number] = made
	return made
}

func (j judge[Model]) compareDigest(of swept, found []byte, shown []string) (verdict, detail string) {
	if due := j.Sweep.due(of); digest(found) != due {
		return "fail", fmt.Sprintf("the digest %s of these is not %s: %s", digest(found), due, strings.Join(shown, ", "))
	}
	return "pass", ""
}

func asID(value any) uint32 {
	number, _ := value.(json.Number)
	id, err := number.Float64()
	if err != nil {
		return ^uint32(0)
	}
	return uint32(int64(id))
}

// digest is 16 bits of FNV-1a in 32 bits: the upper half xor the lower one.
func digest(found []byte) string {
	hash := fnv.New32a()
	hash.Write(found)
	return fmt.Sprintf("%04x", (hash.Sum32()>>16^hash.Sum32())&0xffff)
}
