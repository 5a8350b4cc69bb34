package platform

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/base/text"
)

// ErrorKind decides how a publication continues after an error. The list is append-only.
type ErrorKind int

// The kinds of error.
const (
	// Retry means that the same step may succeed later with the same handle.
	Retry ErrorKind = iota + 1
	// Expired means that the access token has ended. The same step succeeds with a fresh token.
	Expired
	// Reconnect means that the owner of the account has to connect it again.
	Reconnect
	// BadContent means that the platform refuses the post, and refuses every repeat of it.
	BadContent
	// Quota means that the account has published as much as it may for now.
	Quota
	// Unknown means that the answer to a call that makes a post was lost. The post may exist.
	Unknown
	// Restart means that the prepared media are gone and nothing was posted. The publication begins again.
	Restart
	// Unclear means that the platform refuses the call for a reason that the adapter does not know. A call that makes
	// no post is made again some times before that is final. After a call that makes a post, the post is looked for.
	Unclear
)

var kindNames = map[ErrorKind]string{
	Retry: "retry", Expired: "expired", Reconnect: "reconnect", BadContent: "bad_content", Quota: "quota",
	Unknown: "unknown", Restart: "restart", Unclear: "unclear",
}

// String returns the name of the kind, for logs and metrics.
func (k ErrorKind) String() string {
	if name, ok := kindNames[k]; ok {
		return name
	}
	return fmt.Sprintf("ErrorKind(%d)", int(k))
}

// Final reports whether the publication ends with the error.
func (k ErrorKind) Final() bool { return k == Reconnect || k == BadContent || k == Unknown }

// Code is the code of a failed publication, as callers see it.
type Code string

// The codes of failed publications.
const (
	CodeOutcomeUnknown      Code = "outcome_unknown"
	CodeNeedsReconnect      Code = "needs_reconnect"
	CodeMissingPermission   Code = "missing_permission"
	CodeTokenExpired        Code = "token_expired"
	CodeContentRefused      Code = "content_refused"
	CodeContentPolicy       Code = "content_policy"
	CodeMediaRefused        Code = "media_refused"
	CodeMediaExpired        Code = "media_expired"
	CodeInvalidOption       Code = "invalid_option"
	CodeUnsupported         Code = "unsupported"
	CodeCaptchaRequired     Code = "captcha_required"
	CodeQuotaReached        Code = "quota_reached"
	CodeRateLimited         Code = "rate_limited"
	CodePlatformUnavailable Code = "platform_unavailable"
	CodeNotConfigured       Code = "platform_not_configured"
	CodePostNotFound        Code = "post_not_found"
	CodeInvalidHandle       Code = "invalid_handle"
	CodeCanceled            Code = "canceled"
)

// Codes returns all codes with which publishing can fail.
func Codes() []Code {
	return []Code{
		CodeOutcomeUnknown, CodeNeedsReconnect, CodeMissingPermission, CodeTokenExpired,
		CodeContentRefused, CodeContentPolicy, CodeMediaRefused, CodeMediaExpired,
		CodeInvalidOption, CodeUnsupported, CodeCaptchaRequired, CodeQuotaReached,
		CodeRateLimited, CodePlatformUnavailable, CodeNotConfigured, CodePostNotFound,
		CodeInvalidHandle, CodeCanceled,
	}
}

// Error is the error of a platform. Its kind decides how the publication continues.
type Error struct {
	Kind       ErrorKind
	Code       Code
	Message    string        // for the caller, in whole sentences; no secret and no address
	Words      string        // of the platform about its refusal, from Words; empty if it has said nothing
	RetryAfter time.Duration // for Retry, Quota and Restart, if the platform states it
	Cause      error         // for the log; no secret
}

// Error returns the kind, code, message and cause.
func (e *Error) Error() string {
	s := fmt.Sprintf("platform: %s: %s: %s", e.Kind, e.Code, e.Message)
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// Unwrap returns the cause, for errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Cause }

// NoEffect reports whether the call had no effect for certain, so that it can be made again: see task.Once.
func (e *Error) NoEffect() bool { return e.Kind != Unknown && e.Kind != Restart && e.Kind != Unclear }

// Retryable reports whether a caller may ask for the same again once the reason is gone.
func (e *Error) Retryable() bool { return e.Kind == Reconnect || e.Kind == Quota || e.Kind == Unknown }

// Because returns the error with a cause, which is logged and not shown.
func (e *Error) Because(cause error) *Error {
	e.Cause = cause
	return e
}

// Saying returns the error with the platform's own words, unless there are none.
func (e *Error) Saying(words string) *Error {
	if words = Words(words); words != "" {
		e.Words = words
	}
	return e
}

// WithWait returns the error with a time to wait.
func (e *Error) WithWait(d time.Duration) *Error {
	e.RetryAfter = d
	return e
}

// KindOf returns the kind of an error. It returns Retry for an error that no adapter has
// classified, because a call that may have made a post never returns such an error.
func KindOf(err error) ErrorKind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Retry
}

// CodeOf returns the code of an error, or an empty one for an error that no adapter has classified.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// WordsOf returns what the platform has said about an error, or an empty text.
func WordsOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Words
	}
	return ""
}

// WaitOf returns the time to wait that the platform states in an error, or 0.
func WaitOf(err error) time.Duration {
	var e *Error
	if errors.As(err, &e) {
		return e.RetryAfter
	}
	return 0
}

// Revoked returns the error of a call that revokes access. It is nil if the access had ended already.
func Revoked(err error) error {
	if KindOf(err) == Reconnect {
		return nil
	}
	return err
}

// Except returns an error, or nil if it has the code of what a call wanted to remove and is gone.
func Except(gone Code, err error) error {
	if CodeOf(err) == gone {
		return nil
	}
	return err
}

// Refuses reports whether an error is that of a call which the platform refuses, for a known reason or another.
func Refuses(err error) bool {
	kind := KindOf(err)
	return err != nil && (kind == BadContent || kind == Unclear)
}

// Rejects reports whether an error is that of a call which the platform refuses for a known reason, and for good.
func Rejects(err error) bool { return KindOf(err) == BadContent }

// Passes reports whether the same call may succeed after a while, without anybody's doing.
func Passes(err error) bool { return KindOf(err) == Retry }

// Ended reports whether an error is that of an account which has to be connected again.
func Ended(err error) bool { return KindOf(err) == Reconnect }

// Denied reports whether an error is that of a right which the account does not have.
func Denied(err error) bool { return CodeOf(err) == CodeMissingPermission }

// Untold reports whether an error is that of a figure which the platform refuses, such as for a right that the account
// does not have. The figure is unknown then, and others can be read.
func Untold(err error) bool { return Denied(err) || Refuses(err) }

// Reject returns an error for a post that the platform does not take.
func Reject(code Code, message string) *Error {
	return &Error{Kind: BadContent, Code: code, Message: message}
}

// Odd returns the error of a refusal whose reason the adapter does not know.
func Odd() *Error {
	return Perhaps(CodeContentRefused, "The platform refuses the post.")
}

// Perhaps returns the error of a refusal whose reason the adapter does not know, with what it probably concerns.
func Perhaps(code Code, message string) *Error {
	return &Error{Kind: Unclear, Code: code, Message: message}
}

// Later returns an error after which the caller repeats the same step.
func Later(code Code, message string) *Error {
	return &Error{Kind: Retry, Code: code, Message: message}
}

// Limited returns the error of a platform that accepts no more calls for a while.
func Limited(after time.Duration) *Error {
	return Later(CodeRateLimited, "The platform takes no more calls at the moment.").WithWait(after)
}

// Busy returns the error of a platform that is temporarily out of service.
func Busy() *Error {
	return Later(CodePlatformUnavailable, "The platform is unavailable at the moment.")
}

// Full returns the error of an account that may publish no more for now.
func Full(after time.Duration) *Error {
	return (&Error{Kind: Quota, Code: CodeQuotaReached, Message: "The account has published as much as the platform " +
		"allows for now."}).WithWait(after)
}

// TokenExpired returns the error of an access token that has ended.
func TokenExpired() *Error {
	return &Error{Kind: Expired, Code: CodeTokenExpired, Message: "The access token has expired."}
}

// NeedsReconnect returns the error of an account whose owner has to connect it again.
func NeedsReconnect(code Code, message string) *Error {
	return &Error{Kind: Reconnect, Code: code, Message: message}
}

// Disconnected returns the error of an account to which the platform no longer gives access.
func Disconnected() *Error {
	return NeedsReconnect(CodeNeedsReconnect, "The platform no longer accepts the connection. Connect the account "+
		"again.")
}

// Lost returns the error of a post whose outcome cannot be determined.
func Lost(cause error) *Error {
	return &Error{Kind: Unknown, Code: CodeOutcomeUnknown, Message: "The platform's answer was lost. Look at the " +
		"account: the post may exist.", Cause: cause}
}

// Again returns the error of a publication whose prepared media are gone.
func Again(cause error) *Error {
	return &Error{Kind: Restart, Code: CodeMediaExpired, Message: "The platform no longer keeps what was uploaded.",
		Cause: cause}
}

// Unsupported returns the error of a feature that the platform does not have.
func Unsupported(what string) *Error {
	return Reject(CodeUnsupported, "The platform does not support "+what+".")
}

// MaxWords bounds the platform's own words about a refusal, in characters.
const MaxWords = 400

// opaque are texts that may be tokens, signatures or parts of them: long, without spaces, and with letters and digits.
var opaque = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)bearer\s+[^\s&"']+|` +
		`[\w-]*(?:token|secret|password|passwd|key|sig|signature|code)=[^\s&]+|` +
		`[\w-]*(?:token|secret|password|passwd|key|signature)["']?:\s?["']?[^\s&"',;)}\]]*[0-9][^\s&"',;)}\]]*|` +
		`https?://[^\s?]+|\beyJ[A-Za-z0-9_.-]+|\b[0-9]{6,}:[A-Za-z0-9_-]{20,}|[A-Za-z0-9_+/=.|%~-]{32,}`)
})

// Words returns what a platform has said about a refusal as one line of plain text of at most MaxWords characters:
// without control and format characters, and without what may be a token. It is the text of others, and says nothing
// that the service vouches for.
func Words(said string) string {
	said = opaque().ReplaceAllStringFunc(text.ClipLine(replaceControls(said), 4*MaxWords), func(s string) string {
		if at, _, found := strings.Cut(s, "://"); found && strings.HasPrefix(at, "http") && !hidden(s) {
			return s
		}
		mixed := strings.ContainsAny(s, "0123456789=") && strings.IndexFunc(s, unicode.IsLetter) >= 0
		if mixed || strings.Contains(s, " ") {
			return "[removed]"
		}
		return s
	})
	if utf8.RuneCountInString(said) <= MaxWords {
		return said
	}
	return text.ClipLetters(said, MaxWords-1) + "…"
}

// hidden reports whether the address of a page has a part that may be a token.
func hidden(address string) bool {
	for part := range strings.FieldsFuncSeq(address, func(r rune) bool { return r == '/' || r == '-' || r == '_' }) {
		if len(part) >= 20 && strings.ContainsAny(part, "0123456789") && strings.IndexFunc(part,
			unicode.IsLetter) >= 0 {
			return true
		}
	}
	return strings.Contains(address, "@") || strings.Contains(address, "/bot")
}

// replaceControls returns a text with a space in place of each control character.
func replaceControls(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
