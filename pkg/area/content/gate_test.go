package content_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// refusal is a reason for which an item is refused, and what each door makes of it.
type refusal struct {
	platform string
	members  []any // of the item, besides a picture and a caption
	options  object
	// mandate narrows the mandate of the agent, and arrange makes the rest of the reason, after the item was scheduled
	// or published if the door is that of the poster.
	mandate func(at time.Time) keyrecord.Mandate
	arrange func(*gated)
	// want are the codes and pointers of the problems of a validation, in their order.
	want []string
	// code is that of the operations, status theirs, and failure that of the publication. Waits is what the item waits
	// for after automatic publishing, and omitted the code of the account that it leaves out. An empty failure means
	// that the item is published.
	code                    errs.Code
	status                  int
	failure, waits, omitted string
	waitsOnSchedule         bool // scheduling is not refused, but waits
}

// gated is an item that an agent publishes on an account at a time.
type gated struct {
	*world
	refusal
	at            time.Time
	account, item string
	wide          *apitest.Caller // the agent before its mandate is narrowed
}

// begin has an agent without bounds, and an account, at an hour before the publication.
func (c refusal) begin(t *testing.T) *gated {
	t.Helper()
	g := &gated{world: newWorld(t), refusal: c}
	g.at = g.world.at(3)
	g.Clock.Add(-time.Hour)
	g.account = g.connect(cmp.Or(c.platform, "telegram"))
	g.attach(g.account)
	g.wide = g.agent("agent", keyrecord.Mandate{})
	return g
}

// make creates the item as the agent, before anything refuses it.
func (g *gated) make(members ...any) *gated {
	g.T.Helper()
	b := g.body(append([]any{"source", "provided", "caption", "Words", "ai_generated", false, "media",
		[]string{g.own(g.Caller, picture(1080, 1350))}}, append(slices.Clone(g.members), members...)...)...)
	delete(b, "prompt")
	var it item.Item
	g.wide.Call(http.MethodPost, "/v1/content-items", b).Into(g.T, http.StatusAccepted, &it)
	g.item = it.ID
	return g
}

// narrow makes the reason of the refusal, and returns the agent with its mandate of now.
func (g *gated) narrow() *apitest.Caller {
	g.T.Helper()
	m := keyrecord.Mandate{}
	if g.mandate != nil {
		m = g.mandate(g.at)
	}
	m.ID = "agent:2"
	g.wide.ChangeKey(func(k *keyrecord.Record) { k.Mandate = &m })
	if g.arrange != nil {
		g.arrange(g)
	}
	return g.As(func(p *auth.Principal) {
		p.Actor, p.Mandate = g.wide.Principal.Actor, m.Terms()
		p.Withhold()
	})
}

// outlets are where the item is published, and at which time.
func (g *gated) outlets(at time.Time) object {
	b := object{"social_account_ids": []string{g.account}}
	if g.options != nil {
		b["options"] = g.options
	}
	if !at.IsZero() {
		b["publish_at"] = at
	}
	return b
}

// problems returns what a validation finds, as codes with pointers, and the messages.
func (g *gated) problems(agent *apitest.Caller, at time.Time) (codes, messages []string) {
	g.T.Helper()
	var v content.Validation
	agent.Call(http.MethodPost, "/v1/publishing/validate", with(g.outlets(at), "content_item_id", g.item)).
		Into(g.T, http.StatusOK, &v)
	for _, p := range append(v.Problems, v.Accounts[0].Problems...) {
		codes = append(codes, strings.TrimSpace(p.Code+" "+string(p.Param)))
		messages = append(messages, p.Message)
	}
	if v.OK != (len(codes) == 0) {
		g.T.Errorf("ok is %t with %q", v.OK, codes)
	}
	return codes, messages
}

// told returns the messages of an error of an operation.
func told(code, message string, details []errs.Detail) (all []string) {
	for _, d := range details {
		all = append(all, d.Message)
	}
	if len(all) == 0 {
		all = []string{message}
	}
	return append([]string{code}, all...)
}

func toldBy(a apitest.Answer) []string {
	if a.Error == nil {
		return nil
	}
	return told(a.Error.Code, a.Error.Message, a.Error.Details)
}

// bulk does an action with the item, and returns its error.
func (g *gated) bulk(agent *apitest.Caller, body object) []string {
	g.T.Helper()
	var out content.BulkAnswer
	agent.Call(http.MethodPost, "/v1/publishing/bulk", body).Into(g.T, http.StatusOK, &out)
	if len(out.Results) != 1 {
		g.T.Fatalf("%d results", len(out.Results))
	}
	e := out.Results[0].Error
	if e == nil {
		return nil
	}
	return told(string(e.Code), e.Message, e.Details)
}

// plan makes the item one of a content plan, whose time is planned.
func (g *gated) plan() string {
	g.T.Helper()
	planID := id.New(id.ContentPlan, g.Now())
	g.write(func(r *item.Record) {
		at := resource.Instant(g.at)
		r.Item.ContentPlanID, r.Item.PublishAt = &planID, &at
	})
	return planID
}

// write changes the record of the item.
func (g *gated) write(change func(*item.Record)) {
	g.T.Helper()
	it, r, _, err := item.Lookup(g.T.Context(), g.DB, g.Principal.Owner, g.item)
	if err != nil || r == nil {
		g.T.Fatal(err)
	}
	change(r)
	r.Item.Touch(g.Now())
	tx := &store.Tx{}
	if err := item.Replace(tx, it, r); err != nil {
		g.T.Fatal(err)
	}
	if err := g.DB.Commit(g.T.Context(), tx); err != nil {
		g.T.Fatal(err)
	}
}

// atNight moves the clock to the time of the publication.
func (g *gated) atNight() { g.Clock.Add(g.at.Sub(g.Now())) }

// refusals have each reason of package publication but slot_taken, of which a call that names its time is warned.
var refusals = map[string]refusal{
	"time": {mandate: func(time.Time) keyrecord.Mandate { return keyrecord.Mandate{QuietHours: quiet} },
		want: []string{"mandate /publish_at"}, code: errs.OutsideMandate, status: 403,
		failure: item.FailedAuthority, waits: item.WaitsForSlot},
	"platform": {mandate: func(time.Time) keyrecord.Mandate { return keyrecord.Mandate{Platforms: []string{"vk"}} },
		want: []string{"mandate /social_account_ids/0"}, code: errs.OutsideMandate, status: 403,
		failure: item.FailedAuthority, waits: item.WaitsForAccount, omitted: item.OmittedMandate},
	// A key that may use Telegram alone publishes on Instagram in its quiet hours.
	"time and platform": {platform: "instagram", mandate: func(time.Time) keyrecord.Mandate {
		return keyrecord.Mandate{Platforms: []string{"telegram"}, QuietHours: quiet}
	}, want: []string{"mandate /publish_at", "mandate /social_account_ids/0"}, code: errs.OutsideMandate, status: 403,
		failure: item.FailedAuthority, waits: item.WaitsForSlot},
	"mandate and text": {platform: "instagram", members: []any{"variants", object{"telegram": object{"caption": "x"}}},
		mandate: func(time.Time) keyrecord.Mandate { return keyrecord.Mandate{Platforms: []string{"telegram"}} },
		arrange: tooLong, want: []string{"mandate /social_account_ids/0", "post /caption"}, code: errs.OutsideMandate, status: 403,
		failure: item.FailedAuthority, waits: item.WaitsForAccount, omitted: item.OmittedMandate},
	"account": {arrange: func(g *gated) { g.alter(g.account, broken) },
		want: []string{"account /social_account_ids/0"}, code: errs.ValidationFailed, status: 422,
		failure: "needs_reconnect", waits: item.WaitsForAccount, omitted: "needs_reconnect"},
	"no account": {arrange: func(g *gated) {
		it, err := g.DB.Get(g.T.Context(), store.IDKey(g.account))
		if err != nil {
			g.T.Fatal(err)
		}
		tx := &store.Tx{}
		tx.Delete(it)
		if err := g.DB.Commit(g.T.Context(), tx); err != nil {
			g.T.Fatal(err)
		}
	}, want: []string{"attached /social_account_ids/0"}, code: errs.NotFound, status: 404, failure: "needs_reconnect",
		waits: item.WaitsForAccount},
	"kind": {arrange: func(g *gated) { g.write(func(r *item.Record) { r.Item.Kind = item.Story }) },
		want: []string{"kind /social_account_ids/0"}, code: errs.ValidationFailed, status: 422,
		failure: "content_refused", waits: item.WaitsForAccount, omitted: item.OmittedKind},
	"choices": {platform: "tiktok", options: choices("duet", nil, "stitch", nil), arrange: func(g *gated) {
		g.options = object{"tiktok": object{"privacy": "public", "comments": true, "disclosure": "none"}}
		g.write(func(r *item.Record) {
			few := &item.PublishOptions{RawMessage: json.RawMessage(`{"privacy":"public","comments":true,"disclosure":"none"}`)}
			for i := range r.Item.Publications {
				r.Item.Publications[i].Options = few
			}
			if r.RequestedSchedule != nil {
				r.RequestedSchedule.Options["tiktok"] = few
			}
		})
	}, want: []string{"post /options/tiktok/consent"}, code: errs.ValidationFailed, status: 422,
		failure: "content_refused"},
	"rule": {platform: "instagram", members: []any{"ad_marking", marking}, arrange: func(g *gated) { g.inRegion("RU") },
		want: []string{"rule /social_account_ids/0"}, code: errs.RuleViolated, status: 422,
		failure: item.FailedUnlawful, waits: item.WaitsForAccount, omitted: item.OmittedUnlawful},
	"text": {platform: "instagram", arrange: tooLong, want: []string{"post /caption"}, code: errs.ValidationFailed, status: 422, failure: "content_refused"},
	"approval": {arrange: func(g *gated) { g.requireApproval() }, want: []string{"approval /approval"},
		code: errs.InvalidState, status: 409, waitsOnSchedule: true, failure: item.FailedApproval,
		waits: item.WaitsForApproval},
	// The posts of a day are counted where they are ordered. What is published by itself waits for the platform.
	"quota": {platform: "vk", arrange: func(g *gated) {
		key, tx := publication.QuotaKey(g.account, publication.Day(g.at)), &store.Tx{}
		counter, err := g.DB.Lookup(g.T.Context(), key)
		if err != nil {
			g.T.Fatal(err)
		}
		tx.Count(key, 50-counter.Count(), 50, store.ErrConflict)
		if err := g.DB.Commit(g.T.Context(), tx); err != nil {
			g.T.Fatal(err)
		}
	}, want: []string{"quota /publish_at"}, code: errs.ValidationFailed, status: 422},
}

// tooLong gives the item a caption that Instagram does not take.
func tooLong(g *gated) {
	g.write(func(r *item.Record) { r.Item.Caption = resource.Text(strings.Repeat("x", 2300)) })
}

// quiet are hours with the time of all publications.
var quiet = &auth.QuietHours{From: "02:30", To: "08:00", Timezone: "UTC"}

// Each reason is the same at each door: the operations refuse an item for it, in one order, automatic publishing leaves
// it, and a publication that was ordered before fails with it.
func TestEachDoorAsksTheSameGate(t *testing.T) {
	t.Parallel()
	for name, c := range refusals {
		t.Run(name, func(t *testing.T) {
			t.Run("operations", func(t *testing.T) { c.operations(t) })
			t.Run("automatic", func(t *testing.T) { c.automatic(t) })
			t.Run("timer", func(t *testing.T) { c.timer(t) })
			t.Run("poster", func(t *testing.T) { c.poster(t) })
		})
	}
}

// operations puts the reason through validate, schedule, publish, bulk, and bulk of a plan.
func (c refusal) operations(t *testing.T) {
	g := c.begin(t).make()
	agent := g.narrow()
	codes, messages := g.problems(agent, g.at)
	if !slices.Equal(codes, c.want) {
		t.Fatalf("validate: %q, want %q", codes, c.want)
	}
	want := append([]string{string(c.code)}, messages...)
	scheduled := want
	if c.waitsOnSchedule {
		scheduled = nil
	}
	equal := func(door string, got, want []string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", door, got, want)
		}
	}
	a := agent.Call(http.MethodPost, path(g.item, "schedule"), g.outlets(g.at))
	equal("schedule", toldBy(a), scheduled)
	if !c.waitsOnSchedule && a.Status != c.status {
		t.Errorf("schedule: %d", a.Status)
	}
	b := with(g.outlets(g.at), "action", "schedule", "content_item_ids", []string{g.item})
	equal("bulk schedule", g.bulk(agent, b), scheduled)
	if !c.waitsOnSchedule {
		all := agent.Call(http.MethodPost, "/v1/publishing/bulk", with(b, "mode", "all"))
		got := toldBy(all)
		for i, text := range got { // each names the item and the member
			text = strings.TrimPrefix(text, g.item+": ")
			if at, rest, ok := strings.Cut(text, ": "); ok && strings.HasPrefix(at, "/") {
				text = rest
			}
			got[i] = text
		}
		equal("bulk of all", got, want)
		planID := g.plan()
		b = with(g.outlets(time.Time{}), "action", "schedule", "content_plan_id", planID)
		equal("bulk of a plan", g.bulk(agent, b), want)
		g.write(func(r *item.Record) { r.Item.ContentPlanID, r.Item.PublishAt = nil, nil })
	}
	g.atNight()
	codes, messages = g.problems(agent, time.Time{})
	equal("validate now", codes, c.want)
	want = append([]string{string(c.code)}, messages...)
	equal("publish", toldBy(agent.Call(http.MethodPost, path(g.item, "publish"), g.outlets(time.Time{}))), want)
	equal("bulk publish", g.bulk(agent, with(g.outlets(time.Time{}), "action", "publish", "content_item_ids",
		[]string{g.item})), want)
}

// ended checks a publication that was ordered before.
func (g *gated) ended(messages []string) {
	g.T.Helper()
	got := g.get(g.item)
	if g.failure == "" {
		if got.State != item.Published {
			g.T.Errorf("it is %s: %+v", got.State, got.Failure)
		}
		return
	}
	if got.State != item.Failed || len(got.Publications) != 1 || got.Publications[0].Failure == nil {
		g.T.Fatalf("it is %s: %+v, omitted %+v", got.State, got.Publications, got.OmittedAccounts)
	}
	f := got.Publications[0].Failure
	if f.Code != g.failure || g.failure != "needs_reconnect" && f.Message != strings.Join(messages, " ") {
		g.T.Errorf("it fails with %s %q, want %s %q", f.Code, f.Message, g.failure, messages)
	}
	if got.Failure == nil || !strings.Contains(got.Failure.Message, f.Message) {
		g.T.Errorf("the item says %+v", got.Failure)
	}
}

// automatic has the item published by itself, with a time.
func (c refusal) automatic(t *testing.T) {
	g := c.begin(t)
	g.make("publish_at", g.at, "options", c.options)
	agent := g.narrow()
	_, messages := g.problems(agent, g.at)
	g.work()
	got := g.get(g.item)
	if c.waits == "" { // the poster tells it
		g.atNight()
		g.work()
		g.ended(messages)
		return
	}
	if got.State != item.Generated || got.WaitsFor != c.waits {
		t.Errorf("it is %s and waits for %s", got.State, got.WaitsFor)
	}
	var omitted []string
	for _, o := range got.OmittedAccounts {
		omitted = append(omitted, o.Code+" "+o.Message)
	}
	if want := []string{c.omitted + " " + messages[0]}; c.omitted != "" && !slices.Equal(omitted, want) ||
		c.omitted == "" && len(omitted) > 0 {
		t.Errorf("left out are %q, want %q", omitted, want)
	}
}

// timer has an item that was scheduled published at its time.
func (c refusal) timer(t *testing.T) {
	g := c.begin(t).make()
	g.wide.Call(http.MethodPost, path(g.item, "schedule"), g.outlets(g.at)).Into(t, http.StatusOK, new(item.Item))
	agent := g.narrow()
	_, messages := g.problems(agent, g.at)
	if c.failure == "" {
		messages = nil // it has its place in the day
	}
	g.atNight()
	g.work()
	if c.waitsOnSchedule {
		if got := g.get(g.item); got.State != item.Generated || got.WaitsFor != c.waits || len(got.Publications) > 0 {
			t.Errorf("it is %s and waits for %s", got.State, got.WaitsFor)
		}
		return
	}
	g.ended(messages)
}

// poster has the reason come between the call that publishes the item and its post.
func (c refusal) poster(t *testing.T) {
	g := c.begin(t).make()
	g.atNight()
	_, before := g.problems(g.wide, time.Time{})
	g.wide.Call(http.MethodPost, path(g.item, "publish"), g.outlets(time.Time{})).Into(t, http.StatusAccepted,
		new(item.Item))
	agent := g.narrow()
	_, messages := g.problems(agent, time.Time{})
	messages = slices.DeleteFunc(messages, func(m string) bool { return strings.Contains(m, "It can be published only") })
	if len(before) > 0 {
		t.Fatalf("before: %q", before)
	}
	g.work()
	g.ended(messages)
}

// An item that the accounts have taken, and one whose state permits nothing, are refused alike by validate, publish and
// bulk.
func TestTheGateKnowsStates(t *testing.T) {
	t.Parallel()
	g := refusal{}.begin(t).make()
	g.publish(g.item, "social_account_ids", []string{g.account})
	g.work()
	codes, messages := g.problems(g.wide, time.Time{})
	if fmt.Sprint(codes) != "[published /social_account_ids/0]" {
		t.Errorf("%q", codes)
	}
	for _, got := range [][]string{toldBy(g.wide.Call(http.MethodPost, path(g.item, "publish"), g.outlets(time.Time{}))),
		toldBy(g.wide.Call(http.MethodPost, path(g.item, "publish"), nil)),
		g.bulk(g.wide, with(g.outlets(time.Time{}), "action", "publish", "content_item_ids", []string{g.item}))} {
		if want := append([]string{"invalid_state"}, messages...); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	codes, messages = g.problems(g.wide, g.at)
	a := g.wide.Call(http.MethodPost, path(g.item, "schedule"), g.outlets(g.at))
	if want := append([]string{"invalid_state"}, messages...); codes[0] != "state" || !slices.Equal(toldBy(a), want) {
		t.Errorf("%q, %q, want %q", codes, toldBy(a), want)
	}
	canceled := g.create()
	g.Call(http.MethodPost, path(canceled.ID, "cancel"), nil).Into(t, http.StatusOK, new(item.Item))
	g.item = canceled.ID
	codes, messages = g.problems(g.wide, g.at)
	a = g.wide.Call(http.MethodPost, path(g.item, "schedule"), g.outlets(g.at))
	if want := append([]string{"invalid_state"}, messages...); codes[0] != "state" || !slices.Equal(toldBy(a), want) {
		t.Errorf("%q, %q, want %q", codes, toldBy(a), want)
	}
}

// Nobody publishes on behalf of a key that was revoked: the publications say so.
func TestAnAuthorityThatHasEndedIsToldAtEachDoor(t *testing.T) {
	t.Parallel()
	for name, order := range map[string]func(*gated){
		"automatic": func(g *gated) { g.make("publish_at", g.at) },
		"timer": func(g *gated) {
			g.make().wide.Call(http.MethodPost, path(g.item, "schedule"), g.outlets(g.at)).Into(t, 200, new(object))
		},
		"poster": func(g *gated) {
			g.make().atNight()
			g.wide.Call(http.MethodPost, path(g.item, "publish"), g.outlets(time.Time{})).Into(t, 202, new(object))
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := refusal{failure: item.FailedAuthority}.begin(t)
			order(g)
			g.wide.ChangeKey(func(k *keyrecord.Record) { k.State = keyrecord.Revoked })
			g.work()
			g.atNight()
			g.work()
			g.ended([]string{g.wide.Principal.Actor.ID + " was revoked, so that nothing is done on its behalf any more. " +
				"Publish it again with another key."})
		})
	}
}

// A new item is refused as its validation says, before it costs.
func TestANewItemIsRefusedAsItsValidationSays(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"time", "platform", "time and platform", "account", "no account"} {
		t.Run(name, func(t *testing.T) {
			c := refusals[name]
			g := c.begin(t)
			agent := g.narrow()
			var v content.Validation
			agent.Call(http.MethodPost, "/v1/publishing/validate", with(g.outlets(g.at), "item", g.body())).
				Into(t, http.StatusOK, &v)
			var codes []string
			want := []string{string(c.code)}
			for _, p := range append(v.Problems, v.Accounts[0].Problems...) {
				codes, want = append(codes, strings.TrimSpace(p.Code+" "+string(p.Param))), append(want, p.Message)
			}
			a := agent.Call(http.MethodPost, "/v1/content-items", with(g.body(), "publish_at", g.at,
				"social_account_ids", []string{g.account}))
			if !slices.Equal(codes, c.want) || a.Status != c.status || !slices.Equal(toldBy(a), want) {
				t.Errorf("%q; %d %q, want %q", codes, a.Status, toldBy(a), want)
			}
		})
	}
}

// Who approves a scheduled item answers for its publications: they must be within the mandate.
func TestAnApprovalOutsideOfTheMandate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	vk := w.connect("vk")
	it := w.provide("caption", "Words")
	at := w.at(12).Add(time.Hour)
	w.schedule(it.ID, at, "social_account_ids", []string{vk})
	w.agent("agent", w.night()).Call(http.MethodPost, approve(it.ID), nil).
		Refused(t, http.StatusForbidden, errs.OutsideMandate, "")
	w.Clock.Add(time.Hour)
	w.work()
	if got := w.get(it.ID); got.State != item.Published {
		t.Errorf("it is %s: %+v", got.State, got.Failure)
	}
}

// What was held while its factory was paused is not published in hours that the mandate leaves out.
func TestWhatWasHeldKeepsToTheQuietHours(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.live(1000)
	w.attach(w.connect("telegram"))
	agent := w.agent("agent", w.night())
	noon := w.at(12)
	it := w.provide("caption", "Words")
	agent.Call(http.MethodPost, path(it.ID, "schedule"), object{"publish_at": noon.Add(time.Hour)}).
		Into(t, http.StatusOK, new(object))
	set := func(state string) {
		w.Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"state": state}).Into(t, http.StatusOK, new(object))
	}
	state := func(hours int) string {
		w.Clock.Add(time.Duration(hours) * time.Hour)
		w.T.Helper()
		var due []string
		for _, m := range w.dueToPublish() {
			due = append(due, string(m.Kind))
			if _, err := w.publisher().Do(t.Context(), m, ""); err != nil {
				t.Fatal(err)
			}
		}
		return fmt.Sprint(w.get(it.ID).State, due)
	}
	set("paused")
	state(2)
	w.Clock.Add(9 * time.Hour)
	set("active")
	if got := state(0); got != "scheduled[publish.timer]" {
		t.Errorf("at 23:00 it is %s", got)
	}
	if got := state(10); got != "publishing[publish.timer]" {
		t.Errorf("at 09:00 it is %s", got)
	}
}

// An account of a profile is none that is missing to the key of the whole account.
func TestAValidationSeesTheAccountsOfAProfile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := w.Now()
	r := profile.Record{Profile: profile.Profile{Resource: resource.New(id.New(id.Profile, now), now, nil), Name: "Client"}}
	o := w.Principal.Owner.Of(tenant.Profile(r.ID))
	entry, err := r.Item(o)
	if err != nil {
		t.Fatal(err)
	}
	tx := &store.Tx{}
	tx.Create(entry, nil)
	ledger.OpenPurse(tx, o, ledger.Bounds{})
	w.commit(tx)
	w.factory = w.makeFactory(object{"type": "blogger", "name": "Blog", "profile_id": r.ID})
	account := w.connectFor(o, "telegram")
	it := w.provide("caption", "Words")
	body := object{"social_account_ids": []string{account}, "publish_at": now.Add(time.Hour)}
	for _, of := range []object{{"content_item_id": it.ID}, {"item": w.body()}} {
		var v content.Validation
		w.Call(http.MethodPost, "/v1/publishing/validate", with(of, "social_account_ids", []string{account})).
			Into(t, http.StatusOK, &v)
		if !v.OK {
			t.Errorf("%+v", v)
		}
	}
	w.Call(http.MethodPost, path(it.ID, "schedule"), body).Into(t, http.StatusOK, new(object))
}
