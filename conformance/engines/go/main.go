// Answers searches by Go's package regexp, which is RE2: see patterns.py for what is asked.
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		parts := strings.Split(lines.Text(), "\t")
		pattern, err := regexp.Compile(text(parts[1]))
		if err != nil {
			fmt.Println("!", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
			continue
		}
		fmt.Println(strings.Trim(fmt.Sprint(find(pattern, text(parts[2]))), "[]"))
	}
}

// find returns where matches start and end. RE2 has no look-ahead: a group "ahead" around \s+ stands for \s+(?!\S).
// It gives its last character back, unless it ends the text.
func find(pattern *regexp.Regexp, text string) (found []int) {
	ahead := pattern.SubexpIndex("ahead")
	for start := 0; ; {
		match := pattern.FindStringSubmatchIndex(text[start:])
		if match == nil {
			return found
		}
		first, end := start+match[0], start+match[1]
		if ahead >= 0 && match[2*ahead] >= 0 && end < len(text) {
			_, last := utf8.DecodeLastRuneInString(text[:end])
			if end-last > first { // of one character nothing is left: it is for the alternative \s+ that follows
				end -= last
			}
		}
		if start = end; end == first {
			return found // an empty match: no pattern here has any
		}
		found = append(found, first, end)
	}
}

func text(digits string) string {
	bytes, err := hex.DecodeString(digits)
	if err != nil {
		panic(err)
	}
	return string(bytes)
}
