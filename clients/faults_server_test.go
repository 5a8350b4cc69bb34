package clients_test

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/clients/internal/faults"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// start starts the service, and returns its URL.
func start(t *testing.T) string {
	t.Helper()
	s, err := faults.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(s)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

// report returns what was wrong with the requests of a client.
func report(t *testing.T, server, client, name string) []string {
	t.Helper()
	res, err := http.Get(server + "/report/" + client + "/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var said struct{ Faults []string }
	if err := json.NewDecoder(res.Body).Decode(&said); err != nil {
		t.Fatal(err)
	}
	return said.Faults
}

func TestTheTableIsLargeAndItsNamesAreUnique(t *testing.T) {
	all, err := faults.Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, s := range all {
		if names[s.Name] || s.Why == "" || s.Expect.Error == nil && s.Expect.Data == nil && s.Expect.IDs == nil &&
			s.Call.Mode != "print" {
			t.Errorf("%s is there twice, or expects nothing", s.Name)
		}
		names[s.Name] = true
	}
	if len(all) < 30 {
		t.Errorf("there are %d scenarios", len(all))
	}
}

// TestSignaturesAreThoseOfTheOfficialLibrary signs the accepted webhooks of the table again.
func TestSignaturesAreThoseOfTheOfficialLibrary(t *testing.T) {
	all, err := faults.Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, s := range all {
		if s.Webhook == nil || s.Expect.Error != nil {
			continue
		}
		secret := s.Webhook.Secrets[len(s.Webhook.Secrets)-1]
		key := must(base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_")))
		signer, err := standardwebhooks.NewWebhookRaw(key)
		if err != nil {
			t.Fatal(err)
		}
		header := http.Header{}
		for name, value := range s.Webhook.Headers {
			header.Set(name, value)
		}
		seconds := must(strconv.ParseInt(header.Get("Webhook-Timestamp"), 10, 64))
		signature := must(signer.Sign(header.Get("Webhook-Id"), time.Unix(seconds, 0), []byte(s.Webhook.Body)))
		if !strings.Contains(header.Get("Webhook-Signature"), signature) {
			t.Errorf("%s: %s is not in %s", s.Name, signature, header.Get("Webhook-Signature"))
		}
		n++
	}
	if n < 3 {
		t.Errorf("%d webhooks are accepted", n)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestTheServiceSeesWhatIsWrong makes a request as no client would.
func TestTheServiceSeesWhatIsWrong(t *testing.T) {
	server := start(t)
	for range 2 {
		res, err := http.Post(server+"/s/nobody/success/v1/elsewhere", "application/json", strings.NewReader(`{"kind":"post"}`))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
	}
	got := strings.Join(report(t, server, "nobody", "success"), "\n")
	for _, want := range []string{"Authorization is", "User-Agent is", "has the Idempotency-Key", "its path is", "its body is",
		"no request was to come"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
	if got := report(t, server, "idle", "retry_503"); len(got) != 1 || !strings.Contains(got[0], "0 requests came, not 3") {
		t.Errorf("got %v", got)
	}
}
