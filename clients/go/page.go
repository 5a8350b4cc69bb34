package contentautomation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Page is a page of a list.
type Page[T any] struct {
	Items []T
	// NextCursor is the cursor of the next page. It is empty on the last one.
	NextCursor string
	RequestID  string
	// Header is that of the answer. RateLimit says how many requests are left.
	Header http.Header
	next   func(context.Context) (*Page[T], error)
}

// Next reads the next page. After the last one it returns nil.
func (p *Page[T]) Next(ctx context.Context) (*Page[T], error) {
	if p.NextCursor == "" {
		return nil, nil
	}
	return p.next(ctx)
}

// Collect reads a list into a slice: all of it, or at most the given number of elements. After an error it returns what
// was read before.
func Collect[T any](list iter.Seq2[T, error], atMost int) (all []T, err error) {
	for item, err := range list {
		if err != nil {
			return all, err
		}
		if all = append(all, item); len(all) >= atMost {
			break
		}
	}
	return all, nil
}

func page[T any](ctx context.Context, t *transport, path string, query url.Values, options []RequestOption) (*Page[T], error) {
	p := &Page[T]{}
	e, err := t.do(ctx, newCall(http.MethodGet, path, query, nil, options), &p.Items)
	if err != nil {
		return nil, err
	}
	p.RequestID, p.Header = e.RequestID, e.header
	if e.NextCursor != nil {
		p.NextCursor = *e.NextCursor
	}
	if p.NextCursor != "" && p.NextCursor == query.Get("cursor") {
		return nil, &AnswerError{http.StatusOK, p.RequestID, errors.New("next_cursor is the cursor of the request")}
	}
	p.next = func(ctx context.Context) (*Page[T], error) {
		following := maps.Clone(query)
		if following == nil {
			following = url.Values{}
		}
		following.Set("cursor", p.NextCursor)
		return page[T](ctx, t, path, following, options)
	}
	return p, nil
}

// all reads a list page by page, as the caller goes on. It ends after the first error.
func all[T any](ctx context.Context, t *transport, path string, query url.Values, options []RequestOption) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		seen := map[string]bool{}
		p, err := page[T](ctx, t, path, query, options)
		for ; err == nil && p != nil; p, err = p.Next(ctx) {
			for _, item := range p.Items {
				if !yield(item, nil) {
					return
				}
			}
			if seen[p.NextCursor] {
				err = &AnswerError{http.StatusOK, p.RequestID, errors.New("next_cursor came before")}
				break
			}
			seen[p.NextCursor] = true
		}
		if err != nil {
			var none T
			yield(none, err)
		}
	}
}

// waiting says when work has ended.
type waiting struct {
	member       string
	done, failed []string
	query        url.Values
}

// wait reads a resource until its work has ended.
func wait[T any](ctx context.Context, t *transport, path string, w waiting, options []RequestOption) (*T, error) {
	start, pause := t.now(), time.Second
	for {
		c := newCall(http.MethodGet, path, w.query, nil, options)
		var response Response
		if c.response == nil {
			c.response = &response
		}
		var raw json.RawMessage
		if _, err := t.do(ctx, c, &raw); err != nil {
			return nil, err
		}
		var members map[string]json.RawMessage
		var state string
		if err := errors.Join(json.Unmarshal(raw, &members), json.Unmarshal(members[w.member], &state)); err != nil {
			return nil, &AnswerError{c.response.Status, c.response.RequestID, err}
		}
		done := w.done
		if len(c.until) > 0 {
			done = c.until
		}
		failed := !slices.Contains(done, state) && slices.Contains(w.failed, state)
		if failed || slices.Contains(done, state) {
			result := new(T)
			if err := json.Unmarshal(raw, result); err != nil {
				return nil, &AnswerError{c.response.Status, c.response.RequestID, err}
			}
			if failed {
				return result, newFailed(state, raw)
			}
			return result, nil
		}
		next := min(pause, c.every)
		if after := retryAfter(&http.Response{Header: c.response.Header}); after > 0 {
			next = min(after, longestRetryAfter)
		}
		if past := t.now().Sub(start); past+next > c.limit {
			return nil, &WaitTimeoutError{state, past}
		}
		if err := t.sleep(ctx, next); err != nil {
			return nil, err
		}
		pause = pause * 3 / 2
	}
}

// Wait reads a path, such as /v1/media/med_…, until a member of the resource has one of the values done. One of failed is
// a *FailedError. It is for operations that this package does not know yet.
func (c *Client) Wait(ctx context.Context, path, member string, done, failed []string, options ...RequestOption,
) (json.RawMessage, error) {
	raw, err := wait[json.RawMessage](ctx, &c.transport, path, waiting{member, done, failed, nil}, options)
	if raw == nil {
		return nil, err
	}
	return *raw, err
}

// segment writes a parameter of the path. An empty one, or a dot, would name another path.
func segment(name, value string) (string, error) {
	if value == "" || value == "." || value == ".." {
		return "", &ConfigError{fmt.Sprintf("%s is empty", name)}
	}
	return url.PathEscape(value), nil
}

// queryOf writes the fields of parameters. Several values are separated by commas, and pairs are name[key].
func queryOf(params any) url.Values {
	query := url.Values{}
	v := reflect.ValueOf(params)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return query
	}
	v = v.Elem()
	for i := range v.NumField() {
		name, field := v.Type().Field(i).Tag.Get("query"), v.Field(i)
		switch {
		case field.IsZero():
		case field.Kind() == reflect.Map:
			for _, key := range field.MapKeys() {
				query.Set(name+"["+key.String()+"]", text(field.MapIndex(key)))
			}
		case field.Kind() == reflect.Slice:
			var values []string
			for j := range field.Len() {
				values = append(values, text(field.Index(j)))
			}
			query.Set(name, strings.Join(values, ","))
		default:
			query.Set(name, text(field))
		}
	}
	return query
}

func text(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if at, ok := v.Interface().(time.Time); ok {
		return at.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprint(v.Interface())
}

// MarshalJSON writes the value, or null.
func (n Nullable[T]) MarshalJSON() ([]byte, error) {
	if n.state != 1 {
		return []byte("null"), nil
	}
	return json.Marshal(n.value)
}

// UnmarshalJSON reads a value, or null.
func (n *Nullable[T]) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*n = Null[T]()
		return nil
	}
	n.state = 1
	return json.Unmarshal(data, &n.value)
}

// tagged writes a variant of a union: its members, and the one that names it.
func tagged(tag, value string, members any) ([]byte, error) {
	data, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	head := fmt.Sprintf("{%q:%q", tag, value)
	if len(data) > 2 {
		head += ","
	}
	return append([]byte(head), data[1:]...), nil
}
