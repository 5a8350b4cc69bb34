package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image/color"
	"image/jpeg"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/providertest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/samples"
	"github.com/content-automation/api/pkg/media/probe"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// clock is a clock that tests move.
type clock struct{ at time.Time }

func (c *clock) now() time.Time          { return c.at }
func (c *clock) advance(d time.Duration) { c.at = c.at.Add(d) }

func TestConformance(t *testing.T) {
	c := &clock{noon}
	sandbox := New(c.now)
	var requests, failing []provider.Request
	for i, kind := range provider.Kinds() {
		can := sandbox.Capabilities().Kinds[kind]
		for _, ratio := range append([]string{""}, can.AspectRatios...) {
			requests = append(requests, provider.Request{Kind: kind, Prompt: "Morning coffee above the clouds.",
				AspectRatio: ratio})
		}
		// Each ends an hour after the one before, since the clock only goes forward.
		slow := provider.Request{Kind: kind, Prompt: "Slow food", Rehearsal: provider.Rehearsal{Start: noon,
			Delay: time.Duration(i+1) * time.Hour}}
		requests = append(requests, slow)
		fails := slow
		fails.Rehearsal.Fail, fails.Rehearsal.Delay = true, time.Duration(i+1)*24*time.Hour
		failing = append(failing, fails, provider.Request{Kind: kind, Prompt: "Fast food",
			Rehearsal: provider.Rehearsal{Fail: true}})
	}
	requests = append(requests,
		provider.Request{Kind: provider.KindImage, Prompt: "A carousel", AspectRatio: "1:1", Count: 10},
		provider.Request{Kind: provider.KindText, Prompt: "A carousel", Slides: 7, Pictures: 1},
		provider.Request{
			Kind: provider.KindText, Prompt: "Topics", Form: &provider.Form{System: "Answer with topics.", Tokens: 100,
				Sample: json.RawMessage(`{"topics":["a"]}`)},
			Rehearsal: provider.Rehearsal{Start: noon, Delay: time.Hour},
		},
		provider.Request{Kind: provider.KindText, Prompt: strings.Repeat("длинный запрос ", 500), Language: "ru",
			Rehearsal: provider.Rehearsal{Start: noon, Delay: 12 * time.Hour}},
		provider.Request{Kind: provider.KindText, Prompt: "?!…"},
		provider.Request{Kind: provider.KindText, Prompt: strings.Repeat("長い", 500), Language: "ja", Slides: 10,
			ScriptSeconds: 600, Scenes: 30, About: provider.About{Kind: "carousel", Type: "entertainment",
				Name: strings.Repeat("名", 300), Product: strings.Repeat("靴", 300),
				Description: strings.Repeat("説明", 300), Price: "1000000000000.00 EUR", Was: "1000000000000.00 EUR",
				Until: "2026-12-24"}, Rehearsal: provider.Rehearsal{Start: noon, Delay: 13 * time.Hour}},
		provider.Request{Kind: provider.KindText, Prompt: "A short video", ScriptSeconds: 8, Scenes: 2},
		provider.Request{Kind: provider.KindText, Prompt: strings.Repeat("long ", 500), Language: "fr",
			ScriptSeconds: 3},
		provider.Request{Kind: provider.KindText, Prompt: "bad \x00 bytes \xff\x1b[31m and\ttabs\r\n"},
		provider.Request{Kind: provider.KindVideo, Prompt: "From a picture", ImageURL: "https://example.test/a.png",
			Seconds: 10},
		provider.Request{Kind: provider.KindAvatar, AudioURL: "https://example.test/a.mp3"},
	)
	for i := range requests {
		requests[i].ClientToken = fmt.Sprintf("token-%d", i)
	}
	providertest.Run(t, providertest.Suite{Provider: sandbox, Requests: requests, Failing: failing, Advance: c.advance})
}

func TestDelayCountsFromTheStartOfTheWork(t *testing.T) {
	c := &clock{noon.Add(4 * time.Second)} // the queue took 4 s
	sandbox := New(c.now)
	submission, err := sandbox.Submit(t.Context(), provider.Request{
		Kind: provider.KindImage, Prompt: "x", Rehearsal: provider.Rehearsal{Start: noon, Delay: 10 * time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		at     time.Duration
		status provider.Status
	}{
		{4 * time.Second, provider.Status{State: provider.Running, Progress: 40, Wait: 6 * time.Second}},
		{9990 * time.Millisecond, provider.Status{State: provider.Running, Progress: 99, Wait: 10 * time.Millisecond}},
		{10 * time.Second, provider.Status{State: provider.Succeeded, Progress: 100}},
		{time.Hour, provider.Status{State: provider.Succeeded, Progress: 100}},
	} {
		c.at = noon.Add(want.at)
		got, err := sandbox.Poll(t.Context(), submission.Handle)
		if err != nil || got != want.status {
			t.Errorf("after %v: %+v, %v; want %+v", want.at, got, err, want.status)
		}
	}
}

func TestNothingIsFetchedBeforeItsTime(t *testing.T) {
	c := &clock{noon}
	sandbox := New(c.now)
	submission, err := sandbox.Submit(t.Context(), provider.Request{
		Kind: provider.KindMusic, Prompt: "x", Rehearsal: provider.Rehearsal{Start: noon, Delay: 30 * time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = sandbox.Fetch(t.Context(), submission.Handle)
	var e *provider.Error
	if !errors.As(err, &e) || e.Kind != provider.Transient || e.RetryAfter != 30*time.Second {
		t.Errorf("got %v, want a transient error for 30 s", err)
	}
}

func TestEverySandboxSeesTheSameGeneration(t *testing.T) {
	// Two processes, as two runs of a function would be.
	one, two := New(time.Now), New(time.Now)
	submission, err := one.Submit(t.Context(), provider.Request{Kind: provider.KindImage, Prompt: "Sea",
		AspectRatio: "4:5"})
	if err != nil {
		t.Fatal(err)
	}
	result, err := two.Fetch(t.Context(), submission.Handle)
	if err != nil {
		t.Fatal(err)
	}
	var files [2][]byte
	for i := range files {
		r, err := result.Media[0].Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if files[i], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		if result, err = one.Fetch(t.Context(), submission.Handle); err != nil {
			t.Fatal(err)
		}
	}
	if len(files[0]) == 0 || !slices.Equal(files[0], files[1]) {
		t.Errorf("%d and %d bytes, not the same", len(files[0]), len(files[1]))
	}
}

// made is the file that the sandbox makes of a request.
func made(t *testing.T, req provider.Request) (probe.Info, []byte) {
	t.Helper()
	p := New(time.Now)
	submission, err := p.Submit(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	result, err := p.Fetch(t.Context(), submission.Handle)
	if err != nil {
		t.Fatal(err)
	}
	r, err := result.Media[0].Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	info, err := probe.Bytes(content)
	if err != nil {
		t.Fatal(err)
	}
	return info, content
}

func TestMediaHaveTheSizeAndLengthAskedFor(t *testing.T) {
	const text = "Our new trail running shoe is made of recycled fishing nets from the North Sea."
	for name, c := range map[string]struct {
		req           provider.Request
		mime          string
		width, height int
		length        time.Duration
	}{
		"a clip": {provider.Request{Kind: provider.KindVideo, AspectRatio: "9:16", Seconds: 8,
			Resolution: "720p"}, "video/mp4", 720, 1280, 8 * time.Second},
		"a wide clip": {provider.Request{Kind: provider.KindVideo, AspectRatio: "21:9", Seconds: 15,
			Resolution: "1080p"}, "video/mp4", 2520, 1080, 15 * time.Second},
		"a clip of a usual size": {provider.Request{Kind: provider.KindVideo}, "video/mp4", 1080, 1920,
			5 * time.Second},
		"a clip of a picture": {provider.Request{Kind: provider.KindVideo,
			ImageURL: "https://example.test/a.png", ImageRatio: "16:9", Seconds: 10, Resolution: "480p"}, "video/mp4",
			854, 480, 10 * time.Second},
		"a picture": {provider.Request{Kind: provider.KindImage, AspectRatio: "4:5"}, "image/jpeg",
			896, 1120, 0},
		"music": {provider.Request{Kind: provider.KindMusic, Seconds: 30}, "audio/mpeg", 0, 0,
			30 * time.Second},
		"speech": {provider.Request{Kind: provider.KindVoice, Prompt: text}, "audio/mpeg", 0, 0,
			provider.SpokenLength(text)},
		"an avatar": {provider.Request{Kind: provider.KindAvatar, Prompt: text, Resolution: "720p"},
			"video/mp4", 720, 1280, provider.SpokenLength(text)},
		"an avatar with a recording": {provider.Request{Kind: provider.KindAvatar,
			AudioURL: "https://example.test/a.mp3", SpeechLength: 2500 * time.Millisecond}, "video/mp4", 1080, 1920,
			2500 * time.Millisecond},
	} {
		if c.req.Prompt == "" && c.req.AudioURL == "" {
			c.req.Prompt = "A shoe"
		}
		info, _ := made(t, c.req)
		off := (info.Duration - c.length).Abs()
		if info.MIMEType != c.mime || info.Width != c.width || info.Height != c.height || off > 20*time.Millisecond {
			t.Errorf("%s: %s of %d x %d, %v; want %v", name, info.MIMEType, info.Width, info.Height,
				info.Duration, c.length)
		}
	}
}

func TestMediaFollowFromThePrompt(t *testing.T) {
	for _, kind := range []provider.Kind{provider.KindImage, provider.KindVideo, provider.KindAvatar,
		provider.KindMusic, provider.KindVoice} {
		_, one := made(t, provider.Request{Kind: kind, Prompt: "A red shoe", Seconds: 0})
		_, again := made(t, provider.Request{Kind: kind, Prompt: "A red shoe"})
		_, other := made(t, provider.Request{Kind: kind, Prompt: "A blue hat"})
		if !slices.Equal(one, again) || slices.Equal(one, other) {
			t.Errorf("%s: the same prompt makes the same: %v; another one does: %v", kind, slices.Equal(one, again),
				slices.Equal(one, other))
		}
	}
}

// The pictures of one item differ, and have the colors of its brand.
func TestPicturesAreInTheColorsOfThePrompt(t *testing.T) {
	average := func(prompt string) (r, g, b int) {
		_, content := made(t, provider.Request{Kind: provider.KindImage, Prompt: prompt})
		img, err := jpeg.Decode(bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for y := 0; y < img.Bounds().Dy(); y += 8 {
			for x := 0; x < img.Bounds().Dx(); x += 8 {
				red, green, blue, _ := img.At(x, y).RGBA()
				r, g, b, n = r+int(red>>8), g+int(green>>8), b+int(blue>>8), n+1
			}
		}
		return r / n, g / n, b / n
	}
	for _, of := range []string{"Picture 1 of 3 of a row.", "Picture 2 of 3 of a row."} {
		prompt := of + " Subject: Shoes. This one shows: a shoe."
		if r, g, b := average(prompt + " Colors: #2040ff, #102060."); b < r+20 || b < g+10 {
			t.Errorf("in blue, %q is %d, %d, %d", of, r, g, b)
		}
		if r, g, b := average(prompt + " Colors: #ff6600."); r < g+20 || g < b+10 {
			t.Errorf("in orange, %q is %d, %d, %d", of, r, g, b)
		}
	}
	if mood("Picture 1 of 3. Subject: Shoes. This one shows: a shoe.") !=
		mood("Picture 2 of 3. Subject: Shoes. This one shows: a box.") {
		t.Error("the pictures of a row differ in their colors")
	}
}

func TestHandlesOfOthersAreRefused(t *testing.T) {
	for name, w := range map[string]work{
		"a kind unknown":      {Kind: "sculpture"},
		"no size":             {Kind: provider.KindVideo, Length: 1000, Count: 1},
		"too large":           {Kind: provider.KindVideo, Width: 1 << 20, Height: 1 << 20, Length: 1000},
		"no length":           {Kind: provider.KindMusic},
		"too long":            {Kind: provider.KindMusic, Length: 1 << 40},
		"too many files":      {Kind: provider.KindImage, Width: 64, Height: 64, Count: 1 << 30},
		"too many slides":     {Kind: provider.KindText, Slides: 1 << 30},
		"too many colors":     {Kind: provider.KindImage, Width: 64, Height: 64, Colors: make([]color.RGBA, 3)},
		"too long a script":   {Kind: provider.KindText, Script: 1 << 30},
		"an end before start": {Kind: provider.KindMusic, Length: 1000, Start: 2, End: 1},
	} {
		h, err := w.handle()
		if err != nil {
			t.Fatal(err)
		}
		_, err = New(time.Now).Fetch(t.Context(), h)
		if provider.KindOf(err) != provider.BadInput {
			t.Errorf("%s: got %v, want bad input", name, err)
		}
	}
}

// written returns the text that the sandbox writes.
func written(t *testing.T, req provider.Request) provider.Text {
	t.Helper()
	req.Kind = provider.KindText
	submission, err := New(time.Now).Submit(t.Context(), req)
	if err != nil || submission.Result == nil {
		t.Fatalf("%+v: %+v, %v", req, submission, err)
	}
	return *submission.Result.Text
}

func TestTextFollowsFromPromptAndLanguage(t *testing.T) {
	sale := written(t, provider.Request{Prompt: "summer sale: 20% off all running shoes!", Language: "en-GB",
		About: provider.About{Kind: "post", Type: "seller", Name: "Nordlauf"}})
	if sale.Title != "Summer sale: 20% off all running shoes" || !strings.Contains(sale.Caption,
		"ummer sale: 20% off all running shoes") || !strings.HasPrefix(sale.Caption, sale.Hooks[sale.Hook-1]+"\n\n") ||
		!slices.Equal(sale.Hashtags, []string{"summer", "sale", "running", "shoes"}) {
		t.Errorf("%+v", sale)
	}
	if bare := written(t, provider.Request{Prompt: "?!…", Language: "sw"}); bare.Title != "Sandbox" ||
		!slices.Equal(bare.Hashtags, []string{"sandbox"}) || bare.Caption == "" {
		t.Errorf("%+v", bare)
	}
	// Each language, kind and type has a text of its own, without a place that is not filled.
	seen := map[string]string{}
	for _, language := range samples.Written() {
		texts := samples.LinesOf(language)
		for kind := range texts.Body {
			for writer := range texts.Close {
				if kind == "story" && writer != "seller" && writer != "news" {
					continue // a story has no end of its own
				}
				name, topic := language+" "+kind+" "+writer, strings.ToLower(texts.Subject)
				text := written(t, provider.Request{Prompt: topic, Language: language, Slides: 7,
					ScriptSeconds: 20, Scenes: 3, About: provider.About{Kind: kind, Type: writer, Name: "Acme",
						Product: "Scarf", Description: "Made of wool", Price: "12.00 EUR", Was: "15.00 EUR",
						Until: "2026-12-24"}})
				if other, ok := seen[text.Caption]; ok {
					t.Errorf("%s and %s have the same caption", name, other)
				}
				seen[text.Caption] = name
				all := text.Caption + strings.Join(allTexts(text), "\n") + text.Script()
				for _, want := range []string{"Scarf", "12.00 EUR", "15.00 EUR", "24"} {
					if !strings.Contains(text.Caption, want) {
						t.Errorf("%s: %q does not name %q", name, text.Caption, want)
					}
				}
				if strings.ContainsAny(all, "{}") || !strings.Contains(strings.ToLower(all), topic) ||
					len(text.Slides) != 7 || len(slices.Compact(slices.Sorted(slices.Values(headings(text))))) != 7 {
					t.Errorf("%s: %+v", name, text)
				}
			}
		}
	}
}

// allTexts returns the texts that readers, viewers and listeners meet, in no order that matters.
func allTexts(t provider.Text) []string {
	all := append([]string{t.Title, t.Headline, t.Caption, t.Script()}, t.Hashtags...)
	for _, p := range t.Pictures {
		all = append(all, p.Alt)
	}
	for _, s := range t.Slides {
		all = append(all, s.Heading, s.Body, s.Alt)
	}
	for _, s := range t.Scenes {
		all = append(all, s.OnScreen)
	}
	return slices.DeleteFunc(all, func(text string) bool { return text == "" })
}

func headings(text provider.Text) (all []string) {
	for _, s := range text.Slides {
		all = append(all, s.Heading)
	}
	return all
}

func TestPricesAreStatedWhereThereAreSome(t *testing.T) {
	text := written(t, provider.Request{Prompt: "Wool", Slides: 5, About: provider.About{Kind: "carousel",
		Type: "seller", Name: "Acme", Product: "Scarf", Price: "12.00 EUR"}})
	if !strings.Contains(text.Caption, "The price: 12.00 EUR.") || text.Slides[2].Heading != "Now for 12.00 EUR" {
		t.Errorf("%+v", text)
	}
	text = written(t, provider.Request{Prompt: "Wool", Slides: 5, About: provider.About{Kind: "carousel",
		Type: "seller", Name: "Acme", Product: "Scarf"}})
	if all := strings.Join(allTexts(text), ""); strings.Contains(all, "price") ||
		text.Slides[1].Heading != "Scarf" {
		t.Errorf("%+v", text)
	}
}

func TestAScriptIsWrittenWhereOneIsWanted(t *testing.T) {
	for language, want := range map[string]string{"en": "Here is what we look at: Sea",
		"de-AT": "Das sehen wir uns an: Sea"} {
		text := written(t, provider.Request{Prompt: "sea", Language: language, ScriptSeconds: 16, Scenes: 3})
		if len(text.Scenes) != 3 || !strings.HasPrefix(text.Scenes[0].Text, want) ||
			!strings.HasSuffix(text.Scenes[1].Visual, ": Sea") ||
			text.Scenes[1].Text == text.Scenes[0].Text {
			t.Errorf("%+v", text)
		}
		if spoken := provider.SpokenLength(text.Script()); spoken < 11*time.Second || spoken > 16*time.Second {
			t.Errorf("a script of 16 s is spoken in %v: %+v", spoken, text.Scenes)
		}
	}
}
