package advice_test

import (
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/base/errs"
)

// offered makes a factory with a proposal for each patch, and returns them.
func (w *world) offered(patches ...string) (f factory.Factory, all []advice.Proposal) {
	w.T.Helper()
	f = w.factory(w.Caller)
	w.model.answers = []string{proposed(patches...)}
	w.diagnosed(w.Caller, f.ID, nil)
	all = w.proposals(w.Caller, f.ID, "")
	if len(all) != len(patches) {
		w.T.Fatalf("%+v", all)
	}
	return f, all
}

func applyPath(p advice.Proposal) string {
	return "/v1/factories/" + p.FactoryID + "/proposals/" + p.ID + "/apply"
}

func (w *world) factoryOf(p advice.Proposal) (f factory.Factory) {
	w.T.Helper()
	w.Call(http.MethodGet, "/v1/factories/"+p.FactoryID, nil).Into(w.T, http.StatusOK, &f)
	return f
}

func TestAProposalIsAppliedOnce(t *testing.T) {
	w := newWorld(t)
	_, all := w.offered(`{"tone":"dry","settings":{"slogan":"Run."}}`)
	p := all[0]
	w.Clock.Add(time.Minute)
	w.Faults.Reset()
	a := w.Call(http.MethodPost, applyPath(p), nil, "Idempotency-Key", "apply-1", "If-Match", `"1"`)
	var got advice.Proposal
	a.Into(t, http.StatusOK, &got)
	if ops := w.Faults.Operations(); ops != "BatchGetItem TransactWriteItems" {
		t.Errorf("it took %s", ops)
	}
	if got.State != advice.Applied || got.AppliedVersion == nil || *got.AppliedVersion != 2 || got.Version != 2 ||
		a.Header.Get("ETag") != `"2"` {
		t.Errorf("%+v", got)
	}
	f := w.factoryOf(p)
	if f.Version != 2 || f.Tone != "dry" || string(f.Settings) != `{"brand_name":"Acme","slogan":"Run."}` ||
		!f.UpdatedAt.Equal(w.Now()) {
		t.Errorf("%+v", f)
	}
	replay := w.Call(http.MethodPost, applyPath(p), nil, "Idempotency-Key", "apply-1", "If-Match", `"1"`)
	if replay.Raw != a.Raw || replay.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the replay is %s", replay.Raw)
	}
	again := w.Call(http.MethodPost, applyPath(p), nil)
	again.Refused(t, 409, errs.InvalidState, "")
	again.Context(t, `{"state":"applied","allowed":[]}`)
	if w.factoryOf(p).Version != 2 {
		t.Error("it was applied again")
	}
	if types := w.told(w.Caller, p.ID); !slices.Equal(types, []string{"proposal.created", "proposal.applied"}) {
		t.Errorf("%v", types)
	}
}

// Proposals conflict only if they change the same member.
func TestProposalsForOtherMembersAreApplied(t *testing.T) {
	w := newWorld(t)
	f, all := w.offered(`{"tone":"dry"}`, `{"audience":"Runners"}`, `{"settings":{"slogan":"Run."}}`,
		`{"settings":{"colors":["#ff6600"]}}`, `{"tone":"warm"}`)
	w.Call(http.MethodPost, applyPath(all[0]), nil, "If-Match", `"2"`).Refused(t, 412, errs.VersionMismatch, "If-Match")
	w.Call(http.MethodPatch, "/v1/factories/"+f.ID, object{"name": "Acme 2"}).Into(t, http.StatusOK, &f)
	for i, p := range all[:4] {
		var got advice.Proposal
		w.Call(http.MethodPost, applyPath(p), nil).Into(t, http.StatusOK, &got)
		if got.State != advice.Applied || *got.AppliedVersion != int64(i+3) {
			t.Errorf("%+v", got)
		}
	}
	if f = w.factoryOf(all[0]); f.Tone != "dry" || f.Audience != "Runners" ||
		string(f.Settings) != `{"brand_name":"Acme","slogan":"Run.","colors":["#ff6600"]}` {
		t.Errorf("%+v %s", f, f.Settings)
	}
	before := storetest.Snapshot(t, w.DB)
	w.Call(http.MethodPost, applyPath(all[4]), nil).Refused(t, 409, errs.StaleProposal, "")
	if storetest.Snapshot(t, w.DB) != before {
		t.Error("something was changed")
	}
	// A member that has changed by other means makes it stale, too, until it is as it was.
	w.Call(http.MethodPatch, "/v1/factories/"+f.ID, object{"tone": "kind"}).Into(t, http.StatusOK, &f)
	w.Call(http.MethodPost, applyPath(all[4]), nil).Refused(t, 409, errs.StaleProposal, "")
	w.Call(http.MethodPatch, "/v1/factories/"+f.ID, object{"tone": ""}).Into(t, http.StatusOK, &f)
	w.Call(http.MethodPost, applyPath(all[4]), nil).Into(t, http.StatusOK, new(advice.Proposal))
}

// The factory changes between reading and writing.
func TestAChangeAtTheSameTime(t *testing.T) {
	w := newWorld(t)
	_, all := w.offered(`{"tone":"dry"}`)
	w.Faults.Contend()
	var applied, refused atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			switch a := w.Call(http.MethodPost, applyPath(all[0]), nil); {
			case a.Status == http.StatusOK:
				applied.Add(1)
			case a.Error.Code == string(errs.InvalidState):
				refused.Add(1)
			}
		})
	}
	group.Wait()
	w.Faults.Reset()
	if applied.Load() != 1 || refused.Load() != 7 {
		t.Errorf("applied %d times, refused %d times", applied.Load(), refused.Load())
	}
	if f := w.factoryOf(all[0]); f.Version != 2 {
		t.Errorf("the factory has the version %d", f.Version)
	}
	if types := w.told(w.Caller, all[0].ID); len(types) != 2 {
		t.Errorf("%v", types)
	}
}

func TestProposalsExpire(t *testing.T) {
	w := newWorld(t)
	f, all := w.offered(`{"tone":"dry"}`, `{"audience":"Runners"}`)
	w.Call(http.MethodPost, applyPath(all[0]), nil).Into(t, http.StatusOK, new(advice.Proposal))
	states := func(query string) (states []advice.ProposalState) {
		for _, p := range w.proposals(w.Caller, f.ID, query) {
			states = append(states, p.State)
		}
		slices.Sort(states)
		return states
	}
	check := func(when string, want map[string][]advice.ProposalState) {
		t.Helper()
		for query, want := range want {
			if got := states(query); !slices.Equal(got, want) {
				t.Errorf("%s, %s lists %v, want %v", when, query, got, want)
			}
		}
	}
	check("at first", map[string][]advice.ProposalState{
		"": {advice.Applied, advice.Open}, "?state=open": {advice.Open}, "?state=applied": {advice.Applied},
		"?state=expired": nil, "?state=dismissed": nil,
		"?state=open,applied": {advice.Applied, advice.Open}, "?state=expired,applied": {advice.Applied},
		"?state=expired,open": {advice.Open},
	})
	w.Clock.Add(30*24*time.Hour - time.Millisecond)
	check("a moment before", map[string][]advice.ProposalState{"?state=open": {advice.Open}, "?state=expired": nil})
	w.Clock.Add(time.Millisecond)
	check("after 30 days", map[string][]advice.ProposalState{
		"": {advice.Applied, advice.Expired}, "?state=open": nil, "?state=applied": {advice.Applied},
		"?state=expired":      {advice.Expired},
		"?state=open,applied": {advice.Applied}, "?state=expired,applied": {advice.Applied, advice.Expired},
		"?state=expired,open": {advice.Expired},
	})
	late := w.Call(http.MethodPost, applyPath(all[1]), nil)
	late.Refused(t, 409, errs.InvalidState, "")
	late.Context(t, `{"state":"expired","allowed":[]}`)
	check("by id", map[string][]advice.ProposalState{"?id=" + all[0].ID: {advice.Applied},
		"?id=" + all[1].ID: {advice.Expired}, "?id=" + all[1].ID + "&state=applied": nil,
		"?id=prp_01h455vb4pex5vsknk084sn02q": nil})
	w.Call(http.MethodGet, "/v1/factories/"+f.ID+"/proposals?id="+f.ID, nil).Refused(t, 422, errs.ValidationFailed, "id")
	w.Call(http.MethodGet, "/v1/factories/"+f.ID+"/proposals?state=closed", nil).Refused(t, 422,
		errs.ValidationFailed, "state")
}

func TestProposalsOfOtherFactories(t *testing.T) {
	w := newWorld(t)
	_, all := w.offered(`{"tone":"dry"}`)
	other := w.factory(w.Caller)
	if listed := w.proposals(w.Caller, other.ID, ""); len(listed) != 0 {
		t.Errorf("%+v", listed)
	}
	elsewhere := all[0]
	elsewhere.FactoryID = other.ID
	w.Call(http.MethodPost, applyPath(elsewhere), nil).Refused(t, 404, errs.NotFound, "")
	unknown := all[0]
	unknown.ID = "prp_01h455vb4pex5vsknk084sn02q"
	w.Call(http.MethodPost, applyPath(unknown), nil).Refused(t, 404, errs.NotFound, "")
	unknown.ID = other.ID
	w.Call(http.MethodPost, applyPath(unknown), nil).Refused(t, 404, errs.NotFound, "")
	w.Call(http.MethodPost, applyPath(all[0]), object{"patch": object{}}).Refused(t, 422, errs.ValidationFailed, "")
}

// A cursor belongs to the filter that it came from.
func TestACursorIsOfItsStates(t *testing.T) {
	w := newWorld(t)
	f, _ := w.offered(`{"tone":"dry"}`, `{"tone":"warm"}`, `{"tone":"kind"}`)
	path := "/v1/factories/" + f.ID + "/proposals?limit=1&state="
	a := w.Call(http.MethodGet, path+"open", nil)
	if a.NextCursor == nil {
		t.Fatal("the list has one page")
	}
	w.Clock.Add(time.Minute)
	w.Call(http.MethodGet, path+"open&cursor="+*a.NextCursor, nil).Into(t, http.StatusOK, &[]advice.Proposal{})
	w.Call(http.MethodGet, path+"expired&cursor="+*a.NextCursor, nil).Refused(t, 400, errs.InvalidCursor, "cursor")
}

func TestProposalsForAFactoryThatIsDeleted(t *testing.T) {
	w := newWorld(t)
	f, all := w.offered(`{"tone":"dry"}`)
	w.Call(http.MethodDelete, "/v1/factories/"+f.ID, nil).Into(t, http.StatusOK, &f)
	for path, method := range map[string]string{"/diagnose": "POST", "/diagnosis": "GET", "/proposals": "GET",
		"/proposals/" + all[0].ID + "/apply": "POST"} {
		w.Call(method, "/v1/factories/"+f.ID+path, nil).Refused(t, 404, errs.NotFound, "")
	}
}
