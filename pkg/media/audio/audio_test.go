package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// sample reads a file of the set that the sandbox serves.
func sample(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "providers", "sample", "media", name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// wav is a file of a second of silence for each second, in 8 bits at 8 kHz.
func wav(seconds int, byteRate uint32) []byte {
	data := bytes.Repeat([]byte{128}, 8000*seconds)
	b := []byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00")
	b = binary.LittleEndian.AppendUint32(b, byteRate)
	b = append(b, "\x01\x00\x08\x00data"...)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(data))), data...)
}

// adts is a stream of AAC of empty frames at 8 kHz.
func adts(frames int) []byte {
	return bytes.Repeat([]byte{0xff, 0xf1, 11 << 2, 0x40, 1, 0x1f, 0xfc, 0}, frames)
}

func box(name string, body ...[]byte) []byte {
	all := bytes.Join(body, nil)
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(8+len(all))), name...), all...)
}

// plainASC sets a decoder up for AAC-LC with 8 kHz and one channel.
var plainASC = []byte{2<<3 | 11>>1, 11<<7&0xff | 1<<3}

// esds is the box that holds the set-up of a decoder.
func esds(asc ...byte) []byte {
	tag := func(tag byte, body ...[]byte) []byte {
		all := bytes.Join(body, nil)
		return append([]byte{tag, 0x80, 0x80, byte(len(all))}, all...)
	}
	return box("esds", make([]byte, 4),
		tag(3, []byte{0, 1, 0}, tag(4, append([]byte{0x40, 0x15}, make([]byte, 11)...), tag(5, asc)),
			tag(6, []byte{2})))
}

// m4aFile is a file of a second's claimed length and some frames at 8 kHz.
func m4aFile(frames uint32, handler string) []byte {
	return m4aOf(frames, handler, 8000, esds(plainASC...))
}

// m4aOf is m4aFile with the rate that its description of samples claims, and the boxes in
// that description.
func m4aOf(frames uint32, handler string, rate uint32, boxes ...[]byte) []byte {
	u32 := func(all ...uint32) (b []byte) {
		for _, n := range all {
			b = binary.BigEndian.AppendUint32(b, n)
		}
		return b
	}
	entry := append(append(make([]byte, 24), u32(rate<<16)...), bytes.Join(boxes, nil)...)
	return bytes.Join([][]byte{box("ftyp", []byte("M4A \x00\x00\x00\x00")), box("mdat", make([]byte, 64)), box("moov",
		box("mvhd", u32(0, 0, 0, 1000, 1000)),
		box("trak", box("mdia",
			box("mdhd", u32(0, 0, 0, 8000, 8000)),
			box("hdlr", u32(0, 0), []byte(handler), make([]byte, 12)),
			box("minf", box("stbl", box("stsd", u32(0, 1), box("mp4a", entry)), box("stsz", u32(0, 8, frames))))))),
	}, nil)
}

func TestSpeechIsMeasuredByWhatIsPlayed(t *testing.T) {
	frame := time.Second * 1024 / 8000
	mp3 := sample(t, "voice.mp3")
	ofMP3, sound, err := Speech(mp3)
	if err != nil || ofMP3.Duration < time.Second {
		t.Fatalf("%+v, %v", ofMP3, err)
	}
	for name, c := range map[string]struct {
		content []byte
		mime    string
		want    time.Duration
		bytes   int
	}{
		"WAV":                        {wav(3, 8000), "audio/wav", 3 * time.Second, 24044},
		"WAV with a false byte rate": {wav(3, 1<<31), "audio/wav", 3 * time.Second, 24044},
		"WAV with more behind it":    {append(wav(3, 8000), wav(9, 8000)...), "audio/wav", 3 * time.Second, 24044},
		"MP3 with padding and more": {append(append(bytes.Clone(mp3), make([]byte, 99)...), mp3...), "audio/mpeg",
			2 * ofMP3.Duration, 2*len(sound) - noted(mp3)},
		"AAC":                       {adts(50), "audio/aac", 50 * frame, 400},
		"AAC with padding and more": {append(append(adts(50), 0, 0, 0), adts(500)...), "audio/aac", 550 * frame, 4400},
		"AAC behind a tag": {append([]byte("ID3\x04\x00\x00\x00\x00\x00\x01x"), adts(50)...), "audio/aac",
			50 * frame, 400},
		"M4A":                         {m4aFile(50, "soun"), "audio/mp4", 50 * frame, len(m4aFile(50, "soun"))},
		"M4A that claims to be short": {m4aFile(5000, "soun"), "audio/mp4", 5000 * frame, len(m4aFile(5000, "soun"))},
		"M4A that claims a high rate": {m4aOf(50, "soun", 65535, esds(plainASC...)), "audio/mp4", 50 * frame,
			len(m4aFile(50, "soun"))},
		"M4A in frames of 960": {m4aOf(5000, "soun", 8000, esds(plainASC[0], plainASC[1]|4)), "audio/mp4",
			5000 * frame * 960 / 1024, len(m4aFile(50, "soun"))},
		"M4A of a rate of its own": {m4aOf(5000, "soun", 8000, esds(2<<3|7, 0x80, 0x10, 0x00, 0x08)), "audio/mp4",
			5000 * frame * 8000 / 8192, len(m4aFile(50, "soun")) + 3},
		"HE-AAC": {m4aOf(5000, "soun", 16000, esds(5<<3|11>>1, 11<<7&0xff|1<<3|8>>1, 2<<2, 0)),
			"audio/mp4", 5000 * frame, len(m4aFile(50, "soun")) + 2},
		"M4A that claims to be long": {m4aFile(1, "soun"), "audio/mp4", time.Second, len(m4aFile(1, "soun"))},
	} {
		got, kept, err := Speech(c.content)
		if err != nil || got.MIMEType != c.mime || (got.Duration-c.want).Abs() > time.Millisecond ||
			len(kept) != c.bytes {
			t.Errorf("%s: %+v of %d bytes, %v; want %v of %d", name, got, len(kept), err, c.want, c.bytes)
		}
	}
}

// noted returns the length of the table at the beginning of an MP3.
func noted(mp3 []byte) int {
	f := File{bytes.NewReader(mp3), int64(len(mp3))}
	s, _ := f.MP3()
	if s.repair == nil && !bytes.Contains(mp3[:100], []byte("Xing")) && !bytes.Contains(mp3[:100], []byte("Info")) {
		return 0
	}
	fr, _ := mp3Header(mp3[s.spans[0].from:])
	return fr.length
}

func TestWhatIsNoSpeechIsRefused(t *testing.T) {
	compressed := wav(3, 8000)
	compressed[20] = 17 // ADPCM
	wavOf := func(at int, value ...byte) []byte {
		content := wav(3, 8000)
		copy(content[at:], value)
		return content
	}
	for name, content := range map[string][]byte{
		"nothing":                   {},
		"text":                      []byte("<html>not found</html>"),
		"a picture":                 sample(t, "image-1x1.png"),
		"a video":                   sample(t, "video-9x16.mp4"),
		"a video of one track":      m4aFile(50, "vide"),
		"an M4A without a decoder":  m4aOf(50, "soun", 8000),
		"an M4A of two decoders":    m4aOf(50, "soun", 8000, esds(plainASC...), esds(plainASC...)),
		"an M4A of AAC-ELD":         m4aOf(50, "soun", 8000, esds(0xf8, 0xe6, 0x20, 0x00)),
		"an M4A of 16 MHz":          m4aOf(50, "soun", 8000, esds(2<<3|7, 0xff, 0xff, 0xff, 0x88)),
		"an M4A with half a set-up": m4aOf(50, "soun", 8000, esds(plainASC[0])),
		"a WAV of 65,535 channels":  wavOf(22, 0xff, 0xff),
		"a WAV without channels":    wavOf(22, 0, 0),
		"a WAV of 4 GHz":            wavOf(24, 0xff, 0xff, 0xff, 0xff),
		"a WAV of 1 Hz":             wavOf(24, 1, 0, 0, 0),
		"a WAV of 65,535 bits":      wavOf(34, 0xff, 0xff),
		"an M4A without frames":     m4aFile(0, "soun"),
		"an M4A that is cut off":    m4aFile(50, "soun")[:100],
		"a WAV that is compressed":  compressed,
		"a WAV without sound":       wav(0, 8000),
		"a tag alone":               []byte("ID3\x04\x00\x00\x00\x00\x00\x01x"),
	} {
		if s, _, err := Speech(content); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

func FuzzSpeech(f *testing.F) {
	f.Add(wav(1, 8000))
	f.Add(adts(3))
	f.Add(m4aFile(3, "soun"))
	f.Fuzz(func(t *testing.T, content []byte) {
		if s, kept, err := Speech(content); err == nil &&
			(s.Duration <= 0 || len(kept) == 0 || len(kept) > len(content)) {
			t.Errorf("%+v of %d bytes", s, len(kept))
		}
	})
}
