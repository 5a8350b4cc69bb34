package publication

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/authority"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
)

// Reason is the kind of a refusal.
type Reason string

// The reasons for which a publication is refused.
const (
	ReasonState     Reason = "state"      // the state of the item does not permit it
	ReasonApproval  Reason = "approval"   // the item waits for its approval
	ReasonAuthority Reason = "authority"  // the key or person for whom it is published may not publish any more
	ReasonMandate   Reason = "mandate"    // the mandate of the key permits neither the time nor the platform
	ReasonAttached  Reason = "attached"   // there is no such account
	ReasonTaken     Reason = "published"  // the account has taken the item already
	ReasonAccount   Reason = "account"    // the account is not connected
	ReasonKind      Reason = "kind"       // the platform does not take the kind
	ReasonChoices   Reason = "choices"    // the platform asks for choices that nobody has made
	ReasonRule      Reason = "rule"       // a rule of law forbids it
	ReasonPost      Reason = "post"       // the platform does not take a text, a file or an option
	ReasonQuota     Reason = "quota"      // the posts of the day are used up
	ReasonSlot      Reason = "slot_taken" // another item has the time
)

// reasons is the order of all refusals: whether the item may be published at all, who may publish it, where it may go,
// what may be said there, and when there is room. An operation answers with the code of the first refusal.
var reasons = []Reason{ReasonState, ReasonApproval, ReasonAuthority, ReasonMandate, ReasonAttached, ReasonTaken,
	ReasonAccount, ReasonKind, ReasonChoices, ReasonRule, ReasonPost, ReasonQuota, ReasonSlot}

// Refusal is why an item may not be published on an account at a time.
type Refusal struct {
	Reason       Reason
	Account      string // id of the account; empty if it is about the item itself
	Param        string // pointer of the member at fault in a request that names the accounts and the time
	Err          *errs.Error
	omissionCode string // the code of the account in omitted_accounts, if nobody has named it
}

// Message says what is wrong, and what to do about it.
func (r Refusal) Message() string {
	if len(r.Err.Details) > 0 {
		return r.Err.Details[0].Message
	}
	return r.Err.Message
}

// Rule returns the rule of law that is violated, or nil.
func (r Refusal) Rule() *errs.RuleContext {
	if rule, ok := r.Err.Context.(errs.RuleContext); ok {
		return &rule
	}
	return nil
}

// Refused returns one error for all refusals, or nil if there is none.
func Refused(all []Refusal) error {
	var found []error
	var told []Refusal
	for _, r := range all {
		twice := func(other Refusal) bool { return other.Err.Param == r.Err.Param && other.Message() == r.Message() }
		if !slices.ContainsFunc(told, twice) {
			told, found = append(told, r), append(found, r.Err)
		}
	}
	return errs.All(found...)
}

// Gate decides whether an item may be published. Its members are what the decision depends on besides the accounts.
type Gate struct {
	Record *item.Record
	// Action is what a caller does, item.Schedule or item.Publish. If it is empty, the item is on its way already, or
	// not generated yet, and its state is not checked.
	Action item.Action
	// By is on whose behalf it is published. Ended is why By may not publish any more, or nil.
	By             *auth.Principal
	EndedAuthority *authority.EndedError
	// Approval is whether the factory requires an approval.
	Approval string
	// At is the time of the publication. Any reports that another one is taken if a mandate does not permit it.
	// TimeParam is the member of the request that has the time, or empty, as in Target.
	At        time.Time
	Any       bool
	TimeParam string
	// RulesAt is the time for which rules of law are checked. Zero: At.
	RulesAt time.Time
}

// Ask returns all reasons for which the item may not be published to the targets at the time, in the order of reasons.
// What only the last moment knows is left to the poster: the token, and the answer of the platform.
func (g Gate) Ask(targets ...Target) []Refusal {
	seen := g.Record
	if g.unmade() {
		seen = Foreseen(g.Record)
	}
	g.RulesAt = cmp.Or(g.RulesAt, g.At)
	alone := law.Check(item.FactsOf(seen, &item.Publication{}, g.RulesAt))
	all := g.ofItem(alone)
	if len(targets) == 0 {
		const param = "/social_account_ids"
		all = append(all, Refusal{ReasonAttached, "", param, errs.Invalid(param, "is required, as the factory has no "+
			"social accounts: attach some, or name them"), ""})
	}
	for _, t := range targets {
		all = append(all, g.ofTarget(seen, t, alone)...)
	}
	slices.SortStableFunc(all, func(a, b Refusal) int {
		return cmp.Compare(slices.Index(reasons, a.Reason), slices.Index(reasons, b.Reason))
	})
	return all
}

// unmade reports whether the item is not generated yet, so that its files and texts are not known.
func (g Gate) unmade() bool { return g.Record.Item.GeneratedAt == nil && g.Record.Item.Runs() }

// ofItem returns the refusals of the item itself. Violated are the rules of law that it violates wherever it goes.
func (g Gate) ofItem(violated []law.Violation) (all []Refusal) {
	add := func(reason Reason, param string, err error) {
		if err != nil {
			all = append(all, Refusal{reason, "", param, errs.As(err), ""})
		}
	}
	if g.Action != "" {
		add(ReasonState, "", g.Record.Item.Permit(g.Action))
	}
	if !g.unmade() && g.Record.Item.Blocked(g.Approval) {
		add(ReasonApproval, "/approval", g.Record.Item.Unapproved())
	}
	if g.EndedAuthority != nil {
		add(ReasonAuthority, "", errs.New(errs.InsufficientScope, "%s Publish it again with another "+
			"key.", g.EndedAuthority))
	}
	if !g.Any {
		add(ReasonMandate, "/publish_at", g.By.RequireHour(g.At))
	}
	for _, v := range violated {
		add(ReasonRule, v.Param, v.Error())
	}
	return all
}

// ofTarget returns the refusals of one account. Alone are the violations that ofItem has.
func (g Gate) ofTarget(seen *item.Record, t Target, alone []law.Violation) (all []Refusal) {
	acct, limits := &t.Account, t.Limits
	add := func(reason Reason, param, omitted string, err *errs.Error) {
		all = append(all, Refusal{reason, acct.ID, param, err, omitted})
	}
	if acct.Platform == "" {
		err := errs.Missing("social account", acct.ID)
		err.Param = t.Param
		add(ReasonAttached, t.Param, "", err)
		return all
	}
	before, day := g.Record.Item.PublicationTo(acct.ID), Day(g.At)
	if before != nil && before.Taken() {
		add(ReasonTaken, t.Param, "", errs.New(errs.InvalidState, "The account %s has taken the content item already.",
			acct.ID).In(string(g.Record.Item.State), string(item.Delete)))
	}
	if !acct.Usable() {
		add(ReasonAccount, t.Param, string(acct.State), errs.Invalid(t.Param, "The account %s is %s, not connected: "+
			"connect it first, by POST /v1/social/accounts with its social_account_id.", acct.ID, acct.State))
	}
	_, takes := limits.Kinds[platform.Kind(g.Record.Item.Kind)]
	if !takes {
		add(ReasonKind, t.Param, item.OmittedKind, errs.Invalid("/kind", "%s does not take the kind %s.",
			cmp.Or(limits.Label, acct.Platform), g.Record.Item.Kind))
	}
	if err := g.By.RequirePlatform(acct.Platform); err != nil {
		add(ReasonMandate, t.Param, item.OmittedMandate, errs.As(err))
	}
	pub := item.Publication{Platform: acct.Platform, SocialAccountID: acct.ID, Options: t.Options}
	facts := item.FactsOf(seen, &pub, g.RulesAt)
	facts.Param = t.Param
	for _, v := range law.Check(facts) {
		if !slices.ContainsFunc(alone, func(other law.Violation) bool { return other.ID == v.ID }) {
			add(ReasonRule, v.Param, item.OmittedUnlawful, v.Error())
		}
	}
	if takes {
		all = append(all, g.fits(seen, t, &pub)...)
	}
	if t.counted() && t.Posts >= int64(limits.DailyPosts) && (before == nil || before.Posting.Day != day) {
		add(ReasonQuota, "/publish_at", "", t.full(day))
	}
	if t.TakenBy != "" {
		add(ReasonSlot, "/publish_at", "", errs.Invalid("/publish_at", "The content item %s is planned on the account "+
			"for the same time.", t.TakenBy))
	}
	return all
}

// fits returns what the platform of a target does not take, and the choices that it asks for. Of an item that is not
// generated yet, the files and the texts that models write are not known.
func (g Gate) fits(seen *item.Record, t Target, pub *item.Publication) (all []Refusal) {
	found, choices := Fit(seen, pub, t.Limits)
	for _, d := range choices {
		r := Refusal{ReasonChoices, t.Account.ID, d.Param, errs.InvalidFields(d), ""}
		if pub.Options == nil {
			r.omissionCode = item.OmittedChoices
		}
		all = append(all, r)
	}
	for _, d := range found {
		unknown := strings.HasPrefix(d.Param,
			"/media") || d.Param == "/title" && !g.Record.CallerTexts.Has(item.Title) ||
			d.Param == "/caption" && !g.Record.CallerTexts.Has(item.Caption)
		if !unknown || !g.unmade() || g.Record.Item.Provided() {
			all = append(all, Refusal{ReasonPost, t.Account.ID, d.Param, errs.InvalidFields(d), ""})
		}
	}
	return all
}

// Foreseen returns a copy of a new item with files such as it will have, so that the limits of platforms can be
// checked. Their sizes are unknown.
func Foreseen(r *item.Record) *item.Record {
	c := *r
	switch {
	case r.Item.Provided() && !r.Item.Fitted(), len(r.Files) > 0:
		return &c
	case r.Item.Provided():
		c.Files = slices.Repeat([]media.File{{Role: media.Final, Type: media.Image, MIMEType: "image/jpeg", Bytes: 1,
			Width: 1080, Height: 1350}}, len(r.Own))
		if r.Item.Kind != item.Carousel && r.Own[0].Type == media.Video {
			c.Files[0] = media.File{Role: media.Final, Type: media.Video, MIMEType: "video/mp4", Bytes: 1, Width: 1080,
				Height: 1920, DurationSeconds: r.Own[0].DurationSeconds}
			if r.Item.Format != nil && *r.Item.Format == item.FormatLong {
				c.Files[0].Width, c.Files[0].Height = 1920, 1080
			}
		}
		return &c
	}
	f := media.File{Role: media.Final, Type: media.Image, MIMEType: "image/jpeg", Bytes: 1}
	if r.Item.Kind == item.Video || r.Item.Kind == item.MusicClip || r.Attempt.Shape == "story clip" {
		f = media.File{Role: media.Final, Type: media.Video, MIMEType: "video/mp4", Bytes: 1}
		if r.Item.DurationSeconds != nil {
			f.DurationSeconds = float64(*r.Item.DurationSeconds)
		}
	}
	c.Files = slices.Repeat([]media.File{f}, max(1, len(r.Item.Slides)))
	return &c
}

// Targets returns the accounts with the ids as targets of the item. Read has their items, and those of the counters of
// their posts on the day, by their keys. Options are those of the call, by platform. An account without options has
// those of its earlier publication, or else those that the item was ordered with. Named reports whether the request
// names the accounts.
func (g Gate) Targets(o tenant.Owner, ids []string, named bool, read map[string]store.Item,
	limits func(string) platform.Capabilities, options map[string]*item.PublishOptions) (all []Target, err error) {
	for i, accountID := range ids {
		t := Target{Param: "/social_account_ids"}
		if named {
			t.Param += "/" + strconv.Itoa(i)
		}
		if it := read[accountID]; social.Is(it, o) {
			if t.Account, err = social.Decode(&it); err != nil {
				return nil, err
			}
		}
		t.Account.ID = accountID
		counter := read[QuotaKey(accountID, Day(g.At)).PK]
		t.Limits, t.Posts, t.Options = limits(t.Account.Platform), counter.Count(), options[t.Account.Platform]
		t.TimeParam = g.TimeParam
		if before := g.Record.Item.PublicationTo(accountID); t.Options == nil && before != nil {
			t.Options = before.Options
		}
		if ordered := g.Record.RequestedSchedule; t.Options == nil && ordered != nil {
			t.Options = ordered.Options[t.Account.Platform]
		}
		all = append(all, t)
	}
	return all, nil
}

// Leave leaves out accounts that nobody has named: the refusals about them, or with one of more reasons about the item,
// say that they cannot take it. It returns the other targets, the accounts that are left out with the first of their
// refusals, and the refusals of what is not left out.
func Leave(targets []Target, all []Refusal, more ...Reason) (kept []Target, omitted []item.OmittedAccount,
	left []Refusal) {
	for _, t := range targets {
		out := slices.IndexFunc(all, func(r Refusal) bool {
			if slices.Contains(more, r.Reason) {
				return r.Account == t.Account.ID || r.Account == ""
			}
			return r.Account == t.Account.ID && r.omits()
		})
		if out < 0 {
			kept = append(kept, t)
			continue
		}
		o := item.OmittedAccount{SocialAccountID: t.Account.ID, Message: all[out].Message(),
			Code: cmp.Or(all[out].omissionCode, item.OmittedUnlawful)}
		if o.Code == item.OmittedChoices {
			o.Message = t.Limits.Label + " requires choices of the person who posts: send " +
				"options." + t.Account.Platform + "."
		}
		omitted = append(omitted, o)
	}
	for _, r := range all {
		if r.Account == "" || slices.ContainsFunc(kept, func(t Target) bool { return t.Account.ID == r.Account }) {
			left = append(left, r)
		}
	}
	return kept, omitted, left
}

// omits reports whether the account of a refusal is left out if nobody has named it. A call that violates a rule of law
// is refused otherwise, unless the rule is about the platform.
func (r Refusal) omits() bool {
	return r.omissionCode != "" && (r.Reason != ReasonRule || r.Rule().Rule == law.AdPlatforms)
}

// Of returns the refusals that have one of the reasons.
func Of(all []Refusal, some ...Reason) []Refusal {
	return slices.DeleteFunc(slices.Clone(all), func(r Refusal) bool { return !slices.Contains(some, r.Reason) })
}

// gate opens the gate for an item that is published at a time on behalf of its authority, with the rights and settings
// of now. The item follows the rules of law of its factory, whose item is returned.
func (w *Worker) gate(ctx context.Context, o tenant.Owner, r *item.Record, at time.Time) (g Gate, of store.Item,
	err error) {
	g = Gate{Record: r, At: at, By: &auth.Principal{}}
	h, err := r.Authority.Find(ctx, w.DB, o, w.Now())
	if err == nil {
		g.By, err = h.Principal, authority.Lacks(h.Principal, auth.ContentPublish)
	}
	if err != nil && !errors.As(err, &g.EndedAuthority) {
		return g, of, err
	}
	if of, _, err = Obey(ctx, w.DB, o, r); err != nil || of.PK == "" {
		return g, of, err
	}
	var factory struct {
		Approval string `json:"approval"`
	}
	err = of.Decode(&factory)
	g.Approval = factory.Approval
	return g, of, err
}

// ask asks the gate about publications at their last moment. Their accounts were read, by their ids. The mandate must
// permit the time for which they were planned, or else at which they began.
func (w *Worker) ask(ctx context.Context, o tenant.Owner, r *item.Record, began time.Time, read map[string]store.Item,
	ids ...string) (targets []Target, all []Refusal, err error) {
	at, err := testclock.Now(ctx, w.DB, o, began)
	if err != nil {
		return nil, nil, err
	}
	if r.Item.PublishAt != nil && r.Item.PublishAt.Before(at) {
		at = r.Item.PublishAt.Time
	}
	g, _, err := w.gate(ctx, o, r, at)
	if err != nil {
		return nil, nil, err
	}
	g.RulesAt = w.Now()
	targets, err = g.Targets(o, ids, false, read, w.limits(o.Mode), nil)
	return targets, g.Ask(targets...), err
}

// quiet reports whether an item that was held past its time comes into hours in which the mandate permits no
// publication. The clock of a sandbox jumps, so that nothing there is late.
func (w *Worker) quiet(ctx context.Context, o tenant.Owner, r *item.Record) (bool, error) {
	if o.Mode != tenant.Live || w.Now().Sub(r.Item.PublishAt.Time) < orderFor {
		return false, nil
	}
	g, _, err := w.gate(ctx, o, r, w.Now())
	return len(Of(g.Ask(), ReasonMandate)) > 0, err
}

// accountItems reads the items of accounts, by their ids.
func (w *Worker) accountItems(ctx context.Context, ids []string) (map[string]store.Item, error) {
	items, err := w.DB.GetAll(ctx, store.IDKeys(ids)...)
	read := map[string]store.Item{}
	for _, it := range items {
		read[it.PK] = it
	}
	return read, err
}

// limits returns the limits of a platform, which are empty if the service does not have it.
func (w *Worker) limits(mode tenant.Mode) func(string) platform.Capabilities {
	return func(name string) (c platform.Capabilities) {
		if adapter, ok := w.Platforms.Of(mode, name); ok {
			c = adapter.Capabilities()
		}
		return c
	}
}

// failed returns the failure of a publication to an account for all its refusals and those of its item, or nil if there
// are none. It has the code of the first.
func failed(acct social.Record, all []Refusal) *platform.Error {
	all = slices.DeleteFunc(slices.Clone(all), func(r Refusal) bool { return r.Account != "" && r.Account != acct.ID })
	if len(all) == 0 {
		return nil
	}
	code := platform.CodeContentRefused
	switch all[0].Reason {
	case ReasonAccount, ReasonAttached:
		return acct.Unusable()
	case ReasonApproval:
		code = item.FailedApproval
	case ReasonAuthority, ReasonMandate:
		code = item.FailedAuthority
	case ReasonRule:
		code = platform.Code(item.FailedUnlawful)
	}
	var messages []string
	for _, r := range all {
		messages = append(messages, r.Message())
	}
	return platform.Reject(code, strings.Join(messages, " "))
}

// again reports whether publishing again may succeed after a failure.
func again(e *platform.Error) bool {
	return e.Kind == platform.Reconnect || e.Kind == platform.Unknown || e.Code == item.FailedAuthority ||
		e.Code == item.FailedApproval || e.Code == item.FailedOutdated
}

// Obey has an item follow the rules of law of its factory, and have the price of its product, as they are now. An item
// without a marking of advertising takes that of its factory. It returns the item of the factory, and others that it
// reads with it. An empty one stands for a factory that was deleted: the item keeps its rules then.
func Obey(ctx context.Context, db *store.DB, o tenant.Owner, r *item.Record,
	others ...store.Key) (of store.Item, beside []store.Item, err error) {
	keys := append(slices.Clone(others), factoryrecord.Key(r.Item.FactoryID))
	if r.Item.PromotionID != nil && r.Item.ProductID != nil {
		keys = append(keys, store.IDKey(*r.Item.ProductID))
	}
	items, err := db.GetAll(ctx, keys...)
	if err != nil {
		return of, nil, err
	}
	beside, items = items[:len(others)], items[len(others):]
	if len(items) > 1 && items[1].Kind == product.ItemKind && o.Sees(items[1].Owner) {
		p, err := product.Decode(&items[1])
		if err != nil {
			return of, nil, err
		}
		item.Reprice(r, p)
	}
	if !factoryrecord.Usable(items[0], o) {
		return of, beside, nil
	}
	legal, err := profile.LegalOf(ctx, db, items[0])
	if err == nil {
		item.Obey(r, legal)
	}
	return items[0], beside, err
}
