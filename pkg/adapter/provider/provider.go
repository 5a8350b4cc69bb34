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
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"
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
	Short      []ShortWanted
	ImageURL   string // video, avatar, image: the picture to start from
	ImageRatio string // video: the aspect ratio of ImageURL, if it is known
	// Resolution is the resolution of the model in the catalog, such as 720p. It is empty if it is unknown.
	Resolution string
	AudioURL   string // avatar: the speech to move to, instead of Prompt
	VideoURL   string // avatar: the video whose lips move to the speech
	Lyrics     string // music: the lyrics to sing
	// Spoken is for avatars with AudioURL: the length of the recording.
	Spoken time.Duration
	Voice  string // voice, avatar: the provider's id of the voice; the model's default if empty
	Marks  bool   // voice: return the time of each word, if the provider can
	Avatar string // avatar: the provider's id of the avatar; the model's default if empty

	// Rehearsal is the outcome for the sandbox to simulate. Others ignore it.
	Rehearsal Rehearsal
}

// None is the number of hashtags of a text without any.
const None = -1

// ShortWanted is a platform that has a version of a caption of its own.
type ShortWanted struct {
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

// Final reports whether the state is final.
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

// Shown returns the texts that readers, viewers and listeners meet, in no order that matters.
func (t Text) Shown() []string {
	all := append([]string{t.Title, t.Headline, t.Caption, t.Script()}, t.Hashtags...)
	for _, p := range t.Pictures {
		all = append(all, p.Alt)
	}
	for _, s := range t.Slides {
		all = append(all, s.Heading, s.Body, s.Alt)
	}
	for _, s := range t.Scenes {
		all = append(all, s.OnScreen)
	}
	return slices.DeleteFunc(all, func(text string) bool { return text == "" })
}

// File is one generated file. Its format is read from its content; the provider's statement of it is not trusted.
type File struct {
	// Open starts reading the file. Errors are of type *Error.
	Open func(ctx context.Context) (io.ReadCloser, error)
}
