package base_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/content-automation/api/pkg/base/lock"
)

// A goroutine that waits for the lock is blocked for as long as its holder waits for
// something else, and so lets the time pass.
func TestTheLockPassesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m lock.Mutex
		var got []int
		m.Lock()
		for i := range 3 {
			go func() {
				m.Lock()
				defer m.Unlock()
				<-time.After(time.Second)
				got = append(got, i)
			}()
			synctest.Wait()
		}
		begun := time.Now()
		m.Unlock()
		<-time.After(time.Minute)
		m.Lock()
		defer m.Unlock()
		if len(got) != 3 || got[0] != 0 || got[2] != 2 || time.Since(begun) != time.Minute {
			t.Errorf("%v after %v", got, time.Since(begun))
		}
	})
}

func TestUnlockOfALockThatIsNotHeld(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it does not panic")
		}
	}()
	new(lock.Mutex).Unlock()
}
