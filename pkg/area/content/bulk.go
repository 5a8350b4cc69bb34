package content

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/store"
)

const (
	// mostBulk bounds the items of a bulk.
	mostBulk = 100
	// bulkTime bounds the time of a bulk, and bulkMargin is left of it for the answer.
	bulkTime, bulkMargin = 11 * time.Second, time.Second
	// bulkTries bounds the attempts at an item that conflicts with concurrent changes.
	bulkTries = 4
)

// The actions of a bulk, and the mode in which it changes all items or none.
const (
	bulkApprove    = "approve"
	bulkSchedule   = "schedule"
	bulkPublish    = "publish"
	bulkUnschedule = "unschedule"
	bulkWithdraw   = "withdraw"
	bulkAll        = "all"
)

type bulkBody struct {
	// What is done with each item, as by the operation for one item: approve as approveContentItem, schedule as
	// scheduleContentItem, publish as publishContentItem, unschedule as scheduleContentItem with publish_at null.
	// withdraw takes your last decision back.
	Action string `json:"action" enum:"approve,schedule,publish,unschedule,withdraw" example:"approve"`
	// each: what cannot be done is reported in its result, and the other items are changed. all: every item is checked
	// first, and if one cannot be changed, the call is refused and none is.
	Mode string `json:"mode,omitempty" enum:"all,each" default:"each"`
	// Ids of the content items. Send them, items or content_plan_id.
	ItemIDs []string `json:"content_item_ids,omitempty" minItems:"1" maxItems:"100" uniqueItems:"true" nullable:"false"`
	// Content items with what differs for each. Send them, content_item_ids or content_plan_id.
	Items []bulkItem `json:"items,omitempty" minItems:"1" maxItems:"100" nullable:"false"`
	// Content plan, for its items that wait: approve takes those whose approval is pending, schedule those that are
	// generated and planned for a time ahead, and unschedule those that are scheduled. Not for publish.
	PlanID string `json:"content_plan_id,omitempty" maxLength:"64" example:"pln_01h455vb4pex5vsknk084sn02q"`
	// Note of the approval. For approve only.
	Note string `json:"note,omitempty" format:"not-blank" maxLength:"2000"`
	BulkChoices
}

// BulkChoices are when, where and how items of a bulk are published.
type BulkChoices struct {
	// Time of publication, or next_slot: each item takes the next free time, in their order. For schedule only. Absent:
	// that of the call for all items, or else the time that each has, such as that of its content plan.
	PublishAt *publishTime `json:"publish_at,omitempty" example:"next_slot"`
	Outlets
}

// bulkItem is an item of a bulk, with what differs for it.
type bulkItem struct {
	// Id of the content item that is to be changed.
	ID string `json:"content_item_id" maxLength:"64" example:"cnt_01h455vb4pex5vsknk084sn02q"`
	// Version that you have seen, for approve: a later one is refused.
	Version int64 `json:"version,omitempty" minimum:"1" example:"3"`
	BulkChoices
}

type bulkInput struct {
	Body bulkBody
}

// BulkAnswer is what a bulk has done.
type BulkAnswer struct {
	// Results of the items, in the order of the request, or of their creation for a content plan.
	Results []BulkResult `json:"results" nullable:"false"`
	// Number of items that were changed, as their results say.
	Succeeded int `json:"succeeded" example:"30"`
	// Number of items that were not changed. Their results have an error.
	Failed int `json:"failed" example:"0"`
	// Whether more items of the content plan wait: send the call again, with a new Idempotency-Key.
	More bool `json:"has_more"`
}

// BulkResult is the result of an item of a bulk.
type BulkResult struct {
	// Id of the content item that was to be changed.
	ID string `json:"content_item_id" example:"cnt_01h455vb4pex5vsknk084sn02q"`
	// The item after its change. Null if it was not changed.
	Item *BulkItem `json:"item"`
	// Why it was not changed: the error of the operation for one item. Null if it was changed.
	Error *httpapi.ErrorBody `json:"error"`
}

// BulkItem is a content item after its change by a bulk. Its GET shows the rest.
type BulkItem struct {
	// Version of the item after the change.
	Version int64 `json:"version" example:"3"`
	// State of the item after the change.
	State item.State `json:"state" format:"content-state" example:"scheduled"`
	item.Outlook
}

// bulkStep is the change of one item.
type bulkStep struct {
	ID, Action, Note string
	// Version is the version that the caller has seen, or 0.
	Version int64
	BulkChoices
	// At is the place of the item in the body.
	At string
}

// bulkOrder is a bulk that is accepted. If its call dies, nothing of it is repeated, so that nothing is stored.
type bulkOrder struct {
	steps []bulkStep
	more  bool
}

// bulker changes the publication of many items.
type bulker struct{ *Service }

// register adds the operation that changes the publication of many items to the router.
func (s bulker) register(r *httpapi.Router) {
	bulk := op("bulkPublishing", http.MethodPost, "/v1/publishing/bulk", auth.ContentPublish, "Approve, schedule or "+
		"publish many items",
		"Changes up to 100 content items, by the rules and with the events of the operations for one item. It counts "+
			"as one call. `mode: each` changes what can be changed, and each result has the item or its error, with "+
			"status 200. `mode: all` checks all items first: if one is refused, none is changed, `code` is that of "+
			"the first and `details` lists all. What only turns out afterwards, such as a concurrent change, is an "+
			"error in its result. With `content_plan_id` it takes the items of a content plan that wait: `has_more` "+
			"tells if there are others. If the time does not suffice, results have the error `timeout`: send these "+
			"items again. After a call that has ended with `timeout`, read the items.").
		Opening(httpapi.Publishing)
	bulk.Tag = "Publishing"
	bulk.Errors = []errs.Code{errs.NotFound, errs.InvalidState, errs.QueueFull, errs.RuleViolated}
	httpapi.Act(r, bulk, httpapi.Action[bulkInput, bulkOrder, BulkAnswer, BulkAnswer]{
		Within: bulkTime, Queue: topology.Settle, Prepare: s.accept, Do: s.do,
		Settle: func(_ context.Context, _ *store.Tx, _ bulkOrder, done BulkAnswer) (BulkAnswer, error) {
			return done, nil
		},
	})
}

// Rules refuses members that do not belong to the action, and a body with no items or two ways to name them.
func (b bulkBody) Rules() error {
	sent := 0
	for _, named := range []bool{b.ItemIDs != nil, b.Items != nil, b.PlanID != ""} {
		if named {
			sent++
		}
	}
	if sent != 1 {
		return errs.Invalid("/content_item_ids", "send content_item_ids, items or content_plan_id, and only one of "+
			"them")
	}
	var found []error
	refuse := func(sent bool, param, why string) {
		if sent {
			found = append(found, errs.Invalid(param, "%s", why))
		}
	}
	choose := func(at string, c BulkChoices) {
		const forThese = "is for the actions schedule and publish only"
		publishes := b.Action == bulkSchedule || b.Action == bulkPublish
		refuse(c.PublishAt != nil && b.Action != bulkSchedule, at+"/publish_at", "is for the action schedule only")
		refuse(c.Accounts != nil && !publishes, at+"/social_account_ids", forThese)
		refuse(c.Options != nil && !publishes, at+"/options", forThese)
		refuse(c.Sandbox != nil && !publishes, at+"/sandbox", forThese)
	}
	refuse(b.Note != "" && b.Action != bulkApprove, "/note", "is for the action approve only")
	refuse(b.PlanID != "" && b.Action == bulkPublish, "/content_plan_id", "is not for publish: its items have times. "+
		"Send action schedule, or content_item_ids")
	refuse(b.PlanID != "" && b.Action == bulkWithdraw, "/content_plan_id", "is not for withdraw. Send content_item_ids")
	choose("", b.BulkChoices)
	seen := map[string]int{}
	for i, it := range b.Items {
		at := fmt.Sprintf("/items/%d", i)
		before, twice := seen[it.ID]
		refuse(twice, at+"/content_item_id", fmt.Sprintf("is that of /items/%d", before))
		seen[it.ID] = i
		refuse(it.Version != 0 && b.Action != bulkApprove, at+"/version", "is for the action approve only")
		choose(at, it.BulkChoices)
	}
	return errs.All(found...)
}

// accept names the changes of a bulk. If all or none are to be made, it refuses what one of them would refuse.
func (s bulker) accept(ctx context.Context, _ *store.Tx, in *bulkInput) (o bulkOrder, err error) {
	b := in.Body
	if err := b.Rules(); err != nil {
		return o, err
	}
	step := bulkStep{Action: b.Action, Note: b.Note, BulkChoices: b.BulkChoices}
	for i, itemID := range b.ItemIDs {
		step.ID, step.At = itemID, fmt.Sprintf("/content_item_ids/%d", i)
		o.steps = append(o.steps, step)
	}
	for i, it := range b.Items {
		own := step
		own.ID, own.At, own.Version = it.ID, fmt.Sprintf("/items/%d", i), it.Version
		own.PublishAt = cmp.Or(it.PublishAt, own.PublishAt)
		own.Sandbox = cmp.Or(it.Sandbox, own.Sandbox)
		if it.Accounts != nil {
			own.Accounts = it.Accounts
		}
		if it.Options != nil {
			own.Options = it.Options
		}
		o.steps = append(o.steps, own)
	}
	if b.PlanID != "" {
		var ids []string
		if ids, o.more, err = s.waiting(ctx, b.PlanID, b.Action); err != nil {
			return o, err
		}
		for _, itemID := range ids {
			step.ID, step.At = itemID, "/content_plan_id"
			o.steps = append(o.steps, step)
		}
	}
	if b.Mode != bulkAll {
		return o, nil
	}
	var bad batchErrors
	for _, step := range o.steps {
		if _, err := s.take(ctx, &store.Tx{}, step); err != nil {
			if err := bad.addAt(step.At, step.ID, err); err != nil {
				return o, err
			}
		}
	}
	return o, bad.err()
}

// waiting returns the ids of the items of a content plan that wait for an action, oldest first, and whether there are
// more of them.
func (s bulker) waiting(ctx context.Context, planID, action string) (ids []string, more bool, err error) {
	if !id.Valid(id.ContentPlan, planID) {
		return nil, false, errs.Missing("content plan", planID)
	}
	q := store.Query{Index: store.ByOwner, Limit: mostBulk, OldestFirst: true,
		Partition: store.OwnerPartition(auth.FromContext(ctx).Owner, item.ItemKind),
		Filters:   map[string]string{"plan": planID}}
	if made, ok := id.Time(planID); ok {
		q.From = id.First(id.ContentItem, made)
	}
	exists := false
	clock, err := s.clock(ctx)
	if err != nil {
		return nil, false, err
	}
	for {
		page, err := s.db.List(ctx, q)
		if err != nil {
			return nil, false, err
		}
		for _, found := range page.Items {
			r, err := item.Decode(&found)
			if err != nil {
				return nil, false, err
			}
			if exists = true; !waitsFor(r, action, clock) {
				continue
			}
			if len(ids) == mostBulk {
				return ids, true, nil
			}
			ids = append(ids, r.Item.ID)
		}
		if page.Next == nil && !exists {
			e := errs.New(errs.NotFound, "No content item belongs to the content plan %q for this key's account and "+
				"mode.", planID)
			e.Param = "/content_plan_id"
			return nil, false, e
		}
		if page.Next == nil {
			return ids, false, nil
		}
		q.After = page.Next
	}
}

// waitsFor reports whether an item of a content plan waits for an action.
func waitsFor(r *item.Record, action string, now time.Time) bool {
	switch action {
	case bulkApprove:
		return r.Item.Approval.State == item.ApprovalPending && r.Item.Permit(item.Approve) == nil
	case bulkUnschedule:
		return r.Item.State == item.Scheduled || r.RequestedSchedule != nil
	}
	return r.Planned(now)
}

// take adds the change of one item to a transaction, as its operation does.
func (s bulker) take(ctx context.Context, tx *store.Tx, step bulkStep) (item.Item, error) {
	p := publisher(s)
	switch step.Action {
	case bulkApprove:
		var seen httpapi.IfMatch
		if step.Version != 0 {
			seen.IfMatch = httpapi.ETag(step.Version)
		}
		return s.Decide(ctx, tx, step.ID, item.Approved, step.Note,
			authority.Of(auth.FromContext(ctx), auth.ContentPublish), seen)
	case bulkWithdraw:
		return s.Withdraw(ctx, tx, step.ID)
	case bulkPublish:
		return p.publish(ctx, tx, step.ID, httpapi.IfMatch{}, step.Outlets)
	}
	return p.schedule(ctx, tx, step.ID, httpapi.IfMatch{}, scheduleBody{step.PublishAt, step.Outlets},
		step.Action == bulkUnschedule)
}

// errUntried is the error of items for which a bulk had no time.
var errUntried = errs.New(errs.Timeout, "The time of the call did not suffice for this item. Send it again.")

// do changes the items one after another, each in a transaction of its own.
func (s bulker) do(ctx context.Context, o bulkOrder) (out BulkAnswer, err error) {
	out = BulkAnswer{Results: []BulkResult{}, More: o.more}
	for _, step := range o.steps {
		result := BulkResult{ID: step.ID}
		it, err := s.takeOne(ctx, step)
		if err != nil {
			told := httpapi.PartError(ctx, err)
			result.Error = &told
			out.Failed++
		} else {
			result.Item = &BulkItem{it.Version, it.State, it.Outlook}
			out.Succeeded++
		}
		out.Results = append(out.Results, result)
	}
	return out, nil
}

// takeOne changes one item. It repeats what conflicts with another call.
func (s bulker) takeOne(ctx context.Context, step bulkStep) (out item.Item, err error) {
	for range bulkTries {
		if end, bounded := ctx.Deadline(); bounded && time.Until(end) < bulkMargin {
			return out, errUntried
		}
		tx := &store.Tx{Origin: httpapi.GatewayOf(ctx).RequestID}
		if out, err = s.take(ctx, tx, step); err != nil {
			return out, err
		}
		if err = s.db.Commit(ctx, tx); !errors.Is(err, store.ErrConflict) {
			return out, err
		}
	}
	return out, errs.Wrap(err, errs.ProviderUnavailable, "Other requests are changing the content item. Send it again.")
}
