package storetest

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"sync"
)

// Contend makes transactions conflict if they meet on an item, as in DynamoDB: a transaction that arrives while another
// one is running is canceled. The engine executes them one after another, and cancels none for that.
func (f *Faults) Contend() {
	var mu sync.Mutex
	held := map[string]bool{}
	f.plan("TransactWriteItems", math.MaxInt,
		func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			keys, err := keysOf(req)
			if err != nil {
				return nil, err
			}
			mu.Lock()
			var reasons []string
			met := false
			for _, k := range keys {
				reason := "None"
				if held[k] {
					reason, met = "TransactionConflict", true
				}
				reasons = append(reasons, reason)
			}
			if !met {
				for _, k := range keys {
					held[k] = true
				}
			}
			mu.Unlock()
			if met {
				return canceled(req, reasons), nil
			}
			defer func() {
				mu.Lock()
				defer mu.Unlock()
				for _, k := range keys {
					delete(held, k)
				}
			}()
			return send()
		})
}

// keysOf returns the keys of a transaction's items, and leaves the request unchanged.
func keysOf(req *http.Request) ([]string, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	type attributes map[string]map[string]any
	var sent struct {
		TransactItems []map[string]struct{ Item, Key attributes }
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		return nil, err
	}
	var keys []string
	for _, item := range sent.TransactItems {
		for _, write := range item { // each entry has one kind of write
			at := write.Key
			if at == nil {
				at = write.Item
			}
			b, err := json.Marshal([]any{at["pk"], at["sk"]})
			if err != nil {
				return nil, err
			}
			keys = append(keys, string(b))
		}
	}
	return keys, nil
}
