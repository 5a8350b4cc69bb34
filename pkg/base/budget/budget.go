// Package budget bounds what a reader of the bytes of strangers takes: of files, feeds, pages, archives, metadata, JSON
// and certificates. A Budget has the bounds of one reader. Its Meter counts what the reader finds, and ends it.
package budget

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// ErrExceeded is wrapped by the error of a reader that has found more than its budget.
var ErrExceeded = errors.New("budget: there is too much to read")

// Budget is the most that one reader takes. A bound of 0 permits nothing: what a literal leaves out is not read.
type Budget struct {
	// Name is the name of the reader in docs/security.md.
	Name string
	// Bytes bounds the input, and Elements what it has: tokens, values, boxes, frames, entries.
	Bytes    int64
	Elements int
	// Depth bounds the elements in one another.
	Depth int
	// Part bounds the bytes of one token, of which a decoder holds all. It is for readers of tokens alone.
	Part int64
	// Time bounds the reading. It is a last resort: the other bounds end a reader long before.
	Time time.Duration
}

// Meter counts what a reader has found.
type Meter struct {
	of       Budget
	ctx      context.Context
	bytes    int64
	elements int
	depth    int
}

// looks is the number of elements after which a meter looks at its context.
const looks = 256

// Begin begins to read. The caller calls the returned function when it has ended.
func (b Budget) Begin(ctx context.Context) (*Meter, context.CancelFunc) {
	ctx, end := context.WithTimeoutCause(ctx, b.Time, b.exceeded(int64(b.Time/time.Second), "seconds"))
	return &Meter{of: b, ctx: ctx}, end
}

func (b Budget) exceeded(most int64, what string) error {
	return fmt.Errorf("%w: %s: more than %d %s", ErrExceeded, b.Name, most, what)
}

// Context returns the context of the reading, which ends with the time of the budget.
func (m *Meter) Context() context.Context { return m.ctx }

// Err returns an error if the reader is to end: ErrExceeded after the time of the budget, or that of the caller's
// context.
func (m *Meter) Err() error {
	if m.ctx.Err() == nil {
		return nil
	}
	return context.Cause(m.ctx)
}

// Bytes counts bytes of the input.
func (m *Meter) Bytes(n int64) error {
	if m.bytes += n; m.bytes > m.of.Bytes {
		return m.of.exceeded(m.of.Bytes, "bytes")
	}
	return nil
}

// Left returns the number of bytes that are left of the budget.
func (m *Meter) Left() int64 { return max(0, m.of.Bytes-m.bytes) }

// Count counts elements, and looks at the context from time to time.
func (m *Meter) Count(n int) error {
	before := m.elements
	if m.elements += n; m.elements > m.of.Elements {
		return m.of.exceeded(int64(m.of.Elements), "elements")
	}
	if before == 0 || m.elements/looks != before/looks {
		return m.Err()
	}
	return nil
}

// Enter counts an element that has others in it. Leave is called behind its end.
func (m *Meter) Enter() error {
	if m.depth++; m.depth > m.of.Depth {
		return m.of.exceeded(int64(m.of.Depth), "elements in one another")
	}
	return m.Count(1)
}

// Leave counts the end of an element.
func (m *Meter) Leave() { m.depth = max(0, m.depth-1) }

// Reader returns a reader that counts the bytes of another, and fails when the meter ends.
func (m *Meter) Reader(r io.Reader) io.Reader { return &meteredReader{m, r} }

type meteredReader struct {
	m *Meter
	r io.Reader
}

func (r *meteredReader) Read(p []byte) (int, error) {
	if err := r.m.Err(); err != nil {
		return 0, err
	}
	n, err := r.r.Read(p)
	if over := r.m.Bytes(int64(n)); over != nil {
		return 0, over
	}
	return n, err
}

// Tokens is the input of a decoder that holds one token at a time. It fails if a token is longer than Part.
type Tokens struct {
	meteredReader
	read, end int64
}

// Tokens returns the input of a decoder. The caller tells it by Ended where each token has ended.
func (m *Meter) Tokens(r io.Reader) *Tokens { return &Tokens{meteredReader: meteredReader{m, r}} }

// Ended notes the place at which a token has ended.
func (t *Tokens) Ended(at int64) { t.end = at }

// page is the number of bytes that a decoder gets at a time.
const page = 4096

// Read implements io.Reader.
func (t *Tokens) Read(p []byte) (int, error) {
	if most := t.m.of.Part; t.read-t.end > most {
		return 0, t.m.of.exceeded(most, "bytes in one part")
	}
	n, err := t.meteredReader.Read(p[:min(len(p), page)])
	t.read += int64(n)
	return n, err
}

// JSON counts the values of a JSON text and how deep they are, before a decoder makes something of each. It finds no
// other fault of the text.
func (b Budget) JSON(ctx context.Context, text []byte) error {
	m, end := b.Begin(ctx)
	defer end()
	if err := m.Bytes(int64(len(text))); err != nil {
		return err
	}
	if err := m.Count(1); err != nil {
		return err
	}
	quoted := false
	for i := 0; i < len(text); i++ {
		var err error
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			err = m.Enter()
		case c == '}' || c == ']':
			m.Leave()
		case c == ',':
			err = m.Count(1)
		}
		if err != nil {
			return err
		}
	}
	return m.Err()
}
