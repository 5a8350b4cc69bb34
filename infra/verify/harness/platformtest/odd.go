package platformtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/testdata/platforms/control"
)

// Odd gives each call of each post an answer once that no table of a platform has, as proxies and gateways in front of
// platforms do, and returns what has become wrong of it: an account is lost, a post is made twice, or a post is lost of
// which the call has made nothing.
func (s Suite) Odd(ctx context.Context) (wrong []string, err error) {
	for _, named := range s.Posts {
		w, err := s.walked(ctx, named.Post)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", named.Name, err)
		}
		for step, stage := range w.stages {
			for call := w.calls[step]; call < w.calls[step+1]; call++ {
				for _, a := range oddAnswers() {
					if err := s.oddly(ctx, named.Post, w, stage, call, a); err != nil {
						wrong = append(wrong, fmt.Sprintf("%s, call %d of step %d %s, answered %d %.60q: %v", named.Name,
							call-w.calls[step]+1, step+1, stage, a.Status, a.Body, err))
					}
				}
			}
		}
	}
	return wrong, nil
}

// page is what a proxy answers.
const page = "<html><h1>Sorry</h1></html>"

// oddAnswers are these answers: the statuses that adapters tell apart with bodies of many forms, and others with a page.
func oddAnswers() (all []control.Answer) {
	add := func(status int, body string) {
		all = append(all, control.Answer{Call: regexp.MustCompile(""), Times: 1, Status: status, Body: body})
	}
	for _, status := range []int{400, 401, 403, 404, 409, 422, 429, 500, 503} {
		for _, body := range []string{"", page, "{}", "null", "[]", `"no"`, "7",
			`{"error":{"code":987654,"message":"Unheard of"}}`, `{"error":"unheard_of","message":"Unheard of"}`,
			`{"code":987654,"message":"Unheard of"}`} {
			add(status, body)
		}
	}
	for _, status := range []int{302, 405, 406, 408, 410, 412, 415, 418, 421, 423, 425, 451, 499, 501, 502, 504, 511, 520,
		524, 530} {
		add(status, page)
	}
	return all
}

func (s Suite) oddly(ctx context.Context, post platform.Post, w walk, stage string, call int, a control.Answer) error {
	f := s.New()
	defer f.Close()
	a.After = call
	f.Fake.(interface{ Say(control.Answer) }).Say(a)
	d := newDriver(f, post)
	if err := d.run(ctx); err != nil {
		return err
	}
	result, err := d.result(w.posts)
	switch {
	case err != nil:
		return err
	case d.progress.Done():
		return nil
	case d.failure.Kind == platform.Reconnect:
		return fmt.Errorf("the account is lost: %w", d.failure)
	case stage != string(platform.StageFinalize), a.Status == http.StatusTooManyRequests:
		return fmt.Errorf("the post is lost: %w", d.failure)
	case result == "":
		return errors.New("nothing is known")
	}
	return nil
}
