// Package heif reads the pictures of telephones: HEIC, whose tiles are HEVC, and AVIF, whose tiles are AV1. It reads
// the boxes and joins the tiles; ffmpeg decodes them. Whatever a file claims, it bounds the boxes, the pixels, and what
// ffmpeg gets. Start with Open.
package heif

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/budget"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
)

// ErrBroken is wrapped by every error about the content of a file.
var ErrBroken = errors.New("heif: the file is broken")

func broken(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrBroken, fmt.Sprintf(format, args...))
}

// RefusedError is the error of a whole picture that cannot be used.
type RefusedError struct {
	// TooLarge reports that the picture takes more than there is.
	TooLarge bool
	// Message has sentences for the caller.
	Message string
}

// Error returns the message.
func (e *RefusedError) Error() string { return "heif: " + e.Message }

const convert = " Convert it to JPEG, PNG or WebP."

func refuse(format string, args ...any) error {
	return &RefusedError{Message: fmt.Sprintf(format, args...) + convert}
}

// Program runs ffmpeg. An ffmpeg.Tool is one.
type Program interface {
	Run(ctx context.Context, job ffmpeg.Job) (ffmpeg.Report, error)
}

const (
	// maxPixels is the largest number of pixels of a picture, and maxWhole that of one tile, of which ffmpeg holds
	// several bytes each. maxClear is that of a picture with opacity.
	maxPixels = 50_000_000
	maxWhole  = 16_000_000
	maxClear  = 10_000_000
	maxTiles  = 1_000
	maxSide   = 1 << 16
)

// pictures bounds what is read of a file. Tiles may name the same bytes, which count again.
var pictures = budget.Budget{Name: "HEIF picture", Bytes: 40 << 20, Elements: 20_000, Depth: 1, Time: 20 * time.Second}

// tile is a part of a picture.
type tile struct {
	codec codec
	data  []byte
}

// layer is a picture in one or more tiles.
type layer struct {
	codec codec
	// size is that of the picture, and tile that of each tile.
	size, tile image.Point
	columns    int
	tiles      []tile
	premade    bool // the colors are multiplied by the opacity
}

// Picture is a file whose boxes were read.
type Picture struct {
	// MIMEType is image/heic, image/avif, or image/heif for another name of the first.
	MIMEType string
	// Profile is the color profile (ICC), or nil.
	Profile []byte

	colors  Colors
	picture layer
	opacity *layer
	steps   []property // clap, irot and imir, in their order
}

// Colors are the numbers of ITU-T H.273 that say what the samples mean.
type Colors struct {
	Primaries, Transfer, Matrix int
	// Full reports whether black is 0 and white the largest number.
	Full   bool
	stated bool // by the boxes of the file
}

// Is reports whether a file is a still picture of HEIF, by its first bytes.
func Is(head []byte) bool {
	return len(head) >= 12 && string(head[4:8]) == "ftyp" && slices.Contains([]string{"heic", "heix", "heim", "heis",
		"mif1", "mif2", "miaf", "avif"}, string(head[8:12]))
}

// Open reads the boxes of a file. Nothing is decoded. Errors wrap ErrBroken or budget.ErrExceeded, or are a
// *RefusedError.
func Open(ctx context.Context, content []byte) (*Picture, error) {
	m, end := pictures.Begin(ctx)
	defer end()
	c, err := parse(m, content)
	if err != nil {
		return nil, err
	}
	if c.moving {
		return nil, refuse("The file is a moving picture, and one picture is needed.")
	}
	main := c.items[c.primary]
	if main == nil || main.kind == "" {
		return nil, broken("there is no picture %d", c.primary)
	}
	p := &Picture{MIMEType: "image/heic"}
	if err := p.describe(main); err != nil {
		return nil, err
	}
	if p.picture, err = c.layer(main, true); err != nil {
		return nil, err
	}
	switch {
	case p.picture.codec.demuxer == "ivf":
		p.MIMEType = "image/avif"
	case string(content[8:12]) == "mif1" || string(content[8:12]) == "mif2":
		p.MIMEType = "image/heif"
	}
	return p, p.clear(c, main)
}

// describe reads the colors and the turns of the picture.
func (p *Picture) describe(main *item) error {
	for _, at := range main.properties {
		f := &fields{b: at.body}
		switch at.name {
		case "colr":
			switch string(f.take(4)) {
			case "nclx":
				p.colors = Colors{f.int(2), f.int(2), f.int(2), f.int(1)>>7 == 1, true}
			case "prof", "rICC":
				p.Profile = f.b
			}
		case "clap", "irot", "imir":
			p.steps = append(p.steps, at)
		}
	}
	return p.checkRange()
}

// checkRange refuses what is brighter than other pictures.
func (p *Picture) checkRange() error {
	const pq, hlg = 16, 18
	if t := p.colors.Transfer; (t == pq || t == hlg) && len(p.Profile) == 0 {
		return &RefusedError{Message: "The picture has a high dynamic range (PQ or HLG), which pictures of posts do " +
			"not have. Export it as a JPEG in sRGB or Display P3."}
	}
	return nil
}

// clear finds the opacity of the picture.
func (p *Picture) clear(c *container, main *item) error {
	for _, id := range c.of["auxl"][c.primary] {
		aux := c.items[id]
		f := &fields{b: aux.property("auxC")}
		f.full()
		name, _, _ := strings.Cut(string(f.b), "\x00")
		if name != "urn:mpeg:hevc:2015:auxid:1" && name != "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha" {
			continue // depth, or a map of gains
		}
		l, err := c.layer(aux, true)
		if err != nil {
			return err
		}
		if p.picture.size.X*p.picture.size.Y > maxClear {
			return tooLarge(p.picture.size, maxClear, " with transparency")
		}
		if l.size != p.picture.size {
			return broken("an opacity of %v for %v", l.size, p.picture.size)
		}
		l.premade = slices.Contains(main.refs["prem"], id)
		p.opacity = &l
		return nil
	}
	return nil
}

func tooLarge(size image.Point, most int, form string) error {
	return &RefusedError{TooLarge: true, Message: fmt.Sprintf("The picture has %d x %d pixels. A HEIC or AVIF%s may "+
		"have up to %d million.%s", size.X, size.Y, form, most/1_000_000, convert)}
}

// layer describes the tiles of an item.
func (c *container) layer(i *item, outer bool) (l layer, err error) {
	if l.size, err = i.size(); err != nil {
		return l, err
	}
	if l.size.X*l.size.Y > maxPixels {
		return l, tooLarge(l.size, maxPixels, "")
	}
	tiles := []int(nil)
	switch {
	case i.kind == "grid" && outer:
		tiles, err = c.grid(i, &l)
	case i.kind == "iden" && outer && len(i.refs["dimg"]) == 1:
		return c.layer(c.item(i.refs["dimg"][0]), false)
	case i.kind == "iovl":
		err = refuse("The file is a HEIF picture that is laid out of others, which is not supported.")
	default:
		l.tile, l.columns = l.size, 1
		return l, c.tile(i, &l)
	}
	if err != nil {
		return l, err
	}
	for _, id := range tiles {
		if err := c.tile(c.item(id), &l); err != nil {
			return l, err
		}
	}
	return l, nil
}

// grid reads how the tiles of a picture are joined, and returns them.
func (c *container) grid(i *item, l *layer) ([]int, error) {
	data, err := c.data(i)
	if err != nil {
		return nil, err
	}
	f := &fields{b: data}
	f.take(1)
	n := wide(f.int(1)&1 == 1)
	rows := f.int(1) + 1
	l.columns = f.int(1) + 1
	size := image.Pt(f.int(n), f.int(n))
	tiles := i.refs["dimg"]
	if f.short || rows*l.columns != len(tiles) || size != l.size {
		return nil, broken("a grid of %d x %d tiles for %v has %d", l.columns, rows, size, len(tiles))
	}
	if len(tiles) > maxTiles {
		return nil, &RefusedError{TooLarge: true, Message: fmt.Sprintf("The picture has %d tiles. It may have up to "+
			"%d.%s", len(tiles), maxTiles, convert)}
	}
	if l.tile, err = c.item(tiles[0]).size(); err != nil {
		return nil, err
	}
	wide, high := l.tile.X*l.columns, l.tile.Y*rows
	if wide < size.X || high < size.Y || wide-l.tile.X >= size.X || high-l.tile.Y >= size.Y {
		return nil, broken("a grid of %d x %d tiles of %v for %v", l.columns, rows, l.tile, size)
	}
	return tiles, nil
}

// size reads ispe.
func (i *item) size() (image.Point, error) {
	f := &fields{b: i.property("ispe")}
	f.full()
	size := image.Pt(f.int(4), f.int(4))
	if f.short || size.X < 1 || size.Y < 1 || size.X > maxSide || size.Y > maxSide {
		return size, broken("a picture of %v", size)
	}
	return size, nil
}

// tile adds a tile to a layer. All have one form.
func (c *container) tile(i *item, l *layer) (err error) {
	var of codec
	switch i.kind {
	case "hvc1":
		of, err = hevc(i.property("hvcC"))
	case "av01":
		of, err = av1(i.property("av1C"))
	case "grid", "iden", "tmap":
		return broken("a tile of the kind %q", i.kind)
	default:
		named := map[string]string{"jpeg": "JPEG", "avc1": "H.264", "j2k1": "JPEG 2000", "vvc1": "VVC (H.266)",
			"unci": "uncompressed samples", "mskC": "a mask", "evc1": "EVC", "lhv1": "layered HEVC", "hej2": "JPEG 2000"}
		what := named[i.kind]
		if what == "" {
			what = "another codec"
		}
		return refuse("The file is a HEIF picture with %s, which is not supported.", what)
	}
	if err != nil {
		return err
	}
	size, err := i.size()
	if err != nil {
		return err
	}
	if size.X*size.Y > maxWhole {
		return tooLarge(size, maxWhole, " in one piece")
	}
	if len(l.tiles) == 0 {
		l.codec = of
	} else if size != l.tile || of.demuxer != l.codec.demuxer || of.depth != l.codec.depth ||
		of.across != l.codec.across || of.down != l.codec.down {
		return broken("tiles of several forms")
	}
	data, err := c.data(i)
	if err != nil {
		return err
	}
	if err := c.meter.Bytes(int64(len(of.parameters))); err != nil {
		return err
	}
	l.tiles = append(l.tiles, tile{of, data})
	return nil
}
