package webhook

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// takesLong are the latencies of a receiver whose answers count as slow.
var takesLong = Latencies{Current: Sketch{Bucket(2 * SlowAfter.Milliseconds()): 1}}

func TestTheSlowAttemptsOfADeadFunctionEnd(t *testing.T) {
	now := apitest.NewClock().Now()
	it := store.Item{Attributes: map[string]string{"dead": now.Format(resource.TimeLayout), "garbage": "x"}}
	for i := range HangLimit {
		it.Attributes[fmt.Sprint("alive", i)] = now.Add(time.Second).Format(resource.TimeLayout)
	}
	f := newInFlight(store.Key{}, takesLong, it, now)
	slices.Sort(f.dead)
	if f.slow != HangLimit || f.full() || !slices.Equal(f.dead, []string{"dead", "garbage"}) {
		t.Errorf("%d slow, dead %v", f.slow, f.dead)
	}
	if f.usual = (Latencies{}); !f.full() {
		t.Error("a receiver that does not usually take long is not full")
	}
	for i := range SlowLimit {
		it.Attributes[fmt.Sprint("more", i)] = now.Add(time.Second).Format(resource.TimeLayout)
	}
	if f := newInFlight(store.Key{}, takesLong, it, now); !f.full() {
		t.Errorf("%d slow", f.slow)
	}
}

func TestDestinationsInAWSDoNotHang(t *testing.T) {
	r := &Receiver{inFlight: inFlight{slow: 1}}
	r.record.State = StateEnabled
	now := time.Now()
	if !r.MayHang(now, false) {
		t.Error("an address does not hang")
	}
	r.record.Destination = &Target{}
	if r.MayHang(now, false) || r.MayHang(now, true) {
		t.Error("a queue hangs")
	}
	r.record.Destination, r.record.State = nil, StateDisabled
	if r.MayHang(now, false) {
		t.Error("one that is disabled hangs")
	}
}
