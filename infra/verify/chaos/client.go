package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// client calls the API with one key.
type client struct {
	http         *http.Client
	baseURL, key string
}

// statusError is the error of a call that the API did not answer with success.
type statusError struct {
	call, text string
	status     int
}

func (r *statusError) Error() string { return fmt.Sprintf("%s: %d %s", r.call, r.status, r.text) }

// permanent reports whether the API would refuse the same call again.
func (r *statusError) permanent() bool {
	return r.status < http.StatusInternalServerError && r.status != http.StatusConflict &&
		r.status != http.StatusTooManyRequests
}

// call makes a call and decodes the data of its response.
func (c *client) call(ctx context.Context, method, path, idempotencyKey string, body, into any) error {
	_, err := c.page(ctx, method, path, idempotencyKey, body, into)
	return err
}

// readsAgain is the number of times that a read is repeated if the starved service does not answer.
const readsAgain = 50

// page makes a call as call does, and also returns the cursor of the next page. It repeats a read until the service
// answers.
func (c *client) page(ctx context.Context, method, path, idempotencyKey string, body,
	into any) (next string, err error) {
	for try := 0; ; try++ {
		next, err = c.once(ctx, method, path, idempotencyKey, body, into)
		var refused *statusError
		if err == nil || method != http.MethodGet || try == readsAgain || errors.As(err, &refused) &&
			refused.permanent() {
			return next, err
		}
		select {
		case <-time.After(pauseOfCaller):
		case <-ctx.Done():
			return "", err
		}
	}
}

// once makes a call and does not repeat it.
func (c *client) once(ctx context.Context, method, path, idempotencyKey string, body,
	into any) (next string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 40*time.Second)
	defer cancel()
	var encoded []byte
	if body != nil {
		var err error
		if encoded, err = json.Marshal(body); err != nil {
			return "", err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, c.baseURL+path, bytes.NewReader(encoded))
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if idempotencyKey != "" {
		req.Header.Set("Idempotency-Key", idempotencyKey)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return "", &statusError{method + " " + path, string(raw), resp.StatusCode}
	}
	var envelope struct {
		Data       json.RawMessage `json:"data"`
		NextCursor string          `json:"next_cursor"`
	}
	if err := json.Unmarshal(raw, &envelope); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", method, path, err, raw)
	}
	return envelope.NextCursor, json.Unmarshal(envelope.Data, into)
}

// list reads all entries of a list that match the filters, which are pairs of name and value.
func list[T any](ctx context.Context, c *client, path string, filters ...string) ([]T, error) {
	query := url.Values{"limit": {"100"}}
	for i := 0; i < len(filters); i += 2 {
		query.Set(filters[i], filters[i+1])
	}
	for all := []T{}; ; {
		var page []T
		next, err := c.page(ctx, http.MethodGet, path+"?"+query.Encode(), "", nil, &page)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if next == "" {
			return all, nil
		}
		query.Set("cursor", next)
	}
}

// undelivered returns the number of events that the service has yet to deliver to a webhook, by its own count.
func (c *client) undelivered(ctx context.Context, webhook string) (int, error) {
	all, err := list[struct{}](ctx, c, "/v1/webhooks/"+webhook+"/deliveries", "state", "undelivered")
	return len(all), err
}

// newFactory creates a factory.
func (c *client) newFactory(ctx context.Context) (id string, err error) {
	var made struct{ ID string }
	err = c.call(ctx, http.MethodPost, "/v1/factories", "", map[string]any{
		"type": "brand", "name": "Chaos", "settings": map[string]any{"brand_name": "Chaos"},
	}, &made)
	return made.ID, err
}

// newWebhook subscribes a mailbox to the events of content.
func (c *client) newWebhook(ctx context.Context, m *mailbox) (id string, err error) {
	var made struct{ ID, Secret string }
	err = c.call(ctx, http.MethodPost, "/v1/webhooks", "",
		map[string]any{"url": m.url, "event_types": []string{"content.*"}}, &made)
	if err != nil {
		return "", err
	}
	return made.ID, m.sign(made.Secret)
}
