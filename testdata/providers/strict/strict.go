// Package strict reads requests for the fakes of providers. It refuses input that the protocol
// does not define, which a provider might ignore.
package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
)

// maxBody is the greatest size of a request's body.
const maxBody = 4 << 20

// JSON reads the body of a request into a struct. It refuses another media type, members that
// the struct does not have, values of another type, and data after the object. It also returns
// the members as sent.
func JSON(r *http.Request, into any) (sent map[string]any, err error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, fmt.Errorf("the content type %q is not application/json", r.Header.Get("Content-Type"))
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxBody {
		return nil, errors.New("the body is too large")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is something behind the object")
	}
	return sent, json.Unmarshal(raw, &sent)
}

// Query refuses parameters of an address that are unknown, or given twice.
func Query(q url.Values, known ...string) error {
	for name, values := range q {
		if !slices.Contains(known, name) {
			return fmt.Errorf("the parameter %q is not known", name)
		}
		if len(values) != 1 {
			return fmt.Errorf("the parameter %q is given %d times", name, len(values))
		}
	}
	return nil
}
