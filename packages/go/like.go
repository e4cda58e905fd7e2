package tokspec

// Origins: libraries that formats come from. A tokenizer that wants to equal one may answer as it does (docs/cases.md).

import (
	"fmt"
	"maps"
	"strings"
)

// origin is one release of a library, and what it answers where that is not as specified.
type origin struct {
	Origin, Version string
	Choices         map[string]string
	Answers         []struct {
		Reason string
		Cases  map[string]originAnswer // by the id of a case or of a row
	}
}

// originAnswer has one of a result, of the fields that differ, the reason of a refusal, and the kind of a fault.
type originAnswer struct {
	Result         object
	Refused, Fault string
}

// findOrigin returns the origin of a name; without a name it has no answers.
func (b *bundle) findOrigin(name string) (origin, error) {
	known := []string{}
	for _, each := range b.Origins {
		if each.Origin == name {
			return each, nil
		}
		known = append(known, each.Origin)
	}
	if name == "" {
		return origin{}, nil
	}
	return origin{}, fmt.Errorf("like: %s is not an origin; there are %s", name, strings.Join(known, ", "))
}

func (o origin) String() string { return o.Origin + " " + o.Version }

// find returns the first answer for whose question the test holds, and its reason.
func (o origin) find(isWanted func(id string) bool) (answer originAnswer, reason string) {
	for _, group := range o.Answers {
		for id, answer := range group.Cases {
			if isWanted(id) {
				return answer, fmt.Sprintf("as %s: %s", o, group.Reason)
			}
		}
	}
	return originAnswer{}, ""
}

// explain says for what reason the origin gives this reply to a question, which is not as specified, or "". A refusal is
// as good as its crash.
func (j judge[Model]) explain(id string, one testCase, result any, err error) string {
	known, reason := j.origin.find(func(each string) bool { return each == id })
	refusal, isRefused := j.refusal(err)
	isSame := false
	switch {
	case reason == "":
	case known.Fault != "":
		isSame = isRefused || err != nil && known.Fault == "crash"
	case known.Refused != "":
		isSame = isRefused && refusal.Reason == known.Refused
	case err == nil:
		isSame = j.isResult(one, known.Result, result)
	}
	if isSame {
		return reason
	}
	return ""
}

// isResult is whether a result is that of an origin, in the fields that both give.
func (j judge[Model]) isResult(one testCase, fields object, result any) bool {
	given, isObject := result.(object)
	outcome, right := j.resolve(one.Outcome), object{}
	if len(outcome.OneOf) > 0 {
		maps.Copy(right, outcome.OneOf[0].(object))
	} else if outcome.Error == "" {
		maps.Copy(right, outcome.Expect.(object))
	}
	maps.Copy(right, fields)
	if outcome.Error != "" {
		given = maps.Clone(given)
		maps.DeleteFunc(given, func(key string, _ any) bool { return right[key] == nil })
	}
	compared := newComparison(one, j.adapter.Hello, j.choices["offset_unit"])
	right, given = compared.both(right, given)
	return isObject && len(given) > 0 && difference(right, given, compared.allowed, "") == ""
}

// reasonOf is the reason of a known failure, which may be that of an origin.
func (b *bundle) reasonOf(known entry) (string, error) {
	if known["like"] == "" {
		return known["reason"], nil
	}
	origin, err := b.findOrigin(known["like"])
	if err != nil {
		return "", err
	}
	_, reason := origin.find(func(id string) bool {
		name, _, _ := strings.Cut(id, "#")
		return name == known["case"]
	})
	if reason == "" {
		return "", fmt.Errorf("%s answers %s as specified; give the reason instead", origin, known["case"])
	}
	return reason, nil
}
