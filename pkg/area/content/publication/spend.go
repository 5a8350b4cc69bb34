package publication

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/social"
)

var _ social.Budgets = (*Worker)(nil)

// Uses implements social.Budgets.
func (w *Worker) Uses(ctx context.Context, r *social.Record, c platform.Capabilities, p social.Price) (
	all []social.Use, wait time.Duration, err error) {
	of, name, account := platform.Budget{}, r.Meter(), ""
	switch {
	case p.Of == social.ForReading && c.Reads != nil:
		all, within, err := w.readings(ctx, name, c, p.Units, p.Urgent)
		if !within {
			wait = leastPause
		}
		return all, wait, err
	case p.Of == social.ForPublishing && c.Budget != nil:
		of, account = *c.Budget, r.ID
	case p.Of == social.ForComments && c.Reads != nil && c.Reads.Part > 0:
		of = *c.Budget
	case p.Of == social.ForComments && c.Reads != nil:
		of, name = platform.Budget{Max: c.Reads.Max, Shared: true}, name+".reads"
		if c.Budget != nil {
			of.Starts = c.Budget.Starts
		}
	default:
		return nil, 0, nil
	}
	left, key, err := w.budget(ctx, of, name, account)
	uses := int64(p.Units)
	return []social.Use{{Key: key, Units: uses, Limit: left.limit(left.passed)}}, left.wait(uses), err
}
