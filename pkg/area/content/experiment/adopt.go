package experiment

import (
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Adopt adds an experiment of an export to the transaction. One that had not ended is stopped: its posts are elsewhere.
func Adopt(tx *store.Tx, now time.Time, o tenant.Owner, e Experiment) error {
	if e.State == Draft || e.State == Running {
		at := resource.Instant(now)
		e.State, e.EndedAt = Stopped, &at
	}
	e.ProfileID, e.AutoApply, e.ProposalID = o.ProfileID(), false, nil
	r := &Record{Experiment: e, Authority: authority.Authority{}, Seed: e.ID}
	it, err := r.Entry(o)
	if err != nil {
		return err
	}
	if o.Mode == tenant.Test {
		it.ExpireAt = now.Add(generate.SandboxLife)
	}
	tx.Create(it, nil)
	return nil
}
