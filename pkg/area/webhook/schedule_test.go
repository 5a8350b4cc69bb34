package webhook

import (
	"testing"
	"time"
)

func TestWaitsSpreadRoundTheSchedule(t *testing.T) {
	for i, scheduled := range Schedule {
		low, high := Wait(i, 0, 0), Wait(i, 0, 1)
		if low >= scheduled || high <= scheduled || low < scheduled*8/10 || high > scheduled*12/10 {
			t.Errorf("wait %d: %v to %v, want round %v", i, low, high, scheduled)
		}
	}
	if got := Wait(0, 24*time.Hour, 1); got != 24*time.Hour {
		t.Errorf("a receiver that asks for a day is called after %v", got)
	}
	if got := Wait(len(Schedule), time.Hour, 0.5); got != 0 {
		t.Errorf("after the last attempt: %v", got)
	}
}

func TestNoWaitIsShorterThanTheReceiverAsks(t *testing.T) {
	for _, chance := range []float64{0, 0.3, 1} {
		for i := range Schedule {
			for _, asked := range []time.Duration{0, time.Second, time.Minute, 3 * time.Hour, 24 * time.Hour} {
				if got := Wait(i, asked, chance); got < asked || got < Wait(i, 0, chance) {
					t.Errorf("Wait(%d, %v, %v) = %v", i, asked, chance, got)
				}
			}
		}
	}
}
