// Command prompts prints the size of the prompts of content items and the price of their texts, by kind and quality, as
// a table in Markdown. It makes no call.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/resource"
)

var offer = catalog.NewOffer("bedrock,fal,elevenlabs,polly", "us-east-1", time.Now)

func main() {
	fmt.Print("| Kind | Prompt, bytes | Tokens in, at most | Tokens out, at most | Item: draft | standard | best |\n" +
		"|---|--:|--:|--:|--:|--:|--:|\n")
	for _, kind := range []item.Kind{item.Post, item.Carousel, item.Story, item.Video, item.MusicClip} {
		var credits []int64
		var system, user string
		var tokens provider.Tokens
		for _, quality := range item.Qualities {
			r, err := record(kind, quality)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			credits = append(credits, r.Attempt.Credits)
			r.Item.State, r.Item.Title, r.Item.Caption = item.Generated, "Title", "Caption"
			asked, _, _ := r.WrittenTexts()
			system, user = provider.TextPrompt(asked)
			tokens = provider.TextTokens(asked)
		}
		fmt.Printf("| %s | %d | %d | %d | %d | %d | %d |\n", kind, len(system)+len(user), tokens.Input, tokens.Output,
			credits[0], credits[1], credits[2])
	}
}

// record returns a planned item of a small brand.
func record(kind item.Kind, quality string) (*item.Record, error) {
	short := item.FormatShort
	r := &item.Record{Item: item.Item{Kind: kind, Content: item.Content{Prompt: "Our new trail running shoe, made of recycled nets"},
		Language: "en", Attempt: 1, Quality: resource.Text(quality)}}
	switch kind {
	case item.Video:
		r.Item.Format = &short
	case item.Carousel:
		r.Item.Slides = []item.Slide{{Text: "1"}, {Text: "2"}, {Text: "3"}, {Text: "4"}, {Text: "5"}}
	}
	var err error
	r.Brief, err = item.NewBrief(item.Factory{Type: "brand", Name: "Acme", Description: "Shoes of nets.",
		Audience: "Runners", Tone: "warm", Settings: []byte(`{"brand_name":"Acme"}`), Models: map[string]string{}})
	if err != nil {
		return nil, err
	}
	return r, item.PlannerOf(r).Plan(offer, item.Options{}, true)
}
