package content

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
)

// usualPublication is the usual duration of publishing.
const usualPublication = 10 * time.Second

// Outlets are where and how an item is published.
type Outlets struct {
	// Ids of the social accounts to publish to. Absent: those that have failed, those that it is scheduled to, or else
	// those of its factory, without those that cannot publish it.
	Accounts []string `json:"social_account_ids,omitempty" format:"accounts" nullable:"false"`
	// Options of the post, by platform. Absent: those of the earlier schedule or attempt.
	Options platformOptions `json:"options,omitempty"`
	// Simulated result. For test keys only.
	Sandbox *item.PublishRehearsal `json:"sandbox,omitempty"`
}

type scheduleBody struct {
	// Time at which it is published: in the future, within 180 days; or next_slot, the next time of the schedule of its
	// factory that is free on the accounts. Absent: the time that it has, such as that of its content plan. Null: it is
	// no longer scheduled.
	PublishAt *publishTime `json:"publish_at,omitempty" nullable:"true" example:"2027-01-15T09:30:00Z"`
	Outlets
}

type scheduleInput struct {
	ItemPath
	httpapi.IfMatch
	Body *scheduleBody
}

type publishBody struct{ Outlets }

type publishInput struct {
	ItemPath
	httpapi.IfMatch
	Body *publishBody
}

type publicationsInput struct {
	ItemPath
	httpapi.SliceInput
}

// registerPublishing adds the operations that publish items to the router.
func (s *Service) registerPublishing(r *httpapi.Router) {
	const one = "/v1/content-items/{content_item_id}"
	schedule := op("scheduleContentItem", http.MethodPost, one+"/schedule", auth.ContentPublish,
		"Schedule a content item",
		"Sets the time at which a generated item is published, and the social accounts, options and time of an item "+
			"that is already scheduled. An item of a content plan has a time: without a body it is scheduled for that "+
			"time, on the accounts of its factory. Accounts of the factory that cannot publish it are left out and "+
			"listed in `omitted_accounts`. `publish_at: null` clears all of it. Publishing begins within 60 seconds "+
			"of the time. The limits of each platform are checked now: what it does not take is refused, and what "+
			"can be adapted without harm is adapted. The limit of posts on a day counts by day in UTC. If the "+
			"service could not publish in time, it publishes late items of an account in the order of their times, "+
			"unless the account's `late_after_seconds` has passed. If the factory requires an approval, an item "+
			"without it keeps the time and is scheduled when it is approved.").Opening(httpapi.Publishing)
	schedule.Errors = []errs.Code{errs.NotFound, errs.VersionMismatch, errs.InvalidState, errs.QueueFull,
		errs.RuleViolated}
	httpapi.Write(r, schedule, s.schedule)

	publish := op("publishContentItem", http.MethodPost, one+"/publish", auth.ContentPublish, "Publish a content item",
		"Publishes a generated or scheduled item now, on each social account by itself. The event "+
			"`content.published` reports the end if at least one account has taken it, `content.failed` if none has. "+
			"Both show all publications. Of an item that has failed on some accounts, only those are tried again: "+
			"what an account has taken, or may have taken, is never posted twice.").Opening(httpapi.Publishing)
	publish.Status = http.StatusAccepted
	publish.Errors = []errs.Code{errs.NotFound, errs.VersionMismatch, errs.InvalidState, errs.QueueFull,
		errs.RuleViolated}
	httpapi.Write(r, publish, s.publish)

	list := op("listPublications", http.MethodGet, one+"/publications", auth.ContentRead,
		"List the publications of a content item",
		"One for each social account, in the order in which they were asked for. Metrics are read 1 hour, 24 hours, "+
			"7 days and 30 days after publishing.").Opening(httpapi.Nothing)
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.publications)
}

func (s *Service) publications(ctx context.Context, in *publicationsInput) (httpapi.Page[item.Publication], error) {
	r, _, err := s.find(ctx, in.ID)
	if err != nil {
		return httpapi.Page[item.Publication]{}, err
	}
	return httpapi.Slice(ctx, r.Item.Publications, map[string]string{"item": r.Item.ID}, in.SliceInput,
		func(p item.Publication) string { return p.ID })
}

func (s *Service) schedule(ctx context.Context, tx *store.Tx, in *scheduleInput) (out item.Item, err error) {
	var b scheduleBody
	if in.Body != nil {
		b = *in.Body
	}
	sent, named := httpapi.Patched(ctx)["publish_at"]
	return publisher{s}.schedule(ctx, tx, in.ID, in.IfMatch, b, named && !sent)
}

// publisher changes when and where one item is published.
type publisher struct{ *Service }

// schedule schedules an item, or clears its schedule.
func (s publisher) schedule(ctx context.Context, tx *store.Tx, itemID string, match httpapi.IfMatch, b scheduleBody,
	clear bool) (out item.Item, err error) {
	p, now := auth.FromContext(ctx), s.now()
	clock, err := s.clock(ctx)
	if err != nil {
		return out, err
	}
	w, err := s.publishRequest(ctx, itemID, match, b.Accounts)
	if err != nil {
		return out, err
	}
	r := w.gate.Record
	if err := b.check(p.Mode, clock, clear); err != nil {
		return out, err
	}
	if clear {
		if err := r.Item.Permit(item.Schedule); err != nil {
			return out, err
		}
		var happened []event.Type
		if r.Item.PublishAt != nil || r.RequestedSchedule != nil {
			happened = append(happened, event.ContentUnscheduled)
		}
		if err := publication.Clear(tx, now, w.it.Owner, r); err != nil {
			return out, err
		}
		return s.answer(ctx, tx, w.it, r, happened...)
	}
	at, err := planned(b.PublishAt, r, clock)
	if err != nil {
		return out, cmp.Or(r.Item.Permit(item.Schedule), err)
	}
	w.options, w.gate.Action, w.gate.At, w.gate.TimeParam = b.Options, item.Schedule, at, "/publish_at"
	next := b.PublishAt != nil && b.PublishAt.Next
	if next {
		w.gate.At, w.gate.Any = clock, true
	}
	targets, err := w.targets(ctx, r.Item.SocialAccountIDs)
	if err != nil {
		return out, err
	}
	if next {
		if at, err = s.enqueue(ctx, tx, w.it.Owner, r, targets, clock); err != nil {
			return out, err
		}
	}
	w.take(targets, b.Sandbox)
	r.PublishFor(p)
	if w.waitsForApproval {
		publication.Await(tx, now, w.it.Owner, r, targets, at)
		return s.answer(ctx, tx, w.it, r, event.ContentUpdated)
	}
	if err := publication.Schedule(tx, now, w.it.Owner, r, targets, at); err != nil {
		return out, err
	}
	if err := publication.WarnOfOthers(ctx, s.db, r, at); err != nil {
		return out, err
	}
	return s.answer(ctx, tx, w.it, r, event.ContentScheduled)
}

// planned returns the time of a call, or else the time that the item has.
func planned(asked *publishTime, r *item.Record, now time.Time) (time.Time, error) {
	switch {
	case asked != nil:
		return asked.Time.Time, nil
	case r.Item.PublishAt == nil:
		return time.Time{}, errs.Invalid("/publish_at", "is required, as the item has no planned time. Send a time in "+
			"the future")
	case !r.Item.PublishAt.After(now):
		return time.Time{}, errs.Invalid("/publish_at", "is required, as the planned time of the item, %s, is past. "+
			"Send a time in the future, or call POST /v1/content-items/{content_item_id}/publish",
			r.Item.PublishAt.UTC().Format(time.RFC3339))
	}
	return r.Item.PublishAt.Time, checkAhead(r.Item.PublishAt.Time, now)
}

// checkAhead refuses a time of publication in the past, or too far ahead.
func checkAhead(at, now time.Time) error {
	switch {
	case !at.After(now):
		return errs.Invalid("/publish_at", "must be in the future. To publish now, call POST "+
			"/v1/content-items/{content_item_id}/publish")
	case at.Sub(now) > publication.MaxAhead:
		return errs.Invalid("/publish_at", "must be within 180 days")
	}
	return nil
}

// check refuses an invalid time of publication, and parameters that make no sense if the time is cleared.
func (b *scheduleBody) check(mode tenant.Mode, now time.Time, clear bool) error {
	var found []error
	if clear {
		for param, sent := range map[string]bool{"/social_account_ids": b.Accounts != nil, "/options": b.Options != nil,
			"/sandbox": b.Sandbox != nil} {
			if sent {
				found = append(found, errs.Invalid(param, "needs a publish_at"))
			}
		}
		slices.SortFunc(found, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	} else if b.PublishAt != nil {
		found = append(found, b.PublishAt.check(now))
	}
	return errs.All(append(found, checkPublishRehearsal(b.Sandbox, mode))...)
}

func checkPublishRehearsal(r *item.PublishRehearsal, mode tenant.Mode) error {
	const param = "/sandbox/failure_code"
	switch {
	case r == nil:
		return nil
	case mode != tenant.Test:
		return httpapi.CheckSandbox(true, mode)
	case r.FailureCode == "":
		return nil
	case !slices.Contains(platform.Codes(), r.FailureCode):
		var codes []string
		for _, c := range platform.Codes() {
			codes = append(codes, string(c))
		}
		return errs.Invalid(param, "%s", text.NotOneOf(string(r.FailureCode), codes))
	case r.Outcome != item.PublicationFailed:
		return errs.Invalid(param, "needs outcome failed")
	}
	return nil
}

func (s *Service) publish(ctx context.Context, tx *store.Tx, in *publishInput) (out item.Item, err error) {
	var b Outlets
	if in.Body != nil {
		b = in.Body.Outlets
	}
	return publisher{s}.publish(ctx, tx, in.ID, in.IfMatch, b)
}

// publish begins to publish an item now.
func (s publisher) publish(ctx context.Context, tx *store.Tx, itemID string, match httpapi.IfMatch,
	b Outlets) (out item.Item, err error) {
	p, now := auth.FromContext(ctx), s.now()
	if err := checkPublishRehearsal(b.Sandbox, p.Mode); err != nil {
		return out, err
	}
	w, err := s.publishRequest(ctx, itemID, match, b.Accounts)
	if err != nil {
		return out, err
	}
	r := w.gate.Record
	w.options, w.gate.Action, w.gate.TimeParam = b.Options, item.Publish, "/social_account_ids"
	if w.gate.At, err = s.clock(ctx); err != nil {
		return out, err
	}
	usual := r.Item.SocialAccountIDs
	if left := slices.DeleteFunc(slices.Clone(w.accountIDs), w.taken); len(left) > 0 {
		w.accountIDs = left
	} else if len(w.accountIDs) == 0 && (r.Item.State == item.Failed || r.Item.State == item.Published) {
		failed := []string{}
		for _, pub := range r.Item.Publications {
			if pub.State == item.PublicationFailed {
				failed = append(failed, pub.SocialAccountID)
			}
		}
		if r.Item.State == item.Failed || len(failed) > 0 {
			usual = failed
		}
	}
	targets, err := w.targets(ctx, usual)
	if err != nil {
		return out, err
	}
	if err := publication.Current(ctx, s.db, tx, w.it.Owner, r, now); err != nil {
		return out, err
	}
	w.take(targets, b.Sandbox)
	r.PublishFor(p)
	if err := publication.Publish(tx, now, w.it.Owner, r, targets); err != nil {
		return out, err
	}
	r.Item.Usual = usualPublication
	return s.answer(ctx, tx, w.it, r)
}

// nextSlot is the value of publish_at for the next free time of the schedule.
const nextSlot = "next_slot"

// publishTime is a time of publication, or the next slot.
type publishTime struct {
	resource.Time
	Next bool
	// impossible is set for a day or time that does not exist, such as 30 February.
	impossible bool
}

// UnmarshalJSON reads a time, or the word for the next slot.
func (t *publishTime) UnmarshalJSON(b []byte) error {
	if t.Next = string(b) == `"`+nextSlot+`"`; t.Next {
		return nil
	}
	t.impossible = json.Unmarshal(b, &t.Time) != nil
	return nil
}

// check refuses a time that does not exist, is past or is too far ahead.
func (t publishTime) check(now time.Time) error {
	switch {
	case t.impossible:
		return errs.Invalid("/publish_at", "is no day or time of the calendar")
	case t.Next:
		return nil
	}
	return checkAhead(t.Time.Time, now)
}

// timePattern is the form of RFC 3339, with a zone.
const timePattern = `\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?` +
	`([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)`

// Schema describes the time in the OpenAPI document.
func (publishTime) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString, Pattern: "^(" + nextSlot + "|" + timePattern + ")$",
		PatternDescription: "a time with its zone, such as 2027-01-15T09:30:00Z or 2027-01-15T10:30:00+01:00, or " +
			nextSlot,
		Examples: []any{"2027-01-15T09:30:00Z"}}
	s.PrecomputeMessages()
	return s
}

// TimesOf returns the schedule of a factory.
func TimesOf(f factory.Factory) (publication.Times, error) {
	t := publication.Times{Zone: time.UTC, Factory: f.ID, Accounts: f.SocialAccountIDs}
	if f.Schedule == nil {
		return t, nil
	}
	var err error
	t.Zone, err = time.LoadLocation(f.Schedule.Timezone)
	t.Clock = f.Schedule.Times
	if s := f.Silence(); len(s.Weekdays)+len(s.Days) > 0 && err == nil {
		t.Skip = func(at time.Time) bool { return !s.Open(at.In(t.Zone)) }
	}
	return t, err
}

// clock returns the time of the caller: that of the clock of its sandbox, or the real one.
func (s *Service) clock(ctx context.Context) (time.Time, error) {
	return testclock.Now(ctx, s.db, auth.FromContext(ctx).Owner, s.now())
}

// next returns the next free time of the schedule of a factory on the accounts.
func (s *Service) next(ctx context.Context, f factory.Factory, r *item.Record, targets []publication.Target,
	clock time.Time, besides []item.Slot) (time.Time, []string, error) {
	var accounts []string
	for _, t := range targets {
		accounts = append(accounts, t.Account.ID)
	}
	slices.Sort(accounts)
	times, err := TimesOf(f)
	switch {
	case err != nil:
		return time.Time{}, nil, err
	case len(times.Clock) == 0:
		return time.Time{}, nil, errs.Invalid("/publish_at", "needs a schedule of the factory with times. Set "+
			"schedule by PATCH /v1/factories/{factory_id}, or send a time")
	case len(accounts) > publication.MaxQueued:
		return time.Time{}, nil, errs.Invalid("/publish_at", "may be next_slot for up to %d accounts; there are %d. "+
			"Name them in social_account_ids", publication.MaxQueued, len(accounts))
	}
	silent := times.Skip
	times.Skip = func(at time.Time) bool {
		return auth.FromContext(ctx).RequireHour(at) != nil || silent != nil && silent(at)
	}
	at, ok, err := publication.NextSlot(ctx, s.db, times, accounts, r, auth.FromContext(ctx).Owner,
		clock, besides)
	if err == nil && !ok {
		err = errs.Invalid("/publish_at", "finds no free time in the schedule of the factory within 180 days")
	}
	return at, accounts, err
}

// enqueue gives a scheduled item the next free time of the schedule of its factory on the accounts.
func (s *Service) enqueue(ctx context.Context, tx *store.Tx, o tenant.Owner, r *item.Record,
	targets []publication.Target, clock time.Time) (time.Time, error) {
	factories, _, err := s.factories.FindAll(ctx, []string{r.Item.FactoryID})
	if err != nil {
		return time.Time{}, err
	}
	at, accounts, err := s.next(ctx, factories[r.Item.FactoryID], r, targets, clock, nil)
	if err == nil {
		publication.Claim(tx, s.now(), o, r, at, accounts)
	}
	return at, err
}

// claim adds to the transaction that a new item takes the slots that its body asked for.
func claim(tx *store.Tx, now time.Time, o tenant.Owner, r *item.Record) {
	if len(r.ClaimedAccounts) > 0 {
		publication.Claim(tx, now, o, r, r.Item.PublishAt.Time, r.ClaimedAccounts)
	}
}

// publishRequest is a request to publish an item.
type publishRequest struct {
	s                *Service
	gate             publication.Gate
	it               store.Item
	owner            tenant.Owner          // of the item
	accountIDs       []string              // ids of the accounts in the call
	items            map[string]store.Item // items that were read, by their keys
	options          platformOptions
	factory          factory.Factory
	waitsForApproval bool // it is not published before its approval
}

// publishRequest reads the item and the accounts of the call in one round trip.
func (s *Service) publishRequest(ctx context.Context, itemID string, match httpapi.IfMatch,
	accounts []string) (*publishRequest, error) {
	w := &publishRequest{s: s, accountIDs: accounts, items: map[string]store.Item{}}
	var known []string
	var keys []store.Key
	for _, accountID := range accounts {
		if id.Valid(id.SocialAccount, accountID) {
			known, keys = append(known, accountID), append(keys, store.IDKey(accountID))
		}
	}
	r, it, beside, err := s.findWith(ctx, itemID, keys, match)
	if err != nil {
		return nil, err
	}
	for i, accountID := range known {
		w.items[accountID] = beside[i]
	}
	w.gate.Record, w.it, w.owner = r, it, it.Owner
	return w, nil
}

// taken reports whether an account has taken the item.
func (w *publishRequest) taken(accountID string) bool {
	pub := w.gate.Record.Item.PublicationTo(accountID)
	return pub != nil && pub.Taken()
}

// take notes the accounts to which the item is published, and the requested result.
func (w *publishRequest) take(targets []publication.Target, rehearsal *item.PublishRehearsal) {
	if w.gate.Record.Item.State != item.Published && w.gate.Record.Item.State != item.Failed {
		w.gate.Record.Item.SocialAccountIDs = []string{}
	}
	for _, t := range targets {
		if !slices.Contains(w.gate.Record.Item.SocialAccountIDs, t.Account.ID) {
			w.gate.Record.Item.SocialAccountIDs = append(w.gate.Record.Item.SocialAccountIDs, t.Account.ID)
		}
	}
	w.gate.Record.Rehearsal = rehearsal
}

// targets returns the accounts of a request, and refuses what the gate refuses. If the call names no accounts, they are
// the usual accounts, or else those of the factory: those that cannot publish it are left out, unless none is left. If
// the item waits for its approval, waits is set, unless the call publishes it now.
func (w *publishRequest) targets(ctx context.Context, usual []string) (all []publication.Target, err error) {
	named := len(w.accountIDs) > 0
	if w.gate.Action != "" {
		if err := w.obey(ctx); err != nil {
			return nil, err
		}
	}
	ids := w.accountIDs
	if !named {
		if ids = usual; len(ids) == 0 {
			ids = w.factory.SocialAccountIDs
		}
		if err := w.readAccounts(ctx, ids); err != nil {
			return nil, err
		}
	}
	w.gate.By, w.gate.Approval = auth.FromContext(ctx), w.factory.Approval
	if all, err = w.gate.Targets(w.owner, ids, named, w.items, w.s.limits(w.gate.By.Mode), w.options); err != nil {
		return nil, err
	}
	refused := w.gate.Ask(all...)
	if w.gate.Action != item.Publish {
		isApproval := func(r publication.Refusal) bool { return r.Reason == publication.ReasonApproval }
		w.waitsForApproval = slices.ContainsFunc(refused, isApproval)
		refused = slices.DeleteFunc(refused, isApproval)
	}
	w.gate.Record.Item.OmittedAccounts = []item.OmittedAccount{}
	if !named && len(all) > 0 {
		kept, omitted, left := publication.Leave(all, refused)
		w.gate.Record.Item.OmittedAccounts = append(w.gate.Record.Item.OmittedAccounts, omitted...)
		if all = kept; len(kept) > 0 {
			refused = left
		}
		for i, r := range refused {
			if r.Reason == publication.ReasonKind { // another kind is no remedy for a call that names no account
				refused[i].Err = errs.Invalid(r.Param, "%s", r.Message())
			}
		}
	}
	err = publication.Refused(refused)
	for name := range w.options {
		is := func(t publication.Target) bool { return t.Account.Platform == name }
		if !slices.ContainsFunc(all, is) && err == nil {
			err = errs.Invalid("/options/"+name, "is for a platform that none of the accounts is of")
		}
	}
	return all, err
}

// obey has the item follow the rules of law of now, and reads what the gate needs to know of its factory and of the
// accounts that the call names.
func (w *publishRequest) obey(ctx context.Context) error {
	f, counters, err := (ruler{w.s}).obey(ctx, w.gate.Record, w.counters(w.accountIDs)...)
	w.factory = f
	for _, it := range counters {
		w.items[it.PK] = it
	}
	return err
}

// counters returns the keys of the counters of the posts of accounts on the day.
func (w *publishRequest) counters(ids []string) (keys []store.Key) {
	for _, accountID := range ids {
		if w.gate.TimeParam != "" && id.Valid(id.SocialAccount, accountID) {
			keys = append(keys, publication.QuotaKey(accountID, publication.Day(w.gate.At)))
		}
	}
	return keys
}

// readAccounts reads accounts that were not read, and their counters.
func (w *publishRequest) readAccounts(ctx context.Context, ids []string) error {
	keys := w.counters(ids)
	for _, accountID := range ids {
		keys = append(keys, store.IDKey(accountID))
	}
	keys = slices.DeleteFunc(keys, func(key store.Key) bool { _, read := w.items[key.PK]; return read })
	if len(keys) == 0 {
		return nil
	}
	items, err := w.s.db.GetAll(ctx, keys...)
	for i, it := range items {
		w.items[keys[i].PK] = it
	}
	return err
}

// approvalOf returns the approval of a new item of a factory.
func approvalOf(f factory.Factory) item.Approval {
	if f.AutoPublish && f.Steered {
		return item.ApprovalIn(item.ApprovalPending, item.SteeredFactory)
	}
	if f.Approval == item.ApprovalRequired {
		return item.ApprovalIn(item.ApprovalPending)
	}
	return item.ApprovalIn(item.ApprovalNone)
}

// askAgain makes the approval of an item void if the texts were changed. A scheduled item waits for the new one, and
// the event of that is returned.
func (s *Service) askAgain(ctx context.Context, tx *store.Tx, o tenant.Owner, r *item.Record,
	was texts) ([]event.Type, error) {
	now := textsOf(r)
	now.Metadata = was.Metadata
	if reflect.DeepEqual(now, was) || !r.Item.AskAgain() || r.Item.State != item.Scheduled {
		return nil, nil
	}
	required, err := s.required(ctx, r)
	if err != nil || !required {
		return nil, err
	}
	return []event.Type{event.ContentUnscheduled}, publication.Postpone(tx, s.now(), o, r)
}

// required reports whether the factory of an item requires an approval that the item lacks.
func (s *Service) required(ctx context.Context, r *item.Record) (bool, error) {
	if r.Item.Approval.State == item.Approved {
		return false, nil
	}
	factories, _, err := s.factories.FindAll(ctx, []string{r.Item.FactoryID})
	return r.Item.Blocked(factories[r.Item.FactoryID].Approval), err
}

// orderPlanned notes that an item of a content plan is published at its planned time on the accounts of its factory, or
// that the factory has none.
func (s publisher) orderPlanned(ctx context.Context, r *item.Record) error {
	factories, _, err := s.factories.FindAll(ctx, []string{r.Item.FactoryID})
	if err != nil {
		return err
	}
	if len(factories[r.Item.FactoryID].SocialAccountIDs) == 0 {
		r.NotPublished = item.WaitsForAccount
		return nil
	}
	r.RequestedSchedule = &item.ScheduleRequest{}
	return nil
}

// Decide notes that an item was approved, or that changes were requested, and returns the item. What waited for the
// approval goes on, on behalf of by; an item of a content plan whose time is ahead is scheduled for it. Scheduled items
// whose changes were requested wait for the approval, if their factory requires it.
func (s *Service) Decide(ctx context.Context, tx *store.Tx, itemID, state, note string,
	by authority.Authority, match ...httpapi.IfMatch) (out item.Item, err error) {
	r, it, err := s.find(ctx, itemID, match...)
	if err != nil {
		return out, err
	}
	now, waited := s.now(), r.Item.Undecided()
	clock, err := s.clock(ctx)
	if err != nil {
		return out, err
	}
	var happened []event.Type
	r.NotPublished = ""
	if err := r.Item.Decide(now, state, note, auth.FromContext(ctx).Actor.ID); err != nil {
		return out, err
	}
	if state == item.Approved && r.Item.PublishAt != nil { // it is published on behalf of who approves it
		refused := publication.Of(s.planned(ctx, it.Owner, r), publication.ReasonMandate)
		if err := publication.Refused(refused); err != nil {
			return out, err
		}
	}
	if state == item.Approved {
		if waited && r.Planned(clock) {
			err = publisher{s}.orderPlanned(ctx, r)
		}
		if err == nil && r.NotPublished != item.WaitsForAccount {
			err = r.PublishApproved(tx, now, it.Owner, by)
		}
	} else if r.Item.State == item.Scheduled {
		var required bool
		if required, err = s.required(ctx, r); err == nil && required {
			happened = append(happened, event.ContentUnscheduled)
			err = publication.Postpone(tx, now, it.Owner, r)
		}
	}
	if err != nil {
		return out, err
	}
	if err := r.NotifyDecision(tx, it.Owner); err != nil {
		return out, err
	}
	return s.answer(ctx, tx, it, r, happened...)
}

// Withdraw makes the last decision of the calling actor about an item void, and returns the item. A scheduled item
// waits for its approval again, if its factory requires one. The event content.updated tells of it.
func (s *Service) Withdraw(ctx context.Context, tx *store.Tx, itemID string,
	match ...httpapi.IfMatch) (out item.Item, err error) {
	r, it, err := s.find(ctx, itemID, match...)
	if err != nil {
		return out, err
	}
	factories, _, err := s.factories.FindAll(ctx, []string{r.Item.FactoryID})
	if err != nil {
		return out, err
	}
	now, before := s.now(), approvalOf(factories[r.Item.FactoryID])
	if err := r.Item.Withdraw(now, auth.FromContext(ctx).Actor.ID, before.State); err != nil {
		return out, err
	}
	happened := []event.Type{event.ContentUpdated}
	if r.Item.State == item.Scheduled && before.State == item.ApprovalPending {
		happened = append(happened, event.ContentUnscheduled)
		if err := publication.Postpone(tx, now, it.Owner, r); err != nil {
			return out, err
		}
	}
	return s.answer(ctx, tx, it, r, happened...)
}
