package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// reported reads a file of a kind that was reported for other programs.
func reported(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "media", "sound", name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// The length is that of what players play, and what is kept has the same length when it is read again: nothing is cut.
func TestReportedRecordingsHaveTheirWholeLength(t *testing.T) {
	first, padded := reported(t, "concat_id3.mp3"), reported(t, "id3_zeros.mp3")
	half := len(first) / 2
	ape := append([]byte("APETAGEX\xd0\x07\x00\x00\x40\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\xa0"), make([]byte, 72)...)
	cover := append([]byte("ID3\x03\x00\x00\x00\x00\x08\x00"), bytes.Repeat([]byte{0xff, 0xfb, 0x92, 0x00}, 256)...)
	wav := reported(t, "wav_len0.wav")
	longest := bytes.Clone(wav)
	copy(longest[4:], "\xff\xff\xff\xff")
	copy(longest[bytes.Index(longest, []byte("data"))+4:], "\xff\xff\xff\xff")
	for name, c := range map[string]struct {
		content []byte
		want    float64
		within  float64
	}{
		"two MP3 in one":                {first, 8.07, 0.06},
		"one byte of a header is wrong": {reported(t, "badheader_mid.mp3"), 5.0, 0.06},
		"zeros behind the tag":          {padded, 3.03, 0.06},
		"a table with a false number":   {reported(t, "vbr_wrong_xing.mp3"), 20.04, 0.03},
		"the same three times":          {bytes.Repeat(padded, 3), 9.09, 0.15},
		"an APE tag between":            {bytes.Join([][]byte{padded, ape, padded}, nil), 6.06, 0.1},
		"a cover between":               {bytes.Join([][]byte{padded, cover, padded}, nil), 6.06, 0.1},
		"an old tag between":            {bytes.Join([][]byte{padded, append([]byte("TAG"), make([]byte, 125)...), padded}, nil), 6.06, 0.1},
		"junk in the middle":            {bytes.Join([][]byte{first[:half], bytes.Repeat([]byte("junk"), 99), first[half:]}, nil), 8.07, 0.1},
		"text before and behind":        {bytes.Join([][]byte{[]byte("ID3\x03\x00\x00\x00\x00\x00\x00junk\r\n"), padded, []byte("LYRICSBEGIN…")}, nil), 3.03, 0.06},
		"a WAV of length 0":             {wav, 3, 0.01},
		"a WAV of the greatest length":  {longest, 3, 0.01},
		"M4A with chapters":             {reported(t, "chapters.m4a"), 5, 0.2},
		"M4A in fragments":              {reported(t, "dash.m4a"), 5, 0.2},
	} {
		s, kept, err := Speech(bytes.Clone(c.content))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if math.Abs(s.Duration.Seconds()-c.want) > c.within {
			t.Errorf("%s: %v, want %v s", name, s.Duration, c.want)
		}
		again, twice, err := Speech(bytes.Clone(kept))
		if err != nil || again.Duration != s.Duration || !bytes.Equal(twice, kept) {
			t.Errorf("%s: what is kept plays %v of %v, and is kept as %d of %d bytes: %v", name, again.Duration,
				s.Duration, len(twice), len(kept), err)
		}
	}
}

// What would be cut off, or played differently by every player, is refused with a sentence that says what to do.
func TestRecordingsOfWhichSomethingWouldBeLostAreRefused(t *testing.T) {
	padded := reported(t, "id3_zeros.mp3")
	noise := make([]byte, len(padded)/2)
	for i := range noise {
		noise[i] = byte(i*7 + 1)
	}
	slow := adts(50)
	for at := 0; at < len(slow); at += 8 {
		slow[at+2] = 8 << 2
	}
	compressed := wav(1, 8000)
	compressed[20] = 0x11
	mp3 := bytes.Clone(compressed)
	mp3[20] = 0x55
	copy(mp3[28:], "\x00\x00\x00\x00") // as ffmpeg writes the byte rate of a variable one
	for name, c := range map[string]struct {
		content []byte
		say     string
	}{
		"MP3 in a WAV":             {mp3, "The sound of the WAV is MP3"},
		"44.1 kHz, then 24 kHz":    {reported(t, "concat_rate.mp3"), "44100 samples a second at its beginning and 24000 after 3.0"},
		"AAC of two rates":         {append(adts(50), slow...), "Save it again with one sample rate"},
		"a third is no sound":      {append(bytes.Clone(padded), noise...), "The MP3 is damaged"},
		"a compressed WAV":         {compressed, "IMA ADPCM"},
		"Apple Lossless":           {bytes.Replace(m4aFile(50, "soun"), []byte("mp4a"), []byte("alac"), 1), "Apple Lossless"},
		"a WAV of 65,535 channels": {bytes.Replace(wav(1, 8000), []byte("\x01\x00\x01\x00\x40"), []byte("\x01\x00\xff\xff\x40"), 1), "65535 channels"},
	} {
		s, _, err := Speech(c.content)
		why := new(Refusal)
		if !errors.As(err, &why) || !strings.Contains(why.Message, c.say) || !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

// A WAV whose length nobody can tell is refused by the reader of uploads and imports as well.
func TestAWAVWithoutAByteRateHasNoLength(t *testing.T) {
	content := wav(1, 8000)
	content[20] = 0x55
	copy(content[28:], "\x00\x00\x00\x00")
	s, err := File{R: bytes.NewReader(content), Size: int64(len(content))}.WAV()
	if why := new(Refusal); !errors.As(err, &why) || !strings.Contains(why.Message, "is MP3") {
		t.Errorf("%+v, %v", s, err)
	}
}

// law is a WAV of telephones with all 256 samples.
func law(code byte) []byte {
	data := make([]byte, 256)
	for i := range data {
		data[i] = byte(i)
	}
	b := []byte("RIFF\x00\x00\x00\x00WAVEfmt \x12\x00\x00\x00")
	b = append(b, code, 0, 1, 0, 0x40, 0x1f, 0, 0, 0x40, 0x1f, 0, 0, 1, 0, 8, 0, 0, 0)
	b = append(b, "fact\x04\x00\x00\x00\x00\x01\x00\x00data\x00\x01\x00\x00"...)
	return append(b, data...)
}

// The values are those of the table of ITU-T G.711.
func TestLogarithmicSamplesBecomeLinear(t *testing.T) {
	for code, want := range map[byte]map[int]int16{
		wavALaw:  {0x00: -5504, 0x55: -8, 0xd5: 8, 0x2a: -32256, 0xaa: 32256, 0x80: 5504},
		wavMuLaw: {0x00: -32124, 0x7f: 0, 0xff: 0, 0x80: 32124, 0xf0: 120, 0x01: -31100},
	} {
		s, kept, err := Speech(law(code))
		if err != nil || len(kept) != 44+512 || s.Duration.Milliseconds() != 32 {
			t.Fatalf("%d: %+v, %d bytes, %v", code, s, len(kept), err)
		}
		for at, value := range want {
			if got := int16(binary.LittleEndian.Uint16(kept[44+2*at:])); got != value {
				t.Errorf("format %d: sample %#x is %d, want %d", code, at, got, value)
			}
		}
	}
}

// The length of an IMA ADPCM follows from its blocks. The byte rate in this one is far too high, and what ffmpeg writes
// is too low by a third.
func TestBlocksHaveTheLength(t *testing.T) {
	b := []byte("RIFF\x00\x00\x00\x00WAVEfmt \x14\x00\x00\x00")
	b = append(b, wavIMA, 0, 1, 0, 0x40, 0x1f, 0, 0, 1, 2, 0, 0, 0, 1, 4, 0, 2, 0, 0xf9, 1) // 505 samples in 256 bytes
	b = append(append(b, "data\x00\x0a\x00\x00"...), make([]byte, 10*256)...)
	s, err := File{bytes.NewReader(b), int64(len(b))}.WAV()
	if got := s.Duration.Milliseconds(); got < 630 || got > 632 || err != nil {
		t.Errorf("10 blocks of 505 samples of 8 kHz take %d ms, %v", got, err)
	}
}

// Notes and names that programs write into a WAV are not kept.
func TestAWAVLosesItsNotes(t *testing.T) {
	plain := wav(1, 8000)
	noted := bytes.Join([][]byte{plain[:12], []byte("LIST\x0a\x00\x00\x00INFOsecret"), plain[12:]}, nil)
	copy(noted[:4], "RF64")
	_, kept, err := Speech(noted)
	if err != nil || bytes.Contains(kept, []byte("secret")) || len(kept) != len(plain) ||
		binary.LittleEndian.Uint32(kept[4:]) != uint32(len(kept)-8) || string(kept[:4]) != "RIFF" {
		t.Errorf("%d bytes of %d, %v", len(kept), len(plain), err)
	}
}
