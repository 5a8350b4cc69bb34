// Package provider is the one interface behind which all generation lies: text,
// images, video, music, speech and talking avatars. An adapter for one provider
// is a package below this one; pkg/provider/providertest holds what each of them
// has to pass.
//
// A generation is a chain of small steps, submit, poll, fetch, one message of the
// queue each. Whoever drives it stores the handle of the submission before it
// takes the next step, so that a step that runs twice never starts a second
// generation.
package provider

import (
	"context"
	"io"
	"time"
)

// Kind is what a generation makes.
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

// KindCaptions is the kind of the captions that the service makes of a script by
// itself: there are no models of it.
const KindCaptions Kind = "captions"

// Kinds lists the kinds that there are models of.
func Kinds() []Kind { return []Kind{KindText, KindImage, KindVideo, KindMusic, KindVoice, KindAvatar} }

// MaxHandle bounds the length of a handle: it is kept on the item it works for.
const MaxHandle = 2048

// Handle names a generation at its provider, from one step to the next. Only the
// adapter that made it can read it.
type Handle string

// Provider starts generations and follows them to their end. Its methods are
// safe for concurrent use, return before the context's deadline, never sleep,
// and return errors of type *Error for everything that the provider answers.
type Provider interface {
	// Name is the name under which the catalog lists the provider's models.
	Name() string

	// Capabilities tells what the provider can be asked for.
	Capabilities() Capabilities

	// Submit starts a generation. Providers that answer at once give the result
	// with the submission; then there is no handle to follow. Where the provider
	// takes a client token, submitting the same request again gives the same
	// generation. Errors: BadInput, Quota, Transient; UnknownOutcome where the
	// answer was lost and the provider takes no token, so that a generation may
	// run which nobody can follow.
	Submit(ctx context.Context, req Request) (Submission, error)

	// Poll tells how far the generation is. That it failed is a state, not an
	// error: an error means that asking failed. Errors: BadInput for a handle
	// that is none, Transient.
	Poll(ctx context.Context, h Handle) (Status, error)

	// Fetch returns the result of a generation that has succeeded, as often as it
	// is asked for. Errors: BadInput for a handle that is none, Rejected once the
	// generation has failed, Transient, also while it has not ended.
	Fetch(ctx context.Context, h Handle) (Result, error)

	// Cancel asks the provider to stop. It is no error if the generation has
	// ended or was canceled before; what was made by then may still be billed.
	// Errors: BadInput for a handle that is none, Transient.
	Cancel(ctx context.Context, h Handle) error
}

// Request is what to make. Members that its kind has no use for are ignored.
type Request struct {
	Kind Kind

	// Model is the provider's own id of the model, and Options the settings that
	// the catalog fixes for it (a resolution, say).
	Model   string
	Options map[string]string

	// ClientToken is the same for every attempt to submit this one request.
	ClientToken string

	// Prompt says what to make; for voice and avatar it is the text to speak.
	Prompt   string
	Language string // BCP 47; of the text that is written or spoken

	// Instructions are for text: in whose voice, for whom and about what it is
	// written. They come from the caller's settings, as the prompt does.
	Instructions string
	// ScriptSeconds is for text: also write a script whose speaking takes about
	// that long; 0: none.
	ScriptSeconds int

	AspectRatio string // image, video, avatar; the provider's first one if empty
	Seconds     int    // video, music; the model's own length if 0
	Count       int    // image; 1 if 0
	Slides      int    // text: headings wanted for the slides of a carousel
	ImageURL    string // video, avatar, image: the picture to start from
	AudioURL    string // avatar: the speech to move to, instead of Prompt
	VideoURL    string // avatar: the video whose lips move to the speech
	Lyrics      string // music: what is sung
	// Spoken is for captions: how long the prompt takes to be spoken.
	Spoken time.Duration
	Voice  string // voice, avatar: the provider's id of the voice; the model's default if empty
	Avatar string // avatar: the provider's id of who speaks; the model's default if empty

	// Rehearsal tells the sandbox how the generation ends. Others ignore it.
	Rehearsal Rehearsal
}

// Rehearsal is a wanted outcome. The zero value succeeds at once.
type Rehearsal struct {
	Fail  bool
	Start time.Time     // when the work was accepted
	Delay time.Duration // how long it takes from then on
}

// Submission is a generation that has started, or ended already.
type Submission struct {
	Handle Handle  // empty if Result is set
	Result *Result // of a provider that answers at once
}

// State is where a generation stands.
type State string

// The states of a generation. The last three are final.
const (
	Queued    State = "queued"
	Running   State = "running"
	Succeeded State = "succeeded"
	Failed    State = "failed"
	Canceled  State = "canceled"
)

// Final reports whether the state will not change any more.
func (s State) Final() bool { return s == Succeeded || s == Failed || s == Canceled }

// Status is an answer to Poll.
type Status struct {
	State    State
	Progress int           // 0..100; 100 once it has succeeded
	Wait     time.Duration // when to ask again, unless the state is final; 0 leaves it to the caller
	Failure  *Error        // why it failed, if it did
}

// Result is what a generation made.
type Result struct {
	Text  *Text  // of a text generation
	Media []File // of all others, in order
}

// Text is what a text model wrote.
type Text struct {
	Title    string   `json:"title"`            // one line
	Caption  string   `json:"caption"`          // may have several lines
	Hashtags []string `json:"hashtags"`         // without the #
	Slides   []string `json:"slides,omitempty"` // one heading for each slide asked for
	Script   string   `json:"script,omitempty"` // what is spoken, where a script was asked for
}

// File is one generated file. Its format is found by reading it; what a provider
// says of it is not believed.
type File struct {
	// Open starts reading the file. Errors are of type *Error.
	Open func(ctx context.Context) (io.ReadCloser, error)
}
