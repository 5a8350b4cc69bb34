package shape_test

import (
	"sync"
	"testing"

	"github.com/content-automation/api/pkg/shape"
)

func TestOf(t *testing.T) {
	digits := shape.Of(`^[0-9]{2,3}$`)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for text, want := range map[string]bool{"": false, "1": false, "12": true, "123": true, "1234": false, "12\n": false, "1a": false} {
				if digits(text) != want {
					t.Errorf("%q: %v", text, !want)
				}
			}
		})
	}
	all.Wait()
}

func TestAPatternIsCompiledWhenItIsAskedFor(t *testing.T) {
	broken := shape.Of(`(`)
	defer func() {
		if recover() == nil {
			t.Error("a pattern that is none matches")
		}
	}()
	broken("x")
}
