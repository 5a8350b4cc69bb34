// Package rutube publishes videos on Rutube. Its public documents are old, so the adapter is marked as beta.
//
// Rutube reads a video from its address. The adapter makes the video hidden, so that it is visible only through its
// link, and then shows it. Showing it can be repeated. A repeat of the first step leaves a second, hidden video. Start
// with Platform in rutube.go.
package rutube

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// Name is the platform's id.
const Name = "rutube"

const (
	ownAddress = "https://rutube.ru"

	// The categories of videos.
	music = 6
	other = 13 // the category of everything else

	processing = 30 * time.Second
)

var (
	video = &platform.File{MIMEs: []string{"video/mp4", "video/quicktime", "video/webm"}, MaxBytes: 10 << 30,
		MaxTime: 5 * time.Hour}

	title       = platform.Text{Max: 100, Required: true}
	description = platform.Text{Max: 5000}
)

// needsPassword is a note for owners of accounts who never set a password.
const needsPassword = "An account that was made with a telephone number or VK ID has no password: set one in the " +
	"settings of Rutube first."

var capabilities = platform.Capabilities{
	Label:   "Rutube",
	Connect: platform.ConnectPassword,
	Beta:    true,
	Kinds: map[platform.Kind]platform.Rule{
		platform.KindVideo:     {Title: title, Caption: description, MinMedia: 1, MaxMedia: 1, Video: video},
		platform.KindMusicClip: {Title: title, Caption: description, MinMedia: 1, MaxMedia: 1, Video: video},
	},
	Hashtags:  platform.Hashtags{Max: 30},
	Options:   []platform.Option{platform.OptionCategory},
	Shape:     Options{},
	Privacies: []platform.Privacy{platform.Public},
	Metrics:   []string{"views"},
	Edits:     true,
	Deletes:   true,
	Habits: platform.Habits{FirstLine: 150, MinCaption: 150, MaxCaption: 1000, Hashtags: 3, Links: true,
		Hours: []int{19, 20, 13, 21}, WeekendHours: []int{12, 19, 16},
		Action: "to subscribe to the channel or to comment",
		Form: "The first sentence of the description says what the video answers, in words that people " +
			"search for."},
	Notes: []string{
		"Rutube documents its interface badly, and may change it.",
		"The password is used once, for a token, and is not kept.",
		needsPassword,
		"Rutube shows a video after its moderation.",
	},
}

// Options are the options of posts on Rutube, as callers send them.
type Options struct {
	platform.Visible
	platform.CategoryOption
}

// Platform is Rutube.
type Platform struct {
	wire.KeyConnector
	platform.Chain[state]
}

// New returns the adapter.
func New(cfg wire.Config) *Platform {
	p := &Platform{KeyConnector: wire.KeyConnector{API: wire.API{Client: wire.New(Name, cfg)}}}
	p.Chain = platform.Chain[state]{Steps: p, ID: Name, Caps: capabilities}
	return p
}

// Connect implements platform.Connector. It returns the account that logs in.
func (p *Platform) Connect(ctx context.Context, g platform.Grant) ([]platform.Account, error) {
	if g.Username == "" || g.Password == "" {
		return nil, platform.NeedsReconnect(platform.CodeNeedsReconnect,
			"Rutube is connected with a user name and a password.")
	}
	call := wire.Call{
		Name: "token_auth", Method: http.MethodPost, URL: p.Client.Base(ownAddress) + "/api/accounts/token_auth/",
		Secrets: []platform.Secret{g.Password},
		Form:    url.Values{"username": {g.Username}, "password": {g.Password.Reveal()}},
	}
	var answer struct {
		Token platform.Secret `json:"token"`
	}
	if err := p.Client.JSON(ctx, call, refusedLogin, &answer); err != nil {
		return nil, err
	}
	if answer.Token == "" {
		return nil, p.Client.GarbledError(call, errors.New("there is no token"))
	}
	return []platform.Account{{ID: g.Username, Handle: g.Username, Name: g.Username,
		Token: platform.Token{Access: answer.Token}}}, nil
}

var videoID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-zA-Z_-]{1,64}$`) })

func (p *Platform) call(ctx context.Context, a platform.Account, method, path string, body any, posts bool,
	out any) error {
	return p.Client.JSON(ctx, wire.Call{
		Name: method + " " + path, Method: method, URL: p.Client.Base(ownAddress) + "/api/video/" + path, JSON: body,
		Posts:   posts,
		Header:  http.Header{"Authorization": {"Token " + a.Token.Access.Reveal()}},
		Secrets: []platform.Secret{a.Token.Access},
	}, classify, out)
}

// state is the adapter's part of a handle.
type state struct {
	Video string `json:"video"`
}

// Begin implements chain.Beginner. It makes Rutube read the video as a hidden one.
func (p *Platform) Begin(ctx context.Context, w *platform.Work[state]) error {
	text := platform.Arrange(w.Post, capabilities)
	category := other
	if w.Post.Topic == platform.TopicMusic {
		category = music
	}
	if own, _ := w.Post.Options.Own.(Options); own.CategoryID != "" {
		var err error
		if category, err = strconv.Atoi(own.CategoryID); err != nil {
			return platform.Reject(platform.CodeInvalidOption, "The category is a number.").Because(err)
		}
	}
	body := map[string]any{"url": w.Post.Media[0].URL, "title": text.Title, "description": text.Body, "is_hidden": true,
		"category_id": category}
	var made struct {
		Video string `json:"video_id"`
	}
	if err := p.call(ctx, w.Account, http.MethodPost, "", body, false, &made); err != nil {
		return err
	}
	if !videoID().MatchString(made.Video) {
		return platform.Busy().Because(errors.New("rutube: there is no video"))
	}
	w.Own.Video, w.Wait = made.Video, processing
	return nil
}

// film is Rutube's record of a video.
type film struct {
	Status  string          `json:"status"`
	Hidden  bool            `json:"is_hidden"`
	Deleted bool            `json:"is_deleted"`
	Reason  json.RawMessage `json:"action_reason"` // a name, or an object with a name
	Views   *int64          `json:"hits"`
}

func (f film) reason() string {
	var name string
	if json.Unmarshal(f.Reason, &name) == nil {
		return name
	}
	var named struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(f.Reason, &named) == nil {
		return named.Name
	}
	return ""
}

func (p *Platform) film(ctx context.Context, a platform.Account, video string) (f film, err error) {
	return f, p.call(ctx, a, http.MethodGet, video+"/", nil, false, &f)
}

// Prepare implements chain.Steps. It waits until the video is ready.
func (p *Platform) Prepare(ctx context.Context, w *platform.Work[state]) (ready bool, wait time.Duration, err error) {
	f, err := p.film(ctx, w.Account, w.Own.Video)
	if err != nil {
		return false, 0, err
	}
	ready, err = f.state()
	return ready, processing, err
}

// Make implements chain.Steps. It shows the video.
func (p *Platform) Make(ctx context.Context, w *platform.Work[state]) (platform.Ref, error) {
	return refOf(w.Own.Video), p.call(ctx, w.Account, http.MethodPatch, w.Own.Video+"/",
		map[string]any{"is_hidden": false}, true, &film{})
}

func refOf(id string) platform.Ref {
	return platform.Ref{ID: id, URL: "https://rutube.ru/video/" + id + "/"}
}

// Find implements chain.Steps. It allows a repeat, because showing a visible video has no effect.
func (p *Platform) Find(ctx context.Context, w *platform.Work[state]) (platform.Ref, platform.Stage, error) {
	f, err := p.film(ctx, w.Account, w.Own.Video)
	if f.Hidden {
		return platform.Ref{}, platform.StageFinalize, err
	}
	return refOf(w.Own.Video), platform.StageDone, err
}

// Metrics implements platform.Publisher.
func (p *Platform) Metrics(ctx context.Context, a platform.Account, post platform.PublishedPost) (platform.Metrics,
	error) {
	if !videoID().MatchString(post.ID) {
		return platform.Metrics{}, platform.Reject(platform.CodePostNotFound, "Rutube does not have the video.")
	}
	f, err := p.film(ctx, a, post.ID)
	return platform.Metrics{Views: f.Views}, err
}

// checkID refuses the id of a post that Rutube cannot have made.
func checkID(post platform.PlacedPost) error {
	if !videoID().MatchString(post.ID) {
		return platform.Reject(platform.CodePostNotFound, "Rutube does not have the video.")
	}
	return nil
}

// Edit implements platform.Editor. The text of a post is the description of its video; the title stays.
func (p *Platform) Edit(ctx context.Context, a platform.Account, post platform.PlacedPost, text string) error {
	if err := checkID(post); err != nil {
		return err
	}
	return p.call(ctx, a, http.MethodPatch, post.ID+"/", map[string]any{"description": text}, false, nil)
}

// Delete implements platform.Deleter.
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.PlacedPost) error {
	if err := checkID(post); err != nil {
		return err
	}
	err := p.call(ctx, a, http.MethodDelete, post.ID+"/", nil, false, nil)
	return platform.Except(platform.CodePostNotFound, err)
}

// Rutube answers in the form of the Django REST framework (django-rest-framework.org, Exceptions): {"detail": "…"}, or
// a list of texts for each member. It has no codes: the status and, for 403, the text tell the outcome.
var (
	// invalid are the texts of a token that is not valid: Invalid token., User inactive or deleted., Authentication
	// credentials were not provided., Invalid token header., and their translations.
	invalid = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\btoken\b|credentials|inactive or deleted|учетные данные|токен`)
	})
	// throttled is the text of too many calls: Request was throttled. Expected available in 30 seconds.
	throttled = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)available in (\d+) second`) })
)

// detailOf returns the detail of an answer in Rutube's own form, and reports whether it is in that form, and not that
// of a proxy: it has a detail, or lists of texts.
func detailOf(a wire.Answer) (detail string, own bool) {
	var body map[string]any
	if json.Unmarshal(a.Body, &body) != nil {
		return "", false
	}
	if detail, own = body["detail"].(string); own {
		return detail, true
	}
	for _, member := range body {
		if _, own = member.([]any); !own {
			return "", false
		}
	}
	return "", own
}

// classify classifies refusals.
func classify(a wire.Answer) *platform.Error {
	switch detail, own := detailOf(a); {
	case a.OK() || a.Status >= 500:
		return nil
	case a.Status == http.StatusTooManyRequests:
		return limitError(detail)
	case !own && a.Status != http.StatusRequestEntityTooLarge:
		return platform.Odd()
	case a.Status == http.StatusUnauthorized && detail != "",
		a.Status == http.StatusForbidden && invalid().MatchString(detail):
		return platform.Disconnected()
	}
	switch a.Status {
	case http.StatusNotFound, http.StatusGone:
		return platform.Reject(platform.CodePostNotFound, "Rutube does not have the video.")
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return platform.Reject(platform.CodeContentRefused, "Rutube refuses the video.")
	case http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
		return platform.Reject(platform.CodeMediaRefused, "Rutube refuses the file.")
	}
	return platform.Odd()
}

// refusedLogin classifies refusals of the login. Only Rutube's own answers concern the name and the password.
func refusedLogin(a wire.Answer) *platform.Error {
	switch detail, own := detailOf(a); {
	case a.OK() || a.Status >= 500:
		return nil
	case a.Status == http.StatusTooManyRequests:
		return limitError(detail)
	case own && (a.Status == http.StatusBadRequest || a.Status == http.StatusUnauthorized ||
		a.Status == http.StatusForbidden):
		return platform.NeedsReconnect(platform.CodeNeedsReconnect, "Rutube refuses the user name or the password. "+
			needsPassword)
	}
	return platform.Busy()
}

func limitError(said string) *platform.Error {
	var after int
	if m := throttled().FindStringSubmatch(said); m != nil {
		after, _ = strconv.Atoi(m[1]) // the digits of a number that is too large stand for no time
	}
	return platform.Limited(time.Duration(min(after, 24*60*60)) * time.Second)
}

// state reports whether a video can be shown, or why it never will. The states and the reasons are those of the old
// documents (github.com/rutube/php-api-client): ready and error are the last states, and a video that is downloaded
// counts as deleted until then.
func (f film) state() (ready bool, err error) {
	switch reason := f.reason(); {
	case f.Status == "error", f.Deleted && reason != "downloading_video":
		words := strings.ReplaceAll(reason, "_", " ")
		return false, platform.Reject(platform.CodeMediaRefused, "Rutube could not process the video.").Saying(words)
	case f.Status == "ready", reason == "moderation":
		return true, nil
	}
	return false, nil
}
