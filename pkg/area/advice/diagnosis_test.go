package advice_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// codes returns the codes of findings.
func codes(d advice.Diagnosis) (all []advice.Code) {
	for _, f := range d.Findings {
		all = append(all, f.Code)
	}
	return all
}

func TestADiagnosisFromItsStartToItsEnd(t *testing.T) {
	w := newWorld(t)
	f := w.factory(w.Caller, "language", "de", "topics", []string{"Schuhe", "Training", "Essen"})
	w.items(w.Principal.Owner, f.ID, 20, func(i int, r *item.Record) {
		if i%2 == 0 {
			r.Item.State, r.Item.Failure, r.Item.GeneratedAt = item.Failed, &item.Failure{Code: "timeout"}, nil
		}
	})
	path := "/v1/factories/" + f.ID + "/diagnosis"
	w.Call(http.MethodGet, path, nil).Refused(t, 404, errs.NotFound, "")
	w.Faults.Reset()
	a := w.Call(http.MethodPost, "/v1/factories/"+f.ID+"/diagnose", object{"metadata": object{"team": "sales"}})
	var d advice.Diagnosis
	a.Into(t, http.StatusAccepted, &d)
	if ops := w.Faults.Operations(); ops != "BatchGetItem TransactWriteItems" {
		t.Errorf("it took %s", ops)
	}
	if a.Header.Get("Location") != path || a.Header.Get("Retry-After") != "2" || a.Header.Get("ETag") != `"1"` {
		t.Errorf("%v", a.Header)
	}
	if d.State != advice.Queued || d.Score != nil || d.FactoryID != f.ID || d.Metadata["team"] != "sales" ||
		!strings.Contains(a.Raw, `"findings":[],"proposal_ids":[],"proposal_failure":null,"failure":null`) {
		t.Errorf("%s", a.Raw)
	}
	w.Faults.Reset()
	if got := w.get(w.Caller, f.ID); got.ID != d.ID || got.State != advice.Queued {
		t.Errorf("%+v", got)
	}
	if ops := w.Faults.Operations(); ops != "BatchGetItem" {
		t.Errorf("reading took %s", ops)
	}
	m, _ := w.next()
	w.do(m)
	running := w.Call(http.MethodPost, "/v1/factories/"+f.ID+"/diagnose", nil)
	running.Refused(t, 409, errs.InvalidState, "")
	running.Context(t, `{"state":"running","allowed":[]}`)

	w.drain()
	got := w.get(w.Caller, f.ID)
	want := []advice.Code{advice.FailureRate, advice.NoDescription, advice.NoAudience,
		advice.FailureCause}
	if got.State != advice.Completed || got.Score == nil || *got.Score != 55 ||
		got.Findings[0].Severity != advice.Critical {
		t.Errorf("%+v", got)
	}
	for _, code := range want {
		if !slices.Contains(codes(got), code) {
			t.Errorf("%s is not among %v", code, codes(got))
		}
	}
	all := w.proposals(w.Caller, f.ID, "")
	if len(all) == 0 || len(all) != len(got.ProposalIDs) || got.ProposalFailure != nil {
		t.Fatalf("%d proposals, %+v", len(all), got)
	}
	if !slices.ContainsFunc(all, func(p advice.Proposal) bool { return p.Title == "Die Fabrik beschreiben" }) {
		t.Errorf("the proposals are not in the language of the factory: %+v", all)
	}
	for i, p := range all {
		if p.State != advice.Open || p.FactoryID != f.ID || p.BaseVersion != 1 || p.Source != "diagnosis" ||
			len(p.Patch) == 0 || got.ProposalIDs[i] != p.ID ||
			!p.ExpiresAt.Equal(w.Now().Add(30*24*time.Hour)) || p.AppliedVersion != nil || p.Rationale == "" ||
			p.ExpectedEffect == "" {
			t.Errorf("%+v", p)
		}
		if types := w.told(w.Caller, p.ID); !slices.Equal(types, []string{"proposal.created"}) {
			t.Errorf("events about %s: %v", p.ID, types)
		}
	}
	if types := w.told(w.Caller, d.ID); !slices.Equal(types, []string{"diagnosis.completed"}) {
		t.Errorf("events: %v", types)
	}
	// The next one takes its place.
	again := w.diagnosed(w.Caller, f.ID, nil)
	if again.ID == d.ID || again.State != advice.Completed || again.Version != 3 {
		t.Errorf("%+v", again)
	}
}

// The sandbox's proposals follow from the factory and the findings, and solve them.
func TestTheSandboxIsDeterministic(t *testing.T) {
	w := newWorld(t)
	var patches []string
	for range 2 {
		f := w.factory(w.Caller)
		w.diagnosed(w.Caller, f.ID, nil)
		var titles []string
		for _, p := range w.proposals(w.Caller, f.ID, "") {
			titles = append(titles, p.Title)
		}
		slices.Sort(titles)
		patches = append(patches, strings.Join(titles, ", "))
	}
	if patches[0] != patches[1] || !strings.Contains(patches[0], "Describe the factory") ||
		!strings.Contains(patches[0], "Name the audience") || !strings.Contains(patches[0], "Add topics") {
		t.Errorf("%q", patches)
	}
}

func TestAFactoryThatLacksNothingIsAskedNothing(t *testing.T) {
	w := newWorld(t)
	d := w.diagnosed(w.Caller, w.well(), nil)
	if d.State != advice.Completed || *d.Score != 100 || len(d.Findings) != 0 || len(d.ProposalIDs) != 0 ||
		d.ProposalFailure != nil {
		t.Errorf("%+v", d)
	}
	if len(w.model.asked) != 0 {
		t.Errorf("the model was asked %d times", len(w.model.asked))
	}
}

func TestOutcomesAreRehearsed(t *testing.T) {
	w := newWorld(t)
	f := w.factory(w.Caller)
	at := w.Now()
	d := w.diagnosed(w.Caller, f.ID, object{"sandbox": object{"delay_seconds": 40}})
	if took := w.Now().Sub(at); d.State != advice.Completed || took < 40*time.Second || took > 50*time.Second {
		t.Errorf("after %v: %+v", took, d)
	}
	d = w.diagnosed(w.Caller, f.ID,
		object{"sandbox": object{"outcome": "no_proposals", "failure_code": "content_policy"}})
	if d.State != advice.Completed || d.Score == nil || len(d.Findings) == 0 || len(d.ProposalIDs) != 0 ||
		d.ProposalFailure == nil || d.ProposalFailure.Code != provider.FailedContentPolicy ||
		d.ProposalFailure.Retryable {
		t.Errorf("%+v %+v", d, d.ProposalFailure)
	}
	d = w.diagnosed(w.Caller, f.ID, object{"sandbox": object{"outcome": "failed", "failure_code": "timeout"}})
	if d.State != advice.Failed || d.Score != nil || d.Failure == nil || d.Failure.Code != provider.FailedTimeout ||
		!d.Failure.Retryable || len(w.told(w.Caller, d.ID)) != 0 {
		t.Errorf("%+v %+v", d, d.Failure)
	}
	limited := w.Call(http.MethodPost, "/v1/factories/"+f.ID+"/diagnose",
		object{"sandbox": object{"outcome": "rate_limited"}})
	limited.Refused(t, 429, errs.RateLimited, "")
	for param, sandbox := range map[string]object{
		"/sandbox/failure_code":  {"failure_code": "timeout"},
		"/sandbox/outcome":       {"outcome": "generated"},
		"/sandbox/delay_seconds": {"delay_seconds": 61},
	} {
		w.Call(http.MethodPost, "/v1/factories/"+f.ID+"/diagnose", object{"sandbox": sandbox}).Refused(t, 422,
			errs.ValidationFailed, param)
	}
	w.Call(http.MethodPost, "/v1/factories/"+f.ID+"/diagnose", object{"depth": 3}).Refused(t, 422,
		errs.ValidationFailed, "/depth")
	live := w.Live()
	w.Live().Call(http.MethodPost, "/v1/factories/"+w.factory(live).ID+"/diagnose",
		object{"sandbox": object{}}).Refused(t, 422, errs.ValidationFailed, "/sandbox")
}

func TestFindingsAreRehearsed(t *testing.T) {
	w := newWorld(t)
	factoryID := w.well()
	d := w.diagnosed(w.Caller, factoryID, object{"sandbox": object{"findings": []string{"no_tone", "publication_failures",
		"no_audience"}}})
	if want := []advice.Code{"publication_failures", "no_audience", "no_tone"}; !slices.Equal(codes(d), want) ||
		*d.Score != 65 || len(d.ProposalIDs) != 2 || d.Findings[0].Evidence["failed"] != 2 {
		t.Errorf("%+v", d)
	}
	for param, sandbox := range map[string]object{
		"/sandbox/findings/0": {"findings": []string{"no_luck"}},
		"/sandbox/findings":   {"findings": []string{"no_tone"}, "outcome": "failed"},
	} {
		w.Call(http.MethodPost, "/v1/factories/"+factoryID+"/diagnose", object{"sandbox": sandbox}).Refused(t, 422,
			errs.ValidationFailed, param)
	}
}

// What the platforms have reported counts.
func TestPublicationsAndAccountsAreDiagnosed(t *testing.T) {
	w := newWorld(t)
	f := w.factory(w.Caller, "topics", []string{"shoes", "food", "sleep"})
	now := w.Now()
	tx := &store.Tx{}
	found, err := w.DB.Get(t.Context(), store.IDKey(f.ID))
	if err != nil {
		t.Fatal(err)
	}
	for n, state := range []social.State{social.Connected, social.NeedsReconnect} {
		a := &social.Record{Account: social.Account{Resource: resource.New(id.New(id.SocialAccount,
			now.Add(time.Duration(n)*time.Second)), now, nil), Platform: "instagram", Handle: "@acme", State: state}}
		it, err := store.NewItem(social.Kind, w.Principal.Owner, a.ID, a)
		if err != nil {
			t.Fatal(err)
		}
		tx.Create(it, nil)
		if _, err := factoryrecord.Attach(&found, a.ID, now); err != nil {
			t.Fatal(err)
		}
		f.SocialAccountIDs = append(f.SocialAccountIDs, a.ID)
	}
	tx.Replace(found)
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	w.items(w.Principal.Owner, f.ID, 40, func(i int, r *item.Record) {
		views, likes := int64(1000), int64(10+i)
		r.Item.State, r.Item.Kind, r.Item.SocialAccountIDs = item.Published, item.Post, f.SocialAccountIDs
		if i%2 == 0 {
			r.Item.Caption, likes = "Our shoes", likes+100
		}
		pub := item.Publication{SocialAccountID: f.SocialAccountIDs[0], Platform: "instagram",
			State: item.PublicationPublished, PublishedAt: r.Item.GeneratedAt,
			Metrics: &item.Metrics{Counts: item.Counts{Views: &views, Likes: &likes}}}
		failed := pub
		failed.SocialAccountID = f.SocialAccountIDs[1]
		failed.State, failed.PublishedAt, failed.Metrics = item.PublicationFailed, nil, nil
		failed.UpdatedAt, failed.Failure = r.Item.CreatedAt, &item.PublicationFailure{Code: "needs_reconnect"}
		if r.Item.Publications = []item.Publication{pub}; i < 2 {
			r.Item.Publications = append(r.Item.Publications, failed)
		}
	})
	d := w.diagnosed(w.Caller, f.ID, nil)
	for _, want := range []advice.Code{advice.AccountDisconnected, advice.PublicationFailures,
		advice.EngagementByTopic} {
		at := slices.IndexFunc(d.Findings, func(f advice.Finding) bool { return f.Code == want })
		if at < 0 {
			t.Fatalf("%s is not among %+v", want, d.Findings)
		}
		switch got := d.Findings[at]; want {
		case advice.AccountDisconnected:
			if *got.Subject != f.SocialAccountIDs[1] || got.Severity != advice.Critical {
				t.Errorf("%+v", got)
			}
		case advice.PublicationFailures:
			if got.Evidence["failed"] != 2 || !strings.Contains(got.Message, "needs_reconnect (2)") {
				t.Errorf("%+v", got)
			}
		case advice.EngagementByTopic:
			if *got.Subject != "shoes" {
				t.Errorf("%+v", got)
			}
		}
	}
}

func TestWhoseFactoryIsDiagnosed(t *testing.T) {
	w := newWorld(t)
	f := w.factory(w.Caller)
	w.diagnosed(w.Caller, f.ID, nil)
	before := storetest.Snapshot(t, w.DB)
	proposals := w.proposals(w.Caller, f.ID, "")
	for name, c := range map[string]struct {
		caller  *apitest.Caller
		factory string
	}{
		"another account": {w.Stranger(), f.ID}, "the other mode": {w.Live(), f.ID},
		"no such factory": {w.Caller, "fac_01h455vb4pex5vsknk084sn02q"}, "no id": {w.Caller, "acme"},
	} {
		for path, method := range map[string]string{"/diagnose": "POST", "/diagnosis": "GET", "/proposals": "GET",
			"/proposals/" + proposals[0].ID + "/apply": "POST"} {
			if a := c.caller.Call(method, "/v1/factories/"+c.factory+path, nil); a.Status != 404 ||
				a.Error.Code != string(errs.NotFound) {
				t.Errorf("%s, %s: %s", name, path, a.Raw)
			}
		}
	}
	if storetest.Snapshot(t, w.DB) != before {
		t.Error("something was changed")
	}
}

// Diagnoses cost nothing, so live keys may start so many a day. A test key may start
// more.
func TestLiveDiagnosesAreLimited(t *testing.T) {
	w := newWorld(t)
	live := w.Live()
	f, rehearsed := w.factory(live), w.factory(w.Caller)
	for _, o := range []tenant.Owner{live.Principal.Owner, w.Principal.Owner} {
		tx := &store.Tx{}
		tx.Count(store.IDKey("diagnoses#"+o.String()+"#2026-05-01"), advice.MaxADay-1, advice.MaxADay, nil)
		if err := w.DB.Commit(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
	}
	w.diagnosed(live, f.ID, nil)
	full := live.Call(http.MethodPost, "/v1/factories/"+f.ID+"/diagnose", nil)
	full.Refused(t, 429, errs.RateLimited, "")
	full.Context(t, `{"limit":100,"window_seconds":86400}`)
	if after := full.Header.Get("Retry-After"); len(after) < 5 {
		t.Errorf("Retry-After is %q at %v", after, w.Now())
	}
	w.diagnosed(w.Caller, rehearsed.ID, nil)
	w.diagnosed(w.Caller, rehearsed.ID, nil)
	w.Clock.Add(12 * time.Hour)
	w.start(live, f.ID, nil)
}
