package dispatch

// What the tests of the whole path need to know.
const (
	ReplayPage  = replayPage
	SweepPage   = sweepPage
	SweepMargin = sweepMargin
	Checkpoint  = checkpoint
)
