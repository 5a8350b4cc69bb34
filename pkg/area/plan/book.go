package plan

import (
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Booked returns the plan as it is in the book.
func (p *Plan) Booked() (factoryrecord.Booked, error) {
	first, err := time.Parse(time.DateOnly, p.StartsOn)
	return factoryrecord.Booked{ID: p.ID, First: p.StartsOn, Last: first.AddDate(0, 0, p.Days-1).Format(time.DateOnly),
		Later: p.WriteAheadHours != nil}, err
}

// maxWoken bounds the plans that are woken together; others look by themselves.
const maxWoken = 40

// Wake adds to the transaction that the tasks of the latest plans of a book look again now.
func Wake(tx *store.Tx, now time.Time, o tenant.Owner, b factoryrecord.Book) error {
	for _, p := range b.Plans[max(0, len(b.Plans)-maxWoken):] {
		if err := task.Wake(tx, now, message(o, p.ID)); err != nil {
			return err
		}
	}
	return nil
}
