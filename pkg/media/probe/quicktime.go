package probe

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/content-automation/api/pkg/media/audio"
	"github.com/content-automation/api/pkg/media/provenance"
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

// editedMovie is a file as its edits make it.
type editedMovie struct {
	io.ReaderAt
	edits []Edit
}

// ReadAt reads the file with its edits.
func (e editedMovie) ReadAt(p []byte, at int64) (int, error) {
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

// encryption are the boxes and entries of Common Encryption (ISO/IEC 23001-7). ffmpeg before 8.1 writes outside of its
// memory when it reads senc, saiz or saio of a track whose entry has them (CVE-2026-40962, libavformat/mov.c), and no
// file that a caller may publish is encrypted. So a file with one of them is refused before ffmpeg sees it.
var encryption = []string{"senc", "saiz", "saio", "pssh", "sinf", "schm", "schi", "tenc", "encv", "enca", "enct",
	"encs",
	"encm", "adrm", "drms", "drmi"}

// hiddenMovieBoxes are boxes in which ffmpeg finds a movie where other readers see nothing: a compressed one, and one
// in a box that says to be something else.
var hiddenMovieBoxes = []string{"cmov", "hoov"}

// piff is the kind of the extension that has what senc has, of Microsoft's format before the standard.
var piff = []byte("\xa2\x39\x4f\x52\x5a\x9b\x4f\x14\xa2\x44\x6c\x42\x7c\x64\x8d\xf4")

// codecs are the entries of tracks of pictures and sound that are decoded. ffmpeg knows some hundred others, whose
// decoders nobody needs here and which have had faults such as CVE-2026-8461 (MagicYUV, before 7.1.5).
var codecs = []string{"avc1", "avc2", "avc3", "avc4", "hvc1", "hev1", "dvh1", "dvhe", "dva1", "dvav", "vp08", "vp09",
	"av01", "mp4v", "mp4a", "ac-3", "ec-3", "Opus", "fLaC", "alac", ".mp3", "samr", "sawb", "lpcm", "ipcm", "fpcm",
	"sowt",
	"twos", "in24", "in32", "fl32"}

// containers are boxes in which ffmpeg looks for boxes, and that stay in a file. Notes, such as udta, become free
// space.
var containers = []string{"moov", "trak", "mdia", "minf", "stbl", "mvex", "moof", "traf"}

// mostEntries bounds the bytes of the entries of a track, which are read whole.
const mostEntries = 1 << 18

// refuse returns an error that wraps ErrUnsupported if an MP4 has boxes that ffmpeg must not see.
func refuse(ctx context.Context, r io.ReaderAt, size int64) error {
	s := &stripper{File: audio.File{R: r, Size: size}, ctx: ctx, kinds: handlers}
	return s.refuse(0, size, true)
}

// refuse looks at the boxes between two offsets. Those of a track that is not kept become free space.
func (s *stripper) refuse(from, to int64, kept bool) error {
	return s.each(from, to, func(b box) error {
		switch {
		case slices.Contains(encryption, b.name):
			return encrypted()
		case slices.Contains(hiddenMovieBoxes, b.name):
			return audio.Unsupported("video/mp4 with a hidden movie: box %q at %d", b.name, b.at)
		case b.name == "uuid" || b.name == "free" || b.name == "skip":
			return s.refuseExtension(b)
		case b.name == "stsd":
			return s.refuseEntries(b, kept)
		case b.name == "trak":
			kind, err := s.find(b, "mdia", "hdlr")
			if err != nil {
				return err
			}
			handler := make([]byte, 4)
			if kind.end-kind.body >= 12 {
				if err := s.At(kind.body+8, handler); err != nil {
					return err
				}
			}
			return s.refuse(b.body, b.end, slices.Contains(s.kinds, string(handler)))
		case slices.Contains(containers, b.name):
			return s.refuse(b.body, b.end, kept)
		}
		return nil
	})
}

// encrypted returns the error of a file that only the programs of a shop can open.
func encrypted() error {
	return audio.Refuse("The file is encrypted, as those of shops are. Send one that every player can open.")
}

// codecNames are the names of codecs that cameras and editing programs write and platforms do not take.
var codecNames = map[string]string{"apch": "Apple ProRes", "apcn": "Apple ProRes", "apcs": "Apple ProRes",
	"apco": "Apple ProRes", "ap4h": "Apple ProRes", "ap4x": "Apple ProRes", "jpeg": "Motion JPEG",
	"mjpa": "Motion JPEG",
	"mjpb": "Motion JPEG", "AVdn": "Avid DNxHD", "AVdh": "Avid DNxHR", "s263": "H.263", "h263": "H.263",
	"SVQ1": "Sorenson Video", "SVQ3": "Sorenson Video", "rle ": "QuickTime Animation", "png ": "PNG",
	"CFHD": "CineForm", "vvc1": "H.266", "vvi1": "H.266", "dvc ": "DV", "dvcp": "DV", "dvpp": "DV", "mp4v": "MPEG-4"}

// foreign returns the error of a file in a codec that is not decoded.
func foreign(name string) error {
	about := codecNames[name]
	if about == "" {
		about = fmt.Sprintf("the codec %q", name)
	}
	return audio.Refuse("The video is in %s. Export it as MP4 with H.264 and AAC.", about)
}

// refuseExtension looks at a box of another kind, or one without a meaning, in which ffmpeg may find a movie.
func (s *stripper) refuseExtension(b box) error {
	head := make([]byte, min(16, b.end-b.body))
	if err := s.At(b.body, head); err != nil {
		return err
	}
	if b.name == "uuid" && bytes.Equal(head, piff) {
		return encrypted()
	}
	if b.name != "uuid" && len(head) >= 8 && (string(head[4:8]) == "mvhd" || string(head[4:8]) == "cmov") {
		return audio.Unsupported("video/mp4 with a hidden movie: box %q at %d", b.name, b.at)
	}
	return nil
}

// refuseEntries looks at the entries of a track. Boxes of encryption are looked for anywhere in them: where they begin
// depends on the kind and version of the entry.
func (s *stripper) refuseEntries(b box, kept bool) error {
	if b.end-b.body > mostEntries {
		return audio.Unsupported("video/mp4: box %q of %d bytes", b.name, b.end-b.body)
	}
	all := make([]byte, b.end-b.body)
	if err := s.At(b.body, all); err != nil || len(all) < 8 {
		return err
	}
	for _, name := range encryption {
		if bytes.Contains(all, []byte(name)) {
			return encrypted()
		}
	}
	for at := 8; kept && at+8 <= len(all); {
		size, name := int(binary.BigEndian.Uint32(all[at:])), string(all[at+4:at+8])
		if !slices.Contains(codecs, name) {
			return foreign(name)
		}
		if size < 8 || size > len(all)-at {
			break
		}
		at += size
	}
	return nil
}

// The kinds of boxes that extend MP4 and are not removed as a whole.
var (
	c2paBox = []byte{0xd8, 0xfe, 0xc3, 0xd6, 0x1b, 0x0e, 0x48, 0x3c, 0x92, 0x97, 0x58, 0x28, 0x87, 0x7e, 0xc4, 0x81}
	xmpBox  = []byte{0xbe, 0x7a, 0xcf, 0xcb, 0x97, 0xa9, 0x42, 0xe8, 0x9c, 0x71, 0x99, 0x94, 0x91, 0xe3, 0xaf, 0xac}
)

// maxXMP bounds the bytes in which the mark of origin is looked for.
const maxXMP = 1 << 20

// source is the statement of XMP whether a file was made by a camera, by a model or otherwise: a term of a list.
var source = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`DigitalSourceType(?:>|=["']| rdf:resource=["'])\s*` +
		`https?://cv\.iptc\.org/newscodes/digitalsourcetype/([A-Za-z]{1,40})["'<\s]`)
})

// extension removes a box that extends the format, but for the marks of origin: the manifest of C2PA, and the kind of
// the source in XMP.
func (s *stripper) extension(b box) error {
	const short = 8 // the bytes of a usual header
	kind := make([]byte, len(c2paBox))
	if b.end-b.body < int64(len(kind)) {
		s.blank(b)
		return nil
	}
	if err := s.At(b.body, kind); err != nil {
		return err
	}
	if bytes.Equal(kind, c2paBox) {
		return nil
	}
	from := b.body + int64(len(kind))
	if s.marked || !bytes.Equal(kind, xmpBox) || b.body-b.at != short {
		s.blank(b)
		return nil
	}
	text := make([]byte, min(b.end-from, maxXMP))
	if err := s.At(from, text); err != nil {
		return err
	}
	if provenance.PlainPacket(s.ctx, text) {
		s.marked = true
		return nil
	}
	found := source().FindSubmatch(text)
	if found == nil {
		s.blank(b)
		return nil
	}
	mark := statement(string(found[1]), 0)
	rest := b.end - from - int64(len(mark))
	if rest > 0 && rest < short { // too little for a box of free space
		mark, rest = statement(string(found[1]), int(rest)), 0
	}
	if rest < 0 {
		s.blank(b)
		return nil
	}
	s.marked = true
	if bytes.Equal(mark, text) {
		return nil
	}
	size := uint32(from-b.at) + uint32(len(mark))
	s.edits = append(s.edits, Edit{At: b.at, Bytes: binary.BigEndian.AppendUint32(nil, size)},
		Edit{At: from, Bytes: mark})
	if rest > 0 {
		at := from + int64(len(mark))
		free := append(binary.BigEndian.AppendUint32(nil, uint32(rest)), "free"...)
		s.edits = append(s.edits, Edit{At: at, Bytes: free}, Edit{At: at + short, Zeros: rest - short})
	}
	return nil
}

// statement returns XMP that has the kind of the source alone, with so many more bytes of spaces.
func statement(kind string, spaces int) []byte {
	return []byte(`<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF ` +
		`xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" ` +
		`xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/" Iptc4xmpExt:DigitalSourceType=` +
		`"http://cv.iptc.org/newscodes/digitalsourcetype/` + kind + `"/></rdf:RDF></x:xmpmeta>` +
		strings.Repeat(" ", spaces) + `<?xpacket end="r"?>`)
}
