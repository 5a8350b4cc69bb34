package standalone

import "testing"

func TestALargeProgramGathersLittleGarbage(t *testing.T) {
	for kept, percent := range map[uint64]int{0: 400, 1 << 20: 400, 16 << 20: 200, 30 << 20: 100, 64 << 20: 50,
		80 << 20: 40, 1 << 40: 40} {
		if got := garbagePercent(kept); got != percent {
			t.Errorf("%d bytes: %d %%, not %d", kept, got, percent)
		}
	}
}
