package publication

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/audit/chain"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// deciding are the operations that decide about an item, by the decision. The paths of all but bulkPublishing name it.
var deciding = map[string][]string{
	item.Approved:         {"approveContentItem", bulk, "review.decide"},
	item.ChangesRequested: {"requestChanges", "review.decide"},
}

const bulk = "bulkPublishing"

// decideTime is the longest time between the arrival of a call and its decision.
const decideTime = time.Minute

// approvals returns the decision in force about an item, if the audit log has the call that has made it: a record could
// come by another door. Without an audit log the record is all there is.
func (w *Worker) approvals(ctx context.Context, o tenant.Owner, r *item.Record) ([]DossierApproval, error) {
	a := r.Item.Approval
	if a.By == nil || a.At == nil {
		return nil, nil
	}
	one := DossierApproval{State: a.State, By: *a.By, At: *a.At}
	if a.Note != nil {
		one.Note = resource.Text(*a.Note)
	}
	if w.Entries == nil {
		return []DossierApproval{one}, nil
	}
	q := store.Query{Index: store.Table, Partition: o.String(), Limit: 100, OldestFirst: true,
		From:  id.First(id.AuditEntry, a.At.Add(-decideTime)),
		To:    id.First(id.AuditEntry, a.At.Add(2*time.Millisecond)),
		OneOf: map[string][]string{"operation_id": deciding[a.State]}}
	for {
		page, err := w.Entries.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, it := range page.Items {
			var e chain.Entry
			if err := it.Decode(&e); err != nil {
				return nil, err
			}
			ofItem := e.OperationID == bulk || strings.Contains(e.Path+"/", "/"+r.Item.ID+"/")
			if e.Actor.ID == one.By && e.Status < http.StatusBadRequest && ofItem {
				return []DossierApproval{one}, nil
			}
		}
		if q.After = page.Next; q.After == nil {
			slog.Warn("a decision about an item is in no entry of the audit log", "content_item_id", r.Item.ID, "by",
				one.By)
			return nil, nil
		}
	}
}
