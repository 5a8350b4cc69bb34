// Package fal makes images, video, music, speech and avatars through fal's queue: it submits a request to the queue of
// a model's endpoint, polls its status, and fetches its result once it has ended.
//
// fal takes no client token. A lost answer to a submission is therefore an UnknownOutcome: a second submission may make
// a second generation. Start with Provider.
package fal

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/wire"
	"github.com/content-automation/api/pkg/cloud/safehttp"
)

// Name is the provider's name.
const Name = "fal"

const (
	baseURL = "https://queue.fal.run"

	// keep is the time for which fal keeps the files of a result, whose URLs are public. They are copied as soon as
	// they exist.
	keep = `{"expiration_duration_seconds": 86400}`

	maxImages  = 4
	maxSeconds = 600 // of music; a video's length is bounded by its model
)

// Provider is fal.
type Provider struct {
	client *wire.Client
	files  wire.Files
	now    func() time.Time
}

var _ provider.Provider = (*Provider)(nil)

// New makes the provider. It makes no call.
func New(cfg wire.Config) *Provider {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Files == nil {
		cfg.Files = wire.NewFiles(safehttp.Options{})
	}
	return &Provider{
		client: wire.New(cfg, wire.Dialect{
			Provider:  Name,
			BaseURL:   baseURL,
			Authorize: func(h http.Header, key string) { h.Set("Authorization", "Key "+key) },
			Classify:  refused,
		}),
		files: cfg.Files,
		now:   cfg.Now,
	}
}

// Name implements provider.Provider.
func (p *Provider) Name() string { return Name }

// Capabilities implements provider.Provider.
func (p *Provider) Capabilities() provider.Capabilities {
	return provider.Capabilities{Kinds: map[provider.Kind]provider.Capability{
		provider.KindImage: {
			AspectRatios: []string{"1:1", "4:5", "9:16", "16:9", "3:4", "4:3", "2:3", "3:2", "5:4", "21:9"},
			MaxCount:     maxImages, FromImage: true,
		},
		provider.KindVideo: {AspectRatios: []string{"9:16", "16:9", "1:1", "3:4", "4:3", "21:9"}, MaxSeconds: 30,
			FromImage: true},
		provider.KindMusic:  {MaxSeconds: maxSeconds},
		provider.KindVoice:  {FromAudio: true}, // the voice to imitate
		provider.KindAvatar: {AspectRatios: []string{"9:16", "16:9"}, FromImage: true, FromAudio: true},
	}}
}

// Submit implements provider.Provider.
func (p *Provider) Submit(ctx context.Context, req provider.Request) (provider.Submission, error) {
	capabilities := p.Capabilities()
	if err := req.Validate(capabilities); err != nil {
		return provider.Submission{}, err
	}
	m, ok := models[req.Model]
	if !ok || m.kind != req.Kind {
		return provider.Submission{}, badInput("unsupported_model", "The provider does not offer the model for this.")
	}
	if ratios := capabilities.Kinds[req.Kind].AspectRatios; req.AspectRatio == "" && len(ratios) > 0 && !m.keepsShape {
		req.AspectRatio = ratios[0]
	}
	input, err := m.input(req)
	if err != nil {
		return provider.Submission{}, err
	}
	call := wire.Call{
		Method: http.MethodPost, Path: "/" + req.Model, Body: input, Submits: true,
		Header: http.Header{"X-Fal-Object-Lifecycle-Preference": {keep}},
	}
	var queued struct {
		RequestID string `json:"request_id"`
	}
	if err := p.client.JSON(ctx, call, &queued); err != nil {
		return provider.Submission{}, err
	}
	w := work{Model: req.Model, Request: queued.RequestID, Kind: req.Kind, Count: max(req.Count, 1),
		Began: p.now().Unix()}
	if err := w.check(); err != nil {
		return provider.Submission{}, p.client.Garbled(call, err)
	}
	h, err := w.handle()
	if err != nil {
		return provider.Submission{}, err
	}
	return provider.Submission{Handle: h}, nil
}

// Poll implements provider.Provider. The status only reports the end of a request; its outcome is in its result.
func (p *Provider) Poll(ctx context.Context, h provider.Handle) (provider.Status, error) {
	w, err := parse(h)
	if err != nil {
		return provider.Status{}, err
	}
	phase, err := p.phase(ctx, w)
	if err != nil {
		return provider.Status{}, err
	}
	switch phase {
	case inQueue:
		return provider.Status{State: provider.Queued, Wait: w.wait(p.now())}, nil
	case inProgress:
		// fal reports no progress.
		return provider.Status{State: provider.Running, Progress: 50, Wait: w.wait(p.now())}, nil
	}
	_, err = p.result(ctx, w)
	var failure *provider.Error
	switch {
	case err == nil:
		return provider.Status{State: provider.Succeeded, Progress: 100}, nil
	case !errors.As(err, &failure) || !ended(failure):
		return provider.Status{}, err
	case failure.Code == codeCanceled:
		return provider.Status{State: provider.Canceled, Failure: failure}, nil
	default:
		return provider.Status{State: provider.Failed, Failure: failure}, nil
	}
}

// Fetch implements provider.Provider.
func (p *Provider) Fetch(ctx context.Context, h provider.Handle) (provider.Result, error) {
	w, err := parse(h)
	if err != nil {
		return provider.Result{}, err
	}
	result, err := p.result(ctx, w)
	var failure *provider.Error
	if err == nil || !errors.As(err, &failure) || !ended(failure) {
		return result, err
	}
	// A refusal can also mean that the generation has not ended.
	phase, err := p.phase(ctx, w)
	if err != nil {
		return provider.Result{}, err
	}
	if phase != completed {
		return provider.Result{}, provider.NotReady(w.wait(p.now()))
	}
	rejected := *failure
	rejected.Kind = provider.Rejected
	return provider.Result{}, &rejected
}

// Cancel implements provider.Provider.
func (p *Provider) Cancel(ctx context.Context, h provider.Handle) error {
	w, err := parse(h)
	if err != nil {
		return err
	}
	err = p.client.JSON(ctx, wire.Call{Method: http.MethodPut, Path: w.path() + "/cancel"}, nil)
	var e *provider.Error
	if errors.As(err, &e) && e.Code == codeCompleted {
		return nil
	}
	return err
}

// The values of a request's status.
const (
	inQueue    = "IN_QUEUE"
	inProgress = "IN_PROGRESS"
	completed  = "COMPLETED"
)

func (p *Provider) phase(ctx context.Context, w work) (string, error) {
	call := wire.Call{Method: http.MethodGet, Path: w.path() + statusPath}
	var answer struct {
		Status string `json:"status"`
	}
	if err := p.client.JSON(ctx, call, &answer); err != nil {
		return "", err
	}
	switch answer.Status {
	case inQueue, inProgress, completed:
		return answer.Status, nil
	default:
		return "", p.client.Garbled(call, fmt.Errorf("the status %q is none", answer.Status))
	}
}

// ended reports whether the error is about the request rather than about the call.
func ended(e *provider.Error) bool {
	return e.Kind == provider.BadInput || e.Kind == provider.Rejected
}

func badInput(code, format string, args ...any) *provider.Error {
	return &provider.Error{Kind: provider.BadInput, Code: code, Message: fmt.Sprintf(format, args...)}
}

// statusPath is the path of the status of a request, below its URL.
const statusPath = "/status"

// The bounds of the wait before the next poll: a fraction of the time that the request has taken, so that an image is
// fetched soon and a video is not polled needlessly.
const (
	shortestWait = time.Second
	longestWait  = 15 * time.Second
	waitPart     = 4
)

var (
	endpoints = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			`^[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)+$`)
	})
	requestIDs = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,63}$`)
	})
)

// work is a request as encoded in its handle. It contains no URL, so that a handle cannot lead anywhere but to the
// queue.
type work struct {
	Model   string        `json:"m"`
	Request string        `json:"r"`
	Kind    provider.Kind `json:"k"`
	Count   int           `json:"n"`
	Began   int64         `json:"t"` // Unix seconds
}

// path returns the request's path in the queue: below the first two parts of the model's endpoint, without the rest.
func (w work) path() string {
	parts := strings.SplitN(w.Model, "/", 3)
	return "/" + parts[0] + "/" + parts[1] + "/requests/" + w.Request
}

func (w work) wait(now time.Time) time.Duration {
	return min(max(now.Sub(time.Unix(w.Began, 0))/waitPart, shortestWait), longestWait)
}

// check validates the work of a handle or of an answer.
func (w work) check() error {
	switch {
	case !endpoints().MatchString(w.Model):
		return fmt.Errorf("%q is no model", w.Model)
	case !requestIDs().MatchString(w.Request):
		return fmt.Errorf("%q is no request id", w.Request)
	case !slices.Contains(provider.Kinds(), w.Kind):
		return fmt.Errorf("%q is no kind", w.Kind)
	case w.Count < 1 || w.Count > maxImages:
		return fmt.Errorf("%d files", w.Count)
	}
	return nil
}

func (w work) handle() (provider.Handle, error) {
	raw, err := json.Marshal(w)
	if err != nil {
		return "", fmt.Errorf("fal: handle: %w", err)
	}
	return provider.Handle(base64.RawURLEncoding.EncodeToString(raw)), nil
}

func parse(h provider.Handle) (work, error) {
	var w work
	raw, err := base64.RawURLEncoding.DecodeString(string(h))
	if err == nil {
		err = json.Unmarshal(raw, &w)
	}
	if err == nil {
		err = w.check()
	}
	if err != nil {
		e := unknownGeneration()
		e.Cause = err
		return work{}, e
	}
	return w, nil
}

func unknownGeneration() *provider.Error {
	return badInput("unknown_generation", "The provider does not know the generation.")
}

// models are the models of the catalog, by their endpoint, with the members that each takes, from the published schema
// of the endpoint. A member that a model does not know is an error there (flux-2-pro, for example, has no
// guidance_scale), so only members in its row are sent.
var models = map[string]model{
	// Images. Models that charge by the megapixel, or that have no ratios of their own, get a size.
	"fal-ai/flux/schnell":                        sized(1, "num_images"),
	"fal-ai/flux-pro/v1.1":                       sized(1, "num_images"),
	"fal-ai/flux-2-pro":                          sized(2, ""),
	"fal-ai/recraft/v3/text-to-image":            sized(1, ""),
	"fal-ai/ideogram/v3":                         sized(1, "num_images"),
	"openai/gpt-image-2":                         sized(1, "num_images"),
	"openai/gpt-image-2.5/flare/text-to-image":   sized(1, "num_images"),
	"fal-ai/bytedance/seedream/v4/text-to-image": sized(4, "num_images"),
	"fal-ai/qwen-image":                          sized(1, "num_images"),
	"fal-ai/nano-banana":                         shaped(member{}, false),
	"fal-ai/nano-banana-2":                       shaped(member{}, false),
	"fal-ai/nano-banana-pro":                     shaped(member{}, false),
	"google/nano-banana-2.1":                     shaped(member{}, false),
	"fal-ai/flux-pro/v1.1-ultra":                 shaped(may("image_url"), false),
	"fal-ai/flux-pro/kontext":                    shaped(must("image_url"), true),

	// Videos. The length is a number in one family, a text in another, and a text with its unit in a third.
	"fal-ai/veo3.1":      film("aspect_ratio", asTextWithUnit),
	"fal-ai/veo3.1/lite": film("aspect_ratio", asTextWithUnit),
	"fal-ai/kling-video/v3/turbo/pro/text-to-video":      film("aspect_ratio", asText),
	"fal-ai/kling-video/v3/turbo/standard/text-to-video": film("aspect_ratio", asText),
	"kling/v4/text-to-video":                             film("aspect_ratio", asNumber),
	"minimax/h3/text-to-video":                           film("aspect_ratio", asNumber),
	"bytedance/seedance-2.0/text-to-video":               film("aspect_ratio", asText),
	"fal-ai/wan-25-preview/text-to-video":                film("aspect_ratio", asText).limited("prompt", 1, 1500),

	// Videos that start from a picture. The picture determines the shape, except for Ray 2.
	"fal-ai/kling-video/v2.5-turbo/pro/image-to-video": film("", asText).from("image_url"),
	"fal-ai/kling-video/v2.6/pro/image-to-video":       film("", asText).from("start_image_url"),

	// Music.
	"fal-ai/ace-step/prompt-to-audio":      music(duration{"duration", asNumber}),
	"fal-ai/stable-audio-25/text-to-audio": music(duration{"seconds_total", asNumber}),
	"fal-ai/minimax-music/v2":              song(),

	// Speech. By default, MiniMax returns the sound in hexadecimal.
	"fal-ai/elevenlabs/text-to-dialogue/eleven-v3": {kind: provider.KindVoice, finish: dialogue},
	"fal-ai/minimax/speech-2.8-hd":                 speech("prompt", 10000),

	// Avatars.
	"fal-ai/heygen/avatar4/image-to-video": {
		kind: provider.KindAvatar, prompt: may("prompt"), ratio: "aspect_ratio", image: must("image_url"),
		audio: may("audio_url"), voice: "voice",
	},
	"fal-ai/bytedance/omnihuman/v1.5": {kind: provider.KindAvatar, image: must("image_url"),
		audio: must("audio_url")},
	"fal-ai/ai-avatar/multi-text": {
		kind: provider.KindAvatar, image: must("image_url"), voice: "voice1", finish: twoSpeakers,
		fixedMembers: map[string]any{"prompt": "Two people talk to each other, calm and natural."},
	},
	"veed/avatars/text-to-video": {
		kind: provider.KindAvatar, prompt: must("text"), avatar: "avatar_id",
		fixedMembers: map[string]any{"avatar_id": "any_female_vertical_primary"},
	},
}

// sized returns an image model that takes a size.
func sized(megapixels int, count string) model {
	return model{kind: provider.KindImage, prompt: must("prompt"), megapixels: megapixels, count: count}
}

// shaped returns an image model that takes an aspect ratio.
func shaped(image member, keepsShape bool) model {
	return model{
		kind: provider.KindImage, prompt: must("prompt"), ratio: "aspect_ratio", keepsShape: keepsShape,
		count: "num_images", image: image,
	}
}

func film(ratio string, as func(int) any) model {
	m := model{kind: provider.KindVideo, prompt: must("prompt"), ratio: ratio}
	if as != nil {
		m.length = duration{"duration", as}
	}
	return m
}

// from makes a model start from a picture.
func (m model) from(image string) model {
	m.image = must(image)
	return m
}

// limited bounds the characters of a member.
func (m model) limited(name string, least, most int) model {
	m.limits = map[string][2]int{name: {least, most}}
	return m
}

// music returns a model of instrumental music from a prompt.
func music(length duration) model {
	return model{kind: provider.KindMusic, prompt: must("prompt"), length: length}
}

func song() model {
	return model{
		kind: provider.KindMusic, prompt: must("prompt"), lyrics: must("lyrics_prompt"),
		limits: map[string][2]int{"prompt": {10, 300}, "lyrics_prompt": {10, 3000}},
	}
}

// speech returns a model of MiniMax that reads a text out.
func speech(text string, most int) model {
	return model{
		kind: provider.KindVoice, prompt: must(text), finish: boost,
		fixedMembers: map[string]any{"output_format": "url"}, limits: map[string][2]int{text: {1, most}},
	}
}

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

	// fixedMembers are members that are always sent, unless the catalog's options or the request override them.
	fixedMembers map[string]any
	// limits are the fewest and most characters of a member.
	limits map[string][2]int
	// finish adds parts that are more than a single member.
	finish func(in map[string]any, r provider.Request) error
}

// input makes the body of a submission.
func (m model) input(r provider.Request) (map[string]any, error) {
	in := maps.Clone(m.fixedMembers)
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

// imageSize returns the size of the largest picture of an aspect ratio with at most the given number of megapixels:
// images are charged by the started megapixel.
func imageSize(ratio string, megapixels int) (map[string]any, error) {
	if _, _, ok := provider.ParseRatio(ratio); !ok {
		return nil, badInput("invalid_input", "%q is not an aspect ratio.", ratio)
	}
	width, height := provider.ImageSize(ratio, megapixels)
	if width == 0 {
		return nil, badInput("invalid_input", "The aspect ratio %q is too extreme.", ratio)
	}
	return map[string]any{"width": width, "height": height}, nil
}

// The codes that steps check.
const (
	codeCanceled  = "canceled"
	codeCompleted = "already_completed"
)

// media is a file in a result.
type media struct {
	URL string `json:"url"`
}

// output is the relevant part of a model's output. Its members depend on the kind of the result.
type output struct {
	Images   []media `json:"images"`
	Video    *media  `json:"video"`
	Audio    *media  `json:"audio"`
	AudioURL *media  `json:"audio_url"` // of some speech models
	// Unsafe has an entry for each image, which is true if a filter has blackened it.
	Unsafe []bool `json:"has_nsfw_concepts"`
	// Status is set while the request has not ended.
	Status string `json:"status"`
}

// result returns the result of a request. An error of the kind BadInput or Rejected
// means that the request failed, or that it has not ended.
func (p *Provider) result(ctx context.Context, w work) (provider.Result, error) {
	call := wire.Call{Method: http.MethodGet, Path: w.path()}
	var out output
	if err := p.client.JSON(ctx, call, &out); err != nil {
		return provider.Result{}, err
	}
	if out.Status == inQueue || out.Status == inProgress {
		return provider.Result{}, provider.NotReady(w.wait(p.now()))
	}
	if slices.Contains(out.Unsafe, true) {
		return provider.Result{}, contentPolicy(provider.Rejected)
	}
	var files []media
	switch w.Kind {
	case provider.KindImage:
		files = out.Images
	case provider.KindVideo, provider.KindAvatar:
		files = one(out.Video)
	default:
		files = append(one(out.Audio), one(out.AudioURL)...)
	}
	if len(files) < w.Count || slices.ContainsFunc(files, func(f media) bool { return f.URL == "" }) {
		return provider.Result{}, p.client.Garbled(call, fmt.Errorf("%d files of %s, want %d", len(files),
			w.Kind, w.Count))
	}
	var result provider.Result
	for _, f := range files[:w.Count] {
		result.Media = append(result.Media, wire.File(p.files, f.URL, provider.Rejected))
	}
	return result, nil
}

func one(m *media) []media {
	if m == nil {
		return nil
	}
	return []media{*m}
}

// errorBody is the body of an unsuccessful answer. Faults of the input, or of the model's work, are a list. A fault of
// fal is a text, and the type is a member of its own.
type errorBody struct {
	Detail    json.RawMessage `json:"detail"`
	ErrorType string          `json:"error_type"`
	Status    string          `json:"status"` // of a cancellation
}

// types returns the types of errors in the list of an errorBody.
func (r errorBody) types() []string {
	var list []struct {
		Type string `json:"type"`
	}
	if !bytes.HasPrefix(r.Detail, []byte("[")) || json.Unmarshal(r.Detail, &list) != nil {
		return nil
	}
	types := make([]string, len(list))
	for i, d := range list {
		types[i] = d.Type
	}
	return types
}

func refused(call wire.Call, status int, body []byte) *provider.Error {
	var r errorBody
	_ = json.Unmarshal(body, &r) // if the body is something else, the status suffices
	types := r.types()
	aboutInput := status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
	switch {
	case status == http.StatusForbidden && strings.Contains(strings.ToLower(string(r.Detail)), "balance"):
		return &provider.Error{Kind: provider.Quota, Code: "provider_quota",
			Message: "The account at the provider has no credit."}
	case status == http.StatusBadRequest && r.Status == "ALREADY_COMPLETED":
		return badInput(codeCompleted, "The generation has ended.")
	case status == http.StatusNotFound && call.Submits:
		return badInput("unsupported_model", "The provider does not offer the model.")
	case status == http.StatusNotFound && isResult(call):
		return &provider.Error{Kind: provider.Rejected, Code: "result_expired",
			Message: "The provider no longer keeps the result."}
	case status == http.StatusNotFound:
		return unknownGeneration()
	case r.ErrorType == "client_cancelled":
		return &provider.Error{Kind: provider.Rejected, Code: codeCanceled, Message: "The generation was canceled."}
	case slices.Contains(types, "content_policy_violation"):
		return contentPolicy(provider.BadInput)
	case aboutInput && slices.Contains(types, "file_download_error"):
		return badInput("input_unreadable", "The provider could not read a file of the request.")
	case isResult(call) && status >= http.StatusInternalServerError && (r.ErrorType != "" || len(types) > 0):
		// The queue has stored this as the result of the request: a retry returns the same. Without a type, the queue
		// itself has failed.
		return &provider.Error{Kind: provider.Rejected, Code: "generation_failed",
			Message: "The provider could not finish the generation."}
	default:
		return nil
	}
}

func isResult(call wire.Call) bool {
	return call.Method == http.MethodGet && !strings.HasSuffix(call.Path, statusPath)
}

func contentPolicy(kind provider.ErrorKind) *provider.Error {
	return &provider.Error{Kind: kind, Code: provider.CodeContentPolicy, Message: provider.MessageContentPolicy}
}
