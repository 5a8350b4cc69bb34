package provider

import "slices"

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

// FailureCodes returns all codes.
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
