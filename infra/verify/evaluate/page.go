package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/bedrock"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate/catalog"
	fake "github.com/content-automation/api/testdata/providers/bedrock"
	"github.com/content-automation/api/testdata/providers/control"
	"github.com/content-automation/api/testdata/providers/sample"
)

// channels has what is particular to a factory of each type.
var channels = map[string]struct {
	settings map[string]any
	subjects [2]string // in English and German
}{
	"blogger": {map[string]any{"first_person": true, "style": "travel"},
		[2]string{"The night train to Narvik", "Mit dem Nachtzug nach Narvik"}},
	"seller": {map[string]any{"shop_name": "Northtrail", "currency": "EUR", "call_to_action": "Order today"},
		[2]string{"A trail shoe made of recycled nets", "Ein Laufschuh aus alten Netzen"}},
	"expert": {map[string]any{"field": "Tax law", "depth": "beginner"},
		[2]string{"What a home office may deduct", "Was man für das Arbeitszimmer absetzen kann"}},
	"brand": {map[string]any{"brand_name": "Acme", "voice_rules": []any{"say you", "no exclamation marks"}},
		[2]string{"How a net becomes a shoe", "Wie aus einem Netz ein Schuh wird"}},
	"news": {map[string]any{"region": "DE", "max_age_hours": 24.0},
		[2]string{"The council closes the harbour bridge for repairs", "Die Hafenbrücke wird für Arbeiten gesperrt"}},
	"entertainment": {map[string]any{"humor": "dry", "formats": []any{"a quiz"}},
		[2]string{"Three wrong answers about penguins", "Drei falsche Antworten über Pinguine"}},
	"musician": {map[string]any{"artist_name": "The Examples", "genres": []any{"indie pop"}},
		[2]string{"A song about the first frost", "Ein Lied über den ersten Frost"}},
}

// pieces are the kinds of content, with the sizes of their parts.
var pieces = []struct {
	name platform.Kind
	req  provider.Request
	task prompt.Task
}{
	{platform.KindPost, provider.Request{Pictures: 1, Headline: true}, prompt.Post},
	{platform.KindCarousel, provider.Request{Slides: 5}, prompt.Carousel},
	{platform.KindStory, provider.Request{Pictures: 1}, prompt.Story},
	{platform.KindVideo, provider.Request{ScriptSeconds: 19, Scenes: 4}, prompt.Script},
	{platform.KindMusicClip, provider.Request{Pictures: 1}, prompt.Song},
}

// page returns a page with ten texts of each type of factory and the prompts that they were requested with. The texts
// are those of a fake, which repeats the request: the page shows what a writer is told, and that its answer is read.
func page(ctx context.Context) (string, error) {
	server := httptest.NewServer(fake.New(fake.Config{Control: control.New(), Samples: sample.File, Now: time.Now}))
	defer server.Close()
	writer := bedrock.New(bedrock.Config{Endpoint: server.URL, AWS: aws.Config{Region: "eu-central-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "fake", SecretAccessKey: "fake"}, nil
		})}})
	m, ok := catalog.Find("nova-lite")
	if !ok {
		return "", errors.New("the catalog has lost the model nova-lite")
	}
	var b strings.Builder
	b.WriteString("# Prompts and answers\n\n`go run ./infra/verify/evaluate -page` prints this: ten texts of each type " +
		"of factory, with the prompts. The writer is a fake that repeats the request.\n")
	for _, of := range slices.Sorted(maps.Keys(channels)) {
		fmt.Fprintf(&b, "\n## %s\n", of)
		for _, k := range pieces {
			for i, language := range []string{"en", "de"} {
				req := k.req
				req.Kind, req.Model, req.Options = provider.KindText, m.ProviderModel, m.ProviderOptions
				req.Language, req.Prompt = language, channels[of].subjects[i]
				asked := prompt.Write(writing(of, k.task, k.name, req))
				req.System, req.User = asked.System, asked.User
				sub, err := writer.Submit(ctx, req)
				if err != nil {
					return "", fmt.Errorf("%s of %s: %w", k.name, of, err)
				}
				fmt.Fprintf(&b, "\n### %s, %s (%s)\n\n", k.name, language, asked.Version)
				show(&b, *sub.Result.Text)
				fmt.Fprintf(&b, "\nUser's prompt:\n\n```json\n%s\n```\n", asked.User)
				if language == "en" {
					fmt.Fprintf(&b, "\n<details><summary>System prompt</summary>\n\n```text\n%s\n```\n\n</details>\n",
						asked.System)
				}
			}
		}
	}
	return b.String(), nil
}

// writing returns what the writer of a request is told.
func writing(of string, task prompt.Task, kind platform.Kind, req provider.Request) prompt.Writing {
	channel := prompt.Channel{Name: "The " + of, Type: of, Tone: "warm", Settings: channels[of].settings}
	w := prompt.Writing{Task: task, Type: of, Channel: channel.Sentences(), Language: req.Language, Subject: req.Prompt,
		Slides: req.Slides, Pictures: req.Pictures, Scenes: req.Scenes, Seconds: req.ScriptSeconds,
		Headline: req.Headline}
	for _, name := range []string{"instagram", "telegram"} {
		row, _ := registry.Find(name)
		if target, takes := prompt.TargetOf(row.Capabilities, kind); takes {
			w.Targets = append(w.Targets, target)
		}
	}
	return w
}

// show writes the texts that readers see.
func show(b *strings.Builder, t provider.Text) {
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(b, "- %s: %s\n", name, strings.ReplaceAll(text, "\n", " / "))
		}
	}
	line("title", t.Title)
	line("headline", t.Headline)
	line("caption", t.Caption)
	line("hashtags", strings.Join(t.Hashtags, " "))
	for _, s := range t.Slides {
		line("slide", s.Heading+" / "+s.Body)
	}
	for _, s := range t.Scenes {
		line("scene", s.Text+" / "+s.OnScreen)
	}
	line("sound", t.Sound)
}
