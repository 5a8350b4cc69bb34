package fal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/wire"
)

// The codes that steps check.
const (
	codeCanceled  = "canceled"
	codeCompleted = "already_completed"
)

// media is a file in a result.
type media struct {
	URL string `json:"url"`
}

// output is the relevant part of a model's output. Its members depend on the kind of the result.
type output struct {
	Images   []media `json:"images"`
	Video    *media  `json:"video"`
	Audio    *media  `json:"audio"`
	AudioURL *media  `json:"audio_url"` // of some speech models
	// Unsafe has an entry for each image, which is true if a filter has blackened it.
	Unsafe []bool `json:"has_nsfw_concepts"`
	// Status is set while the request has not ended.
	Status string `json:"status"`
}

// result returns the result of a request. An error of the kind BadInput or Rejected
// means that the request failed, or that it has not ended.
func (p *Provider) result(ctx context.Context, w work) (provider.Result, error) {
	call := wire.Call{Method: http.MethodGet, Path: w.path()}
	var out output
	if err := p.client.JSON(ctx, call, &out); err != nil {
		return provider.Result{}, err
	}
	if out.Status == inQueue || out.Status == inProgress {
		return provider.Result{}, notReady(w.wait(p.now()))
	}
	if slices.Contains(out.Unsafe, true) {
		return provider.Result{}, contentPolicy(provider.Rejected)
	}
	var files []media
	switch w.Kind {
	case provider.KindImage:
		files = out.Images
	case provider.KindVideo, provider.KindAvatar:
		files = one(out.Video)
	default:
		files = append(one(out.Audio), one(out.AudioURL)...)
	}
	if len(files) < w.Count || slices.ContainsFunc(files, func(f media) bool { return f.URL == "" }) {
		return provider.Result{}, p.client.Garbled(call, fmt.Errorf("%d files of %s, want %d", len(files),
			w.Kind, w.Count))
	}
	var result provider.Result
	for _, f := range files[:w.Count] {
		result.Media = append(result.Media, wire.File(p.files, f.URL, provider.Rejected))
	}
	return result, nil
}

func one(m *media) []media {
	if m == nil {
		return nil
	}
	return []media{*m}
}

// errorBody is the body of an unsuccessful answer. Faults of the input, or of the model's work, are a list. A fault of
// fal is a text, and the type is a member of its own.
type errorBody struct {
	Detail    json.RawMessage `json:"detail"`
	ErrorType string          `json:"error_type"`
	Status    string          `json:"status"` // of a cancellation
}

// types returns the types of errors in the list of an errorBody.
func (r errorBody) types() []string {
	var list []struct {
		Type string `json:"type"`
	}
	if !bytes.HasPrefix(r.Detail, []byte("[")) || json.Unmarshal(r.Detail, &list) != nil {
		return nil
	}
	types := make([]string, len(list))
	for i, d := range list {
		types[i] = d.Type
	}
	return types
}

func refused(call wire.Call, status int, body []byte) *provider.Error {
	var r errorBody
	_ = json.Unmarshal(body, &r) // if the body is something else, the status suffices
	types := r.types()
	aboutInput := status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
	switch {
	case status == http.StatusForbidden && strings.Contains(strings.ToLower(string(r.Detail)), "balance"):
		return &provider.Error{Kind: provider.Quota, Code: "provider_quota",
			Message: "The account at the provider has no credit."}
	case status == http.StatusBadRequest && r.Status == "ALREADY_COMPLETED":
		return badInput(codeCompleted, "The generation has ended.")
	case status == http.StatusNotFound && call.Submits:
		return badInput("unsupported_model", "The provider does not offer the model.")
	case status == http.StatusNotFound && isResult(call):
		return &provider.Error{Kind: provider.Rejected, Code: "result_expired",
			Message: "The provider no longer keeps the result."}
	case status == http.StatusNotFound:
		return unknownGeneration()
	case r.ErrorType == "client_cancelled":
		return &provider.Error{Kind: provider.Rejected, Code: codeCanceled, Message: "The generation was canceled."}
	case slices.Contains(types, "content_policy_violation"):
		return contentPolicy(provider.BadInput)
	case aboutInput && slices.Contains(types, "file_download_error"):
		return badInput("input_unreadable", "The provider could not read a file of the request.")
	case isResult(call) && status >= http.StatusInternalServerError && (r.ErrorType != "" || len(types) > 0):
		// The queue has stored this as the result of the request: a retry returns the same. Without a type, the queue
		// itself has failed.
		return &provider.Error{Kind: provider.Rejected, Code: "generation_failed",
			Message: "The provider could not finish the generation."}
	default:
		return nil
	}
}

func isResult(call wire.Call) bool {
	return call.Method == http.MethodGet && !strings.HasSuffix(call.Path, statusPath)
}

func contentPolicy(kind provider.ErrorKind) *provider.Error {
	return &provider.Error{Kind: kind, Code: provider.CodeContentPolicy, Message: provider.MessageContentPolicy}
}
