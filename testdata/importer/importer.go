package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// atOnce is the number of concurrent calls. It suffices for 600 calls a minute if each takes
// less than 400 ms.
const atOnce = 4

// tries is the greatest number of attempts of a call that may succeed later.
const tries = 12

// importer imports the rows of a file.
type importer struct {
	base, key, factory string
	http               interface {
		Do(*http.Request) (*http.Response, error)
	}
	sleep func(ctx context.Context, until time.Time) error
	now   func() time.Time
	out   io.Writer

	mu sync.Mutex
	// until is the time before which no call is made.
	until                            time.Time
	calls, created, changed, refused atomic.Int64
}

// answer is a response of the service.
type answer struct {
	Data  json.RawMessage `json:"data"`
	Error *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// found has the members of a product that the importer compares.
type found struct {
	ID     string            `json:"id"`
	Photos []json.RawMessage `json:"photos"`
}

// all imports rows, several at a time. A row that is refused does not stop the others.
func (i *importer) all(ctx context.Context, rows []row) error {
	began := i.now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan row)
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for r := range next {
				if err := i.one(ctx, r); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, r := range rows {
		select {
		case next <- r:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	_, _ = fmt.Fprintf(i.out, "%d products in %s: %d created, %d changed, %d refused, by %d calls\n",
		len(rows), i.now().Sub(began).Round(time.Second), i.created.Load(), i.changed.Load(), i.refused.Load(),
		i.calls.Load())
	return context.Cause(ctx)
}

// one imports a row. It creates the product, or changes the product with the SKU.
func (i *importer) one(ctx context.Context, r row) error {
	r.FactoryID = i.factory
	a, err := i.call(ctx, http.MethodPost, "/v1/products", r)
	if err != nil {
		return err
	}
	count := &i.created
	var p found
	if a.Error != nil && a.Error.Code == "duplicate" {
		listed, err := i.call(ctx, http.MethodGet, "/v1/products?"+url.Values{"factory_id": {i.factory},
			"sku": {r.SKU}}.Encode(), nil)
		var all []found
		if err != nil || listed.into(&all) != nil || len(all) == 0 {
			return errors.Join(err, fmt.Errorf("the product with the SKU %s was not found", r.SKU))
		}
		p, r.FactoryID, count = all[0], "", &i.changed
		if a, err = i.call(ctx, http.MethodPatch, "/v1/products/"+p.ID, r); err != nil {
			return err
		}
	}
	if a.Error == nil {
		err = a.into(&p)
	}
	if a.Error == nil && err == nil && r.photo != "" && len(p.Photos) == 0 {
		a, err = i.call(ctx, http.MethodPost, "/v1/products/"+p.ID+"/photos", map[string]string{"source_url": r.photo})
	}
	if a.Error != nil {
		i.refused.Add(1)
		_, _ = fmt.Fprintf(i.out, "row %d: %s: %s: %s\n", r.number, r.SKU, a.Error.Code, a.Error.Message)
		return err
	}
	count.Add(1)
	return err
}

func (a answer) into(v any) error {
	if a.Error != nil {
		return fmt.Errorf("%s: %s", a.Error.Code, a.Error.Message)
	}
	return json.Unmarshal(a.Data, v)
}

// call makes a call, and repeats it while it may succeed later. All attempts have the same
// Idempotency-Key. The key is derived from the call, so a later run uses it too.
func (i *importer) call(ctx context.Context, method, path string, body any) (a answer, err error) {
	var sent []byte
	if body != nil {
		if sent, err = json.Marshal(body); err != nil {
			return a, err
		}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %s", method, path, sent))
	for try := range tries {
		if err := i.wait(ctx); err != nil {
			return a, err
		}
		var req *http.Request
		req, err = http.NewRequestWithContext(ctx, method, i.base+path, bytes.NewReader(sent))
		if err != nil {
			return a, err
		}
		req.Header.Set("Authorization", "Bearer "+i.key)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", hex.EncodeToString(sum[:]))
		i.calls.Add(1)
		at := i.now()
		var resp *http.Response
		resp, err = i.http.Do(req)
		if err != nil {
			i.hold(at, try+1) // The response may be lost: a repeat gets it.
			continue
		}
		a = answer{}
		err = json.NewDecoder(resp.Body).Decode(&a)
		_ = resp.Body.Close()
		i.pace(at, resp.Header)
		switch again := resp.StatusCode == http.StatusTooManyRequests ||
			resp.StatusCode >= http.StatusInternalServerError; {
		case !again:
			return a, err
		case resp.Header.Get("Retry-After") == "":
			i.hold(at, try+1)
		default:
			seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
			i.hold(at, seconds)
		}
	}
	if a.Error != nil {
		err = fmt.Errorf("%s: %s", a.Error.Code, a.Error.Message)
	}
	return a, fmt.Errorf("%s %s failed %d times: %w", method, path, tries, err)
}

// left matches the rest of a rate limit: r calls for t seconds.
var left = regexp.MustCompile(`r=(\d+);t=(\d+)`)

// pace delays further calls if the response to a call reports that none is left.
func (i *importer) pace(at time.Time, h http.Header) {
	m := left.FindStringSubmatch(h.Get("RateLimit"))
	if m == nil {
		return
	}
	if remaining, _ := strconv.Atoi(m[1]); remaining < atOnce {
		seconds, _ := strconv.Atoi(m[2])
		i.hold(at, seconds)
	}
}

// hold delays all calls until some seconds after a time.
func (i *importer) hold(at time.Time, seconds int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if until := at.Add(time.Duration(seconds) * time.Second); until.After(i.until) {
		i.until = until
	}
}

// wait returns when a call may be made.
func (i *importer) wait(ctx context.Context) error {
	for {
		i.mu.Lock()
		until := i.until
		i.mu.Unlock()
		if !i.now().Before(until) {
			return ctx.Err()
		}
		if err := i.sleep(ctx, until); err != nil {
			return err
		}
	}
}
