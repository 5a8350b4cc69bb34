package audio

import "testing"

func TestMP3FramesOfEveryVersion(t *testing.T) {
	for name, c := range map[string]struct {
		header uint32
		want   frame
	}{
		"MPEG-1, 128 kbit/s, 44.1 kHz, stereo, padded": {0xfffb9200,
			frame{length: 418, samples: 1152, sampleRate: 44100, side: 32}},
		"MPEG-1, 56 kbit/s, 44.1 kHz, mono": {0xfffb40c0,
			frame{length: 182, samples: 1152, sampleRate: 44100, side: 17}},
		"MPEG-2, 64 kbit/s, 24 kHz, mono": {0xfff384c0,
			frame{length: 192, samples: 576, sampleRate: 24000, side: 9}},
		"MPEG-2.5, 32 kbit/s, 8 kHz, stereo": {0xffe34800,
			frame{length: 288, samples: 576, sampleRate: 8000, side: 17}},
	} {
		if got, ok := parseFrame(c.header); !ok || got != c.want {
			t.Errorf("%s: got %+v, %v; want %+v", name, got, ok, c.want)
		}
	}
	for name, header := range map[string]uint32{
		"no sync": 0x7ffb9200, "reserved version": 0xffeb9200, "layer II": 0xfffd9200, "free bit rate": 0xfffb0200,
		"bad bit rate": 0xfffbf200, "reserved rate": 0xfffb9e00,
	} {
		if got, ok := parseFrame(header); ok {
			t.Errorf("%s: read as %+v", name, got)
		}
	}
}
