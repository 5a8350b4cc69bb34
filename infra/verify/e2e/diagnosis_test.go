package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

type diagnosis struct {
	ID, State       string
	Score           *int
	Findings        []struct{ Code string }
	ProposalIDs     []string               `json:"proposal_ids"`
	ProposalFailure *struct{ Code string } `json:"proposal_failure"`
}

type proposal struct {
	ID, State      string
	Patch          object
	BaseVersion    int64  `json:"base_version"`
	AppliedVersion *int64 `json:"applied_version"`
}

// diagnosed diagnoses a factory, and waits for the result.
func diagnosed(t *testing.T, key, factory string) (d diagnosis) {
	t.Helper()
	a := call(t, key, http.MethodPost, "/v1/factories/"+factory+"/diagnose", nil)
	into[diagnosis](a, http.StatusAccepted)
	poll.Until(t, "the diagnosis of "+factory, func() bool {
		d = into[diagnosis](call(t, key, http.MethodGet, a.Header.Get("Location"), nil), http.StatusOK)
		return d.State == "completed" || d.State == "failed"
	})
	return d
}

// A factory is diagnosed, and a proposal applied: with a test key by the sandbox, and with a
// live key by a model of Bedrock.
func TestDiagnosisAndProposals(t *testing.T) {
	c := newCustomer(t)
	for mode, key := range map[string]string{"test": c.test.Secret, "live": c.live.Secret} {
		t.Run(mode, func(t *testing.T) {
			factory := c.factory(key)
			path := "/v1/factories/" + factory
			d := diagnosed(t, key, factory)
			if d.State != "completed" || d.Score == nil || len(d.Findings) == 0 || len(d.ProposalIDs) == 0 ||
				d.ProposalFailure != nil {
				t.Fatalf("%+v", d)
			}
			open := into[[]proposal](call(t, key, http.MethodGet, path+"/proposals?state=open", nil), http.StatusOK)
			if len(open) != len(d.ProposalIDs) || open[0].BaseVersion != 1 {
				t.Fatalf("%+v", open)
			}
			if mode == "live" && (len(open) != 1 || open[0].Patch["audience"] != "People who run in any weather") {
				t.Errorf("the model proposes %+v", open)
			}
			apply := path + "/proposals/" + open[0].ID + "/apply"
			applied := call(t, key, http.MethodPost, apply, nil, "Idempotency-Key", "apply")
			if p := into[proposal](applied, http.StatusOK); p.State != "applied" || p.AppliedVersion == nil ||
				*p.AppliedVersion != 2 {
				t.Errorf("%+v", p)
			}
			if again := call(t, key, http.MethodPost, apply, nil, "Idempotency-Key",
				"apply"); again.Raw != applied.Raw {
				t.Errorf("the repeat answers %s", again.Raw)
			}
			changed := into[object](call(t, key, http.MethodGet, path, nil), http.StatusOK)
			for member := range open[0].Patch {
				if changed[member] == nil || changed["version"] != 2. {
					t.Errorf("%s is %v in %v", member, changed[member], changed)
				}
			}
			if err := call(t, key, http.MethodPost, apply, nil).refused(http.StatusConflict,
				"invalid_state"); err != nil {
				t.Error(err)
			}
			if len(open) > 1 {
				into[proposal](call(t, key, http.MethodPost, path+"/proposals/"+open[1].ID+"/apply", nil), http.StatusOK)
			}
			var types []string
			for _, e := range into[[]struct{ Type string }](call(t, key, http.MethodGet,
				"/v1/events?type=diagnosis.*,proposal.*", nil), http.StatusOK) {
				types = append(types, e.Type)
			}
			slices.Sort(types)
			want := append([]string{"diagnosis.completed"},
				slices.Repeat([]string{"proposal.applied"}, min(len(open), 2))...)
			want = append(want, slices.Repeat([]string{"proposal.created"}, len(open))...)
			if !slices.Equal(types, want) {
				t.Errorf("the events are %v", types)
			}
		})
	}
	t.Run("a model that refuses", func(t *testing.T) {
		factory := c.factory(c.live.Secret)
		into[object](call(t, c.live.Secret, http.MethodPatch, "/v1/factories/"+factory,
			object{"settings": object{"brand_name": "Vandelay"}}), http.StatusOK)
		fault(t, "bedrock", "submit", "job_failed", "Vandelay")
		if d := diagnosed(t, c.live.Secret, factory); d.State != "completed" || len(d.Findings) == 0 ||
			len(d.ProposalIDs) != 0 || d.ProposalFailure == nil || d.ProposalFailure.Code != "content_policy" {
			t.Errorf("%+v %+v", d, d.ProposalFailure)
		}
		if p := call(t, c.live.Secret, http.MethodGet, "/v1/factories/"+factory+"/proposals",
			nil); !strings.Contains(p.Raw, `"data":[]`) {
			t.Errorf("%s", p.Raw)
		}
	})
}
