package heygen

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/wire"
)

// refused classifies a refusal by its code, if its status does not suffice.
func refused(call wire.Call, status int, body []byte) *provider.Error {
	var answer struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return nil
	}
	code := answer.Error.Code
	switch {
	case code == "quota_exceeded": // as a 429
		return &provider.Error{Kind: provider.Quota, Code: "provider_quota",
			Message: "The service's quota at the provider is used up for now."}
	case code == "avatar_not_found":
		return invalid("unknown_avatar", "The provider has no such avatar.")
	case code == "voice_not_found":
		return invalid("unknown_voice", "The provider has no such voice.")
	case code == "resource_access_denied" && call.Submits: // as a 403, which would blame the service's key
		return invalid("unknown_avatar", "The avatar or the voice belongs to somebody else.")
	case offends(code) && status < http.StatusInternalServerError:
		return invalid(provider.CodeContentPolicy, provider.MessageContentPolicy)
	case status == http.StatusNotFound && !call.Submits:
		return invalid("unknown_generation", "The provider does not know the generation.")
	default:
		return nil
	}
}

// failure returns the error of a failed video. The provider's own message is for the log.
func failure(d details) *provider.Error {
	e := &provider.Error{
		Kind: provider.Rejected, Code: "generation_failed", Message: "The provider could not make the video.",
		Cause: fmt.Errorf("heygen: %.100q: %.300q", d.FailureCode, d.FailureMessage),
	}
	if offends(d.FailureCode) {
		e.Code, e.Message = provider.CodeContentPolicy, provider.MessageContentPolicy
	}
	return e
}

// offends reports whether a code is about forbidden content.
func offends(code string) bool {
	code = strings.ToLower(code)
	return strings.Contains(code, "moderation") || strings.Contains(code, "policy") ||
		strings.Contains(code, "blocked_words")
}
