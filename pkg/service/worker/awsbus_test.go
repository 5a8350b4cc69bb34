package worker_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/service/worker/awsbus"
	"github.com/content-automation/api/pkg/task/queue"
)

// busAt returns a bus whose calls get an answer, and the entries of the last call.
func busAt(t *testing.T, status int, answer string) (awsbus.Bus, *[]map[string]string) {
	var in struct{ Entries []map[string]string }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(body, &in)
		}
		if err != nil || r.Header.Get("X-Amz-Target") != "AWSEvents.PutEvents" {
			t.Errorf("%v: %s of %s", err, body, r.Header.Get("X-Amz-Target"))
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return awsbus.New(aws.Config{Region: "eu-central-1", BaseEndpoint: &server.URL,
		Retryer: func() aws.Retryer { return aws.NopRetryer{} }}, "acme-prod"), &in.Entries
}

func TestEventsArePublished(t *testing.T) {
	bus, entries := busAt(t, http.StatusOK, `{"FailedEntryCount": 1, "Entries": [{"EventId": "1"},
		{"ErrorCode": "InternalFailure", "ErrorMessage": "injected"}]}`)
	failed, err := bus.Publish(t.Context(), []worker.BusEvent{{Type: "content.generated", Detail: `{"id":"evt_1"}`},
		{Type: "balance.low", Detail: `{"id":"evt_2"}`}})
	if err != nil || len(failed) != 2 || failed[0] != nil {
		t.Fatalf("got %v, %v", failed, err)
	}
	var refused *queue.RefusedEntry
	if !errors.As(failed[1], &refused) || *refused != (queue.RefusedEntry{Code: "InternalFailure", Message: "injected"}) {
		t.Errorf("got %v", failed[1])
	}
	var sent []string
	for _, e := range *entries {
		sent = append(sent, e["EventBusName"]+" "+e["Source"]+" "+e["DetailType"]+" "+e["Detail"])
	}
	if want := []string{`acme-prod content-automation content.generated {"id":"evt_1"}`,
		`acme-prod content-automation balance.low {"id":"evt_2"}`}; !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
}

func TestABusThatIsDown(t *testing.T) {
	bus, _ := busAt(t, http.StatusServiceUnavailable, `{}`)
	if failed, err := bus.Publish(t.Context(), []worker.BusEvent{{Type: "balance.low", Detail: "{}"}}); err == nil {
		t.Errorf("got %v", failed)
	}
}
