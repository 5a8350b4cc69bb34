package picture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image/color"

	"github.com/kovidgoyal/imaging/prism/meta/icc"
)

// converter converts colors to sRGB by a profile. A nil one leaves them as they are.
type converter struct {
	pipeline *icc.Pipeline
	gray     bool
	// known are colors that were converted, each at the place that its value gives it.
	known []converted
}

type converted struct {
	from uint32
	to   [3]uint8
	set  bool
}

const placeBits = 16

// converterOf returns the converter of a profile for values of a kind, or nil if the profile is missing, broken, that
// of sRGB, or one of other colors.
func converterOf(profile []byte, k kind) (c *converter) {
	if !bounded(profile) {
		return nil
	}
	defer func() { // the profile is that of a stranger, and its reader knows no bounds
		if recover() != nil {
			c = nil
		}
	}()
	read, err := icc.DecodeProfile(bytes.NewReader(profile))
	if err != nil {
		return nil
	}
	c = &converter{known: make([]converted, 1<<placeBits)}
	channels := 3
	switch space := read.Header.DataColorSpace; {
	case k == inks:
		if space != icc.ColorSpaceCMYK {
			return nil
		}
		channels = 4
	case space == icc.ColorSpaceGray && (k == gray || k == grayA):
		c.gray, channels = true, 1
	case space != icc.ColorSpaceRGB:
		return nil
	}
	c.pipeline, err = read.CreateTransformerToSRGB(icc.PerceptualRenderingIntent, false, channels, true, false, true)
	if err != nil || k != inks && c.identity() {
		return nil
	}
	return c
}

// bounded reports whether the table of a profile names only what is in it. Its reader would otherwise take as much
// memory as the table claims.
func bounded(profile []byte) bool {
	const header, entry = 132, 12
	if len(profile) < header {
		return false
	}
	tags := int64(binary.BigEndian.Uint32(profile[header-4:]))
	begin := header + tags*entry
	if tags > 200 || begin > int64(len(profile)) {
		return false
	}
	for at := int64(header); at < begin; at += entry {
		offset, size := binary.BigEndian.Uint32(profile[at+4:]), binary.BigEndian.Uint32(profile[at+8:])
		if int64(offset) < begin || int64(offset)+int64(size) > int64(len(profile)) {
			return false
		}
	}
	return true
}

// identity reports whether the profile is that of sRGB: no color changes by more than a level.
func (c *converter) identity() bool {
	steps := []int{0, 16, 64, 128, 192, 255}
	for _, r := range steps {
		for _, g := range steps {
			for _, b := range steps {
				if c.gray {
					g, b = r, r
				}
				to := c.of(r, g, b)
				for i, from := range []int{r, g, b} {
					if d := int(to[i]) - from; d < -1 || d > 1 {
						return false
					}
				}
			}
		}
	}
	return true
}

// of converts values, of which those of a gray profile are the first one.
func (c *converter) of(values ...int) (to [3]uint8) {
	var in, out [4]float64
	for i, v := range values {
		in[i] = float64(v) / 255
	}
	if c.gray || len(values) == 4 {
		c.pipeline.TransformGeneral(out[:], in[:])
	} else {
		out[0], out[1], out[2] = c.pipeline.Transform(in[0], in[1], in[2])
	}
	for i := range to {
		to[i] = level(float32(out[i] * 255))
	}
	return to
}

// place returns what is known of a color.
func (c *converter) place(from uint32) *converted {
	return &c.known[from*0x9e3779b1>>(32-placeBits)]
}

// convert converts a pixel.
func (c *converter) convert(p []uint8) {
	if c == nil {
		return
	}
	from := uint32(p[0])<<16 | uint32(p[1])<<8 | uint32(p[2])
	at := c.place(from)
	if !at.set || at.from != from {
		*at = converted{from, c.of(int(p[0]), int(p[1]), int(p[2])), true}
	}
	copy(p, at.to[:])
}

// inked returns the color of inks. Without a profile, each ink takes its color away.
func (c *converter) inked(cyan, magenta, yellow, black uint8) (r, g, b uint8) {
	if c == nil {
		return color.CMYKToRGB(cyan, magenta, yellow, black)
	}
	from := uint32(cyan)<<24 | uint32(magenta)<<16 | uint32(yellow)<<8 | uint32(black)
	at := c.place(from)
	if !at.set || at.from != from {
		*at = converted{from, c.of(int(cyan), int(magenta), int(yellow), int(black)), true}
	}
	return at.to[0], at.to[1], at.to[2]
}

// String returns the steps of the conversion, for tests.
func (c *converter) String() string {
	if c == nil {
		return "none"
	}
	return fmt.Sprint(c.pipeline)
}
