package content

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/law"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/quote"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/theme"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/rehearsal"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/template"
	"github.com/content-automation/api/pkg/store"
)

// CreateBody is the body of createContentItem.
type CreateBody = createBody

// PlatformOptions are the options of posts, by platform.
type PlatformOptions = platformOptions

// PublishProposal is a publication to check: an item, or the body of one, and the accounts and time.
type PublishProposal struct {
	ItemID   string
	Body     *CreateBody
	Accounts []string
	At       time.Time // zero: now
	Options  PlatformOptions
	// RulesAt is the time for which rules of law are checked. Zero: that of the publication.
	RulesAt time.Time
}

var _ = format.Define("problem-code", format.Format{Values: format.Words("post kind account attached quota " +
	"slot_taken published approval state mandate rule body")})

// Problem is a reason for which a publication would be refused, or fail.
type Problem struct {
	// Machine-readable reason. post: its platform does not take a text, a file or an option; kind: nor the kind;
	// account: the access to the account is missing; attached: there is no such account; quota: the posts of the day
	// are used up; slot_taken: another item has the time; published: the account has taken it; approval: it waits for
	// that; state: its state does not permit publishing; mandate: the mandate of the API key does not permit the time
	// or the platform; rule: a rule of law forbids it; body: createContentItem would refuse it.
	Code string `json:"code" format:"problem-code"`
	// Pointer of the member at fault. Null if there is none.
	Param resource.Text `json:"param"`
	// What is wrong, and what to do about it.
	Message string `json:"message"`
	// The rule of law that is violated. Null for other codes.
	Rule *errs.RuleContext `json:"rule"`
}

func problemOf(r publication.Refusal) Problem {
	p := Problem{Code: string(r.Reason), Param: resource.Text(r.Param), Message: r.Message(), Rule: r.Rule()}
	if r.Reason == publication.ReasonChoices {
		p.Code = string(publication.ReasonPost)
	}
	return p
}

// Checked is the result for one account.
type Checked struct {
	// Social account.
	SocialAccountID string `json:"social_account_id"`
	// Its platform. Null if there is no such account.
	Platform *string `json:"platform"`
	// Whether it has no problem.
	OK bool `json:"ok"`
	// All problems on the account.
	Problems []Problem `json:"problems" nullable:"false"`
	// What the platform takes, but shows otherwise than it is meant: hashtag_not_shown, of a hashtag that it shows in
	// part or as plain text; or edit_list_ignored, of a video whose edit list the platform does not follow. Warnings
	// stop nothing.
	Warnings []item.PublicationWarning `json:"warnings" nullable:"false"`
	// Posts that the platform still takes on the day (UTC). Null: no known limit.
	QuotaLeft *int64 `json:"remaining_posts"`
	// What would be published. Null if there is no such account.
	Preview *item.Preview `json:"preview"`
}

// Validation is the result of a check.
type Validation struct {
	// Whether there is no problem at all.
	OK bool `json:"ok"`
	// Problems of the item itself.
	Problems []Problem `json:"problems" nullable:"false"`
	// Each account to which it would be published.
	Accounts []Checked `json:"accounts" nullable:"false"`
}

// problems returns the problems of the body of an item that an error has. It returns err if it is no answer to the
// caller.
func problems(err error) (all []Problem, _ error) {
	var e *errs.Error
	if !errors.As(err, &e) {
		return nil, err
	}
	for _, d := range e.Details {
		all = append(all, Problem{Code: "body", Param: resource.Text(d.Param), Message: d.Message})
	}
	if e.Details == nil {
		all = append(all, Problem{Code: "body", Param: resource.Text(e.Param), Message: e.Message})
	}
	return all, nil
}

// Validate finds every problem that an item would have on each account. It changes nothing.
func (s *Service) Validate(ctx context.Context, in PublishProposal) (Validation, error) {
	return validator{s}.validate(ctx, in)
}

// validator finds the problems of publications.
type validator struct{ *Service }

func (s validator) validate(ctx context.Context, in PublishProposal) (v Validation, err error) {
	v.Problems, v.Accounts = []Problem{}, []Checked{}
	p := auth.FromContext(ctx)
	for i, accountID := range in.Accounts {
		if !id.Valid(id.SocialAccount, accountID) {
			e := errs.Missing("social account", accountID)
			e.Param = "/social_account_ids/" + strconv.Itoa(i)
			return v, e
		}
	}
	c, attached, err := s.proposed(ctx, p, in)
	if err != nil && in.ItemID == "" {
		v.Problems, err = problems(err)
	}
	if err != nil || c.Record == nil {
		return v, err
	}
	if c.At = in.At; c.At.IsZero() {
		if c.At, err = s.clock(ctx); err != nil {
			return v, err
		}
		if c.Record.Item.PublishAt != nil && c.Record.Item.PublishAt.After(c.At) {
			c.At = c.Record.Item.PublishAt.Time
		}
	}
	c.RulesAt, c.options = in.RulesAt, in.Options
	accounts := in.Accounts
	if len(accounts) == 0 {
		accounts = c.Record.Item.SocialAccountIDs
	}
	if len(accounts) == 0 {
		accounts = attached
	}
	if err := s.check(ctx, &v, c, accounts); err != nil {
		return v, err
	}
	v.OK = len(v.Problems) == 0 && !slices.ContainsFunc(v.Accounts, func(c Checked) bool { return !c.OK })
	return v, nil
}

// candidate is an item that is checked.
type candidate struct {
	publication.Gate
	owner   tenant.Owner
	options PlatformOptions
}

// proposed returns the item to check, and the accounts of its factory.
func (s validator) proposed(ctx context.Context, p *auth.Principal, in PublishProposal) (c candidate, attached []string,
	err error) {
	c.By = p
	if in.Body == nil {
		r, it, err := s.find(ctx, in.ItemID)
		if errs.CodeOf(err) == errs.NotFound {
			err = errs.MissingAt("/content_item_id", item.ItemKind, in.ItemID)
		}
		if err != nil {
			return c, nil, err
		}
		c.Record, c.owner = r, it.Owner
		f, _, err := ruler(s).obey(ctx, r)
		switch c.Approval = f.Approval; {
		case r.Item.GeneratedAt == nil && r.Item.Runs(): // what is known of it is checked
		case in.At.IsZero():
			c.Action = item.Publish
		default:
			c.Action = item.Schedule
		}
		return c, f.SocialAccountIDs, err
	}
	b := *in.Body
	b.PublishAt, b.Accounts, b.Options = nil, nil, nil
	refs, err := s.open(ctx, p, *in.Body)
	if err != nil {
		return c, nil, err
	}
	if c.owner = refs.owner; c.owner.Account == "" {
		c.owner = p.Owner
	}
	attached = refs.factories[b.FactoryID].SocialAccountIDs
	if err := b.check(p.Mode); err != nil {
		return c, attached, err
	}
	r, err := s.newRecord(b, refs, p.Mode, s.now())
	if err != nil {
		return c, attached, err
	}
	c.Record = r
	return c, attached, s.vary(p.Owner, r, b.Variants.items(), slices.Concat(attached, in.Accounts), refs)
}

// check adds what the gate refuses of an item to a validation, and what would be published on each account.
func (s validator) check(ctx context.Context, v *Validation, c candidate, accounts []string) error {
	c.TimeParam = "/publish_at"
	w := &publishRequest{s: s.Service, gate: c.Gate, items: map[string]store.Item{}}
	if err := w.readAccounts(ctx, accounts); err != nil {
		return err
	}
	limits := s.limits(c.By.Mode)
	targets, err := c.Targets(c.owner, accounts, true, w.items, limits, c.options)
	if err != nil {
		return err
	}
	for i, t := range targets {
		taken, err := publication.TakenBetween(ctx, s.db, t.Account.ID, c.At, c.At.Add(time.Second))
		if err != nil {
			return err
		}
		if by := taken.At(c.At); by != c.Record.Item.ID {
			targets[i].TakenBy = by
		}
		v.Accounts = append(v.Accounts, s.shown(c, t))
	}
	for _, r := range c.Ask(targets...) {
		if r.Account == "" {
			v.Problems = append(v.Problems, problemOf(r))
			continue
		}
		for i := range v.Accounts {
			if of := &v.Accounts[i]; of.SocialAccountID == r.Account {
				of.Problems, of.OK = append(of.Problems, problemOf(r)), false
			}
		}
	}
	return nil
}

// shown returns what an item would be on an account, without its problems.
func (s validator) shown(c candidate, t publication.Target) Checked {
	of := Checked{SocialAccountID: t.Account.ID, OK: true, Problems: []Problem{},
		Warnings: []item.PublicationWarning{}}
	if t.Account.Platform == "" {
		return of
	}
	of.Platform = &t.Account.Platform
	seen := c.Record
	if seen.Item.GeneratedAt == nil {
		seen = publication.Foreseen(seen)
	}
	pub := item.Publication{Platform: t.Account.Platform, SocialAccountID: t.Account.ID, Options: t.Options}
	preview := publication.Preview(c.Record, &pub, t.Limits)
	of.Preview = &preview
	of.Warnings = append(of.Warnings, publication.Halved(seen, &pub, t.Limits)...)
	of.Warnings = append(of.Warnings, publication.Recut(seen, &pub, t.Limits)...)
	if t.Limits.DailyPosts > 0 {
		left := max(0, int64(t.Limits.DailyPosts)-t.Posts)
		of.QuotaLeft = &left
	}
	return of
}

// rehearse ends a rehearsal of a batch, whose items have filled a transaction. shown are those that were accepted.
func (a *acceptance) rehearse(ctx context.Context, tx, filled *store.Tx, shown batch) (out batch, err error) {
	for i, r := range a.records {
		b := a.refs.derived(a.bodies[i])
		if r == nil {
			out = append(out, refusedItem(b, a.now))
			a.terms.Add(rehearsal.Item{Kind: string(b.Kind), Models: []rehearsal.Model{},
				Publications: []rehearsal.Publication{}}, "", "")
			continue
		}
		out, shown = append(out, shown[0]), shown[1:]
		one := itemOf(r)
		if b.PublishAt != nil && !b.PublishAt.Next { // also of an item whose schedule is refused
			one.PublishAt = &b.PublishAt.Time
		}
		f := a.refs.factories[b.FactoryID]
		if b.PublishAt != nil || f.AutoPublish {
			accounts := b.Accounts
			if len(accounts) == 0 {
				accounts = f.SocialAccountIDs
			}
			one.Publications, err = validator{a.Service}.foretell(ctx, a.refs.owner, r, accounts, b.Options,
				one.PublishAt)
			if err != nil {
				return nil, err
			}
		}
		a.terms.Add(one, "", r.Attempt.PriceBasis())
	}
	if filled.Len() > maxWrites { // that it is too large is noted, and the table takes no such transaction
		filled = &store.Tx{}
	}
	out[0].Rehearsal, err = a.terms.Close(ctx, a.db, tx, filled, a.refs.owner)
	return out, err
}

// refusedItem stands for a body that is refused before there is an item of it.
func refusedItem(b createBody, now time.Time) item.Item {
	return item.Item{Resource: resource.New(id.New(id.ContentItem, now), now, b.Metadata), FactoryID: b.FactoryID,
		Kind: b.Kind, Source: cmp.Or(b.Source, item.SourceGenerated), Texts: item.Texts{Hashtags: []string{}},
		Content: item.Content{Prompt: b.Prompt, Scenes: []item.Scene{}}, Warnings: []item.Warning{},
		Hooks: []string{}, Slides: []item.Slide{}, Retold: item.Retold{FromParts: []int{}},
		Outlook: item.Outlook{WaitsFor: item.WaitsForNothing, SocialAccountIDs: []string{},
			OmittedAccounts: []item.OmittedAccount{}},
		Publications: []item.Publication{}, Sources: []item.Quoted{}, State: item.Queued, Attempt: 1,
		Variants: map[string]item.Variant{}, Previews: []item.Preview{}, Media: []media.View{},
		Approval: approvalOf(factory.Factory{})}
}

// itemOf returns the item of a rehearsal that a record makes, without its publications.
func itemOf(r *item.Record) rehearsal.Item {
	i := rehearsal.Item{PublishAt: r.Item.PublishAt, Kind: string(r.Item.Kind), Format: r.Item.Format,
		Models:  []rehearsal.Model{},
		Credits: cmp.Or(r.Attempt.Credits, item.PlannerOf(r).LivePrice()), Publications: []rehearsal.Publication{}}
	for _, p := range r.Attempt.Parts {
		if p.Model != "" && p.Reuse == nil {
			i.Uses(string(p.Kind), p.Model)
		}
	}
	return i
}

// Rehearser rehearses items for the operations of other areas.
type Rehearser struct{ *Service }

// ItemOf returns the item of a rehearsal that a record makes, with its publications to accounts.
func (s Rehearser) ItemOf(ctx context.Context, o tenant.Owner, r *item.Record,
	accounts []string) (rehearsal.Item, error) {
	i := itemOf(r)
	var err error
	i.Publications, err = validator(s).foretell(ctx, o, r, accounts, nil, r.Item.PublishAt)
	return i, err
}

// foretell checks what an item, before it is generated, would publish on accounts at a time, or now.
func (s validator) foretell(ctx context.Context, o tenant.Owner, r *item.Record, accounts []string,
	options PlatformOptions, planned *resource.Time) ([]rehearsal.Publication, error) {
	c := candidate{Gate: publication.Gate{Record: r, By: auth.FromContext(ctx), Any: true}, owner: o,
		options: options}
	var err error
	if c.At, err = s.clock(ctx); err != nil {
		return nil, err
	}
	if planned != nil && planned.After(c.At) {
		c.At, c.Any = planned.Time, false
	}
	var v Validation
	if err := s.check(ctx, &v, c, accounts); err != nil {
		return nil, err
	}
	all := []rehearsal.Publication{}
	for _, c := range v.Accounts {
		p := rehearsal.Publication{SocialAccountID: c.SocialAccountID, Platform: c.Platform,
			Problems: []rehearsal.Problem{}}
		isMandate := func(p Problem) bool { return p.Code == string(publication.ReasonMandate) }
		if i := slices.IndexFunc(v.Problems, isMandate); i >= 0 { // of the time, which is that of each publication
			c.Problems = append([]Problem{v.Problems[i]}, c.Problems...)
		}
		for _, problem := range c.Problems {
			p.Problems = append(p.Problems, rehearsal.Problem{Code: problem.Code, Param: problem.Param,
				Message: problem.Message})
		}
		if c.Preview != nil && (r.Item.Provided() || r.CallerTexts.Has(item.Caption)) {
			p.Preview = &rehearsal.Preview{Title: c.Preview.Title, Caption: resource.Text(c.Preview.Text)}
		}
		all = append(all, p)
	}
	return all, err
}

// Rehearse rehearses a body of createContentItem, a parsed JSON value. It checks the body as Check does, with its
// refusals noted in the terms, where place names it. The item is nil if there is none of the body.
func (s Rehearser) Rehearse(ctx context.Context, terms *quote.Terms, body any,
	place func(error) error) (*rehearsal.Item, error) {
	b, err := httpapi.Member[createBody]("body", body)
	if err != nil {
		return nil, terms.Meet(place(err))
	}
	p := auth.FromContext(ctx)
	refs, err := s.open(ctx, p, b)
	if err != nil {
		return nil, terms.Meet(place(err))
	}
	refs.collect = func(err error) error { return terms.Meet(place(errs.Below("/body", err))) }
	r, err := s.accepted(ctx, p, b, refs, p.Mode, s.now())
	if err != nil {
		return nil, refs.collect(err)
	}
	var accounts []string
	if f := refs.factories[b.FactoryID]; f.AutoPublish {
		accounts = f.SocialAccountIDs
	}
	i, err := s.ItemOf(ctx, refs.owner, r, accounts)
	return &i, err
}

// Estimates returns, by operation, the functions that price the bodies of the operations
// that create items: they return the credits of each item with a live key, in the order of
// the items. A body is the member "body" of the request; places in errors begin below it.
func (s *Service) Estimates() map[string]func(ctx context.Context, body any) ([]int64, error) {
	return map[string]func(ctx context.Context, body any) ([]int64, error){
		"createContentItem": func(ctx context.Context, body any) ([]int64, error) {
			b, err := httpapi.Member[createBody]("body", body)
			if err != nil {
				return nil, err
			}
			return s.prices(ctx, false, b)
		},
		"createContentItems": func(ctx context.Context, body any) ([]int64, error) {
			b, err := httpapi.Member[batchBody]("body", body)
			if err != nil {
				return nil, err
			}
			return s.prices(ctx, true, b.Items...)
		},
	}
}

// EstimateRegenerate returns the credits of another attempt at an item with a live key, as Estimates does.
func (s *Service) EstimateRegenerate(ctx context.Context, itemID string, body any) ([]int64, error) {
	b, err := httpapi.Member[regenerateBody]("body", body)
	if err != nil {
		return nil, err
	}
	if err := checkRehearsal(b.Sandbox, auth.FromContext(ctx).Mode); err != nil {
		return nil, err
	}
	r, it, beside, err := s.findWith(ctx, itemID, incoming.Keys(b.media()))
	if err != nil {
		return nil, err
	}
	err = s.plan(ctx, r, b, references{media: incoming.Of(it.Owner, beside)}, true)
	return []int64{r.Attempt.Credits}, err
}

// prices returns the price of each body, of a batch or of one item, with a live key. A body that would be refused has
// none.
func (s *Service) prices(ctx context.Context, batch bool, bodies ...createBody) ([]int64, error) {
	p := auth.FromContext(ctx)
	refs, err := s.open(ctx, p, bodies...)
	if err != nil {
		return nil, err
	}
	var bad batchErrors
	credits := make([]int64, len(bodies))
	for i, b := range bodies {
		r, err := s.accepted(ctx, p, b, refs, tenant.Live, s.now())
		if err == nil {
			credits[i] = r.Attempt.Credits
			continue
		}
		if !batch {
			return nil, err
		}
		if err := bad.add(i, err); err != nil {
			return nil, err
		}
	}
	return credits, bad.err()
}

// ruler finds which rules of law apply, and refuses what violates them.
type ruler struct{ *Service }

// openProfiles reads what the factories of bodies have of their profiles: which rules of law apply, and the templates.
func (s ruler) openProfiles(ctx context.Context, o tenant.Owner, a *references) error {
	a.legal, a.designs = map[string]profile.Legal{}, map[string]*theme.Theme{}
	for factoryID, f := range a.factories {
		legal, design, err := OfProfile(ctx, s.db, &f, f.In(o))
		if err != nil {
			return err
		}
		a.legal[factoryID], a.designs[factoryID] = legal, design
	}
	return nil
}

// OfProfile returns which rules of law apply to a factory of the owner, and the design of its template, or else of that
// of its profile. The design is nil if neither has a template.
func OfProfile(ctx context.Context, db *store.DB, f *factory.Factory, o tenant.Owner) (l profile.Legal,
	design *theme.Theme, err error) {
	var p profile.Profile
	if f.Region == nil || f.AdMarking == nil || f.TemplateID == nil {
		if p, err = profile.Of(ctx, db, o); err != nil {
			return l, nil, err
		}
	}
	design, err = template.DesignOf(ctx, db, o, f.TemplateID, p.TemplateID)
	return f.Legal.Or(p.Legal), design, err
}

// obey has an item follow the rules of the region that its factory has now, as Obey of package publication does. It
// reads other items with the factory.
func (s ruler) obey(ctx context.Context, r *item.Record, others ...store.Key) (f factory.Factory, beside []store.Item,
	err error) {
	it, beside, err := publication.Obey(ctx, s.db, auth.FromContext(ctx).Owner, r, others...)
	if err != nil || it.PK == "" {
		return f, beside, err
	}
	f, err = factory.Decode(&it)
	return f, beside, err
}

// lawful refuses a new item that violates a rule of law wherever it is published. Of an item that is published
// automatically, the accounts of its factory are known: one of them must be permitted.
func (s ruler) lawful(ctx context.Context, r *item.Record, accounts []string, at time.Time) error {
	if err := law.Refused(law.Check(item.FactsOf(r, &item.Publication{}, at))); err != nil || !r.Automatic {
		return err
	}
	return s.permitted(ctx, r, accounts, at)
}

// permitted refuses advertising that none of the accounts may publish. It reads them only if that can be.
func (s ruler) permitted(ctx context.Context, r *item.Record, accounts []string, at time.Time) (refused error) {
	if r.Item.AdMarking == nil && r.Item.PromotionID == nil || !law.RuleOf(law.AdPlatforms).InForce(r.Brief.Region,
		at) {
		return nil
	}
	items, err := s.db.GetAll(ctx, store.IDKeys(accounts)...)
	if err != nil {
		return err
	}
	for _, it := range items {
		if it.Kind != social.Kind {
			continue
		}
		pub := item.Publication{Platform: it.Filters["platform"], SocialAccountID: it.PK}
		if refused = law.Refused(law.Check(item.FactsOf(r, &pub, at))); refused == nil {
			return nil
		}
	}
	return refused
}

// Permitted refuses the items of a plan if they are advertising that none of the accounts of the factory may publish.
func Permitted(ctx context.Context, db *store.DB, r *item.Record, f factory.Factory, at time.Time) error {
	return ruler{&Service{db: db}}.permitted(ctx, r, f.SocialAccountIDs, at)
}

// Planned returns the record with which items of a content plan begin. It is made from a kind and a
// prompt as in createContentItem, with arms of experiments, or nil. The factory says how videos are made.
func Planned(f factory.Factory, kind item.Kind, format, quality, subject string, slot *prompt.Plan, arms *item.Trial,
	sandbox *item.Rehearsal, offer catalog.Offer, mode tenant.Mode, now time.Time) (*item.Record, error) {
	s := &Service{offer: offer}
	b := createBody{FactoryID: f.ID, Kind: kind, Format: format, Quality: quality, Prompt: subject,
		Sandbox: sandbox, slot: slot, trial: arms}
	b.fix()
	f.State = factory.StateActive // the plan itself refuses a factory that is paused
	a := references{factories: map[string]factory.Factory{f.ID: f}}
	if f.Type == factory.Seller {
		a.longest = item.LongestProduct()
	}
	r, err := s.newRecord(b, a, mode, now)
	if err == nil && f.Type == factory.Seller {
		r.Brief.Product, r.Item.ProductID = nil, nil // the plan sets the product later
	}
	if err == nil {
		r.Item.Experiment = nil
	}
	return r, err
}

// Takes reports whether a factor applies to the items of a plan that have a kind and a format. Plans alone decide
// about format and slot.
func Takes(f experiment.Factor, kind item.Kind, format string) bool {
	return (&createBody{Kind: kind, Format: format}).takes(f, time.UTC, time.Time{})
}

// CheckRehearsal rejects instructions for the sandbox that come with a live key, or contradict each other.
func CheckRehearsal(r *item.Rehearsal, mode tenant.Mode) error { return checkRehearsal(r, mode) }
