// Package provenance writes and reads what a media file says of its own origin: the metadata of IPTC in XMP. They tell
// platforms and people that a model has made a file. The package c2pa beside it signs files. Mark writes a Statement
// into a file, and Inspect reads one.
package provenance

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
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
	maxText   = 500 // bytes of a member of a statement
	maxPacket = 1 << 20
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

// clip returns the beginning of a text, in whole characters.
func clip(text string) string {
	text = strings.ToValidUTF8(text, "")
	if len(text) <= maxText {
		return text
	}
	n := maxText
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// parse reads the statement of XMP, whose properties are attributes or elements. Of XMP that is broken it returns what
// is before the defect.
func parse(packet []byte) (s Statement) {
	d := xml.NewDecoder(bytes.NewReader(packet))
	d.Strict = false
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	var open []xml.Name
	for {
		token, err := d.Token()
		if err != nil {
			return s
		}
		switch t := token.(type) {
		case xml.StartElement:
			for _, a := range t.Attr {
				if a.Name == (xml.Name{Space: nsRDF, Local: "resource"}) {
					a.Name = t.Name
				}
				s.take(a.Name, a.Value)
			}
			open = append(open, t.Name)
		case xml.EndElement:
			open = open[:max(len(open)-1, 0)]
		case xml.CharData:
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
	if value = clip(strings.TrimSpace(value)); value == "" {
		return
	}
	switch name {
	case xml.Name{Space: nsIPTC, Local: "DigitalSourceType"}:
		s.Source = cmp.Or(s.Source, SourceOf(value))
	case xml.Name{Space: nsIPTC, Local: "AISystemUsed"}:
		s.Systems = cmp.Or(s.Systems, value)
	case xml.Name{Space: nsPhotoshop, Local: "Credit"}:
		s.Credit = cmp.Or(s.Credit, value)
	}
}

// With returns the statement of a file that another is made of: the credits and the models of both. The source is
// that of s.
func (s Statement) With(earlier Statement) Statement {
	s.Credit, s.Systems = joined(s.Credit, earlier.Credit), joined(s.Systems, earlier.Systems)
	return s
}

// joined returns two lists as one, each entry once.
func joined(list, more string) string {
	for one := range strings.SplitSeq(more, ", ") {
		if one != "" && !slices.Contains(strings.Split(list, ", "), one) {
			list = strings.TrimPrefix(list+", "+one, ", ")
		}
	}
	return list
}
