package main

import "testing"

func TestASilentReceiverCostsLittle(t *testing.T) {
	m := counts(t)
	o := outageOf(m.outage, inVirginia)
	t.Logf("%+v", o)
	if sum := o.held + o.probes; sum > 5 {
		t.Errorf("a million held events cost $%.2f a day", sum)
	}
	if sum := o.held + o.probes + o.returned; sum > 5 {
		t.Errorf("with their return they cost $%.2f", sum)
	}
	for _, l := range o.loads {
		if l.units <= 0 || l.units > hottest {
			t.Errorf("%s, during the outage: %v: %.0f write units a second", l.what, l.during, l.units)
		}
	}
	// An event whose receiver is silent costs the table no more than any other.
	if healthy := m.delivery.table.Writes; o.heldUnits+o.returnedUnits > healthy {
		t.Errorf("a held delivery takes %.2f and %.2f write units, and another one %.2f", o.heldUnits, o.returnedUnits,
			healthy)
	}
}
