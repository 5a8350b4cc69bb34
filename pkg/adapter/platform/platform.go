// Package platform is the interface to the platforms on which content is published. Each subpackage
// is an adapter for one platform; platformtest is the conformance suite of all adapters.
//
// A publication is a chain of small steps: start, check, finalize. The caller stores the handle of a step before it
// takes the next step. The call that makes the post is made once. If its answer is lost, the adapter finds the outcome
// by reading (Reconcile), or the publication fails with the code outcome_unknown. The call is never sent again. Next
// takes the steps in this order, so that callers do not need to know the rules.
package platform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"
)

// Adapter is one platform. Its methods are safe for concurrent use, return before the context's
// deadline, and never sleep. They return errors of type *Error for every answer of the platform.
type Adapter interface {
	// Name returns the platform's id, such as telegram.
	Name() string

	// Capabilities returns the limits of the platform and its way to connect accounts.
	Capabilities() Capabilities

	Connector
	Publisher
}

// Connector connects accounts of a platform.
type Connector interface {
	// Authorization returns the address that the account's owner opens in a browser to allow
	// the connection. The error is BadContent if the platform has no OAuth.
	Authorization(ctx context.Context, a Authorization) (string, error)

	// Connect returns the accounts on which a grant allows to publish, each with its token. It
	// returns one account, unless the owner has several pages or channels and the grant chooses
	// none. The error is Reconnect if the platform refuses the grant, or Retry.
	Connect(ctx context.Context, g Grant) ([]Account, error)

	// Refresh returns a token with a later end. Because a platform may rotate the refresh token, the caller stores the
	// new token before it uses it, and never refreshes an account twice at the same time. If an answer with a rotated
	// token is lost, the platform refuses the repeat. Refresh returns a token that does not end unchanged. The error is
	// Reconnect if the platform refuses the token, or Retry.
	Refresh(ctx context.Context, a Account) (Token, error)

	// Revoke ends the token at the platform, if the platform can do so. A token that has ended
	// already is no error. The error is Retry.
	Revoke(ctx context.Context, a Account) error
}

// Publisher publishes posts and reads their metrics. The post is the same at every step of a
// publication, and Fit has found no problem in it.
type Publisher interface {
	// Start prepares the post and makes nothing visible. It may be repeated, because media that an earlier attempt has
	// left at the platform never become a post. The error is of any kind except Unknown.
	Start(ctx context.Context, a Account, p Post) (Step, error)

	// Check reads the progress of the platform, or prepares more of the post. It may be
	// repeated with the same handle. The error is of any kind except Unknown.
	Check(ctx context.Context, a Account, p Post, h Handle) (Step, error)

	// Finalize makes the call that makes the post visible, or the next such call if the post has several parts. The
	// error is of any kind. An error of any kind except Unknown and Restart means that the call had no effect.
	Finalize(ctx context.Context, a Account, p Post, h Handle) (Step, error)

	// Reconcile finds the outcome of a Finalize whose answer was lost, and which began at the given time, by reading.
	// Step.Next is StageFinalize only if the protocol makes a repeat harmless, and StageReconcile if the outcome is not
	// visible yet. The error is Unknown if the platform offers nothing to read, and Restart only if nothing was and
	// nothing will be posted. It may be of any other kind.
	Reconcile(ctx context.Context, a Account, p Post, h Handle, begun time.Time) (Step, error)

	// Metrics reads the metrics of a post. The error is of any kind except Unknown and Restart.
	Metrics(ctx context.Context, a Account, p Published) (Metrics, error)
}

// Stage is the kind of the next step in a publication.
type Stage string

// The stages of a publication.
const (
	StageStart     Stage = "start"
	StageCheck     Stage = "check"
	StageFinalize  Stage = "finalize"
	StageReconcile Stage = "reconcile"
	StageDone      Stage = "done"
)

// Step is the result of a step.
type Step struct {
	Next   Stage
	Handle Handle        // for the next step
	Wait   time.Duration // before the next step, or 0
	Post   Published     // as far as it is known
	// Warning is the requested part that the post lacks, or nil if the post is complete.
	Warning *Warning
}

// Warning is a part of a post that the platform has refused although it has taken the post.
type Warning struct {
	Code    WarningCode `json:"code"`
	Message string      `json:"message"` // for the caller, in whole sentences
	// PlatformMessage is what the platform has said, or nil if it has said nothing.
	PlatformMessage *string `json:"platform_message,omitempty"`
}

// WarningCode is the code of a warning, as callers see it.
type WarningCode string

// The codes of warnings.
const (
	CoverNotSet       WarningCode = "cover_not_set"
	CommentNotWritten WarningCode = "first_comment_not_written"
	FinishInApp       WarningCode = "finish_in_app"
	NotInPlaylist     WarningCode = "not_in_playlist"
	CaptionsNotSet    WarningCode = "captions_not_set"
	HashtagNotShown   WarningCode = "hashtag_not_shown"
	EditListIgnored   WarningCode = "edit_list_ignored"
)

// Warn returns a warning about the part that an error has left out, with the reason that the error states.
func Warn(code WarningCode, what string, err error) *Warning {
	var e *Error
	if errors.As(err, &e) {
		what += " " + e.Message
	}
	w := &Warning{Code: code, Message: what}
	if words := WordsOf(err); words != "" {
		w.PlatformMessage = &words
	}
	return w
}

// CommentInDoubt returns the step that ends a publication whose first comment may or may not exist.
// The comment is not written again.
func CommentInDoubt() Step {
	return Step{Next: StageDone, Warning: &Warning{Code: CommentNotWritten, Message: "The answer to the first " +
		"comment was lost. " +
		"Look at the post: the comment may exist."}}
}

// Published is a post at its platform.
type Published struct {
	ID  string `json:"id,omitempty"` // the platform's id, empty if the platform does not tell it
	URL string `json:"url,omitempty"`
	// More are the ids of the other posts of a thread and of its first comment, in their order and separated by commas,
	// where the platform has no other way to name them.
	More string `json:"more,omitempty"`
	// Ahead is the time by which the clock of the sandbox was moved since. Others ignore it.
	Ahead time.Duration `json:"-"`
}

// MaxHandle bounds the length of a handle, which is stored on its task.
const MaxHandle = 4096

// Handle is the state that an adapter keeps of a publication between steps. Only the adapter that
// made it can read it. It may contain an upload address, which is as good as a password. So it is
// redacted when it is printed or logged, and sealed before it is stored.
type Handle string

var (
	_ fmt.Formatter  = Handle("")
	_ slog.LogValuer = Handle("")
)

// Format implements fmt.Formatter, for all verbs.
func (Handle) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue implements slog.LogValuer.
func (Handle) LogValue() slog.Value { return slog.StringValue(redacted) }

// Encode returns the handle with the adapter's state v.
func Encode(v any) (Handle, error) {
	raw, err := json.Marshal(v)
	if err == nil && len(raw) > MaxHandle {
		err = fmt.Errorf("the handle has %d bytes, more than %d", len(raw), MaxHandle)
	}
	if err != nil {
		return "", Reject(CodePlatformUnavailable, "The publication cannot be followed.").Because(err)
	}
	return Handle(raw), nil
}

// Decode reads a handle into v.
func (h Handle) Decode(v any) error {
	if h == "" {
		return Reject(CodeInvalidHandle, "The publication is not known.").Because(errors.New("the handle is empty"))
	}
	if err := json.Unmarshal([]byte(h), v); err != nil {
		return Reject(CodeInvalidHandle, "The publication is not known.").Because(err)
	}
	return nil
}

// Go returns the step to a stage with the adapter's state v.
func Go(next Stage, v any, wait time.Duration) (Step, error) {
	h, err := Encode(v)
	return Step{Next: next, Handle: h, Wait: wait}, err
}

// Count returns the value of a metric that the platform has.
func Count(n int64) *int64 { return &n }
