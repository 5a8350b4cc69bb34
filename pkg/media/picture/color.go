package picture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image/color"
	"math"

	"github.com/kovidgoyal/imaging/prism/meta/icc"
)

// converter converts colors to sRGB by a profile. A nil one leaves them as they are.
type converter struct {
	pipeline *icc.Pipeline
	gray     bool
	// cache are colors that were converted, each at the place that its value gives it.
	cache []colorPair
}

type colorPair struct {
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
	c = &converter{cache: make([]colorPair, 1<<placeBits)}
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
func (c *converter) place(from uint32) *colorPair {
	return &c.cache[from*0x9e3779b1>>(32-placeBits)]
}

// convert converts a pixel.
func (c *converter) convert(p []uint8) {
	if c == nil {
		return
	}
	from := uint32(p[0])<<16 | uint32(p[1])<<8 | uint32(p[2])
	at := c.place(from)
	if !at.set || at.from != from {
		*at = colorPair{from, c.of(int(p[0]), int(p[1]), int(p[2])), true}
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
		*at = colorPair{from, c.of(int(cyan), int(magenta), int(yellow), int(black)), true}
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

// xy are the chromaticities of red, green, blue and white, by the numbers of primaries of ITU-T H.273, table 2.
var xy = map[int][4][2]float64{
	4:  {{.67, .33}, {.21, .71}, {.14, .08}, {.310, .316}},
	5:  {{.64, .33}, {.29, .60}, {.15, .06}, d65},
	6:  {{.630, .340}, {.310, .595}, {.155, .070}, d65},
	7:  {{.630, .340}, {.310, .595}, {.155, .070}, d65},
	9:  {{.708, .292}, {.170, .797}, {.131, .046}, d65},
	11: {{.680, .320}, {.265, .690}, {.150, .060}, {.314, .351}},
	12: {{.680, .320}, {.265, .690}, {.150, .060}, d65},
	22: {{.630, .340}, {.295, .605}, {.155, .077}, d65},
}

var d65 = [2]float64{.3127, .3290}

// ProfileOf returns the color profile (ICC) of the numbers of primaries and of a transfer of ITU-T H.273, or nil for
// those of sRGB and for unknown ones. Transfers of video count as that of sRGB, as browsers show them.
func ProfileOf(primaries, transfer int) []byte {
	of, ok := xy[primaries]
	gamma := map[int]float64{4: 2.2, 5: 2.8, 8: 1}[transfer]
	if !ok && gamma == 0 {
		return nil
	}
	if !ok {
		of = [4][2]float64{{.64, .33}, {.30, .60}, {.15, .06}, d65}
	}
	m := adapted(of)
	curve := append([]byte("para\x00\x00\x00\x00\x00\x03\x00\x00"), fixed(2.4, 1/1.055, .055/1.055, 1/12.92, .04045)...)
	if gamma > 0 {
		curve = append([]byte("para\x00\x00\x00\x00\x00\x00\x00\x00"), fixed(gamma)...)
	}
	xyz := func(v [3]float64) []byte { return append([]byte("XYZ \x00\x00\x00\x00"), fixed(v[0], v[1], v[2])...) }
	column := func(i int) []byte { return xyz([3]float64{m[0][i], m[1][i], m[2][i]}) }
	text := []byte("mluc\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x0cenUS\x00\x00\x00\x06\x00\x00\x00\x1c" +
		"\x00R\x00G\x00B")
	return assembled([][2]any{{"desc", text}, {"cprt", text}, {"wtpt", xyz(d50)}, {"rXYZ", column(0)}, {"gXYZ",
		column(1)},
		{"bXYZ", column(2)}, {"rTRC", curve}, {"gTRC", curve}, {"bTRC", curve}})
}

var d50 = [3]float64{.9642, 1, .8249}

// assembled returns a profile of tags (ICC.1:2022, 7).
func assembled(tags [][2]any) []byte {
	const header, entry = 128, 12
	profile := make([]byte, header)
	binary.BigEndian.PutUint32(profile[8:], 0x04300000)
	copy(profile[12:], "mntrRGB XYZ ")
	binary.BigEndian.PutUint16(profile[24:], 2026)
	profile[27], profile[29] = 1, 1
	copy(profile[36:], "acsp")
	copy(profile[68:], fixed(d50[:]...))
	profile = binary.BigEndian.AppendUint32(profile, uint32(len(tags)))
	at := header + 4 + entry*len(tags)
	var data []byte
	for _, t := range tags {
		body := t[1].([]byte)
		profile = append(profile, t[0].(string)...)
		profile = binary.BigEndian.AppendUint32(profile, uint32(at+len(data)))
		profile = binary.BigEndian.AppendUint32(profile, uint32(len(body)))
		data = append(data, body...)
		data = append(data, make([]byte, -len(data)&3)...)
	}
	profile = append(profile, data...)
	binary.BigEndian.PutUint32(profile, uint32(len(profile)))
	return profile
}

// fixed returns numbers of 16 bits before and behind the point.
func fixed(values ...float64) (b []byte) {
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, uint32(int32(math.Round(v*65536))))
	}
	return b
}

type matrix [3][3]float64

func (m matrix) times(o matrix) (p matrix) {
	for i := range 3 {
		for j := range 3 {
			for k := range 3 {
				p[i][j] += m[i][k] * o[k][j]
			}
		}
	}
	return p
}

func (m matrix) of(v [3]float64) (p [3]float64) {
	for i := range 3 {
		p[i] = m[i][0]*v[0] + m[i][1]*v[1] + m[i][2]*v[2]
	}
	return p
}

func (m matrix) inverse() (inv matrix) {
	at := func(i, j int) float64 { return m[i%3][j%3] }
	det := 0.
	for j := range 3 {
		det += m[0][j] * (at(1, j+1)*at(2, j+2) - at(1, j+2)*at(2, j+1))
	}
	for i := range 3 {
		for j := range 3 {
			inv[j][i] = (at(i+1, j+1)*at(i+2, j+2) - at(i+1, j+2)*at(i+2, j+1)) / det
		}
	}
	return inv
}

// adapted returns the matrix from linear colors to XYZ under D50, by the adaptation of Bradford.
func adapted(of [4][2]float64) matrix {
	bradford := matrix{{.8951, .2664, -.1614}, {-.7502, 1.7135, .0367}, {.0389, -.0685, 1.0296}}
	xyz := func(c [2]float64) [3]float64 { return [3]float64{c[0] / c[1], 1, (1 - c[0] - c[1]) / c[1]} }
	white := xyz(of[3])
	var m matrix
	for j := range 3 {
		for i, v := range xyz(of[j]) {
			m[i][j] = v
		}
	}
	shares := m.inverse().of(white)
	for i := range 3 {
		for j := range 3 {
			m[i][j] *= shares[j]
		}
	}
	from, to := bradford.of(white), bradford.of(d50)
	scale := matrix{{to[0] / from[0]}, {0, to[1] / from[1]}, {0, 0, to[2] / from[2]}}
	return bradford.inverse().times(scale).times(bradford).times(m)
}
