package studio

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/audio"
	"github.com/content-automation/api/pkg/record/quota"
)

// The bounds of a recording: five minutes of it are less than that, unless it is an uncompressed one of high quality.
const (
	maxRecording  = 25 << 20
	recordingTime = 8 * time.Second
)

// NewClient returns the client for the addresses of recordings.
func NewClient(e area.Env) area.Client {
	return e.Client(safehttp.Options{MaxBody: maxRecording, Timeout: recordingTime,
		Redirects: safehttp.MaxRedirects})
}

// recording is the speech at an address, as it was read once. The measured bytes are those
// that are kept and sent to the provider.
type recording struct {
	audio.Sound
	content []byte
}

// fetches bounds the recordings that an account has the service read: an address may belong to a third party.
var fetches = quota.Limit{
	Name: "recordings", Most: 20, Window: time.Minute,
	Message: "An account has 20 recordings a minute fetched from URLs. Repeat the request after the time in " +
		"Retry-After, or upload the recording with POST /v1/media and send its id.",
}

// record reads the recording at an address. That is an effect outside of the operation's transaction, but one that may
// happen again: it changes nothing, costs nothing, and is bounded in size and time. A call that is repeated with its
// Idempotency-Key may read it again, and is answered as the first time.
func (s *Service) record(ctx context.Context, address, param string) (*recording, error) {
	invalid := func(format string, args ...any) (*recording, error) {
		e := errs.New(errs.UnsupportedMedia, format, args...)
		e.Param = param
		return nil, e
	}
	if _, err := fetches.Begin(ctx, s.db, s.now(), auth.FromContext(ctx).Owner, ""); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, recordingTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return invalid("The recording has no valid URL.")
	}
	resp, err := s.urls.Do(req)
	var blocked *safehttp.BlockedError
	switch {
	case errors.As(err, &blocked):
		return nil, safehttp.InvalidURL(err, param)
	case err != nil:
		return invalid("The recording could not be fetched. %s", safehttp.Describe(err))
	}
	content, err := safehttp.ReadBody(resp, maxRecording)
	switch {
	case resp.StatusCode != http.StatusOK:
		return invalid("The recording could not be fetched: the server answered with status %d.", resp.StatusCode)
	case errors.Is(err, safehttp.ErrBodyTooLarge):
		return invalid("The recording is larger than %d MiB.", maxRecording>>20)
	case err != nil:
		return invalid("The recording could not be fetched. %s", safehttp.Describe(err))
	}
	sound, content, err := audio.Speech(content)
	if why := new(audio.Refusal); errors.As(err, &why) {
		return invalid("%s", why.Message)
	}
	if err != nil {
		return invalid("The recording is no MP3, WAV, AAC or M4A whose length can be measured.")
	}
	return &recording{sound, content}, nil
}

func (r *recording) file() media.File {
	return media.File{Type: media.Audio, MIMEType: r.MIMEType, DurationSeconds: r.Duration.Seconds()}
}
