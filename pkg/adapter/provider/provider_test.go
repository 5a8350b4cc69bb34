package provider

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

func TestErrorsKeepTheirKindAndCause(t *testing.T) {
	cause := errors.New("402 Payment Required")
	err := fmt.Errorf("submit: %w", &Error{Kind: Quota, Code: "quota", Message: "Try later.", Cause: cause})
	if KindOf(err) != Quota || !errors.Is(err, cause) {
		t.Errorf("%v: kind %s", err, KindOf(err))
	}
	if got, want := err.Error(), "submit: provider: quota: quota: Try later.: 402 Payment Required"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, unclassified := range []error{context.DeadlineExceeded, errors.New("connection reset")} {
		if got := KindOf(unclassified); got != Transient {
			t.Errorf("%v is %s, want transient", unclassified, got)
		}
	}
}

func TestKindsOfErrorHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range []ErrorKind{Transient, BadInput, Quota, UnknownOutcome, Rejected} {
		seen[k.String()] = true
	}
	if len(seen) != 5 || seen["ErrorKind(1)"] {
		t.Errorf("names %v", seen)
	}
	if got := ErrorKind(0).String(); got != "ErrorKind(0)" {
		t.Errorf("the zero kind is called %q", got)
	}
}

func TestOnlyFinalStatesAreFinal(t *testing.T) {
	for state, want := range map[State]bool{Queued: false, Running: false, Succeeded: true, Failed: true,
		Canceled: true} {
		if state.Final() != want {
			t.Errorf("%s: final is %v", state, !want)
		}
	}
}

func TestValidateCoversWhatCapabilitiesSay(t *testing.T) {
	can := Capabilities{Kinds: map[Kind]Capability{
		KindVideo:  {AspectRatios: []string{"9:16"}, MaxSeconds: 10, FromImage: true},
		KindVoice:  {},
		KindAvatar: {FromAudio: true},
	}}
	for name, c := range map[string]struct {
		req Request
		ok  bool
	}{
		"all given": {Request{Kind: KindVideo, Prompt: "x", AspectRatio: "9:16", Seconds: 10,
			Count: 1, ImageURL: "https://example.test"}, true},
		"nothing but a prompt":        {Request{Kind: KindVideo, Prompt: "x"}, true},
		"a ratio where there is none": {Request{Kind: KindVoice, Prompt: "x", AspectRatio: "9:16"}, true},
		"speech instead of a prompt":  {Request{Kind: KindAvatar, AudioURL: "https://example.test"}, true},
		"another kind":                {Request{Kind: KindMusic, Prompt: "x"}, false},
		"no prompt":                   {Request{Kind: KindVideo}, false},
		"another ratio":               {Request{Kind: KindVideo, Prompt: "x", AspectRatio: "1:1"}, false},
		"too long":                    {Request{Kind: KindVideo, Prompt: "x", Seconds: 11}, false},
		"two files":                   {Request{Kind: KindVideo, Prompt: "x", Count: 2}, false},
		"an image for a voice":        {Request{Kind: KindVoice, Prompt: "x", ImageURL: "https://example.test"}, false},
		"speech for a voice":          {Request{Kind: KindVoice, Prompt: "x", AudioURL: "https://example.test"}, false},
		"negative slides":             {Request{Kind: KindVideo, Prompt: "x", Slides: -1}, false},
	} {
		err := c.req.Validate(can)
		if (err == nil) != c.ok || err != nil && KindOf(err) != BadInput {
			t.Errorf("%s: got %v, want ok: %v", name, err, c.ok)
		}
	}
}
