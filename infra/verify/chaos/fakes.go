package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/content-automation/api/testdata/providers/control"
)

// fakes calls the control interface of the fake providers.
func (w *world) fakes(ctx context.Context, method, path string, order, into any) error {
	body, err := json.Marshal(order)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, w.system.Providers+"/_control"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("the fakes of the providers answer %s to %s %s", resp.Status, method, path)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(into)
}

// bought returns the number of generations that the providers have accepted.
func (w *world) bought(ctx context.Context) (int, error) {
	var log struct{ Accepted []control.Acceptance }
	err := w.fakes(ctx, http.MethodGet, "/log", nil, &log)
	return len(log.Accepted), err
}
