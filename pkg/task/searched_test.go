package task_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/task"
)

// The parts return the same times as a table with a time for each key.
func TestEachKeyHasItsOwnTime(t *testing.T) {
	begin := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 0))
		keys := make([]string, 40)
		for i := range keys {
			keys[i] = fmt.Sprintf("%02d", i)
		}
		want := make([]time.Time, len(keys))
		var l task.ShardParts
		var rest time.Time // of the task behind the last key
		next := 0
		for run := range 20 {
			at, from := begin.Add(time.Duration(run)*time.Minute), ""
			if next > 0 {
				from = keys[next-1]
			}
			var marks task.ShardParts
			end := next + random.IntN(len(keys)-next+1)
			if end == next && next < len(keys) {
				continue // it came to nothing
			}
			for i := next; i < end; i++ {
				if random.IntN(8) > 0 { // else its message could not be sent
					want[i] = at
				}
				marks = marks.Mark(keys[i], want[i])
			}
			if until := ""; end == len(keys) {
				marks, rest, next = marks.Mark(until, at), at, 0
				l = l.Replace(from, marks, until)
			} else {
				l, next = l.Replace(from, marks, keys[end-1]), end
			}
			for i, key := range keys {
				if got := l.At(key); !got.Equal(want[i]) {
					t.Fatalf("seed %d, run %d: %s was looked at %v, not %v: %v", seed, run, key, got, want[i], l)
				}
			}
			if got := l.At("99"); !got.Equal(rest) {
				t.Fatalf("seed %d, run %d: the rest was looked at %v, not %v", seed, run, got, rest)
			}
		}
	}
}

// Too many parts are joined, and none counts as looked at later than it was.
func TestSearchedPartsAreBounded(t *testing.T) {
	begin := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	var marks task.ShardParts
	for i := range 10 * task.MostParts {
		marks = marks.Mark(fmt.Sprintf("%05d", i), begin.Add(time.Duration(i%7)*time.Minute))
	}
	l := task.ShardParts(nil).Replace("", marks, "")
	if len(l) > task.MostParts {
		t.Errorf("there are %d", len(l))
	}
	for i := range 10 * task.MostParts {
		key := fmt.Sprintf("%05d", i)
		if got := l.At(key); got.After(marks.At(key)) {
			t.Errorf("%s was looked at %v, not %v", key, got, marks.At(key))
		}
	}
}
