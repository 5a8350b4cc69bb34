// Package heif reads the pictures of telephones: HEIC, whose tiles are HEVC, and AVIF, whose tiles are AV1. It reads
// the boxes and joins the tiles; ffmpeg decodes them. Whatever a file claims, it bounds the boxes, the pixels, and what
// ffmpeg gets. Start with Open.
package heif

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
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

// Error returns the message, after the name of the package.
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
	// size is the size of the picture, and tile that of each tile.
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
			"unci": "uncompressed samples", "mskC": "a mask", "evc1": "EVC", "lhv1": "layered HEVC",
			"hej2": "JPEG 2000"}
		what := named[i.kind]
		what = cmp.Or(what, "another codec")
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

// fields reads the fields of a box. Behind the end it is short, and the values are 0.
type fields struct {
	b     []byte
	short bool
}

func (f *fields) take(n int) []byte {
	if n < 0 || n > len(f.b) {
		f.short, f.b = true, nil
		return make([]byte, min(max(n, 0), 8))
	}
	taken := f.b[:n]
	f.b = f.b[n:]
	return taken
}

// uint reads a number of 0 to 8 bytes.
func (f *fields) uint(n int) (v uint64) {
	for _, b := range f.take(n) {
		v = v<<8 | uint64(b)
	}
	return v
}

func (f *fields) int(n int) int { return int(f.uint(n)) }

// full reads the version and the flags of a box.
func (f *fields) full() (version, flags int) {
	v := f.int(4)
	return v >> 24, v & 0xffffff
}

// each calls f with the boxes in a part of the file.
func each(m *budget.Meter, b []byte, f func(name string, body []byte) error) error {
	for len(b) >= 8 {
		if err := m.Count(1); err != nil {
			return err
		}
		head, size := 8, uint64(binary.BigEndian.Uint32(b))
		name := string(b[4:8])
		switch {
		case size == 0:
			size = uint64(len(b))
		case size == 1 && len(b) >= 16:
			head, size = 16, binary.BigEndian.Uint64(b[8:])
		}
		if size < uint64(head) || size > uint64(len(b)) {
			return broken("a box %q of %d bytes, of which %d are there", name, size, len(b))
		}
		if err := f(name, b[head:size]); err != nil {
			return err
		}
		b = b[size:]
	}
	return nil
}

// property is a box of ipco.
type property struct {
	name string
	body []byte
}

// extent is a part of an item, in the file or in idat.
type extent struct{ at, length uint64 }

// item is a picture, or a part of one.
type item struct {
	kind       string
	inIdat     bool
	outside    bool // its data are in other items or files
	extents    []extent
	properties []property // in their order
	// refs are the items that it names, by the kind of reference.
	refs map[string][]int
}

// container is the description of a file.
type container struct {
	content []byte
	idat    []byte
	primary int
	items   map[int]*item
	// of are the items that name another as what they belong to, by the kind of reference.
	of       map[string]map[int][]int
	moving   bool
	all      []property
	assigned []assignment
	meter    *budget.Meter
}

// assignment is a property of an item, by its place from 1.
type assignment struct{ item, property int }

func (c *container) item(id int) *item {
	if c.items[id] == nil {
		c.items[id] = &item{refs: map[string][]int{}}
	}
	return c.items[id]
}

// parse reads the description of a file (ISO/IEC 14496-12, 23008-12).
func parse(m *budget.Meter, content []byte) (*container, error) {
	c := &container{content: content, items: map[int]*item{}, of: map[string]map[int][]int{}, meter: m}
	described, inside := false, error(nil)
	err := each(m, content, func(name string, body []byte) error {
		switch name {
		case "moov":
			c.moving = true
		case "meta":
			if len(body) < 4 {
				return broken("meta is too short")
			}
			described, inside = true, each(m, body[4:], c.meta)
		}
		return inside
	})
	// What is behind the boxes is not read, such as the mark of a camera.
	if err != nil && (inside != nil || !described || !errors.Is(err, ErrBroken)) {
		return nil, err
	}
	for _, a := range c.assigned {
		if a.property > len(c.all) {
			return nil, broken("the property %d of %d", a.property, len(c.all))
		}
		of := c.item(a.item)
		of.properties = append(of.properties, c.all[a.property-1])
	}
	return c, nil
}

// meta reads a box of meta.
func (c *container) meta(name string, body []byte) error {
	f := &fields{b: body}
	var err error
	switch name {
	case "pitm":
		version, _ := f.full()
		c.primary = f.int(wide(version > 0))
	case "iinf":
		version, _ := f.full()
		f.take(wide(version > 0))
		err = each(c.meter, f.b, c.info)
	case "iloc":
		err = c.places(f)
	case "idat":
		c.idat = body
	case "iref":
		err = c.references(f)
	case "iprp":
		err = each(c.meter, body, c.described)
	}
	if err == nil && f.short {
		return broken("%s is too short", name)
	}
	return err
}

// wide returns the number of bytes of a number that may be wide.
func wide(is bool) int {
	if is {
		return 4
	}
	return 2
}

// info reads what an item is.
func (c *container) info(name string, body []byte) error {
	if name != "infe" {
		return nil
	}
	f := &fields{b: body}
	version, _ := f.full()
	if version < 2 {
		return nil // an item without a kind
	}
	id := f.int(wide(version > 2))
	f.take(2)
	c.item(id).kind = string(f.take(4))
	if f.short {
		return broken("infe is too short")
	}
	return nil
}

// places reads where the data of items are.
func (c *container) places(f *fields) error {
	version, _ := f.full()
	sizes := f.int(2)
	offset, length, base, index := sizes>>12&15, sizes>>8&15, sizes>>4&15, sizes&15
	if version == 0 {
		index = 0
	}
	for range f.int(wide(version > 1)) {
		if err := c.meter.Count(1); err != nil || f.short {
			return err
		}
		i := c.item(f.int(wide(version > 1)))
		method := 0
		if version > 0 {
			method = f.int(2) & 15
		}
		i.inIdat, i.outside = method == 1, method > 1 || f.int(2) != 0
		from := f.uint(base)
		i.extents = nil
		for range f.int(2) {
			if err := c.meter.Count(1); err != nil || f.short {
				return err
			}
			f.take(index)
			e := extent{from + f.uint(offset), f.uint(length)}
			i.extents = append(i.extents, e)
		}
	}
	return nil
}

// references reads which items belong together.
func (c *container) references(f *fields) error {
	version, _ := f.full()
	n := wide(version > 0)
	return each(c.meter, f.b, func(name string, body []byte) error {
		f := &fields{b: body}
		from := f.int(n)
		for range f.int(2) {
			if err := c.meter.Count(1); err != nil || f.short {
				return err
			}
			to := f.int(n)
			of := c.item(from)
			of.refs[name] = append(of.refs[name], to)
			if c.of[name] == nil {
				c.of[name] = map[int][]int{}
			}
			c.of[name][to] = append(c.of[name][to], from)
		}
		return nil
	})
}

// described reads the properties, and which items have them.
func (c *container) described(name string, body []byte) error {
	switch name {
	case "ipco":
		return each(c.meter, body, func(name string, body []byte) error {
			c.all = append(c.all, property{name, body})
			return nil
		})
	case "ipma":
		f := &fields{b: body}
		version, flags := f.full()
		for range f.int(4) {
			if err := c.meter.Count(1); err != nil || f.short {
				return err
			}
			id := f.int(wide(version > 0))
			for range f.int(1) {
				if err := c.meter.Count(1); err != nil {
					return err
				}
				bits := 8 * (1 + flags&1)
				if at := f.int(bits/8) & (1<<(bits-1) - 1); at > 0 {
					c.assigned = append(c.assigned, assignment{id, at})
				}
			}
		}
	}
	return nil
}

// property returns the first property of a name, or nil.
func (i *item) property(name string) []byte {
	for _, p := range i.properties {
		if p.name == name {
			return p.body
		}
	}
	return nil
}

func (c *container) data(i *item) ([]byte, error) {
	in := c.content
	if i.inIdat {
		in = c.idat
	}
	if i.outside {
		return nil, broken("the data of a picture are outside of the file")
	}
	var all []byte
	for _, e := range i.extents {
		if e.length == 0 && len(i.extents) == 1 && e.at <= uint64(len(in)) {
			e.length = uint64(len(in)) - e.at // to the end
		}
		if e.at > uint64(len(in)) || e.length > uint64(len(in))-e.at || e.length > math.MaxInt32 {
			return nil, broken("the data of a picture are cut off: %d bytes at %d of %d", e.length, e.at, len(in))
		}
		if err := c.meter.Bytes(int64(e.length)); err != nil {
			return nil, err
		}
		part := in[e.at : e.at+e.length]
		if len(i.extents) == 1 {
			return part, nil
		}
		all = append(all, part...)
	}
	return all, nil
}

// codec is how the tiles of a picture are encoded.
type codec struct {
	// demuxer is the name of the reader in ffmpeg.
	demuxer string
	// depth is the number of bits of a sample. The color differences are less by these numbers; 3 means that there
	// are none.
	depth        int
	across, down int
	// parameters come before each tile: sets of HEVC, in the form of Annex B, or the header of a sequence of AV1.
	parameters []byte
	length     int // of HEVC: bytes of the length of a unit
}

const gray = 3

// hevc reads hvcC (ISO/IEC 14496-15, 8.3.3.1).
func hevc(body []byte) (c codec, err error) {
	f := &fields{b: body}
	f.take(16)
	chroma, depth := f.int(1)&3, f.int(1)&7
	f.take(3)
	c = codec{demuxer: "hevc", depth: 8 + depth, length: f.int(1)&3 + 1}
	c.across, c.down = sampling(chroma)
	for range f.int(1) {
		kind := f.int(1) & 0x3f
		for range f.int(2) {
			if f.short {
				break
			}
			if unit := f.take(f.int(2)); kind >= 32 && kind <= 34 {
				c.parameters = append(append(c.parameters, 0, 0, 0, 1), unit...)
			}
		}
	}
	if f.short || len(c.parameters) == 0 {
		return c, broken("hvcC is too short")
	}
	return c, nil
}

func sampling(chroma int) (across, down int) {
	switch chroma {
	case 0:
		return gray, gray
	case 1:
		return 1, 1
	case 2:
		return 1, 0
	}
	return 0, 0
}

// av1 reads av1C (AV1 Codec ISO Media File Format Binding, 2.3.3).
func av1(body []byte) (c codec, err error) {
	f := &fields{b: body}
	if f.take(2); f.short {
		return c, broken("av1C is too short")
	}
	flags := f.int(1)
	bit := func(n int) int { return flags >> n & 1 }
	c = codec{demuxer: "ivf", depth: 8 + 2*bit(6) + 2*bit(6)*bit(5), across: bit(3), down: bit(2)}
	if bit(4) == 1 {
		c.across, c.down = gray, gray
	}
	f.take(1)
	c.parameters = f.b
	return c, nil
}

// write writes the tiles as ffmpeg reads them.
func (l *layer) write(w io.Writer) error {
	if l.codec.demuxer == "ivf" {
		return l.ivf(w)
	}
	for _, t := range l.tiles {
		if _, err := w.Write(t.codec.parameters); err != nil {
			return err
		}
		if err := t.units(w); err != nil {
			return err
		}
	}
	return nil
}

// units writes the units of a tile that are parts of a picture, or parameters of it. Others could turn it, or end the
// stream.
func (t tile) units(w io.Writer) error {
	const parts, sets = 31, 34
	f := &fields{b: t.data}
	for len(f.b) > t.codec.length {
		unit := f.take(f.int(t.codec.length))
		if f.short {
			return broken("a tile is cut off")
		}
		if len(unit) < 2 {
			continue
		}
		kind := unit[0] >> 1 & 0x3f
		if layer := unit[0]&1<<5 | unit[1]>>3; kind > sets || kind > parts && kind < 32 || layer != 0 {
			continue
		}
		if _, err := w.Write(append([]byte{0, 0, 0, 1}, unit...)); err != nil {
			return err
		}
	}
	return nil
}

// ivf writes the tiles as the frames of a file of the form IVF.
func (l *layer) ivf(w io.Writer) error {
	head := make([]byte, 32)
	copy(head, "DKIF\x00\x00\x20\x00AV01")
	binary.LittleEndian.PutUint16(head[12:], 16)
	binary.LittleEndian.PutUint16(head[14:], 16)
	binary.LittleEndian.PutUint32(head[16:], 25)
	binary.LittleEndian.PutUint32(head[20:], 1)
	binary.LittleEndian.PutUint32(head[24:], uint32(len(l.tiles)))
	if _, err := w.Write(head); err != nil {
		return err
	}
	delimiter := []byte{0x12, 0}
	for n, t := range l.tiles {
		frame := binary.LittleEndian.AppendUint32(nil, uint32(len(delimiter)+len(t.codec.parameters)+len(t.data)))
		frame = binary.LittleEndian.AppendUint64(frame, uint64(n))
		frame = append(append(frame, delimiter...), t.codec.parameters...)
		if _, err := w.Write(append(frame, t.data...)); err != nil {
			return err
		}
	}
	return nil
}
