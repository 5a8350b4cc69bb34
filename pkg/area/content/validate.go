package content

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// CreateBody is the body of createContentItem.
type CreateBody = createBody

// PlatformOptions are the options of posts, by platform.
type PlatformOptions = platformOptions

// Proposed is a publication to check: an item, or the body of one, and the accounts and time.
type Proposed struct {
	ItemID   string
	Body     *CreateBody
	Accounts []string
	At       time.Time // zero: now
	Options  PlatformOptions
	// RulesAt is the time for which rules of law are checked. Zero: that of the publication.
	RulesAt time.Time
}

// Problem is a reason for which a publication would be refused, or fail.
type Problem struct {
	// Machine-readable reason. post: its platform does not take a text, a file or an option; kind: nor the kind;
	// account: the access to the account is missing; attached: there is no such account; quota: the posts of the day
	// are used up; slot_taken: another item has the time; published: the account has taken it; approval: it waits for
	// that; state: its state does not permit publishing; mandate: the mandate of the API key does not permit the time
	// or the platform; rule: a rule of law forbids it; body: createContentItem would refuse it.
	Code string `json:"code" enum:"post,kind,account,attached,quota,slot_taken,published,approval,state,mandate,rule,body"`
	// Pointer of the member at fault. Null if there is none.
	Param resource.Text `json:"param"`
	// What is wrong, and what to do about it.
	Message string `json:"message"`
	// The rule of law that is violated. Null for other codes.
	Rule *errs.RuleContext `json:"rule"`
}

// problemOf returns the problem that a refusal is.
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
func (s *Service) Validate(ctx context.Context, in Proposed) (Validation, error) {
	return validator{s}.validate(ctx, in)
}

// validator finds the problems of publications.
type validator struct{ *Service }

func (s validator) validate(ctx context.Context, in Proposed) (v Validation, err error) {
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
func (s validator) proposed(ctx context.Context, p *auth.Principal, in Proposed) (c candidate, attached []string,
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
	w := &publishRequest{s: s.Service, gate: c.Gate, read: map[string]store.Item{}}
	if err := w.readAccounts(ctx, accounts); err != nil {
		return err
	}
	limits := s.limits(c.By.Mode)
	targets, err := c.Targets(c.owner, accounts, true, w.read, limits, c.options)
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
