package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/provider"
	"github.com/content-automation/api/pkg/provider/providertest"
	"github.com/content-automation/api/pkg/provider/sample"
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
			requests = append(requests, provider.Request{Kind: kind, Prompt: "Morning coffee above the clouds.", AspectRatio: ratio})
		}
		// Each ends an hour after the one before, since the clock only goes forward.
		slow := provider.Request{Kind: kind, Prompt: "Slow food", Rehearsal: provider.Rehearsal{Start: noon, Delay: time.Duration(i+1) * time.Hour}}
		requests = append(requests, slow)
		fails := slow
		fails.Rehearsal.Fail, fails.Rehearsal.Delay = true, time.Duration(i+1)*24*time.Hour
		failing = append(failing, fails, provider.Request{Kind: kind, Prompt: "Fast food", Rehearsal: provider.Rehearsal{Fail: true}})
	}
	requests = append(requests,
		provider.Request{Kind: provider.KindImage, Prompt: "A carousel", AspectRatio: "1:1", Count: 10},
		provider.Request{Kind: provider.KindText, Prompt: "A carousel", Slides: 7},
		provider.Request{Kind: provider.KindText, Prompt: strings.Repeat("длинный запрос ", 500), Language: "ru", Rehearsal: provider.Rehearsal{Start: noon, Delay: 12 * time.Hour}},
		provider.Request{Kind: provider.KindText, Prompt: "?!…"},
		provider.Request{Kind: provider.KindText, Prompt: "A short video", ScriptSeconds: 8},
		provider.Request{Kind: provider.KindText, Prompt: strings.Repeat("long ", 500), Language: "fr", ScriptSeconds: 3},
		provider.Request{Kind: provider.KindText, Prompt: "bad \x00 bytes \xff\x1b[31m and\ttabs\r\n"},
		provider.Request{Kind: provider.KindVideo, Prompt: "From a picture", ImageURL: "https://example.test/a.png", Seconds: 10},
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
	submission, err := one.Submit(t.Context(), provider.Request{Kind: provider.KindImage, Prompt: "Sea", AspectRatio: "4:5"})
	if err != nil {
		t.Fatal(err)
	}
	result, err := two.Fetch(t.Context(), submission.Handle)
	if err != nil {
		t.Fatal(err)
	}
	want, err := fs.ReadFile(sample.Files, "image-4x5.png")
	if err != nil {
		t.Fatal(err)
	}
	r, err := result.Media[0].Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || !slices.Equal(got, want) {
		t.Errorf("%d bytes, %v; want the %d of the embedded file", len(got), err, len(want))
	}
}

func TestHandlesOfOthersAreRefused(t *testing.T) {
	for name, w := range map[string]work{
		"a kind unknown":       {Kind: "sculpture"},
		"a ratio without file": {Kind: provider.KindVideo, Ratio: "2:3", Count: 1},
		"a path":               {Kind: provider.KindVideo, Ratio: "../../x"},
		"too many files":       {Kind: provider.KindImage, Ratio: "4:5", Count: 1 << 30},
		"too many slides":      {Kind: provider.KindText, Slides: 1 << 30},
		"too long a script":    {Kind: provider.KindText, Script: 1 << 30},
		"an end before start":  {Kind: provider.KindMusic, Start: 2, End: 1},
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

func TestTextFollowsFromPromptAndLanguage(t *testing.T) {
	for _, c := range []struct {
		prompt, language string
		slides           int
		want             provider.Text
	}{
		{"summer sale: 20% off all running shoes!", "en-GB", 0, provider.Text{
			Title:    "Summer sale: 20% off all running shoes",
			Caption:  "A sample caption from the sandbox about: summer sale: 20% off all running shoes.\n\nWith a live key a language model writes it.",
			Hashtags: []string{"summer", "sale", "running", "shoes", "sandbox"},
		}},
		{"утренний кофе", "ru", 2, provider.Text{
			Title:    "Утренний кофе",
			Caption:  "Пример подписи из песочницы на тему: утренний кофе.\n\nС боевым ключом её пишет языковая модель.",
			Hashtags: []string{"утренний", "кофе", "sandbox"},
			Slides:   []string{"Пункт 1: Утренний кофе", "Пункт 2: Утренний кофе"},
		}},
		{"Sandbox", "sw", 0, provider.Text{
			Title:    "Sandbox",
			Caption:  "A sample caption from the sandbox about: Sandbox.\n\nWith a live key a language model writes it.",
			Hashtags: []string{"sandbox"},
		}},
	} {
		submission, err := New(time.Now).Submit(t.Context(), provider.Request{Kind: provider.KindText, Prompt: c.prompt, Language: c.language, Slides: c.slides})
		if err != nil || submission.Result == nil {
			t.Fatalf("%q: %+v, %v", c.prompt, submission, err)
		}
		if got := *submission.Result.Text; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q in %s:\n got %+v\nwant %+v", c.prompt, c.language, got, c.want)
		}
	}
}

func TestAScriptIsWrittenWhereOneIsWanted(t *testing.T) {
	for language, want := range map[string]string{
		"en": "This is a sample script to be spoken. It is about: sea.", "de-AT": "Dies ist ein Beispieltext zum Sprechen. Es geht um: sea.",
	} {
		submission, err := New(time.Now).Submit(t.Context(), provider.Request{Kind: provider.KindText, Prompt: "sea", Language: language, ScriptSeconds: 8})
		if err != nil || submission.Result.Text.Script != want {
			t.Errorf("%+v, %v", submission, err)
		}
	}
}
