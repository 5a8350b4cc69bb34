package sandbox

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/samples"
)

const (
	maxTopic = 160 // characters of the prompt that a text is made from
	maxTitle = 60  // characters
	// Characters of what a text is about.
	maxAbout, maxName, maxWord = 100, 40, 20
	maxHashtags                = 5
	minHashtag                 = 4 // characters of a word that is worth a hashtag
	// style is the style of all pictures.
	style = "Documentary photography, soft daylight, muted colors, shallow depth of field"
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
	}{{&a.Kind, maxWord}, {&a.Type, maxWord}, {&a.Name, maxName}, {&a.Product, maxTitle}, {&a.Description, maxAbout},
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

// sample writes a text of samples.
func (w work) sample() provider.Text {
	texts, about := samples.Of(w.Lang), provider.About{}
	if w.About != nil {
		about = *w.About
	}
	pick := func(from map[string]string, name, usual string) string { return cmp.Or(from[name], from[usual]) }
	subject := cmp.Or(about.Name, about.Product, samples.Capital(w.Topic))
	fill := func(text string) string {
		return samples.Fill(text, "topic", w.Topic, "name", subject, "product", about.Product, "about",
			sentence(about.Description), "price", about.Price, "was", about.Was, "until", until(about.Until, texts.Date))
	}
	title := headline(samples.Capital(w.Topic))
	var offer []string // about the product
	if about.Product != "" {
		offer = append(offer, strings.TrimSpace(fill(texts.Product)))
	}
	switch {
	case about.Was != "":
		offer = append(offer, fill(texts.Reduced))
	case about.Price != "":
		offer = append(offer, fill(texts.Price))
	}
	paragraphs := []string{fill(pick(texts.Open, about.Type, "blogger"))}
	if about.Kind == "story" {
		paragraphs = append(paragraphs, offer...)
	} else {
		paragraphs = append(paragraphs, strings.Join(offer, " "), pick(texts.Body, about.Kind, "post"),
			pick(texts.Close, about.Type, "blogger"))
	}
	paragraphs = slices.DeleteFunc(paragraphs, func(p string) bool { return p == "" })
	t := provider.Text{Title: title, Caption: strings.Join(paragraphs, "\n\n"),
		Hashtags: hashtags(about.Product + " " + w.Topic), Hook: 1, Style: style}
	if w.Head {
		t.Headline = provider.Clip(title, maxName)
	}
	t.Hooks = append(t.Hooks, provider.Clip(paragraphs[0], maxTopic))
	for _, hook := range texts.Hooks {
		t.Hooks = append(t.Hooks, fill(hook))
	}
	picture := func(subject string) provider.Picture {
		return provider.Picture{Visual: "A quiet scene about: " + subject,
			Alt: samples.Fill(texts.Alt, "subject", subject)}
	}
	if w.Sources > 0 {
		t.Sources = []int{1}
	}
	for range w.Pictures {
		t.Pictures = append(t.Pictures, picture(title))
	}
	for i, heading := range w.slides(texts, about, fill, title) {
		slide := provider.Slide{Heading: heading, Picture: picture(heading)}
		if i > 0 {
			slide.Body = texts.SlideBodies[i%len(texts.SlideBodies)]
		}
		t.Slides = append(t.Slides, slide)
	}
	if about.Kind == "music_clip" {
		t.Sound = "Slow and warm, with a soft piano over strings."
	}
	opening := samples.Fill(texts.Scenes[0], "topic", title)
	sentences := slices.Concat([]string{opening}, offer, texts.Scenes[1:])
	var rest []string
	for i := range w.Scenes {
		spoken, said := time.Duration(w.Script)*time.Second/time.Duration(w.Scenes), ""
		for {
			if len(rest) == 0 {
				rest = slices.Clone(sentences)
			}
			next := slices.IndexFunc(rest,
				func(more string) bool { return provider.SpokenLength(said+" "+more) <= spoken })
			if next < 0 {
				break
			}
			said = strings.TrimSpace(said + " " + rest[next])
			rest = slices.Delete(rest, next, next+1)
		}
		if said == "" {
			said = provider.ClipSpoken(opening, spoken)
		}
		scene := provider.Scene{Text: said, Visual: picture(title).Visual}
		if i == 0 {
			scene.OnScreen = provider.Clip(title, maxName)
		}
		t.Scenes = append(t.Scenes, scene)
	}
	return t
}

// headline returns the beginning of a text: as much as fits into a title, and its last clause as a whole if it can.
func headline(text string) string {
	short := provider.Clip(text, maxTitle)
	if cut := strings.LastIndex(short, ", "); short != text && cut > 0 {
		short = short[:cut]
	}
	return short
}

// slides returns the headings of a carousel: its title first, then thoughts and the product, and an invitation last.
func (w work) slides(texts samples.Texts, about provider.About, fill func(string) string, title string) (all []string) {
	for i := range w.Slides {
		switch heading := texts.Slides[(int(w.Seed%uint32(len(texts.Slides)))+i)%len(texts.Slides)]; {
		case i == 0:
			all = append(all, title)
		case i == 1 && about.Product != "":
			all = append(all, about.Product)
		case i == 2 && about.Price != "" && i < w.Slides-1:
			all = append(all, fill(texts.SlidePrice))
		case i == w.Slides-1:
			all = append(all, texts.SlideClose)
		default:
			all = append(all, heading)
		}
	}
	return all
}

// sentence returns a text that ends a sentence, or "".
func sentence(text string) string {
	if text = strings.TrimRight(text, ".!?… "); text == "" {
		return ""
	}
	return text + "."
}

// until returns a day in the layout of a language.
func until(day, layout string) string {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	return at.Format(layout)
}

// hashtags returns the longer words of the topic, each once.
func hashtags(topic string) []string {
	var tags []string
	words := strings.FieldsFunc(strings.ToLower(topic), func(r rune) bool {
		return !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number)
	})
	for _, word := range words {
		if len(tags) < maxHashtags && utf8.RuneCountInString(word) >= minHashtag && !slices.Contains(tags, word) {
			tags = append(tags, word)
		}
	}
	if tags == nil {
		return []string{Name}
	}
	return tags
}
