package health

import (
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/webhook/endpoint"
	"github.com/content-automation/api/pkg/httpapi/apitest"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// takesLong are the latencies of a receiver whose answers count as slow.
var takesLong = endpoint.Latencies{Current: endpoint.Sketch{endpoint.Bucket(2 * SlowAfter.Milliseconds()): 1}}

func TestTheSlowAttemptsOfADeadFunctionEnd(t *testing.T) {
	now := apitest.NewClock().Now()
	it := store.Item{Attributes: map[string]string{
		"alive":   "3 " + now.Add(time.Second).Format(resource.TimeLayout),
		"another": "2 " + now.Add(time.Minute).Format(resource.TimeLayout),
		"dead":    "90 " + now.Format(resource.TimeLayout), "garbage": "x",
	}}
	f := newInFlight("me", store.Key{}, takesLong, it, now)
	slices.Sort(f.dead)
	if f.others != 5 || f.full() || !slices.Equal(f.dead, []string{"dead", "garbage"}) {
		t.Errorf("%d others, dead %v", f.others, f.dead)
	}
	written := f.item(now, SlowLimit-5, f.dead)
	if dead, ok := written.Attributes["dead"]; !ok || dead != "" || len(written.Attributes) != 3 {
		t.Errorf("written %+v", written.Attributes)
	}
	met := store.Item{Attributes: map[string]string{"me": written.Attributes["me"], "alive": it.Attributes["alive"],
		"another": it.Attributes["another"]}}
	other := newInFlight("other", store.Key{}, takesLong, met, now.Add(time.Millisecond))
	if !other.full() || other.others != SlowLimit {
		t.Errorf("%d others", other.others)
	}
}

func TestDestinationsInAWSDoNotHang(t *testing.T) {
	r := &Receiver{inFlight: &inFlight{others: 1}}
	r.record.State = endpoint.StateEnabled
	now := time.Now()
	if !r.MayHang(now, false) {
		t.Error("an address does not hang")
	}
	r.record.Destination = &endpoint.Target{}
	if r.MayHang(now, false) || r.MayHang(now, true) {
		t.Error("a queue hangs")
	}
	r.record.Destination, r.record.State = nil, endpoint.StateDisabled
	if r.MayHang(now, false) {
		t.Error("one that is disabled hangs")
	}
}
