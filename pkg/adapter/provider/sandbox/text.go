package sandbox

import (
	"strings"
	"unicode"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/samples"
)

const (
	maxTopic = 160 // characters of the prompt that a text is made from
	// Characters of what a text is about.
	maxProduct, maxAbout, maxName, maxWord = 60, 100, 40, 20
)

// topic returns the beginning of the prompt on one line, without the end of a sentence. It is never empty.
func topic(prompt string) string {
	printable := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || unicode.IsSpace(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(prompt, ""))
	line := strings.Join(strings.Fields(printable), " ")
	if line = strings.TrimRight(provider.Clip(line, maxTopic), ".!?…,;: "); line == "" {
		return Name
	}
	return line
}

// fit returns what a text is about, in lengths that fit into a handle.
func fit(a provider.About) *provider.About {
	for _, m := range []struct {
		text *string
		most int
	}{{&a.Kind, maxWord}, {&a.Type, maxWord}, {&a.Name, maxName}, {&a.Product, maxProduct}, {&a.Description, maxAbout},
		{&a.Channel, maxAbout},
		{&a.Price, maxName}, {&a.Was, maxName}, {&a.Until, maxWord}} {
		*m.text = provider.Clip(provider.OneLine(*m.text), m.most)
	}
	return &a
}

// text writes a text: about the topic, or the product, as the kind of content and the type of factory have it. A text
// that was refused is written with none of its words.
func (w work) text() provider.Text {
	t := w.sample()
	if !w.Plain {
		return t
	}
	const word = "Test"
	t.Title, t.Caption, t.Hashtags, t.Hooks = word, word+".", []string{Name}, []string{word, word, word}
	if w.Head {
		t.Headline = word
	}
	for i := range t.Short {
		t.Short[i].Caption = word + "."
	}
	for i := range t.Pictures {
		t.Pictures[i].Alt = word
	}
	for i := range t.Slides {
		t.Slides[i].Heading, t.Slides[i].Body, t.Slides[i].Alt = word, "", word
	}
	for i := range t.Scenes {
		t.Scenes[i].Text, t.Scenes[i].OnScreen = word+".", ""
	}
	return t
}

func (w work) sample() provider.Text {
	o := samples.Order{Language: w.Lang, Topic: w.Topic, Slides: w.Slides, Pictures: w.Pictures, Scenes: w.Scenes,
		Seconds: w.Script, Sources: w.Sources, Headline: w.Head, Short: w.Short, Hashtags: w.Tags, Seed: w.Seed}
	if w.About != nil {
		o.About = *w.About
	}
	return samples.Write(o)
}
