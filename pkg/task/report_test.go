package task_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// A task, the task that it creates and the event of its end are all found by the request
// that began it.
func TestStepsAreLoggedWithTheRequestThatBeganThem(t *testing.T) {
	var log, counts bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewJSONHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	out := metric.SetOutput(&counts)
	t.Cleanup(func() { metric.SetOutput(out) })
	const request = "1763812345678-r"
	h := &handler{}
	w := newWorld(t, h)
	child := func(tx *store.Tx, id string) error {
		return task.Create(tx, w.clock.Now(),
			task.Task{Message: task.Message{ID: id, Kind: count, Queue: topology.GenerateText, Subject: "thing",
				Owner: owner}, Label: "video"}, 1)
	}
	tx := &store.Tx{Origin: request}
	if err := child(tx, "task#2"); err != nil {
		t.Fatal(err)
	}
	if err := w.db.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	h.step = func(_ context.Context, s *task.Step) (task.Outcome, error) {
		w.clock.Add(7 * time.Millisecond)
		return task.Outcome{Done: s.Task.Step == 2, Join: func(_ context.Context, tx *store.Tx) error {
			if s.Task.Step == 1 {
				return nil
			}
			e, err := event.New(w.clock.Now(), owner, event.ContentGenerated, map[string]any{"id": "thing"}, nil)
			if err != nil {
				return err
			}
			tx.Create(e, nil)
			return child(tx, "task#3")
		}}, nil
	}
	for step := 1; step <= 2; step++ {
		if _, err := w.kernel.Do(t.Context(), task.Message{ID: "task#2", Step: step}, ""); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for line := range strings.Lines(log.String()) {
		var l map[string]any
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(l["msg"], " ", l["request_id"], " ", l["account_id"], " ", l["kind"], " ",
			l["step"], " ", l["outcome"], " ", l["ms"], " ", l["age_ms"]))
	}
	if want := "step " + request + " acc_1 count 1 next 7 7, step " + request +
		" acc_1 count 2 done 7 14"; strings.Join(got, ", ") != want {
		t.Errorf("logged %v, want %s", got, want)
	}
	if !strings.Contains(counts.String(), `"TaskMilliseconds":14`) ||
		!strings.Contains(counts.String(), `"kind":"count-video"`) {
		t.Errorf("measured %s", counts.String())
	}
	month, err := account.ReadLevels(t.Context(), w.db, owner, w.clock.Now())
	if err != nil || len(month.Generations) != 1 || month.Generations[0].Of != "video" ||
		month.Generations[0].Calls != 1 || month.Generations[0].Failed != 0 {
		t.Errorf("counted %+v, %v", month, err)
	}
	found := 0
	for _, row := range storetest.Rows(t, w.db) {
		if row["kind"] == event.Kind && row["x_request"] == request || row["pk"] == "task#3" &&
			strings.Contains(row["doc"], `"request_id":"`+request+`"`) {
			found++
		}
	}
	if found != 2 {
		t.Errorf("%d of the event and the task that follow have the request", found)
	}
}

// failures returns the number of HandledFailures that f counts in a function of Lambda.
func failures(t *testing.T, f func()) int {
	t.Helper()
	var counts bytes.Buffer
	out, name, version := metric.SetOutput(&counts), lambdacontext.FunctionName, lambdacontext.FunctionVersion
	defer func() {
		metric.SetOutput(out)
		lambdacontext.FunctionName, lambdacontext.FunctionVersion = name, version
	}()
	lambdacontext.FunctionName, lambdacontext.FunctionVersion = "acme-prod-generate", "9"
	f()
	return strings.Count(counts.String(), `"HandledFailures":1`)
}

// The gate of a release sees that a version fails all its work, although no run of it fails.
func TestFailuresOfStepsCountForTheirRelease(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"success":               {nil, 0},
		"a defect":              {errNo, 1},
		"a failure for good":    {task.Permanent(errNo), 1},
		"a call that must wait": {busy{errNo}, 0},
	} {
		h := &handler{step: func(context.Context, *task.Step) (task.Outcome, error) { return task.Outcome{}, c.err },
			fail: func(context.Context, *task.Step, error) (task.Outcome, error) { return task.Outcome{}, nil }}
		w := newWorld(t, h)
		if got := failures(t, func() { w.do(1, 1) }); got != c.want {
			t.Errorf("%s: %d failures, want %d", name, got, c.want)
		}
	}
}
