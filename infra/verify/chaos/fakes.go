package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/content-automation/api/testdata/providers/control"
)

// fakes calls the control of the fakes of the providers.
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

// bought returns how many generations the providers have accepted.
func (w *world) bought(ctx context.Context) (int, error) {
	var log struct{ Accepted []control.Acceptance }
	err := w.fakes(ctx, http.MethodGet, "/log", nil, &log)
	return len(log.Accepted), err
}

// failing are the operations of the providers, and troubles all that can befall each.
var (
	failing = map[string][]string{
		"bedrock": {control.Submit, control.Status}, "polly": {control.Submit, control.Status},
		"fal":        {control.Submit, control.Status, control.Result, control.Media},
		"replicate":  {control.Submit, control.Status, control.Media},
		"elevenlabs": {control.Submit},
	}
	troubles = []control.Fault{
		{Kind: control.RateLimited, Seconds: 1}, {Kind: control.ServerError}, {Kind: control.Drop}, {Kind: control.Garbage},
		{Kind: control.Slow, Seconds: 2}, {Kind: control.DropAfterAccept}, {Kind: control.JobFailed}, {Kind: control.ResultExpired},
	}
)

// orderOf lets an operation of a provider fail in every way.
func orderOf(provider, operation string) control.Order {
	return control.Order{Provider: provider, Operation: operation, Faults: troubles}
}
