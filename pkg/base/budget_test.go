package base_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/content-automation/api/infra/verify/harness/cost"
	"github.com/content-automation/api/pkg/base/budget"
)

var small = budget.Budget{Name: "test", Bytes: 100, Elements: 5, Depth: 2, Time: time.Second}

func TestEachBoundEndsAReader(t *testing.T) {
	for name, read := range map[string]func(*budget.Meter) error{
		"bytes": func(m *budget.Meter) error { return m.Bytes(101) },
		"a reader": func(m *budget.Meter) error {
			_, err := io.Copy(io.Discard, m.Reader(strings.NewReader(strings.Repeat("a", 101))))
			return err
		},
		"elements": func(m *budget.Meter) error { return m.Count(6) },
		"depth":    func(m *budget.Meter) error { return errors.Join(m.Enter(), m.Enter(), m.Enter()) },
	} {
		m, end := small.Begin(t.Context())
		if err := read(m); !errors.Is(err, budget.ErrExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		end()
	}
	m, end := small.Begin(t.Context())
	defer end()
	if err := errors.Join(m.Bytes(100), m.Count(3), m.Enter(), m.Enter(), m.Err()); err != nil {
		t.Errorf("up to the bounds: %v", err)
	}
}

// A bound that is left out permits nothing.
func TestABudgetOfNothing(t *testing.T) {
	if err := (budget.Budget{}).JSON(t.Context(), []byte("1")); !errors.Is(err, budget.ErrExceeded) {
		t.Error(err)
	}
}

func TestTheTimeAndTheContextEndAReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, end := small.Begin(t.Context())
		defer end()
		<-time.After(small.Time + 1)
		if err := m.Count(1); !errors.Is(err, budget.ErrExceeded) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after the time: %v", err)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m, end := small.Begin(ctx)
	defer end()
	if _, err := m.Reader(strings.NewReader("a")).Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context: %v", err)
	}
}

func TestValuesOfJSONAreCounted(t *testing.T) {
	for text, most := range map[string]bool{
		`[1,2,3,4]`: true, `[1,2,3,4,5]`: false, `{"a":[]}`: true, `{"a":[{}]}`: false, `"[[[[,,,,,,"`: true,
		`"\"[[[[,,,,,,"`: true, `{"a":1,"b":2,"c":3,"d":4}`: true, `{"a":1,"b":2,"c":3,"d":4,"e":5}`: false,
	} {
		if err := small.JSON(t.Context(), []byte(text)); (err == nil) != most {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestWorstCaseJSON(t *testing.T) {
	b := budget.Budget{Name: "test", Bytes: 16 << 20, Elements: 1 << 30, Depth: 1 << 30, Time: time.Minute}
	for name, text := range map[string]string{"values": strings.Repeat(",", 8<<20), "depth": strings.Repeat("[", 8<<20),
		"text": `"` + strings.Repeat(`\"`, 4<<20)} {
		body := []byte(text)
		cost.AtMost(t, "JSON of "+name, func() {
			if err := b.JSON(t.Context(), body); err != nil {
				t.Error(err)
			}
		})
	}
}
