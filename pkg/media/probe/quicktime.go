package probe

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/content-automation/api/pkg/media/audio"
)

// quickTime is the brand of a QuickTime movie, as iPhones write them.
const quickTime = "qt  "

// pcm are the codecs of uncompressed sound in QuickTime movies, which MP4 players do not know.
var pcm = []string{"sowt", "twos", "lpcm", "in24", "in32", "fl32", "fl64", "raw ", "NONE", "ulaw", "alaw", "ima4"}

// asMP4 returns the edits that make an MP4 of a QuickTime movie with H.264 or H.265 and AAC. The formats differ in the
// names of brands and references, in a kind of handler, and in where the decoder of AAC is described. The file keeps
// its size, so that the places of samples in it stay right.
func asMP4(ctx context.Context, r io.ReaderAt, size int64) ([]Edit, error) {
	s := &stripper{File: audio.File{R: r, Size: size}, ctx: ctx}
	err := s.quickTime(0, size)
	return s.edits, err
}

func (s *stripper) quickTime(from, to int64) error {
	return s.each(from, to, func(b box) error {
		switch b.name {
		case "moov", "trak", "mdia", "minf", "dinf", "stbl":
			return s.quickTime(b.body, b.end)
		case "ftyp":
			return s.renameBrands(b)
		case "hdlr": // MP4 has zeros in the place of the kind of component
			s.edits = append(s.edits, Edit{At: min(b.body+4, b.end), Zeros: min(4, max(0, b.end-b.body-4))})
		case "dref":
			return s.renameReferences(b)
		case "stsd":
			return s.renameEntries(b)
		}
		return nil
	})
}

// renameBrands writes the brand of MP4 in the place of that of QuickTime.
func (s *stripper) renameBrands(b box) error {
	all := make([]byte, min(b.end-b.body, 1<<10)&^3)
	if err := s.At(b.body, all); err != nil {
		return err
	}
	for at := 0; at+4 <= len(all); at += 4 {
		if string(all[at:at+4]) == quickTime {
			s.edits = append(s.edits, Edit{At: b.body + int64(at), Bytes: []byte("mp42")})
		}
	}
	return nil
}

// renameReferences says of the data of a track that it is in the file, as MP4 says it. A movie may have its data in
// other files, which are not here.
func (s *stripper) renameReferences(b box) error {
	const fields, plain = 8, 12
	return s.each(min(b.body+fields, b.end), b.end, func(entry box) error {
		flags, err := s.u32(entry.body)
		if err != nil || entry.name == "url " {
			return err
		}
		if flags&1 == 0 || entry.end-entry.at < plain {
			return audio.Refuse("The file is a QuickTime movie whose pictures or sound are in other files. Export it " +
				"as MP4 (H.264).")
		}
		s.edits = append(s.edits, Edit{At: entry.at + 4, Bytes: []byte("url ")})
		return nil
	})
}

// renameEntries describes AAC as MP4 does: QuickTime has more fields in the entry, and the decoder in a box wave.
func (s *stripper) renameEntries(b box) error {
	const fields = 8
	return s.each(min(b.body+fields, b.end), b.end, func(entry box) error {
		if slices.Contains(pcm, entry.name) {
			return audio.Refuse("The file is a QuickTime movie with uncompressed sound. Export it as MP4 with H.264 " +
				"and AAC.")
		}
		if entry.name != "mp4a" || entry.end-entry.body > mostEntries {
			return nil
		}
		const version, plain, more = 8, 28, 16
		body := make([]byte, entry.end-entry.body)
		if err := s.At(entry.body, body); err != nil || len(body) < plain+more ||
			binary.BigEndian.Uint16(body[version:]) != 1 {
			return err
		}
		esds, err := s.decoder(box{body: entry.body + plain + more, end: entry.end})
		if err != nil || esds.name == "" {
			return err
		}
		changed := slices.Concat(body[:version], make([]byte, 2), body[version+2:plain],
			body[esds.at-entry.body:esds.end-entry.body])
		binary.BigEndian.PutUint16(changed[20:], 0) // the kind of compression
		rest := len(body) - len(changed)            // more than the fields
		changed = append(binary.BigEndian.AppendUint32(changed, uint32(rest)), "free"...)
		s.edits = append(s.edits, Edit{At: entry.body, Bytes: append(changed, make([]byte, rest-8)...)})
		return nil
	})
}

// decoder returns the description of the decoder among the boxes of an entry.
func (s *stripper) decoder(in box) (box, error) {
	esds, err := s.find(in, "esds")
	if err == nil && esds.name == "" {
		esds, err = s.find(in, "wave", "esds")
	}
	return esds, err
}

// edited is a file as its edits make it.
type edited struct {
	io.ReaderAt
	edits []Edit
}

// ReadAt reads the file with its edits.
func (e edited) ReadAt(p []byte, at int64) (int, error) {
	n, err := e.ReaderAt.ReadAt(p, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, err
	}
	for _, edit := range e.edits {
		from, to := max(edit.At, at), min(edit.At+max(edit.Zeros, int64(len(edit.Bytes))), at+int64(n))
		switch {
		case from >= to:
		case edit.Zeros > 0:
			clear(p[from-at : to-at])
		default:
			copy(p[from-at:to-at], edit.Bytes[from-edit.At:to-edit.At])
		}
	}
	return n, err
}
