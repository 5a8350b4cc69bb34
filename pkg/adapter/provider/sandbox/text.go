package sandbox

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/adapter/provider"
)

const (
	maxTopic    = 160 // characters of the prompt that a text is made from
	maxTitle    = 60  // characters
	maxHashtags = 5
	minHashtag  = 4 // characters of a word that is worth a hashtag
)

// phrases are the texts around the topic, by language: a caption with the topic, the heading of a slide with its
// number, and the spoken text of a scene, with its number and the topic.
var phrases = map[string][3]string{
	"de": {"Ein Beispieltext der Sandbox zum Thema: %s.\n\nMit einem Live-Schlüssel schreibt ihn ein Sprachmodell.",
		"Punkt %d", "Szene %d, ein Beispiel zum Sprechen. Es geht um: %s."},
	"en": {"A sample caption from the sandbox about: %s.\n\nWith a live key a language model writes it.", "Point %d",
		"Scene %d is a sample to be spoken. It is about: %s."},
	"es": {"Un texto de ejemplo del sandbox sobre: %s.\n\nCon una clave real lo escribe un modelo de lenguaje.",
		"Punto %d", "La escena %d es un ejemplo para hablar. Trata de: %s."},
	"fr": {"Un texte d’exemple du bac à sable sur : %s.\n\nAvec une clé réelle, un modèle de langage l’écrit.",
		"Point %d", "La scène %d est un exemple à dire. Elle parle de : %s."},
	"pt": {"Um texto de exemplo do sandbox sobre: %s.\n\nCom uma chave real, um modelo de linguagem o escreve.",
		"Ponto %d", "A cena %d é um exemplo para falar. É sobre: %s."},
	"ru": {"Пример подписи из песочницы на тему: %s.\n\nС боевым ключом её пишет языковая модель.", "Пункт %d",
		"Сцена %d, пример для озвучивания. Она о теме: %s."},
}

// baseLanguage returns the language of a BCP 47 tag if the sandbox supports it, and English otherwise.
func baseLanguage(tag string) string {
	lang, _, _ := strings.Cut(strings.ToLower(tag), "-")
	if _, ok := phrases[lang]; !ok {
		return "en"
	}
	return lang
}

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

func (w work) text() provider.Text {
	phrase := phrases[baseLanguage(w.Lang)]
	title := provider.Clip(w.Topic, maxTitle)
	if first, size := utf8.DecodeRuneInString(title); size > 0 {
		title = string(unicode.ToUpper(first)) + title[size:]
	}
	t := provider.Text{Title: title, Caption: fmt.Sprintf(phrase[0], w.Topic), Hashtags: hashtags(w.Topic)}
	for i := range w.Slides {
		t.Slides = append(t.Slides, fmt.Sprintf(phrase[1], i+1)+": "+title)
	}
	for i := range w.Scenes {
		spoken := time.Duration(w.Script) * time.Second / time.Duration(w.Scenes)
		said := fmt.Sprintf(phrase[2], i+1, title)
		for provider.SpokenLength(said) < spoken {
			said += " " + fmt.Sprintf(phrase[2], i+1, title)
		}
		t.Scenes = append(t.Scenes, provider.Scene{Text: provider.ClipSpoken(said, spoken), Visual: title})
	}
	return t
}

// hashtags returns the longer words of the topic, each once, and one that names the sandbox.
func hashtags(topic string) []string {
	var tags []string
	words := strings.FieldsFunc(strings.ToLower(topic), func(r rune) bool {
		return !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number)
	})
	for _, word := range words {
		if len(tags) < maxHashtags-1 && utf8.RuneCountInString(word) >= minHashtag && !slices.Contains(tags, word) &&
			word != Name {
			tags = append(tags, word)
		}
	}
	return append(tags, Name)
}
