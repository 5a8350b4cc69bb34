package metered

import (
	"context"

	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// decided makes an experiment that has a winner, and returns its id. Its results are written as a look leaves them,
// since the sandbox has too few posts.
func (w *World) decided(ctx context.Context) (string, error) {
	id, err := w.make(ctx, "createExperiment")
	if err != nil {
		return "", err
	}
	it, err := w.State.Get(ctx, store.IDKey(id))
	if err != nil {
		return "", err
	}
	r, err := experiment.Decode(&it)
	if err != nil {
		return "", err
	}
	at, estimate, lower, upper := resource.Instant(w.Now()), 0.16, 0.03, 0.28
	r.State, r.StartedAt, r.EndedAt, r.Posts = experiment.Decided, &at, &at, 120
	r.Winners = []experiment.Winner{{Factor: experiment.FactorHook, Arm: "question"}}
	first, second := 0.027, 0.041
	r.Results = []experiment.Result{
		{Factor: experiment.FactorHook, Arm: "claim", Assigned: 59, N: 58, Median: &first},
		{Factor: experiment.FactorHook, Arm: "question", Assigned: 61, N: 60, Median: &second, Estimate: &estimate,
			Lower: &lower, Upper: &upper},
	}
	if it, err = r.Into(it); err != nil {
		return "", err
	}
	tx := &store.Tx{}
	tx.Replace(it)
	return id, w.State.Commit(ctx, tx)
}
