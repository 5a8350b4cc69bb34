package publication

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

const (
	// orderFor is the time that a publication waits for earlier ones of its account, and
	// orderEvery the time between its looks.
	orderFor   = 15 * time.Minute
	orderEvery = 3 * time.Second
)

// posting is the payload of a Post task.
type posting struct {
	Publication string    `json:"publication"`
	Account     string    `json:"account"`
	Attempt     int       `json:"attempt"`
	Began       time.Time `json:"began"`
	// SealedProgress is the platform.Progress: it may contain an upload address, which is as good as a password.
	SealedProgress []byte `json:"sealed,omitempty"`
	// Post is the post that was published at the time At. Failure is the reason if there is no post.
	Post    platform.PublishedPost   `json:"post,omitzero"`
	At      time.Time                `json:"at,omitzero"`
	Failure *item.PublicationFailure `json:"failure,omitempty"`
	// Warning names the part that the post lacks, or is nil.
	Warning *platform.Warning `json:"warning,omitempty"`
	// Region is the one whose rules of law the post follows.
	Region string        `json:"region,omitempty"`
	Rules  []DossierRule `json:"rules,omitempty"` // that it keeps
	// Files are the files as they were sent.
	Files []DossierFile `json:"files,omitempty"`
	// Grants counts the times that it has taken its uses out of the budget of its platform.
	Grants int `json:"granted,omitempty"`
	// RefusedTokens counts the tokens of the account when the platform refused its token.
	RefusedTokens int `json:"refused,omitempty"`
}

// ended reports whether nothing is left to do at the platform.
func (p *posting) ended() bool { return !p.At.IsZero() || p.Failure != nil }

// poster is the handler of Post. The lease of its task is the right to post, and its payload has
// the progress of the publication.
type poster struct{ *Worker }

// Step takes the next step at the platform. The publication ends in a separate step, so that the
// result is safe before the item changes, which other tasks write, too.
func (w poster) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	var p posting
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	if p.ended() {
		return task.Outcome{Done: true, Join: w.finish(s, p)}, nil
	}
	_, r, beside, err := w.read(ctx, s, store.IDKey(p.Account))
	if err != nil {
		return o, task.Again(err)
	}
	pub := p.of(r)
	if pub == nil {
		return task.Outcome{Done: true}, nil // the item was deleted with the sandbox
	}
	progress, err := w.progress(ctx, s.Owner, p)
	if err != nil {
		return o, task.Again(err)
	}
	if progress.Stage == "" && w.Now().Sub(p.Began) < orderFor {
		if wait, err := w.follows(ctx, pub); err != nil || wait {
			return task.Outcome{Wait: task.Jitter(orderEvery)}, err
		}
	}
	o, err = w.step(ctx, s, &p, progress, r, pub, beside[0])
	if err != nil && ctx.Err() == nil && !errors.Is(err, task.ErrMoved) {
		var retry *task.RetryError
		if !errors.As(err, &retry) {
			err = task.Again(err)
		}
	}
	return o, err
}

// of returns the publication of the task, or nil if it is no longer under way.
func (p *posting) of(r *item.Record) *item.Publication {
	if r == nil {
		return nil
	}
	pub := r.Item.Publication(p.Publication)
	if pub == nil || pub.State != item.PublicationPublishing || pub.Posting.Attempt != p.Attempt {
		return nil
	}
	return pub
}

// follows reports whether a publication with an earlier time is under way at the account, or about to be.
func (w *Worker) follows(ctx context.Context, pub *item.Publication) (bool, error) {
	place := item.PlaceAt(pub.ID, pub.Posting.At)
	page, err := w.DB.List(ctx, store.Query{
		Index: store.ByParent, Partition: item.AccountPartition(pub.SocialAccountID), To: place,
		OldestFirst: true, Limit: 1,
	})
	if err != nil {
		return false, task.Again(err)
	}
	return len(page.Items) > 0 && page.Items[0].Parent.SK < place, nil
}

// step takes the next step at the platform.
func (w poster) step(ctx context.Context, s *task.Step, p *posting, progress platform.Progress, r *item.Record,
	pub *item.Publication, accountItem store.Item) (o task.Outcome, err error) {
	var acct social.Record
	if social.Is(accountItem, s.Owner) {
		if acct, err = social.Decode(&accountItem); err != nil {
			return o, err
		}
	}
	adapter, ok := w.Platforms.Of(s.Mode, pub.Platform)
	if !ok || progress.Stage != "" && !acct.Usable() {
		return w.ends(ctx, s, p, progress, acct.Unusable())
	}
	limits := adapter.Capabilities()
	what, err := post(r, pub, limits)
	if err != nil {
		return w.ends(ctx, s, p, progress, platform.Reject(platform.CodeInvalidOption,
			"The options cannot be read. Publish again with options.").Because(err))
	}
	if progress.Stage == "" {
		read := map[string]store.Item{pub.SocialAccountID: accountItem}
		targets, refused, err := w.ask(ctx, s.Owner, r, p.Began, read, pub.SocialAccountID)
		if err != nil {
			return o, task.Again(err)
		}
		p.Region, p.Rules = r.Brief.Region, rulesOf(law.Checked(item.FactsOf(r, pub, w.Now())))
		stale, err := w.stale(ctx, s.Owner, r)
		if err != nil {
			return o, task.Again(err)
		}
		if e := cmp.Or(failed(targets[0].Account, refused), stale); e != nil {
			return w.ends(ctx, s, p, progress, e)
		}
		if what, err = post(r, pub, limits); err != nil { // with the texts that the rules require
			return o, err
		}
		o, ready, err := w.grant(ctx, s.Owner, *p, progress, acct.Meter(), limits.Budget, what)
		if err != nil || !ready {
			return o, err
		}
	}
	ctx, token, err := w.Vault.Token(ctx, s.Owner, &acct)
	var gone *platform.Error
	if errors.As(err, &gone) {
		return w.ends(ctx, s, p, progress, gone)
	}
	if err != nil {
		return o, err
	}
	var changed *platform.Error
	if p.Files, err = sent(ctx, r, pub, w.Files); errors.As(err, &changed) {
		return w.ends(ctx, s, p, progress, changed)
	}
	if err == nil {
		err = open(ctx, &what, r, pub, w.Files)
	}
	if err != nil {
		return o, err
	}
	// Two workers must not upload the same post.
	if err := s.Lease(ctx, nil); err != nil {
		return o, err
	}
	keep := func(ctx context.Context, now platform.Progress) error {
		kept := *p
		if err := w.seal(ctx, s.Owner, &kept, now); err != nil {
			return err
		}
		return s.Lease(ctx, kept)
	}
	progress, wait, err := platform.Next(ctx, adapter, token, what, progress, w.Now(), keep)
	if ctx.Err() != nil || errors.Is(err, task.ErrMoved) {
		return o, errors.Join(ctx.Err(), err)
	}
	return w.after(ctx, s, p, progress, wait, acct, accountItem.Key, err)
}

// after returns the outcome of a call of the platform, whose error it gets.
func (w poster) after(ctx context.Context, s *task.Step, p *posting, progress platform.Progress, wait time.Duration,
	acct social.Record, account store.Key, err error) (o task.Outcome, _ error) {
	var e *platform.Error
	switch {
	case progress.Done():
		p.Post, p.At, p.Warning, p.SealedProgress = progress.Post, w.Now(), progress.Warning, nil
		return task.Outcome{Payload: *p}, nil
	case err != nil && !errors.As(err, &e):
		return o, err
	case e != nil && e.Kind == platform.Reconnect:
		p.RefusedTokens = acct.Tokens
		return w.ends(ctx, s, p, progress, e)
	case e != nil && e.Kind.Final():
		return w.ends(ctx, s, p, progress, e)
	}
	if failed := w.seal(ctx, s.Owner, p, progress); failed != nil {
		return o, failed
	}
	o = task.Outcome{Payload: *p, Wait: wait}
	switch {
	case e == nil:
		return o, nil
	case e.Kind == platform.Expired:
		o.Wait = social.RefreshTime
		o.Join = func(ctx context.Context, tx *store.Tx) error {
			it, err := w.DB.Lookup(ctx, account)
			if err != nil || it.PK == "" {
				return err
			}
			return social.Expired(tx, w.Now(), it, acct.Tokens, e)
		}
		return o, nil
	}
	return o, &task.RetryError{Err: err, After: e.RetryAfter, MaxFailures: task.NoLimit}
}

// ends returns the outcome of a publication that fails. If it is in doubt whether a post
// exists, the known facts are kept for another attempt.
func (w poster) ends(ctx context.Context, s *task.Step, p *posting, progress platform.Progress,
	e *platform.Error) (o task.Outcome, err error) {
	if !progress.SentAt.IsZero() && e.Code != platform.CodeOutcomeUnknown {
		e = platform.Lost(e)
	}
	p.Failure, p.SealedProgress = refusal(e, again(e)), nil
	if next := progress.Retry(); next != (platform.Progress{}) {
		err = w.seal(ctx, s.Owner, p, next)
	}
	return task.Outcome{Payload: *p}, err
}

// finish returns the Outcome.Join that ends a publication, and with the last one its item.
func (w poster) finish(s *task.Step, p posting) func(context.Context, *store.Tx) error {
	return func(ctx context.Context, tx *store.Tx) error {
		it, r, beside, err := w.read(ctx, s, store.IDKey(p.Account))
		if err != nil {
			return err
		}
		if p.RefusedTokens > 0 && social.Is(beside[0], s.Owner) {
			lost := platform.NeedsReconnect(platform.Code(p.Failure.Code), p.Failure.Message)
			if p.Failure.PlatformMessage != nil {
				lost.Words = *p.Failure.PlatformMessage
			}
			if err := social.Lose(tx, w.Now(), beside[0], p.RefusedTokens, lost); err != nil {
				return err
			}
		}
		pub := p.of(r)
		if pub == nil {
			return nil
		}
		r.Brief.Region = cmp.Or(p.Region, r.Brief.Region)
		plan := planner{tx, w.Now(), s.Owner, r}
		if p.Failure != nil {
			pub.Posting.Doubt = p.SealedProgress
			plan.fail(pub, p.Failure)
		} else if err := w.published(ctx, plan, pub, p, beside[0]); err != nil {
			return err
		}
		if err := r.EndPublishing(tx, s.Owner, plan.now); err != nil {
			return err
		}
		return item.Replace(tx, it, r)
	}
}

func (w poster) published(ctx context.Context, plan planner, pub *item.Publication, p posting,
	of store.Item) error {
	at := resource.Instant(p.At)
	pub.State, pub.PublishedAt, pub.Failure = item.PublicationPublished, &at, nil
	if p.Warning != nil {
		pub.Warnings = append(pub.Warnings, item.PublicationWarning{Code: p.Warning.Code,
			Message: p.Warning.Message, PlatformMessage: p.Warning.PlatformMessage})
	}
	pub.PlatformPostID, pub.URL = resource.OrNil(p.Post.ID), resource.OrNil(p.Post.URL)
	if p.Post.More != "" {
		pub.Posting.More = p.Post.More
	}
	pub.Touch(plan.now)
	plan.leave(pub, false)
	adapter, ok := w.Platforms.Of(plan.Mode, pub.Platform)
	if ok {
		content := Preview(plan.r, pub, adapter.Capabilities())
		pub.Posted = &content
		if err := plan.r.WatchComments(plan.tx, plan.now, plan.Owner, pub, adapter.Capabilities()); err != nil {
			return err
		}
		if err := w.announced(ctx, plan, pub, of, adapter); err != nil {
			return err
		}
	}
	if err := w.document(ctx, plan, pub, p); err != nil {
		return err
	}
	if !ok || len(adapter.Capabilities().Metrics) == 0 || p.Post.ID == "" {
		return nil
	}
	return watch(plan, pub)
}

// Fail ends a publication that was not done in time.
func (w poster) Fail(ctx context.Context, s *task.Step, cause error) (o task.Outcome, err error) {
	var p posting
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	if !p.ended() {
		progress, err := w.progress(ctx, s.Owner, p)
		if err != nil {
			return o, err
		}
		switch {
		case progress.Post != platform.PublishedPost{}:
			// the rest of it is lost
			p.Post, p.At, p.Warning, p.SealedProgress = progress.Post, w.Now(), progress.Warning, nil
		case !progress.SentAt.IsZero() || progress.Doubts > 0:
			if _, err := w.ends(ctx, s, &p, progress, platform.Lost(cause)); err != nil {
				return o, err
			}
		default:
			p.Failure, p.SealedProgress = failure(item.FailedTimeout, "The platform did not take the post in time. "+
				"Publish it again.", true), nil
		}
	}
	return task.Outcome{Payload: p, Join: w.finish(s, p)}, nil
}

// progress returns the progress of a publication.
func (w *Worker) progress(ctx context.Context, o tenant.Owner, p posting) (progress platform.Progress, err error) {
	if len(p.SealedProgress) > 0 {
		err = w.Vault.Open(ctx, o, p.Publication, p.SealedProgress, &progress)
	}
	return progress, err
}

// seal puts the progress into the payload.
func (w *Worker) seal(ctx context.Context, o tenant.Owner, p *posting, progress platform.Progress) (err error) {
	raw, err := json.Marshal(progress)
	if err != nil {
		return fmt.Errorf("publication: encode the progress of %s: %w", p.Publication, err)
	}
	p.SealedProgress, err = w.Vault.Seal(ctx, o, p.Publication, json.RawMessage(raw))
	return err
}

// announced adds to the transaction the item by which webhooks of the platform find the publication.
func (w poster) announced(ctx context.Context, plan planner, pub *item.Publication, of store.Item,
	adapter platform.Adapter) error {
	_, announces := adapter.(platform.Announcer)
	if !announces || plan.Mode != tenant.Live || pub.PlatformPostID == nil || plan.r.Item.Kind == item.Story ||
		!social.Is(of, plan.Owner) {
		return nil
	}
	acct, err := social.Decode(&of)
	if err != nil {
		return err
	}
	key := item.PostKey(pub.Platform, acct.PlatformID, *pub.PlatformPostID)
	known, err := w.DB.Lookup(ctx, key)
	if err != nil || known.Kind != "" {
		return err // a publication that was found as an earlier post of the account
	}
	named := item.PostDocument{Item: plan.r.Item.ID, Publication: pub.ID, Account: acct.ID}
	entry, err := named.Entry(plan.now, plan.Owner, key)
	if err != nil {
		return err
	}
	plan.tx.CreateExpiring(entry, plan.now.Unix(), store.ErrConflict)
	return nil
}

// topics maps the types of factories to the topics of their posts.
var topics = map[string]platform.Topic{"musician": platform.TopicMusic, "news": platform.TopicNews}

// post returns the post of a publication, as far as the item determines it.
func post(r *item.Record, pub *item.Publication, limits platform.Capabilities) (p platform.Post, err error) {
	words := r.Words(pub.Platform, pub.SocialAccountID)
	files, poster := words.Files, words.Poster
	p = platform.Post{
		Key: pub.ID, Kind: platform.Kind(r.Item.Kind), Topic: topics[r.Brief.Type], Title: string(words.Title),
		Caption: string(words.Caption), Hashtags: words.Hashtags, Language: r.Item.Language,
	}
	var alt []string
	if pub.Options != nil {
		if p.Options, alt, err = limits.Wishes(pub.Options.RawMessage); err != nil {
			return p, err
		}
	}
	p.Options.Generated = p.Options.Generated || r.Item.AIGenerated
	images := 0
	for _, f := range files {
		m := fileOf(f)
		if limits.Supports(p.Kind, platform.OptionAlt) {
			m.Alt = provider.Clip(f.Alt, limits.Alt.Max)
		}
		if !m.Video() && images < len(alt) {
			m.Alt = alt[images]
			images++
		}
		p.Media = append(p.Media, m)
	}
	if poster != nil && len(files) > 0 && files[0].Type == media.Video && p.Options.CoverAt == 0 {
		cover := fileOf(*poster)
		p.Cover = &cover
	}
	if words.Captions != nil && limits.Supports(p.Kind, platform.OptionCaptions) {
		captions := fileOf(*words.Captions)
		p.Captions = &captions
	}
	p.Rehearsal.Hook = cmp.Or(r.Item.Experiment.Arm(experiment.FactorHook), string(r.Item.HookKind))
	if s := r.Rehearsal; s != nil {
		p.Rehearsal.Delay = time.Duration(s.DelaySeconds) * time.Second
		if p.Rehearsal.Code = s.FailureCode; s.Outcome == item.PublicationFailed && s.FailureCode == "" {
			p.Rehearsal.Code = platform.CodeContentRefused
		}
	}
	return p, nil
}

func fileOf(f media.File) platform.Media {
	m := platform.Media{MIME: f.MIMEType, Bytes: f.Bytes, Width: f.Width, Height: f.Height,
		Duration: time.Duration(f.DurationSeconds * float64(time.Second))}
	if f.Movie != nil {
		m.Movie = *f.Movie
	}
	return m
}

// Files reads the files that are posted.
type Files interface {
	// Range starts reading a part of the object of a key.
	Range(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error)
	// URL signs the address of the object of a key.
	URL(ctx context.Context, key, mimeType string) (string, error)
}

// Sums tells what the objects are that are posted. The files of a service have it.
type Sums interface {
	// Sum returns the SHA-256 of the object of a key, in hexadecimal. It fails with not_found if there is none.
	Sum(ctx context.Context, key string) (string, error)
}

// sent returns the files of a post as they are stored, and a *platform.Error if one of them is not the one that its
// item says: what was approved and documented is then not what would be sent.
func sent(ctx context.Context, r *item.Record, pub *item.Publication, files Files) (all []DossierFile, err error) {
	words := r.Words(pub.Platform, pub.SocialAccountID)
	checked := slices.Clone(words.Files)
	for _, beside := range []*media.File{words.Poster, words.Captions} {
		if beside != nil {
			checked = append(checked, *beside)
		}
	}
	sums, ok := files.(Sums)
	for i, f := range checked {
		sum := f.SHA256
		if ok {
			if sum, err = sums.Sum(ctx, f.Key); errs.CodeOf(err) == errs.NotFound {
				return nil, platform.Reject(platform.CodeMediaRefused, "The file "+f.ID+" is gone. Regenerate the "+
					"item, or replace its media, and publish it again.")
			}
			if err != nil {
				return nil, err
			}
		}
		if sum != f.SHA256 {
			return nil, platform.Reject(platform.CodeMediaRefused, "The file "+f.ID+" is stored with another "+
				"content than its sha256 says, so that it was not sent. Regenerate the item, or replace its media.")
		}
		if i < len(words.Files) {
			all = append(all, DossierFile{f.ID, f.MIMEType, f.Bytes, sum})
		}
	}
	return all, nil
}

// open makes the files of a post readable.
func open(ctx context.Context, p *platform.Post, r *item.Record, pub *item.Publication, files Files) error {
	words := r.Words(pub.Platform, pub.SocialAccountID)
	posted, poster := words.Files, words.Poster
	add := func(m *platform.Media, f media.File) (err error) {
		m.URL, err = files.URL(ctx, f.Key, f.MIMEType)
		m.Open = func(ctx context.Context, offset, length int64) (io.ReadCloser, error) {
			return files.Range(ctx, f.Key, offset, length)
		}
		return err
	}
	for i, f := range posted {
		if err := add(&p.Media[i], f); err != nil {
			return err
		}
	}
	if p.Captions != nil {
		if err := add(p.Captions, *words.Captions); err != nil {
			return err
		}
	}
	if p.Cover != nil {
		return add(p.Cover, *poster)
	}
	return nil
}

// Fit returns the reasons for which the platform of a publication does not take the item, and apart from them the
// choices that it asks of the person who posts, and that nobody has made. Members of the item are named by their
// pointers, as in a patch of the item, and options as in the body of publish.
func Fit(r *item.Record, pub *item.Publication, limits platform.Capabilities) (found, choices []errs.Detail) {
	p, err := post(r, pub, limits)
	if err != nil {
		return []errs.Detail{{Param: "/options/" + pub.Platform, Message: "cannot be read: send the options " +
			"again"}}, nil
	}
	from := r.Words(pub.Platform, pub.SocialAccountID).From
	details := func(problems []platform.Problem) (all []errs.Detail) {
		for _, problem := range problems {
			at := pointer(problem)
			member, _, _ := strings.Cut(at[1:], "/")
			if variant := from[member]; variant != "" {
				at = "/variants/" + variant + at
			}
			all = append(all, errs.Detail{Param: at, Message: problem.Message})
		}
		return all
	}
	problems := append(platform.Fit(pub.Platform, p, limits), uncovered(p, from["cover"], limits)...)
	if limits.RequiredChoices != nil {
		choices = details(limits.RequiredChoices(p))
	}
	if limits.Refuses != nil {
		problems = append(problems, limits.Refuses(p)...)
	}
	found = details(problems)
	if r.Branded && limits.Plain && from["media"] == "" {
		found = append(found, errs.Detail{Param: "/media", Message: limits.Label +
			" permits no logo and no name of a brand in media, and those of the item show them. Attach an account of " +
			limits.Label + " to the factory, and set no place for it in logo_places, then regenerate the item: its " +
			"media are made without them."})
	}
	return found, choices
}

// Halved returns warnings about the hashtags that the platform of a publication shows in part, or as plain text.
func Halved(r *item.Record, pub *item.Publication, limits platform.Capabilities) (all []item.PublicationWarning) {
	words := r.Words(pub.Platform, pub.SocialAccountID)
	for _, p := range platform.SplitHashtags(pub.Platform, platform.Post{Hashtags: words.Hashtags}, limits) {
		all = append(all, item.PublicationWarning{Code: platform.HashtagNotShown, Message: p.Message})
	}
	return all
}

// Recut returns warnings about the videos whose edit list the platform of a publication does not follow.
func Recut(r *item.Record, pub *item.Publication, limits platform.Capabilities) (all []item.PublicationWarning) {
	p, err := post(r, pub, limits)
	if err != nil {
		return nil // which Fit returns
	}
	for _, found := range platform.Recut(pub.Platform, p, limits) {
		all = append(all, item.PublicationWarning{Code: platform.EditListIgnored, Message: found.Message})
	}
	return all
}

// uncovered returns why a post cannot show the cover of the variant with the key.
func uncovered(p platform.Post, key string, limits platform.Capabilities) []platform.Problem {
	message := ""
	switch {
	case key == "":
	case !limits.Supports(p.Kind, platform.OptionCover):
		message = limits.Label + " takes no cover of its own for the kind " + string(p.Kind) + "."
	case p.Options.CoverAt > 0:
		message = "The option cover_at_seconds names another cover: send one of the two."
	case len(p.Media) > 0 && !p.Media[0].Video():
		message = "A cover is that of a video."
	}
	if message == "" {
		return nil
	}
	return []platform.Problem{{Param: "cover", Message: message}}
}

// pointer returns the pointer of the member that a problem names.
func pointer(p platform.Problem) string {
	name := strings.NewReplacer("[", "/", "]", "", ".", "/").Replace(p.Param)
	switch {
	case name == "options/cover_at":
		name += "_seconds"
	case strings.HasSuffix(name, "/alt_text"):
		name = "options/alt_text"
	}
	if rest, ok := strings.CutPrefix(name, "options/"); ok {
		return "/options/" + p.Platform + "/" + rest
	}
	return "/" + name
}

const (
	day = 24 * time.Hour
	// period is the time that one counter of an account's budget covers.
	period = 4 * time.Hour
	// atAnyTime is the part of a shared budget that can be used at any time of its day: a fourth of it.
	atAnyTime = 4
	// leastPause and longestPause bound how long a publication waits before it looks at a budget again.
	leastPause   = time.Minute
	longestPause = 4 * time.Hour
)

// budget is a budget with its use.
type budget struct {
	platform.Budget
	// elapsed is the part of the present counter's time that has passed.
	elapsed time.Duration
	// used counts in the present counter, and earlier in those before it.
	used, earlier int64
}

// limit returns how much the present counter may have after the given part of its time.
func (b budget) limit(passed time.Duration) int64 {
	most := int64(b.Max) - b.earlier
	if b.Shared {
		free := most / atAnyTime
		return free + int64(math.Ceil(float64(most-free)*min(1, passed.Hours()/day.Hours())))
	}
	return most
}

// wait returns the time until the given uses are within the budget, or 0 if they are now.
func (b budget) wait(uses int64) time.Duration {
	left := period - b.elapsed
	if b.Shared {
		left = day - b.elapsed
	}
	const step = 5 * time.Minute
	wait := time.Duration(0)
	for wait < left && wait < longestPause && b.used+uses > b.limit(b.elapsed+wait) {
		wait += step
	}
	return wait
}

// budget reads the use of a budget, and returns the key of the present counter. The budget of an
// account includes the counters that are partly less than 24 hours old.
func (w *Worker) budget(ctx context.Context, b platform.Budget, name, accountID string) (left budget,
	present store.Key, err error) {
	if most, ok := w.Budgets[name]; ok {
		b.Max = most
	}
	length, of, many := day, "", 1
	if !b.Shared {
		length, of, many = period, "#"+accountID, int(day/period)+1
	}
	keys := make([]store.Key, many)
	var passed time.Duration
	for i := range keys {
		keys[i], passed = social.BudgetKey(name, of, length, b.Starts, w.Now(), i)
	}
	application := social.MeteredApplication(name)
	if application != "" {
		keys = append(keys, store.IDKey(application))
	}
	items, err := w.DB.GetAll(ctx, keys...)
	if err != nil {
		return left, present, task.Again(err)
	}
	if application != "" {
		if most, ok, err := social.DailyLimit(items[many]); err != nil {
			return left, present, task.Again(err)
		} else if ok {
			b.Max = most
		}
	}
	left = budget{Budget: b, elapsed: passed, used: items[0].Count()}
	for _, it := range items[1:many] {
		left.earlier += it.Count()
	}
	return left, keys[0], nil
}

// grant takes the uses of a publication out of the budget of its platform. It does so in a separate
// step, once for each time that the publication begins. ready reports whether nothing is left to
// take. A publication beyond the budget waits until the budget permits it.
func (w poster) grant(ctx context.Context, o tenant.Owner, p posting, progress platform.Progress, name string,
	b *platform.Budget, what platform.Post) (out task.Outcome, ready bool, err error) {
	if b == nil || o.Mode != tenant.Live || p.Grants > progress.Restarts {
		return out, true, nil
	}
	uses := int64(b.Uses(what))
	left, _, err := w.budget(ctx, *b, name, p.Account)
	if err != nil {
		return out, false, err
	}
	if wait := left.wait(uses); wait > 0 {
		wait = max(leastPause, task.Jitter(wait))
		return task.Outcome{Payload: p, Wait: wait, Deadline: w.Now().Add(wait + postWithin)}, false, nil
	}
	granted := p
	out.Payload = &granted
	out.Join = func(ctx context.Context, tx *store.Tx) error {
		granted.Grants = p.Grants
		left, key, err := w.budget(ctx, *b, name, p.Account)
		if err != nil || left.wait(uses) > 0 {
			return err // the next step waits
		}
		granted.Grants = progress.Restarts + 1
		tx.CountUntil(key, uses, left.limit(left.elapsed), w.Now().Add(3*day), store.ErrConflict)
		return nil
	}
	return out, false, nil
}

// readings returns what a reading with a price takes of the budgets of its platform. It returns false if the reading is
// beyond one of them. Readings that are not urgent have three quarters of the budget, so that the first readings of new
// posts have the rest.
func (w *Worker) readings(ctx context.Context, name string, c platform.Capabilities, price int, urgent bool) (
	all []social.Use, within bool, err error) {
	own := platform.Budget{Max: c.Reads.Max, Shared: true}
	uses := int64(max(1, price))
	if c.Budget != nil {
		own.Starts = c.Budget.Starts
	}
	within = true
	if c.Reads.Part > 0 {
		shared, key, err := w.budget(ctx, *c.Budget, name, "")
		if err != nil {
			return nil, false, err
		}
		own.Max = shared.Max / c.Reads.Part
		all = append(all, social.Use{Key: key, Units: uses, Limit: shared.limit(shared.elapsed)})
		within = shared.used+uses <= shared.limit(shared.elapsed)
	}
	left, key, err := w.budget(ctx, own, name+".reads", "")
	if err != nil {
		return nil, false, err
	}
	most := left.limit(left.elapsed)
	if !urgent {
		most -= most / 4
	}
	return append(all, social.Use{Key: key, Units: uses, Limit: most}), within && left.used+uses <= most, nil
}

var _ social.Budgets = (*Worker)(nil)

// Uses implements social.Budgets.
func (w *Worker) Uses(ctx context.Context, r *social.Record, c platform.Capabilities, p social.Price) (
	all []social.Use, wait time.Duration, err error) {
	of, name, account := platform.Budget{}, r.Meter(), ""
	switch {
	case p.Of == social.ForReading && c.Reads != nil:
		all, within, err := w.readings(ctx, name, c, p.Units, p.Urgent)
		if !within {
			wait = leastPause
		}
		return all, wait, err
	case p.Of == social.ForPublishing && c.Budget != nil:
		of, account = *c.Budget, r.ID
	case p.Of == social.ForComments && c.Reads != nil && c.Reads.Part > 0:
		of = *c.Budget
	case p.Of == social.ForComments && c.Reads != nil:
		of, name = platform.Budget{Max: c.Reads.Max, Shared: true}, name+".reads"
		if c.Budget != nil {
			of.Starts = c.Budget.Starts
		}
	default:
		return nil, 0, nil
	}
	left, key, err := w.budget(ctx, of, name, account)
	uses := int64(p.Units)
	return []social.Use{{Key: key, Units: uses, Limit: left.limit(left.elapsed)}}, left.wait(uses), err
}
