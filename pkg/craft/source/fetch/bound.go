package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// ErrTooMuch is the error of a page or feed with more in it than is read.
var ErrTooMuch = errors.New("bound: the text has too much in it")

// The most that a page or a feed may have.
const (
	mostElements   = 20_000
	mostDepth      = 100
	mostAttributes = 50_000
	mostSpaces     = 100
	mostValues     = 50_000
	// mostToken is the length of one tag, text or comment of a page, and mostPart that of one of a feed: the tokenizers
	// hold one at a time. An attribute of a feed takes more memory.
	mostToken = 512 << 10
	mostPart  = 256 << 10
)

func tooMany(n int, what string) error { return fmt.Errorf("%w: more than %d %s", ErrTooMuch, n, what) }

// looks is the number of tokens after which the context is looked at.
const looks = 256

// window is a reader that fails when a token is too long or the context has ended.
type window struct {
	ctx  context.Context
	from io.Reader
	read int64
	// end is the place at which the last token ended.
	end int64
}

func (w *window) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	if w.read-w.end > mostPart {
		return 0, tooMany(mostPart, "bytes in one part")
	}
	n, err := w.from.Read(p[:min(len(p), 4096)])
	w.read += int64(n)
	return n, err
}
