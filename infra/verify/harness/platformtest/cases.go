package platformtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/testdata/platforms/control"
)

// Cases returns the tests of an adapter other than the matrix.
func (s Suite) Cases() []Case {
	cases := []Case{
		{"describes itself", s.describes},
		{"refuses handles that are none", s.refusesHandles},
		{"minds the context", s.mindsContext},
		{"connects", s.connects},
		{"shows no secret", s.showsNoSecret},
		{"refuses what does not fit", s.refusesUnfit},
		{"changes and deletes posts", s.changes},
		{"tells the figures of an account", s.tellsFigures},
		{"finds what options name", s.finds},
	}
	for _, named := range s.Posts {
		cases = append(cases, Case{"publishes " + named.Name,
			func(ctx context.Context) error { return s.publishes(ctx, named) }})
	}
	return cases
}

var snakeCase = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

func (s Suite) describes(context.Context) error {
	f := s.New()
	defer f.Close()
	c := f.Adapter.Capabilities()
	var problems []error
	report := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if name := f.Adapter.Name(); !snakeCase.MatchString(name) || !strings.EqualFold(name, c.Label) {
		report("the name %q is not lower snake_case, or not that of %q", name, c.Label)
	}
	if (c.Connect == platform.ConnectOAuth) != (len(c.Scopes) > 0) {
		report("connected by %s with the scopes %v", c.Connect, c.Scopes)
	}
	for kind, rule := range c.Kinds {
		if !slices.Contains(platform.Kinds(), kind) {
			report("takes %q, which is no kind", kind)
		}
		if !slices.ContainsFunc(s.Posts, func(p Named) bool { return p.Post.Kind == kind }) {
			report("nothing here publishes a %s", kind)
		}
		if rule.MaxMedia < rule.MinMedia || (rule.MaxMedia > 0) == (rule.Image == nil && rule.Video == nil) {
			report("%s: from %d to %d media of which files?", kind, rule.MinMedia, rule.MaxMedia)
		}
	}
	for _, note := range c.Notes {
		if !strings.HasSuffix(note, ".") {
			report("the note %q is no sentence", note)
		}
	}
	if slices.Contains(c.Options, platform.OptionPrivacy) != (len(c.Privacies) > 1) {
		report("the option privacy, with %v", c.Privacies)
	}
	return errors.Join(problems...)
}

func (s Suite) publishes(ctx context.Context, named Named) error {
	post := named.Post
	f := s.New()
	defer f.Close()
	if problems := platform.Fit(f.Adapter.Name(), post, f.Adapter.Capabilities()); len(problems) > 0 {
		return fmt.Errorf("it does not fit: %+v", problems)
	}
	d := newDriver(f, post)
	if err := d.run(ctx); err != nil {
		return err
	}
	if d.failure != nil {
		return d.failure
	}
	metrics, err := f.Adapter.Metrics(ctx, d.account, d.progress.Post)
	names := metrics.Names()
	want := f.Adapter.Capabilities().Metrics
	if len(named.Metrics) > 0 {
		want = named.Metrics
	}
	switch {
	case len(want) == 0 && platform.KindOf(err) != platform.BadContent:
		return fmt.Errorf("metrics of a platform that has none: %v, %w", names, err)
	case len(want) > 0 && err != nil:
		return fmt.Errorf("metrics: %w", err)
	case !slices.Equal(names, want):
		return fmt.Errorf("metrics %v, want %v", names, want)
	}
	return nil
}

// changes changes and deletes each post. A repeat of either has no other effect than the first. All
// posts of a thread are deleted.
func (s Suite) changes(ctx context.Context) error {
	for _, named := range s.Posts {
		if err := s.change(ctx, named.Post); err != nil {
			return fmt.Errorf("%s: %w", named.Name, err)
		}
	}
	return nil
}

func (s Suite) change(ctx context.Context, content platform.Post) error {
	f := s.New()
	defer f.Close()
	d := newDriver(f, content)
	if err := d.run(ctx); err != nil || d.failure != nil {
		return errors.Join(err, asError(d.failure))
	}
	c := f.Adapter.Capabilities()
	post := platform.PlacedPost{PublishedPost: d.progress.Post, Media: len(content.Media),
		Parts: platform.Arrange(content, c).Parts()}
	editor, edits := f.Adapter.(platform.Editor)
	deleter, deletes := f.Adapter.(platform.Deleter)
	if edits != c.Edits || deletes != c.Deletes {
		return fmt.Errorf("an Editor: %v, a Deleter: %v, which its capabilities contradict", edits, deletes)
	}
	const text = "Other words"
	if edits {
		before := f.Fake.Posts()
		done, err := twice(f, post, func() error { return editor.Edit(ctx, f.Account, post, text) })
		after := f.Fake.Posts()
		switch {
		case err != nil:
			return fmt.Errorf("edit: %w", err)
		case done && (len(after) != len(before) || !strings.Contains(after[0], text)):
			return fmt.Errorf("edited as %q", after)
		}
	}
	if deletes {
		done, err := twice(f, post, func() error { return deleter.Delete(ctx, f.Account, post) })
		left := withoutComments(f.Fake.Posts())
		switch {
		case err != nil:
			return fmt.Errorf("delete: %w", err)
		case done && len(left) != 0:
			return fmt.Errorf("left are %q", left)
		}
	}
	return nil
}

// twice makes a change twice, and reports whether the platform takes it. A platform may refuse changes of a
// post that is several messages, which then stays as it is.
func twice(f *Fixture, post platform.PlacedPost, change func() error) (done bool, err error) {
	before := f.Fake.Posts()
	for range 2 {
		err := change()
		if several := post.Parts > 1 || post.Media > 1; several && platform.KindOf(err) == platform.BadContent &&
			slices.Equal(f.Fake.Posts(), before) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

func (s Suite) refusesHandles(ctx context.Context) error {
	f := s.New()
	defer f.Close()
	before := f.Fake.Calls()
	for _, h := range []platform.Handle{"", "nonsense", `"text"`, "[]", "null", "{}", `{"unknown":1}`,
		"../../etc/passwd"} {
		for name, call := range map[string]func() (platform.Step, error){
			"check": func() (platform.Step, error) { return f.Adapter.Check(ctx, f.Account, s.Posts[0].Post, h) },
			"finalize": func() (platform.Step, error) {
				return f.Adapter.Finalize(ctx, f.Account,
					s.Posts[0].Post, h)
			},
			"reconcile": func() (platform.Step, error) {
				return f.Adapter.Reconcile(ctx, f.Account, s.Posts[0].Post,
					h, f.Now())
			},
		} {
			_, err := call()
			// The handle does not matter if the adapter never looks for a lost answer.
			if kind := platform.KindOf(err); err == nil || kind != platform.BadContent &&
				(name != "reconcile" || kind != platform.Unknown) {
				return fmt.Errorf("%s with the handle %q: %w", name, string(h), err)
			}
		}
	}
	if n := f.Fake.Calls() - before; n > 0 {
		return fmt.Errorf("made %d calls", n)
	}
	return nil
}

func (s Suite) mindsContext(ctx context.Context) error {
	f := s.New()
	defer f.Close()
	gone, cancel := context.WithCancel(ctx)
	cancel()
	d := newDriver(f, s.Posts[0].Post)
	for n := 0; !d.ended() && n < maxSteps; n++ {
		before, stage := f.Fake.Calls(), d.progress
		o := d.work(gone, nothing)
		if f.Fake.Calls() != before || o.progress != stage || !errors.Is(o.err, context.Canceled) ||
			platform.KindOf(o.err) != platform.Retry {
			return fmt.Errorf("at %s: %+v after %d calls: %w", stage.Stage, o.progress, f.Fake.Calls()-before, o.err)
		}
		if err := d.commit(ctx, d.work(ctx, nothing)); err != nil {
			return err
		}
	}
	return nil
}

func (s Suite) connects(ctx context.Context) error {
	f := s.New()
	defer f.Close()
	grant, err := s.Grant(f)
	if err != nil {
		return err
	}
	accounts, err := f.Adapter.Connect(ctx, grant)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	for _, bad := range s.BadGrants {
		_, err := f.Adapter.Connect(ctx, bad)
		if kind := platform.KindOf(err); kind != platform.Reconnect && kind != platform.BadContent {
			return fmt.Errorf("connected with %+v: %w", bad, err)
		}
	}
	if len(accounts) == 0 {
		return errors.New("there are no accounts")
	}
	for _, a := range accounts {
		if a.ID == "" || a.Name == "" || a.Token.Access == "" {
			return fmt.Errorf("the account %+v has no id, name or token", a)
		}
		if a.Token.ExpiresAt.IsZero() != (a.Token.Refresh == "") {
			return fmt.Errorf("the token of %s ends at %v and can be refreshed: %v", a.ID, a.Token.ExpiresAt,
				a.Token.Refresh != "")
		}
	}
	first := accounts[0]
	refreshed, err := f.Adapter.Refresh(ctx, first)
	if err != nil {
		return fmt.Errorf("refresh: %w", err)
	}
	if refreshed.ExpiresAt.Before(first.Token.ExpiresAt) {
		return fmt.Errorf("the refreshed token ends at %v, the one before at %v", refreshed.ExpiresAt,
			first.Token.ExpiresAt)
	}
	first.Token = refreshed
	f.Account = first
	d := newDriver(f, s.Posts[0].Post)
	if err := d.run(ctx); err != nil || d.failure != nil {
		return fmt.Errorf("published with the connected account: %w", errors.Join(err, asError(d.failure)))
	}
	for range 2 {
		if err := f.Adapter.Revoke(ctx, d.account); err != nil {
			return fmt.Errorf("revoke: %w", err)
		}
	}
	return nil
}

func asError(e *platform.Error) error {
	if e == nil {
		return nil
	}
	return e
}

// showsNoSecret looks for the account's tokens in every error that a step can return.
func (s Suite) showsNoSecret(ctx context.Context) error {
	f := s.New()
	walk, err := s.walked(ctx, s.Posts[0].Post)
	f.Close()
	if err != nil {
		return err
	}
	for call := walk.calls[0] + 1; call <= walk.calls[len(walk.calls)-1]; call++ {
		for _, fault := range Faults() {
			if err := s.leaks(ctx, call, fault); err != nil {
				return fmt.Errorf("%s at call %d: %w", fault, call, err)
			}
		}
	}
	return nil
}

func (s Suite) leaks(ctx context.Context, call int, fault Fault) error {
	f := s.New()
	defer f.Close()
	d := newDriver(f, s.Posts[0].Post)
	f.Fake.Fail(call, fault)
	for n := 0; !d.ended() && n < maxSteps && f.Fake.Calls() < call; n++ {
		bounded, stop := Impatient(ctx, f.Fake)
		o := d.work(bounded, nothing)
		stop()
		for _, secret := range []platform.Secret{f.Account.Token.Access, f.Account.Token.Refresh} {
			if o.err != nil && secret != "" && strings.Contains(o.err.Error(), secret.Reveal()) {
				return fmt.Errorf("the error shows a token")
			}
		}
		if err := d.commit(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

func (s Suite) refusesUnfit(context.Context) error {
	f := s.New()
	defer f.Close()
	name, c := f.Adapter.Name(), f.Adapter.Capabilities()
	for _, named := range s.Posts {
		rule := c.Kinds[named.Post.Kind]
		limit := max(rule.Caption.Max*max(rule.Thread, 1), rule.Rest.Max*2+rule.Caption.Max)
		for what, p := range map[string]platform.Post{
			"kind":    {Kind: "sculpture", Media: named.Post.Media},
			"caption": with(named.Post, func(p *platform.Post) { p.Caption = strings.Repeat("я", limit+1) }),
			"hashtags": with(named.Post,
				func(p *platform.Post) { p.Hashtags = slices.Repeat([]string{"a"}, c.Hashtags.Max+1) }),
			"media": with(named.Post,
				func(p *platform.Post) { p.Media = slices.Repeat(someMedia(p.Media), rule.MaxMedia+1) }),
			"options.privacy": with(named.Post, func(p *platform.Post) { p.Options.Privacy = "secret" }),
		} {
			problems := platform.Fit(name, p, c)
			if !slices.ContainsFunc(problems, func(p platform.Problem) bool {
				return p.Param == what &&
					p.Platform == name && p.Message != ""
			}) {
				return fmt.Errorf("%s with a bad %s: %+v", named.Name, what, problems)
			}
		}
	}
	return nil
}

// finds looks up each kind that the capabilities name. An error of the platform is told by its kind.
func (s Suite) finds(ctx context.Context) error {
	f := s.New()
	defer f.Close()
	c := f.Adapter.Capabilities()
	finder, ok := f.Adapter.(platform.Finder)
	if !ok && len(c.Lookups) > 0 {
		return errors.New("it is no Finder, which its capabilities contradict")
	}
	for _, l := range c.Lookups {
		found, err := finder.Lookup(ctx, f.Account, l.Kind, "acme")
		if platform.KindOf(err) == platform.BadContent && err != nil {
			continue
		}
		if err != nil || len(found) == 0 || found[0].ID == "" || found[0].Name == "" {
			return fmt.Errorf("%s: %+v, %w", l.Kind, found, err)
		}
		f.Fake.Fail(f.Fake.Calls()+1, RateLimited)
		if _, err := finder.Lookup(ctx, f.Account, l.Kind, "acme"); platform.KindOf(err) != platform.Retry &&
			platform.KindOf(err) != platform.Quota {
			return fmt.Errorf("%s, rate limited: %w", l.Kind, err)
		}
	}
	return nil
}

func someMedia(m []platform.Media) []platform.Media {
	if len(m) == 0 {
		return []platform.Media{{MIME: "image/jpeg", Bytes: 1}}
	}
	return m[:1]
}

func with(p platform.Post, change func(*platform.Post)) platform.Post {
	change(&p)
	return p
}

// tellsFigures reads the figures of an account, with and without faults. They are those of the capabilities, of the
// present day and of earlier ones if the platform has a history.
func (s Suite) tellsFigures(ctx context.Context) error {
	measured := s.Measured
	if measured == nil {
		measured = s.New
	}
	f := measured()
	defer f.Close()
	c := f.Adapter.Capabilities()
	reader, ok := f.Adapter.(platform.AccountReader)
	if ok != (len(c.Account.Names) > 0) {
		return fmt.Errorf("an AccountReader: %v, with the figures %v", ok, c.Account.Names)
	}
	if !ok {
		return nil
	}
	today := platform.Midnight(f.Now())
	from := today.AddDate(0, 0, -5)
	days, err := reader.Days(ctx, f.Account, from)
	if err != nil || len(days) == 0 {
		return fmt.Errorf("%d days: %w", len(days), err)
	}
	var names []string
	known := 0
	for i, d := range days {
		if d.Date.Before(from) || d.Date.After(today) || i > 0 && !d.Date.After(days[i-1].Date) {
			return fmt.Errorf("the days %v to %v, of the period from %v to %v", days[0].Date, d.Date, from, today)
		}
		if named := d.Names(); len(named) > 0 {
			known++
			names = append(names, named...)
		}
	}
	slices.Sort(names)
	want := slices.Sorted(slices.Values(c.Account.Names))
	if names = slices.Compact(names); !slices.Equal(names, want) {
		return fmt.Errorf("the figures %v, want %v", names, want)
	}
	if (known > 1) != c.Account.History {
		return fmt.Errorf("%d days have figures, and a history is %v", known, c.Account.History)
	}
	for _, fault := range []Fault{ServerError, RateLimited, Garbage} {
		before := f.Fake.Calls()
		f.Fake.Fail(before+1, fault)
		_, err := reader.Days(ctx, f.Account, from)
		kind := platform.KindOf(err)
		later := kind == platform.Retry || kind == platform.Quota && fault == RateLimited
		if called := f.Fake.Calls() > before; called && (err == nil || !later) {
			return fmt.Errorf("%s: %w", fault, err)
		}
	}
	return nil
}

// wanderSteps bounds how many steps of a publication meet trouble.
const wanderSteps = 60

// Wander publishes a post while any step may meet any trouble repeatedly. It connects the account
// again and retries a publication that has failed. The seed determines all decisions. Wander
// returns how the publication ended, and an error if a post exists twice.
func (s Suite) Wander(ctx context.Context, seed uint64) (string, error) {
	random := rand.New(rand.NewPCG(seed, 1))
	post := s.Posts[random.IntN(len(s.Posts))]
	w, err := s.walked(ctx, post.Post)
	if err != nil {
		return "", fmt.Errorf("%s: %w", post.Name, err)
	}
	f := s.New()
	defer f.Close()
	d := newDriver(f, post.Post)
	troubles := Troubles()
	var met []string
	for n := 0; n < wanderSteps && !d.progress.Done(); n++ {
		if d.failure != nil {
			if random.IntN(4) == 0 {
				break
			}
			met = append(met, "tried again")
			d.failure, d.progress = nil, d.progress.Retry()
			s.reconnect(ctx, d)
		}
		t := troubles[random.IntN(len(troubles))]
		switch {
		case random.IntN(2) == 0:
			err = d.commit(ctx, d.work(ctx, nothing))
		case slices.Contains(Faults(), Fault(t)):
			met = append(met, string(t))
			d.Fake.Fail(d.Fake.Calls()+1+random.IntN(2), Fault(t))
			err = d.impatient(ctx)
		default:
			met = append(met, string(t))
			err = d.suffer(ctx, t)
		}
		if err != nil {
			return "", fmt.Errorf("%s after %q: %w", post.Name, met, err)
		}
	}
	if err := d.run(ctx); err != nil {
		return "", fmt.Errorf("%s after %q: %w", post.Name, met, err)
	}
	result, err := d.result(w.posts)
	if err != nil {
		return "", fmt.Errorf("%s after %q: %w", post.Name, met, err)
	}
	return result, nil
}

// reconnect connects the account again. If that fails, the account does not change.
func (s Suite) reconnect(ctx context.Context, d *driver) {
	grant, err := s.Grant(d.Fixture)
	if err != nil {
		return
	}
	if accounts, err := d.Adapter.Connect(ctx, grant); err == nil && len(accounts) > 0 {
		d.account = accounts[0]
	}
}

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
	for _, status := range []int{200, 302, 405, 406, 408, 410, 412, 415, 418, 421, 423, 425, 451, 499, 501, 502, 504,
		511, 520, 524, 530} {
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
