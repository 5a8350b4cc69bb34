package provider

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Capabilities describes the support of a provider. A single model may support less; the catalog lists that.
type Capabilities struct {
	Kinds map[Kind]Capability

	// ClientToken reports whether submissions are idempotent by their client token.
	ClientToken bool

	// Unstoppable reports whether a generation that it has accepted is billed even if it is canceled.
	Unstoppable bool

	// Submission is the timeout of a submission; 0 means usualSubmission. A provider
	// that answers with the result needs longer than one that queues.
	Submission time.Duration
}

// usualSubmission is the timeout of a submission to a provider that queues it.
const usualSubmission = 15 * time.Second

// SubmitTime returns the timeout of a submission.
func (c Capabilities) SubmitTime() time.Duration { return cmp.Or(c.Submission, usualSubmission) }

// Capability describes the support of a provider for one kind.
type Capability struct {
	AspectRatios []string // the first one is the default; empty if the kind has no ratio
	MaxSeconds   int      // 0 if the length cannot be set
	MaxCount     int      // files of one request; 0 means 1
	FromImage    bool     // takes a picture to start from
	FromAudio    bool     // takes speech to move to
}

// Validate refuses, with BadInput, requests that the capabilities do not cover.
// Adapters call it first, so that all refuse in the same way and at no cost.
func (r Request) Validate(all Capabilities) error {
	invalid := func(format string, args ...any) error {
		return &Error{Kind: BadInput, Code: "invalid_input", Message: fmt.Sprintf(format, args...)}
	}
	c, ok := all.Kinds[r.Kind]
	switch {
	case !ok:
		return invalid("The provider does not make %s.", r.Kind)
	case strings.TrimSpace(r.Prompt) == "" && (r.AudioURL == "" || !c.FromAudio):
		return invalid("The prompt is empty.")
	case r.ImageURL != "" && !c.FromImage:
		return invalid("The provider does not make %s from an image.", r.Kind)
	case r.AudioURL != "" && !c.FromAudio:
		return invalid("The provider does not make %s from speech.", r.Kind)
	case r.AspectRatio != "" && len(c.AspectRatios) > 0 && !slices.Contains(c.AspectRatios, r.AspectRatio):
		return invalid("The aspect ratio %q is not one of %s.", r.AspectRatio, strings.Join(c.AspectRatios, ", "))
	case r.Seconds < 0 || c.MaxSeconds > 0 && r.Seconds > c.MaxSeconds:
		return invalid("The length of %d s is not within 0 to %d s.", r.Seconds, c.MaxSeconds)
	case r.Count < 0 || r.Count > max(c.MaxCount, 1):
		return invalid("%d files are not within 0 to %d.", r.Count, max(c.MaxCount, 1))
	case r.Slides < 0:
		return invalid("%d slides are too few.", r.Slides)
	}
	return nil
}
