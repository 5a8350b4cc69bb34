package heif

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
)

// Image is a decoded picture as it is stored.
type Image struct {
	// Image is an *image.YCbCr as JPEG has it, an *image.Gray, or an *image.NRGBA if the picture has opacity or no
	// luma.
	Image image.Image
	// Orientation is the orientation of EXIF, from 1 to 8, by which the picture is turned upright.
	Orientation int
	// Colors are the numbers of its primaries and its transfer. They count if there is no profile.
	Colors Colors
}

// Decode decodes the picture in a folder for temporary files. Errors wrap ErrBroken, or are a *RefusedError, or those
// of the program and of the context.
func (p *Picture) Decode(ctx context.Context, program Program, dir string) (Image, error) {
	drawn, said, err := p.picture.decode(ctx, program, dir)
	if err != nil {
		return Image{}, err
	}
	if !p.colors.stated {
		p.colors = said
		if err := p.checkRange(); err != nil {
			return Image{}, err
		}
	}
	to, err := drawn.image(p.colors)
	if err != nil {
		return Image{}, err
	}
	if p.opacity != nil {
		clear, said, err := p.opacity.decode(ctx, program, dir)
		if err != nil {
			return Image{}, err
		}
		to = withOpacity(to, clear, !said.Full && said.stated, p.opacity.premade)
	}
	orientation, crop, err := p.turned(to.Bounds().Size())
	if err != nil {
		return Image{}, err
	}
	if crop != to.Bounds() {
		to = to.(interface {
			SubImage(image.Rectangle) image.Image
		}).SubImage(crop)
	}
	return Image{to, orientation, p.colors}, nil
}

// turned returns how the picture is turned, and the part that is shown.
func (p *Picture) turned(size image.Point) (orientation int, part image.Rectangle, err error) {
	part = image.Rectangle{Max: size}
	mirrored, quarters := 0, 0 // mirrored first, then turned clockwise
	for _, step := range p.steps {
		f := &fields{b: step.body}
		switch step.name {
		case "clap":
			if part, err = clean(f, size); err != nil || mirrored+quarters > 0 {
				return 0, part, errors.Join(err, broken("a picture is cut after it was turned"))
			}
		case "irot":
			quarters = (quarters + 4 - f.int(1)&3) & 3
		case "imir":
			mirrored = 1 - mirrored
			quarters = (4 - quarters) & 3
			if f.int(1)&1 == 0 { // above and below are exchanged
				quarters = (quarters + 2) & 3
			}
		}
	}
	return [2][4]int{{1, 6, 3, 8}, {2, 7, 4, 5}}[mirrored][quarters], part, nil
}

// clean reads clap (ISO/IEC 14496-12, 12.1.4.3). The place of colors that are coarser than pixels stays even.
func clean(f *fields, size image.Point) (image.Rectangle, error) {
	number := func() float64 {
		n, d := int32(f.uint(4)), int32(f.uint(4))
		if d == 0 {
			f.short = true
			return 0
		}
		return float64(n) / float64(d)
	}
	w, h, x, y := number(), number(), number(), number()
	at := func(side int, length, offset float64) (from, to int) {
		from = int(max(0, min(float64(side), float64(side)/2+offset-length/2+0.25)))
		return from &^ 1, min(from&^1+int(max(0, min(length+0.5, float64(side)))), side)
	}
	var r image.Rectangle
	r.Min.X, r.Max.X = at(size.X, w, x)
	r.Min.Y, r.Max.Y = at(size.Y, h, y)
	if f.short || r.Empty() {
		return r, broken("a part of %v x %v at %v, %v of %v", w, h, x, y, size)
	}
	return r, nil
}

// planes are the samples of a layer in 8 bits.
type planes struct {
	size         image.Point
	across, down int // as in codec
	of           [][]byte
	rgb          bool // green, blue, red
}

// frames places the tiles that ffmpeg writes.
type frames struct {
	l      *layer
	to     *planes
	buffer []byte
	filled int
	placed int
}

// less returns a size of color differences.
func less(size image.Point, across, down int) image.Point {
	return image.Pt((size.X+across)>>across, (size.Y+down)>>down)
}

// Write implements io.Writer.
func (f *frames) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		if f.placed == len(f.l.tiles) {
			return 0, broken("more pictures than tiles")
		}
		n := copy(f.buffer[f.filled:], rest)
		rest = rest[n:]
		if f.filled += n; f.filled == len(f.buffer) {
			f.place()
			f.filled = 0
			f.placed++
		}
	}
	return len(b), nil
}

// place copies a tile to its place, in 8 bits.
func (f *frames) place() {
	from := f.buffer
	column, row := f.placed%f.l.columns, f.placed/f.l.columns
	for n, plane := range f.to.of {
		tile, whole, at := f.l.tile, f.to.size, image.Pt(column*f.l.tile.X, row*f.l.tile.Y)
		if n > 0 {
			tile, whole = less(tile, f.to.across, f.to.down), less(whole, f.to.across, f.to.down)
			at = image.Pt(column*tile.X, row*tile.Y)
		}
		seen := min(tile.X, whole.X-at.X)
		for y := range tile.Y {
			line := from[:tile.X*f.l.bytes()]
			from = from[len(line):]
			if at.Y+y >= whole.Y {
				continue
			}
			to := plane[(at.Y+y)*whole.X+at.X:][:seen]
			if f.l.codec.depth == 8 {
				copy(to, line)
				continue
			}
			shift := f.l.codec.depth - 8
			for x := range to {
				v := int(line[2*x]) | int(line[2*x+1])<<8
				to[x] = byte(min((v+1<<(shift-1))>>shift, 255))
			}
		}
	}
}

// bytes returns the number of bytes of a sample.
func (l *layer) bytes() int {
	if l.codec.depth > 8 {
		return 2
	}
	return 1
}

// decode decodes a layer. It returns what the stream says of the colors.
func (l *layer) decode(ctx context.Context, program Program, dir string) (*planes, Colors, error) {
	c := l.codec
	to := &planes{size: l.size, across: c.across, down: c.down, of: [][]byte{make([]byte, l.size.X*l.size.Y)}}
	length := l.tile.X * l.tile.Y
	if c.across != gray {
		if (len(l.tiles) > 1) && (l.tile.X&c.across != 0 || l.tile.Y&c.down != 0) {
			return nil, Colors{}, broken("tiles of %v", l.tile)
		}
		part, whole := less(l.tile, c.across, c.down), less(l.size, c.across, c.down)
		length += 2 * part.X * part.Y
		for range 2 {
			to.of = append(to.of, make([]byte, whole.X*whole.Y))
		}
	}
	f := &frames{l: l, to: to, buffer: make([]byte, length*l.bytes())}
	const edge = 64 // a codec pads the sides
	report, err := program.Run(ctx, ffmpeg.Job{Dir: dir,
		Inputs: []ffmpeg.Input{{Format: c.demuxer, Options: []string{"-noautorotate", "-xerror",
			"-err_detect", "explode", "-max_pixels", strconv.Itoa((l.tile.X + edge) * (l.tile.Y + edge))},
			Feed: func(w io.Writer) error { return l.write(w) }}},
		Output: []string{"-vf", fmt.Sprintf("crop=%d:%d:0:0:exact=1", l.tile.X, l.tile.Y), "-fps_mode",
			"passthrough", "-c:v", "rawvideo", "-f", "rawvideo", "pipe:1"},
		Stdout: f})
	switch {
	case ctx.Err() != nil:
		return nil, Colors{}, ctx.Err()
	case err != nil && report.Log == "": // it did not begin
		return nil, Colors{}, err
	case err != nil || f.placed < len(l.tiles):
		return nil, Colors{}, broken("%d of %d tiles: %v", f.placed, len(l.tiles), err)
	}
	said, err := to.said(report.Log)
	return to, said, err
}

var stream = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`Stream #0:0[^:]*: Video: \w+[^\n]*?, ` +
		`(yuvj?|gbrp?|gray)([0-9a-z]*)(?:\(([^)]*)\))?, \d+x\d+`)
})

// said reads what the decoder says of the samples.
func (p *planes) said(log string) (c Colors, err error) {
	m := stream().FindStringSubmatch(log)
	if m == nil {
		return c, broken("samples of another form")
	}
	form := map[int]string{0: "444", 1: "422", 2: "420"}[p.across+p.down]
	switch m[1] {
	case "gray":
		if p.across != gray {
			return c, broken("gray samples, and the file says colors")
		}
	case "gbr", "gbrp":
		p.rgb = true
		if p.across != 0 {
			return c, broken("samples of three colors, and the file says luma")
		}
	default:
		if !strings.HasPrefix(m[2], form) {
			return c, broken("samples of %s, and the file says %s", m[2], form)
		}
	}
	c = Colors{Primaries: 2, Transfer: 2, Matrix: 2, Full: m[1] == "yuvj"}
	for _, word := range strings.FieldsFunc(m[3], func(r rune) bool { return r == ',' || r == ' ' }) {
		switch word {
		case "pc":
			c.Full, c.stated = true, true
		case "tv":
			c.stated = true
		default:
			c.names(strings.Split(word, "/"))
		}
	}
	return c, nil
}

// The names of ffmpeg for numbers of H.273.
var (
	matrices = map[string]int{"gbr": 0, "bt709": 1, "fcc": 4, "bt470bg": 5, "smpte170m": 6, "smpte240m": 7, "ycgco": 8,
		"bt2020nc": 9, "bt2020c": 10}
	primaries = map[string]int{"bt709": 1, "bt470m": 4, "bt470bg": 5, "smpte170m": 6, "smpte240m": 7, "film": 8,
		"bt2020": 9, "smpte431": 11, "smpte432": 12, "ebu3213": 22}
	transfers = map[string]int{"bt709": 1, "gamma22": 4, "gamma28": 5, "smpte170m": 6, "smpte240m": 7, "linear": 8,
		"iec61966-2-1": 13, "bt2020-10": 14, "bt2020-12": 15, "smpte2084": 16, "arib-std-b67": 18}
)

// names takes one name for all, or those of the matrix, the primaries and the transfer.
func (c *Colors) names(of []string) {
	if len(of) == 1 {
		of = []string{of[0], of[0], of[0]}
	}
	if len(of) != 3 {
		return
	}
	for i, in := range []struct {
		to    *int
		names map[string]int
	}{{&c.Matrix, matrices}, {&c.Primaries, primaries}, {&c.Transfer, transfers}} {
		if n, ok := in.names[of[i]]; ok {
			*in.to = n
		}
	}
}

// weights are the weights of red and blue in luma (ITU-T H.273, table 4). JPEG has those of BT.601.
var weights = map[int][2]float64{1: {.2126, .0722}, 4: {.30, .11}, 5: {.299, .114}, 6: {.299, .114}, 7: {.212, .087},
	9: {.2627, .0593}}

// image returns the samples as a picture whose luma and color differences are those of JPEG.
func (p *planes) image(c Colors) (image.Image, error) {
	r := image.Rectangle{Max: p.size}
	switch {
	case p.across == gray:
		if !c.Full {
			widen(p.of[0])
		}
		return &image.Gray{Pix: p.of[0], Stride: p.size.X, Rect: r}, nil
	case p.rgb || c.Matrix == 0:
		if p.across != 0 {
			return nil, broken("three colors, and two of them coarser")
		}
		if !c.Full {
			for _, plane := range p.of {
				widen(plane)
			}
		}
		img := image.NewNRGBA(r)
		for i, g := range p.of[0] {
			copy(img.Pix[4*i:], []byte{p.of[2][i], g, p.of[1][i], 255})
		}
		return img, nil
	}
	w, ok := weights[c.Matrix]
	switch {
	case c.Matrix == 2 || c.Matrix == 3: // unknown: as in JPEG
		w = weights[6]
	case !ok:
		return nil, refuse("The picture has colors of a form that is not supported (matrix %d of H.273).", c.Matrix)
	}
	if w != weights[6] || !c.Full {
		p.convert(w, c.Full)
	}
	ratio := map[int]image.YCbCrSubsampleRatio{0: image.YCbCrSubsampleRatio444, 1: image.YCbCrSubsampleRatio422,
		2: image.YCbCrSubsampleRatio420}[p.across+p.down]
	return &image.YCbCr{Y: p.of[0], Cb: p.of[1], Cr: p.of[2], YStride: p.size.X,
		CStride: less(p.size, p.across, p.down).X, SubsampleRatio: ratio, Rect: r}, nil
}

// widen converts the range of video to the full one.
func widen(plane []byte) {
	var to [256]byte
	for i := range to {
		to[i] = level((float64(i) - 16) * 255 / 219)
	}
	for i, v := range plane {
		plane[i] = to[v]
	}
}

func level(v float64) byte { return byte(max(0, min(v+0.5, 255))) }

// convert converts luma and color differences to those of JPEG. Luma changes by what the differences say, so that a
// pixel takes one addition.
func (p *planes) convert(w [2]float64, full bool) {
	const kr, kb = .299, .114
	const kg = 1 - kr - kb
	red, blue := 2*(1-w[0]), 2*(1-w[1])
	green := 1 - w[0] - w[1]
	ofBlue := kb*blue - kg*blue*w[1]/green // what luma gains by the differences
	ofRed := kr*red - kg*red*w[0]/green
	scale, lowest, by := 1., 0., 1.
	if !full {
		scale, lowest, by = 255./224, 16, 255./219
	}
	var luma [256]int32 // in parts of 1/1024
	for i := range luma {
		luma[i] = int32((float64(i)-lowest)*by*1024 + 512)
	}
	size := less(p.size, p.across, p.down)
	for y := range size.Y {
		for x := range size.X {
			at := y*size.X + x
			cb, cr := (float64(p.of[1][at])-128)*scale, (float64(p.of[2][at])-128)*scale
			gain := ofBlue*cb + ofRed*cr
			p.of[1][at] = level((blue*cb-gain)/(2*(1-kb)) + 128)
			p.of[2][at] = level((red*cr-gain)/(2*(1-kr)) + 128)
			add := int32(gain * 1024)
			for row := y << p.down; row < min((y+1)<<p.down, p.size.Y); row++ {
				line := p.of[0][row*p.size.X:][:p.size.X]
				for i := x << p.across; i < min((x+1)<<p.across, p.size.X); i++ {
					line[i] = byte(max(0, min((luma[line[i]]+add)>>10, 255)))
				}
			}
		}
	}
}

// withOpacity returns a picture with opacity. Its colors are not multiplied by it.
func withOpacity(of image.Image, clear *planes, narrow, premade bool) image.Image {
	to := image.NewNRGBA(of.Bounds())
	if narrow {
		widen(clear.of[0])
	}
	for y := range to.Rect.Dy() {
		for x := range to.Rect.Dx() {
			var r, g, b uint32
			switch of := of.(type) {
			case *image.YCbCr:
				c := of.YCbCrAt(x, y)
				r, g, b, _ = c.RGBA()
			default:
				r, g, b, _ = of.At(x, y).RGBA()
			}
			at := y*to.Stride + 4*x
			a := uint32(clear.of[0][y*to.Rect.Dx()+x])
			p := to.Pix[at:][:4:4]
			if p[3] = byte(a); premade && a > 0 {
				r, g, b = min(r*255/a, 65535), min(g*255/a, 65535), min(b*255/a, 65535)
			}
			p[0], p[1], p[2] = byte(r>>8), byte(g>>8), byte(b>>8)
		}
	}
	return to
}
