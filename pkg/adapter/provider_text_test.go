package adapter_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/provider"
)

const maxCaption, maxHashtags = 2200, 5

// The limits are copies: providers do not know the platforms.
func TestTheLimitsAreThoseOfThePlatforms(t *testing.T) {
	captions := func(name string, kind platform.Kind) int {
		r, _ := registry.Find(name)
		return r.Capabilities.Kinds[kind].Caption.Max
	}
	instagram, tiktok := captions("instagram", platform.KindPost), captions("tiktok", platform.KindVideo)
	if instagram != maxCaption || tiktok != maxCaption {
		t.Errorf("captions have %d characters on Instagram and %d on TikTok, not %d", instagram, tiktok, maxCaption)
	}
	if r, _ := registry.Find("instagram"); r.Capabilities.Hashtags.Max != maxHashtags {
		t.Errorf("Instagram takes %d hashtags, not %d", r.Capabilities.Hashtags.Max, maxHashtags)
	}
}

func TestAnAnswerThatCannotBeUsedIsMended(t *testing.T) {
	req := provider.Request{Kind: provider.KindText, Prompt: " Our new shoe \n", System: "You write."}
	if system, user := provider.TextPrompt(req); system != "You write." || user != "Our new shoe" {
		t.Errorf("the prompts are %q and %q", system, user)
	}
	req.User = `{"request":"Our new shoe"}`
	req.Repair = &provider.Repair{Answer: `{"title":"<b>"}`, Problems: []string{"there are no hashtags"}}
	system, user := provider.TextPrompt(req)
	if !strings.HasPrefix(system, "You write.") || !strings.Contains(system, "Answer anew") ||
		!strings.HasPrefix(user, req.User) || !strings.Contains(user, "there are no hashtags") ||
		strings.Contains(system, "hashtags") {
		t.Errorf("the prompts are %q and %q", system, user)
	}
	_, err := provider.ParseText(`{"title": "no caption"}`, req)
	var u *provider.Unreadable
	if !errors.As(err, &u) || u.Answer != `{"title": "no caption"}` || u.Reason.Error() == "" {
		t.Errorf("got %v", err)
	}
}

func TestTokensCoverWhatIsAskedFor(t *testing.T) {
	plain := provider.TextTokens(provider.Request{Prompt: "x", System: strings.Repeat("y", 1000)})
	if plain.Output != 1500 || plain.Input < 200 || plain.Input > 2000 {
		t.Errorf("a post takes %+v", plain)
	}
	long := provider.TextTokens(provider.Request{Prompt: strings.Repeat("ж", 4000), System: strings.Repeat("y", 1000),
		Slides: 10, Pictures: 2,
		ScriptSeconds: 60, Scenes: 12, Options: map[string]string{provider.OptionReasoning: "3000"}})
	if long.Output != 1500+3000+10*260+2*180+12*130+60*16 ||
		long.Input < plain.Input+4000 {
		t.Errorf("a long one takes %+v", long)
	}
	if odd := provider.TextTokens(provider.Request{Prompt: "x", System: strings.Repeat("y", 1000), Slides: -1,
		Pictures: -3, ScriptSeconds: -5, Scenes: 9,
		Options: map[string]string{provider.OptionReasoning: "-9"}}); odd != plain {
		t.Errorf("an odd one takes %+v, want %+v", odd, plain)
	}
	if provider.MaxScript(-1) != 0 || provider.MaxScript(10) != 240 {
		t.Error("scripts are bounded wrongly")
	}
}

func TestAnswersAreRead(t *testing.T) {
	want := provider.Text{Title: "Run on", Caption: "First line.\n\nSecond { } line.", Hashtags: []string{"run", "Трейл_бег"},
		Hooks: []string{"First line.", "b", "c"}, Hook: 1}
	const object = `{"hooks": ["First\nline.", "b", "c"], "hook": 1, "title": "Run\n on", "caption": "  First line. \r\n\r\n\r\n Second { }\tline.\n", "hashtags": ["#run", "RUN", "Трейл_бег", "!!", ""], "extra": 1}`
	for name, raw := range map[string]string{
		"alone":                 object,
		"with white space":      "\ufeff\n " + object + "\n",
		"in a fence":            "```json\n" + object + "\n```",
		"in a fence with words": "Here it is:\n\n```json\n" + object + "\n```\nEnjoy!",
		"in a fence of no name": "```\n" + object + "\n```",
		"among words":           "Sure! " + object + " Good luck!",
		"with another member too": strings.Replace(object, `"extra": 1`,
			`"slides": ["not asked for"], "pictures": [{"visual": "nor this"}], "scenes": [{"text": "nor this", "visual": "nor this"}]`, 1),
	} {
		got, err := provider.ParseText(raw, provider.Request{})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
		}
	}
}

func TestAnswersThatLackSomethingAreAskedForAgain(t *testing.T) {
	full := provider.Request{Slides: 2, ScriptSeconds: 5, Scenes: 2, Pictures: 1}
	const good = `{"hooks": ["x", "y", "z"], "hook": 3, "title": "t", "caption": "c", "hashtags": [], "style": "film", "pictures": [{"visual": "p", "alt_text": "q"}], "slides": [{"heading": "a", "visual": "v", "alt_text": "w"}, {"heading": "b", "body": "k", "visual": "m", "alt_text": "n"}], "scenes": [{"text": "Say it.", "visual": "It."}, {"text": "Say more.", "visual": "More."}]}`
	if _, err := provider.ParseText(good, full); err != nil {
		t.Fatal(err)
	}
	for name, raw := range map[string]string{
		"nothing":                       "",
		"no object":                     "I cannot help with that.",
		"a list":                        `["t"]`,
		"braces the wrong way":          "} {",
		"cut off":                       good[:len(good)-10],
		"two objects":                   good + good,
		"no title":                      strings.Replace(good, `"t"`, `" \n"`, 1),
		"no caption":                    strings.Replace(good, `"caption"`, `"text"`, 1),
		"no hashtags":                   strings.Replace(good, `[]`, `null`, 1),
		"hashtags as one text":          strings.Replace(good, `[]`, `"#a #b"`, 1),
		"too few slides":                strings.Replace(good, `{"heading": "a", "visual": "v", "alt_text": "w"}, `, ``, 1),
		"an empty slide":                strings.Replace(good, `"b"`, `""`, 1),
		"an unseen slide":               strings.Replace(good, `"m"`, `""`, 1),
		"a slide for the sighted alone": strings.Replace(good, `"n"`, `" "`, 1),
		"no style":                      strings.Replace(good, `"film"`, `""`, 1),
		"two hooks":                     strings.Replace(good, `"x", `, ``, 1),
		"an empty hook":                 strings.Replace(good, `"x"`, `" "`, 1),
		"no chosen hook":                strings.Replace(good, `"hook": 3`, `"hook": 0`, 1),
		"another chosen hook":           strings.Replace(good, `"hook": 3`, `"hook": 4`, 1),
		"no picture":                    strings.Replace(good, `{"visual": "p", "alt_text": "q"}`, ``, 1),
		"a picture without a text":      strings.Replace(good, `"q"`, `""`, 1),
		"no scenes":                     strings.Replace(good, `"scenes"`, `"script"`, 1),
		"too few scenes":                strings.Replace(good, `{"text": "Say it.", "visual": "It."}, `, ``, 1),
		"too many scenes": strings.Replace(good, `{"text": "Say it.", "visual": "It."}`,
			`{"text": "Say it.", "visual": "It."}, {"text": "Say it.", "visual": "It."}`, 1),
		"a silent scene":  strings.Replace(good, `"Say it."`, `" "`, 1),
		"an unseen scene": strings.Replace(good, `"More."`, `""`, 1),
	} {
		got, err := provider.ParseText(raw, full)
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != provider.Transient || e.Code != "text_unreadable" || e.Message == "" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestAnswersAreBounded(t *testing.T) {
	word := "слово "
	raw, err := json.Marshal(map[string]any{
		"title": strings.Repeat(word, 500), "caption": strings.Repeat("x", 100_000),
		"hashtags": strings.Fields("a b c d e f g h i j k l m n o p " + strings.Repeat("q", 200)),
		"hooks":    []string{strings.Repeat(word, 500), "b", "c"}, "hook": 1, "style": strings.Repeat(word, 500),
		"slides": []provider.Slide{
			{Heading: strings.Repeat(word, 500), Body: "not on the cover", Picture: provider.Picture{Visual: "x",
				Alt: strings.Repeat(word, 500)}},
			{Heading: "b", Body: strings.Repeat(word, 500), Picture: provider.Picture{Visual: strings.Repeat(word, 500),
				Alt: "x"}},
		},
		"scenes": []provider.Scene{
			{Text: strings.Repeat("Это одно предложение! ", 500), Visual: strings.Repeat(word, 500), OnScreen: strings.Repeat(word, 500)},
			{Text: strings.Repeat("字", 500), Visual: "x", OnScreen: ""},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := provider.ParseText(string(raw), provider.Request{Slides: 2, ScriptSeconds: 20, Scenes: 2})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text string
		most int
		end  string
	}{
		"title":   {got.Title, 150, "слово"},
		"caption": {got.Caption, maxCaption, "x"},
		"slide":   {got.Slides[0].Heading, 150, "слово"},
		"body":    {got.Slides[1].Body, 200, "слово"},
		"alt":     {got.Slides[0].Alt, 400, "слово"},
		"drawing": {got.Slides[1].Visual, 300, "слово"},
		"hook":    {got.Hooks[0], 200, "слово"},
		"style":   {got.Style, 300, "слово"},
		"screen":  {got.Scenes[0].OnScreen, 80, "слово"},
		"scene":   {got.Scenes[0].Text, provider.MaxScript(20) / 2, "предложение!"},
		"visual":  {got.Scenes[0].Visual, 300, "слово"},
	} {
		if n := utf8.RuneCountInString(c.text); n > c.most || n < c.most/2 || !strings.HasSuffix(c.text, c.end) {
			t.Errorf("the %s has %d of %d characters and ends with %q", name, n, c.most,
				c.text[max(len(c.text)-30, 0):])
		}
	}
	for _, s := range got.Scenes {
		if spoken := provider.SpokenLength(s.Text); spoken < 9*time.Second || spoken.Seconds() > 10*1.1 {
			t.Errorf("a scene of 10 s is spoken in %v", spoken)
		}
	}
	if got.Script() != got.Scenes[0].Text+" "+got.Scenes[1].Text {
		t.Errorf("the script is %q", got.Script())
	}
	if len(got.Slides) != 2 || got.Slides[0].Body != "" || len(got.Hashtags) != maxHashtags {
		t.Errorf("%d slides, %d hashtags", len(got.Slides), len(got.Hashtags))
	}
	got, err = provider.ParseText(`{"hooks": ["a", "b", "c"], "hook": 1, "title": "t", "caption": "c", "hashtags": [], "style": "film", `+
		`"scenes": [{"text": "`+strings.Repeat("nopoint ", 100)+`", "visual": "v"}]}`, provider.Request{ScriptSeconds: 2, Scenes: 1})
	if err != nil {
		t.Fatal(err)
	}
	if s := got.Scenes[0].Text; !strings.HasSuffix(s, "nopoint") || len(s) > 50 {
		t.Errorf("a text without sentences is cut to %q", s)
	}
}

func TestWhatCannotBeShownIsTakenOut(t *testing.T) {
	raw := `{"hooks": ["a", "b", "c"], "hook": 2, "title": "a\u0000\u001b[31mb\u202e c", "caption": "x\u0007\nмир 👩\u200d👧 \ufffd", "hashtags": ["сказка\u202e", "कहानी"]}`
	got, err := provider.ParseText(raw, provider.Request{})
	want := provider.Text{Title: "a[31mb c", Caption: "x\nмир 👩\u200d👧", Hashtags: []string{"сказка", "कहानी"},
		Hooks: []string{"a", "b", "c"}, Hook: 2}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestLongTextsAreCutBetweenWords(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{{"one two three", 9, "one two"}, {"абвгдежзик", 4, "абвг"}, {"short", 9, "short"}, {"a\nb c", 3, "a\nb"},
		{"some", -1, ""}} {
		if got := provider.Clip(c.text, c.n); got != c.want {
			t.Errorf("%q is cut to %q, want %q", c.text, got, c.want)
		}
	}
}

func FuzzParseText(f *testing.F) {
	f.Add(`{"hooks": ["x", "y", "z"], "hook": 1, "title": "t", "caption": "c", "hashtags": ["a"], "style": "film", "slides": ["a", {"heading": "b", "visual": "v", "alt_text": "w"}], "scenes": [{"text": "Say it.", "visual": "It."}]}`, 2, 5, 1)
	f.Add("```json\n{}\n```", 0, 0, 0)
	f.Fuzz(func(t *testing.T, raw string, slides, seconds, scenes int) {
		req := provider.Request{Slides: slides % 20, ScriptSeconds: seconds % 600, Scenes: scenes % 20}
		got, err := provider.ParseText(raw, req)
		if err != nil {
			if provider.KindOf(err) != provider.Transient {
				t.Errorf("got %v", err)
			}
			return
		}
		if got.Title == "" || got.Caption == "" || len(got.Slides) != max(req.Slides, 0) ||
			utf8.RuneCountInString(got.Script()) > provider.MaxScript(req.ScriptSeconds) ||
			strings.ContainsAny(got.Title, "\n\r\x00") {
			t.Errorf("got %+v", got)
		}
	})
}
