// Package provenance writes and reads what a media file says of its own origin: the metadata of IPTC in XMP. They tell
// platforms and people that a model has made a file. The package c2pa beside it signs files. Mark writes a Statement
// into a file, and Inspect reads one.
package provenance

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/base/budget"
)

// Source is the kind of origin of a file: a term of IPTC's vocabulary Digital Source Type.
// https://cv.iptc.org/newscodes/digitalsourcetype/
type Source string

// The sources of files that the service makes: Composite has generated and other parts. A file of which no part was
// generated has none.
const (
	Generated Source = "trainedAlgorithmicMedia"
	Composite Source = "compositeWithTrainedAlgorithmicMedia"
)

// vocabulary is the beginning of the addresses of the terms.
const vocabulary = "http://cv.iptc.org/newscodes/digitalsourcetype/"

// URI returns the address of the term, or an empty text for no source.
func (s Source) URI() string {
	if s == "" {
		return ""
	}
	return vocabulary + string(s)
}

// SourceOf returns the term of an address, or an empty one for any other text.
func SourceOf(uri string) Source {
	_, term, ok := strings.Cut(uri, "cv.iptc.org/newscodes/digitalsourcetype/")
	if !ok || term == "" || len(term) > maxTerm || strings.ContainsFunc(term, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return ""
	}
	return Source(term)
}

// Statement is what a file says of its origin.
type Statement struct {
	Source Source `json:"source,omitempty"`
	// Credit is the line that names who provides the file: photoshop:Credit.
	Credit string `json:"credit,omitempty"`
	// Systems are the models that made it, joined by commas: Iptc4xmpExt:AISystemUsed.
	Systems string `json:"systems,omitempty"`
}

// The bounds of what is read and written.
const (
	maxTerm   = 60
	maxText   = 500     // bytes of a member of a statement
	maxPacket = 1 << 20 // bytes of XMP of a file
)

// The namespaces of the properties that are written and read.
const (
	nsRDF       = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
	nsIPTC      = "http://iptc.org/std/Iptc4xmpExt/2008-02-29/"
	nsPhotoshop = "http://ns.adobe.com/photoshop/1.0/"
)

// packet returns the statement as XMP, between the processing instructions that find it in any file.
func (s Statement) packet() []byte {
	var b bytes.Buffer
	b.WriteString("<?xpacket begin=\"\ufeff\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>" +
		`<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="` + nsRDF + `"><rdf:Description rdf:about=""` +
		` xmlns:Iptc4xmpExt="` + nsIPTC + `" xmlns:photoshop="` + nsPhotoshop + `"`)
	for _, p := range []struct{ name, value string }{
		{"Iptc4xmpExt:DigitalSourceType", s.Source.URI()}, {"Iptc4xmpExt:AISystemUsed", s.Systems},
		{"photoshop:Credit", s.Credit},
	} {
		if p.value != "" {
			b.WriteString(" " + p.name + `="`)
			_ = xml.EscapeText(&b, []byte(clip(p.value))) // writing into a buffer does not fail
			b.WriteString(`"`)
		}
	}
	b.WriteString(`/></rdf:RDF></x:xmpmeta><?xpacket end="r"?>`)
	return b.Bytes()
}

// Impersonal returns the statement without the name of a person: the credit of what no model has made.
func (s Statement) Impersonal() Statement {
	if s.Source != Generated && s.Source != Composite {
		s.Credit = ""
	}
	return s
}

// clip returns the beginning of a text, in whole characters.
func clip(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), 2*maxText)], "")
	if len(text) <= maxText {
		return text
	}
	n := maxText
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// packets is what is read of the XMP of one file: all of its packets, of which a file usually has one. What is above is
// left out. A picture program writes up to some thousand elements of history.
var packets = budget.Budget{Name: "XMP", Bytes: maxPacket, Elements: 20_000, Depth: 100, Part: 256 << 10,
	Time: 5 * time.Second}

// The packets of a file, and the names of a list, that are read.
const (
	mostPackets = 8
	mostNames   = 100
)

// parse reads the statement of XMP, whose properties are attributes or elements. Of XMP that is broken it returns what
// is before the defect. An error is that of the meter.
func parse(m *budget.Meter, packet []byte) (s Statement, err error) {
	input := m.Tokens(bytes.NewReader(packet))
	d := xml.NewDecoder(input)
	d.Strict = false
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	var open []xml.Name
	for {
		token, err := d.Token()
		input.Ended(d.InputOffset())
		if errors.Is(err, budget.ErrExceeded) || m.Err() != nil {
			return s, cmp.Or(m.Err(), err)
		}
		if err != nil {
			return s, nil
		}
		switch t := token.(type) {
		case xml.StartElement:
			if err := cmp.Or(m.Enter(), m.Count(len(t.Attr))); err != nil {
				return s, err
			}
			for _, a := range t.Attr {
				if a.Name == (xml.Name{Space: nsRDF, Local: "resource"}) {
					a.Name = t.Name
				}
				s.take(a.Name, a.Value)
			}
			open = append(open, t.Name)
		case xml.EndElement:
			m.Leave()
			open = open[:max(len(open)-1, 0)]
		default:
			if err := m.Count(1); err != nil {
				return s, err
			}
		}
		if t, ok := token.(xml.CharData); ok {
			for _, name := range open[max(len(open)-maxNested, 0):] {
				s.take(name, string(t))
			}
		}
	}
}

// maxNested is how many elements above a text a property can be: its list and the entry of that.
const maxNested = 3

// take notes the value of a property. The first one counts.
func (s *Statement) take(name xml.Name, value string) {
	set := func(to *string) {
		if *to == "" {
			*to = clip(strings.TrimSpace(value))
		}
	}
	switch name {
	case xml.Name{Space: nsIPTC, Local: "DigitalSourceType"}:
		s.Source = cmp.Or(s.Source, SourceOf(clip(strings.TrimSpace(value))))
	case xml.Name{Space: nsIPTC, Local: "AISystemUsed"}:
		set(&s.Systems)
	case xml.Name{Space: nsPhotoshop, Local: "Credit"}:
		set(&s.Credit)
	}
}

// With returns the statement of a file that another is made of: the credits and the models of both. The source is
// that of s.
func (s Statement) With(earlier Statement) Statement {
	s.Credit, s.Systems = joined(s.Credit, earlier.Credit), joined(s.Systems, earlier.Systems)
	return s
}

// joined returns two lists as one, each entry once, up to so many.
func joined(list, more string) string {
	var all []string
	known := map[string]bool{"": true}
	for _, from := range []string{list, more} {
		for one := range strings.SplitSeq(from, ", ") {
			if !known[one] && len(all) < mostNames {
				known[one], all = true, append(all, one)
			}
		}
	}
	return strings.Join(all, ", ")
}
