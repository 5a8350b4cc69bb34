package main

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/pkg/store"
)

// behindProxy is a proxy to a server that records the requests that reach it.
type behindProxy struct {
	*proxy
	mu   sync.Mutex
	came []string
}

func newBehindProxy(t *testing.T) *behindProxy {
	t.Helper()
	b := &behindProxy{}
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.came = append(b.came, r.Host+r.URL.RequestURI()+" "+string(body))
		_, _ = fmt.Fprintf(w, "answer %d", len(b.came))
	}))
	t.Cleanup(backend.Close)
	p, err := newProxy(t.Context(), "", ofAWS)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	b.proxy = p
	if seen, err := p.through(backend.URL); err != nil || seen != p.address {
		t.Fatalf("functions see %s, %v", seen, err)
	}
	return b
}

// post makes a call of AWS. It returns lost if no response came.
func (b *behindProxy) post(t *testing.T, target, body string) (status int, answer string, lost bool) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.address+"/path?query=1",
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Amz-Target", target)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", true
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err != nil
}

func (b *behindProxy) reached() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.came...)
}

func TestCallsPassAsTheyAre(t *testing.T) {
	b := newBehindProxy(t)
	status, text, _ := b.post(t, "DynamoDB_20120810.PutItem", "body")
	address, err := url.Parse(b.address)
	if err != nil {
		t.Fatal(err)
	}
	// The signature covers the host, so the proxy must not change it.
	if came := b.reached(); status != http.StatusOK || text != "answer 1" || len(came) != 1 || came[0] != address.Host+
		"/path?query=1 body" {
		t.Errorf("got %d %q; there came %q", status, text, came)
	}
	if calls := b.calls(); calls[step{operation: "PutItem"}] != 1 || len(calls) != 1 {
		t.Errorf("it has seen %v", calls)
	}
}

func TestALostAnswer(t *testing.T) {
	b := newBehindProxy(t)
	b.add(&fault{do: loseAnswer})
	if status, answer, lost := b.post(t, "A.Write", "even"); !lost {
		t.Errorf("got %d %q", status, answer)
	}
	poll.Until(t, "the gate is reached", func() bool { return len(b.reached()) == 1 })
	if _, _, lost := b.post(t, "A.Write", "even"); lost || len(b.reached()) != 2 {
		t.Errorf("the next call does not pass: %q", b.reached())
	}
}

func TestWhichCallsAFaultMeets(t *testing.T) {
	write := step{function: "deliver", operation: "PutItem", with: "claim"}
	c := func(function, operation, body string) call {
		return call{process: process{function: function}, operation: operation, body: []byte(body)}
	}
	ours := c("deliver", "PutItem", `{"claim":1}`)
	for name, test := range map[string]struct {
		fault *fault
		calls []call
		want  string // for each call, whether the fault applies to it
	}{
		"the first": {&fault{at: []step{write}}, []call{ours, ours}, "x."},
		"all":       {&fault{times: -1}, []call{ours, c("", "", "")}, "xx"},
		"others pass": {&fault{at: []step{write}},
			[]call{c("relay", "PutItem", "claim"), c("deliver", "Query", "claim"), c("deliver", "PutItem", "x"),
				ours}, "...x"},
		"any of several": {&fault{at: []step{{operation: "A"}, {operation: "B"}}, times: -1},
			[]call{c("x", "A", ""), c("y", "B", ""), c("y", "C", "")}, "xx."},
		"every third": {&fault{every: 3, times: 2}, []call{ours, ours, ours, ours, ours, ours,
			ours}, "x..x..."},
		"others do not count": {&fault{at: []step{write}, skip: 1}, []call{c("", "", ""), ours, c("", "", ""),
			ours}, "...x"},
		"after some": {&fault{skip: 2, every: 2, times: -1}, []call{ours, ours, ours, ours, ours}, "..x.x"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, c := range test.calls {
				if test.fault.due(c) {
					got += "x"
				} else {
					got += "."
				}
			}
			if got != test.want {
				t.Errorf("met are %s, want %s", got, test.want)
			}
		})
	}
}

func TestAFaultThatIsRemovedIsOver(t *testing.T) {
	b := newBehindProxy(t)
	f := &fault{times: -1, do: loseAnswer}
	b.add(f)
	if _, _, lost := b.post(t, "A.Write", "x"); !lost {
		t.Error("the fault did not happen")
	}
	b.remove(f)
	if status, _, _ := b.post(t, "A.Write", "odd"); status != http.StatusOK {
		t.Errorf("got %d", status)
	}
}

func TestOperations(t *testing.T) {
	for want, header := range map[string]http.Header{
		"PutEvents": {"X-Amz-Target": {"AWSEvents.PutEvents"}},
		"PUT s3": {"Authorization": {"AWS4-HMAC-SHA256 Credential=AKID/20260101/us-east-1/s3/aws4_request, " +
			"SignedHeaders=host, Signature=x"}},
		"PUT": {},
	} {
		if got := ofAWS(&http.Request{Method: http.MethodPut, Header: header}); got != want {
			t.Errorf("%v is %q, want %q", header, got, want)
		}
	}
}

func TestStepsSeeCompressedDocuments(t *testing.T) {
	doc := store.Pack([]byte(`{"id":"task#1","lease":{"holder":"1"}}`))
	body := fmt.Sprintf(`{"Item":{"packed":{"B":"%s"},"kind":{"S":"task"}}}`, base64.StdEncoding.EncodeToString(doc))
	leases := step{operation: "PutItem", with: `\"lease\":{`}
	if c := (call{operation: "PutItem", body: []byte(body)}); !leases.of(c) || !(step{with: `{"S":"task"}`}).of(c) {
		t.Errorf("%s is not seen as %s", body, readable(c.body))
	}
	if odd := `{"Item":{"packed":{"B":"eA=="}}}`; readable([]byte(odd)) != odd {
		t.Errorf("%s became %s", odd, readable([]byte(odd)))
	}
}
