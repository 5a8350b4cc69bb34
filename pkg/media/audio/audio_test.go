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

// m4aFile is a file of a second's claimed length and some frames at 8 kHz.
func m4aFile(frames uint32, handler string) []byte {
	u32 := func(all ...uint32) (b []byte) {
		for _, n := range all {
			b = binary.BigEndian.AppendUint32(b, n)
		}
		return b
	}
	entry := append(make([]byte, 24), u32(8000<<16)...)
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
		"WAV":                         {wav(3, 8000), "audio/wav", 3 * time.Second, 24044},
		"WAV with a false byte rate":  {wav(3, 1<<31), "audio/wav", 3 * time.Second, 24044},
		"WAV with more behind it":     {append(wav(3, 8000), wav(9, 8000)...), "audio/wav", 3 * time.Second, 24044},
		"MP3 with garbage and more":   {append(append(bytes.Clone(mp3), make([]byte, 99)...), mp3...), "audio/mpeg", ofMP3.Duration, len(sound)},
		"AAC":                         {adts(50), "audio/aac", 50 * frame, 400},
		"AAC with garbage and more":   {append(append(adts(50), 0, 0, 0), adts(500)...), "audio/aac", 50 * frame, 400},
		"AAC behind a tag":            {append([]byte("ID3\x04\x00\x00\x00\x00\x00\x01x"), adts(50)...), "audio/aac", 50 * frame, 400},
		"M4A":                         {m4aFile(50, "soun"), "audio/mp4", 50 * frame, len(m4aFile(50, "soun"))},
		"M4A that claims to be short": {m4aFile(5000, "soun"), "audio/mp4", 5000 * frame, len(m4aFile(5000, "soun"))},
		"M4A that claims to be long":  {m4aFile(1, "soun"), "audio/mp4", time.Second, len(m4aFile(1, "soun"))},
	} {
		got, kept, err := Speech(c.content)
		if err != nil || got.MIMEType != c.mime || (got.Duration-c.want).Abs() > time.Millisecond || len(kept) != c.bytes {
			t.Errorf("%s: %+v of %d bytes, %v; want %v of %d", name, got, len(kept), err, c.want, c.bytes)
		}
	}
}

func TestWhatIsNoSpeechIsRefused(t *testing.T) {
	compressed := wav(3, 8000)
	compressed[20] = 17 // ADPCM
	fragmented := append(m4aFile(50, "soun"), box("moof")...)
	for name, content := range map[string][]byte{
		"nothing":                  {},
		"text":                     []byte("<html>not found</html>"),
		"a picture":                sample(t, "image-1x1.png"),
		"a video":                  sample(t, "video-9x16.mp4"),
		"a video of one track":     m4aFile(50, "vide"),
		"an M4A in fragments":      fragmented,
		"an M4A without frames":    m4aFile(0, "soun"),
		"an M4A that is cut off":   m4aFile(50, "soun")[:100],
		"a WAV that is compressed": compressed,
		"a WAV without sound":      wav(0, 8000),
		"a tag alone":              []byte("ID3\x04\x00\x00\x00\x00\x00\x01x"),
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
		if s, kept, err := Speech(content); err == nil && (s.Duration <= 0 || len(kept) == 0 || len(kept) > len(content)) {
			t.Errorf("%+v of %d bytes", s, len(kept))
		}
	})
}
