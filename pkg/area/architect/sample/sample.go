// Package sample is the assistant of the sandbox. It understands plain English by fixed rules, which the guide of the
// architect lists, and takes part in a conversation as a language model does: it calls tools, and reports their
// results. It costs nothing, makes no call, and is deterministic.
package sample

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/content-automation/api/pkg/adapter/provider"
)

const help = "Tell me what you need: a new factory, a content plan, a single post or video, or how a factory is " +
	"doing. This is the sandbox: with a live key a language model answers."

type object = map[string]any

// Each text has a name and other beginnings of words that stand for it. The first text that fits applies.
var (
	types = []string{"musician band singer", "news", "entertainment entertain", "expert", "blogger blog",
		"seller shop store", "brand"}
	kinds   = []string{"carousel", "video", "story stories", "post"}
	numbers = []string{"", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
)

var languages = []struct{ name, code, currency string }{
	{"english", "en", "USD"}, {"german", "de", "EUR"}, {"spanish", "es", "EUR"}, {"french", "fr", "EUR"},
	{"italian", "it", "EUR"}, {"portuguese", "pt", "BRL"}, {"russian", "ru", "RUB"},
}

var (
	perDay   = pattern(`(?i)([0-9]{1,3}|[a-z]+)\s+(?:\pL+\s+){0,2}(?:a|per|each|every) day`)
	duration = pattern(`(?i)\b([0-9]{1,3}|one|two|three|four|five|six|seven|eight|nine|ten) (day|week)`)
	about    = pattern(`(?i)(?:^|\s)(?:about|for)\s+([^,.;:!?\n]+?)` +
		`(?:\s+in\s+(?:english|german|spanish|french|italian|portuguese|russian)\b.*)?(?:[,.;:!?\n]|$)`)
)

func pattern(p string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(p) })
}

// Assistant answers conversations.
type Assistant struct{}

var _ provider.Converser = Assistant{}

// Converse implements provider.Converser. It calls tools in its first turn, and reports their results in its second.
func (Assistant) Converse(ctx context.Context, c provider.Conversation) (provider.Turn, error) {
	turn, last := provider.Turn{Model: true}, c.Turns[len(c.Turns)-1]
	if err := ctx.Err(); err != nil {
		return provider.Turn{}, err
	}
	if len(last.Results) == 0 {
		for i, call := range understand(last.Text) {
			input, err := json.Marshal(call.input)
			if err != nil {
				return provider.Turn{}, err
			}
			turn.Calls = append(turn.Calls, provider.ToolCall{ID: "call_" + strconv.Itoa(i+1), Name: call.tool,
				Input: input})
		}
		if turn.Calls == nil {
			turn.Text = help
		}
		return turn, nil
	}
	var reports []string
	for i, r := range last.Results {
		text, err := report(c.Turns[len(c.Turns)-2].Calls[i].Name, r)
		if err != nil {
			return provider.Turn{}, err
		}
		reports = append(reports, text)
	}
	turn.Text = strings.Join(reports, "\n")
	return turn, nil
}

type call struct {
	tool  string
	input object
}

// understand returns the calls of tools that a message leads to, none if no rule fits.
func understand(text string) []call {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
	has := func(names string) bool { return named(words, names) != "" }
	making := has("make create build draft want need new")
	asking := strings.Contains(text, "?")
	of, kind, rest, posts := named(words, types...), named(words, kinds...), text, 0
	if at := perDay().FindStringSubmatchIndex(text); at != nil {
		posts = min(value(text[at[2]:at[3]]), 10)
		rest = text[:at[0]] + text[at[1]:]
	}
	subject := ""
	if match := about().FindStringSubmatch(rest); match != nil {
		subject = provider.Clip(provider.OneLine(match[1]), 60)
	}
	switch {
	case has("factory") && (making || of != "" && !asking):
		return []call{{"draft_factory", object{"body": factory(of, subject, words, posts)}}}
	case has("plan calendar") && (making || !asking):
		return []call{{"draft_content_plan", object{"body": plan(rest, subject, posts)}}}
	case kind != "" && (making || !asking):
		if subject == "" {
			subject = text
		}
		return []call{{"draft_content_item", object{"body": object{"kind": kind, "prompt": subject}}}}
	case has("proposal"):
		return []call{{"list_proposals", object{}}}
	case has("model"):
		return []call{{"list_models", object{"kind": "image"}}}
	case has("factories"):
		return []call{{"list_factories", object{}}}
	case asking:
		return []call{{"read_factory", object{}}, {"read_analytics", object{}}}
	}
	return nil
}

// named returns the name of the first text with a beginning of one of the words, "" if there is none.
func named(words []string, texts ...string) string {
	for _, text := range texts {
		beginnings := strings.Fields(text)
		for _, b := range beginnings {
			if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, b) }) {
				return beginnings[0]
			}
		}
	}
	return ""
}

// value returns the number that a word stands for, 0 if it stands for none.
func value(word string) int {
	if n, err := strconv.Atoi(word); err == nil {
		return n
	}
	return max(slices.Index(numbers, strings.ToLower(word)), 0)
}

// plan returns the body of a content plan: a week with one item a day, unless the text has other numbers.
func plan(text, subject string, posts int) object {
	body := object{"days": 7, "posts_per_day": max(posts, 1)}
	if match := duration().FindStringSubmatch(text); match != nil {
		days := value(match[1])
		if strings.EqualFold(match[2], "week") {
			days *= 7
		}
		body["days"] = min(max(days, 1), 90)
	}
	if first, _, _ := strings.Cut(subject, " "); subject != "" && value(first) == 0 { // not "for two weeks"
		body["brief"] = subject
	}
	return body
}

// factory returns the body of a factory: by default a brand in English. The times of its schedule are spread from 09:00
// to 21:00.
func factory(of, subject string, words []string, posts int) object {
	of, name, language := cmp.Or(of, "brand"), []rune(cmp.Or(subject, of, "brand")), languages[0]
	name[0] = unicode.ToUpper(name[0])
	for _, l := range languages {
		if slices.Contains(words, l.name) {
			language = l
		}
	}
	body := object{"type": of, "name": string(name), "language": language.code, "topics": []string{string(name)}}
	if subject != "" {
		body["description"] = string(name)
	}
	if posts > 0 {
		times := make([]string, posts)
		for i := range times {
			times[i] = fmt.Sprintf("%02d:00", 9+12*i/max(posts-1, 1))
		}
		body["schedule"] = object{"timezone": "UTC", "times": times}
	}
	switch of {
	case "seller":
		body["settings"] = object{"currency": language.currency}
	case "expert":
		body["settings"] = object{"field": string(name)}
	case "brand":
		body["settings"] = object{"brand_name": string(name)}
	case "musician":
		body["settings"] = object{"artist_name": string(name), "genres": []string{string(name)}}
	}
	return body
}

// report puts the result of a tool into words.
func report(tool string, result provider.ToolResult) (string, error) {
	var got struct {
		Error                        *struct{ Message string }
		Draft                        struct{ Body object }
		Factory                      struct{ Name, Type string }
		Factories, Proposals, Models []struct{ ID, Name, Title string }
		Analytics                    struct {
			Totals struct{ Made, Failed, Published int64 }
		}
	}
	if err := json.Unmarshal(result.Content, &got); err != nil {
		return "", fmt.Errorf("sample: result of %s: %w", tool, err)
	}
	var all []string
	for _, r := range slices.Concat(got.Factories, got.Proposals, got.Models) {
		all = append(all, fmt.Sprintf("%s%s (%s)", r.Name, r.Title, r.ID))
	}
	const next = " Check it, change what you like, and apply it."
	body, totals := got.Draft.Body, got.Analytics.Totals
	switch {
	case got.Error != nil:
		return "That does not work: " + got.Error.Message, nil
	case tool == "draft_factory":
		return fmt.Sprintf("I have drafted the factory “%v”.", body["name"]) + next, nil
	case tool == "draft_content_plan":
		return fmt.Sprintf("I have drafted a content plan of %v days with %v items a day.", body["days"],
			body["posts_per_day"]) + next, nil
	case tool == "draft_content_item":
		return fmt.Sprintf("I have drafted a content item: “%v”.", body["prompt"]) + next, nil
	case tool == "read_factory":
		return fmt.Sprintf("The chat is about the factory “%s”, a %s.", got.Factory.Name, got.Factory.Type), nil
	case tool == "read_analytics":
		return fmt.Sprintf("In the last 30 days it has made %d items; %d attempts failed, and there were %d "+
			"publications.",
			totals.Made, totals.Failed, totals.Published), nil
	}
	return fmt.Sprintf("I have found %d: %s", len(all), strings.Join(all, ", ")), nil
}
