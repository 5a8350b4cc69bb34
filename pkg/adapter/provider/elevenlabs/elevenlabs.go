// Package elevenlabs speaks and composes with ElevenLabs, over its HTTP API:
//
//   - POST /v1/text-to-speech/{voice_id} (API reference, "Create speech") makes
//     speech of a text. The voice is part of the path. The language is an ISO 639
//     code, except for eleven_multilingual_v2, which refuses one and detects the
//     language of the text.
//   - POST /v1/text-to-speech/{voice_id}/with-timestamps (API reference, "Create speech
//     with timing") makes the same, and says when each character is spoken.
//   - POST /v1/music (API reference, "Compose music") makes a track of a
//     description, of 3 to 600 seconds.
//
// Both answer with the finished file, so that there is nothing to poll, to fetch or to cancel, and no handle. The API
// takes no idempotency key: an answer that is lost, cut short or unreadable is an UnknownOutcome. The file is then
// lost, since it has no id, and a second submission costs a second generation. Speech gets a seed derived from the
// client token, so that the second one sounds like the first as far as the provider allows.
//
// A refusal has its reason in detail.status ("API errors"): both an exhausted quota and an invalid key are a 401. Start
// with Provider.
package elevenlabs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/wire"
)

// Name is the provider's name.
const Name = "elevenlabs"

// OptionVoice is the option of the catalog that names a model's default voice.
const OptionVoice = "voice"

const (
	baseURL = "https://api.elevenlabs.io"

	// defaultVoice is George, one of the premade voices that every account has and that speaks all languages.
	defaultVoice = "JBFqnCBsd6RMkjVDRZzb"

	// outputFormat is a format that all plans include.
	outputFormat = "mp3_44100_128"

	// The provider answers when the file is done. Both bounds hold ten minutes of
	// music at that format (10 MB), and forty minutes of speech (38 MB).
	callTimeout = 100 * time.Second
	maxAnswer   = 48 << 20
	maxTimed    = 80 << 20 // the file in base64, and three values for each character

	minMusicSeconds = 3
	maxMusicSeconds = 600
	maxMusicPrompt  = 4100 // characters, lyrics included
)

// maxText is the largest number of characters that a model speaks at once.
var maxText = map[string]int{
	"eleven_v4":              10_000,
	"eleven_v4_turbo":        10_000,
	"eleven_v3":              5_000,
	"eleven_multilingual_v2": 10_000,
	"eleven_flash_v2_5":      40_000,
	"eleven_turbo_v2_5":      40_000,
}

// hearsLanguage are the models that refuse a language.
var hearsLanguage = map[string]bool{"eleven_multilingual_v2": true}

// Provider is ElevenLabs.
type Provider struct{ client *wire.Client }

var _ provider.Provider = (*Provider)(nil)

// New makes the provider. It makes no call.
func New(cfg wire.Config) *Provider {
	return &Provider{client: wire.New(cfg, wire.Dialect{
		Provider:  Name,
		BaseURL:   baseURL,
		Authorize: func(h http.Header, key string) { h.Set("Xi-Api-Key", key) },
		Classify:  refused,
	})}
}

// Name implements provider.Provider.
func (p *Provider) Name() string { return Name }

// Capabilities implements provider.Provider.
func (p *Provider) Capabilities() provider.Capabilities {
	return provider.Capabilities{Kinds: map[provider.Kind]provider.Capability{
		provider.KindVoice: {},
		provider.KindMusic: {MaxSeconds: maxMusicSeconds},
	}}
}

// speech is the body of POST /v1/text-to-speech/{voice_id}.
type speech struct {
	Text         string `json:"text"`
	ModelID      string `json:"model_id"`
	LanguageCode string `json:"language_code,omitempty"`
	Seed         uint32 `json:"seed"`
}

// music is the body of POST /v1/music. It takes a seed only with a composition plan, which is not used here.
type music struct {
	Prompt        string `json:"prompt"`
	ModelID       string `json:"model_id"`
	MusicLengthMS int    `json:"music_length_ms,omitempty"`
}

// Submit implements provider.Provider. It returns the result at once.
func (p *Provider) Submit(ctx context.Context, req provider.Request) (provider.Submission, error) {
	if err := req.Validate(p.Capabilities()); err != nil {
		return provider.Submission{}, err
	}
	call, err := callOf(req)
	if err != nil {
		return provider.Submission{}, err
	}
	content, err := p.client.Bytes(ctx, call)
	if err != nil {
		return provider.Submission{}, err
	}
	result := &provider.Result{}
	if timed(req) {
		if content, result.Marks, err = readTimed(content, req.Prompt); err != nil {
			return provider.Submission{}, p.client.Garbled(call, err)
		}
	}
	if !isMP3(content) {
		return provider.Submission{}, p.client.Garbled(call, errors.New("it is no MP3"))
	}
	result.Media = []provider.File{provider.FileOf(content)}
	return provider.Submission{Result: result}, nil
}

func callOf(req provider.Request) (wire.Call, error) {
	call := wire.Call{
		Method:  http.MethodPost,
		Query:   url.Values{"output_format": {outputFormat}},
		Header:  http.Header{"Accept": {"audio/mpeg"}},
		Submits: true, Timeout: callTimeout, MaxAnswer: maxAnswer,
	}
	var err error
	if req.Kind == provider.KindMusic {
		call.Path = "/v1/music"
		call.Body, err = musicOf(req)
		return call, err
	}
	voice := cmp.Or(req.Voice, req.Options[OptionVoice], defaultVoice)
	if !voiceID().MatchString(voice) {
		return call, invalid("unknown_voice", "The provider has no such voice.")
	}
	call.Path = "/v1/text-to-speech/" + voice
	if timed(req) {
		call.Path += "/with-timestamps"
		call.Header.Set("Accept", "application/json")
		call.MaxAnswer = maxTimed
	}
	call.Body, err = speechOf(req)
	return call, err
}

// voiceID is the form of the ids of voices. An id becomes part of a URL.
var voiceID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9]{8,64}$`)
})

func speechOf(req provider.Request) (speech, error) {
	if most := maxText[req.Model]; most > 0 && utf8.RuneCountInString(req.Prompt) > most {
		return speech{}, invalid("text_too_long",
			"The text has more than the %d characters that the model speaks.", most)
	}
	code, err := languageCode(req.Language)
	if err != nil {
		return speech{}, err
	}
	if hearsLanguage[req.Model] {
		code = ""
	}
	return speech{Text: req.Prompt, ModelID: req.Model, LanguageCode: code, Seed: seed(req.ClientToken)}, nil
}

func musicOf(req provider.Request) (music, error) {
	if req.Seconds != 0 && req.Seconds < minMusicSeconds {
		return music{}, invalid("invalid_input", "A track has at least %d s.", minMusicSeconds)
	}
	prompt := req.Prompt
	if req.Lyrics != "" {
		prompt += "\n\nLyrics:\n" + req.Lyrics
	}
	if utf8.RuneCountInString(prompt) > maxMusicPrompt {
		return music{}, invalid("text_too_long", "Description and lyrics have more than %d characters together.",
			maxMusicPrompt)
	}
	return music{Prompt: prompt, ModelID: req.Model, MusicLengthMS: req.Seconds * 1000}, nil
}

// languageCode returns the provider's code of a BCP 47 tag, which is its language alone.
func languageCode(tag string) (string, error) {
	if tag == "" {
		return "", nil
	}
	parsed, err := wire.ParseLanguage(tag)
	if err != nil {
		return "", err
	}
	base, _ := parsed.Base()
	switch code := base.String(); code {
	case "nb", "nn":
		return "no", nil
	case "tl":
		return "fil", nil
	case "cmn":
		return "zh", nil
	case "arb":
		return "ar", nil
	default:
		return code, nil
	}
}

// seed returns a seed that is the same for every attempt at one request.
func seed(token string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(token)) // never fails
	return h.Sum32()
}

// isMP3 reports whether the content begins like an MP3: with an ID3 tag or a frame.
func isMP3(content []byte) bool {
	return len(content) > 3 && (string(content[:3]) == "ID3" || content[0] == 0xff && content[1]&0xe0 == 0xe0)
}

func invalid(code, format string, args ...any) *provider.Error {
	return &provider.Error{Kind: provider.BadInput, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Poll implements provider.Provider. No submission returns a handle.
func (p *Provider) Poll(context.Context, provider.Handle) (provider.Status, error) {
	return provider.Status{}, errNoHandle()
}

// Fetch implements provider.Provider. No submission returns a handle.
func (p *Provider) Fetch(context.Context, provider.Handle) (provider.Result, error) {
	return provider.Result{}, errNoHandle()
}

// Cancel implements provider.Provider. No submission returns a handle.
func (p *Provider) Cancel(context.Context, provider.Handle) error { return errNoHandle() }

func errNoHandle() *provider.Error {
	return invalid("unknown_generation", "The provider does not know the generation.")
}

// timed reports whether speech is requested with the times of its characters.
func timed(req provider.Request) bool { return req.Kind == provider.KindVoice && req.Marks }

// timedSpeech is the answer of POST /v1/text-to-speech/{voice_id}/with-timestamps.
type timedSpeech struct {
	Audio     []byte `json:"audio_base64"`
	Alignment *struct {
		Characters []string  `json:"characters"`
		Begins     []float64 `json:"character_start_times_seconds"`
	} `json:"alignment"`
}

// readTimed returns the file of an answer, and the times of the words in the text. There are none if the provider
// returns no times, or times for another text.
func readTimed(answer []byte, text string) ([]byte, []provider.Mark, error) {
	var a timedSpeech
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, nil, err
	}
	if a.Audio == nil {
		return nil, nil, errors.New("it has no audio")
	}
	if a.Alignment == nil || strings.Join(a.Alignment.Characters, "") != text ||
		len(a.Alignment.Begins) != len(a.Alignment.Characters) {
		return a.Audio, nil, nil
	}
	var marks []provider.Mark
	offset, between := 0, true
	for i, c := range a.Alignment.Characters {
		first, _ := utf8.DecodeRuneInString(c)
		space := unicode.IsSpace(first)
		if between && !space {
			marks = append(marks, provider.Mark{Offset: offset,
				At: time.Duration(a.Alignment.Begins[i] * float64(time.Second)).Truncate(time.Millisecond)})
		}
		between = space
		offset += len(c)
	}
	return a.Audio, marks, nil
}

// refused classifies a refusal by its detail, if its status does not suffice. The detail is an object, except for a
// 422, for which it is a list and the status suffices.
func refused(_ wire.Call, _ int, body []byte) *provider.Error {
	var answer struct {
		Detail struct {
			Status string `json:"status"`
		} `json:"detail"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return nil
	}
	switch answer.Detail.Status {
	case "quota_exceeded": // as a 401
		return &provider.Error{Kind: provider.Quota, Code: "provider_quota",
			Message: "The account at the provider has no credit."}
	case "too_many_concurrent_requests", "system_busy", "rate_limit_exceeded":
		return &provider.Error{Kind: provider.Transient, Code: "provider_busy",
			Message: "The provider accepts no more requests at the moment."}
	case "voice_not_found":
		return invalid("unknown_voice", "The provider has no such voice.")
	case "max_character_limit_exceeded", "text_too_long":
		return invalid("text_too_long", "The text is longer than the model supports.")
	case "bad_prompt", "content_against_policy":
		return invalid(provider.CodeContentPolicy, provider.MessageContentPolicy)
	default:
		return nil
	}
}
