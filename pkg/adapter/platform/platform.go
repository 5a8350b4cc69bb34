// Package platform is the one interface to the platforms that content is published
// on. An adapter for one platform is a package below this one; platformtest is the
// conformance suite of all adapters.
//
// A publication is a chain of small steps: start, check, finalize. The caller stores
// the handle of a step before it takes the next one. The call that makes the post is
// made once: where its answer is lost, the outcome is found by reading (Reconcile), or
// the publication fails with the code outcome_unknown. It is never sent again. Next
// takes the steps in this order; no caller needs to know the rules.
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

// Adapter is one platform. Its methods are safe for concurrent use, return before the
// context's deadline, never sleep, and return errors of type *Error for everything
// that the platform answers.
type Adapter interface {
	// Name is the platform's id, such as telegram.
	Name() string

	// Capabilities returns what the platform takes, and how accounts are connected.
	Capabilities() Capabilities

	Connector
	Publisher
}

// Connector connects accounts of a platform.
type Connector interface {
	// Authorization returns the address that the account's owner opens in a browser to
	// allow the connection. Errors: BadContent where the platform has no OAuth.
	Authorization(ctx context.Context, a Authorization) (string, error)

	// Connect returns the accounts that a grant allows to publish on, each with its
	// token: one, unless the owner has several pages or channels and the grant chooses
	// none. Errors: Reconnect for a grant that the platform refuses; Retry.
	Connect(ctx context.Context, g Grant) ([]Account, error)

	// Refresh returns a token with a later end. A platform may rotate the refresh token:
	// the caller stores the new one before it uses it, and refreshes an account once at
	// a time. Where the answer was lost, the repeat is refused if the token was rotated
	// meanwhile. A token that does not end is returned as it is. Errors: Reconnect where
	// the platform refuses the token; Retry.
	Refresh(ctx context.Context, a Account) (Token, error)

	// Revoke ends the token at the platform, where the platform can. It is no error if
	// the token has ended already. Errors: Retry.
	Revoke(ctx context.Context, a Account) error
}

// Publisher publishes posts and reads their metrics. The post is the same at every
// step of a publication; Fit has found no problem in it.
type Publisher interface {
	// Start prepares the post without anything that can be seen. It may be repeated: what
	// an earlier attempt has left at the platform never becomes a post. Errors: any kind but
	// Unknown.
	Start(ctx context.Context, a Account, p Post) (Step, error)

	// Check reads how far the platform is, or prepares more of the post. It may be
	// repeated with the same handle. Errors: any kind but Unknown.
	Check(ctx context.Context, a Account, p Post, h Handle) (Step, error)

	// Finalize makes the call that makes the post visible, or the next one where the post
	// has several parts. Errors: any kind. Every error but Unknown and Restart says that
	// the call had no effect.
	Finalize(ctx context.Context, a Account, p Post, h Handle) (Step, error)

	// Reconcile finds out by reading what became of a Finalize whose answer was lost,
	// begun at the given time. Step.Next is StageFinalize only where the protocol makes
	// a repeat harmless, and StageReconcile where it cannot be seen yet. Errors: Unknown
	// where the platform has nothing to read; Restart, only where nothing was and will be
	// posted; any other kind.
	Reconcile(ctx context.Context, a Account, p Post, h Handle, begun time.Time) (Step, error)

	// Metrics reads how a post does. Errors: any kind but Unknown and Restart.
	Metrics(ctx context.Context, a Account, p Published) (Metrics, error)
}

// Stage is what comes next in a publication.
type Stage string

// The stages of a publication.
const (
	StageStart     Stage = "start"
	StageCheck     Stage = "check"
	StageFinalize  Stage = "finalize"
	StageReconcile Stage = "reconcile"
	StageDone      Stage = "done"
)

// Step is what a step has led to.
type Step struct {
	Next   Stage
	Handle Handle        // for the next step
	Wait   time.Duration // before the next step; 0: none
	Post   Published     // as far as it is known
	// Warning is what the post lacks that was wanted of it; nil: nothing.
	Warning *Warning
}

// Warning is a part of a post that the platform has not taken, while it has taken the post.
type Warning struct {
	Code    WarningCode `json:"code"`
	Message string      `json:"message"` // for the caller, in whole sentences
}

// WarningCode is the code of a warning, as callers see it.
type WarningCode string

// The codes of warnings.
const (
	CoverNotSet       WarningCode = "cover_not_set"
	CommentNotWritten WarningCode = "first_comment_not_written"
)

// Warn returns a warning of what an error has left out, with the reason that it states.
func Warn(code WarningCode, what string, err error) *Warning {
	var e *Error
	if errors.As(err, &e) {
		what += " " + e.Message
	}
	return &Warning{Code: code, Message: what}
}

// CommentInDoubt is the step that ends a publication whose first comment may be there or
// not: it is not written again.
func CommentInDoubt() Step {
	return Step{Next: StageDone, Warning: &Warning{CommentNotWritten, "The answer to the first comment was lost. " +
		"Look at the post: the comment may exist."}}
}

// Published is a post at its platform.
type Published struct {
	ID  string `json:"id,omitempty"` // the platform's; empty where it does not say
	URL string `json:"url,omitempty"`
}

// Metrics are the counts of a post. Those that the platform does not have are nil.
type Metrics struct {
	Views    *int64 `json:"views,omitempty"`
	Likes    *int64 `json:"likes,omitempty"`
	Comments *int64 `json:"comments,omitempty"`
	Shares   *int64 `json:"shares,omitempty"`
	Saves    *int64 `json:"saves,omitempty"`
}

// MaxHandle bounds the length of a handle, which is stored on its task.
const MaxHandle = 4096

// Handle is what an adapter keeps of a publication between steps. Only the adapter
// that made it can read it. It may contain an upload address, which is as good as a
// password: printed or logged, it shows nothing of itself, and it is sealed where it is
// stored.
type Handle string

var (
	_ fmt.Formatter  = Handle("")
	_ slog.LogValuer = Handle("")
)

// Format implements fmt.Formatter, for all verbs.
func (Handle) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue implements slog.LogValuer.
func (Handle) LogValue() slog.Value { return slog.StringValue(redacted) }

// Encode makes a handle of what the adapter keeps.
func Encode(v any) (Handle, error) {
	raw, err := json.Marshal(v)
	if err == nil && len(raw) > MaxHandle {
		err = fmt.Errorf("the handle has %d bytes, more than %d", len(raw), MaxHandle)
	}
	if err != nil {
		return "", Refuse(CodePlatformUnavailable, "The publication cannot be followed.").Because(err)
	}
	return Handle(raw), nil
}

// Decode reads a handle into v.
func (h Handle) Decode(v any) error {
	if h == "" {
		return Refuse(CodeInvalidHandle, "The publication is not known.").Because(errors.New("the handle is empty"))
	}
	if err := json.Unmarshal([]byte(h), v); err != nil {
		return Refuse(CodeInvalidHandle, "The publication is not known.").Because(err)
	}
	return nil
}

// Go returns the step to another stage with what the adapter keeps.
func Go(next Stage, v any, wait time.Duration) (Step, error) {
	h, err := Encode(v)
	return Step{Next: next, Handle: h, Wait: wait}, err
}

// Count is a metric that the platform has.
func Count(n int64) *int64 { return &n }
