package fal

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
)

// statusPath is the path of the status of a request, below its URL.
const statusPath = "/status"

// The bounds of the wait before the next poll: a fraction of the time that the request has taken, so that an image is
// fetched soon and a video is not polled needlessly.
const (
	shortestWait = time.Second
	longestWait  = 15 * time.Second
	waitPart     = 4
)

var (
	endpoints = regexp.MustCompile(
		`^[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)+$`)
	requestIDs = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,63}$`)
)

// work is a request as encoded in its handle. It contains no URL, so that a handle cannot lead anywhere but to the
// queue.
type work struct {
	Model   string        `json:"m"`
	Request string        `json:"r"`
	Kind    provider.Kind `json:"k"`
	Count   int           `json:"n"`
	Began   int64         `json:"t"` // Unix seconds
}

// path returns the request's path in the queue: below the first two parts of the model's endpoint, without the rest.
func (w work) path() string {
	parts := strings.SplitN(w.Model, "/", 3)
	return "/" + parts[0] + "/" + parts[1] + "/requests/" + w.Request
}

func (w work) wait(now time.Time) time.Duration {
	return min(max(now.Sub(time.Unix(w.Began, 0))/waitPart, shortestWait), longestWait)
}

// check validates the work of a handle or of an answer.
func (w work) check() error {
	switch {
	case !endpoints.MatchString(w.Model):
		return fmt.Errorf("%q is no model", w.Model)
	case !requestIDs.MatchString(w.Request):
		return fmt.Errorf("%q is no request id", w.Request)
	case !slices.Contains(provider.Kinds(), w.Kind):
		return fmt.Errorf("%q is no kind", w.Kind)
	case w.Count < 1 || w.Count > maxImages:
		return fmt.Errorf("%d files", w.Count)
	}
	return nil
}

func (w work) handle() (provider.Handle, error) {
	raw, err := json.Marshal(w)
	if err != nil {
		return "", fmt.Errorf("fal: handle: %w", err)
	}
	return provider.Handle(base64.RawURLEncoding.EncodeToString(raw)), nil
}

func parse(h provider.Handle) (work, error) {
	var w work
	raw, err := base64.RawURLEncoding.DecodeString(string(h))
	if err == nil {
		err = json.Unmarshal(raw, &w)
	}
	if err == nil {
		err = w.check()
	}
	if err != nil {
		e := unknownGeneration()
		e.Cause = err
		return work{}, e
	}
	return w, nil
}

func unknownGeneration() *provider.Error {
	return badInput("unknown_generation", "The provider does not know the generation.")
}
