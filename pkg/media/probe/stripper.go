package probe

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/base/budget"
	"github.com/content-automation/api/pkg/media/audio"
	"github.com/content-automation/api/pkg/media/picture"
)

// Edit is a change of a file that removes data from it. The file keeps its size, so that the places of samples in it
// stay right.
type Edit struct {
	At int64
	// Bytes is written at the place, or so many zeros.
	Bytes []byte
	Zeros int64
	// plain is set for what says nothing about a person.
	plain bool
}

// Apply makes the edits of a file in it.
func (f Decoded) Apply(w io.WriterAt) error {
	zeros := make([]byte, 1<<16)
	for _, e := range f.Edits {
		if _, err := w.WriteAt(e.Bytes, e.At); err != nil {
			return fmt.Errorf("decode: edit: %w", err)
		}
		for at, end := e.At, e.At+e.Zeros; at < end; at += int64(len(zeros)) {
			if _, err := w.WriteAt(zeros[:min(int64(len(zeros)), end-at)], at); err != nil {
				return fmt.Errorf("decode: edit: %w", err)
			}
		}
	}
	return nil
}

// neededBoxes are the boxes that a player needs (ISO/IEC 14496-12), by the path of those that have boxes. All others
// become free space: a player skips the boxes that it does not know, and notes and places are in boxes of many makers.
var neededBoxes = map[string][]string{
	"":                     {"ftyp", "styp", "moov", "moof", "mdat", "mfra", "sidx", "ssix", "pdin", "wide"},
	"/moov":                {"mvhd", "trak", "mvex", "iods"},
	"/moov/mvex":           {"mehd", "trex", "trep", "leva"},
	"/moov/trak":           {"tkhd", "edts", "mdia", "tref", "tapt", "trgr"},
	"/moov/trak/mdia":      {"mdhd", "hdlr", "minf", "elng"},
	"/moov/trak/mdia/minf": {"vmhd", "smhd", "nmhd", "gmhd", "hdlr", "dinf", "stbl"},
	"/moof":                {"mfhd", "traf"},
}

// handlers are the kinds of tracks that are kept: pictures, sound, and the transparency of pictures. Other tracks have
// the way of a camera, its movements or texts.
var handlers = []string{"vide", "soun", "auxv"}

const (
	decodeMaxBoxes = 1 << 15 // so that a file of tiny boxes ends
	maxSpans       = 1 << 18 // of the samples of removed tracks
)

// tables is what is read of the tables of the tracks that are removed: ten hours of a sensor that measures a hundred
// times a second. Tables are read as they come, and take no memory.
var tables = budget.Budget{Name: "MP4 tables", Elements: 4 << 20, Time: 15 * time.Second}

// box is a box of an MP4.
type box struct {
	name          string
	at, body, end int64
}

type span struct{ from, to int64 }

// stripper finds what is to be removed from an MP4.
type stripper struct {
	audio.File
	ctx   context.Context
	m     *budget.Meter // of the entries of tables
	edits []Edit
	boxes int
	// data are the spans that have samples, and samples are those of removed tracks, with their sum.
	data, samples []span
	sum           int64
	// removedTracks are the ids of removed tracks, and sizes the sizes of samples that tracks have by default.
	removedTracks map[uint32]bool
	sizes         map[uint32]uint32
	// references are those of tracks to others, and fragments those of tracks: what becomes of them is known at the
	// end.
	references []box
	fragments  []fragment
	// kinds are the kinds of tracks that are kept.
	kinds  []string
	moof   int64 // the place of the present one
	first  bool  // no fragment of it was seen
	marked bool  // the mark of origin was kept
}

// stripMP4 returns the edits that remove from an MP4 what no player needs: places, notes, names, times, and the tracks
// that are neither pictures nor sound, or not of the kinds that are named. The marks of its origin stay.
func stripMP4(ctx context.Context, r io.ReaderAt, size int64, kinds ...string) ([]Edit, error) {
	if len(kinds) == 0 {
		kinds = handlers
	}
	m, end := tables.Begin(ctx)
	defer end()
	s := &stripper{File: audio.File{R: r, Size: size}, ctx: m.Context(), m: m, kinds: kinds,
		removedTracks: map[uint32]bool{},
		sizes:         map[uint32]uint32{}}
	if err := s.refuse(0, size, true); err != nil {
		return nil, err
	}
	if err := s.walk(0, size, ""); err != nil {
		return nil, err
	}
	for _, f := range s.fragments {
		if err := s.fragment(f); err != nil {
			return nil, err
		}
	}
	if len(s.removedTracks) > 0 {
		for _, b := range s.references {
			s.blank(b)
		}
	}
	s.blankSamples()
	if !slices.ContainsFunc(s.edits, func(e Edit) bool { return !e.plain }) {
		return nil, nil // nothing personal is in it: its signature holds
	}
	return s.edits, nil
}

// outline is what the boxes of a file at its top are.
type outline struct {
	size, end int64 // of the file, and of its last whole box
	seen      map[string]bool
	boxes     int
	broken    bool // what is behind the last whole box is no box
}

// outlineOf walks over the boxes of a file at its top.
func outlineOf(ctx context.Context, r io.ReaderAt, size int64) (outline, error) {
	s := &stripper{File: audio.File{R: r, Size: size}, ctx: ctx}
	o := outline{size: size, seen: map[string]bool{}}
	err := s.each(0, size, func(b box) error {
		o.end, o.seen[b.name] = b.end, true
		return nil
	})
	o.boxes, o.broken = s.boxes, errors.Is(err, ErrUnsupported)
	if o.broken {
		err = nil
	}
	return o, err
}

// trailer returns the edits that make free space of what is behind the boxes of a whole movie and is no box, such as
// the mark of a maker. A movie that ends within a box that has its content or samples has none.
func (o outline) trailer(r io.ReaderAt) ([]Edit, error) {
	if !o.broken || o.boxes > decodeMaxBoxes || !o.seen["moov"] || !o.seen["mdat"] {
		return nil, nil // the readers of the movie say what is wrong with it
	}
	const header = 8
	name := make([]byte, 4)
	if err := (audio.File{R: r, Size: o.size}).At(o.end+4, name); err != nil ||
		slices.Contains([]string{"moov", "moof", "mdat"}, string(name)) {
		return nil, err
	}
	free := append(binary.BigEndian.AppendUint32(nil, uint32(o.size-o.end)), "free"...)
	return []Edit{{At: o.end, Bytes: free}, {At: o.end + header, Zeros: o.size - o.end - header}}, nil
}

// cutOff returns an error that says so of a file that ends within a box, or that has no description of its content.
func (o outline) cutOff() error {
	switch {
	case o.broken || o.end < o.size:
		return &Refused{Message: fmt.Sprintf("The file is an MP4 that is cut off after %d bytes. Send all of it.",
			o.size)}
	case !o.seen["moov"]:
		return &Refused{Message: "The file is an MP4 without the description of its content, as of a recording that " +
			"was not ended. Repair or export it, and send it again."}
	}
	return nil
}

// each calls f with the boxes between two offsets.
func (s *stripper) each(from, to int64, f func(box) error) error {
	const short, long = 8, 16
	for at := from; at+short <= to; {
		if s.boxes++; s.boxes > decodeMaxBoxes {
			return audio.Unsupported("more than %d boxes", decodeMaxBoxes)
		}
		if err := s.ctx.Err(); err != nil {
			return err
		}
		header := make([]byte, min(long, to-at))
		if err := s.At(at, header); err != nil {
			return err
		}
		b := box{name: string(header[4:8]), at: at, body: at + short}
		size := uint64(binary.BigEndian.Uint32(header))
		switch {
		case size == 0: // to the end
			size = uint64(to - at)
		case size == 1 && len(header) == long:
			size, b.body = binary.BigEndian.Uint64(header[8:]), at+long
		}
		if size < uint64(b.body-at) || size > uint64(to-at) {
			return audio.Unsupported("box %q at %d claims %d bytes of %d", b.name, at, size, to-at)
		}
		b.end = at + int64(size)
		if err := f(b); err != nil {
			return err
		}
		at = b.end
	}
	return nil
}

// find returns the first box of a path in a box. Without one, the name of what it returns is empty.
func (s *stripper) find(in box, path ...string) (found box, err error) {
	for _, name := range path {
		found = box{}
		err := s.each(in.body, in.end, func(b box) error {
			if b.name == name && found.name == "" {
				found = b
			}
			return nil
		})
		if err != nil || found.name == "" {
			return found, err
		}
		in = found
	}
	return found, nil
}

// walk looks at the boxes between two offsets, which are those of a path. It goes no deeper than needed does.
func (s *stripper) walk(from, to int64, path string) error {
	return s.each(from, to, func(b box) error {
		switch {
		case b.name == "uuid":
			return s.extension(b)
		case b.name == "free" || b.name == "skip":
			return s.clear(b.body, b.end)
		case !slices.Contains(neededBoxes[path], b.name):
			return s.note(b)
		}
		switch b.name {
		case "mdat":
			s.data = append(s.data, span{b.body, b.end})
		case "moof":
			s.moof, s.first = b.at, true
		case "traf":
			s.fragments = append(s.fragments, fragment{b, s.moof, s.first})
			s.first = false
		case "trak":
			return s.track(b)
		case "tref":
			s.references = append(s.references, b)
		case "trex":
			return s.defaults(b)
		case "hdlr": // behind its fields is the name of the track
			return s.name(min(b.body+24, b.end), b.end)
		case "mvhd", "tkhd", "mdhd":
			return s.clearTimes(b)
		}
		if inner := path + "/" + b.name; neededBoxes[inner] != nil {
			return s.walk(b.body, b.end, inner)
		}
		return nil
	})
}

// track looks at a track, or removes it with its samples.
func (s *stripper) track(b box) error {
	handler, err := s.find(b, "mdia", "hdlr")
	if err != nil {
		return err
	}
	kind := make([]byte, 4)
	if handler.name != "" {
		if err := s.At(handler.body+8, kind); err != nil {
			return err
		}
	}
	if slices.Contains(s.kinds, string(kind)) {
		return s.walk(b.body, b.end, "/moov/trak")
	}
	s.blank(b)
	header, err := s.find(b, "tkhd")
	if err != nil {
		return err
	}
	times, err := s.times(header)
	if err != nil {
		return err
	}
	id, err := s.u32(header.body + 4 + times)
	if err != nil {
		return err
	}
	s.removedTracks[id] = true
	tables, err := s.find(b, "mdia", "minf", "stbl")
	if err != nil || tables.name == "" {
		return err
	}
	return s.tables(tables)
}

// times returns the number of bytes of the times in the header of a movie, a track or a media.
func (s *stripper) times(b box) (int64, error) {
	version := make([]byte, 1)
	err := s.At(b.body, version)
	if version[0] == 1 { // 64 bits
		return 16, err
	}
	return 8, err
}

// clearTimes removes the times at which a header was made and changed.
func (s *stripper) clearTimes(b box) error {
	n, err := s.times(b)
	if err != nil {
		return err
	}
	return s.clear(min(b.body+4, b.end), min(b.body+4+n, b.end))
}

// trackNames are the names that encoders give to all tracks.
var trackNames = []string{"VideoHandler", "SoundHandler", "DataHandler", "Core Media Video", "Core Media Audio",
	"Core Media Data Handler", "Apple Video Media Handler", "Apple Sound Media Handler", "Apple Alias Data Handler",
	"ISO Media file produced by Google Inc.", "VideoHandle", "SoundHandle", "Mainconcept Video Media Handler",
	"Mainconcept MP4 Sound Media Handler", "GPAC ISO Video Handler", "GPAC ISO Audio Handler", "L-SMASH Video Handler",
	"L-SMASH Audio Handler", "Bento4 Video Handler", "Bento4 Sound Handler"}

// mostNote bounds the bytes of a note that are looked at.
const mostNote = 4096

// name removes the name of a track.
func (s *stripper) name(from, to int64) error {
	n := len(s.edits)
	if err := s.clear(from, to); err != nil || len(s.edits) == n || to-from > mostNote {
		return err
	}
	text := make([]byte, to-from)
	err := s.At(from, text)
	text = bytes.Trim(text, "\x00")
	if len(text) > 0 && int(text[0]) == len(text)-1 { // QuickTime has the length first
		text = text[1:]
	}
	s.edits[n].plain = slices.Contains(trackNames, string(text))
	return err
}

// encoderNote is all that a note of ffmpeg says if it was given nothing else: a list with the name of the encoder.
var encoderNote = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)^....meta\x00{4}....hdlr\x00{8}mdirappl\x00{8,9}....ilst` +
		`.....too....data\x00\x00\x00\x01\x00{4}Lavf[0-9.]+$`)
})

// note removes a box that no player needs.
func (s *stripper) note(b box) error {
	n := len(s.edits)
	s.blank(b)
	if b.name != "udta" || b.end-b.body > mostNote {
		return nil
	}
	body := make([]byte, b.end-b.body)
	if err := s.At(b.body, body); err != nil {
		return err
	}
	if encoderNote().Match(body) {
		for i := range s.edits[n:] {
			s.edits[n+i].plain = true
		}
	}
	return nil
}

// clear writes zeros between two offsets, if there is anything else.
func (s *stripper) clear(from, to int64) error {
	chunk := make([]byte, min(to-from, 1<<15))
	for at := from; at < to; at += int64(len(chunk)) {
		chunk = chunk[:min(int64(len(chunk)), to-at)]
		if err := s.At(at, chunk); err != nil {
			return err
		}
		if slices.ContainsFunc(chunk, func(c byte) bool { return c != 0 }) {
			s.edits = append(s.edits, Edit{At: at, Zeros: to - at})
			return nil
		}
		if err := s.ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// blank makes free space of a box.
func (s *stripper) blank(b box) {
	s.edits = append(s.edits, Edit{At: b.at + 4, Bytes: []byte("free")})
	if b.end > b.body {
		s.edits = append(s.edits, Edit{At: b.body, Zeros: b.end - b.body})
	}
}

func (s *stripper) u32(at int64) (uint32, error) {
	b := make([]byte, 4)
	err := s.At(at, b)
	return binary.BigEndian.Uint32(b), err
}

// The samples of a removed track lie among those of the others, where its tables or its fragments say.

// drop notes samples that are to be removed.
func (s *stripper) drop(from int64, n uint64) error {
	if n == 0 {
		return nil
	}
	if from < 0 || from > s.Size || n > uint64(s.Size-from) {
		return audio.Unsupported("samples of %d bytes at %d of %d", n, from, s.Size)
	}
	if s.sum += int64(n); s.sum > s.Size {
		return audio.Unsupported("tracks share their samples")
	}
	if last := len(s.samples) - 1; last >= 0 && s.samples[last].to == from {
		s.samples[last].to += int64(n)
		return nil
	}
	if len(s.samples) == maxSpans {
		return audio.Unsupported("more than %d parts of a track", maxSpans)
	}
	s.samples = append(s.samples, span{from, from + int64(n)})
	return s.ctx.Err()
}

// tooMuch returns the error of a file with more in it than is read, or that of the context.
func tooMuch(err error) error {
	if errors.Is(err, budget.ErrExceeded) {
		return audio.Unsupported("%v", err)
	}
	return err
}

// blankSamples removes the samples that were noted, as far as they lie where samples do.
func (s *stripper) blankSamples() {
	// Parts of several tracks may lie over each other. As one, each box of data is looked at once for each.
	slices.SortFunc(s.samples, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	apart := s.samples[:0]
	for _, sample := range s.samples {
		if last := len(apart) - 1; last >= 0 && sample.from <= apart[last].to {
			apart[last].to = max(apart[last].to, sample.to)
		} else {
			apart = append(apart, sample)
		}
	}
	for _, sample := range apart {
		// The boxes of data follow each other.
		at, _ := slices.BinarySearchFunc(s.data, sample.from, func(d span, from int64) int {
			if d.to <= from {
				return -1
			}
			return 1
		})
		for ; at < len(s.data) && s.data[at].from < sample.to; at++ {
			from, to := max(sample.from, s.data[at].from), min(sample.to, s.data[at].to)
			s.edits = append(s.edits, Edit{At: from, Zeros: to - from})
		}
	}
}

// table reads numbers of 32 or 64 bits in their order.
type table struct {
	r *bufio.Reader
	n int64 // left
	m *budget.Meter
	// entry is the last one that was read.
	entry [12]byte
}

// table returns the numbers behind so many bytes of a box, of so many bytes each.
func (s *stripper) table(b box, skip, width int64) *table {
	from := min(b.body+skip, b.end)
	return &table{r: bufio.NewReaderSize(io.NewSectionReader(s.R, from, b.end-from), 1<<14), n: (b.end - from) / width,
		m: s.m}
}

func (t *table) u32() (uint32, error) {
	err := t.read(4)
	return binary.BigEndian.Uint32(t.entry[:]), err
}

func (t *table) u64() (uint64, error) {
	err := t.read(8)
	return binary.BigEndian.Uint64(t.entry[:]), err
}

// read reads an entry of so many bytes.
func (t *table) read(width int) error {
	if err := t.m.Count(1); err != nil {
		return tooMuch(err)
	}
	_, err := io.ReadFull(t.r, t.entry[:width])
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = audio.Unsupported("a table ends too early")
	}
	return err
}

// tables notes the samples of a track. A track without tables has none, or has fragments.
func (s *stripper) tables(stbl box) error {
	var of [4]box
	for i, name := range []string{"stsz", "stsc", "stco", "co64"} {
		var err error
		if of[i], err = s.find(stbl, name); err != nil {
			return err
		}
	}
	stsz, stsc, stco := of[0], of[1], of[2]
	width := int64(4)
	if stco.name == "" {
		stco, width = of[3], 8
	}
	if stsz.name == "" || stsc.name == "" || stco.name == "" {
		return nil
	}
	uniform, err := s.u32(stsz.body + 4)
	if err != nil {
		return err
	}
	const counted = 8 // the flags and the count are before the entries
	sizes, runs, chunks := s.table(stsz, counted+4, 4), s.table(stsc, counted, 12), s.table(stco, counted, width)
	var run, following run
	if following, err = runs.next(); err != nil {
		return err
	}
	for chunk := uint32(1); chunks.n > 0; chunk++ {
		chunks.n--
		var at uint64
		if width == 8 {
			at, err = chunks.u64()
		} else {
			var short uint32
			short, err = chunks.u32()
			at = uint64(short)
		}
		if err != nil {
			return err
		}
		for following.samples > 0 && chunk >= following.chunk {
			run = following
			if following, err = runs.next(); err != nil {
				return err
			}
		}
		n := uint64(run.samples) * uint64(uniform)
		for left := run.samples; uniform == 0 && left > 0 && sizes.n > 0; left-- {
			sizes.n--
			size, err := sizes.u32()
			if err != nil {
				return err
			}
			n += uint64(size)
		}
		if err := s.drop(int64(min(at, 1<<62)), n); err != nil {
			return err
		}
	}
	return nil
}

// run is the number of samples in each chunk from one on.
type run struct{ chunk, samples uint32 }

// next reads a run. After the last one it has no samples.
func (t *table) next() (r run, err error) {
	if t.n == 0 {
		return r, nil
	}
	t.n--
	if err := t.read(12); err != nil { // the last number is that of their description
		return r, err
	}
	return run{binary.BigEndian.Uint32(t.entry[:]), binary.BigEndian.Uint32(t.entry[4:])}, nil
}

// fragment is a fragment of a track.
type fragment struct {
	box
	moof  int64 // the place of the box that has it
	first bool  // it is the first one in it
}

// The flags of fragments.
const (
	ownBase, description, duration, ownSize, fromMoof = 0x1, 0x2, 0x8, 0x10, 0x20000 // of their headers
	ownOffset, firstFlags, eachSize                   = 0x1, 0x4, 0x200              // of their runs
)

// defaults notes the size of the samples that say none.
func (s *stripper) defaults(trex box) error {
	id, err := s.u32(trex.body + 4)
	if err != nil {
		return err
	}
	s.sizes[id], err = s.u32(trex.body + 16)
	return err
}

// fragment removes a fragment of a removed track, with its samples.
func (s *stripper) fragment(f fragment) error {
	header, err := s.find(f.box, "tfhd")
	if err != nil || header.name == "" {
		return err
	}
	fields := s.table(header, 0, 4)
	flags, _ := fields.u32()
	id, err := fields.u32()
	if err != nil || !s.removedTracks[id] {
		return err
	}
	s.blank(f.box)
	base, size := uint64(f.moof), s.sizes[id]
	if flags&ownBase != 0 {
		base, err = fields.u64()
	}
	for _, flag := range []uint32{description, duration, ownSize} {
		if flags&flag != 0 && err == nil {
			var v uint32
			if v, err = fields.u32(); flag == ownSize {
				size = v
			}
		}
	}
	// Without a base, a later fragment begins where the one before ends: such files are of long ago.
	if err != nil || flags&(ownBase|fromMoof) == 0 && !f.first {
		return err
	}
	next := int64(min(base, 1<<62))
	return s.each(f.body, f.end, func(b box) error {
		if b.name != "trun" {
			return nil
		}
		n, err := s.samplesOf(b, int64(min(base, 1<<62)), &next, size)
		if err != nil {
			return err
		}
		if err := s.drop(next, n); err != nil {
			return err
		}
		next += int64(n)
		return nil
	})
}

// samplesOf returns the number of bytes of a run, and sets the place where it begins, if it says so.
func (s *stripper) samplesOf(trun box, base int64, at *int64, size uint32) (n uint64, err error) {
	fields := s.table(trun, 0, 4)
	flags, _ := fields.u32()
	count, err := fields.u32()
	if err == nil && flags&ownOffset != 0 {
		var offset uint32
		offset, err = fields.u32()
		*at = base + int64(int32(offset))
	}
	if err == nil && flags&firstFlags != 0 {
		_, err = fields.u32()
	}
	if err != nil || flags&eachSize == 0 {
		return uint64(count) * uint64(size), err
	}
	for ; count > 0; count-- {
		for _, flag := range []uint32{0x100, eachSize, 0x400, 0x800} { // its duration, size, flags and shift
			if flags&flag == 0 {
				continue
			}
			v, err := fields.u32()
			if err != nil {
				return 0, audio.Unsupported("a run of samples ends too early")
			}
			if flag == eachSize {
				n += uint64(v)
			}
		}
	}
	return n, nil
}

// The functions below read files that were decoded. They omit parts that they do not understand.

// Markers of JPEG (ITU-T T.81, table B.1).
const (
	jpegStart   = 0xd8
	jpegEnd     = 0xd9
	jpegApp     = 0xe0 // to 0xef
	jpegComment = 0xfe
)

var (
	xmpMark      = []byte("http://ns.adobe.com/xap/1.0/\x00")
	manifestMark = []byte("JP") // a manifest of C2PA is in JUMBF
	duckyMark    = []byte("Ducky")
)

// encoders are the notes of programs that say how a picture was encoded, and nothing else.
var encoders = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(Lavc[0-9.]+|Lavf[0-9.]+|CREATOR: gd-jpeg v[ -~]{1,60}|` +
		`Compressed by jpeg-recompress|Optimized by JPEGmini [ -~]{1,60}|File written by Adobe Photoshop[ -~]{0,20}|` +
		`LEAD Technologies Inc\. V[0-9.]+|AppleMark|Intel\(R\) (JPEG|IPP)[ -~]{1,60})\s*\x00?$`)
})

// stripJPEG keeps the segments that a decoder needs, the color profile, and the manifest of C2PA.
func stripJPEG(content []byte, notes bool) []byte {
	kept := []byte{0xff, jpegStart}
	picture.Segments(content, func(marker byte, segment []byte) {
		body := segment[min(4, len(segment)):]
		stays := false
		switch {
		case marker == jpegComment:
			stays = notes && encoders().Match(body)
		case marker == jpegApp+1:
			stays = notes && bytes.HasPrefix(body, xmpMark)
		case marker == jpegApp+2:
			stays = bytes.HasPrefix(body, picture.ProfileMark)
		case marker == jpegApp+11:
			stays = bytes.HasPrefix(body, manifestMark)
		case marker == jpegApp+12: // the quality of an encoder of Adobe
			stays = notes && bytes.HasPrefix(body, duckyMark)
		case marker == jpegApp+14: // defines the color space
			stays = true
		default:
			stays = marker <= jpegApp || marker > jpegApp+15
		}
		if stays {
			kept = append(kept, segment...)
		}
	})
	return append(kept, 0xff, jpegEnd)
}

// withManifest copies the manifest of C2PA from a file without metadata into one that was turned, whose signature does
// not fit it: what signs the turned file has it as the parent.
func withManifest(into, from []byte, mimeType string) []byte {
	var manifest []byte
	begin := 2
	switch mimeType {
	case "image/jpeg":
		picture.Segments(from, func(marker byte, segment []byte) {
			if marker == jpegApp+11 {
				manifest = append(manifest, segment...)
			}
		})
	case "image/png":
		begin = 33 // behind the header
		picture.Chunks(from, func(c picture.Chunk) bool {
			if c.Name == "caBX" {
				manifest = append(manifest, c.All...)
			}
			return true
		})
	}
	return slices.Concat(into[:begin], manifest, into[begin:])
}

// pngChunks are the chunks of a picture, and the one with a manifest of C2PA.
var pngChunks = []string{"caBX", "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "cICP",
	"sBIT", "bKGD", "pHYs"}

var (
	xmpText      = []byte("XML:com.adobe.xmp\x00")
	softwareText = []byte("Software\x00")
)

// stripPNG keeps the chunks of the picture, and its manifest. A chunk with a wrong checksum goes.
func stripPNG(content []byte, notes bool) []byte {
	const signature = 8
	kept := slices.Clone(content[:signature])
	picture.Chunks(content, func(c picture.Chunk) bool {
		stays := slices.Contains(pngChunks, c.Name)
		switch c.Name {
		case "iTXt":
			stays = notes && bytes.HasPrefix(c.Body, xmpText)
		case "tEXt":
			stays = notes && bytes.HasPrefix(c.Body, softwareText)
		}
		if stays && c.Right {
			kept = append(kept, c.All...)
		}
		return true
	})
	return kept
}

// stripWebP removes the chunks of EXIF and XMP, and the flags that announce them.
func stripWebP(content []byte, notes bool) []byte {
	const signature, frame = 12, 8
	const hasEXIF, hasXMP = 1 << 3, 1 << 2
	kept := slices.Clone(content[:signature])
	gone := byte(hasEXIF | hasXMP)
	if notes {
		gone = hasEXIF
	}
	for at := int64(signature); at+frame <= int64(len(content)); {
		length := int64(binary.LittleEndian.Uint32(content[at+4:]))
		end := min(at+frame+length+length%2, int64(len(content)))
		switch name := string(content[at : at+4]); name {
		case "VP8X":
			extended := slices.Clone(content[at:end])
			extended[min(frame, len(extended)-1)] &^= gone
			kept = append(kept, extended...)
		case "XMP ":
			if notes {
				kept = append(kept, content[at:end]...)
			}
		case "VP8 ", "VP8L", "ALPH", "ICCP", "C2PA":
			kept = append(kept, content[at:end]...)
		}
		at = end
	}
	binary.LittleEndian.PutUint32(kept[4:], uint32(len(kept)-8))
	return kept
}
