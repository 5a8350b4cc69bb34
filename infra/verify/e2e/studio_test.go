package e2e

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

// generation has the members that the tests read.
type generation struct {
	ID, State   string
	CostCredits int64 `json:"cost_credits"`
	Media       []struct{ URL, Type string }
	Failure     *struct{ Code string }
}

// generated waits for the end of a generation.
func generated(t *testing.T, secret, generationID string) (g generation) {
	t.Helper()
	poll.Until(t, "the end of "+generationID, func() bool {
		g = into[generation](call(t, secret, http.MethodGet, "/v1/studio/generations/"+generationID, nil),
			http.StatusOK)
		return g.State != "queued" && g.State != "generating"
	})
	return g
}

// status returns the status of a request to a signed address.
func status(t *testing.T, url string) int {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

func TestStudio(t *testing.T) {
	secret := newCustomer(t).test.Secret
	for path, c := range map[string]struct {
		body  object
		media string
	}{
		"videos":  {object{"prompt": "A shoe", "aspect_ratio": "9:16"}, "video"},
		"images":  {object{"prompt": "A shoe"}, "image"},
		"music":   {object{"prompt": "Calm piano"}, "audio"},
		"voices":  {object{"text": "Made of nets."}, "audio"},
		"avatars": {object{"text": "Made of nets.", "image_url": running.BaseURL + "/healthz"}, "video"},
	} {
		t.Run(path, func(t *testing.T) {
			made := into[generation](call(t, secret, http.MethodPost, "/v1/studio/"+path, c.body), http.StatusAccepted)
			got := generated(t, secret, made.ID)
			if got.State != "generated" || len(got.Media) == 0 || got.Media[0].Type != c.media || got.CostCredits != 0 {
				t.Fatalf("%+v", got)
			}
			if s := status(t, got.Media[0].URL); s != http.StatusOK {
				t.Errorf("its file answers %d", s)
			}
			into[generation](call(t, secret, http.MethodDelete, "/v1/studio/generations/"+made.ID, nil), http.StatusOK)
			poll.Until(t, "the removal of its file",
				func() bool { return status(t, got.Media[0].URL) == http.StatusNotFound })
		})
	}
}

// TestGenerationsAndEntriesAreListed reads pages whose cursors the system seals.
func TestGenerationsAndEntriesAreListed(t *testing.T) {
	c := newCustomer(t)
	c.topUp(1000)
	secret := c.live.Secret
	for range 2 {
		made := into[generation](call(t, secret, http.MethodPost, "/v1/studio/images", object{"prompt": "A shoe"}),
			http.StatusAccepted)
		generated(t, secret, made.ID)
	}
	for _, path := range []string{"/v1/studio/generations", "/v1/balance/entries"} {
		seen := map[string]bool{}
		for cursor := ""; len(seen) < 2; {
			a := call(t, secret, http.MethodGet, path+"?limit=1"+cursor, nil)
			page := into[[]json.RawMessage](a, http.StatusOK)
			if len(page) != 1 || seen[string(page[0])] {
				t.Fatalf("%s: %s after %v", path, a.Raw, seen)
			}
			if seen[string(page[0])] = true; len(seen) < 2 {
				if a.NextCursor == nil {
					t.Fatalf("%s has one page: %s", path, a.Raw)
				}
				cursor = "&cursor=" + *a.NextCursor
			}
		}
	}
}
