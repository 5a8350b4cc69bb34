package e2e

import (
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

// TestDeliveries follows an event through the log of deliveries, rotates the webhook's secret,
// and repeats the delivery.
func TestDeliveries(t *testing.T) {
	c := newCustomer(t)
	key := c.test.Secret
	hooks := newReceiver(t)
	first := hooks.subscribe(t, key, "content.*")
	item := into[contentItem](call(t, key, "POST", "/v1/content-items", object{
		"factory_id": c.factory(key), "kind": "post", "prompt": "A shoe",
	}), http.StatusAccepted)

	type webhook struct {
		ID, State, Secret string
		LastSuccess       *string `json:"last_success_at"`
		Latency           *struct {
			P50   int `json:"p50_ms"`
			P90   int `json:"p90_ms"`
			P99   int `json:"p99_ms"`
			Count int
		} `json:"latency_ms"`
	}
	type delivery struct {
		ID       string `json:"id"`
		EventID  string `json:"event_id"`
		State    string `json:"state"`
		Attempts []struct {
			Status int     `json:"status"`
			Error  *string `json:"error"`
		} `json:"attempts"`
	}
	hook := into[[]webhook](call(t, key, "GET", "/v1/webhooks", nil), http.StatusOK)[0]
	path := "/v1/webhooks/" + hook.ID
	var made []delivery
	poll.Until(t, "the delivery", func() bool {
		made = into[[]delivery](call(t, key, "GET", path+"/deliveries?state=delivered", nil), http.StatusOK)
		return len(made) == 1
	})
	sent := hooks.about(item.ID)
	if len(sent) != 1 || made[0].EventID != sent[0].event.ID || len(made[0].Attempts) != 1 ||
		made[0].Attempts[0].Status != 204 || made[0].Attempts[0].Error != nil {
		t.Errorf("%d requests, delivery %+v", len(sent), made[0])
	}
	if h := into[webhook](call(t, key, "GET", path, nil), http.StatusOK); h.LastSuccess == nil ||
		h.State != "enabled" ||
		h.Latency == nil || h.Latency.Count != 1 || h.Latency.P50 < 1 || h.Latency.P50 != h.Latency.P99 {
		t.Errorf("webhook %+v", h)
	}

	second := into[webhook](call(t, key, "POST", path+"/rotate-secret", nil), http.StatusOK).Secret
	again := into[delivery](call(t, key, "POST", path+"/deliveries/"+made[0].ID+"/redeliver", nil), http.StatusAccepted)
	if again.ID != made[0].ID || again.State != "pending" {
		t.Errorf("redelivered %+v", again)
	}
	poll.Until(t, "the repeat", func() bool { return len(hooks.about(item.ID)) == 2 })
	repeat := hooks.about(item.ID)[1]
	if id := repeat.header.Get("webhook-id"); id != made[0].EventID {
		t.Errorf("the repeat has the id %s, not %s", id, made[0].EventID)
	}
	if n := len(strings.Fields(repeat.header.Get("webhook-signature"))); n != 2 {
		t.Errorf("%d signatures after a rotation", n)
	}
	for _, secret := range []string{first, second} {
		verifier, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Fatal(err)
		}
		if err := verifier.Verify(repeat.body, repeat.header); err != nil {
			t.Errorf("signature: %v", err)
		}
	}
	poll.Until(t, "the second attempt's record", func() bool {
		d := into[[]delivery](call(t, key, "GET", path+"/deliveries", nil), http.StatusOK)
		return len(d) == 1 && d[0].State == "delivered" && len(d[0].Attempts) == 2
	})
	into[object](call(t, key, "DELETE", path, nil), http.StatusOK)
	if err := call(t, key, "GET", path, nil).refused(http.StatusNotFound, "not_found"); err != nil {
		t.Error(err)
	}
}

// TestASampleOfAReceiverThatIsDown sends samples to a receiver that counts as down. Each is
// tried at once, and the first success ends the outage.
func TestASampleOfAReceiverThatIsDown(t *testing.T) {
	key := newCustomer(t).test.Secret
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	type delivery struct {
		ID         string    `json:"id"`
		EventID    string    `json:"event_id"`
		State      string    `json:"state"`
		WaitingFor *string   `json:"waiting_for"`
		CreatedAt  time.Time `json:"created_at"`
		Attempts   []struct {
			At time.Time `json:"at"`
		} `json:"attempts"`
	}
	path := "/v1/webhooks/" + into[struct{ ID string }](call(t, key, "POST", "/v1/webhooks", object{
		"url": "http://" + l.Addr().String(), "event_types": []string{"balance.low"},
	}), http.StatusCreated).ID
	all := func() []delivery {
		return into[[]delivery](call(t, key, "GET", path+"/deliveries", nil), http.StatusOK)
	}
	sample := func() delivery {
		return into[delivery](call(t, key, "POST", path+"/test", object{"event_type": "balance.low"}),
			http.StatusAccepted)
	}
	down := func(d delivery) bool { return d.WaitingFor != nil && *d.WaitingFor == "circuit_breaker" }
	for range 5 {
		sample()
	}
	poll.Until(t, "an open circuit breaker", func() bool { return slices.ContainsFunc(all(), down) })
	tried := sample()
	poll.Until(t, "an attempt while the receiver is down", func() bool {
		i := slices.IndexFunc(all(), func(d delivery) bool { return d.ID == tried.ID })
		tried = all()[i]
		return len(tried.Attempts) > 0
	})
	if took := tried.Attempts[0].At.Sub(tried.CreatedAt); took > 10*time.Second || !down(tried) {
		t.Errorf("tried after %v: %+v", took, tried)
	}

	if l, err = net.Listen("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	back := &httptest.Server{Listener: l,
		Config: &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}}
	back.Start()
	t.Cleanup(back.Close)
	last := sample()
	poll.Until(t, "the end of the outage", func() bool {
		waits := func(d delivery) bool { return d.State != "delivered" && (d.ID == last.ID || d.ID == tried.ID) }
		return !slices.ContainsFunc(all(), waits)
	})
}
