package plan

import (
	"reflect"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Adopt adds a content plan of an export to the transaction. One that had not ended is canceled: its items are there as
// far as they were made.
func (p Plan) Adopt(tx *store.Tx, now time.Time, o tenant.Owner) error {
	switch p.State {
	case Completed, Failed:
		at := resource.Instant(now)
		p.CompletedAt = &at
	default:
		p.State, p.CompletedAt = Canceled, nil
	}
	p.Items = Items{Total: int64(p.Days) * int64(p.PostsPerDay)}
	if len(p.Calendar) > mostTopics {
		return errs.Invalid("/calendar", "may have %d topics at most", mostTopics)
	}
	p.Items.Total = max(p.Items.Total, int64(len(p.Calendar)))
	if p.Calendar == nil {
		p.Calendar = []Topic{}
	}
	for i := range p.Calendar {
		t := &p.Calendar[i]
		t.ContentPlanID, t.Version = p.ID, 1
		if t.State != TopicCompleted && t.State != TopicExpired && t.State != TopicFailed {
			t.State = TopicDiscarded
		}
	}
	it, err := p.Entry(o)
	if err != nil {
		return err
	}
	tx.Create(it, nil)
	return nil
}

// Input is the type of the body of the operation that creates a content plan. Imports check what comes in by its
// schema.
var Input = reflect.TypeFor[createBody]()
