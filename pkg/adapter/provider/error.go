package provider

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrorKind determines the reaction to an error. The list is append-only.
type ErrorKind int

// The kinds of error.
const (
	// Transient means that the same step may succeed later.
	Transient ErrorKind = iota + 1
	// BadInput means that the provider refuses the request, also if it is repeated.
	BadInput
	// Quota means that the service's account at the provider has reached a limit or has no credit. The same step
	// succeeds once that is corrected.
	Quota
	// UnknownOutcome means that the answer to a submission was lost. A second submission may start a second generation,
	// which costs the service, never the customer.
	UnknownOutcome
	// Rejected means that the generation was tried and failed for good. Another attempt with the same request is a new
	// generation, and may succeed.
	Rejected
)

// String names the kind, for logs and metrics.
func (k ErrorKind) String() string {
	switch k {
	case Transient:
		return "transient"
	case BadInput:
		return "bad_input"
	case Quota:
		return "quota"
	case UnknownOutcome:
		return "unknown_outcome"
	case Rejected:
		return "rejected"
	default:
		return fmt.Sprintf("ErrorKind(%d)", int(k))
	}
}

// CodeBusy is the code of a Transient error by which a provider refuses calls because it gets too many of them. It has
// done nothing.
const CodeBusy = "provider_busy"

// The failure that callers see if a provider's content rules forbid a request. It is the same for all providers.
const (
	CodeContentPolicy    = "content_policy"
	MessageContentPolicy = "The provider's content policy does not allow this request."
)

// Error is the error of a provider, classified by the next step.
type Error struct {
	Kind       ErrorKind
	Code       string        // stable, lower snake_case; shown to the caller as the failure's code
	Message    string        // for the caller: the problem, in whole sentences; no secret, no address, no stack
	RetryAfter time.Duration // of Transient and Quota, if the provider states it
	Cause      error         // for the log
	// Part is the part of a composition that the error concerns: a JSON pointer into its description, such as /music,
	// or the key of a file. It is empty if there is none.
	Part string
}

// Error returns kind, code, message and cause.
func (e *Error) Error() string {
	s := fmt.Sprintf("provider: %s: %s: %s", e.Kind, e.Code, e.Message)
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// Unwrap returns the cause, for errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Cause }

// NoEffect reports whether the call had no effect for certain, so that it can be made again: see task.Once.
func (e *Error) NoEffect() bool { return e.Kind != UnknownOutcome }

// Throttled reports whether the provider refuses calls only because it gets too many of them. A task waits then, and
// does not count it as a failure.
func (e *Error) Throttled() bool { return e.Kind == Transient && e.Code == CodeBusy }

// RefusalOf returns the error of a provider that has refused or failed a request for good, or nil if err is no such
// error.
func RefusalOf(err error) *Error {
	var e *Error
	if errors.As(err, &e) && (e.Kind == BadInput || e.Kind == Rejected) {
		return e
	}
	return nil
}

// KindOf returns the kind of an error. An unclassified error, such as a broken
// connection or an exceeded deadline, is Transient: the provider refused nothing.
func KindOf(err error) ErrorKind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Transient
}

// FailureCode is the code of a failed generation, as callers see it.
type FailureCode string

// The codes that a generation can fail with.
const (
	FailedContentPolicy       FailureCode = CodeContentPolicy
	FailedInput               FailureCode = "invalid_input"
	FailedInputUnreadable     FailureCode = "input_unreadable"
	FailedTextTooLong         FailureCode = "text_too_long"
	FailedVoice               FailureCode = "unknown_voice"
	FailedAvatar              FailureCode = "unknown_avatar"
	FailedLanguage            FailureCode = "unsupported_language"
	FailedModel               FailureCode = "unsupported_model"
	FailedRefused             FailureCode = "provider_refused"
	FailedAccess              FailureCode = "provider_access"
	FailedUnknownGeneration   FailureCode = "unknown_generation"
	FailedGeneration          FailureCode = "generation_failed"
	FailedCanceled            FailureCode = "canceled"
	FailedResultExpired       FailureCode = "result_expired"
	FailedResultInvalid       FailureCode = "result_invalid"
	FailedResultTooLarge      FailureCode = "result_too_large"
	FailedUnsupportedMedia    FailureCode = "unsupported_media"
	FailedProviderUnavailable FailureCode = "provider_unavailable"
	FailedTimeout             FailureCode = "timeout"
	FailedBalance             FailureCode = "insufficient_balance"
	FailedSpendLimit          FailureCode = "spend_limit_reached"
	FailedInputTooLarge       FailureCode = "input_too_large"
	FailedInputTooShort       FailureCode = "input_too_short"
	FailedInputSilent         FailureCode = "input_silent"
	FailedScript              FailureCode = "unsupported_script"
	FailedComposition         FailureCode = "composition_failed"
	FailedUnfinished          FailureCode = "unfinished_text"
	FailedClaim               FailureCode = "unsupported_claim"
	FailedWord                FailureCode = "forbidden_word"
	FailedWrongLanguage       FailureCode = "wrong_language"
	FailedRepetitive          FailureCode = "repetitive"
	FailedFlagged             FailureCode = "flagged"
	FailedSources             FailureCode = "sources_unavailable"
)

// failures has the kind and message of each code, in the order of the constants. BadInput fails again if it is retried.
// Rejected may succeed.
var failures = []struct {
	code    FailureCode
	kind    ErrorKind
	message string
}{
	{FailedContentPolicy, BadInput, MessageContentPolicy},
	{FailedInput, BadInput, "The prompt is longer than the model supports."},
	{FailedInputUnreadable, BadInput, "The provider could not read an input file."},
	{FailedTextTooLong, BadInput, "The text is longer than the model supports."},
	{FailedVoice, BadInput, "The provider has no such voice."},
	{FailedAvatar, BadInput, "The provider has no such avatar."},
	{FailedLanguage, BadInput, "The model does not speak the language."},
	{FailedModel, BadInput, "The provider does not have the model."},
	{FailedRefused, BadInput, "The provider refuses the request."},
	{FailedAccess, BadInput, "The provider refuses the service's account."},
	{FailedUnknownGeneration, BadInput, "The provider does not know the generation."},
	{FailedGeneration, Rejected, "The provider could not finish the generation."},
	{FailedCanceled, Rejected, "The generation was canceled."},
	{FailedResultExpired, Rejected, "The provider no longer keeps the result."},
	{FailedResultInvalid, Rejected, "The provider returned a result that cannot be read."},
	{FailedResultTooLarge, Rejected, "The provider made a file that is too large."},
	{FailedUnsupportedMedia, Rejected, "The provider's result could not be read."},
	{FailedProviderUnavailable, Rejected, "The provider could not be reached after several attempts."},
	{FailedTimeout, Rejected, "The work took too long."},
	{FailedBalance, BadInput, "The result is longer or larger than was reserved for, and was removed. The balance " +
		"does not cover what it costs more."},
	{FailedSpendLimit, BadInput, "The result is longer or larger than was reserved for, and was removed. The spend " +
		"limit of the API key does not cover what it costs more."},
	{FailedInputTooLarge, Rejected, "A part has too many bytes or pixels, or plays too long, to be composed."},
	{FailedInputTooShort, Rejected, "A clip or track ends too early to be composed."},
	{FailedInputSilent, Rejected, "Nothing is to be heard of the narration or track."},
	{FailedScript, BadInput, "There is no font for the script of a text."},
	{FailedComposition, Rejected, "The media could not be composed."},
	{FailedUnfinished, Rejected, "The text was refused twice: it has a part that is not for readers, such as a " +
		"placeholder."},
	{FailedClaim, Rejected, "The text was refused twice: it states a fact, such as a price, a date or an address, " +
		"that is in none of the inputs."},
	{FailedWord, Rejected, "The text was refused twice: it has one of the forbidden words of the factory."},
	{FailedWrongLanguage, Rejected, "The text was refused twice: it is not in the language of the item."},
	{FailedRepetitive, Rejected, "The text was refused twice: it nearly repeats an earlier text of the factory."},
	{FailedFlagged, Rejected, "The provider's guard has flagged the text twice."},
	{FailedSources, Rejected, "None of the sources of the factory could be read."},
}

// composing are the codes of failures that only composing causes.
var composing = []FailureCode{FailedInputTooLarge, FailedInputTooShort, FailedInputSilent, FailedScript,
	FailedComposition}

// Composing reports whether only composing fails with the code.
func (c FailureCode) Composing() bool { return slices.Contains(composing, c) }

// FailureCodes returns all codes with which generation can fail.
func FailureCodes() []FailureCode {
	codes := make([]FailureCode, len(failures))
	for i, f := range failures {
		codes[i] = f.code
	}
	return codes
}

// FailureOf returns an error with the code, as a provider returns it, or nil if there is no such code.
func FailureOf(code FailureCode) *Error {
	for _, f := range failures {
		if f.code == code {
			return &Error{Kind: f.kind, Code: string(f.code), Message: f.message}
		}
	}
	return nil
}
