package content

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
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
	// that; state: its state does not permit publishing; rule: a
	// rule of law forbids it; body: createContentItem would refuse it.
	Code string `json:"code" enum:"post,kind,account,attached,quota,slot_taken,published,approval,state,rule,body"`
	// Pointer of the member at fault. Null if there is none.
	Param resource.Text `json:"param"`
	// What is wrong, and what to do about it.
	Message string `json:"message"`
	// The rule of law that is violated. Null for other codes.
	Rule *errs.RuleContext `json:"rule"`
}

// fault returns a problem that is no rule of law.
func fault(code, param, message string) Problem {
	return Problem{Code: code, Param: resource.Text(param), Message: message}
}

// ruled returns the problem of a violation of a rule of law.
func ruled(v law.Violation) Problem {
	e := v.Error()
	rule, _ := e.Context.(errs.RuleContext)
	return Problem{Code: "rule", Param: resource.Text(e.Param), Message: e.Details[0].Message, Rule: &rule}
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

// problems returns the problems that an error has. It returns err if it is no answer to the caller.
func problems(code string, err error) (all []Problem, _ error) {
	var e *errs.Error
	if !errors.As(err, &e) {
		return nil, err
	}
	if e.Details == nil {
		return []Problem{fault(code, e.Param, e.Message)}, nil
	}
	for _, d := range e.Details {
		all = append(all, fault(code, d.Param, d.Message))
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
	r, attached, fresh, err := s.proposed(ctx, p, in)
	if err != nil {
		code := "body"
		if in.ItemID != "" {
			return v, err
		}
		if v.Problems, err = problems(code, err); err != nil || r == nil {
			return v, err
		}
	}
	if r == nil {
		return v, nil
	}
	if !fresh {
		if err := r.Permit(item.Publish); err != nil {
			v.Problems = append(v.Problems, fault("state", "", errs.As(err).Message))
		}
		if blocked, err := s.required(ctx, r); err != nil {
			return v, err
		} else if blocked {
			v.Problems = append(v.Problems, fault("approval", "/approval", errs.As(r.Unapproved()).Message))
		}
	}
	at := in.At
	if at.IsZero() {
		if at, err = s.clock(ctx); err != nil {
			return v, err
		}
		if r.PublishAt != nil && r.PublishAt.After(at) {
			at = r.PublishAt.Time
		}
	}
	accounts := in.Accounts
	if len(accounts) == 0 {
		accounts = r.SocialAccountIDs
	}
	if len(accounts) == 0 {
		accounts = attached
	}
	if len(accounts) == 0 {
		v.Problems = append(v.Problems, fault("attached", "/social_account_ids",
			"The factory has no social accounts: attach some, or name them."))
	}
	if in.RulesAt.IsZero() {
		in.RulesAt = at
	}
	for _, violated := range law.Check(item.FactsOf(r, &item.Publication{}, in.RulesAt)) {
		v.Problems = append(v.Problems, ruled(violated))
	}
	if v.Accounts, err = s.checkAccounts(ctx, p, r, accounts, in, at, fresh); err != nil {
		return v, err
	}
	v.OK = len(v.Problems) == 0 && !slices.ContainsFunc(v.Accounts, func(c Checked) bool { return !c.OK })
	return v, nil
}

// proposed returns the item to check, the accounts of its factory, and whether it is new.
func (s validator) proposed(ctx context.Context, p *auth.Principal, in Proposed) (r *item.Record, attached []string,
	fresh bool, err error) {
	if in.Body == nil {
		r, _, err = s.find(ctx, in.ItemID)
		if errs.CodeOf(err) == errs.NotFound {
			err = errs.MissingAt("/content_item_id", item.ItemKind, in.ItemID)
		}
		if err != nil {
			return nil, nil, false, err
		}
		f, err := ruler(s).obey(ctx, r)
		return r, f.SocialAccountIDs, r.GeneratedAt == nil, err
	}
	b := *in.Body
	b.PublishAt, b.Accounts, b.Options = nil, nil, nil
	refs, err := s.open(ctx, p, *in.Body)
	if err != nil {
		return nil, nil, true, err
	}
	attached = refs.factories[b.FactoryID].SocialAccountIDs
	if err := b.check(p.Mode); err != nil {
		return nil, attached, true, err
	}
	if r, err = s.newRecord(b, refs, p.Mode, s.now()); err != nil {
		return nil, attached, true, err
	}
	return r, attached, true, s.vary(p.Owner, r, b.Variants.items(), slices.Concat(attached, in.Accounts), refs)
}

func (s validator) checkAccounts(ctx context.Context, p *auth.Principal, r *item.Record, accounts []string, in Proposed,
	at time.Time, fresh bool) ([]Checked, error) {
	all, keys := []Checked{}, []store.Key{}
	day := at.UTC().Format(time.DateOnly)
	for _, accountID := range accounts {
		keys = append(keys, store.IDKey(accountID), publication.QuotaKey(accountID, day))
	}
	items, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return nil, err
	}
	for i, accountID := range accounts {
		c := Checked{SocialAccountID: accountID, Problems: []Problem{}, Warnings: []item.PublicationWarning{}}
		param := "/social_account_ids/" + strconv.Itoa(i)
		it := items[2*i]
		if !social.Is(it, p.Owner) {
			c.Problems = append(c.Problems, fault("attached", param, "There is no social account "+accountID+"."))
			all = append(all, c)
			continue
		}
		acct, err := social.Decode(&it)
		if err != nil {
			return nil, err
		}
		if err := s.checkAccount(ctx, &c, r, &acct, param, in, at, fresh); err != nil {
			return nil, err
		}
		if limits, _ := s.Capabilities(p.Mode, acct.Platform); limits.DailyPosts > 0 {
			left := max(0, int64(limits.DailyPosts)-items[2*i+1].Count())
			if pub := r.PublicationTo(accountID); left == 0 && (pub == nil || pub.Posting.Day != day) {
				c.Problems = append(c.Problems, fault("quota", "/publish_at", limits.Label+" takes "+
					strconv.Itoa(limits.DailyPosts)+" posts a day on one account, and it has as many on "+day+
					" (UTC). Choose another day."))
			}
			c.QuotaLeft = &left
		}
		c.OK = len(c.Problems) == 0
		all = append(all, c)
	}
	return all, nil
}

// checkAccount adds the problems of an item on one account.
func (s validator) checkAccount(ctx context.Context, c *Checked, r *item.Record, acct *social.Record, param string,
	in Proposed, at time.Time, fresh bool) error {
	c.Platform = &acct.Platform
	limits, ok := s.Capabilities(auth.FromContext(ctx).Mode, acct.Platform)
	if !ok {
		return nil
	}
	seen := r
	if fresh {
		seen = foreseen(r)
	}
	pub := item.Publication{Platform: acct.Platform, SocialAccountID: acct.ID, Options: in.Options[acct.Platform]}
	before := r.PublicationTo(acct.ID)
	if before != nil && pub.Options == nil {
		pub.Options = before.Options
	}
	preview := publication.Preview(r, &pub, limits)
	c.Preview = &preview
	if before != nil && before.Taken() {
		c.Problems = append(c.Problems, fault("published", param, "The account has taken the item already."))
	}
	if o := publication.Omit(acct, limits, r.Kind); o != nil {
		code := "account"
		if o.Code == item.OmittedKind {
			code = "kind"
		}
		c.Problems = append(c.Problems, fault(code, param, strings.ToUpper(o.Message[:1])+o.Message[1:]+"."))
		if code == "kind" {
			return nil
		}
	}
	facts := item.FactsOf(seen, &pub, in.RulesAt)
	facts.Param = param
	alone := law.Check(item.FactsOf(seen, &item.Publication{}, in.RulesAt))
	for _, v := range law.Check(facts) {
		known := func(other law.Violation) bool { return other.ID == v.ID } // it is listed of the item itself
		if !slices.ContainsFunc(alone, known) {
			c.Problems = append(c.Problems, ruled(v))
		}
	}
	found := publication.Fit(seen, &pub, limits)
	if fresh && !r.Provided() {
		found = known(r, found)
	}
	for _, d := range found {
		c.Problems = append(c.Problems, fault("post", d.Param, d.Message))
	}
	c.Warnings = append(c.Warnings, publication.Halved(seen, &pub, limits)...)
	c.Warnings = append(c.Warnings, publication.Recut(seen, &pub, limits)...)
	taken, err := publication.TakenBetween(ctx, s.db, acct.ID, at, at.Add(time.Second))
	if by := taken.At(at); err == nil && by != "" && by != r.ID {
		c.Problems = append(c.Problems, fault("slot_taken", "/publish_at", "The content item "+by+
			" is planned on the account for the same time."))
	}
	return err
}
