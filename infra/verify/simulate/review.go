package simulate

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store/memtable"
)

// reviewEnds are the events of diagnoses, proposals, plans, trainings and approvals. Each has a mark for the change
// that it reports.
var reviewEnds = map[event.Type]string{event.DiagnosisCompleted: "diagnosed ", event.ProposalCreated: "proposed ",
	event.ProposalApplied: "applied ", event.ContentPlanCompleted: "planned ", event.ContentPlanFailed: "planned ",
	event.ContentApproved: "approved ", event.ContentChangesRequested: "changes_requested ",
	event.TrainingCompleted: "completed ", event.TrainingFailed: "failed "}

// observeReview counts the diagnoses that are completed, and the proposals that are created and applied.
func (w *world) observeReview(c memtable.Change) {
	var doc struct{ ID string }
	must(json.Unmarshal([]byte(textOf(c.New, "doc")), &doc))
	state, before := stateOf(c.New), stateOf(c.Old)
	switch {
	case state == before:
	case state == string(advice.Completed):
		w.ends["diagnosed "+doc.ID]++
	case state == string(advice.Open):
		w.ends["proposed "+doc.ID]++
	case state == string(advice.Applied):
		w.ends["applied "+doc.ID]++
	}
}

// review diagnoses the factory, or applies one of its proposals.
func (c *caller) review() {
	path := "/v1/factories/" + c.factory
	var open []struct{ ID string }
	c.call(http.MethodGet, path+"/proposals?state=open", nil, &open)
	if len(open) == 0 || c.random.IntN(2) == 0 {
		c.call(http.MethodPost, path+"/diagnose", nil, nil)
		return
	}
	c.call(http.MethodPost, path+"/proposals/"+open[c.random.IntN(len(open))].ID+"/apply", nil, nil)
}

// checkApplied checks that each version of a factory follows from one change: no two proposals made the same version,
// and each made a later one than it was made for.
func (w *world) checkApplied(fail func(format string, args ...any)) {
	versions, applied := map[string]int64{}, map[string][]int64{}
	for _, it := range w.items() {
		var doc struct {
			ID             string
			Version        int64
			FactoryID      string `json:"factory_id"`
			BaseVersion    int64  `json:"base_version"`
			AppliedVersion *int64 `json:"applied_version"`
		}
		switch textOf(it, "kind") {
		case "factory":
			must(json.Unmarshal([]byte(textOf(it, "doc")), &doc))
			versions[doc.ID] = doc.Version
		case advice.ProposalItemKind:
			must(json.Unmarshal([]byte(textOf(it, "doc")), &doc))
			if v := doc.AppliedVersion; v != nil {
				if applied[doc.FactoryID] = append(applied[doc.FactoryID], *v); *v <= doc.BaseVersion {
					fail("%s was made for the version %d, and made the version %d", doc.ID, doc.BaseVersion, *v)
				}
			}
		}
	}
	for id, made := range applied {
		slices.Sort(made)
		if distinct := slices.Compact(slices.Clone(made)); len(distinct) != len(made) ||
			made[len(made)-1] > versions[id] {
			fail("%s has the version %d, and proposals made the versions %v", id, versions[id], made)
		}
	}
}

// filled returns the answer of a text model to a form. Some answers do not fit the form.
func (w *world) filled(f *provider.Form) *provider.Result {
	if w.random.IntN(4) == 0 {
		return &provider.Result{Object: json.RawMessage(
			`{"proposals":[{"title":"Make nothing","rationale":"None.","patch":{"state":"paused"},"expected_effect":"None"}]}`)}
	}
	return &provider.Result{Object: f.Sample}
}
