package schema

import (
	"reflect"
	"sync"
	"testing"
)

// The schema of a type is made once, however many check values by it at a time, and once more for patches.
func TestASchemaIsMadeOnce(t *testing.T) {
	type body struct {
		Name string `json:"name" minLength:"2"`
	}
	of := reflect.TypeFor[body]()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := Check(of, "settings", map[string]any{"name": "a"}); err == nil {
				t.Error("a short name is no fault")
			}
			if err := CheckPatch(of, map[string]any{"name": "ab"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	first := checkerOf(of, false)
	if first != checkerOf(of, false) || first == checkerOf(of, true) {
		t.Error("the checkers of a type are others than those before")
	}
	few := testing.AllocsPerRun(100, func() { _ = Check(of, "settings", map[string]any{"name": "ab"}) })
	if few > 20 {
		t.Errorf("a check makes %.0f objects", few)
	}
}
