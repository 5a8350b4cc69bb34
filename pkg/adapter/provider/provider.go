// Package provider is the common interface to all generation: text, images, video, music, speech and talking avatars.
// An adapter for one provider is a package below this one; infra/verify/harness/providertest is the conformance suite
// of all adapters.
//
// A generation is a chain of small steps: submit, poll, fetch. Each is one message of the queue. The caller stores the
// handle of the submission before the next step, so that a step that runs twice never starts a second generation. Start
// with Provider in provider.go.
package provider

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/cloud/metric"
)

// Kind is the kind of a generation's result.
type Kind string

// The kinds of generation.
const (
	KindText   Kind = "text"
	KindImage  Kind = "image"
	KindVideo  Kind = "video"
	KindMusic  Kind = "music"
	KindVoice  Kind = "voice"
	KindAvatar Kind = "avatar"
)

// KindCompose is the kind of the finished media that the service itself makes of generated parts. It has no models, and
// no provider makes it.
const KindCompose Kind = "compose"

// KindSign is the kind of files of models that the service itself signs and leaves otherwise as they are.
const KindSign Kind = "sign"

// Finishes reports whether the service itself makes the results, of those of other kinds.
func (k Kind) Finishes() bool { return k == KindCompose || k == KindSign }

// Kinds lists the kinds that have models.
func Kinds() []Kind { return []Kind{KindText, KindImage, KindVideo, KindMusic, KindVoice, KindAvatar} }

// MaxHandle bounds the length of a handle, which is stored on the item of its work.
const MaxHandle = 2048

// Handle identifies a generation at its provider between steps. Only the adapter that made it can read it.
type Handle string

// Provider starts generations and follows them to their end. Its methods are safe for concurrent use, return before the
// context's deadline, never sleep, and return errors of type *Error for everything that the provider answers.
type Provider interface {
	// Name is the name under which the catalog lists the provider's models.
	Name() string

	// Capabilities returns the capabilities of the provider.
	Capabilities() Capabilities

	// Submit starts a generation. A synchronous provider returns the result with the submission, without a handle. If
	// the provider takes a client token, Submit is idempotent. Errors: BadInput, Quota, Transient; UnknownOutcome if
	// the answer was lost and the provider takes no token: then a generation may be running without a handle.
	Submit(ctx context.Context, req Request) (Submission, error)

	// Poll returns the status of the generation. A failed generation is a state, not an error: an error means that the
	// poll failed. Errors: BadInput for an invalid handle, Transient.
	Poll(ctx context.Context, h Handle) (Status, error)

	// Fetch returns the result of a generation that has succeeded. It may be called repeatedly. Errors: BadInput for an
	// invalid handle; Rejected if the generation has failed; Transient, also before the generation has ended.
	Fetch(ctx context.Context, h Handle) (Result, error)

	// Cancel asks the provider to stop. It is no error if the generation has ended or is canceled already; the provider
	// may bill the completed part. Errors: BadInput for an invalid handle, Transient.
	Cancel(ctx context.Context, h Handle) error
}

// Request describes the generation. Members that its kind does not use are ignored.
type Request struct {
	Kind Kind

	// Model is the provider's own id of the model. Options are the settings that the catalog fixes for it, such as a
	// resolution.
	Model   string
	Options map[string]string

	// ClientToken is the same for every attempt to submit this one request.
	ClientToken string

	// Account is the id of the account. What a provider writes into the bucket is in a folder of this name.
	Account string

	// Prompt describes the result. For voice and avatar it is the text to speak.
	Prompt   string
	Language string // BCP 47; of the text that is written or spoken

	// System and User are for text: the prompts of the writer, and PromptVersion names their version. Prompt has the
	// caller's subject, which User contains.
	System, User  string
	PromptVersion string
	// Sources is for text: the number of sources that it may quote.
	Sources int
	// Repair is for text: the answer that the writer is to mend, or nil.
	Repair *Repair
	// ScriptSeconds is for text: the approximate length of a spoken script to write as well, in the number of Scenes,
	// of which there is at least one. 0 means no script.
	ScriptSeconds int
	Scenes        int

	// About is for text: what it is about, for the sandbox, which does not understand Instructions. Others ignore it.
	About About

	// Form is for text: the object to write instead of a post. See Ask.
	Form *Form

	AspectRatio string // image, video, avatar; the provider's first one if empty
	Seconds     int    // video, music; the model's own length if 0. The sandbox speaks as long, too
	Count       int    // image; 1 if 0
	Slides      int    // text: slides wanted for a carousel
	Pictures    int    // text: pictures to describe, besides those of slides and scenes
	Headline    bool   // text: words wanted that are drawn on the picture
	// Hashtags is for text: the most hashtags that are kept, 5 if it is 0. None keeps none.
	Hashtags int
	// Short is for text: the platforms that have a version of the caption of their own, with the most characters of
	// each.
	Short      []ShortVersion
	ImageURL   string // video, avatar, image: the picture to start from
	ImageRatio string // video: the aspect ratio of ImageURL, if it is known
	// Resolution is the resolution of the model in the catalog, such as 720p. It is empty if it is unknown.
	Resolution string
	AudioURL   string // avatar: the speech to move to, instead of Prompt
	VideoURL   string // avatar: the video whose lips move to the speech
	Lyrics     string // music: the lyrics to sing
	// SpeechLength is for avatars with AudioURL: the length of the recording.
	SpeechLength time.Duration
	Voice        string // voice, avatar: the provider's id of the voice; the model's default if empty
	Marks        bool   // voice: return the time of each word, if the provider can
	Avatar       string // avatar: the provider's id of the avatar; the model's default if empty

	// Rehearsal is the outcome for the sandbox to simulate. Others ignore it.
	Rehearsal Rehearsal
}

// None is the number of hashtags of a text without any.
const None = -1

// ShortVersion is a platform that has a version of a caption of its own.
type ShortVersion struct {
	// Platform is the id of the platform, and Characters is the most that it takes.
	Platform   string `json:"p"`
	Characters int    `json:"n"`
}

// Rehearsal is a requested outcome. The zero value succeeds at once.
type Rehearsal struct {
	Fail  bool
	Code  FailureCode   // of the failure; generation_failed if empty
	Start time.Time     // time at which the work was accepted
	Delay time.Duration // duration from then on
}

// About is the occasion of a text.
type About struct {
	Kind string `json:"k,omitempty"` // of content, such as carousel
	Type string `json:"t,omitempty"` // of the factory
	Name string `json:"n,omitempty"` // of the brand, or else of the factory
	// Channel is the description of the factory.
	Channel string `json:"c,omitempty"`
	// Product is the name of the product that is presented, and Description its own. Price is its price, and Was the
	// price before a promotion that ends at Until. Prices that the text may not state are empty.
	Product     string `json:"p,omitempty"`
	Description string `json:"d,omitempty"`
	Price       string `json:"m,omitempty"`
	Was         string `json:"w,omitempty"`
	Until       string `json:"u,omitempty"` // YYYY-MM-DD
}

// Submission is a generation that has started or already ended.
type Submission struct {
	Handle Handle  // empty if Result is set
	Result *Result // set if the provider answers at once
	// StandIn is the id, in the catalog, of the model that took the place of the requested one, or empty.
	StandIn string
}

// State is the state of a generation.
type State string

// The states of a generation. The last three are final.
const (
	Queued    State = "queued"
	Running   State = "running"
	Succeeded State = "succeeded"
	Failed    State = "failed"
	Canceled  State = "canceled"
)

// Final reports whether the generation has ended.
func (s State) Final() bool { return s == Succeeded || s == Failed || s == Canceled }

// Status is an answer to Poll.
type Status struct {
	State    State
	Progress int           // 0..100; 100 once it has succeeded
	Wait     time.Duration // time until the next poll, unless the state is final; 0 leaves it to the caller
	Failure  *Error        // reason of a failure
}

// Result is the result of a generation.
type Result struct {
	Text   *Text           // of a text generation
	Object json.RawMessage // of a text generation with a form, in place of Text
	Media  []File          // of all others, in order
	// Characters is the number of characters that the provider has billed for speech, 0 if it does not say.
	Characters int
	// Marks are the times of the words in speech, in order, if they were requested and the provider returns them.
	Marks []Mark
}

// Mark is a time of the recording at which the voice reaches an offset of the text, in bytes.
type Mark struct {
	Offset int           `json:"o"`
	At     time.Duration `json:"t"`
}

// Text is the result of a text model.
type Text struct {
	// Hooks are the openings that the writer considered, and Hook is the number of the chosen one, from 1.
	// HookKinds are the kinds of the openings, such as question, or nil if the writer has not named them.
	Hooks     []string `json:"hooks,omitempty"`
	HookKinds []string `json:"hook_kinds,omitempty"`
	Hook      int      `json:"hook,omitempty"`
	Title     string   `json:"title"` // one line
	// Headline has the words that are drawn on the picture, if they were requested.
	Headline string   `json:"headline,omitempty"`
	Caption  string   `json:"caption"`  // may have several lines
	Hashtags []string `json:"hashtags"` // without the #
	// Short are the versions for platforms with little room, if they were requested.
	Short []Short `json:"short,omitempty"`
	// Style and Characters describe, in English, what all pictures and scenes share. Characters may be empty.
	Style      string    `json:"style,omitempty"`
	Characters string    `json:"characters,omitempty"`
	Pictures   []Picture `json:"pictures,omitempty"` // one for each picture to describe
	Slides     []Slide   `json:"slides,omitempty"`   // one for each slide
	Scenes     []Scene   `json:"scenes,omitempty"`   // the script, if one was requested
	Sound      string    `json:"sound,omitempty"`    // the brief of a piece of music, in English
	// Sources are the numbers, from 1, of the given sources that the text quotes.
	Sources []int `json:"sources,omitempty"`
}

// Short is the version of a caption for a platform with little room.
type Short struct {
	// Platform is the id of the platform.
	Platform string `json:"platform"`
	Caption  string `json:"caption"`
}

// Picture describes a picture.
type Picture struct {
	Visual string `json:"visual"`   // for the model of the picture, in English
	Alt    string `json:"alt_text"` // for those who cannot see it, in the language of the text
}

// Slide is a slide of a carousel.
type Slide struct {
	Heading string `json:"heading"`
	Body    string `json:"body,omitempty"` // under the heading; empty on the first slide
	Picture
}

// UnmarshalJSON reads a slide, also in the form of tasks that were accepted when a slide was its heading alone.
func (s *Slide) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte(`"`)) {
		return json.Unmarshal(data, &s.Heading)
	}
	type plain Slide
	return json.Unmarshal(data, (*plain)(s))
}

// Scene is a part of a script.
type Scene struct {
	Text   string `json:"text"`   // the spoken text
	Visual string `json:"visual"` // the picture during the text, in English
	// OnScreen is a short text that is drawn on the scene. It may be empty.
	OnScreen string `json:"on_screen,omitempty"`
}

// Repair has an answer of a writer that cannot be used, and the problems that the next answer mends.
type Repair struct {
	Answer   string   `json:"answer"`
	Problems []string `json:"problems"`
}

// Script returns the spoken text of all scenes.
func (t Text) Script() string {
	texts := make([]string, len(t.Scenes))
	for i, s := range t.Scenes {
		texts[i] = s.Text
	}
	return strings.Join(texts, " ")
}

// File is one generated file. Its format is read from its content; the provider's statement of it is not trusted.
type File struct {
	// Open starts reading the file. Errors are of type *Error.
	Open func(ctx context.Context) (io.ReadCloser, error)
}

// Row is a provider. The enumeration of the document, the document of credentials and the
// table of residency follow from it.
type Row struct {
	Name string
	// Operator runs the provider; empty: AWS does, in the regions of the stack.
	Operator string
	// Credential is the member of its credential; empty: the function's own role is used.
	Credential string
}

// rows are all providers, in the order in which they are listed.
var rows = []Row{
	{Name: "bedrock"},
	{Name: "polly"},
	{Name: "fal", Operator: "fal (Features & Labels, Inc.)", Credential: "key"},
	{Name: "replicate", Operator: "Replicate, Inc.", Credential: "token"},
	{Name: "elevenlabs", Operator: "Eleven Labs Inc.", Credential: "key"},
	{Name: "heygen", Operator: "HeyGen, Inc.", Credential: "key"},
}

// AllRows returns the providers, in the order in which they are listed.
func AllRows() []Row { return rows }

// AddRow adds a provider, and returns a function that removes it again. It is for tests of what follows from the rows.
func AddRow(r Row) (remove func()) {
	before := rows
	rows = append(slices.Clone(rows), r)
	return func() { rows = before }
}

// RowNames returns the names of the providers.
func RowNames() []string {
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r.Name
	}
	return names
}

// FindRow returns the provider of a name, and whether there is one.
func FindRow(name string) (Row, bool) {
	i := slices.IndexFunc(rows, func(r Row) bool { return r.Name == name })
	if i < 0 {
		return Row{}, false
	}
	return rows[i], true
}

// Capabilities describes the support of a provider. A single model may support less; the catalog lists that.
type Capabilities struct {
	Kinds map[Kind]Capability

	// ClientToken reports whether submissions are idempotent by their client token.
	ClientToken bool

	// Unstoppable reports whether a generation that it has accepted is billed even if it is canceled.
	Unstoppable bool

	// Submission is the timeout of a submission; 0 means usualSubmission. A provider
	// that answers with the result needs longer than one that queues.
	Submission time.Duration
}

// usualSubmission is the timeout of a submission to a provider that queues it.
const usualSubmission = 15 * time.Second

// SubmitTime returns the time that a submission may take: its own, or the usual one.
func (c Capabilities) SubmitTime() time.Duration { return cmp.Or(c.Submission, usualSubmission) }

// Capability describes the support of a provider for one kind.
type Capability struct {
	AspectRatios []string // the first one is the default; empty if the kind has no ratio
	MaxSeconds   int      // 0 if the length cannot be set
	MaxCount     int      // files of one request; 0 means 1
	FromImage    bool     // takes a picture to start from
	FromAudio    bool     // takes speech to move to
}

// Validate refuses, with BadInput, requests that the capabilities do not cover.
// Adapters call it first, so that all refuse in the same way and at no cost.
func (r Request) Validate(all Capabilities) error {
	invalid := func(format string, args ...any) error {
		return &Error{Kind: BadInput, Code: "invalid_input", Message: fmt.Sprintf(format, args...)}
	}
	c, ok := all.Kinds[r.Kind]
	switch {
	case !ok:
		return invalid("The provider does not make %s.", r.Kind)
	case strings.TrimSpace(r.Prompt) == "" && (r.AudioURL == "" || !c.FromAudio):
		return invalid("The prompt is empty.")
	case r.ImageURL != "" && !c.FromImage:
		return invalid("The provider does not make %s from an image.", r.Kind)
	case r.AudioURL != "" && !c.FromAudio:
		return invalid("The provider does not make %s from speech.", r.Kind)
	case r.AspectRatio != "" && len(c.AspectRatios) > 0 && !slices.Contains(c.AspectRatios, r.AspectRatio):
		return invalid("The aspect ratio %q is not one of %s.", r.AspectRatio, strings.Join(c.AspectRatios, ", "))
	case r.Seconds < 0 || c.MaxSeconds > 0 && r.Seconds > c.MaxSeconds:
		return invalid("The length of %d s is not within 0 to %d s.", r.Seconds, c.MaxSeconds)
	case r.Count < 0 || r.Count > max(c.MaxCount, 1):
		return invalid("%d files are not within 0 to %d.", r.Count, max(c.MaxCount, 1))
	case r.Slides < 0:
		return invalid("%d slides are too few.", r.Slides)
	}
	return nil
}

// Configured is the set of providers that a stack may use for live work. The zero value is empty. It does not depend on
// credentials, so functions that only list the offers need no secret.
type Configured struct{ names []string }

// ParseConfigured parses a comma-separated list of names, the format of the environment variable PROVIDERS.
func ParseConfigured(list string) Configured {
	var c Configured
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			c.names = append(c.names, name)
		}
	}
	return c
}

// Has reports whether the set has the provider of that name.
func (c Configured) Has(name string) bool { return slices.Contains(c.names, name) }

// StandIn is a text model that takes the place of one that its provider refuses.
type StandIn struct {
	// ID is the model's id in the catalog. Model and Options are as in Request.
	ID      string
	Model   string
	Options map[string]string
}

// StandIns returns the models that may take the place of a text model, which the provider's id names: the best one
// first. Nil returns none.
type StandIns func(model string) []StandIn

// StandInMetric counts the calls for which another model took the place of the one that was asked for.
const StandInMetric = "ModelStandIns"

// CodeAccess is the code of a BadInput error by which a provider refuses a model to the service's account.
const CodeAccess = "provider_access"

// Call calls a text model. If the provider refuses the model to the account, as AWS refuses one that is Legacy, Call
// calls each model once that may take its place, until one is not refused. It returns the id of that model in the
// catalog, or an empty one if none took its place.
func (s StandIns) Call(model string, options map[string]string, call func(model string,
	options map[string]string) error) (standIn string, err error) {
	err = call(model, options)
	if s == nil || !refusesModel(err) {
		return "", err
	}
	for _, next := range s(model) {
		if again := call(next.Model, next.Options); !refusesModel(again) {
			metric.Add(StandInMetric, 1)
			slog.Warn("another model took the place of one that is refused", "model", model, "stand_in", next.ID,
				"error", err)
			return next.ID, again
		}
	}
	return "", err
}

// refusesModel reports whether a provider has refused a call because of its model: it does not have the model, or keeps
// the account from it. Nothing was generated.
func refusesModel(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == BadInput &&
		(e.Code == CodeAccess || FailureCode(e.Code) == FailedModel)
}

// Life is what a provider says of the life of a model.
type Life struct {
	// Legacy reports that the model will end, and is refused to accounts that have not used it lately.
	Legacy bool
	// End is the time from which on nobody has the model, or zero if none is named.
	End time.Time
}

// Moderator moderates texts before they are published. It is safe for concurrent use.
type Moderator interface {
	// Moderate reports whether a text is flagged: it may not be published. Its error says nothing about the text: it is
	// to be moderated again.
	Moderate(ctx context.Context, text string) (flagged bool, err error)
}

// Converser is a provider whose text models take part in a conversation, and may call tools of the caller.
type Converser interface {
	// Converse returns the next turn of the model. It is one call: the caller runs the tools that the turn calls, adds
	// their results as a turn of its own, and calls again. Errors are those of Submit, and Rejected with
	// CodeContentPolicy if the model's content rules forbid the conversation.
	Converse(ctx context.Context, c Conversation) (Turn, error)
}

// Conversation is the input of a model for its next turn.
type Conversation struct {
	// Model and Options are as in Request.
	Model   string
	Options map[string]string
	// System is the system prompt.
	System string
	// Turns alternate between user and model, and begin and end with a user's.
	Turns []Turn
	// Tools are the tools that the model may call.
	Tools []Tool
	// Tokens is the largest number of tokens of the turn.
	Tokens int
}

// Turn is one contribution to a conversation.
type Turn struct {
	Model bool   `json:"model,omitempty"` // of the model, not of the user
	Text  string `json:"text,omitempty"`
	// Calls are the tools that a turn of the model calls.
	Calls []ToolCall `json:"calls,omitempty"`
	// Results are the results of the calls of the turn before, in a turn of the user.
	Results []ToolResult `json:"results,omitempty"`
}

// Tool is a function that a model may call.
type Tool struct {
	Name        string          // letters, digits, _ and -; at most 64
	Description string          // its purpose, for the model
	Input       json.RawMessage // JSON Schema of the object that it takes
}

// ToolCall is a call of a tool. The model writes its input: the caller must validate it.
type ToolCall struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// ToolResult is the result of a call.
type ToolResult struct {
	ID      string          `json:"id"` // of the call
	Content json.RawMessage `json:"content"`
	Failed  bool            `json:"failed,omitempty"`
}

// TokensOf returns the largest number of tokens of texts with the given number of bytes.
func TokensOf(bytes int) int { return (bytes + bytesPerToken - 1) / bytesPerToken }

// OneLine puts a text of a model or a caller on one line, without control characters.
func OneLine(text string) string { return oneLine(text) }

// Paragraphs keeps the lines of a text of a model, without control characters.
func Paragraphs(text string) string { return lines(text) }

// Form asks a text model for a JSON object of a form other than that of a post.
type Form struct {
	System string          // the system prompt, which describes the object
	Tokens int             // the most that the object takes
	Sample json.RawMessage // the object that the sandbox answers with
}

// Ask has a text model fill in the form of a request and returns the JSON object. The model writes its members: the
// caller must validate them. The sandbox answers at once, whatever delay is rehearsed. Errors are those of Submit, and
// Transient with the code text_unreadable if the answer has no JSON object.
func Ask(ctx context.Context, p Provider, req Request) (json.RawMessage, error) {
	if req.Form == nil {
		return nil, errors.New("provider: a request without a form was asked")
	}
	ctx, cancel := context.WithTimeout(ctx, p.Capabilities().SubmitTime())
	defer cancel()
	sub, err := p.Submit(ctx, req)
	if err != nil {
		return nil, err
	}
	if sub.Result == nil || sub.Result.Object == nil {
		return nil, fmt.Errorf("provider: %s did not answer a form at once", p.Name())
	}
	return sub.Result.Object, nil
}

// ParseObject returns the JSON object of a model's answer, without a code fence or text around it. It returns a
// Transient error with the code text_unreadable if there is none.
func ParseObject(raw string) (json.RawMessage, error) {
	object, err := findObject(raw)
	if err == nil && !json.Valid([]byte(object)) {
		err = errors.New("the answer is no valid JSON")
	}
	if err != nil {
		return nil, unreadable(&Unreadable{Clip(raw, maxUnreadable), err})
	}
	return json.RawMessage(object), nil
}

func unreadable(cause error) error {
	return &Error{Kind: Transient, Code: "text_unreadable", Message: "The model's text could not be read.",
		Cause: cause}
}

// FileOf returns a file in memory, for providers that return files with their answers. It can be opened repeatedly.
func FileOf(content []byte) File {
	return File{Open: func(ctx context.Context) (io.ReadCloser, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return io.NopCloser(bytes.NewReader(content)), nil
	}}
}

// Objects reads the bucket that a provider writes files to.
type Objects interface {
	// Open starts reading an object. The error has the code not_found if there is none of that key.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
}

// StoredFile returns a file that a provider has written to a bucket.
func StoredFile(objects Objects, key string) File {
	return File{Open: func(ctx context.Context) (io.ReadCloser, error) { return openFile(ctx, objects, key) }}
}

func openFile(ctx context.Context, objects Objects, key string) (io.ReadCloser, error) {
	body, err := objects.Open(ctx, key)
	switch {
	case err == nil:
		return body, nil
	case errs.CodeOf(err) == errs.NotFound:
		return nil, &Error{Kind: Rejected, Code: "result_expired", Message: "The provider no longer keeps the result.",
			Cause: err}
	}
	return nil, &Error{Kind: Transient, Code: "result_unreadable", Message: "The provider's file could not be read.",
		Cause: err}
}

const (
	megapixel = 1 << 20 // as providers count
	// edgeStep is the step of the edges of pictures. Edges are rounded to it.
	edgeStep    = 32
	longestEdge = 4096
	tolerance   = 0.01 // allowed deviation of the shape from the ratio
)

// ParseRatio returns the parts of an aspect ratio such as 9:16.
func ParseRatio(ratio string) (across, down float64, ok bool) {
	_, err := fmt.Sscanf(ratio, "%f:%f", &across, &down)
	return across, down, err == nil && across > 0 && down > 0
}

// ImageSize returns the size of the largest picture of an aspect ratio with at most the given number of megapixels, or
// 0 if there is none.
func ImageSize(ratio string, megapixels int) (width, height int) {
	across, down, ok := ParseRatio(ratio)
	if !ok {
		return 0, 0
	}
	for w := edgeStep; w <= longestEdge; w += edgeStep {
		h := int(math.Round(float64(w)*down/across/edgeStep)) * edgeStep
		if h == 0 || h > longestEdge || w*h > megapixels*megapixel || w*h < width*height {
			continue
		}
		if math.Abs(float64(w)/float64(h)*down/across-1) <= tolerance {
			width, height = w, h
		}
	}
	return width, height
}

// ProfilesOption is the option of a model that Bedrock serves by cross-region inference profiles: the geographies that
// have one, separated by commas.
const ProfilesOption = "profiles"

const globalProfile = "global"

// BedrockEverywhere is the name, in the list of providers, by which a stack permits Bedrock to process its calls
// anywhere in the world.
const BedrockEverywhere = "bedrock-global"

// countries are the profiles of a single country, with its regions.
var countries = map[string][]string{
	"jp": {"ap-northeast-1", "ap-northeast-3"},
	"au": {"ap-southeast-2", "ap-southeast-4"},
}

// ProfileIn returns the profile by which a model is called in a region: the one of the region's country or else
// geography, else the global one if that is permitted, else none. A model with profiles can, in most regions, only be
// called by them.
func ProfileIn(region string, options map[string]string, everywhere bool) string {
	var names []string
	for name := range strings.SplitSeq(options[ProfilesOption], ",") {
		names = append(names, strings.TrimSpace(name))
	}
	geography, _, _ := strings.Cut(region, "-")
	if geography == "ap" {
		geography = "apac"
	}
	for name, regions := range countries {
		if slices.Contains(regions, region) && slices.Contains(names, name) {
			return name
		}
	}
	switch {
	case slices.Contains(names, geography):
		return geography
	case everywhere && slices.Contains(names, globalProfile):
		return globalProfile
	}
	return ""
}

// RegionsOf returns the regions to which a profile may send a call, as patterns of ARNs. The global profile may also
// send it to places that AWS assigns to no region.
func RegionsOf(profile string) []string {
	switch {
	case profile == globalProfile:
		return []string{"", "*"}
	case profile == "apac":
		return []string{"ap-*"}
	case countries[profile] != nil:
		return slices.Clone(countries[profile])
	default:
		return []string{profile + "-*"}
	}
}
