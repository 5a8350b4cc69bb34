package probe_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/cost"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/probe"
)

// tried decodes a file that may be refused.
func tried(content []byte) func() {
	return func() { _, _ = probe.Decode(context.Background(), bytes.NewReader(content), int64(len(content))) }
}

func atom(name string, bodies ...[]byte) []byte {
	body := slices.Concat(bodies...)
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(8+len(body))), name...), body...)
}

func numbers(all ...uint32) (b []byte) {
	for _, n := range all {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return b
}

// footage is an MP4 with a picture track, more tracks and what follows.
func footage(tracks, rest []byte) []byte {
	mvhd := atom("mvhd", numbers(0, 0, 0, 1000, 60_000), make([]byte, 80))
	tkhd := atom("tkhd", numbers(0, 0, 0, 1, 0, 60_000), make([]byte, 52), numbers(640<<16, 480<<16))
	video := atom("trak", tkhd, atom("mdia", atom("hdlr", numbers(0, 0), []byte("vide"), make([]byte, 13))))
	return slices.Concat(atom("ftyp", []byte("isom\x00\x00\x00\x00isom")), atom("moov", mvhd, video, tracks), rest)
}

// wordTrack is a track that is removed, with its tables.
func wordTrack(stsz, stsc, stco []byte) []byte {
	tkhd := atom("tkhd", numbers(0, 0, 0, 2, 0, 60_000), make([]byte, 60))
	return atom("trak", tkhd, atom("mdia", atom("hdlr", numbers(0, 0), []byte("text"), make([]byte, 13)),
		atom("minf", atom("stbl", atom("stsz", stsz), atom("stsc", stsc), atom("stco", stco)))))
}

// No file whose pixels are few takes more than a second: its bytes, boxes, frames and tables are what counts.
func TestWorstCaseFiles(t *testing.T) {
	const most = 20 << 20
	many := func(n int, part []byte) []byte { return bytes.Repeat(part, n/len(part)) }
	// Samples of a megabyte over 16,000 boxes of data each, which overlap.
	var spread, over []byte
	spread = many(256<<10, atom("mdat", make([]byte, 8)))
	for range 200 {
		over = append(over, wordTrack(numbers(0, 1<<18, 1), numbers(0, 1, 1, 1, 1), numbers(0, 1, 64_000))...)
	}
	for name, content := range map[string][]byte{
		"boxes of an MP4":            footage(nil, many(most, atom("free"))),
		"boxes of a movie":           footage(many(most, atom("trak")), nil),
		"tracks of a movie":          footage(many(most, wordTrack(nil, nil, nil)), nil),
		"a table of chunks":          footage(wordTrack(numbers(0, 0, 0), numbers(0, 1, 1, 0, 1), make([]byte, 8*most)), nil),
		"a table of sizes":           footage(wordTrack(make([]byte, 8*most), numbers(0, 1, 1, 1<<31, 1), numbers(0, 1, 64)), nil),
		"a table of runs":            footage(wordTrack(numbers(0, 1, 1), many(8*most, numbers(1, 1, 1)), make([]byte, 1<<20)), nil),
		"samples over boxes of data": footage(over, append(spread, atom("free", make([]byte, 60<<20))...)),
		"free space":                 footage(nil, atom("free", make([]byte, 9*most))),
		"fragments":                  footage(nil, many(most, atom("moof", atom("traf", atom("tfhd", numbers(0, 2)))))),
		"chunks of a WAV":            append([]byte("RIFF0000WAVE"), many(most, []byte("abcd\x00\x00\x00\x00"))...),
		"tags of an MP3":             many(most, []byte("ID3\x03\x00\x00\x00\x00\x00\x00")),
		"frames of an MP3":           many(25<<20, append([]byte{0xff, 0xf3, 0x14, 0xc0}, make([]byte, 20)...)),
		"frames of AAC":              many(25<<20, []byte{0xff, 0xf1, 0x50, 0x80, 0x00, 0xff, 0xfc}),
		"segments of a JPEG":         append([]byte("\xff\xd8"), many(most, []byte("\xff\xe1\x00\x02"))...),
		"scans of a JPEG":            scanned(t, 5000),
		"chunks of a PNG":            append(slices.Clone(plainPNG(t, 8, 8)[:33]), many(most, chunk("tEXt", ""))...),
		"captions":                   append([]byte("WEBVTT\n\n"), many(1<<20, []byte("00:00.000 --> 00:01.000\n\n"))...),
		"an M4A of boxes":            append(atom("ftyp", []byte("M4A \x00\x00\x00\x00")), many(most, atom("free"))...),
	} {
		cost.AtMost(t, name, tried(content))
	}
}

func plainPNG(t *testing.T, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// scanned is a JPEG of many scans.
func scanned(t *testing.T, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 64, 64)), nil); err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b.Bytes(), []byte("\xff\xda"))
	end := b.Len() - 2
	return slices.Concat(b.Bytes()[:at], bytes.Repeat(b.Bytes()[at:end], n), b.Bytes()[end:])
}

// refining is a gray JPEG of so many scans, of which all but the first refine nothing in every block.
func refining(side, scans int) []byte {
	table := make([]byte, 64)
	for i := range table {
		table[i] = 1
	}
	huffman := func(class byte, value byte) []byte { // one code, of one bit
		return segment(0xc4, string(append(append([]byte{class, 1}, make([]byte, 15)...), value)))
	}
	size := string(binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, uint16(side)), uint16(side)))
	blocks := (side + 7) / 8 * ((side + 7) / 8)
	b := slices.Concat([]byte("\xff\xd8"), segment(0xdb, "\x00"+string(table)),
		segment(0xc2, "\x08"+size+"\x01\x01\x11\x00"), huffman(0x00, 0), huffman(0x10, 0xe0),
		segment(0xda, "\x01\x01\x00\x00\x00\x01"), make([]byte, blocks/8+1))
	run := make([]byte, 2*(blocks/(1<<14)+2)) // the ends of 16,384 blocks each
	for n := range scans - 1 {
		high := byte(0x10)
		if n == 0 {
			high = 0x01
		}
		b = slices.Concat(b, segment(0xda, "\x01\x01\x00\x01\x3f"+string([]byte{high})), run)
	}
	return append(b, "\xff\xd9"...)
}

func TestWorstCaseScans(t *testing.T) {
	for side, scans := range map[int]int{6_000: 16, 3_500: 48, 2_400: 100} {
		content := refining(side, scans)
		cost.Within(t, fmt.Sprintf("%d scans of %d million pixels", scans, side*side/1_000_000), cost.MostCPU,
			8*int64(side)*int64(side)+cost.MostMemory, func() {
				if got, err := read(content); err != nil || got.Width != side {
					t.Errorf("%d scans of %d pixels: %v", scans, side*side, err)
				}
			})
		refused(t, "more scans", refining(side, scans+1))
	}
}

// The pixels of a picture take what a decoder holds of them, which is up to 8 bytes each. The bound is that of the
// largest picture.
func TestWorstCasePixels(t *testing.T) {
	const w, h = 7_000, 7_000
	noise := image.NewNRGBA(image.Rect(0, 0, w, h))
	r := rand.NewChaCha8([32]byte{})
	for y := range h { // noise in a part, so that the file is not too large
		if y%12 == 0 {
			_, _ = r.Read(noise.Pix[y*noise.Stride : (y+1)*noise.Stride])
		}
	}
	flat := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.White, color.Black})
	var noisy, small, large bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&noisy, noise); err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(&small, flat); err != nil {
		t.Fatal(err)
	}
	if err := jpeg.Encode(&large, noise, &jpeg.Options{Quality: 50}); err != nil {
		t.Fatal(err)
	}
	noise, flat = nil, nil
	for name, content := range map[string][]byte{"a PNG of noise": noisy.Bytes(), "a flat PNG": small.Bytes(),
		"a JPEG of noise": large.Bytes()} {
		if int64(len(content)) > media.Limit(media.Image) {
			t.Fatalf("%s has %d bytes", name, len(content))
		}
		cost.Within(t, name+" of 49 million pixels", cost.MostCPU, 8*w*h, tried(content))
	}
}
