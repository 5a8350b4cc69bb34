package studio

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/audio"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

var (
	_ = format.Define("generation-outcome", format.Format{
		Values: format.Words("generated failed insufficient_balance spend_limit_reached rate_limited")})
	_ = format.Define("studio-prompt", format.Format{Shortest: 1, Longest: 4000,
		Example: "A trail running shoe on wet rock, morning light"})
)

// ItemKind is the kind of a generation in the table.
const ItemKind = "generation"

// State is the state of a generation.
type State string

// The states. The last three are final.
const (
	Queued     State = "queued"
	Generating State = "generating"
	Generated  State = "generated"
	Failed     State = "failed"
	Canceled   State = "canceled"
)

// Failure is the reason why a generation failed.
type Failure struct {
	// Machine-readable reason of the failure.
	Code provider.FailureCode `json:"code" example:"generation_failed"`
	// What happened and what to do about it.
	Message string `json:"message"`
	// Whether the same request may succeed if sent again.
	Retryable bool `json:"retryable"`
}

// Generation is a generation as callers see it.
type Generation struct {
	resource.Resource
	// Profile that it belongs to. Null: the account as a whole.
	ProfileID *tenant.Profile `json:"profile_id"`
	// Kind of the generation.
	Kind provider.Kind `json:"kind" filter:"kind" enum:"video,image,music,voice,avatar"`
	// Id of the model.
	Model string `json:"model" filter:"model" example:"flux-pro-1.1"`
	// Input of the request, with the defaults that apply.
	Input Input `json:"input"`
	// State of the generation. The last three are final.
	State State `json:"state" filter:"state" enum:"queued,generating,generated,failed,canceled"`
	// Progress in percent, as reported by the provider.
	Progress int `json:"progress" minimum:"0" maximum:"100"`
	// Files. Each GET signs their URLs for one hour.
	Media []media.View `json:"media" nullable:"false"`
	// Credits reserved while it is queued or running. 0 once it has ended, and always in the sandbox.
	ReservedCredits int64 `json:"reserved_credits"`
	// Credits charged. 0 until it has ended, and always in the sandbox.
	CostCredits int64 `json:"cost_credits"`
	// Time at which it is deleted with its files: 30 days after a test key made it. Null with a live key.
	ExpiresAt *resource.Time `json:"expires_at"`
	// Reason of the failure. Null if it has not failed.
	Failure *Failure `json:"failure"`

	// Usual is the usual duration of a generation that was just accepted.
	Usual time.Duration `json:"-"`
}

// Pending returns the path that shows an accepted generation, and the time to look at it.
func (g Generation) Pending() (path string, after time.Duration) {
	return "/v1/studio/generations/" + g.ID, g.Usual
}

// Rehearsal is the result that a test key requests.
type Rehearsal struct {
	// Result of the generation. The last three refuse the call with that error, as with a live key.
	Outcome string `json:"outcome,omitempty" format:"generation-outcome" default:"generated"`
	generate.Rehearsal
}

// Record is the stored document of a generation.
type Record struct {
	Generation
	Files   []media.File `json:"files,omitempty"`
	Sandbox *Rehearsal   `json:"sandbox,omitempty"`
	// GivenFiles are the files that take the place of members of the input: the caller's media,
	// and for live work the copy of the recording that an avatar speaks.
	GivenFiles map[string]media.File `json:"given,omitempty"`
	// Ticket is its accepted work.
	Ticket generate.Ticket `json:"ticket,omitzero"`
}

// Attempt is the number of a generation's only attempt.
const Attempt = 1

// Entry returns the record as an item of the table.
func (r *Record) Entry(o tenant.Owner) (store.Item, error) {
	r.ExpiresAt = generate.ExpiresAt(o, r.CreatedAt)
	return store.NewItem(ItemKind, o, r.ID, r)
}

// About returns the description of the generation for the entries of its money.
func (r *Record) About() ledger.About { return ledger.About{Metadata: r.Metadata} }

// Runs reports whether the generation has not ended.
func (r *Record) Runs() bool { return r.State == Queued || r.State == Generating }

// View returns the generation as its GET shows it, with signed media.
func (r *Record) View(ctx context.Context, signer *media.Signer) (Generation, error) {
	v := r.Generation
	if r.Runs() {
		v.ReservedCredits = r.Ticket.Hold.Credits
	}
	var err error
	v.Media, err = signer.Views(ctx, r.Files)
	return v, err
}

// Decode reads the record of an item.
func Decode(it *store.Item) (*Record, error) {
	var r Record
	return &r, it.Decode(&r)
}

// Ends returns the end of the model, for the headers of an answer.
func (g Generation) Ends() (deprecated, end time.Time) { return catalog.Ending(g.Model) }

// Input is the input of a generation. Each kind uses some of the members.
type Input struct {
	// Videos, images and music: description of what to make.
	Prompt string `json:"prompt,omitempty" maxLength:"4000" example:"A trail running shoe on wet rock, morning light"`
	// Voices and avatars: text to speak.
	Text string `json:"text,omitempty" maxLength:"100000" example:"Made of recycled nets."`
	// Aspect ratio, one of the model's aspect_ratios. Absent: the image sets it, or the output has none.
	AspectRatio string `json:"aspect_ratio,omitempty" maxLength:"10" example:"9:16"`
	// Videos and music: length, within the limits of the model. Avatars with audio_url: measured length of the
	// recording, rounded up.
	Seconds int `json:"duration_seconds,omitempty" minimum:"1" maximum:"600"`
	// Images: number of images. Absent: 1.
	Count int `json:"count,omitempty" minimum:"1" maximum:"10"`
	// Voices and avatars: language of the text (BCP 47).
	Language string `json:"language,omitempty" maxLength:"35" example:"en"`
	// Voices and avatars: the provider's id of a voice. Absent: the model's own.
	Voice string `json:"voice,omitempty" maxLength:"100" format:"word"`
	// Avatars: the provider's id of an avatar. Absent: a suitable one.
	Avatar string `json:"avatar,omitempty" maxLength:"100" format:"word"`
	// Music: lyrics, if the model supports them.
	Lyrics string `json:"lyrics,omitempty" maxLength:"3000"`
	// Image to start from: a public https URL, or the id of one of your media.
	ImageURL string `json:"image_url,omitempty" maxLength:"2048"`
	// Recording: a public https URL, or the id of one of your media. Avatars: speech to use instead of text. Voices:
	// sample of the voice to imitate.
	AudioURL string `json:"audio_url,omitempty" maxLength:"2048"`
	// Avatars: video whose lips are synchronized with the speech: a public https URL, or the id of one of your media.
	VideoURL string `json:"video_url,omitempty" maxLength:"2048"`
}

// Request returns what a provider is asked to make.
func (in Input) Request(kind provider.Kind) provider.Request {
	req := provider.Request{
		Kind: kind, Prompt: in.Prompt, Language: in.Language, AspectRatio: in.AspectRatio, Seconds: in.Seconds,
		Count:    in.Count,
		ImageURL: in.ImageURL, AudioURL: in.AudioURL, VideoURL: in.VideoURL, Lyrics: in.Lyrics, Voice: in.Voice,
		Avatar: in.Avatar,
	}
	if in.Text != "" {
		req.Prompt = in.Text
	}
	return req
}

// The members that take a file.
const (
	ImageMember = "image_url"
	AudioMember = "audio_url"
	VideoMember = "video_url"
)

// File returns the member of a name that takes a file.
func (in *Input) File(member string) *string {
	return map[string]*string{ImageMember: &in.ImageURL, AudioMember: &in.AudioURL, VideoMember: &in.VideoURL}[member]
}

// Adopt adds a generation of an export to the transaction, with its files. What was being made is canceled. A sandbox
// keeps it for as long as a new one, or for good if it lasts.
func Adopt(tx *store.Tx, now time.Time, o tenant.Owner, g Generation, files []media.File, lasts bool) error {
	r := &Record{Generation: g, Files: files}
	r.Media, r.ProfileID, r.Progress = []media.View{}, o.ProfileID(), 0
	switch {
	case r.State == Generated && len(files) > 0:
		r.Progress, r.Failure = 100, nil
	case r.State != Failed:
		r.State, r.Failure = Canceled, nil
	}
	it, err := r.Entry(o)
	if err != nil {
		return err
	}
	if !lasts {
		if r.ExpiresAt, err = generate.ExpireFrom(tx, now, o, r.ID); err != nil {
			return err
		}
		if err := it.Encode(r); err != nil {
			return err
		}
	}
	tx.Create(it, nil)
	return nil
}

// InputOf returns the type of the body of the operation that creates a generation of a kind, or nil. Imports check what
// comes in by its schema.
func InputOf(k provider.Kind) reflect.Type {
	for _, b := range []body{videoBody{}, imageBody{}, musicBody{}, voiceBody{}, avatarBody{}} {
		if of, _, _ := b.input(); of == k {
			return reflect.TypeOf(b)
		}
	}
	return nil
}

// Loader opens generations for their work.
type Loader struct {
	// Sign signs the addresses of files that providers fetch.
	Sign func(media.File) (string, error)
}

var _ generate.Loader = Loader{}

// Open reads a generation.
func (l Loader) Open(it store.Item) (generate.Work, error) {
	r, err := Decode(&it)
	if err != nil {
		return nil, err
	}
	return &work{it, r, l.Sign}, nil
}

// work is the work of a generation.
type work struct {
	item store.Item
	*Record
	sign func(media.File) (string, error)
}

var _ generate.Composing = (*work)(nil)

func (w *work) WaitsForAttempt() int {
	if w.Runs() {
		return Attempt
	}
	return 0
}

func (w *work) Ticket() *generate.Ticket { return &w.Record.Ticket }

func (w *work) Request(int, []generate.PartResult) (provider.Request, error) {
	in := w.Input
	for member, file := range w.GivenFiles {
		url, err := w.sign(file)
		if err != nil {
			return provider.Request{}, err
		}
		*in.File(member) = url
	}
	req := in.Request(w.Kind)
	if w.Kind == provider.KindAvatar {
		req.SpeechLength = time.Duration(w.GivenFiles[AudioMember].DurationSeconds * float64(time.Second))
	}
	if s := w.Sandbox; s != nil {
		req.Rehearsal = s.Request(s.Outcome, w.CreatedAt.Time)
	}
	return req, nil
}

// Composition implements generate.Composing: the files of the model stay as they are, and are signed.
func (w *work) Composition(_ int, made []generate.PartResult) (generate.Composition, error) {
	return generate.UnchangedFiles(made[0].Files), nil
}

// Gave implements generate.Composing: the caller's own files are not among those that are signed.
func (w *work) Gave(*provider.Error) bool { return false }

func (w *work) Start(now time.Time) {
	w.State = Generating
	w.Touch(now)
}

// progressStep is the least progress that is worth a write.
const progressStep = 10

func (w *work) Progress(now time.Time, percent int) bool {
	if percent < w.Record.Progress+progressStep {
		return false
	}
	w.Record.Progress = min(percent, 99) // 100 means ready
	w.Touch(now)
	return true
}

func (w *work) Succeed(tx *store.Tx, now time.Time, made []generate.PartResult, cost int64) error {
	w.State, w.Record.Progress, w.CostCredits = Generated, 100, cost
	w.Files = made[len(made)-1].Files
	w.Touch(now)
	return w.notify(tx, event.StudioGenerated)
}

func (w *work) Fail(tx *store.Tx, now time.Time, f generate.Failure) error {
	w.State, w.Failure = Failed, &Failure{Code: f.Code, Message: f.Message, Retryable: f.Retryable}
	w.CostCredits = f.Cost
	w.Touch(now)
	return w.notify(tx, event.StudioFailed)
}

// Cancel implements generate.Work. No event reports it.
func (w *work) Cancel(_ *store.Tx, now time.Time, charged int64, _ []generate.PartResult) error {
	w.State, w.CostCredits, w.Record.Ticket = Canceled, charged, generate.Ticket{}
	w.Touch(now)
	return nil
}

func (w *work) Item() (store.Item, error) {
	err := w.item.Encode(w.Record)
	return w.item, err
}

// notify adds the event of the generation's end to the transaction.
func (w *work) notify(tx *store.Tx, t event.Type) error {
	shown := w.Generation
	shown.Media = []media.View{}
	return event.Add(tx, w.UpdatedAt.Time, w.item.Owner, t, shown, w.Files...)
}

// files are the files that an input refers to.
type files struct {
	incoming.MediaRefs
	// media are the files of the caller's media, by the members that have their ids.
	media map[string]media.File
}

// spoken is the length of the recording of the caller's media, if the input refers to one.
func (f files) spoken() time.Duration {
	return time.Duration(f.media[AudioMember].DurationSeconds * float64(time.Second))
}

// files looks up the files that an input refers to, by URL or by the id of a media, and refuses those that cannot be
// used. It reads other items in the same round trip. Prefix is the place of the input in the body.
func (s *Service) files(ctx context.Context, o tenant.Owner, in Input, prefix string,
	others []store.Key) (files, error) {
	types := map[string]media.Type{ImageMember: media.Image, AudioMember: media.Audio,
		VideoMember: media.Video}
	var members []incoming.Member
	var names []string
	for _, name := range []string{ImageMember, AudioMember, VideoMember} {
		if value := *in.File(name); value != "" {
			members, names = append(members, incoming.Member{Param: prefix + "/" + name, Value: value,
				Type: types[name]}), append(names, name)
		}
	}
	given, err := incoming.Read(ctx, s.db, members, others...)
	if err != nil {
		return files{}, err
	}
	given = given.For(o)
	out := files{given, map[string]media.File{}}
	for i, m := range members {
		if m.IsID() {
			out.media[names[i]], err = given.File(m)
		} else {
			err = safehttp.InvalidURL(s.urls.CheckURL(ctx, m.Value), m.Param)
		}
		if err != nil {
			return files{}, err
		}
	}
	return out, nil
}

// The bounds of a recording: five minutes of it are less than that, unless it is an uncompressed one of high quality.
const (
	maxRecording  = 25 << 20
	recordingTime = 8 * time.Second
)

// NewClient returns the client for the addresses of recordings.
func NewClient(e area.Env) area.Client {
	return e.Client(safehttp.Options{MaxBody: maxRecording, Timeout: recordingTime,
		Redirects: safehttp.MaxRedirects})
}

// recording is the speech at an address, as it was read once. The measured bytes are those
// that are kept and sent to the provider.
type recording struct {
	audio.Sound
	content []byte
}

// fetches bounds the recordings that an account has the service read: an address may belong to a third party.
var fetches = quota.Limit{
	Name: "recordings", Most: 20, Window: time.Minute,
	Message: "An account has 20 recordings a minute fetched from URLs. Repeat the request after the time in " +
		"Retry-After, or upload the recording with POST /v1/media and send its id.",
}

// record reads the recording at an address. That is an effect outside of the operation's transaction, but one that may
// happen again: it changes nothing, costs nothing, and is bounded in size and time. A call that is repeated with its
// Idempotency-Key may read it again, and is answered as the first time.
func (s *Service) record(ctx context.Context, address, param string) (*recording, error) {
	invalid := func(format string, args ...any) (*recording, error) {
		e := errs.New(errs.UnsupportedMedia, format, args...)
		e.Param = param
		return nil, e
	}
	if _, err := fetches.Begin(ctx, s.db, s.now(), auth.FromContext(ctx).Owner, ""); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, recordingTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return invalid("The recording has no valid URL.")
	}
	resp, err := s.urls.Do(req)
	var blocked *safehttp.BlockedError
	switch {
	case errors.As(err, &blocked):
		return nil, safehttp.InvalidURL(err, param)
	case err != nil:
		return invalid("The recording could not be fetched. %s", safehttp.Describe(err))
	}
	content, err := safehttp.ReadBody(resp, maxRecording)
	switch {
	case resp.StatusCode != http.StatusOK:
		return invalid("The recording could not be fetched: the server answered with status %d.", resp.StatusCode)
	case errors.Is(err, safehttp.ErrBodyTooLarge):
		return invalid("The recording is larger than %d MiB.", maxRecording>>20)
	case err != nil:
		return invalid("The recording could not be fetched. %s", safehttp.Describe(err))
	}
	sound, content, err := audio.Speech(content)
	if why := new(audio.Refusal); errors.As(err, &why) {
		return invalid("%s", why.Message)
	}
	if err != nil {
		return invalid("The recording is no MP3, WAV, AAC or M4A whose length can be measured.")
	}
	return &recording{sound, content}, nil
}

func (r *recording) file() media.File {
	return media.File{Type: media.Audio, MIMEType: r.MIMEType, DurationSeconds: r.Duration.Seconds()}
}
