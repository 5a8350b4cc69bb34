package probe

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"strings"

	"github.com/content-automation/api/pkg/media/provenance"
)

// The kinds of boxes that extend MP4 and are not removed as a whole.
var (
	c2paBox = []byte{0xd8, 0xfe, 0xc3, 0xd6, 0x1b, 0x0e, 0x48, 0x3c, 0x92, 0x97, 0x58, 0x28, 0x87, 0x7e, 0xc4, 0x81}
	xmpBox  = []byte{0xbe, 0x7a, 0xcf, 0xcb, 0x97, 0xa9, 0x42, 0xe8, 0x9c, 0x71, 0x99, 0x94, 0x91, 0xe3, 0xaf, 0xac}
)

// maxXMP bounds the bytes in which the mark of origin is looked for.
const maxXMP = 1 << 20

// source is the statement of XMP whether a file was made by a camera, by a model or otherwise: a term of a list.
var source = regexp.MustCompile(`DigitalSourceType(?:>|=["']| rdf:resource=["'])\s*` +
	`https?://cv\.iptc\.org/newscodes/digitalsourcetype/([A-Za-z]{1,40})["'<\s]`)

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
	found := source.FindSubmatch(text)
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
