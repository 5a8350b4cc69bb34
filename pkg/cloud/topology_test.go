package cloud_test

import (
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/cloud/topology"
)

func TestEveryQueueHasOneConsumer(t *testing.T) {
	consumers := map[topology.Queue][]string{}
	for _, f := range topology.Functions {
		if (f.Trigger == topology.ByQueue) != (len(f.Consumes) > 0) {
			t.Errorf("%s consumes %v", f.Name, f.Consumes)
		}
		for _, q := range f.Consumes {
			consumers[q] = append(consumers[q], f.Name)
		}
		for _, q := range slices.Concat(f.Consumes, f.Sends) {
			if !slices.Contains(topology.Queues, q) {
				t.Errorf("%s uses %s, which is not in Queues", f.Name, q)
			}
		}
	}
	for _, q := range topology.Queues {
		if names := consumers[q]; len(names) != 1 || q.Consumer().Name != names[0] {
			t.Errorf("%s has the consumers %v", q, names)
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range topology.Functions {
		if seen[f.Name] || topology.FunctionNamed(f.Name).Name != f.Name {
			t.Errorf("the function %s is listed twice", f.Name)
		}
		seen[f.Name] = true
	}
	sources := topology.DeadLetters()
	if distinct := slices.Compact(slices.Sorted(slices.Values(sources))); len(distinct) != len(sources) {
		t.Errorf("two sources of dead letters share a name: %v", sources)
	}
	for _, want := range []string{"event", "generate-video", "deliver-slow", "relay", "due"} {
		if !slices.Contains(sources, want) {
			t.Errorf("%s has no dead letters: %v", want, sources)
		}
	}
}

func TestNamesOfAQueue(t *testing.T) {
	q := topology.DeliverSlow
	if q.EnvName() != "DELIVER_SLOW_QUEUE_URL" || q.Output() != "DeliverSlowQueueUrl" ||
		topology.DeadLettersOutput(string(q)) != "DeliverSlowDeadLettersUrl" {
		t.Errorf("%s, %s, %s", q.EnvName(), q.Output(), topology.DeadLettersOutput(string(q)))
	}
}

func TestTimesOfAQueue(t *testing.T) {
	for holds, want := range map[bool]struct {
		visibility time.Duration
		receives   int
	}{true: {2 * time.Minute, 15}, false: {12 * time.Minute, 5}} {
		f := topology.Function{Timeout: 2 * time.Minute, ExtendsVisibility: holds}
		if f.Visibility() != want.visibility || f.Receives() != want.receives {
			t.Errorf("holds: %v; invisible for %v, received %d times", holds, f.Visibility(), f.Receives())
		}
	}
	for _, q := range topology.Queues {
		if f := q.Consumer(); q.Visibility() != f.Visibility() || q.Receives() != f.Receives() {
			t.Errorf("%s: invisible for %v, received %d times", q, q.Visibility(), q.Receives())
		}
	}
}

// While the functions of an account are throttled, messages are received and hidden
// again without a try.
func TestNoMessageDiesOfThrottling(t *testing.T) {
	for _, q := range topology.Queues {
		if lasts := time.Duration(q.Receives()) * q.Visibility(); lasts < 15*time.Minute || q.Receives() > 1000 {
			t.Errorf("a message of %s is dead after %d receives, %v", q, q.Receives(), lasts)
		}
	}
}

func TestEveryConsumerOfQueuesHasACap(t *testing.T) {
	for _, f := range topology.Functions {
		// Lambda takes 2 to 1,000.
		if capped := f.Concurrency >= 2 && f.Concurrency <= 1000; capped != (f.Trigger == topology.ByQueue) {
			t.Errorf("%s has the concurrency %d", f.Name, f.Concurrency)
		}
	}
}

func TestWhatIsNotInTheTablePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it returned a function")
		}
	}()
	topology.FunctionNamed("none")
}
