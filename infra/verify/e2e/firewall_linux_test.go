package e2e

import (
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
)

// from returns a client that calls from another address of this machine.
func from(address string) *http.Client {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	return &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 8},
		Timeout: patience}
}

// statusOf calls a path, and returns the status and the header Retry-After.
func statusOf(t *testing.T, client *http.Client, path, key string) (status int, wait string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, running.BaseURL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Error(err)
	}
	return resp.StatusCode, resp.Header.Get("Retry-After")
}

func TestAnAddressThatSendsNoValidKeyIsRefused(t *testing.T) {
	key := newCustomer(t).test.Secret
	flood := from("127.0.0.77")
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for range keylessLimit / 4 {
				if status, _ := statusOf(t, flood, "/nothing", ""); status != http.StatusNotFound {
					t.Errorf("within the limit: %d", status)
					return
				}
			}
		})
	}
	callers.Wait()
	for name, guess := range map[string]string{"no key": "", "a guessed key": "svc_test_guess"} {
		if status, wait := statusOf(t, flood, "/v1/me", guess); status != http.StatusTooManyRequests || wait != "300" {
			t.Errorf("%s: %d, Retry-After %s", name, status, wait)
		}
	}
	if status, _ := statusOf(t, flood, "/v1/me", key); status != http.StatusOK {
		t.Errorf("a valid key: %d", status)
	}
	if status, _ := statusOf(t, from("127.0.0.78"), "/v1/me", ""); status != http.StatusUnauthorized {
		t.Errorf("another address: %d", status)
	}
}
