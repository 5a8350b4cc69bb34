package webhook_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

func TestADeliveryHasALineInTheLog(t *testing.T) {
	w := deliverNewWorld(t)
	r := w.Receive(deliverAnswers(500, 204), "*")
	var log, counts bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewJSONHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	out := metric.SetOutput(&counts)
	t.Cleanup(func() { metric.SetOutput(out) })
	it, err := event.New(w.Clock.Now(), w.Owner(), event.ContentGenerated,
		map[string]any{"id": "cnt_1", "title": "Ada Lovelace"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	tx := &store.Tx{Origin: "1763812345678-r"}
	tx.Create(it, nil)
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	if it, err = w.DB.Get(t.Context(), it.Key); err != nil {
		t.Fatal(err)
	}
	w.Publish(event.RefOf(it))
	w.Run()
	var got []string
	for line := range strings.Lines(log.String()) {
		var l map[string]any
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if l["msg"] != "delivery" {
			continue
		}
		if l["request_id"] != "1763812345678-r" || l["account_id"] != string(w.Owner().Account) ||
			l["webhook_id"] != r.Hook.ID || l["event_id"] != it.PK || l["delivery_id"] == "" {
			t.Errorf("%s", line)
		}
		b, err := json.Marshal([]any{l["attempt"], l["outcome"], l["status"]})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(b))
	}
	if strings.Join(got, " ") != `[1,"pending",500] [2,"delivered",204]` {
		t.Errorf("the lines are %v", got)
	}
	for _, private := range []string{"Lovelace", *r.Hook.URL, "whsec_"} {
		if strings.Contains(log.String(), private) {
			t.Errorf("the log has %q", private)
		}
	}
	if month, err := account.ReadLevels(t.Context(), w.DB, w.Owner(), w.Clock.Now()); err != nil ||
		month.Deliveries.Calls != 1 || month.Deliveries.Failed != 0 {
		t.Errorf("counted %+v, %v", month, err)
	}
	if n := strings.Count(counts.String(), `"DeliveriesSucceeded":1`); n != 1 ||
		strings.Contains(counts.String(), "DeliveriesFailed") {
		t.Errorf("counted %s", counts.String())
	}
}
