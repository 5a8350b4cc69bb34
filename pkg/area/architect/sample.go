package architect

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/samples"
)

type object = map[string]any

// currencies are the currencies of shops, by language.
var currencies = map[string]string{"en": "USD", "pt": "BRL", "ru": "RUB"}

// SampleAssistant answers conversations.
type SampleAssistant struct{}

var _ provider.Converser = SampleAssistant{}

type call struct {
	tool  string
	input object
}

// ofFactory reports whether a tool needs a factory.
func (c call) ofFactory() bool {
	return !slices.Contains([]string{"draft_factory", "list_factories", "list_models"}, c.tool)
}

// NoFactory is a part of the system prompt of a chat that is about no factory. Such a chat is about the newest one.
const NoFactory = "about no factory yet"

// Converse implements provider.Converser. It calls tools in its first turn, and reports their results in its second. In
// a chat about no factory, it looks for one before.
func (SampleAssistant) Converse(ctx context.Context, c provider.Conversation) (turn provider.Turn, err error) {
	if err := ctx.Err(); err != nil {
		return turn, err
	}
	turn.Model = true
	last, first := len(c.Turns)-1, len(c.Turns)-1
	for len(c.Turns[first].Results) > 0 {
		first -= 2
	}
	text := c.Turns[first].Text
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && r != '-' })
	for _, word := range slices.Clone(words) {
		words = append(words, strings.FieldsFunc(word, func(r rune) bool { return r == '-' })...)
	}
	l := lexiconOf(words)
	calls := l.understand(text, words)
	searching := strings.Contains(c.System, NoFactory) && slices.ContainsFunc(calls, call.ofFactory)
	switch {
	case len(calls) == 0:
		turn.Text = l.Say["help"]
		return turn, nil
	case first == last && searching:
		calls = []call{{"list_factories", object{}}}
	case first == last:
	case last == first+2 && searching:
		var got struct{ Factories []struct{ ID string } }
		if err := json.Unmarshal(c.Turns[last].Results[0].Content, &got); err != nil {
			return turn, fmt.Errorf("sample: factories: %w", err)
		}
		if len(got.Factories) == 0 {
			turn.Text = l.Say["no_factory"]
			return turn, nil
		}
		for _, call := range calls {
			if call.ofFactory() {
				call.input["factory_id"] = got.Factories[0].ID
			}
		}
	default:
		turn.Text, err = l.report(c.Turns[last-1].Calls, c.Turns[last].Results)
		return turn, err
	}
	for i, call := range calls {
		input, err := json.Marshal(call.input)
		if err != nil {
			return turn, err
		}
		turn.Calls = append(turn.Calls, provider.ToolCall{ID: "call_" + strconv.Itoa(i+1), Name: call.tool,
			Input: input})
	}
	return turn, nil
}

// understand returns the calls of tools that a message leads to, none if no rule fits.
func (l *lexicon) understand(text string, words []string) []call {
	making, asking := fits(words, l.Make), strings.Contains(text, "?")
	of := named(words, l.Types, "musician", "news", "entertainment", "expert", "blogger", "seller", "brand")
	kind := named(words, l.Kinds, "carousel", "video", "story", "post")
	rest, posts := text, 0
	if at := l.perDay.FindStringSubmatchIndex(text); at != nil {
		posts = min(l.value(text[at[2]:at[3]]), 10)
		rest = text[:at[0]] + text[at[1]:]
	}
	subject, planned := l.subject(rest), l.subject(l.duration.ReplaceAllString(rest, " "))
	patch := l.change(text, words, asking)
	switch {
	case len(patch) > 0:
		return []call{{"draft_factory_change", object{"body": patch}}}
	case fits(words, l.Factory) && (making || of+subject != "" && !asking):
		return []call{{"draft_factory", object{"body": l.factory(of, subject, words, posts)}}}
	case fits(words, l.Plan) && (making || !asking):
		return []call{{"draft_content_plan", object{"body": l.plan(rest, planned, posts)}}}
	case kind != "" && (making || !asking):
		return []call{{"draft_content_item", object{"body": object{"kind": kind, "prompt": cmp.Or(subject, text)}}}}
	case fits(words, l.Proposals):
		return []call{{"list_proposals", object{}}}
	case fits(words, l.Models):
		return []call{{"list_models", object{"kind": "image"}}}
	case fits(words, l.Figures) && (asking || !fits(words, l.Factories)):
		return []call{{"read_factory", object{}}, {"read_analytics", object{}}}
	case fits(words, l.Factories):
		return []call{{"list_factories", object{}}}
	case asking:
		return []call{{"read_factory", object{}}, {"read_analytics", object{}}}
	}
	return nil
}

// subject returns what a text says that something is about, or "".
func (l *lexicon) subject(text string) string {
	if match := l.about.FindStringSubmatch(text); match != nil {
		return provider.Clip(provider.OneLine(match[1]), 60)
	}
	return ""
}

// change returns the merge patch of a factory that a message asks for, empty if it asks for none.
func (l *lexicon) change(text string, words []string, asking bool) object {
	proposed := samples.Of(l.language).Proposals
	member := named(words, l.Members, slices.Sorted(maps.Keys(l.Members))...)
	match := l.to.FindStringSubmatch(text)
	switch {
	case member != "" && fits(words, l.Change) && match != nil:
		value := strings.Trim(provider.OneLine(match[1]), `"“”„«»' `)
		if member != "topics" {
			return object{member: value}
		}
		var topics []string
		for topic := range strings.SplitSeq(value, ",") {
			topics = append(topics, strings.TrimSpace(topic))
		}
		return object{member: topics}
	case fits(words, l.Factory) && fits(words, l.Pause):
		return object{"state": "paused"}
	case fits(words, l.Factory) && fits(words, l.Resume):
		return object{"state": "active"}
	case fits(words, l.Improve) && !asking && (member != "" || fits(words, l.Factory)):
		return object{"tone": proposed.Tone[1], "audience": proposed.Audience[1]}
	}
	return nil
}

// plan returns the body of a content plan: a week with one item a day, unless the text has other numbers.
func (l *lexicon) plan(text, subject string, posts int) object {
	body := object{"days": 7, "posts_per_day": max(posts, 1)}
	if match := l.duration.FindStringSubmatch(text); match != nil {
		days := 1
		if match[1] != "" {
			days = l.value(match[1])
		}
		switch {
		case match[3] != "":
			days *= 7
		case match[4] != "":
			days *= 30
		case match[1] == "":
			days = 7 // "of the day" is no length
		}
		body["days"] = min(max(days, 1), 90)
	}
	if subject != "" {
		body["brief"] = subject
	}
	return body
}

// factory returns the body of a factory: by default a brand in the language of the message. The times of its schedule
// are spread from 09:00 to 21:00.
func (l *lexicon) factory(of, subject string, words []string, posts int) object {
	of = cmp.Or(of, "brand")
	name := samples.Capital(cmp.Or(subject, of))
	language := cmp.Or(named(words, l.Languages, samples.Languages...), l.language)
	body := object{"type": of, "name": name, "language": language, "topics": []string{name}}
	if subject != "" {
		body["description"] = name
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
		body["settings"] = object{"currency": cmp.Or(currencies[language], "EUR")}
	case "expert":
		body["settings"] = object{"field": name}
	case "brand":
		body["settings"] = object{"brand_name": name}
	case "musician":
		body["settings"] = object{"artist_name": name, "genres": []string{name}}
	}
	return body
}

// report puts the results of tools into words.
func (l *lexicon) report(calls []provider.ToolCall, results []provider.ToolResult) (string, error) {
	var said []string
	for i, r := range results {
		var got struct {
			Error                        *struct{ Code, Message string }
			Draft                        struct{ Body object }
			Factory                      struct{ Name, Type string }
			Factories, Proposals, Models []struct{ ID, Name, Title string }
			Analytics                    struct {
				Totals struct{ Made, Failed, Published int64 }
			}
		}
		if err := json.Unmarshal(r.Content, &got); err != nil {
			return "", fmt.Errorf("sample: result of %s: %w", calls[i].Name, err)
		}
		body, totals := got.Draft.Body, got.Analytics.Totals
		say := func(key string, pairs ...string) { said = append(said, samples.Fill(l.Say[key], pairs...)) }
		switch tool := calls[i].Name; {
		case got.Error != nil && l.language == "en":
			say("failed", "why", got.Error.Message)
		case got.Error != nil:
			say("failed", "why", got.Error.Code)
		case tool == "draft_factory":
			say("factory", "name", fmt.Sprint(body["name"]))
		case tool == "draft_content_plan":
			say("plan", "days", fmt.Sprint(body["days"]), "posts", fmt.Sprint(body["posts_per_day"]))
		case tool == "draft_content_item":
			say("item", "title", fmt.Sprint(body["prompt"]))
		case tool == "draft_factory_change":
			var changes []string
			for _, member := range slices.Sorted(maps.Keys(body)) {
				changes = append(changes, fmt.Sprintf("%s = %v", member, body[member]))
			}
			say("change", "members", strings.Join(changes, "; "))
		case tool == "read_factory":
			say("about", "name", got.Factory.Name, "type", got.Factory.Type)
		case tool == "read_analytics":
			say("figures", "made", fmt.Sprint(totals.Made), "failed", fmt.Sprint(totals.Failed), "published",
				fmt.Sprint(totals.Published))
		default:
			var all []string
			for _, r := range slices.Concat(got.Factories, got.Proposals, got.Models) {
				all = append(all, fmt.Sprintf("%s%s (%s)", r.Name, r.Title, r.ID))
			}
			if len(all) == 0 {
				say("none")
			} else {
				say("found", "count", fmt.Sprint(len(all)), "list", strings.Join(all, ", "))
			}
		}
		if got.Error == nil && strings.HasPrefix(calls[i].Name, "draft_") {
			said[len(said)-1] += " " + l.Say["next"]
		}
	}
	return strings.Join(said, "\n"), nil
}

//go:embed words
var files embed.FS

// lexicon has the words of a language. Those of Detect are whole words, and the others as fits takes them.
type lexicon struct {
	language string

	Detect, Make, Factory, Plan, Change, Improve, Pause []string
	Resume, Figures, Proposals, Models, Factories       []string

	Types, Kinds, Members, Languages map[string][]string
	Numbers                          []string
	// These are parts of regular expressions.
	About, To, Daily, Day, Week, Month string
	Say                                map[string]string

	about, to, perDay, duration *regexp.Regexp
}

// lexicons are the words of all languages, in the order of samples.Languages.
var lexicons = sync.OnceValue(func() (all []*lexicon) {
	for _, language := range samples.Languages {
		l := &lexicon{language: language}
		raw, err := files.ReadFile("words/" + language + ".json")
		if err == nil {
			err = json.Unmarshal(raw, l)
		}
		if err != nil {
			panic(fmt.Sprintf("sample: %s: %v", language, err)) // the file is part of the program
		}
		var named []string
		for _, names := range l.Languages {
			named = append(named, names...)
		}
		numbers := strings.Join(l.Numbers[1:], "|")
		l.about = regexp.MustCompile(`(?i)(?:^|\s)(?:` + l.About + `)\s+([^.;:!?\n]+?)(?:\s+\pL+\s+(?:` +
			strings.Join(named, "|") + `).*)?(?:,\s|[,.;:!?\n]|$)`)
		l.to = regexp.MustCompile(`(?i)(?:\s(?:` + l.To + `)\s+|[:=]\s*)(.+?)[.!]?\s*$`)
		l.perDay = regexp.MustCompile(`(?i)([0-9]{1,3}|\pL+)\s+(?:\pL+\s+){0,2}(?:` + l.Daily + `)`)
		l.duration = regexp.MustCompile(`(?i)(?:^|[^\pL0-9])(?:(?:` + l.About + `)\s+)?(?:([0-9]{1,3}|` + numbers +
			`)\pL{0,2}\s+)?(?:(` + l.Day + `)|(` + l.Week + `)|(` + l.Month + `))\pL*`)
		all = append(all, l)
	}
	return all
})

// lexiconOf returns the words of the language in which a message is written: the one that knows most of its words.
func lexiconOf(words []string) (best *lexicon) {
	most := -1
	for _, l := range lexicons() {
		known := 0
		for _, word := range words {
			if slices.Contains(l.Detect, word) || l.language == "ru" && strings.ContainsFunc(word,
				func(r rune) bool { return unicode.Is(unicode.Cyrillic, r) }) {
				known += 2
			}
		}
		for _, list := range [][]string{l.Make, l.Factory, l.Plan, l.Change, l.Improve, l.Figures, l.Proposals,
			l.Models, l.Kinds["carousel"], l.Kinds["post"], l.Pause} {
			if fits(words, list) {
				known++
			}
		}
		if known > most {
			best, most = l, known
		}
	}
	return best
}

// fits reports whether one of the words begins with one of the list, or ends with one that has a hyphen before it. A
// text of several words fits as a whole.
func fits(words, list []string) bool {
	return slices.ContainsFunc(list, func(known string) bool {
		if strings.Contains(known, " ") {
			return strings.Contains(" "+strings.Join(words, " ")+" ", " "+known+" ")
		}
		if end, ok := strings.CutPrefix(known, "-"); ok {
			return slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(w, end) })
		}
		return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, known) })
	})
}

// named returns the first name in the order given whose list fits, or "".
func named(words []string, lists map[string][]string, order ...string) string {
	for _, name := range order {
		if fits(words, lists[name]) {
			return name
		}
	}
	return ""
}

// value returns the number that a word stands for, 0 if it stands for none.
func (l *lexicon) value(word string) int {
	word = strings.ToLower(word)
	if n, err := strconv.Atoi(word); err == nil {
		return n
	}
	for n := len(l.Numbers) - 1; n > 0; n-- {
		for one := range strings.SplitSeq(l.Numbers[n], "|") {
			if rest, ok := strings.CutPrefix(word, one); ok && len(rest) <= 2 {
				return n
			}
		}
	}
	return 0
}
