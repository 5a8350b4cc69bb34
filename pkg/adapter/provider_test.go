package adapter_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
)

func TestErrorsKeepTheirKindAndCause(t *testing.T) {
	cause := errors.New("402 Payment Required")
	err := fmt.Errorf("submit: %w", &provider.Error{Kind: provider.Quota, Code: "quota", Message: "Try later.", Cause: cause})
	if provider.KindOf(err) != provider.Quota || !errors.Is(err, cause) {
		t.Errorf("%v: kind %s", err, provider.KindOf(err))
	}
	if got, want := err.Error(), "submit: provider: quota: quota: Try later.: 402 Payment Required"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, unclassified := range []error{context.DeadlineExceeded, errors.New("connection reset")} {
		if got := provider.KindOf(unclassified); got != provider.Transient {
			t.Errorf("%v is %s, want transient", unclassified, got)
		}
	}
}

func TestKindsOfErrorHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range []provider.ErrorKind{provider.Transient, provider.BadInput, provider.Quota,
		provider.UnknownOutcome, provider.Rejected} {
		seen[k.String()] = true
	}
	if len(seen) != 5 || seen["ErrorKind(1)"] {
		t.Errorf("names %v", seen)
	}
	if got := provider.ErrorKind(0).String(); got != "ErrorKind(0)" {
		t.Errorf("the zero kind is called %q", got)
	}
}

func TestOnlyFinalStatesAreFinal(t *testing.T) {
	for state, want := range map[provider.State]bool{provider.Queued: false, provider.Running: false,
		provider.Succeeded: true, provider.Failed: true,
		provider.Canceled: true} {
		if state.Final() != want {
			t.Errorf("%s: final is %v", state, !want)
		}
	}
}

func TestValidateCoversWhatCapabilitiesSay(t *testing.T) {
	can := provider.Capabilities{Kinds: map[provider.Kind]provider.Capability{
		provider.KindVideo:  {AspectRatios: []string{"9:16"}, MaxSeconds: 10, FromImage: true},
		provider.KindVoice:  {},
		provider.KindAvatar: {FromAudio: true},
	}}
	for name, c := range map[string]struct {
		req provider.Request
		ok  bool
	}{
		"all given": {provider.Request{Kind: provider.KindVideo, Prompt: "x", AspectRatio: "9:16", Seconds: 10,
			Count: 1, ImageURL: "https://example.test"}, true},
		"nothing but a prompt":        {provider.Request{Kind: provider.KindVideo, Prompt: "x"}, true},
		"a ratio where there is none": {provider.Request{Kind: provider.KindVoice, Prompt: "x", AspectRatio: "9:16"}, true},
		"speech instead of a prompt":  {provider.Request{Kind: provider.KindAvatar, AudioURL: "https://example.test"}, true},
		"another kind":                {provider.Request{Kind: provider.KindMusic, Prompt: "x"}, false},
		"no prompt":                   {provider.Request{Kind: provider.KindVideo}, false},
		"another ratio":               {provider.Request{Kind: provider.KindVideo, Prompt: "x", AspectRatio: "1:1"}, false},
		"too long":                    {provider.Request{Kind: provider.KindVideo, Prompt: "x", Seconds: 11}, false},
		"two files":                   {provider.Request{Kind: provider.KindVideo, Prompt: "x", Count: 2}, false},
		"an image for a voice":        {provider.Request{Kind: provider.KindVoice, Prompt: "x", ImageURL: "https://example.test"}, false},
		"speech for a voice":          {provider.Request{Kind: provider.KindVoice, Prompt: "x", AudioURL: "https://example.test"}, false},
		"negative slides":             {provider.Request{Kind: provider.KindVideo, Prompt: "x", Slides: -1}, false},
	} {
		err := c.req.Validate(can)
		if (err == nil) != c.ok || err != nil && provider.KindOf(err) != provider.BadInput {
			t.Errorf("%s: got %v, want ok: %v", name, err, c.ok)
		}
	}
}
