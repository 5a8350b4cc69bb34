package fal

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/adapter/provider"
)

// member is the member of a model's input for a value. The zero value means that the model does not take it.
type member struct {
	name     string
	required bool
}

func may(name string) member  { return member{name: name} }
func must(name string) member { return member{name: name, required: true} }

// duration is the form in which a model takes the length.
type duration struct {
	name string
	as   func(seconds int) any
}

// The forms of a length. Models of one family agree, families do not.
var (
	asNumber       = func(s int) any { return s }
	asText         = func(s int) any { return strconv.Itoa(s) }
	asTextWithUnit = func(s int) any { return strconv.Itoa(s) + "s" }
)

// model describes how a model takes a request. If a name is empty, it does not take the value.
type model struct {
	kind provider.Kind

	prompt     member // the description, or the text to speak
	ratio      string // the aspect ratio as it is …
	megapixels int    // … or image_size, of up to so many
	keepsShape bool   // the input picture determines the shape, unless a ratio is requested
	length     duration
	count      string // the number of pictures

	image, audio, video, lyrics member

	voice, avatar string

	// fixed are members that are always sent, unless the catalog's options or the request override them.
	fixed map[string]any
	// limits are the fewest and most characters of a member.
	limits map[string][2]int
	// finish adds parts that are more than a single member.
	finish func(in map[string]any, r provider.Request) error
}

// input makes the body of a submission.
func (m model) input(r provider.Request) (map[string]any, error) {
	in := maps.Clone(m.fixed)
	if in == nil {
		in = map[string]any{}
	}
	for name, value := range r.Options {
		in[name] = option(value)
	}
	if m.audio.name != "" && r.AudioURL != "" && m.prompt.name != "" && m.kind == provider.KindAvatar {
		r.Prompt = "" // spoken already
	}
	for _, given := range []struct {
		to    member
		value string
		what  string
	}{
		{m.prompt, r.Prompt, "a prompt"},
		{m.image, r.ImageURL, "an image"},
		{m.audio, r.AudioURL, "speech"},
		{m.video, r.VideoURL, "a video"},
		{m.lyrics, r.Lyrics, "lyrics"},
	} {
		switch {
		case given.to.name == "" && given.value != "" && given.what != "a prompt":
			return nil, badInput("invalid_input", "The model does not take %s.", given.what)
		case given.to.required && strings.TrimSpace(given.value) == "":
			return nil, badInput("invalid_input", "The model needs %s.", given.what)
		case given.to.name != "" && given.value != "":
			in[given.to.name] = given.value
		}
	}
	if m.ratio != "" && r.AspectRatio != "" {
		in[m.ratio] = r.AspectRatio
	}
	if m.megapixels > 0 {
		size, err := imageSize(r.AspectRatio, m.megapixels)
		if err != nil {
			return nil, err
		}
		in["image_size"] = size
	}
	if m.length.name != "" && r.Seconds > 0 {
		in[m.length.name] = m.length.as(r.Seconds)
	}
	switch {
	case m.count != "":
		in[m.count] = max(r.Count, 1)
	case r.Count > 1:
		return nil, badInput("invalid_input", "The model makes one file at a time.")
	}
	for name, value := range map[string]string{m.voice: r.Voice, m.avatar: r.Avatar} {
		if name != "" && value != "" {
			in[name] = value
		}
	}
	if m.finish != nil {
		if err := m.finish(in, r); err != nil {
			return nil, err
		}
	}
	return in, m.withinLimits(in)
}

// withinLimits refuses texts that the model would refuse.
func (m model) withinLimits(in map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(m.limits)) {
		limit := m.limits[name]
		text, _ := in[name].(string)
		if n := utf8.RuneCountInString(text); n < limit[0] || n > limit[1] {
			what := "prompt"
			if name == m.lyrics.name {
				what = "lyrics"
			}
			return badInput("invalid_input", "The model requires %s of %d to %d characters, not %d.", what,
				limit[0], limit[1], n)
		}
	}
	return nil
}

// option converts a setting of the catalog, which has texts alone, to its type.
func option(value string) any {
	if b, err := strconv.ParseBool(value); err == nil && (value == "true" || value == "false") {
		return b
	}
	return value
}

// dialogue is for models that need a voice for each speaker's text.
func dialogue(in map[string]any, r provider.Request) error {
	voice := r.Voice
	if voice == "" {
		voice = "Aria"
	}
	in["inputs"] = []any{map[string]any{"text": r.Prompt, "voice": voice}}
	// The model only knows two-letter codes, and detects other languages by itself.
	if language := baseLanguage(r.Language); len(language) == 2 {
		in["language_code"] = language
	}
	return nil
}

// twoSpeakers divides a conversation at the first line break, for a model with two people, each of whom speaks once.
func twoSpeakers(in map[string]any, r provider.Request) error {
	first, second, _ := strings.Cut(strings.TrimSpace(r.Prompt), "\n")
	if first, second = strings.TrimSpace(first), strings.TrimSpace(second); first == "" || second == "" {
		return badInput("invalid_input", "The model has two speakers: write what the second one says on a new line.")
	}
	in["first_text_input"], in["second_text_input"] = first, second
	return nil
}

// boost is for MiniMax's speech, which needs the English name of the language.
func boost(in map[string]any, r provider.Request) error {
	if r.Voice != "" {
		in["voice_setting"] = map[string]any{"voice_id": r.Voice}
	}
	if name, ok := languageNames[baseLanguage(r.Language)]; ok {
		in["language_boost"] = name
	}
	return nil
}

var languageNames = map[string]string{
	"af": "Afrikaans", "ar": "Arabic", "arb": "Arabic", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech",
	"da": "Danish", "de": "German",
	"el": "Greek", "en": "English", "es": "Spanish", "fi": "Finnish", "fr": "French", "he": "Hebrew", "hi": "Hindi",
	"hr": "Croatian", "hu": "Hungarian", "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ko": "Korean",
	"ms": "Malay",
	"nb": "Norwegian", "nl": "Dutch", "nn": "Nynorsk", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese",
	"ro": "Romanian",
	"ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sv": "Swedish", "th": "Thai", "tr": "Turkish",
	"uk": "Ukrainian",
	"vi": "Vietnamese", "yue": "Chinese,Yue", "zh": "Chinese", "cmn": "Chinese",
}

// baseLanguage returns the language of a BCP 47 tag, without script and region.
func baseLanguage(tag string) string {
	base, _, _ := strings.Cut(strings.ToLower(tag), "-")
	return base
}
