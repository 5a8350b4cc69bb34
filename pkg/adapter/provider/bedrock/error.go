package bedrock

import (
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/wire"
)

// call is a call of the API. A call that submits starts a generation and takes no client token.
func call(name string, timeout time.Duration, submits bool) wire.AWSCall {
	return wire.AWSCall{Name: "bedrock: " + name, Timeout: timeout, Submits: submits, Refused: refused}
}

// refused classifies the codes whose meaning is specific to Bedrock.
func refused(code, message string) *provider.Error {
	is := func(kind provider.ErrorKind, code, message string) *provider.Error {
		return &provider.Error{Kind: kind, Code: code, Message: message}
	}
	switch code {
	case "Throttling":
		if strings.Contains(message, "per day") {
			return is(provider.Quota, "provider_quota", "The service's quota at the provider is used up for now.")
		}
	case "ModelTimeout", "ModelNotReady", "ModelError":
		return is(provider.Transient, "provider_unavailable", "The provider is unavailable at the moment.")
	case "Validation":
		if aboutContent(message) {
			return is(provider.BadInput, provider.CodeContentPolicy, provider.MessageContentPolicy)
		}
		if strings.Contains(message, "model identifier is invalid") {
			return is(provider.BadInput, string(provider.FailedModel), "The provider does not have the model.")
		}
	case "AccessDenied": // the account has no access to the model, which is permanent
		return is(provider.BadInput, provider.CodeAccess, "The provider refuses the service's account.")
	case "ResourceNotFound":
		return is(provider.BadInput, string(provider.FailedModel), "The provider does not have the model.")
	}
	return nil
}

// aboutContent reports whether a message is about content rules rather than format.
func aboutContent(message string) bool {
	message = strings.ToLower(message)
	for _, word := range []string{"content filter", "filter reason", "responsible ai", "moderat", "content polic"} {
		if strings.Contains(message, word) {
			return true
		}
	}
	return false
}

// filtered returns the error of a request that the provider's content rules forbid.
func filtered(cause error) *provider.Error {
	return &provider.Error{Kind: provider.Rejected, Code: provider.CodeContentPolicy,
		Message: provider.MessageContentPolicy, Cause: cause}
}

// failed returns the error of a generation that failed without a useful reason.
func failed(cause error) *provider.Error {
	return &provider.Error{Kind: provider.Rejected, Code: "generation_failed",
		Message: "The provider could not finish the generation.", Cause: cause}
}
