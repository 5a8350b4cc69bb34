package dispatch

import "context"

// What the tests of the whole path need to know.
const (
	ReplayPage  = replayPage
	SweepPage   = sweepPage
	SweepMargin = sweepMargin
)

// EventsDone returns the checkpoint of the search for events.
func (s *Sweeper) EventsDone(ctx context.Context) (string, error) {
	c, err := s.checkpoint(ctx, "events")
	if err != nil {
		return "", err
	}
	return c.Done, nil
}
