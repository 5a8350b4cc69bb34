package probe

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/base/budget"
	"github.com/content-automation/api/pkg/media/audio"
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

// needed are the boxes that a player needs (ISO/IEC 14496-12), by the path of those that have boxes. All others become
// free space: a player skips the boxes that it does not know, and notes and places are in boxes of many makers.
var needed = map[string][]string{
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
	// removed are the ids of removed tracks, and sizes the sizes of samples that tracks have by default.
	removed map[uint32]bool
	sizes   map[uint32]uint32
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
	s := &stripper{File: audio.File{R: r, Size: size}, ctx: m.Context(), m: m, kinds: kinds, removed: map[uint32]bool{},
		sizes: map[uint32]uint32{}}
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
	if len(s.removed) > 0 {
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
		case !slices.Contains(needed[path], b.name):
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
		if inner := path + "/" + b.name; needed[inner] != nil {
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
	s.removed[id] = true
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
var encoderNote = regexp.MustCompile(`(?s)^....meta\x00{4}....hdlr\x00{8}mdirappl\x00{8,9}....ilst` +
	`.....too....data\x00\x00\x00\x01\x00{4}Lavf[0-9.]+$`)

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
	if encoderNote.Match(body) {
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
