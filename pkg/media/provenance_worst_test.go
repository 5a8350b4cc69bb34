package media_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/cost"
	"github.com/content-automation/api/infra/verify/harness/sample"
	"github.com/content-automation/api/pkg/media/provenance"
)

const (
	xmpBegin = `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">` +
		`<rdf:Description xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/">`
	xmpEnd = `</rdf:Description></rdf:RDF></x:xmpmeta>`
)

// credits is XMP with 60 credits that no other packet has.
func credits(packet int) string {
	var list []string
	for i := range 60 {
		list = append(list, fmt.Sprintf("%x", packet*60+i))
	}
	return xmpBegin + "<photoshop:Credit>" + strings.Join(list, ", ") + "</photoshop:Credit>" + xmpEnd
}

// pngHead is the beginning of a PNG.
func pngHead() []byte { return slices.Clone(sample.PNG(image.NewRGBA(image.Rect(0, 0, 8, 8)))[:33]) }

func pngChunk(name, body string) []byte {
	b := append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), name+body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// holders put packets of XMP into files of each kind.
var holders = map[string]func(packets []string) []byte{
	"PNG": func(packets []string) []byte {
		plain := sample.PNG(image.NewRGBA(image.Rect(0, 0, 8, 8)))
		all := slices.Clone(plain[:33])
		for _, p := range packets {
			all = append(all, pngChunk("iTXt", "XML:com.adobe.xmp\x00\x00\x00\x00\x00"+p)...)
		}
		return append(all, plain[33:]...)
	},
	"JPEG": func(packets []string) []byte {
		plain := sample.Picture(8, 8, 1)
		all := slices.Clone(plain[:2])
		for _, p := range packets {
			body := "http://ns.adobe.com/xap/1.0/\x00" + p[:min(len(p), 65_000)]
			all = append(binary.BigEndian.AppendUint16(append(all, 0xff, 0xe1), uint16(len(body)+2)), body...)
		}
		return append(all, plain[2:]...)
	},
	"WAV": func(packets []string) []byte {
		all := []byte("RIFF\x00\x00\x00\x00WAVE")
		for _, p := range packets {
			p += strings.Repeat(" ", len(p)%2)
			all = append(binary.LittleEndian.AppendUint32(append(all, "_PMX"...), uint32(len(p))), p...)
		}
		return all
	},
	"MP4": func(packets []string) []byte {
		all := []byte("\x00\x00\x00\x10ftypisom\x00\x00\x00\x00")
		kind := "\xbe\x7a\xcf\xcb\x97\xa9\x42\xe8\x9c\x71\x99\x94\x91\xe3\xaf\xac"
		for _, p := range packets {
			all = append(binary.BigEndian.AppendUint32(all, uint32(8+16+len(p))), "uuid"+kind+p...)
		}
		return all
	},
	"MP3": func(packets []string) []byte {
		var frames []byte
		for _, p := range packets {
			frames = append(binary.BigEndian.AppendUint32(append(frames, "PRIV"...), uint32(len(p)+4)), 0, 0)
			frames = append(frames, "XMP\x00"+p...)
		}
		n := len(frames)
		head := []byte{'I', 'D', '3', 3, 0, 0}
		head = append(head, byte(n>>21&127), byte(n>>14&127), byte(n>>7&127), byte(n&127))
		return append(append(head, frames...), "\xff\xfb\x90\x00"...)
	},
}

// read reads a file and marks it, as an upload does.
func readAll(t *testing.T, content []byte) (found provenance.Findings) {
	found, err := provenance.Read(t.Context(), bytes.NewReader(content), int64(len(content)))
	if err == nil {
		_, err = provenance.Marked(t.Context(), content, provenance.Statement{Source: provenance.Generated})
	}
	if err != nil && !errors.Is(err, provenance.ErrUnsupported) {
		t.Error(err)
	}
	return found
}

// A picture of 198 KB took 20 CPU seconds, and one of 12 MB would have taken 16 hours.
func TestB4OnePictureBurnsHoursOfCPU(t *testing.T) {
	for _, n := range []int{100, 1_000, 16_000} {
		var packets []string
		for i := range n {
			packets = append(packets, credits(i))
		}
		for kind, hold := range holders {
			content := hold(packets)
			cost.AtMost(t, fmt.Sprintf("%s of %d KB, %d packets of credits", kind, len(content)>>10, n), func() {
				if found := readAll(t, content); !strings.HasPrefix(found.Credit, "0, 1, 2, ") {
					t.Errorf("%s of %d packets has the credit %.40q", kind, n, found.Credit)
				} else if got := strings.Count(found.Credit, ", "); got >= 100 {
					t.Errorf("%s of %d packets has %d credits", kind, n, got)
				}
			})
		}
	}
}

// One packet may be as large as all that is read, whatever it has in it.
func TestWorstCaseXMP(t *testing.T) {
	const most = 1 << 20
	fill := func(before, repeated string) string {
		var b strings.Builder
		b.WriteString(before)
		for n := 0; b.Len() < most; n++ {
			b.WriteString(strings.ReplaceAll(repeated, "%d", fmt.Sprint(n)))
		}
		return b.String()[:most]
	}
	for name, packet := range map[string]string{
		"deep":              fill(xmpBegin, "<a>"),
		"deep with texts":   fill(xmpBegin, "<photoshop:Credit>x"),
		"wide":              fill(xmpBegin, "<a/>"),
		"wide with credits": fill(xmpBegin, "<photoshop:Credit>c%d</photoshop:Credit>"),
		"attributes":        fill(xmpBegin+"<a ", "a='' "),
		"more attributes":   fill(xmpBegin, "<a "+strings.Repeat("a='' ", 500)+"/>"),
		"namespaces":        fill(xmpBegin, "<a xmlns:n%d='u%d'>"),
		"one text":          fill(xmpBegin+"<photoshop:Credit>", "x, "),
		"one list":          fill(xmpBegin+"<photoshop:Credit>", "%d, "),
		"characters":        fill(xmpBegin+"<photoshop:Credit>", "&lt;"),
		"ends":              fill(xmpBegin, "x</b>"),
		"comments":          fill(xmpBegin, "x<!---->"),
		"instructions":      fill(xmpBegin, "<?a?>"),
	} {
		for kind, hold := range holders {
			content := hold(slices.Repeat([]string{packet}, 12))
			cost.AtMost(t, kind+", "+name, func() { readAll(t, content) })
		}
	}
}

// What no packet is in is bounded, too: the parts of a file.
func TestWorstCaseParts(t *testing.T) {
	const most = 20 << 20
	for name, content := range map[string][]byte{
		"chunks of a PNG":     append(pngHead(), bytes.Repeat(pngChunk("iTXt", ""), most/12)...),
		"segments of a JPEG":  append([]byte("\xff\xd8"), bytes.Repeat([]byte("\xff\xe1\x00\x02"), most/4)...),
		"filling of a JPEG":   append([]byte("\xff\xd8"), bytes.Repeat([]byte("\xff"), most)...),
		"chunks of a WAV":     append([]byte("RIFF0000WAVE"), bytes.Repeat([]byte("abcd\x00\x00\x00\x00"), most/8)...),
		"boxes of an MP4":     append([]byte("\x00\x00\x00\x0cftypisom"), bytes.Repeat([]byte("\x00\x00\x00\x08free"), most/8)...),
		"frames of a tag":     append([]byte("ID3\x03\x00\x00\x07\x7f\x7f\x7f"), bytes.Repeat([]byte("TXXX\x00\x00\x00\x00\x00\x00"), most/10)...),
		"private frames":      append([]byte("ID3\x03\x00\x00\x07\x7f\x7f\x7f"), bytes.Repeat([]byte("PRIV\x00\x00\x00\x04\x00\x00XMP\x00"), most/14)...),
		"one frame of a tag":  append([]byte("ID3\x03\x00\x00\x07\x7f\x7f\x75APIC\x00\xff\xff\xeb\x00\x00"), make([]byte, most)...),
		"many parts of boxes": holders["MP4"](slices.Repeat([]string{"x"}, 16_000)),
	} {
		cost.AtMost(t, name, func() { readAll(t, content) })
	}
}

// A reading ends with its context.
func TestReadingMetadataEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for kind, hold := range holders {
		content := hold([]string{credits(1)})
		if _, err := provenance.Read(ctx, bytes.NewReader(content), int64(len(content))); !errors.Is(err,
			context.Canceled) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
