package plan

import (
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/store"
)

// Adopt adds a content plan of an export to the transaction. One that had not ended is canceled: its items are there as
// far as they were made.
func (p Plan) Adopt(tx *store.Tx, now time.Time, o tenant.Owner) error {
	if p.State != Completed && p.State != Failed {
		p.State, p.CompletedAt = Canceled, nil
	}
	p.ReservedCredits = 0
	if p.Calendar == nil {
		p.Calendar = []Topic{}
	}
	it, err := p.Entry(o)
	if err != nil {
		return err
	}
	tx.Create(it, nil)
	factoryrecord.AddCounts(tx, now, p.FactoryID, p.ID, factoryrecord.Counts{Generated: p.Items.Generated,
		Failed: p.Items.Failed, Canceled: p.Items.Canceled, Published: p.Items.Published, Cost: p.CostCredits})
	return nil
}
