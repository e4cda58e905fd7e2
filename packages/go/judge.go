package tokspec

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
)

type judge[Model any] struct {
	adapter Adapter[Model]
	*bundle
	models  map[string]loaded[Model]
	choices map[string]string
	origin  origin
	known   knownFailures
}

// asOrigin is the verdict on a reply that is not as specified, and is that of the origin that Hello.Like names.
const asOrigin = "as the origin"

// loaded is a model, or why there is none.
type loaded[Model any] struct {
	model  Model
	format string
	err    error
}

// judged is a verdict with a detail, and what a known failure is told by.
type judged struct {
	verdict, detail string
	seen            []any
}

var (
	severity = []string{"crash", "error", "fail", asOrigin, "unsupported", "pass"}
	training = []string{"train", "training_trace", "training_state", "best_pair", "prune_step"}
)

// judge returns the verdict on a case and a detail, known failures considered.
func (j judge[Model]) judge(one testCase) (verdict, detail string) {
	var found judged
	switch {
	case one.swept != nil:
		found.verdict, found.detail = j.judgeSweep(one)
	case one.Rows == nil:
		found = j.judgeQuestion(one, one.ID)
	default:
		found = j.judgeTable(one)
	}
	entry, isListed := j.known.entries[one.ID]
	switch {
	case isListed && (found.verdict == "pass" || found.verdict == asOrigin):
		return "unexpected pass", "passes, and is listed as if it did not"
	case !isListed || found.verdict == "unsupported":
		return found.verdict, found.detail
	case entry.lists(found):
		reason, err := j.reasonOf(entry)
		if err != nil {
			return "fail", err.Error()
		}
		return "known failure", reason
	}
	return found.verdict, found.detail + " (and not as it is listed)"
}

// judgeTable judges each row; the table comes to the worst of them, and is listed by all that fail.
func (j judge[Model]) judgeTable(one testCase) judged {
	worst, failing := judged{}, []any{}
	for index, row := range one.Rows {
		one.question = row
		found := j.judgeQuestion(one, fmt.Sprintf("%s#%d", one.ID, index+1))
		rank := slices.Index(severity, found.verdict)
		if rank < slices.Index(severity, asOrigin) {
			failing = append(failing, append([]any{index + 1}, found.seen...))
		}
		if index == 0 || rank < slices.Index(severity, worst.verdict) {
			worst = found
			worst.detail = fmt.Sprintf("row %d: %s", index+1, found.detail)
		}
	}
	if len(failing) > 0 {
		worst.seen = failing
	}
	return worst
}

// judgeQuestion judges a case or a row. A model that is refused though all its components are declared is unsupported,
// or an error. tokspec run tells which by asking without them; here it is an error where the known failures list one.
func (j judge[Model]) judgeQuestion(one testCase, id string) judged {
	result, err := j.ask(one)
	verdict, detail := j.judgeReply(one, result, err)
	if slices.Index(severity, verdict) < slices.Index(severity, asOrigin) {
		if reason := j.explain(id, one, result, err); reason != "" {
			verdict, detail = asOrigin, reason
		}
	}
	isError := verdict == "unsupported" && j.known.entries[one.ID]["verdict"] == "error"
	if isError && j.refusesDeclared(one) {
		verdict = "error"
	}
	seen := result
	if refusal, is := j.refusal(err); is {
		seen = refusal.Reason
	} else if err != nil {
		seen = "crash"
	}
	return judged{verdict, detail, []any{verdict, seen}}
}

// resolve returns what is right under the choices.
func (j judge[Model]) resolve(right outcome) outcome {
	for len(right.ByChoice) > 0 {
		for name, options := range right.ByChoice { // there is one
			right = options[j.choices[name]]
		}
	}
	return right
}

func (j judge[Model]) judgeReply(one testCase, result any, err error) (verdict, detail string) {
	right := j.resolve(one.Outcome)
	due := "a result is due"
	if right.Error != "" {
		due = fmt.Sprintf("a refusal as %s is due", right.Error)
	}
	refusal, isRefused := j.refusal(err)
	switch {
	case isRefused && refusal.Reason == "unsupported":
		return "unsupported", refusal.Message
	case isRefused && refusal.Reason == right.Error:
		return "pass", ""
	case isRefused:
		return "error", fmt.Sprintf("refused as %s where %s: %s", refusal.Reason, due, refusal.Message)
	case err != nil:
		return "crash", err.Error()
	case right.Error != "":
		return "fail", fmt.Sprintf("answers where %s: %s", due, inJSON(result))
	}
	wanted := right.OneOf
	if wanted == nil {
		wanted = []any{right.Expect}
	}
	return judgeAnswer(one, wanted, result, j.adapter.Hello, j.choices["offset_unit"])
}

// refusal returns the refusal that an error is; any other error is a crash.
func (j judge[Model]) refusal(err error) (Refusal, bool) {
	var refusal Refusal
	return refusal, errors.As(err, &refusal) && slices.Contains(j.Reasons, refusal.Reason)
}

// ask returns the result as JSON carries it.
func (j judge[Model]) ask(one testCase) (any, error) {
	if reason := j.findUnoffered(one); reason != "" {
		return nil, Unsupported(reason)
	}
	if _, is := j.models[one.ModelName]; !is {
		model, format, err := j.load(one)
		j.models[one.ModelName] = loaded[Model]{model, format, err}
	}
	found := j.models[one.ModelName]
	if found.err != nil {
		return nil, found.err
	}
	if limit := one.Limits[found.format]; limit != "" {
		return nil, Unsupported(limit)
	}
	return attempt(func() (result any, err error) {
		answer, err := j.adapter.Operations[one.Operation](found.model, slices.Clone(one.Input))
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(answer)
		if err != nil {
			return nil, err
		}
		return result, decode(text, &result)
	})
}

func (j judge[Model]) findUnoffered(one testCase) string {
	hello := j.adapter.Hello
	if j.adapter.Operations[one.Operation] == nil {
		return "does not offer " + one.Operation
	}
	if slices.Contains(training, one.Operation) {
		var model struct{ Type string }
		if json.Unmarshal(one.Model, &model) == nil && hello.OtherTrainers[model.Type] != "" {
			return fmt.Sprintf("trains %s by another algorithm: %s", model.Type, hello.OtherTrainers[model.Type])
		}
	}
	unknown := []string{}
	for _, name := range one.Options {
		if !slices.Contains(hello.EncodeOptions, name) && !slices.Contains(hello.DecodeOptions, name) {
			unknown = append(unknown, name)
		}
	}
	if !hello.ReadsFile {
		unknown = append(unknown, j.findUndeclared(one)...)
	}
	if len(unknown) > 0 {
		return "does not know " + strings.Join(unknown, ", ")
	}
	return ""
}

func (j judge[Model]) findUndeclared(one testCase) (unknown []string) {
	for _, name := range one.Components {
		covers := func(each string) bool { return strings.HasPrefix(name+"/", each+"/") }
		if !slices.ContainsFunc(j.adapter.Hello.Components, covers) {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

// load loads a model in the first of the formats that can express it, and names it. A library that reads files gets what it does not
// declare too, but for the form that is no library's file. If it refuses that, it is unsupported.
func (j judge[Model]) load(one testCase) (none Model, _ string, err error) {
	reasons, unknown := []string{}, j.findUndeclared(one)
	for _, format := range j.adapter.Hello.Formats {
		written, is := j.Models[format][one.ModelName]
		switch {
		case format == "tokspec" && unknown != nil:
			reasons = append(reasons, "does not know "+strings.Join(unknown, ", "))
		case !is:
			reasons = append(reasons, "no models in this format are here")
		case written.Content == nil:
			reasons = append(reasons, written.Unsupported)
		default:
			model, err := attempt(func() (Model, error) { return j.adapter.Load(format, slices.Clone(written.Content)) })
			if refusal, is := j.refusal(err); is && unknown != nil {
				err = Unsupported(refusal.Message)
			}
			return model, format, err
		}
	}
	return none, "", Unsupported(strings.Join(reasons, "; "))
}

// refusesDeclared is whether a library that reads files refused a model of which it declares every component.
func (j judge[Model]) refusesDeclared(one testCase) bool {
	_, isRefused := j.refusal(j.models[one.ModelName].err)
	isDeclared := len(one.Components) > 0 && j.findUndeclared(one) == nil
	return j.adapter.Hello.ReadsFile && isRefused && isDeclared && j.findUnoffered(one) == ""
}

// stackLines is how much of a stack is shown; a model that panics does so for each of its cases.
const stackLines = 16

// attempt makes a panic an error. os.Exit(0) is a panic too in a test.
func attempt[T any](call func() (T, error)) (result T, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			stack := strings.SplitN(string(debug.Stack()), "\n", stackLines+1)
			for index, line := range stack {
				stack[index] = strings.TrimSpace(line)
			}
			err = fmt.Errorf("panic: %v | %s", panicked, strings.Join(stack[:min(len(stack), stackLines)], " | "))
		}
	}()
	return call()
}
