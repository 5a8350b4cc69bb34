package webhook

// The identifiers that the tests of the whole path need.
const (
	ReplayPage  = replayPage
	SweepPage   = sweepPage
	SweepMargin = sweepMargin
	Checkpoint  = checkpoint
)
