package platformtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/testdata/platforms/control"
)

// Odd gives each call of each post an answer once that no table of a platform has, as proxies and gateways in front of
// platforms do, and returns what has become wrong of it: an account is lost, a post is made twice, or a post is lost of
// which the call has made nothing.
func (s Suite) Odd(ctx context.Context) (wrong []string, err error) {
	if !s.told() {
		return nil, nil
	}
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

// teller is a fake that can be told what to answer. The sandbox has no answers of a platform.
type teller interface{ Say(a control.Answer) }

func (s Suite) told() bool {
	f := s.New()
	defer f.Close()
	_, ok := f.Fake.(teller)
	return ok
}

// page is what a proxy answers.
const page = "<html><h1>Sorry</h1></html>"

// oddAnswers are these answers: the statuses that adapters tell apart with bodies of many forms, and others with a
// page.
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
	for _, status := range []int{302, 405, 406, 408, 410, 412, 415, 418, 421, 423, 425, 451, 499, 501, 502, 504, 511,
		520, 524, 530} {
		add(status, page)
	}
	return all
}

func (s Suite) oddly(ctx context.Context, post platform.Post, w walk, stage string, call int, a control.Answer) error {
	f := s.New()
	defer f.Close()
	a.After = call
	f.Fake.(teller).Say(a)
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

// others are the calls beside those that publish, which an adapter may have.
func others(f *Fixture, post platform.PlacedPost) map[string]func(context.Context) error {
	all := map[string]func(context.Context) error{
		"refresh": func(ctx context.Context) error {
			_, err := f.Adapter.Refresh(ctx, f.Account)
			return err
		},
		"figures": func(ctx context.Context) error {
			_, err := f.Adapter.Metrics(ctx, f.Account, post.PublishedPost)
			return err
		},
	}
	if r, ok := f.Adapter.(platform.AccountReader); ok {
		all["days"] = func(ctx context.Context) error {
			_, err := r.Days(ctx, f.Account, f.Now().AddDate(0, 0, -3))
			return err
		}
	}
	if r, ok := f.Adapter.(platform.CommentReader); ok {
		all["comments"] = func(ctx context.Context) error {
			_, err := r.Comments(ctx, f.Account, post.PublishedPost, "")
			return err
		}
	}
	if e, ok := f.Adapter.(platform.Editor); ok && f.Adapter.Capabilities().Edits {
		all["edit"] = func(ctx context.Context) error { return e.Edit(ctx, f.Account, post, "Another text") }
	}
	if d, ok := f.Adapter.(platform.Deleter); ok && f.Adapter.Capabilities().Deletes {
		all["delete"] = func(ctx context.Context) error { return d.Delete(ctx, f.Account, post) }
	}
	return all
}

// OddOthers is Odd for the calls that do not publish, about the first post. None loses an account, and the page of a
// proxy tells of no post that it is gone.
func (s Suite) OddOthers(ctx context.Context) (wrong []string, err error) {
	if !s.told() {
		return nil, nil
	}
	for _, named := range s.Posts[:1] {
		first := s.New()
		names := others(first, platform.PlacedPost{})
		first.Close()
		for name := range names {
			for call := 0; ; call++ {
				more := false
				for _, a := range oddAnswers() {
					made, err := s.other(ctx, named.Post, name, call, a)
					if more = made; err != nil {
						wrong = append(wrong, fmt.Sprintf("%s, call %d of %s, answered %d %.60q: %v", named.Name, call+1, name,
							a.Status, a.Body, err))
					}
					if !more {
						break
					}
				}
				if !more {
					break
				}
			}
		}
	}
	return wrong, nil
}

// other makes a call with an odd answer, and reports whether it has got the answer.
func (s Suite) other(ctx context.Context, post platform.Post, name string, call int, a control.Answer) (made bool,
	err error) {
	f := s.New()
	defer f.Close()
	progress, err := Publish(ctx, f, f.Account, post)
	if err != nil {
		return false, err
	}
	f.Advance(time.Hour)
	before := f.Fake.Calls()
	a.After = call
	f.Fake.(teller).Say(a)
	placed := platform.PlacedPost{PublishedPost: progress.Post, Media: len(post.Media), Parts: 1, Options: post.Options}
	err = others(f, placed)[name](ctx)
	made = f.Fake.Calls() > before+call
	switch {
	case !made:
		return false, nil
	case platform.KindOf(err) == platform.Reconnect:
		return true, fmt.Errorf("the account is lost: %w", err)
	case platform.CodeOf(err) == platform.CodePostNotFound && (a.Body == page || a.Body == ""):
		return true, fmt.Errorf("the post is lost: %w", err)
	case name == "delete" && err == nil && len(withoutComments(f.Fake.Posts())) > 0:
		return true, errors.New("the post is said to be deleted, and is not")
	}
	return true, nil
}
