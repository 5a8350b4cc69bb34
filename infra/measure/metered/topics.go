package metered

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/task"
)

// proposed creates a factory with a content plan whose topics wait for an approval.
func (w *World) proposed(ctx context.Context) (factoryID string, err error) {
	if factoryID, err = w.make(ctx, "createFactory"); err != nil {
		return "", err
	}
	_, err = w.propose(ctx, factoryID, Object{"days": 10, "posts_per_day": 1, "content_types": []string{"post"},
		"brief": "The weeks before Christmas"})
	return factoryID, err
}

// propose creates a content plan for a factory whose topics wait for an approval, and returns it with them.
func (w *World) propose(ctx context.Context, factoryID string, body Object) (p plan.Plan, err error) {
	sent := Object{"approve": "topics"}
	maps.Copy(sent, body)
	a, err := w.Call(ctx, Request{Operation: "createContentPlan", ID: factoryID, Body: sent})
	if err := errors.Join(err, json.Unmarshal(a.Data, &p)); err != nil {
		return p, err
	}
	kernel, m := w.Kernel(w.Workers), task.Message{ID: task.ID(plan.Task, p.ID, 1), Step: 1}
	for {
		next, err := kernel.Do(ctx, m, "")
		if err != nil {
			return p, err
		}
		if next == nil || next.Delay > 0 { // it waits for the approval
			break
		}
		m = next.Message
	}
	a, err = w.Call(ctx, Request{Operation: "getContentPlan", ID: factoryID})
	return p, errors.Join(err, json.Unmarshal(a.Data, &p))
}
