package catalog

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/language"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/text"
)

// The lengths that are requested if none is given and the model has no list.
const (
	usualVideo = 5
	usualMusic = 30
	// maxSpokenSeconds bounds avatars of models without a bound of their own.
	maxSpokenSeconds = 300
)

// PriceOf returns the price of a request in credits, or ErrNoPrice if the model has none. It depends only on the
// request, so that the estimate and the reservation are equal.
func (m Model) PriceOf(req provider.Request) (int64, error) {
	if m.Kind == provider.KindAvatar && req.AudioURL != "" && req.SpeechLength <= 0 {
		return 0, fmt.Errorf("catalog: a recording for %s was not measured", m.ID)
	}
	return m.Cost(m.quantity(req))
}

func (m Model) quantity(req provider.Request) Quantity {
	q := Quantity{Tracks: 1}
	switch m.Kind {
	case provider.KindText:
		req.Options = m.ProviderOptions
		tokens := provider.TextTokens(req)
		q.InputTokens, q.OutputTokens = tokens.Input, tokens.Output
	case provider.KindImage:
		q.Images = max(req.Count, 1)
	case provider.KindVoice:
		q.Characters = m.billedCharacters(req.Prompt)
		if req.Marks && m.Provider == "polly" && m.ProviderModel != "generative" {
			q.Characters *= 2 // marks are billed like speech
		}
	case provider.KindVideo, provider.KindMusic:
		q.Length = seconds(m.Length(req.Seconds))
	case provider.KindAvatar:
		q.Length = speechLength(req)
	}
	return q
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// Length returns the length in seconds of the result for a requested length: the same if the model can make it, else
// the shortest longer one, else the longest. 0 requests the usual length. Length returns 0 if the model alone decides.
func (m Model) Length(asked int) int {
	c := m.Capabilities
	if m.decidesLength() {
		return 0
	}
	if asked == 0 {
		if asked = usualVideo; m.Kind == provider.KindMusic {
			asked = usualMusic
		}
	}
	if len(c.Seconds) > 0 {
		for _, s := range slices.Sorted(slices.Values(c.Seconds)) {
			if s >= asked {
				return s
			}
		}
		return slices.Max(c.Seconds)
	}
	asked = max(asked, c.MinSeconds)
	if c.MaxSeconds > 0 {
		return min(asked, c.MaxSeconds)
	}
	return asked
}

// DefaultRatio returns the aspect ratio that is used if none is requested: that of phones for clips, and a square for
// pictures, if the model has it. It is empty if its pictures have no ratio, or if the input picture decides.
func (m Model) DefaultRatio() string {
	all, usual := m.Capabilities.AspectRatios, "9:16"
	if m.Kind == provider.KindImage {
		usual = "1:1"
	}
	switch {
	case len(all) == 0:
		return ""
	case slices.Contains(all, usual):
		return usual
	}
	return all[0]
}

// decidesLength reports whether the model determines the length of its result: a song is as long as its lyrics.
func (m Model) decidesLength() bool {
	c := m.Capabilities
	return m.Kind == provider.KindMusic && len(c.Seconds) == 0 && c.MaxSeconds == 0
}

// Check refuses a request that the model cannot carry out, naming the member at fault by its JSON pointer below prefix:
// /aspect_ratio, /duration_seconds, /count, /text, /language, /image_url, /audio_url, /video_url, /lyrics.
func (m Model) Check(req provider.Request, prefix string) error {
	invalid := func(member, format string, args ...any) error {
		return errs.Invalid(prefix+member, "%s", fmt.Sprintf(format, args...))
	}
	if err := m.inputs(req, prefix); err != nil {
		return err
	}
	c := m.Capabilities
	switch {
	case req.AspectRatio != "" && len(c.AspectRatios) == 0:
		return invalid("/aspect_ratio", "cannot be set for the model %s", m.ID)
	case req.AspectRatio != "" && !slices.Contains(c.AspectRatios, req.AspectRatio):
		return invalid("/aspect_ratio", "%s, by the model %s", text.NotOneOf(req.AspectRatio, c.AspectRatios), m.ID)
	case req.Count < 0 || req.Count > 1 && c.MaxImages <= 1:
		return invalid("/count", "must be 1 for the model %s", m.ID)
	case req.Count > max(c.MaxImages, 1):
		return invalid("/count", "must be between 1 and %d for the model %s", c.MaxImages, m.ID)
	}
	for _, bounded := range []struct {
		member, text string
		limits       []int
	}{{"/prompt", req.Prompt, c.PromptCharacters}, {"/lyrics", req.Lyrics, c.LyricsCharacters}} {
		if n := utf8.RuneCountInString(bounded.text); len(bounded.limits) == 2 &&
			(n < bounded.limits[0] || n > bounded.limits[1]) {
			return invalid(bounded.member, "must have %d to %d characters for the model %s, not %d", bounded.limits[0],
				bounded.limits[1], m.ID, n)
		}
	}
	if first, second, _ := strings.Cut(strings.TrimSpace(req.Prompt), "\n"); slices.Contains(c.Requires,
		InputDialogue) && (first == "" || strings.TrimSpace(second) == "") {
		return invalid("/text", "must have two lines for the model %s, one for each of its two speakers", m.ID)
	}
	if _, err := language.Parse(req.Language); req.Language != "" && err != nil {
		return invalid("/language", "is not a language tag (BCP 47); write it as en or de-DE")
	}
	switch m.Kind {
	case provider.KindVideo, provider.KindMusic:
		if req.Seconds != 0 && m.decidesLength() {
			return invalid("/duration_seconds", "cannot be set for the model %s", m.ID)
		}
		if req.Seconds != 0 && m.Length(req.Seconds) != req.Seconds {
			return invalid("/duration_seconds", "must be %s for the model %s", m.lengths(), m.ID)
		}
	case provider.KindAvatar:
		most := maxSpokenSeconds
		if c.MaxSeconds > 0 {
			most = c.MaxSeconds
		}
		length := speechLength(req)
		if length <= seconds(most) {
			break
		}
		if req.SpeechLength > 0 {
			e := errs.New(errs.UnsupportedMedia, "The recording is %.1f seconds long; the model %s speaks at most %d.",
				length.Seconds(), m.ID, most)
			e.Param = prefix + "/audio_url"
			return e
		}
		return invalid("/text", "takes about %.0f seconds to speak; the model %s speaks at most %d",
			math.Ceil(length.Seconds()), m.ID, most)
	case provider.KindVoice:
		if n := utf8.RuneCountInString(req.Prompt); c.MaxCharacters > 0 && n > c.MaxCharacters {
			return invalid("/text", "has %d characters; the model %s speaks at most %d", n, m.ID, c.MaxCharacters)
		}
		if req.Language != "" && !m.Speaks(req.Language) {
			return invalid("/language", "%s, by the model %s", text.NotOneOf(req.Language, c.Languages), m.ID)
		}
	}
	return nil
}

// inputs refuses a request that lacks an input that the model needs, or has one that it does not take.
func (m Model) inputs(req provider.Request, prefix string) error {
	invalid := func(member, format string, args ...any) error {
		return errs.Invalid(prefix+member, format, args...)
	}
	c := m.Capabilities
	given := []struct {
		input  Input
		member string
		value  string
		takes  bool
	}{
		{InputImage, "/image_url", req.ImageURL, c.FromImage || slices.Contains(c.Requires, InputImage)},
		{InputAudio, "/audio_url", req.AudioURL, c.FromAudio || slices.Contains(c.Requires, InputAudio)},
		{InputVideo, "/video_url", req.VideoURL, slices.Contains(c.Requires, InputVideo)},
		{InputLyrics, "/lyrics", req.Lyrics, slices.Contains(c.Requires, InputLyrics)},
	}
	for _, g := range given {
		switch {
		case g.value != "" && !g.takes:
			return invalid(g.member, "is not supported by the model %s", m.ID)
		case g.value == "" && slices.Contains(c.Requires, g.input):
			return invalid(g.member, "is required by the model %s", m.ID)
		}
	}
	return nil
}

// alike maps languages to those that they are spoken as: texts in Bokmål or Nynorsk are spoken as Norwegian, and
// Chinese and Arabic mean the standard languages.
var alike = map[string]string{"nb": "no", "nn": "no", "cmn": "zh", "arb": "ar"}

// Speaks reports whether the model speaks a language (BCP 47), according to its provider.
func (m Model) Speaks(tag string) bool {
	all := m.Capabilities.Languages
	parsed, err := language.Parse(tag)
	if err != nil {
		return false
	}
	base, _ := parsed.Base()
	return len(all) == 0 || slices.Contains(all, base.String()) || slices.Contains(all, alike[base.String()])
}

// lengths describes the lengths that a request may have.
func (m Model) lengths() string {
	if c := m.Capabilities; len(c.Seconds) > 0 {
		words := make([]string, len(c.Seconds))
		for i, s := range c.Seconds {
			words[i] = fmt.Sprint(s)
		}
		return "one of " + strings.Join(words, ", ")
	}
	return fmt.Sprintf("between %d and %d", max(m.Capabilities.MinSeconds, 1), m.Capabilities.MaxSeconds)
}
