package elevenlabs

import (
	"encoding/json"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/wire"
)

// refused classifies a refusal by its detail, if its status does not suffice. The detail is an object, except for a
// 422, for which it is a list and the status suffices.
func refused(_ wire.Call, _ int, body []byte) *provider.Error {
	var answer struct {
		Detail struct {
			Status string `json:"status"`
		} `json:"detail"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return nil
	}
	switch answer.Detail.Status {
	case "quota_exceeded": // as a 401
		return &provider.Error{Kind: provider.Quota, Code: "provider_quota",
			Message: "The account at the provider has no credit."}
	case "too_many_concurrent_requests", "system_busy", "rate_limit_exceeded":
		return &provider.Error{Kind: provider.Transient, Code: "provider_busy",
			Message: "The provider accepts no more requests at the moment."}
	case "voice_not_found":
		return invalid("unknown_voice", "The provider has no such voice.")
	case "max_character_limit_exceeded", "text_too_long":
		return invalid("text_too_long", "The text is longer than the model supports.")
	case "bad_prompt", "content_against_policy":
		return invalid(provider.CodeContentPolicy, provider.MessageContentPolicy)
	default:
		return nil
	}
}
