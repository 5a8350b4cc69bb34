// Package provenance writes and reads what a media file says of its own origin: the metadata of IPTC in XMP. They tell
// platforms and people that a model has made a file. The package c2pa beside it signs files. Mark writes a Statement
// into a file, and Inspect reads one.
package provenance

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"io"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/budget"
	texts "github.com/content-automation/api/pkg/base/text"
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
	return texts.After(texts.After(text, 0, 2*maxText), 0, maxText)
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

// Model is a generative model, as manifests name it.
type Model struct {
	// Name is that for people, and ID that of the catalog.
	Name, ID string
	// Maker is the provider that runs it.
	Maker string
}

// Relation is the relation of an ingredient to the file.
type Relation string

// The relations of ingredients that the service writes (C2PA 2.4).
const (
	Parent    Relation = "parentOf"    // the file is a changed version of it
	Component Relation = "componentOf" // the file has it as one of its parts
)

// Ingredient is a file that another is made of.
type Ingredient struct {
	Title    string
	MIMEType string
	Relation Relation
	// Model has made it, or is nil for a file of the caller.
	Model *Model
	File  io.ReadSeeker
}

// Claim is what a manifest says of a file.
type Claim struct {
	Title  string
	Source Source
	// Models are those that have made parts of it, texts included.
	Models []Model
	// Prompt is the version of the prompt of the texts. It may be empty.
	Prompt      string
	Ingredients []Ingredient
}

// Signature is the state of a file's signature.
type Signature string

// The states of the signatures of files.
const (
	None      Signature = "none"      // the file has no manifest of its own
	Valid     Signature = "valid"     // the signature holds, and its certificate is trusted
	Untrusted Signature = "untrusted" // the signature holds, of a certificate that nobody vouches for
	Invalid   Signature = "invalid"   // the file or its manifest was changed, or the manifest is broken
)

// Report is what a file's manifest says.
type Report struct {
	Signature Signature `json:"signature"`
	// Signer is the name in the certificate, Generator the software that has made the manifest, and Signed the kind of
	// origin that the manifest states.
	Signer    string `json:"signer,omitempty"`
	Generator string `json:"generator,omitempty"`
	Signed    Source `json:"signed_source,omitempty"`
	// Facts are what the file's own manifest says, and what those of its ingredients say.
	Facts []Fact `json:"facts,omitempty"`
	// Problems are the codes of what is wrong (C2PA 2.4, status codes).
	Problems []string `json:"problems,omitempty"`
}

// Fact is one thing that a manifest says.
type Fact struct {
	// Kind says what the name is of: action, model or ingredient.
	Kind string `json:"kind"`
	// Name is the name of the action, of the model or of the ingredient.
	Name string `json:"name"`
	// By is the software that has acted, and As the relation of an ingredient.
	By string `json:"by,omitempty"`
	As string `json:"as,omitempty"`
	// Source is the kind of origin that an action states.
	Source Source `json:"source,omitempty"`
}

// Reader reads the manifests of files, and trusts some issuers.
type Reader interface {
	// Read reads the manifest of a file, and checks its signature.
	Read(ctx context.Context, mimeType string, file io.ReadSeeker) (Report, error)
}

// Signer signs files in the name of the operator.
type Signer interface {
	// Sign writes a signed copy of a file, and returns the name in the certificate: for test, a test certificate. The
	// name is empty if there is no certificate, and nothing is written then.
	Sign(ctx context.Context, test bool, claim Claim, mimeType string, from io.ReadSeeker, to io.ReadWriteSeeker) (
		signer string, err error)
}

// Inspection is what was found out about the origin of a file that came in.
type Inspection struct {
	Statement
	Report
	// SHA256 is the hash of the file as it came, and Likeness that of the picture, or empty.
	SHA256   string `json:"sha256"`
	Likeness string `json:"likeness,omitempty"`
}

// Unchecked is the problem of a manifest that nothing was there to check.
const Unchecked = "unchecked"

// Inspect finds out what a file says of its origin. Without a reader, manifests are not checked.
func Inspect(ctx context.Context, r Reader, mimeType string, file io.ReaderAt, size int64) (i Inspection, err error) {
	i.Signature = None
	found, err := Read(ctx, file, size)
	if errors.Is(err, ErrUnsupported) {
		return i, nil
	}
	if err != nil {
		return i, err
	}
	i.Statement = found.Statement
	switch {
	case !found.Manifest:
	case r == nil:
		i.Report = Report{Signature: Untrusted, Problems: []string{Unchecked}}
	default:
		i.Report, err = r.Read(ctx, mimeType, io.NewSectionReader(file, 0, size))
	}
	return i, err
}

// Likeness is a hash of what a picture shows: 64 bits, of which each tells whether one of 8 x 8 areas is brighter than
// the next one (a difference hash). It hardly changes if the picture is encoded anew, scaled, or loses its metadata.
type Likeness uint64

// MaxDistance is the largest distance of two hashes that are of the same picture.
const MaxDistance = 6

// The grid of areas, and the points of each side of an area at which the picture is sampled.
const (
	likeColumns, likeRows = 9, 8
	likePoints            = 8
)

// LikenessOf returns the hash of a picture. It is 0 for one that shows too little to be told from others.
func LikenessOf(img image.Image) (hash Likeness) {
	b := img.Bounds()
	if b.Dx() < likeColumns || b.Dy() < likeRows {
		return 0
	}
	var light [likeRows][likeColumns]int
	for y := range likeRows * likePoints {
		for x := range likeColumns * likePoints {
			px := b.Min.X + (2*x+1)*b.Dx()/(2*likeColumns*likePoints)
			py := b.Min.Y + (2*y+1)*b.Dy()/(2*likeRows*likePoints)
			light[y/likePoints][x/likePoints] += int(color.GrayModel.Convert(img.At(px, py)).(color.Gray).Y)
		}
	}
	for _, row := range light {
		for i := range likeColumns - 1 {
			hash <<= 1
			if row[i] < row[i+1] {
				hash |= 1
			}
		}
	}
	if n := bits.OnesCount64(uint64(hash)); n < MaxDistance || n > 64-MaxDistance {
		return 0
	}
	return hash
}

// Distance returns the number of areas in which two hashes differ.
func (h Likeness) Distance(other Likeness) int { return bits.OnesCount64(uint64(h ^ other)) }

// Bands returns the four quarters of the hash. Two hashes of a distance below four share one of them.
func (h Likeness) Bands() (all [4]uint16) {
	for i := range all {
		all[i] = uint16(h >> (16 * i))
	}
	return all
}

// String returns the hash in hexadecimal, without zeros at its beginning.
func (h Likeness) String() string { return strconv.FormatUint(uint64(h), 16) }
