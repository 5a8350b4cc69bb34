// Package elevenlabs is a fake of ElevenLabs: text to speech and music, as in the provider's API
// reference. It checks requests more strictly than the provider. It answers with real files of
// the length in which the text would be spoken.
package elevenlabs

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/content-automation/api/testdata/providers/control"
	"github.com/content-automation/api/testdata/providers/sample"
	"github.com/content-automation/api/testdata/providers/strict"
)

// Name is the provider's name in faults.
const Name = "elevenlabs"

// Config configures a fake.
type Config struct {
	Control *control.Control
	Media   fs.FS  // has voice.wav
	Key     string // the only accepted key; empty accepts any
}

type fake struct {
	Config
	made atomic.Int64 // requests that were accepted
}

// New makes a fake. It has the operation control.Submit.
func New(cfg Config) http.Handler {
	f := &fake{Config: cfg}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/text-to-speech/{voice_id}",
		f.authorized(cfg.Control.Handle(Name, control.Submit, f.speak)))
	mux.HandleFunc("POST /v1/text-to-speech/{voice_id}"+timestamps,
		f.authorized(cfg.Control.Handle(Name, control.Submit, f.speak)))
	mux.HandleFunc("POST /v1/music", f.authorized(cfg.Control.Handle(Name, control.Submit, f.compose)))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusNotFound, map[string]any{"detail": "Not Found"})
	})
	return mux
}

// voices are premade voices that every account has.
var voices = []string{
	"JBFqnCBsd6RMkjVDRZzb", // George
	"EXAVITQu4vr4xnSDxMaL", // Sarah
	"CwhRBWXzGAHq8TQ4Fs17", // Roger
	"9BWtsMINqrJLrRacOk9x", // Aria
	"XB0fDUnXU5powFXDhCwa", // Charlotte
}

// speaker describes the input of a model of speech.
type speaker struct {
	characters int
	takesCode  bool // the model accepts a language's code
	languages  string
}

// many are the languages of eleven_v3, eleven_flash_v2_5 and eleven_turbo_v2_5 that
// the catalog offers.
const many = "ar bg cs da de el en es fi fil fr hi hr hu id it ja ko ms nl no pl pt ro ru sk sv ta tr uk vi zh"

var speakers = map[string]speaker{
	"eleven_v4":              {10_000, true, many},
	"eleven_v4_turbo":        {10_000, true, many},
	"eleven_v3":              {5_000, true, many},
	"eleven_multilingual_v2": {characters: 10_000},
	"eleven_flash_v2_5":      {40_000, true, many},
	"eleven_turbo_v2_5":      {40_000, true, many},
}

// settings is the member voice_settings.
type settings struct {
	Stability       *float64 `json:"stability"`
	UseSpeakerBoost *bool    `json:"use_speaker_boost"`
	SimilarityBoost *float64 `json:"similarity_boost"`
	Style           *float64 `json:"style"`
	Speed           *float64 `json:"speed"`
}

// speak serves POST /v1/text-to-speech/{voice_id}.
func (f *fake) speak(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Text         *string   `json:"text"`
		ModelID      *string   `json:"model_id"`
		LanguageCode *string   `json:"language_code"`
		Settings     *settings `json:"voice_settings"`
		Seed         *uint32   `json:"seed"`
		PreviousText *string   `json:"previous_text"`
		NextText     *string   `json:"next_text"`
		Normalize    *string   `json:"apply_text_normalization"`
	}
	sent, err := strict.JSON(r, &body)
	if err == nil {
		err = strict.Query(r.URL.Query(), "output_format", "enable_logging")
	}
	if err != nil {
		unprocessable(w, "body", err.Error())
		return
	}
	model := "eleven_multilingual_v2" // the provider's default
	if body.ModelID != nil {
		model = *body.ModelID
	}
	s, known := speakers[model]
	switch {
	case body.Text == nil:
		unprocessable(w, "text", "Field required")
	case strings.TrimSpace(*body.Text) == "":
		refuse(w, http.StatusBadRequest, "input_text_empty", "Input text is empty")
	case !known:
		refuse(w, http.StatusBadRequest, "model_not_found", "A model with that id does not exist")
	case utf8.RuneCountInString(*body.Text) > s.characters:
		refuse(w, http.StatusBadRequest, "max_character_limit_exceeded", fmt.Sprintf("This model speaks %d characters",
			s.characters))
	case body.LanguageCode != nil && !s.takesCode:
		refuse(w, http.StatusBadRequest, "unsupported_language", "This model takes no language_code")
	case body.LanguageCode != nil && !slices.Contains(strings.Fields(s.languages), *body.LanguageCode):
		refuse(w, http.StatusBadRequest, "unsupported_language", "This model does not support that language")
	case body.Normalize != nil && !slices.Contains([]string{"auto", "on", "off"}, *body.Normalize):
		unprocessable(w, "apply_text_normalization", "Input should be 'auto', 'on' or 'off'")
	case !slices.Contains(voices, r.PathValue("voice_id")):
		refuse(w, http.StatusNotFound, "voice_not_found", "A voice with that id was not found")
	default:
		f.answer(w, r, sample.Voice, sample.Spoken(*body.Text),
			control.Acceptance{Model: model, Prompt: *body.Text, Input: sent})
	}
}

// The bounds of the length of music.
const (
	minMusicMS     = 3_000
	maxMusicMS     = 600_000
	maxMusicPrompt = 4_100
	defaultMusic   = 30 * time.Second
)

// compose serves POST /v1/music.
func (f *fake) compose(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Prompt            *string `json:"prompt"`
		ModelID           *string `json:"model_id"`
		MusicLengthMS     *int    `json:"music_length_ms"`
		Seed              *uint32 `json:"seed"`
		ForceInstrumental *bool   `json:"force_instrumental"`
	}
	sent, err := strict.JSON(r, &body)
	if err == nil {
		err = strict.Query(r.URL.Query(), "output_format")
	}
	if err != nil {
		unprocessable(w, "body", err.Error())
		return
	}
	model := "music_v1" // the provider's default
	if body.ModelID != nil {
		model = *body.ModelID
	}
	switch {
	case body.Prompt == nil || strings.TrimSpace(*body.Prompt) == "":
		unprocessable(w, "prompt", "A prompt or a composition plan is required")
	case utf8.RuneCountInString(*body.Prompt) > maxMusicPrompt:
		unprocessable(w, "prompt", fmt.Sprintf("String should have at most %d characters", maxMusicPrompt))
	case !slices.Contains([]string{"music_v1", "music_v2"}, model):
		unprocessable(w, "model_id", "Input should be 'music_v1' or 'music_v2'")
	case body.MusicLengthMS != nil && (*body.MusicLengthMS < minMusicMS || *body.MusicLengthMS > maxMusicMS):
		unprocessable(w, "music_length_ms", fmt.Sprintf("Input should be within %d and %d", minMusicMS, maxMusicMS))
	case body.Seed != nil:
		unprocessable(w, "seed", "A seed cannot be used with a prompt")
	default:
		length := defaultMusic
		if body.MusicLengthMS != nil {
			length = time.Duration(*body.MusicLengthMS) * time.Millisecond
		}
		f.answer(w, r, sample.Music, length, control.Acceptance{Model: model, Prompt: *body.Prompt, Input: sent})
	}
}

// answer makes the file in the requested format.
func (f *fake) answer(w http.ResponseWriter, r *http.Request, kind string, length time.Duration,
	a control.Acceptance) {
	format := r.URL.Query().Get("output_format")
	mime, ok := map[string]string{
		"": "audio/mpeg", "mp3_22050_32": "audio/mpeg", "mp3_44100_64": "audio/mpeg", "mp3_44100_128": "audio/mpeg",
		"wav_16000": "audio/wav",
	}[format]
	var content []byte
	var err error
	if mime == "audio/wav" {
		content, err = fs.ReadFile(f.Media, sample.Name(sample.Voice, "", 0))
	} else {
		_, content, err = sample.Lasting(kind, "", 0, length)
	}
	if !ok || err != nil {
		unprocessable(w, "output_format", "Input should be a format that there is")
		return
	}
	if control.JobFails(r.Context()) {
		refuse(w, http.StatusBadRequest, "content_against_policy", "The text is against the terms of use")
		return
	}
	id := f.made.Add(1)
	a.Provider, a.Operation, a.ID = Name, control.Submit, fmt.Sprintf("req_%d", id)
	f.Control.Accept(a)
	w.Header().Set("Request-Id", a.ID)
	w.Header().Set("Character-Cost", strconv.Itoa(utf8.RuneCountInString(a.Prompt)))
	if strings.HasSuffix(r.URL.Path, timestamps) {
		write(w, http.StatusOK, map[string]any{"audio_base64": content, "alignment": align(a.Prompt, length),
			"normalized_alignment": nil})
		return
	}
	w.Header().Set("Content-Type", mime)
	_, _ = w.Write(content) // the caller may have gone
}

// timestamps is the suffix of the path for speech with the times of its characters.
const timestamps = "/with-timestamps"

// align returns the times at which the characters of a text are spoken. All take equally long.
func align(text string, length time.Duration) map[string]any {
	var characters []string
	var begins, ends []float64
	each := length.Seconds() / float64(utf8.RuneCountInString(text))
	for i, r := range []rune(text) {
		characters = append(characters, string(r))
		begins, ends = append(begins, float64(i)*each), append(ends, float64(i+1)*each)
	}
	return map[string]any{"characters": characters, "character_start_times_seconds": begins,
		"character_end_times_seconds": ends}
}

func (f *fake) authorized(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch key := r.Header.Get("Xi-Api-Key"); {
		case key == "":
			refuse(w, http.StatusUnauthorized, "needs_authorization",
				"Neither authorization header nor xi-api-key received")
		case f.Key != "" && key != f.Key:
			refuse(w, http.StatusUnauthorized, "invalid_api_key", "Invalid API key")
		default:
			h(w, r)
		}
	}
}

// refuse writes the provider's error for a valid request that it does not execute.
func refuse(w http.ResponseWriter, status int, code, message string) {
	write(w, status, map[string]any{"detail": map[string]string{"status": code, "message": message}})
}

// unprocessable writes the provider's error for an unknown or wrong member.
func unprocessable(w http.ResponseWriter, member, message string) {
	write(w, http.StatusUnprocessableEntity, map[string]any{
		"detail": []map[string]any{{"type": "value_error", "loc": []string{"body", member}, "msg": message}},
	})
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the caller may have gone
}
