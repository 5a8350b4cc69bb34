package platformtest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/adapter/platform"
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
