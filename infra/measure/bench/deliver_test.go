package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/local/system"
)

func TestDeliveriesAreMeasured(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bin")
	if err := system.Compile(t.Context(), "../../..", system.Machine(), dir, "./functions/deliver", "./infra/measure/bench/inprocess"); err != nil {
		t.Fatal(err)
	}
	programs := deliveryPrograms{filepath.Join(dir, "deliver"), filepath.Join(dir, "inprocess")}
	const deliveries = 105 // the last batch is not full
	d, err := measureDeliveries(t.Context(), programs, deliveries, 1)
	if err != nil {
		t.Fatal(err)
	}
	if e := d.function; e.deliveries != deliveries || e.wall <= 0 || e.cpu <= 0 {
		t.Errorf("%+v", e)
	}
	if d.payload < 850 || d.payload > 1_010 || d.allocations < 10 || d.allocated < 1_000 {
		t.Errorf("payloads of %d bytes, %v allocations of %v bytes", d.payload, d.allocations, d.allocated)
	}
}

func TestAFunctionThatDeliversNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bin")
	if err := system.Compile(t.Context(), "../../..", system.Machine(), dir, "./infra/measure/bench/inprocess"); err != nil {
		t.Fatal(err)
	}
	// It is none, and ends at once.
	path := filepath.Join(dir, "inprocess")
	_, err := measureDeliveries(t.Context(), deliveryPrograms{path, path}, 10, 1)
	if err == nil || !strings.Contains(err.Error(), "ended: exit status 0\n") {
		t.Errorf("got %v", err)
	}
}

func TestTheReceiverSeesWhatIsWrong(t *testing.T) {
	c, err := newCourier(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := c.receiver.counted(1); err == nil {
		t.Error("it has not noticed that nothing came")
	}
	if _, err := c.prepare(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	if err := c.recorded(3); err == nil || err.Error() != "0 of 3 deliveries are recorded as delivered" {
		t.Errorf("got %v", err)
	}
}

func TestTheTableOfDeliveries(t *testing.T) {
	d := delivering{
		instances: 2, rounds: 3, payload: 930, allocations: 400, allocated: 52_000, function: effort{10_000, 5 * time.Second, 4 * time.Second},
	}
	got := d.markdown()
	for _, want := range []string{"| 2000 | 2500 | 0.400 |\n", "payloads of 930 bytes; 10000 deliveries", "400 allocations of 52.0 KB"} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
}
