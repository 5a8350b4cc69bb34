package control

import (
	"bufio"
	"bytes"
	"errors"
	"image"
	_ "image/jpeg" // photos of tests
	_ "image/png"  // photos of tests
	"io"
	"slices"
	"time"
)

// Medium is what a platform finds out about a file. A zero member is not known.
type Medium struct {
	MIME          string
	Width, Height int
	Bytes         int64
	Length        time.Duration
}

// Uploaded names the video that is uploaded, because those of tests are none.
const Uploaded = ""

// Tell says what is found at an address, or what an uploaded video is.
func (c *Control) Tell(address string, m Medium) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.media == nil {
		c.media = map[string]Medium{}
	}
	c.media[address] = m
}

// Seen returns what is found at an address, or the zero value if nothing was told.
func (c *Control) Seen(address string) Medium {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.media[address]
}

// Ratio is a ratio of width to height. The zero value is none.
type Ratio struct{ Width, Height int }

// Bounds are what a platform publishes of the files that it takes. A zero member sets no bound.
type Bounds struct {
	MIMEs []string
	// Narrowest and Widest bound the ratio of width to height.
	Narrowest, Widest Ratio
	MaxWidth          int
	// MinShort and MaxShort bound the shorter side, MinLong and MaxLong the longer one, MaxSum both together, and MaxPixels their
	// product.
	MinShort, MinLong, MaxShort, MaxLong, MaxSum, MaxPixels int
	MaxBytes                                                int64
	MinLength, MaxLength                                    time.Duration
}

// Takes reports whether a file is within the bounds.
func (b Bounds) Takes(m Medium) bool {
	w, h := m.Width, m.Height
	sized := w == 0 || h == 0 || above(w, h, b.Narrowest) && above(h, w, Ratio{b.Widest.Height, b.Widest.Width}) &&
		within(0, w, b.MaxWidth) && within(b.MinShort, min(w, h), b.MaxShort) && within(b.MinLong, max(w, h), b.MaxLong) &&
		within(0, w+h, b.MaxSum) && within(0, w*h, b.MaxPixels)
	return sized && (m.MIME == "" || len(b.MIMEs) == 0 || slices.Contains(b.MIMEs, m.MIME)) &&
		within(0, m.Bytes, b.MaxBytes) && (m.Length == 0 || within(b.MinLength, m.Length, b.MaxLength))
}

func within[T int | int64 | time.Duration](least, n, most T) bool {
	return n >= least && (most == 0 || n <= most)
}

// above reports whether a ratio of two sides is at least another one, up to a part of a pixel: sides are whole numbers.
func above(a, b int, least Ratio) bool {
	return least.Width == 0 || b <= (a*least.Height+least.Width-1)/least.Width
}

// head is how much of a picture has its size.
const head = 64 << 10

// Picture reads the size of a picture from its beginning, and returns the whole content. A file that is none has no
// size.
func Picture(r io.Reader) (content io.Reader, m Medium) {
	b := bufio.NewReaderSize(r, head)
	first, err := b.Peek(head)
	if err != nil && !errors.Is(err, io.EOF) {
		return b, m
	}
	if c, _, err := image.DecodeConfig(bytes.NewReader(first)); err == nil {
		m.Width, m.Height = c.Width, c.Height
	}
	return b, m
}
