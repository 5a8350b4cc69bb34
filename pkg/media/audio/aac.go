package audio

import (
	"bufio"
	"time"
)

// aacRates are the sample rates of AAC, by their index.
var aacRates = [16]int{96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350}

// aacSamples is the number of samples in a block of AAC.
const aacSamples = 1024

// adtsHeader reads the header of a frame of AAC in ADTS.
func adtsHeader(h []byte) (frame, bool) {
	if len(h) < 7 || h[0] != 0xff || h[1]&0xf6 != 0xf0 {
		return frame{}, false
	}
	fr := frame{length: int(h[3]&3)<<11 | int(h[4])<<3 | int(h[5]>>5), samples: (int(h[6]&3) + 1) * aacSamples,
		sampleRate: aacRates[h[2]>>2&15]}
	return fr, fr.sampleRate != 0 && fr.length >= 7
}

// aac reads a stream of AAC in ADTS frame by frame, as MP3 does.
func (f File) aac() (Sound, error) {
	s := scan{name: "AAC", header: adtsHeader, notes: func(*bufio.Reader, frame) bool { return false }}
	if err := s.read(f); err != nil {
		return Sound{}, err
	}
	return Sound{MIMEType: "audio/aac", Ext: "aac", Duration: playing(s.samples, int64(s.rate)), spans: s.spans}, nil
}

// playing returns the time for which samples play at a rate.
func playing(n, rate int64) time.Duration {
	return time.Duration(float64(n) / float64(rate) * float64(time.Second))
}
