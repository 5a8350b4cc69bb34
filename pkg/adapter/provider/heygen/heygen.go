// Package heygen makes videos of talking avatars with HeyGen, over version 3 of its HTTP API:
//
//   - POST /v3/videos (API reference, "Create a video") starts one: an avatar of
//     the account by its id, or an animated picture. It speaks either a script with
//     a voice or the speech of an audio file.
//   - GET /v3/videos/{video_id} ("Get video details") returns pending, processing,
//     completed or failed. A completed video has a signed address that expires; each
//     call returns a new one, so that a result can be fetched for as long as the
//     provider keeps the video.
//
// Some calls of the API take an Idempotency-Key (uploads of assets in batches, translations), and some explicitly do
// not; POST /v3/videos is not among those that do, and the provider's own command line warns that a repeat may make a
// second video. So none is sent. The title of a video is the client token instead: if the answer to a submission is
// lost, the video is looked for by its title (GET /v3/videos?title=, "List videos"). If it is not found, the outcome is
// unknown, because the list may show it later. Nothing can be canceled.
//
// Errors have a code ("Error codes"), which is used if the status alone does not classify them. Start with Provider.
package heygen

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/language"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/wire"
	"github.com/content-automation/api/pkg/cloud/safehttp"
)

// Name is the provider's name.
const Name = "heygen"

// The options of the catalog: the values that a model uses if a request has none.
const (
	OptionAvatar     = "avatar"
	OptionVoice      = "voice"
	OptionResolution = "resolution"
)

const (
	baseURL = "https://api.heygen.com"
	videos  = "/v3/videos"

	callTimeout = 30 * time.Second
	// findTimeout bounds the search for a video whose answer was lost, and mostFound the videos that it reads.
	findTimeout, mostFound = 10 * time.Second, "20"

	// handlePrefix marks a handle.
	handlePrefix = "video:"
)

// aspectRatios are those of the provider. The first is the default here.
var aspectRatios = []string{"9:16", "16:9"}

// Provider is HeyGen.
type Provider struct {
	provider.Jobs
	client *wire.Client
	files  wire.Files
}

var _ provider.Provider = (*Provider)(nil)

// New makes the provider. It makes no call.
func New(cfg wire.Config) *Provider {
	if cfg.Files == nil {
		cfg.Files = wire.NewFiles(safehttp.Options{})
	}
	p := &Provider{files: cfg.Files, client: wire.New(cfg, wire.Dialect{
		Provider:  Name,
		BaseURL:   baseURL,
		Authorize: func(h http.Header, key string) { h.Set("X-Api-Key", key) },
		Classify:  refused,
	})}
	p.Jobs = p.look
	return p
}

// Name implements provider.Provider.
func (p *Provider) Name() string { return Name }

// Capabilities implements provider.Provider.
func (p *Provider) Capabilities() provider.Capabilities {
	return provider.Capabilities{Unstoppable: true, Kinds: map[provider.Kind]provider.Capability{
		provider.KindAvatar: {AspectRatios: aspectRatios, FromImage: true, FromAudio: true},
	}}
}

// video is the body of POST /v3/videos.
type video struct {
	Type        string         `json:"type"` // avatar or image
	Title       string         `json:"title,omitempty"`
	AvatarID    string         `json:"avatar_id,omitempty"`
	Image       *image         `json:"image,omitempty"`
	Script      string         `json:"script,omitempty"`
	VoiceID     string         `json:"voice_id,omitempty"`
	Settings    *voiceSettings `json:"voice_settings,omitempty"`
	AudioURL    string         `json:"audio_url,omitempty"`
	AspectRatio string         `json:"aspect_ratio"`
	Resolution  string         `json:"resolution,omitempty"`
}

type image struct {
	Type string `json:"type"` // url
	URL  string `json:"url"`
}

type voiceSettings struct {
	Locale string `json:"locale"`
}

// Submit implements provider.Provider.
func (p *Provider) Submit(ctx context.Context, req provider.Request) (provider.Submission, error) {
	if err := req.Validate(p.Capabilities()); err != nil {
		return provider.Submission{}, err
	}
	body, err := videoOf(req)
	if err != nil {
		return provider.Submission{}, err
	}
	call := wire.Call{Method: http.MethodPost, Path: videos, Body: body, Submits: true, Timeout: callTimeout}
	var answer struct {
		Data struct {
			VideoID string `json:"video_id"`
		} `json:"data"`
	}
	err = p.client.JSON(ctx, call, &answer)
	if err == nil && !videoID().MatchString(answer.Data.VideoID) {
		err = p.client.Garbled(call, errors.New("it names no video"))
	}
	if provider.KindOf(err) == provider.UnknownOutcome {
		if id := p.find(ctx, req.ClientToken); id != "" {
			answer.Data.VideoID, err = id, nil
		}
	}
	if err != nil {
		return provider.Submission{}, err
	}
	return provider.Submission{Handle: provider.Handle(handlePrefix + answer.Data.VideoID)}, nil
}

// find returns the id of the video with a title, or an empty text if none is found.
func (p *Provider) find(ctx context.Context, title string) string {
	if title == "" {
		return ""
	}
	call := wire.Call{Method: http.MethodGet, Path: videos, Timeout: findTimeout,
		Query: url.Values{"title": {title}, "limit": {mostFound}}}
	var answer struct {
		Data []struct {
			ID    string `json:"id"`
			Title string `json:"title"`
		} `json:"data"`
	}
	if err := p.client.JSON(ctx, call, &answer); err != nil {
		return ""
	}
	for _, v := range answer.Data { // the search is for a part of the title
		if v.Title == title && videoID().MatchString(v.ID) {
			return v.ID
		}
	}
	return ""
}

// videoOf returns the provider's form of a request.
func videoOf(req provider.Request) (video, error) {
	v := video{
		Type: "avatar", Title: req.ClientToken,
		AspectRatio: cmp.Or(req.AspectRatio, aspectRatios[0]),
		Resolution:  req.Options[OptionResolution],
	}
	if req.ImageURL != "" {
		v.Type, v.Image = "image", &image{Type: "url", URL: req.ImageURL}
	} else if v.AvatarID = cmp.Or(req.Avatar, req.Options[OptionAvatar]); v.AvatarID == "" {
		return video{}, invalid("unknown_avatar", "No avatar is named, and the model has no default.")
	}
	if req.AudioURL != "" {
		v.AudioURL = req.AudioURL
		return v, nil
	}
	v.Script = req.Prompt
	if v.VoiceID = cmp.Or(req.Voice, req.Options[OptionVoice]); v.VoiceID == "" {
		return video{}, invalid("unknown_voice", "No voice is named, and the model has no default.")
	}
	locale, err := localeOf(req.Language)
	if err != nil {
		return video{}, err
	}
	if locale != "" {
		v.Settings = &voiceSettings{Locale: locale}
	}
	return v, nil
}

// localeOf returns the accent in a tag: a language with a region. A language alone is detected from the script.
func localeOf(tag string) (string, error) {
	if tag == "" {
		return "", nil
	}
	parsed, err := wire.ParseLanguage(tag)
	if err != nil {
		return "", err
	}
	base, _ := parsed.Base()
	region, sure := parsed.Region()
	if sure != language.Exact || !region.IsCountry() {
		return "", nil
	}
	return base.String() + "-" + region.String(), nil
}

// details is the answer of GET /v3/videos/{video_id}.
type details struct {
	Status         string `json:"status"`
	VideoURL       string `json:"video_url"`
	FailureCode    string `json:"failure_code"`
	FailureMessage string `json:"failure_message"`
}

// states are the provider's names of the states.
var states = map[string]provider.State{
	"pending":    provider.Queued,
	"processing": provider.Running,
	"completed":  provider.Succeeded,
	"failed":     provider.Failed,
}

// look reads a video. The provider reports no progress.
func (p *Provider) look(ctx context.Context, h provider.Handle) (j provider.Job, err error) {
	id, err := parse(h)
	if err != nil {
		return j, err
	}
	call := wire.Call{Method: http.MethodGet, Path: videos + "/" + id, Timeout: callTimeout}
	var answer struct {
		Data details `json:"data"`
	}
	if err := p.client.JSON(ctx, call, &answer); err != nil {
		return j, err
	}
	d, known := answer.Data, false
	if j.State, known = states[d.Status]; !known {
		return j, p.client.Garbled(call, fmt.Errorf("the status is %.40q", d.Status))
	}
	if j.State == provider.Failed {
		j.Failure = failure(d)
	}
	j.Result = func() (provider.Result, error) {
		if d.VideoURL == "" {
			return provider.Result{}, p.client.Garbled(call, errors.New("a completed video has no address"))
		}
		// The URL expires before the video does: fetching again returns a new one.
		return provider.Result{Media: []provider.File{wire.File(p.files, d.VideoURL, provider.Transient)}}, nil
	}
	return j, nil
}

// Cancel implements provider.Provider. It only validates the handle: the provider cannot stop a video, and bills it
// nevertheless.
func (p *Provider) Cancel(ctx context.Context, h provider.Handle) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := parse(h)
	return err
}

// videoID is the form of the ids of videos. An id becomes part of a URL.
var videoID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)
})

// parse returns the id in a handle.
func parse(h provider.Handle) (string, error) {
	id, ok := strings.CutPrefix(string(h), handlePrefix)
	if !ok || !videoID().MatchString(id) {
		return "", invalid("unknown_generation", "The provider does not know the generation.")
	}
	return id, nil
}

func invalid(code, message string) *provider.Error {
	return &provider.Error{Kind: provider.BadInput, Code: code, Message: message}
}

// refused classifies a refusal by its code, if its status does not suffice.
func refused(call wire.Call, status int, body []byte) *provider.Error {
	var answer struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return nil
	}
	code := answer.Error.Code
	switch {
	case code == "quota_exceeded": // as a 429
		return &provider.Error{Kind: provider.Quota, Code: "provider_quota",
			Message: "The service's quota at the provider is used up for now."}
	case code == "avatar_not_found":
		return invalid("unknown_avatar", "The provider has no such avatar.")
	case code == "voice_not_found":
		return invalid("unknown_voice", "The provider has no such voice.")
	case code == "resource_access_denied" && call.Submits: // as a 403, which would blame the service's key
		return invalid("unknown_avatar", "The avatar or the voice belongs to somebody else.")
	case offends(code) && status < http.StatusInternalServerError:
		return invalid(provider.CodeContentPolicy, provider.MessageContentPolicy)
	case status == http.StatusNotFound && !call.Submits:
		return invalid("unknown_generation", "The provider does not know the generation.")
	default:
		return nil
	}
}

// failure returns the error of a failed video. The provider's own message is for the log.
func failure(d details) *provider.Error {
	e := &provider.Error{
		Kind: provider.Rejected, Code: "generation_failed", Message: "The provider could not make the video.",
		Cause: fmt.Errorf("heygen: %.100q: %.300q", d.FailureCode, d.FailureMessage),
	}
	if offends(d.FailureCode) {
		e.Code, e.Message = provider.CodeContentPolicy, provider.MessageContentPolicy
	}
	return e
}

// offends reports whether a code is about forbidden content.
func offends(code string) bool {
	code = strings.ToLower(code)
	return strings.Contains(code, "moderation") || strings.Contains(code, "policy") ||
		strings.Contains(code, "blocked_words")
}
