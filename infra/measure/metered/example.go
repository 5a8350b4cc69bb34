package metered

import (
	"context"
	"encoding/json"
	"strings"
)

// Example is a call of an operation that succeeds each time.
type Example struct {
	// ID returns the id of the resource in the path. If the call uses the resource up, ID creates it.
	ID func(context.Context) (string, error)
	// Part is the id of a part of the resource, if the path names one.
	Part *string
	Body any
	// Make returns the body, if the call needs new resources for it.
	Make func(context.Context) (Object, error)
	// Query holds the parameters of the query.
	Query map[string]string
	// Live reports whether the call needs a live key, because the sandbox has nothing of the kind.
	Live bool
	// Undo is the operation that removes the created resource, if the number of such resources, or of those that
	// wait for their end, is limited.
	Undo string
}

// Object is a JSON object.
type Object map[string]any

// Try makes the call of an example, weighed if weigh is true, and removes the resource that it created.
func (w *World) Try(ctx context.Context, operation string, weigh bool) (Cost, error) {
	r, err := w.Prepare(ctx, operation)
	if err != nil {
		return Cost{}, err
	}
	w.Meter.Weigh = weigh
	a, err := w.Call(ctx, r)
	w.Meter.Weigh = false
	if e := w.Examples()[operation]; err == nil && e.Undo != "" {
		err = w.undo(ctx, e, r.ID, a.Data)
	}
	return a.Cost, err
}

// undo removes the resource that an example has created, which may be a part of another.
func (w *World) undo(ctx context.Context, e Example, of string, data json.RawMessage) error {
	all := []json.RawMessage{data}
	if len(data) > 0 && data[0] == '[' {
		if err := json.Unmarshal(data, &all); err != nil {
			return err
		}
	}
	for _, one := range all {
		made, err := Answer{Data: one}.ID()
		if err != nil {
			return err
		}
		var led struct {
			To string `json:"result_id"`
		}
		if err := json.Unmarshal(one, &led); err != nil {
			return err
		}
		if led.To != "" {
			made = led.To
		}
		r := Request{Operation: e.Undo, ID: made}
		if strings.Count(w.Routes[e.Undo].Path, "{") > 1 {
			r.ID, r.Part = of, made
		}
		if _, err := w.Call(ctx, r); err != nil {
			return err
		}
	}
	return nil
}
